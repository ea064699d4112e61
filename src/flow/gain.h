#pragma once

// Time saved by edits, for the whole run and per iteration.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flow/graph.h"
#include "trace/iterations.h"

namespace assay {

// Durations of the n iterations after the first, each from the end of the last device work launched
// in the previous iteration to that of its own.
struct StepTimes {
  size_t n = 0;
  int64_t median_ns = 0;
};
StepTimes step_times(const std::vector<int64_t>& durations);

// Time saved by one edit or several.
struct Gain {
  int64_t run_ns = 0;  // by how much the last device work ends earlier
  // Per iteration; n = 0: fewer than two iterations.
  StepTimes before;
  StepTimes after;
  // Median time saved per iteration, with an interval: for six or more iterations the order
  // statistics that contain the median with 95 %; for two to five the minimum and maximum; for one
  // no interval. low_ns is the lesser of both rules for unexplained time.
  int64_t step_ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
  // Range of run_ns over the possible typical times that the run does not determine
  // (FlowFloor::low_ns, high_ns); low_ns and high_ns above include it. Only with
  // WhatIfOptions::reach; otherwise, or if all are known, run_ns. run_high_ns also includes the
  // unbounded gain.
  int64_t run_low_ns = 0;
  int64_t run_high_ns = 0;
};

// The interval of the median, as in Gain. Sorts values, which must not be empty.
struct MedianInterval {
  int64_t median_ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
};
MedianInterval median_interval(std::vector<int64_t>& values);

// Ends of a run's iterations in a replay.
class StepEnds {
 public:
  StepEnds(const FlowRun& run, const FlowGraph& graph, const Windows& iterations);
  // Number of iterations with device work.
  size_t count() const { return ends_.size(); }
  // Per iteration after the first: ns since the end of the previous one, without unrecorded time;
  // never negative. times_ns: per point.
  std::vector<int64_t> durations(const std::vector<int64_t>& times_ns) const;

 private:
  std::vector<std::vector<uint32_t>> ends_;  // end points of work, per iteration that has work
  // Per iteration: unrecorded time since the previous end.
  std::vector<int64_t> unrecorded_ns_;
};

}  // namespace assay
