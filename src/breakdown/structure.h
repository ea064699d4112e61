#pragma once

// Layers without labels or modules: the block of operators (or of replayed kernels) that repeats.

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
  size_t spare = 0;    // tokens after the last block that still repeat: the block may start later
  size_t covered() const { return period * repeats; }
};

// The repetition that covers most of the sequence; of about equal ones, that of the shortest block.
// Candidates are the most frequent distances between equal tokens, so the cost is that of sorting.
// A block has at least 3 tokens and comes at least 3 times, or twice where it covers half.
RepeatingBlock find_repeating_block(const std::vector<uint32_t>& tokens);

// Name-level element of a block.
struct BlockUnit {
  std::string name;  // operator or kernel
  OpType type = OpType::kOther;
  int64_t dur_ns = 0;  // device time
  bool step = false;   // ends or fills an iteration: an optimizer, a replay that has layers inside
};

// One layer of a sequence: units [begin, begin + length) are the part of a kind of layer that
// starts at its unit `from`. Layers at the ends of a run may lack their first or last units.
struct BlockLayer {
  size_t begin = 0;
  size_t length = 0;
  size_t kind = 0;
  size_t from = 0;
  int32_t number = 0;  // within its iteration
  // For each unit its index in the kind, if they are not consecutive; kNoUnit for one that the kind
  // lacks.
  std::vector<size_t> units = {};

  size_t unit_at(size_t k) const { return units.empty() ? from + k : units[k]; }
};
constexpr size_t kNoUnit = SIZE_MAX;
// The layers of a sequence, in order. A block that repeats may hold several layers that differ in a
// few units, such as one with sliding and one with full attention: these are kinds.
struct BlockLayers {
  size_t period = 0;                          // units of the block that repeats
  std::vector<std::vector<BlockUnit>> kinds;  // the units of each
  std::vector<BlockLayer> layers;
};
// Empty if nothing repeats that can be a layer. A layer contains matrix products or attention and a
// substantial part of the time, but no optimizer and no other layers. A sequence that repeats
// around layers is an iteration. tokens[i] identifies units[i].
BlockLayers find_block_layers(const std::vector<uint32_t>& tokens,
                              const std::vector<BlockUnit>& units);

// Names of the operations of a block: those of the paper for a block built like Llama's, else the
// unit's own with its place among equals, "aten::linear[2]".
std::vector<std::string> name_block(const std::vector<BlockUnit>& block);
bool is_norm_name(std::string_view name);

}  // namespace assay
