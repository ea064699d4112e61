#include "flow/flow.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "base/stats.h"
#include "flow/graph.h"
#include "flow/names.h"
#include "flow/replay.h"

namespace assay {
namespace {

// When the host started to prepare a launch: the begin of the outermost operator around it,
// ignoring iteration marks.
int64_t asked_ns(const FlowRun& run, const FlowCall& call) {
  const Trace& trace = *run.trace;
  int64_t start_ns = call.start_ns;
  for (OpId op = run.links->call_op[call.row.index()]; op; op = run.links->op_parent[op.index()]) {
    const std::string_view name = trace.text(trace.ops.name[op.index()]);
    if (name.starts_with("ProfilerStep")) break;
    start_ns = std::min(start_ns, trace.ops.start_ns[op.index()]);
  }
  return start_ns;
}

// Per device: from the preparation of its first launch to the end of its last work.
std::vector<Interval> asked_windows(const FlowRun& run) {
  std::vector<Interval> windows(run.devices.size(), {INT64_MAX, INT64_MIN});
  for (const FlowWork& work : run.works) {
    Interval& window = windows[work.device];
    const int64_t asked =
        work.call == kNoFlowRow ? work.start_ns : asked_ns(run, run.calls[work.call]);
    window.start_ns = std::min({window.start_ns, work.start_ns, asked});
    window.end_ns = std::max(window.end_ns, work.end_ns);
  }
  return windows;
}

// Begin of the host's first event in [from_ns, to_ns), or to_ns. Silence before it is unexplained.
int64_t first_row_ns(const Trace& trace, int64_t from_ns, int64_t to_ns) {
  int64_t first_ns = to_ns;
  const auto look = [&](const auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      const int64_t start_ns = table.start_ns[i];
      if (start_ns < from_ns || start_ns >= first_ns) continue;
      if (!trace.text(table.name[i]).starts_with("ProfilerStep")) first_ns = start_ns;
    }
  };
  look(trace.ops);
  look(trace.frames);
  look(trace.api_calls);
  return first_ns;
}

// Extends the windows to the begin of the labelled step around the first launch: its preparation
// belongs to the step.
void take_whole_step(const Trace& trace, const Windows& iterations,
                     std::vector<Interval>& windows) {
  if (windows.empty() || !labelled_steps(iterations)) return;
  int64_t first_ns = INT64_MAX;
  for (const Interval& window : windows) first_ns = std::min(first_ns, window.start_ns);
  const int32_t at = window_at(iterations, first_ns);
  if (at < 0) return;
  std::vector<int64_t> lengths_ns;
  for (const Window& step : iterations.windows) lengths_ns.push_back(step.end_ns - step.start_ns);
  const int64_t label_ns = iterations.windows[static_cast<size_t>(at)].start_ns;
  const int64_t step_ns = first_row_ns(trace, label_ns, first_ns);
  // A lead longer than a typical step is start-up, which is reported before the window.
  if (first_ns - step_ns > median_ns(lengths_ns)) return;
  for (Interval& window : windows) {
    const bool within = window_at(iterations, window.start_ns) == at;
    if (within) window.start_ns = std::min(window.start_ns, step_ns);
  }
}

// From the first begin to the last end.
Interval hull(const std::vector<Interval>& windows, int64_t otherwise_ns) {
  if (windows.empty()) return {otherwise_ns, otherwise_ns};
  Interval all = windows[0];
  for (const Interval& window : windows) {
    all.start_ns = std::min(all.start_ns, window.start_ns);
    all.end_ns = std::max(all.end_ns, window.end_ns);
  }
  return all;
}

// True if launches return only after their kernels. Only kernels longer than a launch count: short
// ones may end before any call returns.
bool launches_block(const FlowRun& run) {
  constexpr int64_t kLongKernelNs = 20'000;
  constexpr uint64_t kLeast = 10;
  uint64_t launches = 0;
  uint64_t blocking = 0;
  for (const FlowWork& work : run.works) {
    const bool kernel = work.kind == WorkKind::kCompute || work.kind == WorkKind::kCollective;
    if (!kernel || work.call == kNoFlowRow || work.end_ns - work.start_ns < kLongKernelNs) continue;
    const FlowCall& call = run.calls[work.call];
    if (call.graph) continue;
    ++launches;
    blocking += call.blocks;
  }
  return launches >= kLeast && blocking * 10 >= launches * 9;
}

bool goes_through_steps(const Trace& trace) {
  if (!trace.forward_backward_flows.empty()) return true;
  const auto is_step = [&trace](StringId name) {
    return classify_host_name(trace.text(name)).step;
  };
  return std::any_of(trace.annotations.name.begin(), trace.annotations.name.end(), is_step) ||
         std::any_of(trace.ops.name.begin(), trace.ops.name.end(), is_step);
}

// A graph launch recorded as one event, without its kernels.
bool is_whole_graph(const FlowRun& run, const FlowWork& work) {
  return work.call != kNoFlowRow && run.calls[work.call].graph &&
         run.trace->activities.kind[work.activity.index()] == ActivityKind::kOther;
}

// True if most late time is inside graphs, before the same nodes in nearly every replay: what
// occupies the device is part of the graph and was not recorded.
bool holes_in_graphs(const FlowRun& run, const std::vector<DeviceFlow>& devices, Interval window) {
  constexpr int64_t kLeastNs = 50'000;
  constexpr uint64_t kLeastReplays = 3;
  std::vector<std::pair<uint32_t, int64_t>> holes;  // activity that ends the hole, length in ns
  int64_t late_ns = 0;
  for (const DeviceFlow& device : devices) {
    for (const FlowSlice& slice : device.idle) {
      const int64_t ns = slice.span.end_ns - slice.span.start_ns;
      if (slice.cause != FlowCause::kUnseen || slice.span.start_ns < window.start_ns) continue;
      late_ns += ns;
      const bool hole = slice.ready_by == ReadyBy::kGraph && slice.source == RowSource::kActivity;
      if (hole && ns >= kLeastNs) holes.emplace_back(slice.row, ns);
    }
  }
  if (holes.empty()) return false;
  std::vector<uint32_t> node_of(run.trace->activities.size(), kNoFlowRow);
  uint64_t replays = 0;
  for (const FlowCall& call : run.calls) {
    replays += call.graph && call.work_count > 1;
    for (uint32_t k = 0; call.graph && k < call.work_count; ++k) {
      node_of[run.works[run.works_of_calls[call.first_work + k]].activity.index()] = k;
    }
  }
  std::map<uint32_t, std::pair<uint64_t, int64_t>> by_node;
  for (const auto& [activity, ns] : holes) {
    auto& [count, sum_ns] = by_node[node_of[activity]];
    ++count;
    sum_ns += ns;
  }
  int64_t each_time_ns = 0;
  for (const auto& [node, sum] : by_node) {
    if (node != kNoFlowRow && sum.first * 10 >= replays * 8) each_time_ns += sum.second;
  }
  return replays >= kLeastReplays && each_time_ns * 2 > late_ns;
}

// Number of operators and calls that begin in the window on threads that launch work.
uint64_t launching_rows(const FlowRun& run, Interval window) {
  const Trace& trace = *run.trace;
  std::vector<bool> launches(trace.threads.size(), false);
  for (const FlowCall& call : run.calls) {
    if (call.work_count > 0) launches[call.thread.index()] = true;
  }
  uint64_t rows = 0;
  const auto add = [&](const auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      const ThreadId thread = table.thread[i];
      rows += thread && launches[thread.index()] && table.start_ns[i] >= window.start_ns &&
              table.start_ns[i] < window.end_ns;
    }
  };
  add(trace.ops);
  add(trace.api_calls);
  return rows;
}

