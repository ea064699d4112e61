#pragma once

// Whether a model can be put on so many devices at all: memory for its weights and for what it
// keeps of each sequence, and heads that can be shared out.

#include <string>
#include <vector>

#include "records/bench_table.h"
#include "records/facts.h"

namespace assay {

struct Placement {
  double weights_gb = 0;       // on all devices together
  double memory_gb = 0;        // of all devices
  double sequence_gb = 0;      // keys and values of one sequence at its full length, with copies
  double free_gb = 0;          // of the share that is used, beside the weights; below 0: none
  double seats = 0;            // sequences that fit beside the weights; whole, below 0 never
  double tensor_parallel = 1;  // devices that share each layer
};
// How often keys and values are kept: heads that are fewer than the devices that share a layer are
// copied; so is the one latent vector of MLA.
double kv_copies(const BenchRow& row, const ModelFacts& model);

// With the row's precision; tensor parallel over all its devices where no layout is told. Nine
// tenths of the memory is used, as engines do by default, and weights take 3 % more than their
// bytes (buffers, what is not quantised).
Placement placement_of(const BenchRow& row, const ModelFacts& model, const HardwareFacts& hardware);

// Why no engine starts so, whatever share of the memory it is given; empty where nothing is against
// it.
std::vector<std::string> placement_problems(const BenchRow& row, const ModelFacts& model,
                                            const HardwareFacts& hardware);

}  // namespace assay
