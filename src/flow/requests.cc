#include "flow/requests.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/stats.h"

namespace assay {
namespace {

// The scheduler's decision comes slightly before the label of its step, and a token's time slightly
// after its work.
constexpr int64_t kSlackNs = 2'000'000;
// Share of first tokens that must follow a prefill step for clocks to count as equal.
constexpr double kFollowShare = 0.9;
// For a fitted offset: least requests, their least share within one bin, least ratio to any other
// bin, bin width, most requests.
constexpr size_t kLeastToFit = 8;
constexpr double kFitShare = 0.8;
constexpr double kFitAhead = 1.5;
constexpr int64_t kFitBinNs = 2'000'000;
constexpr size_t kMostToFit = 2000;
// Limits on the number of token times, in all and per step.
constexpr size_t kMostGaps = 50'000'000;
constexpr uint64_t kMostSequences = 100'000;

int64_t& part_of(JoinedRequest& request, RequestPart part) { return request.parts[static_cast<size_t>(part)]; }

RequestLatency latency(std::vector<int64_t> ns) {
  std::sort(ns.begin(), ns.end());
  if (ns.empty()) return {};
  return {ns.size(), nearest_rank(ns, 0.5), nearest_rank(ns, 0.9), nearest_rank(ns, 0.99)};
}

// Time of an interval by what the engine runs.
struct StepTimes {
  int64_t prefill_ns = 0;
  int64_t decode_ns = 0;
  int64_t none_ns = 0;
  int64_t above_typical_ns = 0;  // part of prefill_ns beyond a typical decode step
  uint64_t tokens = 0;           // tokens of the overlapping steps with prompts
  bool tokens_known = true;
};

class Steps {
 public:
  explicit Steps(std::span<const ServingStep> steps) {
    std::vector<int64_t> decode;
    int64_t end_ns = INT64_MIN;
    for (const ServingStep& step : steps) {
      // A step's work may begin before the previous step's work ends.
      const Interval span{std::max(step.device.start_ns, end_ns), std::max(step.device.end_ns, end_ns)};
      end_ns = span.end_ns;
      steps_.push_back({&step, span});
      if (step.told.kind == StepKind::kDecode) decode.push_back(step.device.end_ns - step.device.start_ns);
      if (step.prefills()) prefill_ends_.push_back(step.device.end_ns);
    }
    std::sort(decode.begin(), decode.end());
    if (!decode.empty()) typical_decode_ns_ = decode[decode.size() / 2];
  }

  bool empty() const { return steps_.empty(); }
  Interval span() const { return {steps_.front().step->host.start_ns, steps_.back().span.end_ns}; }
  const std::vector<int64_t>& prefill_ends() const { return prefill_ends_; }

  StepTimes times(Interval within) const {
    StepTimes found;
    if (within.end_ns <= within.start_ns) return found;
    auto at = std::upper_bound(steps_.begin(), steps_.end(), within.start_ns,
                               [](int64_t ns, const One& one) { return ns < one.span.end_ns; });
    for (; at != steps_.end() && at->span.start_ns < within.end_ns; ++at) {
      const int64_t ns = std::min(at->span.end_ns, within.end_ns) - std::max(at->span.start_ns, within.start_ns);
      if (!at->step->prefills()) {
        found.decode_ns += ns;
        continue;
      }
      found.prefill_ns += ns;
      found.above_typical_ns += at->step->told.kind == StepKind::kMixed ? std::max<int64_t>(ns - typical_decode_ns_, 0) : ns;
      const StepLabel& told = at->step->told;
      found.tokens_known = found.tokens_known && told.prompt_tokens.has_value();
      found.tokens += told.prompt_tokens.value_or(0) + told.decode_tokens.value_or(0);
    }
    found.none_ns = within.end_ns - within.start_ns - found.prefill_ns - found.decode_ns;
    return found;
  }

