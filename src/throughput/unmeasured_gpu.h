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
// Adds one unless its facts are there.
void note_gpu(const HardwareFacts* facts, const std::string& name, MeasuredGpus& gpus);

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
// How the nearest sibling counts beside the process, in logarithms.
struct SiblingShare {
  double HardwareFacts::* goes_with;  // its estimate is multiplied by the ratio of these
  double of_several = 0;              // its weight, where several GPUs of the vendor have rows
  double of_one = 0;                  // where one has, from which no process learns what GPUs do
};

// The process and the nearest sibling, as `share` says; then never below the measured GPUs that the
// data sheet dominates, nor below GPUs without rows that it dominates, nor above the measured ones
// that dominate it, which count least. Points do not see each other: the answer for one is the same
// whatever else is asked.
std::vector<SheetEstimate> sheet_estimates(const std::vector<UnmeasuredPoint>& points,
                                           const FactBook& facts, const SiblingShare& share,
                                           const LogSpeeds& log_speeds);

}  // namespace assay
