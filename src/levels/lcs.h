#pragma once

// The longest common subsequence of two sequences of tokens (Myers, "An O(ND) Difference Algorithm
// and Its Variations", 1986, section 4b: linear space), for sequences that are nearly equal.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace assay {

// Positions of a common subsequence, rising in both. Nothing when more than `max_differences`
// tokens would have to be left out of the two together. Time O((n + m) * differences), memory
// O(n + m). The same input gives the same pairs.
std::optional<std::vector<std::pair<uint32_t, uint32_t>>> common_subsequence(
    std::span<const uint32_t> a, std::span<const uint32_t> b, size_t max_differences);

}  // namespace assay