  // The start of a prompt's prefill, given its first token at `first_ns`: its tokens are in the
  // last steps with prompts before that time. None if these steps hold fewer tokens.
  std::optional<int64_t> prefill_begin(int64_t first_ns, uint64_t tokens) const {
    auto at = std::upper_bound(steps_.begin(), steps_.end(), first_ns,
                               [](int64_t ns, const One& one) { return ns < one.span.end_ns; });
    uint64_t held = 0;
    while (at != steps_.begin()) {
      --at;
      if (!at->step->prefills()) continue;
      held += at->step->told.prompt_tokens.value_or(tokens);
      if (held >= tokens) return at->step->host.start_ns;
    }
    return std::nullopt;
  }

  template <typename Each>
  void for_each(const Each& each) const {
    for (const One& one : steps_) each(*one.step, one.span);
  }

 private:
  struct One {
    const ServingStep* step;
    Interval span;
  };
  std::vector<One> steps_;
  std::vector<int64_t> prefill_ends_;
  int64_t typical_decode_ns_ = 0;
};

std::optional<int64_t> first_token_ns(const RequestRecord& record) {
  if (!record.arrival_ns || !record.ttft_ns) return std::nullopt;
  return *record.arrival_ns + *record.ttft_ns;
}

// True if a step with prompts ends between the scheduling of a request and its first token.
bool follows_prefill(const RequestRecord& record, const Steps& steps, int64_t offset_ns) {
  const int64_t first_ns = *first_token_ns(record) + offset_ns;
  const int64_t from_ns = record.prefill_ns ? first_ns - *record.prefill_ns - kSlackNs : *record.arrival_ns + offset_ns;
  const auto& ends = steps.prefill_ends();
  const auto at = std::lower_bound(ends.begin(), ends.end(), from_ns);
  return at != ends.end() && *at <= first_ns + kSlackNs / 4;
}

bool has_first_within(const RequestRecord& record, Interval span, int64_t offset_ns) {
  const auto first_ns = first_token_ns(record);
  return first_ns && *record.arrival_ns + offset_ns >= span.start_ns - kSlackNs &&
         *first_ns + offset_ns <= span.end_ns + kSlackNs;
}

enum class ClockFit : uint8_t { kFine, kNoneInside, kDiffer };

ClockFit fit_of(const RequestLog& log, const Steps& steps, int64_t offset_ns) {
  size_t inside = 0;
  size_t follow = 0;
  for (const RequestRecord& record : log.requests) {
    if (!has_first_within(record, steps.span(), offset_ns)) continue;
    ++inside;
    follow += follows_prefill(record, steps, offset_ns) ? 1 : 0;
  }
  if (inside == 0) return ClockFit::kNoneInside;
  const bool fine = static_cast<double>(follow) >= kFollowShare * static_cast<double>(inside);
  return fine ? ClockFit::kFine : ClockFit::kDiffer;
}

// The offset with which nearly all first tokens come right after the end of a step with prompts.
// None if there are too few or too many requests, or another offset is nearly as good.
std::optional<int64_t> fitted_offset(const RequestLog& log, const Steps& steps) {
  std::vector<int64_t> first;
  for (const RequestRecord& record : log.requests) {
    if (const auto ns = first_token_ns(record)) first.push_back(*ns);
  }
  const auto& ends = steps.prefill_ends();
  if (first.size() < kLeastToFit || first.size() > kMostToFit || ends.empty() || ends.size() > kMostToFit) return std::nullopt;
  struct Pair {
    int64_t offset_ns;
    size_t request;
  };
  std::vector<Pair> pairs;
  pairs.reserve(first.size() * ends.size());
  for (size_t r = 0; r < first.size(); ++r) {
    for (const int64_t end_ns : ends) pairs.push_back({end_ns - first[r], r});
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.offset_ns < b.offset_ns; });
  // Number of requests with a pair in the bin that ends at each pair.
  std::vector<size_t> held(first.size(), 0);
  size_t most = 0;
  size_t most_at = 0;
  size_t count = 0;
  std::vector<size_t> counts(pairs.size());
  for (size_t end = 0, begin = 0; end < pairs.size(); ++end) {
    count += held[pairs[end].request]++ == 0 ? 1 : 0;
    while (pairs[end].offset_ns - pairs[begin].offset_ns > kFitBinNs) {
      count -= --held[pairs[begin].request] == 0 ? 1 : 0;
      ++begin;
    }
    counts[end] = count;
    if (count > most) {
      most = count;
      most_at = end;
    }
  }
  if (static_cast<double>(most) < kFitShare * static_cast<double>(first.size())) return std::nullopt;
  size_t second = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (std::abs(pairs[i].offset_ns - pairs[most_at].offset_ns) > 2 * kFitBinNs) second = std::max(second, counts[i]);
  }
  if (static_cast<double>(most) < kFitAhead * static_cast<double>(second)) return std::nullopt;
  // The upper end of the bin: no token comes before its step ends.
  return pairs[most_at].offset_ns;
}

