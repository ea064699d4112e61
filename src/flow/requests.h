#pragma once

// Requests of a serving engine, joined with the steps of its loop: where the time of each went, and
// what makes the slowest ones slow. Definitions: docs/metrics.md, Flow, Requests.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "flow/serving.h"
#include "records/request_log.h"

namespace assay {

// Parts of a request's time. Those up to the first token add up to TTFT, all of them to E2E.
enum class RequestPart : uint8_t {
  kInput,         // before the engine's queue, and from the first token to whoever logged it
  kQueuePrefill,  // in the queue while a step with prompts runs
  kQueueDecode,   // in the queue while another step runs
  kQueueIdle,     // in the queue while none runs
  kPrefill,       // its share of the steps with prompts, by tokens
  kOthers,        // the rest of those steps, and steps without prompts until its first token
  kHost,          // between steps until its first token
  kDecode,        // steps after its first token, as long as a typical one
  kDecodePrefill, // what prompts of others add after its first token
  kDecodeHost,    // between steps after its first token
};
constexpr size_t kRequestParts = 10;
constexpr size_t kFirstTokenParts = 7;
std::string_view request_part_name(RequestPart part);  // "input", "queue_prefill", ...

enum class RequestsRefusal : uint8_t {
  kNone,
  kNoSteps,       // the trace has no steps of an engine
  kNoTimes,       // the log has only durations
  kNoOverlap,     // no request lies within the recorded steps
  kClocksDiffer,  // first tokens do not follow prefill steps with any offset
};
std::string_view requests_refusal_name(RequestsRefusal refusal);  // "no_steps", ...; empty for none

struct RequestTail {
  std::optional<size_t> request = {};   // index into RequestsReport::requests
  // Part with the largest excess over its median; none if none exceeds it.
  std::optional<RequestPart> part = {};
  int64_t part_ns = 0;                   // of that part of the request
};

struct RequestLatency {
  uint64_t count = 0;
  int64_t p50_ns = 0;
  int64_t p90_ns = 0;
  int64_t p99_ns = 0;  // of fewer than 100, the slowest
};

struct JoinedRequest {
  RequestRecord record;
  int64_t arrival_ns = 0;     // on the trace's clock
  bool in_trace = false;      // it overlaps the recorded steps
  bool to_first = false;      // recorded up to the first token: the parts of TTFT are known
  bool to_last = false;       // recorded up to the last token
  bool queue_inferred = false;  // queue time inferred from the steps before its first token
  std::array<int64_t, kRequestParts> parts{};
  int64_t part_ns(RequestPart part) const { return parts[static_cast<size_t>(part)]; }
  int64_t queue_ns() const {
    return part_ns(RequestPart::kQueuePrefill) + part_ns(RequestPart::kQueueDecode) + part_ns(RequestPart::kQueueIdle);
  }
};

struct RequestsReport {
  bool asked = false;
  std::string file = {};
  std::string format = {};
  RequestsRefusal refusal = RequestsRefusal::kNone;
  int64_t offset_ns = 0;       // added to the log's times
  bool offset_fitted = false;
  uint64_t failed = 0;
  uint64_t unread = 0;
  std::vector<JoinedRequest> requests = {};  // in order of arrival
  uint64_t in_trace = 0;
  uint64_t joined = 0;  // with known parts of TTFT
  // Over requests with in_trace; over the whole log if it is not joined.
  RequestLatency queue = {};
  RequestLatency ttft = {};
  RequestLatency e2e = {};
  RequestLatency itl = {};  // from the log if it has token times, else from the steps
  RequestTail ttft_tail = {};
  RequestTail e2e_tail = {};
  // Share of the sequences in decode steps that the log has.
  double sequences_share = Serving::kUntold;
  // Intervals between steps without any request of the log; only if the log is nearly complete.
  std::vector<Interval> without_requests = {};
  bool is_joined() const { return asked && refusal == RequestsRefusal::kNone; }
};

struct RequestOptions {
  std::optional<int64_t> offset_ns = {};  // to add to the log's times; none: 0, or fitted
};

// steps: of the whole recording, in order. Without an offset, one is fitted if the clocks differ.
RequestsReport join_requests(const RequestLog& log, std::span<const ServingStep> steps,
                             const RequestOptions& options);

}  // namespace assay
