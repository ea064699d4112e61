#include "report/run/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "breakdown/overhead.h"
#include "flow/names.h"
#include "kernels/name.h"
#include "launch/idle.h"
#include "launch/tree.h"
#include "overhead/exclusive.h"
#include "overhead/overhead_summer.h"
#include "trace/process_facts.h"

namespace assay {
namespace {

class TimelineMaker {
 public:
  TimelineMaker(const Trace& trace, const Links& links, const Windows& windows,
                const TimelineRooms& rooms)
      : trace_(trace), links_(links), windows_(windows), rooms_(rooms) {}

  Timeline make();

 private:
  using Rows = std::vector<KernelLevel>;

  StringId text(std::string_view words) { return timeline_.texts.intern(words); }
  void keep(TimelineTrack track);
  StringId kernel_text(ActivityId kernel);

  void add_iterations();
  void add_idle();
  void add_path();
  StringId path_text(const PathSlice& slice);
  void add_breakdown();
  void add_operations(const std::string& gpu, const Rows& rows);
  void add_bubbles(const std::string& gpu, const Rows& rows, const std::vector<Interval>& blocked);
  void add_exposed(const std::string& gpu, const Rows& rows);
  void add_chains();
  int64_t chain_rank(const std::vector<ActivityId>& chain) const;
  void add_overhead();
  void add_overhead_tile(const HostOverheadTile& tile, const std::vector<Interval>& waits,
                         HostOverheadSummer summer, TimelineTrack& track);
  void add_launch_counters();
  void add_memory_counters();
  void add_telemetry_counters();