FlowEvidence gather_evidence(const FlowRun& run, Interval window) {
  FlowEvidence evidence;
  for (const FlowWork& work : run.works) {
    if (work.start_ns < window.start_ns || work.start_ns >= window.end_ns) continue;
    const int64_t dur_ns = work.end_ns - work.start_ns;
    ++evidence.works;
    if (!work.helper) evidence.work_ns += dur_ns;
    if (work.call != kNoFlowRow) {
      evidence.linked_ns += dur_ns;
      if (run.calls[work.call].graph) evidence.graph_work_ns += dur_ns;
      const int64_t early_ns = run.calls[work.call].start_ns - work.start_ns;
      evidence.early_works += early_ns > 0;
      evidence.early_ns = std::max(evidence.early_ns, early_ns);
    } else if (run.links->carried_over(*run.trace, work.activity)) {
      evidence.carried_ns += dur_ns;
    }
    if (is_whole_graph(run, work)) ++evidence.whole_graphs;
    if (work.migration) evidence.migration_ns += dur_ns;
    const bool copy = work.kind == WorkKind::kCopy || work.kind == WorkKind::kFill;
    evidence.kernels += !copy;
    if (copy) {
      evidence.copy_ns += dur_ns;
    } else {
      (work.kind == WorkKind::kCollective ? evidence.collective_ns : evidence.kernel_ns) += dur_ns;
    }
  }
  evidence.sure_returns = run.sure_returns;
  evidence.early_returns = run.early_returns;
  evidence.early_return_ns = run.early_return_ns;
  evidence.blocking_launches = launches_block(run);
  evidence.loops = goes_through_steps(*run.trace);
  for (const FlowCall& call : run.calls) {
    evidence.launch_calls += call.launches;
    evidence.idle_launch_calls += call.launches && call.work_count == 0;
  }
  evidence.processes = run.launching_processes;
  std::vector<Interval> captured;
  for (const Capture& capture : run.captures) {
    captured.push_back({capture.start_ns, capture.end_ns});
  }
  evidence.captures = captured.size();
  evidence.captured_ns = length_ns(clip(merge_intervals(std::move(captured)), window));
  evidence.calls = !run.calls.empty();
  evidence.ops = run.has_ops;
  evidence.frames = run.has_frames;
  evidence.host_rows = launching_rows(run, window);
  evidence.recorded_waits = run.recorded_waits;
  evidence.inferred_waits = run.inferred_waits;
  return evidence;
}

