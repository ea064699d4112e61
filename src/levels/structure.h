#pragma once

// Layers without labels or modules: the block of operators (or of replayed kernels) that repeats.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "levels/levels.h"

namespace assay {

// tokens[begin + k] == tokens[begin + k + period] throughout `repeats` blocks.
struct RepeatingBlock {
  size_t begin = 0;
  size_t period = 0;
  size_t repeats = 0;  // 0 = none found
  size_t spare = 0;    // tokens behind the last block that still repeat: the block may start later
  size_t covered() const { return period * repeats; }
};

// The repetition that covers most of the sequence; of about equal ones, that of the shortest block.
// Candidates are the most frequent distances between equal tokens, so the cost is that of sorting.
// A block has at least 3 tokens and comes at least 3 times, or twice where it covers half.
RepeatingBlock find_repeating_block(const std::vector<uint32_t>& tokens);

// One element of a block as far as its name is concerned.
struct BlockUnit {
  std::string name;  // operator or kernel
  OpType type = OpType::kOther;
  int64_t dur_ns = 0;  // device time
};
// Names of the operations of a block: those of the paper for a block built like Llama's, else the
// unit's own with its place among equals, "aten::linear[2]".
std::vector<std::string> name_block(const std::vector<BlockUnit>& block);
bool is_norm_name(std::string_view name);

}  // namespace assay
