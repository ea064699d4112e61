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

Result<BoundBy> bottleneck_of(const LoadedTrace& loaded, const std::string& part) {
  FlowModel model = make_flow_model(loaded.trace, loaded.links, loaded.kernels);
  ASSAY_TRY_ASSIGN(const JudgedRun judged, judge_run(model, loaded.windows, {}, part));
  return judged.verdict.bound;
}

RecordingCost cost_of_rows(int64_t row_ns) {
  return recording_cost(CostShape::kRows, static_cast<double>(row_ns) / 2);
}

// The costs at which to retime a trace.
std::vector<RecordingCost> costs_of(const UntracedReplay& replay, const Untraced& times,
                                    RetimeAt retime_at) {
  const bool may_turn = times.low_ns * 100 < times.recorded_iteration_ns * 95;
  if (times.source == UntracedSource::kEstimate && may_turn) {
    return {cost_of_rows(times.row_cost_ns), cost_of_rows(times.row_cost_high_ns)};
  }
  if (times.source != UntracedSource::kAnchor) return {};
  std::vector<RecordingCost> costs = {cost_of_rows(times.row_cost_ns)};
  if (retime_at == RetimeAt::kEqualCost) return costs;
  for (const CostShape shape : {CostShape::kOps, CostShape::kCalls, CostShape::kPace}) {
    const auto strength = replay.solve(shape, times.iteration_ns);
    if (strength) costs.push_back(recording_cost(shape, *strength));
  }
  return costs;
}

}  // namespace

LoadedTrace retimed_input(const LoadedTrace& loaded, RetimedTrace retimed) {
  LoadedTrace made;
  made.trace = std::move(retimed.trace);
  made.links = link_trace(made.trace);
  made.windows = std::move(retimed.iterations);
  made.kernels = loaded.kernels;
  made.among = loaded.among;
  return made;
}

Result<UntracedTimes> untraced_times(const LoadedTrace& loaded, const FlowModel& model,
                                     const std::string& asked, RetimeAt retime_at) {
  UntracedTimes found;
  if (asked == "none") return found;
  if (loaded.among > 1) {
    if (asked.empty()) return found;
    return Error{ErrorCode::kInvalidArgument,
                 "--untraced is for one trace: the times of a job's ranks depend on each other",
                 loaded.trace.source, -1};
  }
  const bool whole = loaded.windows.source == WindowSource::kWholeTrace;
  ASSAY_TRY_ASSIGN(const Anchor anchor, anchor_of(loaded, asked));
  if (whole && !asked.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "an untraced time is of an iteration; this trace has none: label them, or name "
                 "them with --window",
                 loaded.trace.source, -1};
  }
  const std::string_view recorder = recorder_of(loaded.trace);
  if (whole || (!anchor.time && recorder.empty())) return found;
  const UntracedReplay replay(model, loaded.windows);
  found.times =
      find_untraced(model, replay, anchor.time, fit_recording_cost(tracer_cost_text(), recorder));
  found.times.from = anchor.from;
  for (const RecordingCost& cost : costs_of(replay, found.times, retime_at)) {
    auto retimed = replay.retimed(cost);
    if (retimed) {
      found.retimed.push_back(*std::move(retimed));
    } else if (found.retimed.empty() && found.times.source == UntracedSource::kAnchor) {
      found.times.source = UntracedSource::kRefused;
      found.times.refusal = UntracedRefusal::kOutOfOrder;
      break;
    }
  }
  return found;
}

void set_bottlenecks(BoundBy recorded, BoundBy untraced, Untraced& times) {
  times.recorded = recorded;
  if (untraced != recorded && names_resource(untraced)) times.turned = untraced;
}

Status find_turned(const LoadedTrace& loaded, const std::string& part, BoundBy recorded,
                   UntracedTimes& found) {
  found.times.recorded = recorded;
  if (found.times.source == UntracedSource::kAnchor) return Ok{};
  for (RetimedTrace& retimed : std::exchange(found.retimed, {})) {
    const LoadedTrace made = retimed_input(loaded, std::move(retimed));
    ASSAY_TRY_ASSIGN(const BoundBy bound, bottleneck_of(made, part));
    set_bottlenecks(recorded, bound, found.times);
    if (found.times.turned) break;
  }
  return Ok{};
}

Result<std::optional<UntracedOverhead>> untraced_overhead(const LoadedTrace& loaded,
                                                          const std::string& part,
                                                          const HostOverheadOptions& options,
                                                          UntracedTimes& run) {
  std::optional<UntracedOverhead> found;
  Untraced& times = run.times;
  if (times.source != UntracedSource::kAnchor) return found;
  for (RetimedTrace& retimed : std::exchange(run.retimed, {})) {
    const LoadedTrace made = retimed_input(loaded, std::move(retimed));
    ASSAY_TRY_ASSIGN(const HostOverheadReport report,
                     analyze_overhead(made.trace, made.links, made.windows, options));
    const HostOverheadSums& sums = report.whole.sums;
    const double each_ns = report.means.t_orch_ns.mean;
    if (!found) {
      ASSAY_TRY_ASSIGN(const BoundBy bound, bottleneck_of(made, part));
      set_bottlenecks(times.recorded, bound, times);
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
