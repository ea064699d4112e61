#pragma once

// What a run becomes shorter by, as a whole and per iteration.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flow/graph.h"
#include "trace/iterations.h"

namespace assay {

// Durations of iterations, from the end of the last device work launched in one to that of the
// next: n of them, after the first.
struct StepTimes {
  size_t n = 0;
  int64_t median_ns = 0;
};
StepTimes step_times(const std::vector<int64_t>& durations);

// What one edit gives, or several.
struct Gain {
  int64_t run_ns = 0;  // what the last device work ends earlier by
  // Per iteration; n = 0: fewer than two iterations.
  StepTimes before;
  StepTimes after;
  // Median of what an iteration becomes shorter by, and its interval: of six iterations or more
  // the order statistics that hold the median with 95 %, of two to five the least and the most; of
  // one no interval. The lower end is the smaller one of both rules for unexplained time.
  int64_t step_ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
  // Of WhatIfOptions::reach; else both run_ns. What run_ns is between with usual times that the run
  // does not tell at either end of where they may lie (FlowFloor::low_ns, high_ns); low_ns and
  // high_ns above reach as far. All told: run_ns.
  int64_t run_low_ns = 0;
  int64_t run_high_ns = 0;
};

// The interval of the median of values, as in Gain; values are reordered, at least one.
struct MedianInterval {
  int64_t median_ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
};
MedianInterval median_interval(std::vector<int64_t>& values);

// Where a run's iterations end in a replay.
class StepEnds {
 public:
  StepEnds(const FlowRun& run, const FlowGraph& graph, const Windows& iterations);
  // Iterations with device work.
  size_t count() const { return ends_.size(); }
  // Per iteration after the first, from the end of the one before, without what nobody recorded;
  // never negative. times_ns: per point.
  std::vector<int64_t> durations(const std::vector<int64_t>& times_ns) const;

 private:
  std::vector<std::vector<uint32_t>> ends_;  // points, per iteration with work
  std::vector<int64_t> unrecorded_ns_;       // that lie between its end and that of the one before
};

}  // namespace assay
