#pragma once

// Finds layers without labels or modules: repeating blocks of operators or of replayed kernels.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "breakdown/breakdown.h"

namespace assay {

// tokens[begin + k] == tokens[begin + k + period] throughout `repeats` blocks.
struct RepeatingBlock {
  size_t begin = 0;
  size_t period = 0;
  size_t repeats = 0;  // 0 = none found
  size_t spare = 0;    // tokens after the last block that continue the pattern: the block may start
                       // later
  size_t covered() const { return period * repeats; }
};

// The repetition that covers most of the sequence; among nearly equal ones, the shortest block.
// Candidate periods are the most frequent distances between equal tokens, so the cost is that of
// sorting. A block has at least 3 tokens and repeats at least 3 times, or twice if that covers half
// of the sequence.
RepeatingBlock find_repeating_block(const std::vector<uint32_t>& tokens);

// Element of a block.
struct BlockUnit {
  std::string name;  // operator or kernel
  OpType type = OpType::kOther;
  int64_t dur_ns = 0;  // device time
  bool step = false;   // ends or fills an iteration: an optimizer, or a replay that contains layers
};

// One layer of a sequence. Its units [begin, begin + length) match its kind from unit `from` on.
// Layers at the ends of a run may lack their first or last units.
struct BlockLayer {
  size_t begin = 0;
  size_t length = 0;
  size_t kind = 0;
  size_t from = 0;
  int32_t number = 0;  // within its iteration
  // For each unit its index in the kind, if not consecutive; kNoUnit if the kind lacks it.
  std::vector<size_t> units = {};

  size_t unit_at(size_t k) const { return units.empty() ? from + k : units[k]; }
};
constexpr size_t kNoUnit = SIZE_MAX;
// The layers of a sequence, in order. A repeating block may contain several layers that differ in a
// few units, such as sliding-window and full attention; each is a kind.
struct BlockLayers {
  size_t period = 0;                          // units of the repeating block
  std::vector<std::vector<BlockUnit>> kinds;  // the units of each
  std::vector<BlockLayer> layers;
};
// Empty if no repetition qualifies as layers. A layer contains matrix products or attention and a
// substantial part of the time, but no optimizer and no other layers. A sequence that repeats
// around layers is an iteration. tokens[i] identifies units[i].
BlockLayers find_block_layers(const std::vector<uint32_t>& tokens,
                              const std::vector<BlockUnit>& units);

// Operation names of a block: the paper's for a Llama-like block, otherwise the unit's name with
// its index among equal names, "aten::linear[2]".
std::vector<std::string> name_block(const std::vector<BlockUnit>& block);
bool is_norm_name(std::string_view name);

}  // namespace assay
