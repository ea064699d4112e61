#pragma once

// What edits give on the graph of one run.

#include <cstdint>
#include <vector>

#include "flow/edited_lags.h"
#include "flow/flow.h"
#include "flow/gain.h"
#include "flow/moved_lags.h"
#include "flow/replay.h"

namespace assay {

// Room for one set of edits after the other; each thread has its own.
struct Trial {
  explicit Trial(const EditSlots& slots) : editor(slots) {}
  LagEditor editor;
  EditedLags lags;             // of the last edits
  std::vector<int64_t> times;  // of the last replay, per point
  std::vector<int64_t> moved_ns;
};

// What it is made from must outlive it. Its questions may be asked in several threads.
class GainFinder {
 public:
  // reach: whether gain() is to tell what gains lie between.
  GainFinder(const FlowModel& model, const Windows& iterations, const FlowReport& report,
             bool reach);

  size_t iterations() const { return steps_.count(); }
  const std::vector<int64_t>& recorded_steps() const { return recorded_; }
  // From the begin of the window to the end of the last device work.
  int64_t run_ns() const { return end_ns_ - from_ns_; }
  int64_t from_ns() const { return from_ns_; }
  const EditSlots& slots() const { return slots_; }
  const FlowRun& run() const { return run_; }
  const FlowGraph& graph() const { return graph_; }

  // Of edits, whose lags are then the trial's. Where the run becomes shorter by reach_ns or more,
  // also what the gain lies between with other usual times.
  Gain gain(const StrongestEdits& edits, Trial& trial, int64_t reach_ns) const;
  // What the run becomes shorter by with these lags.
  int64_t run_gain(const EditedLags& lags, Trial& trial) const;
  // The time from the begin of the window to the end of the last device work, with these lags. No
  // bound applies. Pins hold whatever no edge explains, however short.
  int64_t run_ns(const EditedLags& lags, Trial& trial, Residuals residuals) const;
  // Times of all points with these lags, until the trial's next replay.
  const std::vector<int64_t>& replayed(const EditedLags& lags, Trial& trial) const;
  // The edges that bind, from the end of the last work back to the begin of the run. Returns
  // whether the gain with these lags is less than what the replay gives, by the bound on all gains.
  bool mark_path(const EditedLags& lags, Trial& trial, std::vector<bool>& on_path) const;

 private:
  int64_t work_end_ns(const std::vector<int64_t>& times_ns) const;
  int64_t bounded(int64_t gain_ns, const std::vector<int64_t>& lags_ns) const;
  void add_steps(Trial& trial, Gain& gain) const;
  void widen(const StrongestEdits& edits, Trial& trial, Gain& gain) const;
  std::vector<int64_t> saved(const std::vector<int64_t>& after) const;

  const FlowRun& run_;
  const FlowGraph& graph_;
  const StepEnds steps_;
  const std::vector<uint32_t> work_ends_;  // points: ends of work that the host asked for
  const int64_t end_ns_;
  const std::vector<int64_t> recorded_;
  const int64_t from_ns_;
  const int64_t idle_ns_;  // of the run, the busiest device is idle
  const int64_t pinned_ns_;
  const bool pins_;  // whether any residual is so long that it may not move
  const EditSlots slots_;
  std::vector<MovedLags> moved_;  // usual times that the run does not tell at either end
};

}  // namespace assay
