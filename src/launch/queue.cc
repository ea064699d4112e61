#include "launch/queue.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/stats.h"
#include "launch/facts.h"

namespace assay {
namespace {

constexpr double kEmptyStreamQuantile = 0.05;

// Launch times on streams that had drained. Activities are sorted by stream and start.
std::vector<int64_t> empty_stream_times(const Trace& trace, const Links& links,
                                        const std::vector<int64_t>& raw) {
  constexpr int64_t kNothingBefore = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> times;
  StreamId stream;
  int64_t drained_ns = kNothingBefore;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    if (trace.activities.kind[a] == ActivityKind::kSync) continue;
    if (trace.activities.stream[a] != stream) drained_ns = kNothingBefore;
    stream = trace.activities.stream[a];
    const ApiCallId call = links.activity_call[a];
    const bool sample = raw[a] != kNoLaunchTime && raw[a] >= 0 &&
                        links.role_of(trace, call) != ApiRole::kGraphLaunch &&
                        trace.api_calls.start_ns[call.index()] >= drained_ns;
    if (sample) times.push_back(raw[a]);
    drained_ns = std::max(drained_ns, trace.end_ns(ActivityId(a)));
  }
  return times;
}

}  // namespace

Result<LaunchFloor> find_floor(const Trace& trace, const Links& links,
                               const std::vector<int64_t>& raw_launch_times,
                               const std::optional<double>& floor_ns,
                               const std::string& floor_source) {
  LaunchFloor floor;
  if (floor_ns) {
    // Above a second is no launch; the bound also keeps the rounding inside 64 bits.
    if (!std::isfinite(*floor_ns) || *floor_ns <= 0 || *floor_ns > 1e9) {
      return Error{ErrorCode::kInvalidArgument,
                   "the launch floor must be a positive number of nanoseconds, at most a second; "
                   "leave it out to estimate it from the trace",
                   {}};
    }
    floor.source = FloorSource::kUser;
    floor.floor_ns = std::llround(*floor_ns);
    floor.text = floor_source.empty() ? "given" : floor_source;
    return floor;
  }
  std::vector<int64_t> times = empty_stream_times(trace, links, raw_launch_times);
  floor.samples = times.size();
  if (times.empty()) {
    floor.text = "unknown: no launch found its stream empty";
    return floor;
  }
  std::sort(times.begin(), times.end());
  floor.source = FloorSource::kEmptyStream;
  floor.floor_ns = std::llround(quantile_sorted(times, kEmptyStreamQuantile));
  floor.text = "5th percentile of launches to an empty stream in this trace";
  return floor;
}

LaunchTimeStats launch_time_stats(std::vector<int64_t>& times_ns) {
  std::sort(times_ns.begin(), times_ns.end());
  LaunchTimeStats stats;
  stats.n = times_ns.size();
  const int64_t sum = std::accumulate(times_ns.begin(), times_ns.end(), int64_t{0});
  stats.mean_ns = times_ns.empty() ? std::numeric_limits<double>::quiet_NaN()
                                   : static_cast<double>(sum) / static_cast<double>(stats.n);
  stats.p5_ns = quantile_sorted(times_ns, 0.05);
  stats.p50_ns = quantile_sorted(times_ns, 0.50);
  stats.p95_ns = quantile_sorted(times_ns, 0.95);
  stats.p99_ns = quantile_sorted(times_ns, 0.99);
  return stats;
}

}  // namespace assay