// The pageable copy of a call, or of the call before it if this one only waits for it; null if
// none.
const FlowWork* pageable_copy_of(const FlowRun& run, uint32_t c) {
  constexpr int64_t kBehindNs = 20'000;
  const FlowCall& call = run.calls[c];
  const FlowWork* copy = pageable_copy(run, call);
  if (copy != nullptr || c == 0 || call.work_count > 0 || call.kind != FlowCause::kSync)
    return copy;
  const FlowCall& before = run.calls[c - 1];
  const bool behind = before.thread == call.thread && call.start_ns - before.end_ns <= kBehindNs;
  return behind ? pageable_copy(run, before) : nullptr;
}

void add_pageable(const FlowRun& run, const std::vector<FlowSlice>& idle, Interval window,
                  FlowEvidence& evidence) {
  for (const FlowSlice& slice : idle) {
    const bool call = slice.source == RowSource::kCall &&
                      (slice.cause == FlowCause::kSync || slice.cause == FlowCause::kCall);
    const int64_t ns =
        std::min(slice.span.end_ns, window.end_ns) - std::max(slice.span.start_ns, window.start_ns);
    if (!call || ns <= 0) continue;
    const FlowWork* copy = pageable_copy_of(run, run.outer_call[slice.row]);
    if (copy == nullptr) continue;
    (copy->host_stages ? evidence.pageable_to_device_ns : evidence.pageable_to_host_ns) += ns;
  }
}

bool is_host_function(std::string_view name) {
  return name.find("LaunchHostFunc") != std::string_view::npos ||
         name.find("StreamAddCallback") != std::string_view::npos;
}

uint64_t count_host_functions(const FlowRun& run, Interval window) {
  uint64_t count = 0;
  for (const FlowCall& call : run.calls) {
    if (call.start_ns < window.start_ns || call.start_ns >= window.end_ns) continue;
    count += is_host_function(run.trace->text(run.trace->api_calls.name[call.row.index()]));
  }
  return count;
}

