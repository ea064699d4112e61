#pragma once

// Estimates for GPUs that no row ran on under an engine: the process's, the nearest measured GPU's
// of the vendor times what the data sheets differ by, and the order of the data sheets, which no
// estimate leaves unless rows do. Spec page planner, 3.1. One home for throughput and latencies.

#include <functional>
#include <string>
#include <vector>

#include "records/bench_table.h"
#include "records/facts.h"
#include "throughput/data_sheets.h"

namespace assay {

// Adds one unless its facts are there.
void note_gpu(const HardwareFacts* facts, const std::string& name, MeasuredGpus& gpus);

// How the nearest sibling counts beside the process, in logarithms: its speed times the ratio of
// one value of the data sheets, and times what physics says of the two. The process has the rest.
struct SiblingWeights {
  double by_sheet = 0;
  double by_physics = 0;

  double sum() const { return by_sheet + by_physics; }
};

// A point on a GPU that is none of `measured`, all of its engine.
struct UnmeasuredPoint {
  BenchRow row;
  const HardwareFacts* hardware = nullptr;
  const MeasuredGpus* measured = nullptr;
};
// Of a GPU without rows under the engine.
using WeightsOf =
    std::function<SiblingWeights(const HardwareFacts& gpu, const std::string& engine)>;

struct SheetEstimate {
  double log_factor = 0;   // on the process's speed
  std::string sibling;     // the nearest GPU of the vendor; empty: none
  double log_sibling = 0;  // it times the sheets' ratio over the process: the baseline; 0 without
  // How much of it is the sibling's, and why the order moved it; empty where neither is so.
  std::vector<std::string> reasons;
};

// Logarithms of how fast points run.
struct LogSpeed {
  double told = 0;     // by the rows alone; NaN where there is no answer
  double physics = 0;  // without any rows
};
using LogSpeeds = std::function<std::vector<LogSpeed>(const std::vector<BenchRow>&)>;
// The process and the nearest sibling, as the weights say, with `goes_with` the value whose
// ratio the sibling is multiplied by; then never below the measured GPUs that the
// data sheet dominates, nor below GPUs without rows that it dominates, nor above the measured ones
// that dominate it, which count least. Points do not see each other: the answer for one is the same
// whatever else is asked.
std::vector<SheetEstimate> sheet_estimates(const std::vector<UnmeasuredPoint>& points,
                                           const FactBook& facts, double HardwareFacts::* goes_with,
                                           const WeightsOf& weights_of,
                                           const LogSpeeds& log_speeds);

}  // namespace assay
