#include "tax/floor.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/stats.h"
#include "records/launch_floors.h"

namespace assay {
namespace {

constexpr double kEmptyStreamQuantile = 0.05;
constexpr int64_t kLargestFloorNs = 1'000'000'000;
// No launch path takes a millisecond by itself: first calls that load modules or libraries do.
constexpr int64_t kLargestEstimateNs = 1'000'000;
constexpr int64_t kNoTime = INT64_MIN;

// T_launch of every row's kernel that is a fair sample of a launch: own call, no graph, no clock
// trouble.
std::vector<int64_t> launch_per_activity(const Trace& trace, const Links& links,
                                         const std::vector<TaxRow>& rows) {
  std::vector<int64_t> times(trace.activities.size(), kNoTime);
  for (const TaxRow& row : rows) {
    if (!row.cost.t_launch_ns || row.launch_clamped) continue;
    if (trace.activities.kind[row.kernel.index()] != ActivityKind::kKernel) continue;
    if (links.role_of(trace, row.call) == ApiRole::kGraphLaunch) continue;
    times[row.kernel.index()] = *row.cost.t_launch_ns;
  }
  return times;
}

// Those of launches issued when their stream had finished all before. Activities are sorted by
// stream and start.
std::vector<int64_t> empty_stream_times(const Trace& trace, const Links& links,
                                        const std::vector<TaxRow>& rows) {
  const std::vector<int64_t> times = launch_per_activity(trace, links, rows);
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

// The one published floor of all boards that ran these rows; nullptr when a board was not measured
// or boards differ.
const PublishedFloor* published_floor(const Trace& trace, const std::vector<TaxRow>& rows) {
  std::set<int64_t> used;
  for (const TaxRow& row : rows) {
    used.insert(trace.streams[trace.activities.stream[row.kernel.index()].index()].device);
  }
  std::set<const PublishedFloor*> floors;
  for (int64_t device : used) {
    const auto named =
        std::find_if(trace.devices.begin(), trace.devices.end(),
                     [&](const DeviceProperties& properties) { return properties.id == device; });
    const bool known = named != trace.devices.end();
    floors.insert(known ? floor_of_board(named->name, trace.tracer) : nullptr);
  }
  return floors.size() == 1 ? *floors.begin() : nullptr;
}

}  // namespace

Result<TaxFloor> choose_floor(const Trace& trace, const Links& links,
                              const std::vector<TaxRow>& rows,
                              const std::optional<TaxFloor>& given) {
  const std::vector<int64_t> samples = empty_stream_times(trace, links, rows);
  std::optional<int64_t> estimate;
  if (!samples.empty()) estimate = std::llround(quantile_sorted(samples, kEmptyStreamQuantile));

  TaxFloor floor;
  if (given) {
    if (given->floor_ns < 0 || given->floor_ns > kLargestFloorNs) {
      return Error{ErrorCode::kInvalidArgument,
                   "the launch floor must be from 0 to a second, in nanoseconds; leave it out to "
                   "take the published one of this board or the trace's own",
                   "", -1};
    }
    floor = *given;
    if (floor.text.empty()) floor.text = "given";
  } else if (const PublishedFloor* published = published_floor(trace, rows)) {
    floor.source = TaxSource::kTable;
    floor.floor_ns = std::llround(published->launch_ns);
    floor.text = "published for " + std::string(published->platform) + ": " +
                 std::string(published->source) + "; same board, not the same host";
  } else if (estimate && *estimate > kLargestEstimateNs) {
    floor.text =
        "unknown: launches to an empty stream took so long in this trace that they were "
        "held up by something else; taken as 0";
  } else if (estimate) {
    floor.source = TaxSource::kTrace;
    floor.floor_ns = *estimate;
    floor.samples = samples.size();
    floor.text = "5th percentile of launches to an empty stream in this trace";
  } else {
    floor.text = "unknown: no launch found its stream empty; taken as 0";
  }
  floor.trace_estimate_ns = estimate;
  return floor;
}

}  // namespace assay
