#include "flow/whatif.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/numbers.h"
#include "base/stats.h"
#include "flow/edited_lags.h"
#include "flow/replay.h"
#include "kernels/kernel.h"
#include "kernels/name.h"

namespace assay {
namespace {

// Which iteration each work belongs to, and when iterations end.
class Steps {
 public:
  Steps(const FlowRun& run, const FlowGraph& graph, const Windows& iterations) {
    if (iterations.source == WindowSource::kWholeTrace) return;
    std::vector<std::vector<uint32_t>> ends(iterations.windows.size());
    for (uint32_t w = 0; w < run.works.size(); ++w) {
      const FlowWork& work = run.works[w];
      if (work.helper) continue;
      const int64_t asked_ns =
          work.call == kNoFlowRow ? work.start_ns : run.calls[work.call].start_ns;
      const int32_t window = window_at(iterations, asked_ns);
      if (window >= 0) ends[static_cast<size_t>(window)].push_back(graph.work_point(w, true));
    }
    for (auto& of_window : ends) {
      if (!of_window.empty()) ends_.push_back(std::move(of_window));
    }
    unrecorded_ns_.assign(ends_.size(), 0);
    if (run.unrecorded.empty()) return;
    int64_t reached_ns = INT64_MIN;
    for (size_t i = 0; i < ends_.size(); ++i) {
      const int64_t from_ns = reached_ns;
      for (const uint32_t p : ends_[i]) reached_ns = std::max(reached_ns, graph.time_ns[p]);
      if (i > 0) unrecorded_ns_[i] = length_in(run.unrecorded, {from_ns, reached_ns});
    }
  }
  size_t count() const { return ends_.size(); }

  // Per iteration after the first, from the end of the one before, without what nobody recorded;
  // never negative.
  std::vector<int64_t> durations(const std::vector<int64_t>& times_ns) const {
    std::vector<int64_t> durations;
    int64_t reached_ns = 0;
    for (size_t i = 0; i < ends_.size(); ++i) {
      int64_t end_ns = i == 0 ? INT64_MIN : reached_ns;
      for (const uint32_t p : ends_[i]) end_ns = std::max(end_ns, times_ns[p]);
      if (i > 0) {
        durations.push_back(std::max<int64_t>(end_ns - reached_ns - unrecorded_ns_[i], 0));
      }
      reached_ns = end_ns;
    }
    return durations;
  }

 private:
  std::vector<std::vector<uint32_t>> ends_;  // points, per iteration with work
  std::vector<int64_t> unrecorded_ns_;       // that lie between its end and that of the one before
};

int64_t work_end_ns(const FlowRun& run, const FlowGraph& graph,
                    const std::vector<int64_t>& times_ns) {
  const uint32_t last = last_work(run, graph, times_ns);
  return last == kNoPoint ? graph.start_ns : std::max(graph.start_ns, times_ns[last]);
}

StepTimes step_times(const std::vector<int64_t>& durations) {
  if (durations.empty()) return {};
  return {durations.size(), median_ns(durations)};
}

class Explorer {
 public:
  Explorer(const FlowModel& model, const Windows& iterations, const FlowReport& report)
      : run_(model.run),
        graph_(model.graph),
        steps_(model.run, model.graph, iterations),
        end_ns_(work_end_ns(model.run, model.graph, model.graph.time_ns)),
        recorded_(steps_.durations(model.graph.time_ns)),
        from_ns_(report.window.start_ns),
        pinned_ns_(std::max(kFlowMarginNs, (report.window_ns()) / 100)),
        editor_(model.run, model.graph, from_ns_) {}

  size_t iterations() const { return steps_.count(); }
  const std::vector<int64_t>& recorded_steps() const { return recorded_; }
  int64_t run_ns() const { return end_ns_ - from_ns_; }

  Gain gain(const EditedLags& lags) {
    const std::vector<int64_t>& times = replayed(lags, Residuals::kKeep);
    Gain gain;
    gain.run_ns = end_ns_ - work_end_ns(run_, graph_, times);
    gain.run_low_ns = gain.run_ns;
    gain.run_high_ns = gain.run_ns;
    if (steps_.count() >= 2) add_steps(lags, times, gain);
    return gain;
  }
  Gain gain(const StrongestEdits& edits) {
    editor_.lags(edits, lags_);
    return gain(lags_);
  }

  // The run with other usual times: points are the same, and what binds them is not.
  struct Moved {
    Moved(const FlowRun& run, FlowGraph moved, int64_t from_ns)
        : graph(std::move(moved)), editor(run, graph, from_ns) {}
    Moved(const Moved&) = delete;  // the editor looks at the graph
    Moved& operator=(const Moved&) = delete;

    FlowGraph graph;
    LagEditor editor;
  };
  Moved moved(int64_t FlowFloor::* end) const {
    return Moved(run_, make_flow_graph(run_, floors_at(run_.floors, end)), from_ns_);
  }

