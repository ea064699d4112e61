#pragma once

// Requests of a serving engine, as logged by the engine or a client (docs/formats/request_log.md).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// One finished request. Values that the log lacks are nullopt.
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
  uint64_t preemptions = 0;            // times that its KV cache was evicted
  std::vector<int64_t> token_gaps_ns = {};  // between its tokens
};

enum class RequestClock : uint8_t {
  kWall,  // ns since 1970
  kOwn,   // clock of the writing process, with an unknown start
  kNone,  // no times, only durations
};

struct RequestLog {
  std::string file = {};
  std::string format = {};  // "otlp", "jaeger", "sglang", "bench"
  RequestClock clock = RequestClock::kWall;
  std::vector<RequestRecord> requests = {};
  uint64_t failed = 0;  // requests that ended with an error
  uint64_t unread = 0;  // entries of an unknown form
};

}  // namespace assay