// Sets the parts of a request's time up to its first token.
void add_first_parts(const Steps& steps, int64_t offset_ns, JoinedRequest& joined) {
  const RequestRecord& record = joined.record;
  const int64_t first_ns = *first_token_ns(record) + offset_ns;
  std::optional<int64_t> prefill_ns = record.prefill_ns;
  const uint64_t prompt = record.prompt_tokens.value_or(0) - std::min(record.cached_tokens.value_or(0), record.prompt_tokens.value_or(0));
  if (!prefill_ns) {
    const auto begin_ns = steps.prefill_begin(first_ns, prompt);
    if (!begin_ns) return;
    prefill_ns = first_ns - std::max(*begin_ns, joined.arrival_ns);
    joined.queue_inferred = true;
  }
  prefill_ns = std::min(*prefill_ns, *record.ttft_ns);
  const int64_t left_ns = *record.ttft_ns - *prefill_ns;
  const int64_t queue_ns = std::min(joined.queue_inferred ? left_ns : record.queue_ns.value_or(left_ns), left_ns);
  part_of(joined, RequestPart::kInput) = left_ns - queue_ns;
  const int64_t scheduled_ns = first_ns - *prefill_ns;
  const StepTimes queued = steps.times({scheduled_ns - queue_ns, scheduled_ns});
  part_of(joined, RequestPart::kQueuePrefill) = queued.prefill_ns;
  part_of(joined, RequestPart::kQueueDecode) = queued.decode_ns;
  part_of(joined, RequestPart::kQueueIdle) = queued.none_ns;
  const StepTimes prefill = steps.times({scheduled_ns, first_ns});
  const double own = !prefill.tokens_known || prefill.tokens == 0
                         ? 1
                         : std::min(1.0, static_cast<double>(prompt) / static_cast<double>(prefill.tokens));
  const int64_t own_ns = std::llround(own * static_cast<double>(prefill.prefill_ns));
  part_of(joined, RequestPart::kPrefill) = own_ns;
  part_of(joined, RequestPart::kOthers) = prefill.prefill_ns - own_ns + prefill.decode_ns;
  part_of(joined, RequestPart::kHost) = prefill.none_ns;
  joined.to_first = true;
}

void add_last_parts(const Steps& steps, int64_t offset_ns, JoinedRequest& joined) {
  const RequestRecord& record = joined.record;
  const int64_t first_ns = *first_token_ns(record) + offset_ns;
  const int64_t last_ns = joined.arrival_ns + *record.e2e_ns;
  const StepTimes decode = steps.times({first_ns, std::max(first_ns, last_ns)});
  part_of(joined, RequestPart::kDecodePrefill) = decode.above_typical_ns;
  part_of(joined, RequestPart::kDecode) = decode.decode_ns + decode.prefill_ns - decode.above_typical_ns;
  part_of(joined, RequestPart::kDecodeHost) = decode.none_ns;
  joined.to_last = true;
}