// Sum of the residuals on the recorded critical path to a point.
int64_t unexplained_ns(const FlowGraph& graph, uint32_t point) {
  const Replayed recorded{graph.time_ns, graph.lag_ns, graph.part_ns};
  int64_t sum_ns = 0;
  while (point != kNoPoint) {
    const PathStep step = binding_step(graph, recorded, point);
    sum_ns += step.residual_ns;
    point = graph.source[step.edge];
  }
  return sum_ns;
}

FlowFit fit_of(const FlowRun& run, const FlowGraph& graph) {
  FlowFit fit;
  fit.points = graph.points();
  fit.identity_errors = identity_errors(graph);
  const uint32_t last = last_work(run, graph, graph.time_ns);
  if (last != kNoPoint) {
    const std::vector<int64_t> model = model_times(run, graph);
    fit.run_ns = graph.time_ns[last] - graph.start_ns;
    fit.model_ns = model[last_work(run, graph, model)] - graph.start_ns;
  }
  fit.model_error = share(fit.model_ns - fit.run_ns, fit.run_ns);
  fit.unexplained_share = share(unexplained_ns(graph, last), fit.run_ns);
  fit.cut_edges = graph.cut_edges;
  fit.hand_overs = graph.hand_overs;
  return fit;
}

// Unrecorded time is not part of the reported path.
void leave_out(int64_t unrecorded_ns, CriticalPath& path) {
  path.makespan_ns -= take_unrecorded(unrecorded_ns, path.cause_ns);
}

// Each device window clipped to `part`; empty if they do not overlap.
std::vector<Interval> windows_in(const std::vector<Interval>& windows, Interval part) {
  std::vector<Interval> inside;
  for (const Interval& window : windows) {
    const int64_t start_ns = std::clamp(window.start_ns, part.start_ns, part.end_ns);
    inside.push_back({start_ns, std::clamp(window.end_ns, start_ns, part.end_ns)});
  }
  return inside;
}

// The recorded parts of a device's window.
std::vector<Interval> recorded_in(const FlowRun& run, Interval window) {
  return subtract(merge_intervals({window}), run.unrecorded);
}

const Windows* iterations_of(const FlowOptions& options) {
  return options.steps != nullptr ? options.steps : options.windows;
}

// Fills everything that depends on the report's window and devices, which are set.
void fill_report(const FlowRun& run, const FlowGraph& graph, const FlowOptions& options,
                 FlowReport& report) {
  report.unrecorded = clip(run.unrecorded, report.window);
  ContributorSums sums(*run.trace);
  for (size_t d = 0; d < report.devices.size(); ++d) {
    const DeviceFlow& device = report.devices[d];
    const Interval window = report.device_windows[d];
    FlowTotals& totals = report.device_totals.emplace_back();
    for (const Interval& recorded : recorded_in(run, window)) {
      totals += totals_in(device, recorded);
      sums.add(device.idle, recorded);
    }
    report.total += totals;
    report.before += totals_in(device, {run.start_ns, window.start_ns});
  }
  weigh_waits(report.total.collective_ns, report.total.idle_ns, report.decision);
  report.overlap = overlap_in(report.devices, report.window);
  report.contributors = sums.top(options.contributors);
  report.floors = run.floors;
  report.evidence = gather_evidence(run, report.window);
  for (size_t d = 0; d < report.devices.size(); ++d) {
    add_pageable(run, report.devices[d].idle, report.device_windows[d], report.evidence);
  }
  report.evidence.graph_holes = holes_in_graphs(run, report.devices, report.window);
  report.evidence.host_functions = count_host_functions(run, report.window);
  report.path = critical_path(run, graph);
  report.fit = fit_of(run, graph);
  leave_out(length_ns(report.unrecorded), report.path);
}

}  // namespace

