#include "flow/whatif.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "base/numbers.h"
#include "base/side_by_side.h"
#include "flow/gain_finder.h"
#include "flow/lever_order.h"
#include "kernels/kernel.h"
#include "kernels/name.h"

namespace assay {
namespace {

// Indices of the `most` edits with the largest gains alone, ascending. Without kWarm, which is a
// different run, and kFuse.
std::vector<size_t> best_alone(const WhatIf& found, int64_t least_ns, size_t most) {
  std::vector<size_t> best;
  for (size_t i = 0; i < found.levers.size(); ++i) {
    const TriedLever& lever = found.levers[i];
    const EditKind kind = lever.edit.request.kind;
    if (lever.edit.refusal != EditRefusal::kNone || kind == EditKind::kWarm) continue;
    if (kind == EditKind::kFuse || lever.alone.run_ns < least_ns) continue;
    best.push_back(i);
  }
  std::stable_sort(best.begin(), best.end(), [&](size_t a, size_t b) {
    return found.levers[a].alone.run_ns > found.levers[b].alone.run_ns;
  });
  best.resize(std::min(best.size(), most));
  std::sort(best.begin(), best.end());
  return best;
}

std::vector<const Edit*> edits_of(const WhatIf& found, const std::vector<size_t>& levers) {
  std::vector<const Edit*> edits;
  for (const size_t i : levers) edits.push_back(&found.levers[i].edit);
  return edits;
}

// A gain to compute.
struct Open {
  std::vector<const Edit*> edits;
  Gain* gain;
};

// Buffers for each thread that processes `count` items.
std::vector<std::unique_ptr<Trial>> trials(const EditSlots& slots, size_t count, unsigned threads) {
  std::vector<std::unique_ptr<Trial>> trials;
  const size_t workers = workers_for(count, threads);
  for (size_t i = 0; i < workers; ++i) trials.push_back(std::make_unique<Trial>(slots));
  return trials;
}

void find_open_gains(const GainFinder& finder, const std::vector<Open>& open, unsigned threads) {
  const auto of_worker = trials(finder.slots(), open.size(), threads);
  side_by_side(open.size(), threads, [&](size_t i, size_t worker) {
    *open[i].gain = finder.gain(sum_of(open[i].edits), *of_worker[worker], INT64_MIN);
  });
}

// All sets of two or more edits, with empty gains.
std::vector<TogetherGain> all_sets(const std::vector<size_t>& levers) {
  std::vector<TogetherGain> sets;
  for (size_t mask = 1; mask < size_t{1} << levers.size(); ++mask) {
    TogetherGain set;
    for (size_t i = 0; i < levers.size(); ++i) {
      if ((mask >> i & 1) != 0) set.levers.push_back(levers[i]);
    }
    if (set.levers.size() >= 2) sets.push_back(std::move(set));
  }
  return sets;
}

// Factors for a slider (fractions left, or speedups), with the edit's own factor. Empty if the edit
// takes no factor.
std::vector<double> factors_of(const EditRequest& request) {
  std::vector<double> factors;
  switch (request.kind) {
    case EditKind::kFasterCpu:
      factors = {1.1, 1.2, 1.3, 1.5, 2, 3};
      break;
    case EditKind::kHost:
    case EditKind::kKernels:
    case EditKind::kFamily:
    case EditKind::kOps:
    case EditKind::kFrames:
    case EditKind::kCalls:
      factors = {0.9, 0.75, 0.5, 0.25, 0};
      break;
    default:
      return {};
  }
  if (std::find(factors.begin(), factors.end(), request.factor) == factors.end()) {
    factors.push_back(request.factor);
    const bool speed = request.kind == EditKind::kFasterCpu;
    std::sort(factors.begin(), factors.end(),
              [&](double a, double b) { return speed ? a < b : a > b; });
  }
  return factors;
}

bool is_own(const GainAt& point, const TriedLever& lever) {
  return point.request.factor == lever.edit.request.factor;
}

// Points with empty gains except the edit's own. edits: one per point, empty for the edit's own.
// Empty if one is refused.
std::vector<GainAt> points_of(const EditMaker& maker, const TriedLever& lever,
                              std::vector<Edit>& edits) {
  std::vector<GainAt> points;
  for (const double factor : factors_of(lever.edit.request)) {
    points.push_back({lever.edit.request, lever.edit.predicted, lever.alone});
    points.back().request.factor = factor;
    edits.emplace_back();
    if (is_own(points.back(), lever)) continue;
    edits.back() = maker.make(points.back().request);
    if (edits.back().refusal != EditRefusal::kNone) return {};
    points.back().predicted = edits.back().predicted;
  }
  return points;
}

// Edits of every lever's points, as points_of() made them.
using PointEdits = std::vector<std::vector<Edit>>;

void add_points(const PointEdits& edits, size_t lever, WhatIf& found, std::vector<Open>& open) {
  TriedLever& of = found.levers[lever];
  for (size_t k = 0; k < of.points.size(); ++k) {
    if (!is_own(of.points[k], of)) open.push_back({{&edits[lever][k]}, &of.points[k].gain});
  }
}

void add_sets(WhatIf& found, std::vector<Open>& open) {
  for (TogetherGain& set : found.together) open.push_back({edits_of(found, set.levers), &set.gain});
}

std::vector<TriedLever> make_levers(const EditMaker& maker, EditRefusal refusal,
                                    const std::vector<EditRequest>& requests, size_t ordered) {
  std::vector<TriedLever> levers;
  for (const EditRequest& request : requests) {
    TriedLever& lever = levers.emplace_back();
    lever.alone_only = levers.size() > ordered;
    lever.edit = maker.make(request);
    const bool cold_start = refusal == EditRefusal::kCold && request.kind == EditKind::kWarm;
    if (refusal != EditRefusal::kNone && !cold_start) lever.edit.refusal = refusal;
  }
  return levers;
}

// Computes each edit's gain alone. Returns the slots that each touches, if wants_slots. reach_ns:
// as GainFinder::gain().
std::vector<std::vector<uint32_t>> try_alone(const GainFinder& finder, bool wants_slots,
                                             int64_t reach_ns, unsigned threads,
                                             std::vector<TriedLever>& levers) {
  std::vector<std::vector<uint32_t>> touched(levers.size());
  const auto of_worker = trials(finder.slots(), levers.size(), threads);
  side_by_side(levers.size(), threads, [&](size_t i, size_t worker) {
    if (levers[i].edit.refusal != EditRefusal::kNone) return;
    Trial& trial = *of_worker[worker];
    const Edit* const edit = &levers[i].edit;
    const StrongestEdits alone = sum_of({&edit, 1});
    levers[i].alone = finder.gain(alone, trial, reach_ns);
    if (wants_slots) touched[i] = trial.editor.touched(alone, trial.lags);
  });
  return touched;
}

// Fills the order of edits. touched: slots per edit; moved from.
void find_order(const GainFinder& finder, int64_t least_ns, unsigned threads,
                std::vector<std::vector<uint32_t>>& touched, WhatIf& found) {
  std::vector<OrderedLever> levers;
  std::vector<size_t> places;
  for (size_t i = 0; i < found.levers.size(); ++i) {
    const TriedLever& lever = found.levers[i];
    const bool refused = lever.edit.refusal != EditRefusal::kNone;
    const bool warm = lever.edit.request.kind == EditKind::kWarm;  // a different run
    if (refused || warm || lever.alone_only) continue;
    levers.push_back({&lever.edit, std::move(touched[i]), lever.alone.run_ns});
    places.push_back(i);
  }
  for (const TakenLever& taken : order_levers(finder, levers, least_ns, threads)) {
    TriedLever& lever = found.levers[places[taken.lever]];
    lever.listed = true;
    lever.in_order_ns = taken.more_ns;
    found.order.push_back(places[taken.lever]);
  }
}

void find_joint(const GainFinder& finder, WhatIf& found) {
  const FlowRun& run = finder.run();
  const FlowGraph& graph = finder.graph();
  Trial trial(finder.slots());
  const int64_t reach_ns = found.order.empty() ? INT64_MAX : INT64_MIN;
  found.joint = finder.gain(sum_of(edits_of(found, found.order)), trial, reach_ns);
  found.before = replay_bar(run, graph, {graph.time_ns, graph.lag_ns, graph.part_ns});
  const Replayed after{finder.replayed(trial.lags, trial), trial.lags.lag_ns, trial.lags.part_ns};
  found.after = replay_bar(run, graph, after);
  found.path_after = path_bar(run, graph, after, finder.from_ns());
}

bool is_linked(const FlowReport& report) {
  return share(report.evidence.linked_ns, report.evidence.work_ns) >= kLeastLinked;
}

}  // namespace

StepTimes recorded_steps(const FlowModel& model, const Windows& iterations) {
  const StepEnds steps(model.run, model.graph, iterations);
  return step_times(steps.durations(model.graph.time_ns));
}

EditRefusal refusal_of_run(const FlowReport& report) {
  if (report.evidence.works > 0 && !is_linked(report)) return EditRefusal::kUnlinked;
  return refusal_of_replay(report);
}

EditRefusal refusal_of_replay(const FlowReport& report) {
  const FlowTotals& total = report.total;
  if (report.evidence.works == 0) return EditRefusal::kNothing;
  if (total.idle_ns > 0 && total[FlowCause::kCold] * 2 >= total.idle_ns &&
      total[FlowCause::kCold] * 10 >= total.window_ns * 3) {
    return EditRefusal::kCold;
  }
  // Gaps before kernels without a launch call count as unexplained, so the misfit shows nothing.
  if (!is_linked(report)) return EditRefusal::kNone;
  switch (misfit_of(report.fit)) {
    case Misfit::kModelError:
      return EditRefusal::kModelError;
    case Misfit::kUnexplained:
      return EditRefusal::kUnexplained;
    case Misfit::kNone:
      break;
  }
  return EditRefusal::kNone;
}

std::vector<EditRequest> usual_edits(const FlowReport& report, bool has_ops) {
  std::vector<EditRequest> edits = {
      {.kind = EditKind::kGraph}, {.kind = EditKind::kFasterCpu, .factor = 1.3},
      {.kind = EditKind::kInput}, {.kind = EditKind::kSync},
      {.kind = EditKind::kAlloc}, {.kind = EditKind::kCopies},
      {.kind = EditKind::kComm}};
  if (has_ops) edits.push_back({.kind = EditKind::kAttention});
  if (report.total[FlowCause::kCold] > 0) edits.push_back({.kind = EditKind::kWarm});
  return edits;
}

std::vector<EditRequest> work_edits(const Trace& trace, const FlowVerdict& verdict) {
  std::vector<EditRequest> edits = {
      {.kind = verdict.pauses.ns > 0 ? EditKind::kPauses : EditKind::kHost}};
  if (verdict.kinds.empty()) return edits;
  const KindShare& kind = verdict.kinds.front();
  if (kind.kind == KernelKind::kOther) {  // kernels of unknown kind have nothing in common
    edits.push_back(
        {.kind = EditKind::kKernels, .pattern = describe_kernel(trace.text(kind.longest))});
  } else {
    edits.push_back(
        {.kind = EditKind::kFamily, .pattern = std::string(kernel_kind_name(kind.kind))});
  }
  return edits;
}

WhatIf explore_edits(const FlowModel& model, const Windows& iterations, const FlowReport& report,
                     const WhatIfOptions& options) {
  // Below this size, threads cost more than they save.
  constexpr size_t kWorthThreads = 100'000;
  const unsigned threads = model.graph.points() < kWorthThreads ? 1 : std::max(options.threads, 1u);
  WhatIf found;
  found.refusal = refusal_of_run(report);
  found.reach = options.reach && found.refusal == EditRefusal::kNone;
  const GainFinder finder(model, iterations, report, found.reach);
  found.iterations = finder.iterations();
  found.step_ns = finder.recorded_steps();
  found.run_ns = finder.run_ns();
  found.path_before = path_bar(model.run, model.graph,
                               {model.graph.time_ns, model.graph.lag_ns, model.graph.part_ns},
                               report.window.start_ns);
  found.window_ns = report.window_ns();
  const EditMaker maker(model.run, iterations, options.roof);
  const bool asked = !options.edits.empty();
  std::vector<EditRequest> requests =
      asked ? options.edits : usual_edits(report, model.run.has_ops);
  // Removing stalls is a realistic change and joins the order; kernels that take no time are only a
  // bound.
  const auto pauses = [](const EditRequest& request) { return request.kind == EditKind::kPauses; };
  if (!asked) {
    std::copy_if(options.alone.begin(), options.alone.end(), std::back_inserter(requests), pauses);
  }
  const size_t ordered = requests.size();
  std::copy_if(options.alone.begin(), options.alone.end(), std::back_inserter(requests),
               [&](const EditRequest& request) { return asked || !pauses(request); });
  const auto share_ns =
      static_cast<int64_t>(std::ceil(options.least_share * static_cast<double>(found.window_ns)));
  const int64_t least_ns = std::max<int64_t>(share_ns, 1);
  found.levers = make_levers(maker, found.refusal, requests, ordered);
  const int64_t reach_ns = options.joint ? INT64_MIN : least_ns;
  auto touched = try_alone(finder, options.joint, reach_ns, threads, found.levers);
  if (found.refusal != EditRefusal::kNone) return found;
  PointEdits point_edits(found.levers.size());
  std::vector<Open> open;
  for (size_t i = 0; i < found.levers.size(); ++i) {
    TriedLever& lever = found.levers[i];
    const bool told = lever.edit.refusal == EditRefusal::kNone && lever.alone.run_ns >= least_ns;
    if (options.points && told) lever.points = points_of(maker, lever, point_edits[i]);
    add_points(point_edits, i, found, open);
  }
  found.together = all_sets(best_alone(found, least_ns, options.together));
  add_sets(found, open);
  find_open_gains(finder, open, threads);
  if (options.joint) {
    find_order(finder, asked ? 0 : least_ns, threads, touched, found);
    find_joint(finder, found);
  }
  return found;
}

}  // namespace assay
