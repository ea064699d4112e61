#pragma once

// Tests if a model fits a number of devices: memory for the weights and the cache of each sequence,
// and heads that divide evenly.

#include <string>
#include <vector>

#include "records/bench_table.h"
#include "records/facts.h"

namespace assay {

struct Placement {
  double weights_gb = 0;       // on all devices together
  double memory_gb = 0;        // of all devices
  double sequence_gb = 0;      // KV cache of one sequence at full length, replicas included
  double free_gb = 0;          // usable memory minus weights; negative if they do not fit
  double seats = 0;            // whole sequences that fit in free_gb; negative if that is
  double tensor_parallel = 1;  // devices that share each layer
};
// Number of copies of keys and values. With fewer heads than devices per layer, heads are
// replicated; so is the single latent vector of MLA.
double kv_copies(const BenchRow& row, const ModelFacts& model);

// At the row's precision; tensor parallel over all its devices if no layout is given. Nine tenths
// of the memory is usable, the default of engines. Weights take 3 % more than their bytes (buffers,
// unquantised parts).
Placement placement_of(const BenchRow& row, const ModelFacts& model, const HardwareFacts& hardware);

// Reasons why no engine can start with this configuration, whatever share of the memory it may use;
// empty if there are none.
std::vector<std::string> placement_problems(const BenchRow& row, const ModelFacts& model,
                                            const HardwareFacts& hardware);

}  // namespace assay