  // The interval of a gain reaches what the same edits give with other usual times.
  void widen(Moved& moved, const StrongestEdits& edits, Gain& gain) {
    moved.editor.lags(edits, lags_);
    replay(moved.graph, {.lags_ns = &lags_.lag_ns, .skips_ended = true}, times_);
    const int64_t run_ns = end_ns_ - work_end_ns(run_, graph_, times_);
    gain.run_low_ns = std::min(gain.run_low_ns, run_ns);
    gain.run_high_ns = std::max(gain.run_high_ns, run_ns);
    if (steps_.count() < 2) return;
    std::vector<int64_t> kept = saved(steps_.durations(times_));
    const MedianInterval interval = median_interval(kept);
    gain.low_ns = std::min(gain.low_ns, interval.low_ns);
    if (gain.run_low_ns >= 0) gain.low_ns = std::max<int64_t>(0, gain.low_ns);
    gain.high_ns = std::max(gain.high_ns, interval.high_ns);
  }

  // What the order of levers is found by.
  void lags(const StrongestEdits& edits, EditedLags& lags) { editor_.lags(edits, lags); }
  int64_t run_gain(const EditedLags& lags) {
    return end_ns_ - work_end_ns(run_, graph_, replayed(lags, Residuals::kKeep));
  }
  void lags_with(const StrongestEdits& edits, const std::vector<uint32_t>& points,
                 const EditedLags& before, EditedLags& lags) {
    editor_.lags_with(edits, points, before, lags);
  }
  std::vector<uint32_t> touched(const EditedLags& lags) const { return editor_.touched(lags); }

  void add_joint(const StrongestEdits& edits, WhatIf& found) {
    const EditedLags lags = editor_.lags(edits);
    found.joint = gain(lags);
    found.before = replay_bar(run_, graph_, {graph_.time_ns, graph_.lag_ns, graph_.part_ns});
    const std::vector<int64_t>& times = replayed(lags, Residuals::kKeep);
    const Replayed after{times, lags.lag_ns, lags.part_ns};
    found.after = replay_bar(run_, graph_, after);
    found.path_after = path_bar(run_, graph_, after, from_ns_);
  }

 private:
  // Usual times that the run does not tell, all at one end of where they may lie.
  static FlowFloors floors_at(const FlowFloors& floors, int64_t FlowFloor::* end) {
    FlowFloors moved = floors;
    for (FlowFloor* floor :
         {&moved.launch, &moved.stream, &moved.event, &moved.returns, &moved.unseen_call}) {
      if (!floor->told()) floor->typical_ns = floor->*end;
    }
    for (FlowFloor& own : moved.own_calls) {
      if (!own.told()) own.typical_ns = own.*end;
    }
    return moved;
  }

  // What iterations become shorter by. times_ns: of the replay with these lags.
  void add_steps(const EditedLags& lags, const std::vector<int64_t>& times_ns, Gain& gain) {
    const std::vector<int64_t> after = steps_.durations(times_ns);
    gain.before = step_times(recorded_);
    gain.after = step_times(after);
    std::vector<int64_t> kept = saved(after);
    const MedianInterval interval = median_interval(kept);
    std::vector<int64_t> pinned = saved(steps_.durations(replayed(lags, Residuals::kPin)));
    gain.step_ns = interval.median_ns;
    gain.low_ns = std::min(interval.low_ns, median_interval(pinned).low_ns);
    gain.high_ns = interval.high_ns;
    // An iteration may take longer where the one before it ends earlier, the run does not.
    if (gain.run_ns >= 0) gain.low_ns = std::max<int64_t>(0, gain.low_ns);
  }

  // Times of all points, until the next replay.
  const std::vector<int64_t>& replayed(const EditedLags& lags, Residuals residuals) {
    replay(graph_, {.residuals = residuals, .lags_ns = &lags.lag_ns, .pinned_ns = pinned_ns_},
           times_);
    return times_;
  }

  std::vector<int64_t> saved(const std::vector<int64_t>& after) const {
    std::vector<int64_t> saved(after.size());
    for (size_t i = 0; i < after.size(); ++i) saved[i] = recorded_[i] - after[i];
    return saved;
  }

  const FlowRun& run_;
  const FlowGraph& graph_;
  const Steps steps_;
  const int64_t end_ns_;
  const std::vector<int64_t> recorded_;
  const int64_t from_ns_;
  const int64_t pinned_ns_;
  LagEditor editor_;
  std::vector<int64_t> times_;  // of the last replay
  EditedLags lags_;             // of the last edits that nobody keeps
};

StrongestEdits only(const Edit& edit) {
  const Edit* const one = &edit;
  return sum_of({&one, 1});
}

// Takes levers, each the one that gives most on top of those before it, of equal ones the first.
class OrderFinder {
 public:
  // touched: per lever, the points that it touches.
  OrderFinder(Explorer& explorer, const std::vector<std::vector<uint32_t>>& touched, WhatIf& found)
      : explorer_(explorer), touched_(touched), found_(found), search_(found.levers.size()) {}

