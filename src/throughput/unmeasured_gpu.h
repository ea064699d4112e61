#pragma once

// Estimates for GPUs without rows under an engine. They combine the Gaussian process with the
// vendor's nearest measured GPU, scaled by the data sheets. The order of the data sheets bounds
// each estimate unless rows contradict it. Spec page planner, 3.1. Shared by throughput and
// latencies.

#include <functional>
#include <string>
#include <vector>

#include "records/bench_table.h"
#include "records/facts.h"
#include "throughput/data_sheets.h"

namespace assay {

// Adds the GPU unless one with the same specifications is in the list.
void note_gpu(const HardwareFacts* facts, const std::string& name, MeasuredGpus& gpus);

// Weights of the nearest sibling against the Gaussian process, in logarithms: its speed times the
// ratio of one data-sheet value, and times the analytical ratio. The process has the remaining
// weight.
struct SiblingWeights {
  double by_sheet = 0;
  double by_physics = 0;

  double sum() const { return by_sheet + by_physics; }
};

// A point on a GPU that is not in `measured`, the GPUs with rows of its engine.
struct UnmeasuredPoint {
  BenchRow row;
  const HardwareFacts* hardware = nullptr;
  const MeasuredGpus* measured = nullptr;
};
// Weights for a GPU without rows under the engine.
using WeightsOf =
    std::function<SiblingWeights(const HardwareFacts& gpu, const std::string& engine)>;

struct SheetEstimate {
  double log_factor = 0;   // correction of the process's speed
  std::string sibling;     // the nearest GPU of the vendor; empty if there is none
  double log_sibling = 0;  // baseline: log(sibling x data-sheet ratio / process); 0
                           // without
  // The sibling's weight, and the reason if the order moved the estimate; empty if neither applies.
  std::vector<std::string> reasons;
};

// Log speeds of a point.
struct LogSpeed {
  double told = 0;     // by the process; NaN if there is no answer
  double physics = 0;  // by the analytical model alone
};
using LogSpeeds = std::function<std::vector<LogSpeed>(const std::vector<BenchRow>&)>;
// Combines the process and the nearest sibling by the weights; `goes_with` is the data-sheet value
// that scales the sibling. The result is not below the measured GPUs that the data sheet dominates,
// nor below dominated GPUs without rows, nor above the measured ones that dominate it. The last
// bound has the lowest priority. Points are independent: other queries do not change an answer.
std::vector<SheetEstimate> sheet_estimates(const std::vector<UnmeasuredPoint>& points,
                                           const FactBook& facts, double HardwareFacts::* goes_with,
                                           const WeightsOf& weights_of,
                                           const LogSpeeds& log_speeds);

}  // namespace assay
