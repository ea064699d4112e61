#include "launch/fusion_mining.h"

#include <algorithm>
#include <queue>

#include "launch/suffix_array.h"

namespace assay {
namespace {

// T is a decimal typed by the user. f/count >= T must hold despite rounding (0.1 x 30 <= 3).
constexpr double kThresholdSlack = 1e-12;

// The segments, each followed by a unique separator, so that no common prefix crosses its end.
struct SeparatedText {
  std::vector<int32_t> symbols;
  std::vector<uint32_t> position;  // per symbol; unused for separators
  int32_t separators = 0;
};

SeparatedText separate(const KernelSequences& sequences) {
  SeparatedText text;
  text.separators = static_cast<int32_t>(sequences.segments());
  text.symbols.reserve(sequences.ids.size() + sequences.segments());
  text.position.reserve(text.symbols.capacity());
  for (size_t s = 0; s < sequences.segments(); ++s) {
    for (uint32_t i = sequences.offsets[s]; i < sequences.offsets[s + 1]; ++i) {
      text.symbols.push_back(static_cast<int32_t>(sequences.ids[i]) + text.separators);
      text.position.push_back(i);
    }
    text.symbols.push_back(static_cast<int32_t>(s));
    text.position.push_back(0);
  }
  return text;
}

std::vector<uint32_t> remaining_kernels(const KernelSequences& sequences) {
  std::vector<uint32_t> remaining(sequences.ids.size());
  for (size_t s = 0; s < sequences.segments(); ++s) {
    for (uint32_t i = sequences.offsets[s]; i < sequences.offsets[s + 1]; ++i) {
      remaining[i] = sequences.offsets[s + 1] - i;
    }
  }
  return remaining;
}

// All occurrences of a kernel are neighbours in the suffix order. Their common extension is
// therefore the minimum common prefix between neighbours; a single occurrence shares everything
// with itself.
std::vector<uint32_t> longest_chains(const ChainIndex& index) {
  std::vector<uint32_t> longest(index.count.size(), 0);
  for (size_t k = 0; k < index.order.size(); ++k) {
    const uint32_t position = index.order[k];
    const uint32_t kernel = index.ids[position];
    const bool first = k == 0 || index.ids[index.order[k - 1]] != kernel;
    longest[kernel] = first ? index.remaining[position] : std::min(longest[kernel], index.lcp[k]);
  }
  return longest;
}

bool more_frequent(const WindowGroup& a, const WindowGroup& b) {
  return a.count != b.count ? a.count > b.count : a.position < b.position;
}

}  // namespace

ChainIndex index_chains(const KernelSequences& sequences) {
  ChainIndex index;
  index.ids = sequences.ids;
  index.remaining = remaining_kernels(sequences);
  index.count.assign(sequences.distinct, 0);
  for (uint32_t id : sequences.ids) ++index.count[id];

  const SeparatedText text = separate(sequences);
  const auto alphabet = static_cast<int32_t>(text.separators + sequences.distinct);
  const std::vector<int32_t> order = suffix_array(text.symbols, alphabet);
  const std::vector<int32_t> lcp = common_prefixes(text.symbols, order);
  index.order.reserve(sequences.ids.size());
  index.lcp.reserve(sequences.ids.size());
  // Separators are the smallest symbols: their suffixes come first and are not windows.
  for (size_t k = text.separators; k < order.size(); ++k) {
    index.order.push_back(text.position[order[k]]);
    index.lcp.push_back(static_cast<uint32_t>(lcp[k]));
  }
  index.longest = longest_chains(index);
  return index;
}

LengthStats count_windows(const ChainIndex& index, uint32_t length, double threshold,
                          size_t max_top) {
  LengthStats stats;
  WindowGroup group;
  const auto close_group = [&] {
    if (group.count == 0) return;
    ++stats.unique;
    stats.total += group.count;
    const double of_first = index.count[index.ids[group.position]];
    group.proximity = group.count / of_first;
    if (group.count + kThresholdSlack * of_first < threshold * of_first) return;
    ++stats.candidates;
    stats.top.push_back(group);
  };
  for (size_t k = 0; k < index.order.size(); ++k) {
    const uint32_t position = index.order[k];
    if (index.remaining[position] < length) continue;
    if (group.count > 0 && index.lcp[k] >= length) {
      ++group.count;
      group.position = std::min(group.position, position);
      continue;
    }
    close_group();
    group = {position, 1, 0};
  }
  close_group();
  const size_t kept = std::min(max_top, stats.top.size());
  std::partial_sort(stats.top.begin(), stats.top.begin() + static_cast<std::ptrdiff_t>(kept),
                    stats.top.end(), more_frequent);
  stats.top.resize(kept);
  return stats;
}

uint64_t count_fused(const ChainIndex& index, uint32_t length, uint32_t min_count) {
  uint64_t fused = 0;
  for (size_t i = 0; i < index.ids.size();) {
    const uint32_t kernel = index.ids[i];
    const bool fits = index.longest[kernel] >= length && index.count[kernel] >= min_count;
    fused += fits ? 1 : 0;
    i += fits ? length : 1;
  }
  return fused;
}

uint64_t fused_launches(uint64_t k_eager, uint64_t c_fused, uint32_t length) {
  return k_eager - c_fused * (length - 1);
}

double fusion_speedup(uint64_t k_eager, uint64_t k_fused) {
  if (k_fused == 0) return 1;
  return static_cast<double>(k_eager) / static_cast<double>(k_fused);
}

std::vector<PlannedChain> best_plan(const ChainIndex& index, uint32_t min_count) {
  // saved[j]: most launches saved in the first j kernels. A chain from i may end at any j with i +
  // 2 <= j <= i + longest, and then saves saved[i] + (j - i - 1). Among the open starts, the one
  // with the largest saved[i] - i is therefore best for every j; a heap with lazy removal finds it.
  struct Start {
    int64_t key;
    uint32_t position;
    uint64_t last_end;
    bool operator<(const Start& other) const {
      return key != other.key ? key < other.key : position > other.position;
    }
  };
  const size_t n = index.ids.size();
  std::vector<int64_t> saved(n + 1, 0);
  std::vector<uint32_t> chain_length(n + 1, 0);
  std::priority_queue<Start> open;
  for (size_t j = 1; j <= n; ++j) {
    saved[j] = saved[j - 1];
    if (j < 2) continue;
    const size_t i = j - 2;
    const uint32_t kernel = index.ids[i];
    if (index.longest[kernel] >= 2 && index.count[kernel] >= min_count) {
      open.push({saved[i] - static_cast<int64_t>(i), static_cast<uint32_t>(i),
                 i + index.longest[kernel]});
    }
    while (!open.empty() && open.top().last_end < j) open.pop();
    if (open.empty()) continue;
    const int64_t with_chain = open.top().key + static_cast<int64_t>(j) - 1;
    if (with_chain <= saved[j]) continue;
    saved[j] = with_chain;
    chain_length[j] = static_cast<uint32_t>(j - open.top().position);
  }

  std::vector<PlannedChain> plan;
  for (size_t j = n; j > 0;) {
    if (chain_length[j] == 0) {
      --j;
      continue;
    }
    const uint32_t length = chain_length[j];
    j -= length;
    plan.push_back({static_cast<uint32_t>(j), length});
  }
  std::reverse(plan.begin(), plan.end());
  return plan;
}

}  // namespace assay