  // While they give `least_ns`. Returns all taken.
  const StrongestEdits& find(int64_t least_ns) {
    while (true) {
      size_t best = search_.size();
      for (size_t i = 0; i < search_.size(); ++i) {
        if (!is_left(found_.levers[i])) continue;
        search_[i].more_ns = found_.order.empty() ? found_.levers[i].alone.run_ns : more_ns(i);
        if (best == search_.size() || search_[i].more_ns > search_[best].more_ns) best = i;
      }
      if (best == search_.size() || search_[best].more_ns < least_ns) return taken_;
      take(best);
    }
  }

 private:
  // What is known of a lever.
  struct Searched {
    int64_t more_ns = 0;  // what it gives on top of those taken
    bool spent = false;   // nothing: it changes nothing on top of some of them, and so of more
  };

  static bool is_left(const TriedLever& lever) {
    return lever.edit.refusal == EditRefusal::kNone && !lever.listed && !lever.alone_only &&
           lever.edit.request.kind != EditKind::kWarm;
  }

  int64_t more_ns(size_t lever) {
    if (search_[lever].spent) return 0;
    StrongestEdits edits = taken_;
    add_edit(found_.levers[lever].edit, edits);
    explorer_.lags_with(edits, touched_[lever], lags_, tried_);
    search_[lever].spent = tried_ == lags_;
    return search_[lever].spent ? 0 : explorer_.run_gain(tried_) - taken_ns_;
  }

  void take(size_t lever) {
    const Searched& searched = search_[lever];
    found_.levers[lever].listed = true;
    found_.levers[lever].in_order_ns = searched.more_ns;
    found_.order.push_back(lever);
    taken_ns_ += searched.more_ns;
    add_edit(found_.levers[lever].edit, taken_);
    if (!searched.spent) explorer_.lags(taken_, lags_);
  }

  Explorer& explorer_;
  const std::vector<std::vector<uint32_t>>& touched_;
  WhatIf& found_;
  std::vector<Searched> search_;  // per lever
  StrongestEdits taken_;
  EditedLags lags_;  // with all taken
  EditedLags tried_;
  int64_t taken_ns_ = 0;
};

// Levers that are told, those that give most alone first. A warm start is another run.
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

// A gain that is to be told what it lies between.
struct Open {
  std::vector<const Edit*> edits;
  Gain* gain;
};

void widen(Explorer& explorer, const std::vector<Open>& open) {
  for (const auto end : {&FlowFloor::low_ns, &FlowFloor::high_ns}) {
    Explorer::Moved moved = explorer.moved(end);
    for (const Open& one : open) explorer.widen(moved, sum_of(one.edits), *one.gain);
  }
}

std::vector<TogetherGain> all_sets(Explorer& explorer, const WhatIf& found,
                                   const std::vector<size_t>& levers) {
  std::vector<TogetherGain> sets;
  for (size_t mask = 1; mask < size_t{1} << levers.size(); ++mask) {
    TogetherGain set;
    for (size_t i = 0; i < levers.size(); ++i) {
      if ((mask >> i & 1) != 0) set.levers.push_back(levers[i]);
    }
    if (set.levers.size() < 2) continue;
    set.gain = explorer.gain(sum_of(edits_of(found, set.levers)));
    sets.push_back(std::move(set));
  }
  return sets;
}

// What is left of the time, or how many times as fast: what a slider goes through, the lever's own
// factor among them. None where the edit takes no factor.
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

// edits: one for each point, none where it is the lever's own.
std::vector<GainAt> points_of(Explorer& explorer, const EditMaker& maker, const TriedLever& lever,
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
    points.back().gain = explorer.gain(only(edits.back()));
  }
  return points;
}

// Every gain that was found and is to be told what it lies between. least_ns: of levers that give
// less alone nothing more is found out. point_edits: per lever, as points_of() made them.
std::vector<Open> open_gains(const std::vector<std::vector<Edit>>& point_edits, int64_t least_ns,
                             WhatIf& found) {
  std::vector<Open> open;
  for (size_t i = 0; i < found.levers.size(); ++i) {
    TriedLever& lever = found.levers[i];
    if (lever.edit.refusal != EditRefusal::kNone || lever.alone.run_ns < least_ns) continue;
    open.push_back({{&lever.edit}, &lever.alone});
    for (size_t k = 0; k < lever.points.size(); ++k) {
      if (is_own(lever.points[k], lever)) continue;
      open.push_back({{&point_edits[i][k]}, &lever.points[k].gain});
    }
  }
  for (TogetherGain& set : found.together) open.push_back({edits_of(found, set.levers), &set.gain});
  if (!found.order.empty()) open.push_back({edits_of(found, found.order), &found.joint});
  return open;
}

}  // namespace

