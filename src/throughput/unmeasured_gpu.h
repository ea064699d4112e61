#pragma once

// Estimates for GPUs that no row ran on under an engine: the process's, the nearest measured GPU's
// of the vendor times what the data sheets differ by, and the order of the data sheets, which no
// estimate leaves unless rows do. Spec page planner, 3.1. One home for throughput and latencies.

#include <functional>
#include <string>
#include <vector>

#include "records/bench_table.h"
#include "records/facts.h"

namespace assay {

// A GPU that rows ran on, as they write it.
struct MeasuredGpu {
  const HardwareFacts* facts = nullptr;
  std::string name;
};
using MeasuredGpus = std::vector<MeasuredGpu>;

// A point on a GPU that is none of `measured`, all of its engine.
struct UnmeasuredPoint {
  BenchRow row;
  const HardwareFacts* hardware = nullptr;
  const MeasuredGpus* measured = nullptr;
};

struct SheetEstimate {
  double log_factor = 0;   // on the process's speed
  std::string sibling;     // whose estimate counts by the sheets' ratio; empty: none
  double weight = 0;       // of that, in logarithms
  double log_sibling = 0;  // the sibling's alone over the process's: the baseline; 0 without one
  std::string reason;      // why the order moved it; empty: it did not
};

// Logarithms of how fast points run by the rows alone; NaN where there is no answer.
using LogSpeeds = std::function<std::vector<double>(const std::vector<BenchRow>&)>;
// What speed goes with: bandwidth, or 16-bit FLOP/s.
using SheetValue = double HardwareFacts::*;

// In logarithms half the process, half the nearest sibling times the ratio of `goes_with` (all of
// the sibling where the vendor has one GPU with rows, none where it has none); then never below the
// measured GPUs that the data sheet dominates, nor below GPUs without rows that it dominates, nor
// above the measured ones that dominate it, which count least. Points do not see each other: the
// answer for one is the same whatever else is asked.
std::vector<SheetEstimate> sheet_estimates(const std::vector<UnmeasuredPoint>& points,
                                           const FactBook& facts, SheetValue goes_with,
                                           const LogSpeeds& log_speeds);

}  // namespace assay
