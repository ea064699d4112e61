// Estimates typical latencies between successive events and, from them, when each work was ready.

#include "flow/build.h"

#include <algorithm>

namespace assay {
namespace {

// Values for fewer than kFloorSamples samples (docs/metrics.md, Flow).
constexpr FlowFloor kAssumedLaunch{3'000, 18'000, 0, true};
constexpr FlowFloor kAssumedStream{1'500, 14'000, 0, true};
constexpr FlowFloor kAssumedEvent{2'000, 14'000, 0, true};
// A successor that begins later than this after its predecessor was delayed by something else.
constexpr int64_t kLongestGapNs = 20'000;
constexpr int64_t kLongestUsualNs = 10'000;
constexpr int64_t kShortestUsualNs = 500;

int64_t end_of(const FlowRun& run, uint32_t work) {
  return work == kNoFlowRow ? kUnknownNs : run.works[work].end_ns;
}

// Latest end of the works on other streams that `work` waits for; kUnknownNs if none.
int64_t waits_end(const FlowRun& run, const FlowWork& work) {
  int64_t end_ns = kUnknownNs;
  for (uint32_t k = 0; k < work.wait_count; ++k) {
    end_ns = std::max(end_ns, run.works[run.waits[work.first_wait + k]].end_ns);
  }
  return end_ns;
}

// FlowFloors::way_ns, from launches that nothing else delayed: on a stream that had been idle for
// longer than one kernel takes to follow another. 0 if there is no such constant delay.
int64_t find_way(const FlowRun& run) {
  constexpr int64_t kFarNs = 50'000;
  constexpr int64_t kUsualWayNs = 3'000;
  const bool clocks_differ = run.early_returns >= 2 && run.early_returns * 2 >= run.sure_returns;
  if (clocks_differ) return 0;
  std::vector<int64_t> ways;
  uint64_t on_the_way = 0;  // launched while the predecessor had not begun
  uint64_t launched = 0;
  for (const FlowWork& work : run.works) {
    if (work.call == kNoFlowRow || work.in_graph || work.kind == WorkKind::kCopy) continue;
    ++launched;
    const FlowWork* prev = work.stream_prev == kNoFlowRow ? nullptr : &run.works[work.stream_prev];
    const bool alone = prev == nullptr || work.start_ns - prev->end_ns > kLongestGapNs;
    if (!alone || work.wait_count > 0 || work.start_ns < work.submit_ns) continue;
    ways.push_back(work.start_ns - work.submit_ns);
    on_the_way += prev != nullptr && prev->start_ns > work.submit_ns;
  }
  if (ways.size() < kFloorSamples || ways.size() * 4 < launched || on_the_way * 2 < ways.size()) {
    return 0;
  }
  const int64_t least_ns = quantile_ns(ways, 0.1, 0);
  const int64_t most_ns = quantile_ns(ways, 0.9, 0);
  const bool same = most_ns - least_ns <= std::max(kFlowMarginNs, least_ns / 10);
  return least_ns >= kFarNs && same ? least_ns - kUsualWayNs : 0;
}

struct Samples {
  std::vector<int64_t> launch;
  std::vector<int64_t> stream;
  std::vector<int64_t> event;
};

Samples sample(const FlowRun& run) {
  Samples samples;
  for (const FlowWork& work : run.works) {
    if (work.call == kNoFlowRow) continue;
    const int64_t prev_ns = end_of(run, work.stream_prev);
    const int64_t event_ns = waits_end(run, work);
    const bool free = prev_ns < run.calls[work.call].start_ns;
    const int64_t arrived_ns = arrival_ns(run, work);
    const bool near = run.floors.way_ns == 0;
    if ((free || !near) && work.wait_count == 0 && !work.in_graph && prev_ns < arrived_ns &&
        work.start_ns >= arrived_ns) {
      samples.launch.push_back(work.start_ns - arrived_ns);
    }
    if (event_ns >= arrived_ns && event_ns >= prev_ns && event_ns != kUnknownNs) {
      samples.event.push_back(work.start_ns - event_ns);
    } else if (prev_ns >= arrived_ns && prev_ns != kUnknownNs &&
               work.start_ns - prev_ns < kLongestGapNs) {
      samples.stream.push_back(work.start_ns - prev_ns);
    }
  }
  return samples;
}

FlowFloor floor_of(std::vector<int64_t>& values, int64_t most_usual_ns, const FlowFloor& assumed) {
  FlowFloor floor;
  floor.samples = values.size();
  if (values.size() < kFloorSamples) {
    const uint64_t samples = values.size();
    floor = assumed;
    floor.samples = samples;
    return floor;
  }
  floor.typical_ns = quantile_ns(values, 0.5, 0);
  const int64_t high_ns = std::min(quantile_ns(values, 0.9, 0), most_usual_ns);
  floor.limit_ns = std::max(high_ns, floor.typical_ns) + kFlowMarginNs;
  return floor;
}

// Drops launches far above the median: the device was busy with something that is not in the trace.
void drop_far(std::vector<int64_t>& values) {
  if (values.size() < kFloorSamples) return;
  const int64_t limit_ns = 3 * quantile_ns(values, 0.5, 0) + kFlowMarginNs;
  std::erase_if(values, [limit_ns](int64_t value) { return value > limit_ns; });
}

// The shortest of too few samples: no latency is longer than one observed. `otherwise` if there is
// none, or if it is so long that something else delayed it.
int64_t shortest_ns(const std::vector<int64_t>& values, int64_t otherwise) {
  if (values.empty()) return otherwise;
  const int64_t least_ns = *std::min_element(values.begin(), values.end());
  return least_ns <= kLongestUsualNs ? least_ns : otherwise;
}

// alone: times of work that only this dependency delayed; all: times of work that it delayed at
// least in part. With few of the former, the shortest of the latter bounds the typical time.
void refine(std::vector<int64_t> alone, const std::vector<int64_t>& all, FlowFloor& floor) {
  drop_far(alone);
  const int64_t few_ns = shortest_ns(alone.empty() ? all : alone, floor.typical_ns);
  floor.typical_ns = std::min(quantile_ns(alone, 0.5, few_ns), floor.limit_ns);
  if (alone.size() >= kFloorSamples) return;
  const auto [least, most] = std::minmax_element(alone.begin(), alone.end());
  const int64_t low_ns = alone.empty() ? kShortestUsualNs : *least;
  const int64_t high_ns = alone.empty() ? shortest_ns(all, kLongestUsualNs) : *most;
  floor.low_ns = std::min(low_ns, floor.typical_ns);
  floor.high_ns = std::max(floor.typical_ns, std::min(high_ns, kLongestUsualNs));
}

// For runs in which launches hardly ever found an idle stream. Leaves out work that began before
// its call returned: its submission time is unknown.
void refine_launch(FlowRun& run) {
  FlowFloor& floor = run.floors.launch;
  if (!floor.assumed) return;
  std::vector<int64_t> alone;
  std::vector<int64_t> all;
  for (const FlowWork& work : run.works) {
    if (work.call == kNoFlowRow || work.in_graph) continue;
    if (work.start_ns < run.calls[work.call].end_ns) continue;
    const int64_t arrived_ns = arrival_ns(run, work);
    const bool free = end_of(run, work.stream_prev) <= arrived_ns && work.wait_count == 0;
    (free ? alone : all).push_back(work.start_ns - arrived_ns);
  }
  const int64_t assumed_ns = alone.empty() ? floor.typical_ns : kLongestUsualNs;
  refine(std::move(alone), all, floor);
  floor.typical_ns = std::min(floor.typical_ns, assumed_ns);
}

// Work that follows its predecessor closely may have waited for its launch, and work that follows a
// launch may have found its stream busy. Typical times come from work that only one of them
// delayed, if there is enough of it; limits stay.
void refine_typical(FlowRun& run) {
  refine_launch(run);
  FlowFloors& floors = run.floors;
  Samples alone;
  Samples all;
  for (const FlowWork& work : run.works) {
    if (work.call == kNoFlowRow || work.in_graph || work.start_ns < work.submit_ns) continue;
    const int64_t prev_ns = end_of(run, work.stream_prev);
    const int64_t event_ns = waits_end(run, work);
    const int64_t arrived_ns = arrival_ns(run, work);
    const int64_t launched_ns = arrived_ns + floors.launch.typical_ns;
    const int64_t last_ns = std::max(event_ns, prev_ns);
    if (last_ns == kUnknownNs || last_ns < arrived_ns) continue;
    const bool by_event = event_ns >= prev_ns;
    const int64_t lag_ns = work.start_ns - last_ns;
    if (last_ns >= launched_ns) {
      (by_event ? alone.event : alone.stream).push_back(lag_ns);
    }
    if (work.start_ns > launched_ns && lag_ns < kLongestUsualNs) {
      (by_event ? all.event : all.stream).push_back(lag_ns);
    }
  }
  refine(std::move(alone.stream), all.stream, floors.stream);
  refine(std::move(alone.event), all.event, floors.event);
}

void set_ready(const FlowRun& run, FlowWork& work) {
  const auto consider = [&work](int64_t time_ns, ReadyBy by) {
    if (time_ns <= work.ready_ns) return;
    work.ready_ns = time_ns;
    work.ready_by = by;
  };
  work.ready_ns = kUnknownNs;
  consider(arrival_ns(run, work), ReadyBy::kLaunch);
  consider(end_of(run, work.stream_prev), work.in_graph ? ReadyBy::kGraph : ReadyBy::kStream);
  consider(end_of(run, work.graph_prev), ReadyBy::kGraph);
  consider(waits_end(run, work), ReadyBy::kEvent);
}

}  // namespace

int64_t quantile_ns(std::vector<int64_t>& values, double share, int64_t otherwise) {
  if (values.size() < kFloorSamples) return otherwise;
  const size_t place =
      std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

void find_ready_times(FlowRun& run) {
  run.floors.way_ns = find_way(run);
  Samples samples = sample(run);
  drop_far(samples.launch);
  run.floors.launch = floor_of(samples.launch, INT64_MAX - kFlowMarginNs, kAssumedLaunch);
  run.floors.stream = floor_of(samples.stream, kLongestUsualNs, kAssumedStream);
  run.floors.event = floor_of(samples.event, kLongestUsualNs, kAssumedEvent);
  refine_typical(run);
  for (FlowWork& work : run.works) set_ready(run, work);
}

}  // namespace assay