StepTimes recorded_steps(const FlowModel& model, const Windows& iterations) {
  const Steps steps(model.run, model.graph, iterations);
  return step_times(steps.durations(model.graph.time_ns));
}

MedianInterval median_interval(std::vector<int64_t>& values) {
  constexpr size_t kFewest = 6;  // below, no two order statistics hold the median with 95 %
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  MedianInterval interval{median_ns(values), values.front(), values.back()};
  if (n < kFewest) return interval;
  // The largest k for which fewer than k of n coins show heads with at most 2.5 %.
  double below = 0;
  size_t k = 0;
  for (double heads = std::exp2(-static_cast<double>(n)); below + heads <= 0.025; ++k) {
    below += heads;
    heads *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    if (heads == 0) break;
  }
  if (n > 1000) {  // where 2^-n is no number: the normal approximation
    const double centre = static_cast<double>(n) / 2;
    k = static_cast<size_t>(std::floor(centre - 0.98 * std::sqrt(static_cast<double>(n))));
  }
  k = std::max<size_t>(k, 1);
  interval.low_ns = values[k - 1];
  interval.high_ns = values[n - k];
  return interval;
}

EditRefusal refusal_of_run(const FlowReport& report) {
  constexpr double kLeastLinked = 0.9;
  const FlowEvidence& evidence = report.evidence;
  const FlowTotals& total = report.total;
  if (evidence.works == 0) return EditRefusal::kNothing;
  if (!(share(evidence.linked_ns, evidence.work_ns) >= kLeastLinked)) return EditRefusal::kUnlinked;
  if (total.idle_ns > 0 && total[FlowCause::kCold] * 2 >= total.idle_ns &&
      total[FlowCause::kCold] * 10 >= total.window_ns * 3) {
    return EditRefusal::kCold;
  }
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
  if (kind.kind == KernelKind::kOther) {  // kernels of no known kind have nothing in common
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
  Explorer explorer(model, iterations, report);
  WhatIf found;
  found.refusal = refusal_of_run(report);
  found.iterations = explorer.iterations();
  found.step_ns = explorer.recorded_steps();
  found.run_ns = explorer.run_ns();
  found.path_before = path_bar(model.run, model.graph,
                               {model.graph.time_ns, model.graph.lag_ns, model.graph.part_ns},
                               report.window.start_ns);
  found.window_ns = report.window_ns();
  const EditMaker maker(model.run, iterations, options.roof);
  const bool asked = !options.edits.empty();
  std::vector<EditRequest> requests =
      asked ? options.edits : usual_edits(report, model.run.has_ops);
  // Pauses are as good a thing to change as any; kernels that take no time are but a bound.
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
  found.reach = options.reach && found.refusal == EditRefusal::kNone;
  std::vector<std::vector<uint32_t>> touched;
  EditedLags lags;
  for (const EditRequest& request : requests) {
    TriedLever lever;
    lever.alone_only = found.levers.size() >= ordered;
    lever.edit = maker.make(request);
    const bool cold_start = found.refusal == EditRefusal::kCold && request.kind == EditKind::kWarm;
    if (found.refusal != EditRefusal::kNone && !cold_start) lever.edit.refusal = found.refusal;
    touched.emplace_back();
    if (lever.edit.refusal == EditRefusal::kNone) {
      explorer.lags(only(lever.edit), lags);
      lever.alone = explorer.gain(lags);
      if (options.joint) touched.back() = explorer.touched(lags);
    }
    found.levers.push_back(std::move(lever));
  }
  if (found.refusal != EditRefusal::kNone) return found;
  std::vector<std::vector<Edit>> point_edits(found.levers.size());
  for (size_t i = 0; i < found.levers.size(); ++i) {
    TriedLever& lever = found.levers[i];
    const bool told = lever.edit.refusal == EditRefusal::kNone && lever.alone.run_ns >= least_ns;
    if (options.points && told) lever.points = points_of(explorer, maker, lever, point_edits[i]);
  }
  found.together = all_sets(explorer, found, best_alone(found, least_ns, options.together));
  if (options.joint) {
    const StrongestEdits taken = OrderFinder(explorer, touched, found).find(asked ? 0 : least_ns);
    explorer.add_joint(taken, found);
  }
  if (!found.reach) return found;
  widen(explorer, open_gains(point_edits, options.joint ? INT64_MIN : least_ns, found));
  for (TriedLever& lever : found.levers) {
    for (GainAt& point : lever.points) {
      if (is_own(point, lever)) point.gain = lever.alone;
    }
  }
  return found;
}

}  // namespace assay
