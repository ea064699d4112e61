#include "floor/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/stats.h"

namespace assay {
namespace {

constexpr double kEmptyStreamQuantile = 0.05;
constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

// Per activity, its start minus that of its call; kNoTime for all but the first kernel of a call,
// and for graph launches.
std::vector<int64_t> launch_times(const Trace& trace, const Links& links, uint64_t& launches) {
  std::vector<int64_t> times(trace.activities.size(), kNoTime);
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    for (const ActivityId activity : links.activities_of(ApiCallId(c))) {
      const size_t a = activity.index();
      if (trace.activities.kind[a] != ActivityKind::kKernel) continue;
      ++launches;
      if (links.role_of(trace, ApiCallId(c)) != ApiRole::kGraphLaunch) {
        times[a] = trace.activities.start_ns[a] - trace.api_calls.start_ns[c];
      }
      break;  // in order of device start
    }
  }
  return times;
}

// Launch times of launches issued after their stream had drained, sorted. Activities are sorted by
// stream and start.
std::vector<int64_t> empty_stream_times(const Trace& trace, const std::vector<int64_t>& times) {
  std::vector<int64_t> samples;
  StreamId stream;
  int64_t drained_ns = kNoTime;
  for (size_t a = 0; a < times.size(); ++a) {
    if (trace.activities.kind[a] == ActivityKind::kSync) continue;
    if (trace.activities.stream[a] != stream) drained_ns = kNoTime;
    stream = trace.activities.stream[a];
    if (times[a] != kNoTime && trace.activities.start_ns[a] - times[a] >= drained_ns) {
      samples.push_back(times[a]);
    }
    drained_ns = std::max(drained_ns, trace.end_ns(ActivityId(a)));
  }
  std::sort(samples.begin(), samples.end());
  return samples;
}

std::string too_few_words(uint64_t samples) {
  if (samples == 0) return "not known: no launch found its stream empty";
  return "not known: " + std::to_string(samples) +
         (samples == 1 ? " launch found its" : " launches found their") + " stream empty, " +
         std::to_string(kLeastFloorSamples) + " are needed";
}

}  // namespace

FloorEstimate estimate_floor(const Trace& trace, const Links& links) {
  FloorEstimate estimate;
  const std::vector<int64_t> samples =
      empty_stream_times(trace, launch_times(trace, links, estimate.launches));
  estimate.samples = samples.size();
  if (samples.size() < kLeastFloorSamples) {
    estimate.text = too_few_words(samples.size());
    return estimate;
  }
  const double low_ns = quantile_sorted(samples, kEmptyStreamQuantile);
  if (low_ns > static_cast<double>(kLargestEstimateNs)) {
    estimate.text =
        "unknown: launches to an empty stream took over a millisecond in this trace, delayed by "
        "another cause";
  } else if (low_ns < static_cast<double>(kSmallestEstimateNs)) {
    estimate.text =
        "not known: launches to an empty stream began sooner in this trace than any launch can; "
        "the clocks of host and device disagree";
  } else {
    estimate.floor_ns = std::llround(low_ns);
    estimate.text = "5th percentile of " + std::to_string(samples.size()) +
                    " launches to an empty stream in this trace";
  }
  return estimate;
}

}  // namespace assay
