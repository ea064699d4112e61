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
  std::vector<LevelPhase> phase;  // per unit; empty = not told
  std::vector<MirroredBlock> mirrored;
};

// Where one optimizer runs in the sequence, with no matrix product between its first and last
// kernel, that is its phase. The passes are told where the blocks before it come in pairs of
// equally many layers, the first with the last: the first half is the forward pass, the other the
// backward pass. What lies before, between and behind the blocks (embeddings, the loss, clipping of
// gradients, logging) is left open, and so is all of a sequence of which this is not clear.
TrainingPass find_training_pass(const std::vector<BlockUnit>& units,
                                std::vector<SequenceBlock> blocks);

}  // namespace assay
