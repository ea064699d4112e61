#include "answers/untraced.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "flow/judged.h"
#include "ingest/untraced_times.h"

namespace assay {
namespace {

struct Anchor {
  std::optional<UntracedTime> time = {};
  std::string from = {};
};

Result<Anchor> anchor_of(const LoadedTrace& loaded, const std::string& asked) {
  const std::string& trace = loaded.trace.source;
  if (asked.empty()) {
    const std::string file = runs_beside(trace);
    if (file.empty()) return Anchor{};
    // The user did not name the file, so a file without this trace is not an error.
    const auto found = read_untraced_time(file, trace);
    if (found) return Anchor{*found, file_name(file)};
    return Anchor{};
  }
  if (is_regular_file(asked)) {
    ASSAY_TRY_ASSIGN(const UntracedTime time, read_untraced_time(asked, trace));
    return Anchor{time, file_name(asked)};
  }
  ASSAY_TRY_ASSIGN(const UntracedTime time, parse_untraced_time(asked));
  return Anchor{time, "--untraced"};
}

std::unique_ptr<LoadedTrace> retimed_input(const LoadedTrace& loaded, RetimedTrace retimed) {
  auto made = std::make_unique<LoadedTrace>();
  made->trace = std::move(retimed.trace);
  made->links = link_trace(made->trace);
  made->windows = std::move(retimed.iterations);
  made->kernels = loaded.kernels;
  made->among = loaded.among;
  return made;
}

RecordingCost cost_of_rows(int64_t row_ns) {
  return recording_cost(CostShape::kRows, static_cast<double>(row_ns) / 2);
}

Result<BoundBy> bottleneck_of(const LoadedTrace& loaded, RetimedTrace retimed, const std::string& part) {
  const auto made = retimed_input(loaded, std::move(retimed));
  FlowModel model = make_flow_model(made->trace, made->links, made->kernels);
  ASSAY_TRY_ASSIGN(const JudgedRun judged, judge_run(model, made->windows, {}, part));
  return judged.verdict.bound;
}

// Results of the recorded run's model, which is freed afterwards.
struct FoundTimes {
  Untraced times;
  // With an anchor: retimed at its cost per row. With an estimate: at the typical and at the
  // highest cost. Empty if events would change order.
  std::vector<RetimedTrace> retimed;
};

FoundTimes find_times(const LoadedTrace& loaded, const Anchor& anchor, std::string_view recorder) {
  const FlowModel model = make_flow_model(loaded.trace, loaded.links, loaded.kernels);
  const UntracedReplay replay(model, loaded.windows);
  FoundTimes found;
  found.times = find_untraced(model, replay, anchor.time, fit_recording_cost(tracer_cost_text(), recorder));
  found.times.from = anchor.from;
  const Untraced& times = found.times;
  std::vector<int64_t> costs;
  if (times.source == UntracedSource::kAnchor) costs = {times.row_cost_ns};
  const bool may_turn = times.low_ns * 100 < times.recorded_iteration_ns * 95;
  if (times.source == UntracedSource::kEstimate && may_turn) costs = {times.row_cost_ns, times.row_cost_high_ns};
  for (const int64_t row_ns : costs) {
    auto retimed = replay.retimed(cost_of_rows(row_ns));
    if (retimed) found.retimed.push_back(*std::move(retimed));
  }
  return found;
}

}  // namespace

Result<UntracedRun> untraced_run(const LoadedTrace& loaded, const std::string& asked,
                                 const std::string& part, BoundBy recorded,
                                 const std::vector<EditRequest>& more) {
  UntracedRun run;
  if (asked == "none" || loaded.among > 1) return run;
  const bool whole = loaded.windows.source == WindowSource::kWholeTrace;
  ASSAY_TRY_ASSIGN(const Anchor anchor, anchor_of(loaded, asked));
  if (whole && !asked.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "an untraced time is of an iteration; this trace has none: label them, or name "
                 "them with --window",
                 loaded.trace.source, -1};
  }
  const std::string_view recorder = recorder_of(loaded.trace);
  if (whole || (!anchor.time && recorder.empty())) return run;
  // The model of the recorded run is large; find_times frees it before the retimed runs get theirs.
  FoundTimes found = find_times(loaded, anchor, recorder);
  run.times = std::move(found.times);
  run.times.recorded = recorded;
  if (run.times.source != UntracedSource::kAnchor) {
    for (RetimedTrace& retimed : found.retimed) {
      ASSAY_TRY_ASSIGN(const BoundBy bound, bottleneck_of(loaded, std::move(retimed), part));
      if (bound == recorded || !names_resource(bound)) continue;
      run.times.turned = bound;
      break;
    }
    return run;
  }
  if (found.retimed.empty()) {
    run.times.source = UntracedSource::kRefused;
    run.times.refusal = UntracedRefusal::kOutOfOrder;
    return run;
  }
  run.loaded = retimed_input(loaded, std::move(found.retimed.front()));
  ASSAY_TRY_ASSIGN(run.flow, find_flow(*run.loaded, part, more));
  const BoundBy bound = run.flow->verdict.bound;
  if (bound != recorded && names_resource(bound)) run.times.turned = bound;
  return run;
}

Result<std::optional<UntracedOverhead>> untraced_overhead(const LoadedTrace& loaded,
                                                          const Untraced& times,
                                                          const HostOverheadOptions& options) {
  std::optional<UntracedOverhead> found;
  if (times.source != UntracedSource::kAnchor) return found;
  const FlowModel model = make_flow_model(loaded.trace, loaded.links, loaded.kernels);
  const UntracedReplay replay(model, loaded.windows);
  for (size_t k = 0; k < kCostShapes; ++k) {
    const auto shape = static_cast<CostShape>(k);
    const auto strength = replay.solve(shape, times.iteration_ns);
    if (!strength) continue;
    auto retimed = replay.retimed(recording_cost(shape, *strength));
    if (!retimed) continue;
    const auto made = retimed_input(loaded, *std::move(retimed));
    ASSAY_TRY_ASSIGN(const HostOverheadReport report,
                     analyze_overhead(made->trace, made->links, made->windows, options));
    const HostOverheadSums& sums = report.whole.sums;
    const double each_ns = report.means.t_orch_ns.mean;
    if (!found) {
      found = UntracedOverhead{.iteration_ns = times.iteration_ns,
                               .recorded_iteration_ns = times.recorded_iteration_ns,
                               .each_ns = each_ns,
                               .each_low_ns = each_ns,
                               .each_high_ns = each_ns,
                               .from = times.from,
                               .t_orch_ns = sums.t_orch_ns,
                               .t_orch_low_ns = sums.t_orch_ns,
                               .t_orch_high_ns = sums.t_orch_ns,
                               .hdbi = sums.hdbi,
                               .hdbi_low = sums.hdbi,
                               .hdbi_high = sums.hdbi};
    }
    found->t_orch_low_ns = std::min(found->t_orch_low_ns, sums.t_orch_ns);
    found->t_orch_high_ns = std::max(found->t_orch_high_ns, sums.t_orch_ns);
    found->each_low_ns = std::min(found->each_low_ns, each_ns);
    found->each_high_ns = std::max(found->each_high_ns, each_ns);
    if (!sums.hdbi || !found->hdbi) continue;
    found->hdbi_low = std::min(*found->hdbi_low, *sums.hdbi);
    found->hdbi_high = std::max(*found->hdbi_high, *sums.hdbi);
  }
  return found;
}

}  // namespace assay