// The request at p99, and its part with the largest excess over the median.
RequestTail tail_of(const std::vector<JoinedRequest>& requests, bool to_last) {
  std::vector<size_t> places;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (to_last ? requests[i].to_last : requests[i].to_first) places.push_back(i);
  }
  RequestTail tail;
  if (places.empty()) return tail;
  const auto length_of = [&](size_t i) {
    return to_last ? *requests[i].record.e2e_ns : *requests[i].record.ttft_ns;
  };
  std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) { return length_of(a) < length_of(b); });
  tail.request = places[nearest_rank_place(places.size(), 0.99)];
  int64_t most_ns = 0;
  for (size_t p = 0; p < (to_last ? kRequestParts : kFirstTokenParts); ++p) {
    std::vector<int64_t> ns;
    for (const size_t i : places) ns.push_back(requests[i].parts[p]);
    std::sort(ns.begin(), ns.end());
    const int64_t excess_ns = requests[*tail.request].parts[p] - nearest_rank(ns, 0.5);
    if (excess_ns <= most_ns) continue;
    most_ns = excess_ns;
    tail.part = static_cast<RequestPart>(p);
    tail.part_ns = requests[*tail.request].parts[p];
  }
  return tail;
}

// Times between tokens: from the log, else one per sequence that a step decodes.
RequestLatency token_latency(const RequestsReport& report, const Steps& steps) {
  std::vector<int64_t> gaps;
  for (const JoinedRequest& request : report.requests) {
    if (report.refusal == RequestsRefusal::kNone && !request.in_trace) continue;
    gaps.insert(gaps.end(), request.record.token_gaps_ns.begin(), request.record.token_gaps_ns.end());
  }
  if (!gaps.empty() || report.refusal != RequestsRefusal::kNone) return latency(std::move(gaps));
  steps.for_each([&gaps](const ServingStep& step, Interval) {
    if (step.token_gap_ns <= 0 || gaps.size() > kMostGaps) return;
    gaps.insert(gaps.end(), std::min(step.told.decoding.value_or(1), kMostSequences), step.token_gap_ns);
  });
  return latency(std::move(gaps));
}

// The share of the sequences in decode steps that the log has.
double sequences_share(const RequestsReport& report, const Steps& steps) {
  std::vector<int64_t> first;
  std::vector<int64_t> last;
  for (const JoinedRequest& request : report.requests) {
    if (!request.record.ttft_ns || !request.record.e2e_ns) continue;
    first.push_back(request.arrival_ns + *request.record.ttft_ns);
    last.push_back(request.arrival_ns + *request.record.e2e_ns);
  }
  std::sort(first.begin(), first.end());
  std::sort(last.begin(), last.end());
  uint64_t all = 0;
  uint64_t known = 0;
  steps.for_each([&](const ServingStep& step, Interval span) {
    if (!step.decodes() || !step.told.decoding) return;
    const auto begun = std::upper_bound(first.begin(), first.end(), span.start_ns) - first.begin();
    const auto ended = std::lower_bound(last.begin(), last.end(), span.end_ns) - last.begin();
    all += *step.told.decoding;
    known += std::min(*step.told.decoding, static_cast<uint64_t>(std::max<std::ptrdiff_t>(begun - ended, 0)));
  });
  return all == 0 ? Serving::kUntold : static_cast<double>(known) / static_cast<double>(all);
}

// Intervals between steps without any request of the log in the engine.
std::vector<Interval> without_requests(const RequestsReport& report, const Steps& steps) {
  std::vector<Interval> taken;
  for (const JoinedRequest& request : report.requests) {
    if (!request.record.e2e_ns) return {};
    taken.push_back({request.arrival_ns, request.arrival_ns + *request.record.e2e_ns});
  }
  steps.for_each([&taken](const ServingStep& step, Interval span) {
    taken.push_back({std::min(step.host.start_ns, span.start_ns), std::max(step.host.end_ns, span.end_ns)});
  });
  taken = merge_intervals(std::move(taken));
  std::vector<Interval> free;
  const Interval within = steps.span();
  for (size_t i = 0; i + 1 < taken.size(); ++i) {
    const Interval gap{std::max(taken[i].end_ns, within.start_ns), std::min(taken[i + 1].start_ns, within.end_ns)};
    if (gap.end_ns > gap.start_ns) free.push_back(gap);
  }
  return free;
}

