#include "flow/gain_finder.h"

#include <algorithm>
#include <utility>

#include "flow/gains.h"
#include "flow/path.h"

namespace assay {
namespace {

std::vector<uint32_t> work_ends(const FlowRun& run, const FlowGraph& graph) {
  std::vector<uint32_t> ends;
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    if (counts_work(run, graph, w)) ends.push_back(graph.work_point(w, true));
  }
  return ends;
}

// Sets all typical times that the run does not determine to their `end`.
FlowFloors floors_at(const FlowFloors& floors, int64_t FlowFloor::* end) {
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

}  // namespace

GainFinder::GainFinder(const FlowModel& model, const Windows& iterations, const FlowReport& report,
                       bool reach)
    : run_(model.run),
      graph_(model.graph),
      steps_(model.run, model.graph, iterations),
      work_ends_(work_ends(model.run, model.graph)),
      end_ns_(work_end_ns(model.graph.time_ns)),
      recorded_(steps_.durations(model.graph.time_ns)),
      from_ns_(report.window.start_ns),
      idle_ns_(
          std::max<int64_t>(0, end_ns_ - from_ns_ - working_ns(model.run, {from_ns_, end_ns_}))),
      pinned_ns_(std::max(kFlowMarginNs, report.window_ns() / 100)),
      pins_(std::any_of(graph_.residual_ns.begin(), graph_.residual_ns.end(),
                        [this](int64_t ns) { return ns >= pinned_ns_; })),
      slots_(model.run, model.graph, from_ns_) {
  if (!reach) return;
  for (const auto end : {&FlowFloor::low_ns, &FlowFloor::high_ns}) {
    moved_.push_back(moved_lags(slots_, floors_at(run_.floors, end)));
  }
}

int64_t GainFinder::work_end_ns(const std::vector<int64_t>& times_ns) const {
  int64_t end_ns = graph_.start_ns;
  for (const uint32_t p : work_ends_) end_ns = std::max(end_ns, times_ns[p]);
  return end_ns;
}

Gain GainFinder::gain(const StrongestEdits& edits, Trial& trial, int64_t reach_ns) const {
  trial.editor.lags(edits, trial.lags);
  Gain gain;
  gain.run_ns = run_gain(trial.lags, trial);
  gain.run_low_ns = gain.run_ns;
  gain.run_high_ns = gain.run_ns;
  const int64_t replayed_ns = end_ns_ - work_end_ns(trial.times);
  if (steps_.count() >= 2) add_steps(trial, gain);
  if (gain.run_ns < replayed_ns) {  // the bound scales iterations, except their upper end
    const double left = static_cast<double>(gain.run_ns) / static_cast<double>(replayed_ns);
    for (int64_t* ns : {&gain.step_ns, &gain.low_ns}) {
      *ns = static_cast<int64_t>(static_cast<double>(*ns) * left);
    }
    gain.run_high_ns = replayed_ns;
  }
  if (gain.run_ns >= reach_ns) widen(edits, trial, gain);
  return gain;
}

int64_t GainFinder::run_gain(const EditedLags& lags, Trial& trial) const {
  return bounded(end_ns_ - work_end_ns(replayed(lags, trial)), lags.lag_ns);
}

int64_t GainFinder::run_ns(const EditedLags& lags, Trial& trial, Residuals residuals) const {
  constexpr int64_t kAnyNs = 1;
  replay(graph_, {.residuals = residuals, .lags_ns = &lags.lag_ns, .pinned_ns = kAnyNs},
         trial.times);
  return work_end_ns(trial.times) - from_ns_;
}

// Bounds a gain by the idle time of the busiest device plus the device time that the edits remove.
// A replay may overlap work that did not overlap, and whether it would run as fast is unknown.
int64_t GainFinder::bounded(int64_t gain_ns, const std::vector<int64_t>& lags_ns) const {
  if (gain_ns <= idle_ns_) return gain_ns;
  int64_t most_ns = idle_ns_;
  for (const EditSlots::Entry& entry : slots_.entries(EdgeKind::kWork)) {
    most_ns += graph_.lag_ns[entry.edge] - lags_ns[entry.edge];
  }
  return std::min(gain_ns, most_ns);
}

const std::vector<int64_t>& GainFinder::replayed(const EditedLags& lags, Trial& trial) const {
  replay(graph_, {.lags_ns = &lags.lag_ns}, trial.times);
  return trial.times;
}

// Fills the gains per iteration; the trial must have been replayed.
void GainFinder::add_steps(Trial& trial, Gain& gain) const {
  const std::vector<int64_t> after = steps_.durations(trial.times);
  gain.before = step_times(recorded_);
  gain.after = step_times(after);
  std::vector<int64_t> kept = saved(after);
  const MedianInterval interval = median_interval(kept);
  gain.step_ns = interval.median_ns;
  gain.low_ns = interval.low_ns;
  gain.high_ns = interval.high_ns;
  if (pins_) {
    replay(graph_,
           {.residuals = Residuals::kPin, .lags_ns = &trial.lags.lag_ns, .pinned_ns = pinned_ns_},
           trial.times);
    std::vector<int64_t> pinned = saved(steps_.durations(trial.times));
    gain.low_ns = std::min(gain.low_ns, median_interval(pinned).low_ns);
  }
  // An iteration may take longer if the previous one ends earlier; the run does not.
  if (gain.run_ns >= 0) gain.low_ns = std::max<int64_t>(0, gain.low_ns);
}

std::vector<int64_t> GainFinder::saved(const std::vector<int64_t>& after) const {
  std::vector<int64_t> saved(after.size());
  for (size_t i = 0; i < after.size(); ++i) saved[i] = recorded_[i] - after[i];
  return saved;
}

bool GainFinder::mark_path(const EditedLags& lags, Trial& trial, std::vector<bool>& on_path) const {
  const std::vector<int64_t>& times = replayed(lags, trial);
  on_path.assign(graph_.source.size(), false);
  const Replayed replayed{times, lags.lag_ns, lags.part_ns};
  for (uint32_t p = last_work(run_, graph_, times); p != kNoPoint;) {
    const uint32_t edge = binding_step(graph_, replayed, p).edge;
    on_path[edge] = true;
    p = graph_.source[edge];
  }
  const int64_t replayed_ns = end_ns_ - work_end_ns(times);
  return bounded(replayed_ns, lags.lag_ns) < replayed_ns;
}

// Widens the gain's range by what the edits save with other typical times.
void GainFinder::widen(const StrongestEdits& edits, Trial& trial, Gain& gain) const {
  for (const MovedLags& moved : moved_) {
    move_lags(trial.editor, edits, trial.lags, moved, trial.moved_ns);
    replay(graph_, {.residuals = Residuals::kDrop, .lags_ns = &trial.moved_ns, .skips_ended = true},
           trial.times);
    const int64_t run_ns = bounded(end_ns_ - work_end_ns(trial.times), trial.moved_ns);
    gain.run_low_ns = std::min(gain.run_low_ns, run_ns);
    gain.run_high_ns = std::max(gain.run_high_ns, run_ns);
    if (steps_.count() < 2) continue;
    std::vector<int64_t> kept = saved(steps_.durations(trial.times));
    const MedianInterval interval = median_interval(kept);
    gain.low_ns = std::min(gain.low_ns, interval.low_ns);
    if (gain.run_low_ns >= 0) gain.low_ns = std::max<int64_t>(0, gain.low_ns);
    gain.high_ns = std::max(gain.high_ns, interval.high_ns);
  }
}

}  // namespace assay
