#pragma once

// Requests of a serving engine, as the engine or a client logged them. Docs: docs/formats/request_log.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// One request that finished. Durations are in ns; what the log lacks is empty.
struct RequestRecord {
  std::string id;
  std::optional<int64_t> arrival_ns = {};  // on the clock of the log
  std::optional<int64_t> queue_ns = {};    // in the engine's queue, until it was first scheduled
  std::optional<int64_t> prefill_ns = {};  // from then to the first token
  std::optional<int64_t> ttft_ns = {};     // from arrival to the first token
  std::optional<int64_t> e2e_ns = {};      // from arrival to the last token
  std::optional<uint64_t> prompt_tokens = {};
  std::optional<uint64_t> cached_tokens = {};  // of the prompt, found in a prefix cache
  std::optional<uint64_t> output_tokens = {};
  uint64_t preemptions = 0;            // times that it lost its place in the KV cache
  std::vector<int64_t> token_gaps_ns = {};  // between its tokens
};

enum class RequestClock : uint8_t {
  kWall,  // ns since 1970
  kOwn,   // of the process that wrote it, with an unknown start
  kNone,  // durations alone
};

struct RequestLog {
  std::string file;
  std::string format;  // "otlp", "jaeger", "sglang", "bench"
  RequestClock clock = RequestClock::kWall;
  std::vector<RequestRecord> requests;
  uint64_t failed = 0;  // requests that ended with an error
  uint64_t unread = 0;  // entries of an unknown form
};

}  // namespace assay
