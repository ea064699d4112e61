#pragma once

// Chain mining on bare kernel sequences (SKIP equations 6 to 8, spec/launch 3). Finds the windows
// of L kernels, the probability that the first kernel predicts the rest (proximity score, PS), and
// the number of disjoint windows with PS = 1. Exact, without hashing: one suffix array over all
// segments answers every length. Independent of traces.
//
// The window of length L at position i has PS = 1 if and only if L <= longest[k_i], where
// longest[k] is the longest common extension of all occurrences of kernel k inside their segments.
// Windows of one length are equally long, so a greedy choice from the left is optimal.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

// Segments one after the other: segment s is ids[offsets[s] .. offsets[s+1]). offsets starts with 0
// and ends with ids.size(). Ids are 0 .. distinct-1.
struct KernelSequences {
  std::vector<uint32_t> ids;
  std::vector<uint32_t> offsets = {0};
  uint32_t distinct = 0;

  size_t segments() const { return offsets.size() - 1; }
};

// Shared by all lengths. Positions are indices into KernelSequences::ids.
struct ChainIndex {
  std::vector<uint32_t> ids;        // kernel per position
  std::vector<uint32_t> remaining;  // per position: kernels from it to the end of its segment
  std::vector<uint32_t> count;      // f(k) per kernel, tails included
  std::vector<uint32_t> longest;    // per kernel: longest chain with PS = 1 that starts with it
  std::vector<uint32_t> order;      // positions, sorted by what follows them in their segment
  std::vector<uint32_t> lcp;        // kernels that order[i] and order[i-1] have in common
};

// O(n). At most 2^30 kernels and segments together.
ChainIndex index_chains(const KernelSequences& sequences);

struct WindowGroup {
  uint32_t position = 0;  // first window in mining order
  uint32_t count = 0;     // f(C), overlapping windows counted
  double proximity = 0;   // PS(C), Eq. 6
};

struct LengthStats {
  uint64_t unique = 0;           // distinct windows
  uint64_t total = 0;            // sum of f(C) = sum over segments of max(0, |S| - L + 1)
  uint64_t candidates = 0;       // distinct windows with PS >= threshold
  std::vector<WindowGroup> top;  // candidates by count descending, then position; at most max_top
};
LengthStats count_windows(const ChainIndex& index, uint32_t length, double threshold,
                          size_t max_top);

// C_fused: the most non-overlapping windows of this length with PS = 1. Kernels that occur fewer
// than min_count times start none: a kernel seen once proves nothing about what follows it.
uint64_t count_fused(const ChainIndex& index, uint32_t length, uint32_t min_count);

// Eq. 7: K_eager - C_fused (L - 1).
uint64_t fused_launches(uint64_t k_eager, uint64_t c_fused, uint32_t length);
// Eq. 8: K_eager / K_fused; 1 if both are 0.
double fusion_speedup(uint64_t k_eager, uint64_t k_fused);

struct PlannedChain {
  uint32_t position = 0;
  uint32_t length = 0;
};
// Non-overlapping chains with PS = 1 of any lengths that save the most launches (spec/launch 3,
// best_plan), in position order. O(n log n).
std::vector<PlannedChain> best_plan(const ChainIndex& index, uint32_t min_count);

}  // namespace assay