  const Trace& trace_;
  const Links& links_;
  const Windows& windows_;
  const TimelineRooms& rooms_;
  Timeline timeline_;
};

Timeline TimelineMaker::make() {
  add_iterations();
  add_idle();
  add_path();
  add_breakdown();
  add_chains();
  add_overhead();
  add_launch_counters();
  add_memory_counters();
  add_telemetry_counters();
  return std::move(timeline_);
}

void TimelineMaker::keep(TimelineTrack track) {
  if (!track.slices.empty()) timeline_.tracks.push_back(std::move(track));
}

StringId TimelineMaker::kernel_text(ActivityId kernel) {
  return text(short_kernel_name(trace_.text(trace_.activities.name[kernel.index()])));
}

// ---- launch ----

void TimelineMaker::add_iterations() {
  TimelineTrack host{.name = "iterations", .keys = {{"kernels"}, {"launches"}, {"tklqt_ns"}}};
  TimelineTrack latency{.name = "inference latency, IL",
                        .keys = {{"il_ns"}, {"gpu_idle_union_ns"}, {"kernel_sum_ns"}}};
  const std::vector<LaunchMetrics>& iterations = rooms_.launch.iterations;
  for (size_t i = 0; i < iterations.size(); ++i) {
    const LaunchMetrics& m = iterations[i];
    const Window& window = windows_.windows[i];
    const StringId name = text(window.name);
    host.add(window.start_ns, window.end_ns, name, m.kernels, m.launches, m.tklqt_ns);
    if (m.kernels == 0) continue;
    latency.add(m.origin_ns, m.origin_ns + m.il_ns, name, m.il_ns, m.gpu_idle_union_ns,
                m.kernel_sum_ns);
  }
  keep(std::move(host));
  keep(std::move(latency));
}

// The name of the row that is responsible for a cause; empty if there is none.
std::string_view name_behind(const Trace& trace, const FlowSlice& slice) {
  const StringId name = row_name(trace, slice.source, slice.row);
  if (!name) return "";
  return slice.source == RowSource::kActivity ? short_kernel_name(trace.text(name))
                                              : trace.text(name);
}

void TimelineMaker::add_idle() {
  TimelineTrack track{
      .name = "GPU idle",
      .keys = {{"gap"}, {"opened_by", true}, {"evidence", true}, {"behind_it", true}}};
  for (const IdleSlice& idle : idle_slices(rooms_.flow.all_devices(), rooms_.launch.idle_gaps)) {
    const auto add = [&](std::string_view name, int64_t opened_by, int64_t evidence,
                         int64_t behind_it) {
      track.add(idle.span.start_ns, idle.span.end_ns, text(name), idle.gap, opened_by, evidence,
                behind_it);
    };
    if (idle.state != IdleState::kCause) {
      const bool copy = idle.state == IdleState::kCopy;
      add(copy ? "copy" : "other device work", kNoTimelineValue, kNoTimelineValue,
          kNoTimelineValue);
      continue;
    }
    const FlowSlice& slice = *idle.slice;
    const std::string_view behind_it = name_behind(trace_, slice);
    add(flow_cause_name(slice.cause), text(opened_by_name(slice.opened_by)).value,
        text(evidence_name(slice.evidence)).value,
        behind_it.empty() ? kNoTimelineValue : static_cast<int64_t>(text(behind_it).value));
  }
  keep(std::move(track));
}

// The critical path of the run, from start to end.
void TimelineMaker::add_path() {
  if (rooms_.path == nullptr) return;
  TimelineTrack track{.name = "critical path", .keys = {{"cause", true}, {"kind", true}}};
  for (const PathSlice& slice : *rooms_.path) {
    track.add(slice.span.start_ns, slice.span.end_ns, path_text(slice),
              text(path_slice_state(slice)).value, text(path_part_kind_name(slice.kind)).value);
  }
  keep(std::move(track));
}

StringId TimelineMaker::path_text(const PathSlice& slice) {
  if (!slice.name) return text(path_slice_state(slice));
  const std::string_view name = trace_.text(slice.name);
  return text(slice.source == RowSource::kActivity ? short_kernel_name(name) : name);
}

// Counters: kernels launched but not started, and how long each launch waits for its kernel.
void TimelineMaker::add_launch_counters() {
  TimelineCounter wait{.name = "launch to start, t_l", .unit = "ns"};
  std::map<int64_t, int64_t> changes;
  std::vector<std::pair<int64_t, int64_t>> launches;
  for (const KernelRow& row : list_kernels(trace_, links_, windows_)) {
    if (row.launch_queue_ns < 0) continue;
    launches.emplace_back(row.call_start_ns, row.launch_queue_ns);
    ++changes[row.call_start_ns];
    --changes[row.call_start_ns + row.launch_queue_ns];
  }
  std::sort(launches.begin(), launches.end());
  for (const auto& [call_ns, wait_ns] : launches) {
    wait.time_ns.push_back(call_ns);
    wait.value.push_back(static_cast<double>(wait_ns));
  }
  TimelineCounter depth{.name = "launched, not started", .unit = "kernels"};
  int64_t waiting = 0;
  for (const auto& [time_ns, change] : changes) {
    waiting += change;
    depth.time_ns.push_back(time_ns);
    depth.value.push_back(static_cast<double>(waiting));
  }
  if (!launches.empty()) {
    timeline_.counters.push_back(std::move(depth));
    timeline_.counters.push_back(std::move(wait));
  }
}

void TimelineMaker::add_memory_counters() {
  const MemoryEventTable& rows = trace_.memory_events;
  std::map<std::pair<int32_t, int32_t>, TimelineCounter> allocated;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows.total_allocated_bytes[i] < 0) continue;
    TimelineCounter& counter = allocated[{rows.device_type[i], rows.device[i]}];
    counter.time_ns.push_back(rows.time_ns[i]);
    counter.value.push_back(static_cast<double>(rows.total_allocated_bytes[i]));
  }
  for (auto& [device, counter] : allocated) {
    const auto& [type, index] = device;
    counter.name = type == 0 ? "allocated, host" : fmt::format("allocated, GPU {}", index);
    counter.unit = "bytes";
    timeline_.counters.push_back(std::move(counter));
  }
}

// Maximum time that a power sample represents on each side, in sampling periods; longer gaps count
// as missing data (docs/metrics.md, Clocks, power and cores).
constexpr double kReachOfReading = 0.75;

// Joules since the first sample, so that the energy of a selection is the difference of its ends.
// Time without samples adds nothing.
TimelineCounter energy_counter(const TelemetryTrack& track, const std::string& name) {
  TimelineCounter counter{.name = name, .unit = "energy_j"};
  const double reach_ns = kReachOfReading * static_cast<double>(track.period_ns);
  double joules = 0;
  for (size_t i = 0; i < track.t_ns.size(); ++i) {
    if (track.mean) {
      counter.time_ns.push_back(track.from_ns[i]);
      counter.value.push_back(joules);
      joules += track.value[i] * static_cast<double>(track.t_ns[i] - track.from_ns[i]) * 1e-9;
    } else if (i > 0) {
      const double half_ns =
          std::min(static_cast<double>(track.t_ns[i] - track.t_ns[i - 1]) / 2, reach_ns);
      joules += (track.value[i - 1] + track.value[i]) * half_ns * 1e-9;
    }
    counter.time_ns.push_back(track.t_ns[i]);
    counter.value.push_back(joules);
  }
  return counter;
}

