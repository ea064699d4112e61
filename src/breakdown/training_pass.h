#pragma once

// Forward, backward and optimizer of a training step of which only kernels are known.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "breakdown/breakdown.h"
#include "breakdown/structure.h"

namespace assay {

// Layers that were found in a sequence: its units [begin, end).
struct SequenceBlock {
  size_t begin = 0;
  size_t end = 0;
  int32_t layers = 0;
  std::string name;
};

// The backward pass goes through the layers of the forward pass in the other direction.
struct MirroredBlock {
  SequenceBlock forward;
  SequenceBlock backward;
};

struct TrainingPass {
  std::vector<LevelPhase> phase;  // per unit; empty = unknown
  std::vector<MirroredBlock> mirrored;
};

// If one optimizer runs in the sequence, without a matrix product between its first and last
// kernel, that is its phase. The passes are known if the blocks before it come in pairs with equal
// numbers of layers, the first paired with the last. The first half is then the forward pass, the
// other the backward pass. Units before, between and after the blocks (embeddings, the loss,
// clipping of gradients, logging) stay unknown. So does any sequence without this clear structure.
TrainingPass find_training_pass(const std::vector<BlockUnit>& units,
                                std::vector<SequenceBlock> blocks);

}  // namespace assay
