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
  double sequence_gb = 0;      // keys and values of one sequence at its full length, with copies
  double free_gb = 0;          // of the usable share, after the weights; below 0 = they do not fit
  double seats = 0;            // sequences that fit with the weights; integer, never below 0
  double tensor_parallel = 1;  // devices that share each layer
};
// Number of copies of keys and values. With fewer heads than devices per layer, heads are
// replicated; so is the single latent vector of MLA.
double kv_copies(const BenchRow& row, const ModelFacts& model);

// At the row's precision; tensor parallel over all its devices if no layout is given. Nine tenths
// of the memory is usable, the default of engines. Weights take 3 % more than their bytes (buffers,
// unquantised parts).
Placement placement_of(const BenchRow& row, const ModelFacts& model, const HardwareFacts& hardware);

// Why no engine starts so, whatever share of the memory it is given; empty where nothing is against
// it.
std::vector<std::string> placement_problems(const BenchRow& row, const ModelFacts& model,
                                            const HardwareFacts& hardware);

}  // namespace assay