// Samples as logged. A mean is at the start of its averaging time.
void TimelineMaker::add_telemetry_counters() {
  if (rooms_.telemetry == nullptr) return;
  for (const TelemetryTrack& track : rooms_.telemetry->tracks) {
    TimelineCounter counter{.name = track.host             ? "host"
                                    : track.device.empty() ? "GPU"
                                                           : "GPU " + track.device,
                            .unit = std::string(telemetry_signal_name(track.signal)),
                            .time_ns = track.mean ? track.from_ns : track.t_ns,
                            .value = track.value};
    if (track.signal == TelemetrySignal::kPower) {
      timeline_.counters.push_back(energy_counter(track, counter.name));
    }
    timeline_.counters.push_back(std::move(counter));
  }
}

// ---- breakdown ----

// Consecutive compute kernels of one phase, layer or operation. A run starts at the latest end
// before it, because overlap with an earlier kernel counts there.
struct Run {
  const KernelLevel* first = nullptr;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  LevelSums sums = {};
  int64_t inner_bubble_ns = 0;
};

template <typename Same>
std::vector<Run> runs_of(const std::vector<KernelLevel>& rows, Same&& same) {
  std::vector<Run> runs;
  int64_t frontier_ns = kNoTime;
  for (const KernelLevel& row : rows) {
    if (!row.compute) continue;
    const int64_t start_ns = std::max(row.t_ks_ns, frontier_ns);
    frontier_ns = std::max(row.t_ke_ns, frontier_ns);
    if (runs.empty() || !same(*runs.back().first, row)) runs.push_back({&row, start_ns});
    Run& run = runs.back();
    run.end_ns = frontier_ns;
    run.sums.add(row);
    run.inner_bubble_ns += row.inner_bubble_ns;
  }
  return runs;
}

bool same_phase(const KernelLevel& a, const KernelLevel& b) {
  return a.phase == b.phase && a.window == b.window;
}

bool same_layer(const KernelLevel& a, const KernelLevel& b) {
  return a.layer == b.layer && same_phase(a, b);
}

void TimelineMaker::add_operations(const std::string& gpu, const Rows& rows) {
  TimelineTrack track{.name = gpu + " operations",
                      .keys = {{"level", true},
                               {"iter"},
                               {"kernels"},
                               {"dur_ns"},
                               {"overlapping_kernels_ns"},
                               {"inner_bubble_ns"}}};
  const auto add = [&](const Run& run, std::string_view level, std::string_view name) {
    const int32_t window = run.first->window;
    track.add(
        run.start_ns, run.end_ns, text(name), text(level).value,
        window < 0 ? kNoTimelineValue : rooms_.breakdown.iterations[static_cast<size_t>(window)],
        run.sums.kernels, run.sums.dur_ns, run.sums.concurrent_ns, run.inner_bubble_ns);
  };
  for (const Run& run : runs_of(rows, same_phase)) {
    if (run.first->phase != LevelPhase::kNone) {
      add(run, "phase", level_phase_name(run.first->phase));
    }
  }
  for (const Run& run : runs_of(rows, same_layer)) {
    if (run.first->layer != kNoLayer) add(run, "layer", fmt::format("layer {}", run.first->layer));
  }
  const auto same_op = [](const KernelLevel& a, const KernelLevel& b) {
    return a.op == b.op && same_layer(a, b);
  };
  for (const Run& run : runs_of(rows, same_op)) {
    const std::string& op = rooms_.breakdown.op_names[run.first->op];
    add(run, "operation", run.first->op == 0 || op.empty() ? "unplaced" : std::string_view(op));
  }
  keep(std::move(track));
}

std::string_view bubble_words(BubbleKind kind) {
  switch (kind) {
    case BubbleKind::kPrep:
      return "not launched yet (prep)";
    case BubbleKind::kCall:
      return "launched, not started (call)";
    case BubbleKind::kCommWait:
      return "waiting for a collective";
    case BubbleKind::kWork:
      return "a copy or a collective runs";
  }
  return "";
}