void add_latencies(RequestsReport& report) {
  std::vector<int64_t> queue;
  std::vector<int64_t> ttft;
  std::vector<int64_t> e2e;
  const bool joined = report.refusal == RequestsRefusal::kNone;
  for (const JoinedRequest& request : report.requests) {
    if (joined && !request.in_trace) continue;
    const RequestRecord& record = request.record;
    if (request.to_first || record.queue_ns) queue.push_back(request.to_first ? request.queue_ns() : *record.queue_ns);
    if (record.ttft_ns) ttft.push_back(*record.ttft_ns);
    if (record.e2e_ns) e2e.push_back(*record.e2e_ns);
  }
  report.queue = latency(std::move(queue));
  report.ttft = latency(std::move(ttft));
  report.e2e = latency(std::move(e2e));
}

void join(const Steps& steps, RequestsReport& report) {
  const Interval span = steps.span();
  for (JoinedRequest& joined : report.requests) {
    const RequestRecord& record = joined.record;
    if (!record.arrival_ns) continue;
    joined.arrival_ns = *record.arrival_ns + report.offset_ns;
    const int64_t length_ns = record.e2e_ns.value_or(record.ttft_ns.value_or(0));
    joined.in_trace = joined.arrival_ns <= span.end_ns && joined.arrival_ns + length_ns >= span.start_ns;
    report.in_trace += joined.in_trace ? 1 : 0;
    if (!has_first_within(record, span, report.offset_ns)) continue;
    add_first_parts(steps, report.offset_ns, joined);
    if (!joined.to_first) continue;
    ++report.joined;
    if (record.e2e_ns && joined.arrival_ns + *record.e2e_ns <= span.end_ns + kSlackNs) {
      add_last_parts(steps, report.offset_ns, joined);
    }
  }
}

// Aligns the log's clock with the trace, or sets the refusal.
void align(const RequestLog& log, const Steps& steps, const RequestOptions& options, RequestsReport& report) {
  if (steps.empty()) {
    report.refusal = RequestsRefusal::kNoSteps;
    return;
  }
  if (log.clock == RequestClock::kNone) {
    report.refusal = RequestsRefusal::kNoTimes;
    return;
  }
  report.offset_ns = options.offset_ns.value_or(0);
  ClockFit fit = log.clock == RequestClock::kOwn && !options.offset_ns ? ClockFit::kDiffer : fit_of(log, steps, report.offset_ns);
  if (fit != ClockFit::kFine && !options.offset_ns) {
    const auto fitted = fitted_offset(log, steps);
    if (fitted && fit_of(log, steps, *fitted) == ClockFit::kFine) {
      report.offset_ns = *fitted;
      report.offset_fitted = true;
      fit = ClockFit::kFine;
    }
  }
  if (fit == ClockFit::kNoneInside) report.refusal = RequestsRefusal::kNoOverlap;
  if (fit == ClockFit::kDiffer) report.refusal = RequestsRefusal::kClocksDiffer;
}

}  // namespace

std::string_view request_part_name(RequestPart part) {
  constexpr std::string_view kNames[kRequestParts] = {"input",  "queue_prefill", "queue_decode", "queue_idle", "prefill",
                                                      "others", "host", "decode", "decode_prefill", "decode_host"};
  return kNames[static_cast<size_t>(part)];
}

std::string_view requests_refusal_name(RequestsRefusal refusal) {
  constexpr std::string_view kNames[] = {"", "no_steps", "no_times", "no_overlap", "clocks_differ"};
  return kNames[static_cast<size_t>(refusal)];
}

RequestsReport join_requests(const RequestLog& log, std::span<const ServingStep> steps_of_trace,
                             const RequestOptions& options) {
  const Steps steps(steps_of_trace);
  RequestsReport report{.asked = true, .file = log.file, .format = log.format, .failed = log.failed, .unread = log.unread};
  for (const RequestRecord& record : log.requests) report.requests.push_back({.record = record});
  align(log, steps, options, report);
  if (report.refusal == RequestsRefusal::kNone) {
    join(steps, report);
    report.ttft_tail = tail_of(report.requests, false);
    report.e2e_tail = tail_of(report.requests, true);
    report.sequences_share = sequences_share(report, steps);
    if (report.sequences_share >= 0.9) report.without_requests = without_requests(report, steps);
  }
  add_latencies(report);
  report.itl = token_latency(report, steps);
  return report;
}

}  // namespace assay
