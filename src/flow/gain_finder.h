#pragma once

// Gains of edits on the graph of one run.

#include <cstdint>
#include <vector>

#include "flow/edited_lags.h"
#include "flow/flow.h"
#include "flow/gain.h"
#include "flow/moved_lags.h"
#include "flow/replay.h"

namespace assay {

// Reusable buffers for one replay after another; one per thread.
struct Trial {
  explicit Trial(const EditSlots& slots) : editor(slots) {}
  LagEditor editor;
  EditedLags lags;             // of the last edits
  std::vector<int64_t> times;  // of the last replay, per point
  std::vector<int64_t> moved_ns;
};

// The constructor's arguments must outlive it. The const functions are thread-safe with one Trial
// per thread.
class GainFinder {
 public:
  // reach: gain() also computes the range of gains (Gain::run_low_ns, run_high_ns).
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

  // The gain of edits; trial.lags are then their lags. If the run becomes shorter by reach_ns or
  // more, also the range over other typical times.
  Gain gain(const StrongestEdits& edits, Trial& trial, int64_t reach_ns) const;
  // Time saved in ns with these lags, bounded.
  int64_t run_gain(const EditedLags& lags, Trial& trial) const;
  // Time in ns from the window's begin to the end of the last device work with these lags. Not
  // bounded. With kPin, all residuals are pinned, however short.
  int64_t run_ns(const EditedLags& lags, Trial& trial, Residuals residuals) const;
  // Times of all points with these lags; valid until the trial's next replay.
  const std::vector<int64_t>& replayed(const EditedLags& lags, Trial& trial) const;
  // Marks the binding edges from the end of the last work back to the begin of the run. Returns
  // true if the bound on gains reduces the gain.
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
  const std::vector<uint32_t> work_ends_;  // end points of counted work
  const int64_t end_ns_;
  const std::vector<int64_t> recorded_;
  const int64_t from_ns_;
  const int64_t idle_ns_;  // idle time of the busiest device in the window
  const int64_t pinned_ns_;
  const bool pins_;  // some residual is pinned_ns_ or more
  const EditSlots slots_;
  std::vector<MovedLags> moved_;  // with unknown typical times at their low and high end
};

}  // namespace assay