void TimelineMaker::add_bubbles(const std::string& gpu, const Rows& rows,
                                const std::vector<Interval>& blocked) {
  TimelineTrack track{.name = gpu + " waits before kernels", .keys = {{"before", true}}};
  for (const BubblePart& part : bubble_parts(rows, blocked, trace_.unrecorded)) {
    track.add(part.span.start_ns, part.span.end_ns, text(bubble_words(part.kind)),
              kernel_text(rows[part.row].activity).value);
  }
  keep(std::move(track));
}

// Collectives, while no compute kernel of the same iteration runs.
void TimelineMaker::add_exposed(const std::string& gpu, const Rows& rows) {
  std::map<int32_t, std::pair<std::vector<Interval>, std::vector<Interval>>> by_window;
  for (const KernelLevel& row : rows) {
    auto& [comm, compute] = by_window[row.window];
    if (row.comm) comm.push_back({row.t_ks_ns, row.t_ke_ns});
    if (row.compute) compute.push_back({row.t_ks_ns, row.t_ke_ns});
  }
  TimelineTrack track{.name = gpu + " exposed communication", .keys = {{"iter"}}};
  for (auto& [window, parts] : by_window) {
    const int64_t iter =
        window < 0 ? kNoTimelineValue : rooms_.breakdown.iterations[static_cast<size_t>(window)];
    for (const Interval& span : subtract(merge_intervals(std::move(parts.first)),
                                         merge_intervals(std::move(parts.second)))) {
      track.add(span.start_ns, span.end_ns, text("collective alone"), iter);
    }
  }
  keep(std::move(track));
}

void TimelineMaker::add_breakdown() {
  const Rows& all = rooms_.breakdown.rows;
  const std::vector<Interval> blocked = blocked_host(trace_, links_);
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(
        begin, all.end(), [begin](const KernelLevel& row) { return row.gpu != begin->gpu; });
    const Rows rows(begin, end);
    const std::string gpu = fmt::format("GPU {}", begin->gpu);
    add_operations(gpu, rows);
    add_bubbles(gpu, rows, blocked);
    add_exposed(gpu, rows);
    begin = end;
  }
}

// ---- fusion ----

// Rank in the report's list of chains, starting at 1; none for unlisted chains.
int64_t TimelineMaker::chain_rank(const std::vector<ActivityId>& chain) const {
  const std::vector<RecommendedChain>& listed = rooms_.fusion.recommended;
  for (size_t rank = 0; rank < listed.size(); ++rank) {
    const bool same =
        std::equal(chain.begin(), chain.end(), listed[rank].kernels.begin(),
                   listed[rank].kernels.end(), [this](ActivityId kernel, const std::string& name) {
                     return trace_.text(trace_.activities.name[kernel.index()]) == name;
                   });
    if (same) return static_cast<int64_t>(rank) + 1;
  }
  return kNoTimelineValue;
}

void TimelineMaker::add_chains() {
  TimelineTrack track{
      .name = "fusion chains",
      .keys = {{"rank"}, {"kernels"}, {"launches_saved"}, {"saving_ns"}, {"device_ns"}}};
  const LaunchFloor& floor = rooms_.fusion.floor;
  for (const std::vector<ActivityId>& chain : rooms_.fusion.planned_kernels) {
    int64_t start_ns = INT64_MAX;
    int64_t end_ns = INT64_MIN;
    int64_t device_ns = 0;
    for (const ActivityId kernel : chain) {
      start_ns = std::min(start_ns, trace_.activities.start_ns[kernel.index()]);
      end_ns = std::max(end_ns, trace_.end_ns(kernel));
      device_ns += trace_.activities.dur_ns[kernel.index()];
    }
    const auto saved = static_cast<int64_t>(chain.size()) - 1;
    const int64_t rank = chain_rank(chain);
    const StringId first = kernel_text(chain.front());
    const std::string name =
        fmt::format("{}chain of {}: {} …", rank < 0 ? "" : fmt::format("#{} ", rank), chain.size(),
                    timeline_.texts.view(first));
    track.add(start_ns, end_ns, text(name), rank, chain.size(), saved,
              floor.known() ? saved * floor.floor_ns : kNoTimelineValue, device_ns);
  }
  keep(std::move(track));
}

