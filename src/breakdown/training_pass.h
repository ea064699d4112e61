#pragma once

// Forward, backward and optimizer phases of a training step for which only kernels are known.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "breakdown/breakdown.h"
#include "breakdown/structure.h"

namespace assay {

// A run of layers in a sequence: units [begin, end).
struct SequenceBlock {
  size_t begin = 0;
  size_t end = 0;
  int32_t layers = 0;
  std::string name;
};

// A forward layer run and its backward run, which processes the layers in reverse order.
struct MirroredBlock {
  SequenceBlock forward;
  SequenceBlock backward;
};

struct TrainingPass {
  std::vector<LevelPhase> phase;  // per unit; empty = unknown
  std::vector<MirroredBlock> mirrored;
};

// If exactly one optimizer runs in the sequence, without a matrix product between its first and
// last kernel, it is the optimizer phase. The passes are known if the blocks before it pair up, the
// first with the last and so on, with equal numbers of layers. The first half is then the forward
// pass, the second the backward pass. Units before, between and after the blocks (embeddings, loss,
// gradient clipping, logging) stay unknown, as does any sequence without this structure.
TrainingPass find_training_pass(const std::vector<BlockUnit>& units,
                                std::vector<SequenceBlock> blocks);

}  // namespace assay