int64_t idle_in_page_moves_ns(const FlowReport& report) {
  int64_t sum_ns = 0;
  for (const Contributor& contributor : report.contributors) {
    // Only page migrations give this cause a device activity.
    const bool pages = contributor.cause == FlowCause::kHostGap &&
                       contributor.source == RowSource::kActivity;
    if (pages) sum_ns += contributor.ns;
  }
  return sum_ns;
}

FlowModel make_flow_model(const Trace& trace, const Links& links,
                          std::shared_ptr<const KernelNames> kernels) {
  FlowModel model;
  model.run = make_flow_run(trace, links, std::move(kernels));
  model.graph = make_flow_graph(model.run);
  return model;
}

FlowReport make_flow_report(const Trace& trace, const Links& links, const FlowOptions& options) {
  return make_flow_report(make_flow_model(trace, links, options.kernels), options);
}

FlowReport make_flow_report(const FlowModel& model, const FlowOptions& options) {
  FlowReport report;
  const FlowRun& run = model.run;
  const FlowGraph& graph = model.graph;
  report.kernels = run.kernels;
  report.run = {run.start_ns, run.work_end_ns};
  report.device_windows = asked_windows(run);
  if (options.steps != nullptr) take_whole_step(*run.trace, *options.steps, report.device_windows);
  // An operator may begin before run.start_ns, but idle time is explained only after it.
  for (Interval& window : report.device_windows) window.start_ns = std::max(window.start_ns, run.start_ns);
  if (options.window) {
    std::fill(report.device_windows.begin(), report.device_windows.end(), *options.window);
  }
  report.window =
      options.window ? *options.window : hull(report.device_windows, report.run.start_ns);
  report.told_window = options.window.has_value();
  report.devices = device_flows(run);
  if (report.devices.size() != 1) report.joint = joint_flow(run);
  // Work submitted in the window may end after it.
  const Interval to_end{report.window.start_ns,
                        options.window ? report.window.end_ns : INT64_MAX};
  report.decision = decide_run(run, graph, to_end, iterations_of(options));
  fill_report(run, graph, options, report);
  report.replays = find_replays(run, options.captures);
  if (options.rank_graph) {
    report.rank_graph =
        make_rank_graph(run, graph, report.devices, report.device_windows, options.windows);
  }
  return report;
}

FlowReport make_part_report(const FlowModel& model, const FlowGraph& bounded,
                            const FlowReport& whole, Interval part, const FlowOptions& options) {
  const FlowRun& run = model.run;
  FlowReport report;
  report.kernels = run.kernels;
  report.run = whole.run;
  report.device_windows = windows_in(whole.device_windows, part);
  report.window = part;
  report.told_window = true;
  report.devices = whole.devices;
  report.joint = whole.joint;
  report.decision = decide_run(run, model.graph, part, iterations_of(options));
  fill_report(run, bounded, options, report);
  report.replays = whole.replays;
  return report;
}

FlowTotals totals_of(const FlowRun& run, const FlowReport& report, Interval part) {
  FlowTotals sum;
  const std::vector<Interval> windows = windows_in(report.device_windows, part);
  for (size_t d = 0; d < report.devices.size(); ++d) {
    for (const Interval& recorded : recorded_in(run, windows[d])) {
      sum += totals_in(report.devices[d], recorded);
    }
  }
  return sum;
}

ClockGap clock_gap(const FlowEvidence& evidence) {
  constexpr uint64_t kLeastReturns = 2;
  if (evidence.early_works > 0 && evidence.early_works * 20 >= evidence.works) {
    return {evidence.early_ns, false};
  }
  const bool late = evidence.early_returns >= kLeastReturns &&
                    evidence.early_returns * 2 >= evidence.sure_returns;
  return late ? ClockGap{evidence.early_return_ns, true} : ClockGap{};
}

Misfit misfit_of(const FlowFit& fit) {
  constexpr double kMostModelError = 0.1;
  constexpr double kMostUnexplained = 0.2;
  if (!(std::abs(fit.model_error) <= kMostModelError)) return Misfit::kModelError;  // also NaN
  if (!(fit.unexplained_share <= kMostUnexplained)) return Misfit::kUnexplained;
  return Misfit::kNone;
}

}  // namespace assay