// ---- overhead ----

// Makes names unique, because threads of all processes are shown together.
std::vector<std::string> thread_names(const Trace& trace) {
  std::vector<std::string> names = thread_labels(trace);
  std::map<std::string, size_t> namesakes;
  for (const std::string& name : names) ++namesakes[name];
  for (size_t t = 0; t < names.size(); ++t) {
    if (namesakes[names[t]] > 1) names[t] += " of process " + trace.threads[t].pid;
  }
  return names;
}

// A launch with the layers that it passed through. Its contribution to the sums of the overhead
// report is in the slice's values: FT and CT are computed, not recorded, and have no place in time.
// Waits are cut out of the calling layer, so that waiting for the GPU does not count as its work.
void TimelineMaker::add_overhead_tile(const HostOverheadTile& tile,
                                      const std::vector<Interval>& waits, HostOverheadSummer summer,
                                      TimelineTrack& track) {
  const HostOverheadRow& row = rooms_.overhead.rows[tile.row];
  KernelCost cost = row.cost;
  if (!is_literal(rooms_.overhead.mode)) {
    cost.t_py_ns = row.exclusive.py_ns;
    cost.t_dispatch_ns = row.exclusive.dispatch_ns;
    cost.call_ns = row.exclusive.call_ns;
  }
  summer.add(cost);
  const HostOverheadSums sums = summer.finish(1);
  const bool split = rooms_.overhead.whole.sums.split_known;
  track.add(tile.open_ns, tile.end_ns, kernel_text(row.kernel), text("launch").value,
            split ? sums.ft_ns : kNoTimelineValue, split ? sums.ct_ns : kNoTimelineValue,
            sums.kt_ns, sums.t_orch_ns);
  const auto slice = [&](int64_t start_ns, int64_t end_ns, std::string_view key,
                         std::string_view words) {
    if (start_ns >= end_ns) return;
    track.add(start_ns, end_ns, text(words), text(key).value, kNoTimelineValue, kNoTimelineValue,
              kNoTimelineValue, kNoTimelineValue);
  };
  const auto part = [&](int64_t start_ns, int64_t end_ns, std::string_view key,
                        std::string_view words) {
    if (start_ns >= end_ns) return;
    for (const Interval& piece : subtract({{start_ns, end_ns}}, waits)) {
      slice(piece.start_ns, piece.end_ns, key, words);
    }
  };
  for (const Interval& wait : waits) {
    slice(wait.start_ns, wait.end_ns, "wait", "waiting for the GPU, or allocating");
  }
  part(tile.open_ns, tile.py_ns, "between", "other work of the host");
  part(tile.py_ns, tile.entry_ns, "py", "Python (T_Py)");
  part(tile.entry_ns, tile.call_ns, "dispatch", "dispatch");
  part(tile.call_ns, tile.end_ns, "call", "launch call");
}

void TimelineMaker::add_overhead() {
  const HostOverheadReport& overhead = rooms_.overhead;
  const ExclusiveTiles tiles(trace_, links_, overhead.rows);
  const HostOverheadSummer summer(overhead.mode, overhead.base_ns.value_or(0),
                                  overhead.floor.floor_ns);
  const std::vector<std::string> names = thread_names(trace_);
  std::map<ThreadId, TimelineTrack> tracks;
  for (uint32_t r = 0; r < overhead.rows.size(); ++r) {
    if (!overhead.rows[r].owns_call()) continue;
    const ThreadId thread = trace_.api_calls.thread[overhead.rows[r].call.index()];
    TimelineTrack& track = tracks[thread];
    if (track.keys.empty()) {
      track.name = "overhead, " + names[thread.index()];
      track.keys = {{"part", true}, {"ft_ns"}, {"ct_ns"}, {"kt_ns"}, {"t_orch_ns"}};
    }
    const HostOverheadTile tile = tiles.tile(r, INT64_MIN);
    add_overhead_tile(tile, tiles.waits(tile), summer, track);
  }
  for (auto& [thread, track] : tracks) keep(std::move(track));
}

}  // namespace

Timeline trace_timeline(const Trace& trace, const Links& links, const Windows& windows,
                        const TimelineRooms& rooms) {
  return TimelineMaker(trace, links, windows, rooms).make();
}

}  // namespace assay
