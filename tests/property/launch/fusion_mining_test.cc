// Chain mining against definitions read literally (every window compared with every other), and the
// invariants of the specification, on thousands of small random inputs.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "launch/fusion_mining.h"
#include "launch/suffix_array.h"

namespace assay {
namespace {

using Segments = std::vector<std::vector<uint32_t>>;
using Word = std::vector<uint32_t>;

KernelSequences flatten(const Segments& segments, uint32_t distinct) {
  KernelSequences result;
  result.distinct = distinct;
  for (const Word& segment : segments) {
    result.ids.insert(result.ids.end(), segment.begin(), segment.end());
    result.offsets.push_back(static_cast<uint32_t>(result.ids.size()));
  }
  return result;
}

std::map<Word, uint64_t> all_windows(const Segments& segments, size_t length) {
  std::map<Word, uint64_t> counts;
  for (const Word& segment : segments) {
    for (size_t i = 0; i + length <= segment.size(); ++i) {
      ++counts[Word(segment.begin() + i, segment.begin() + i + length)];
    }
  }
  return counts;
}

// Position of the first window with these kernels inside one segment.
size_t first_position(const KernelSequences& input, const Word& window) {
  for (size_t s = 0; s < input.segments(); ++s) {
    const auto begin = input.ids.begin() + input.offsets[s];
    const auto end = input.ids.begin() + input.offsets[s + 1];
    const auto found = std::search(begin, end, window.begin(), window.end());
    if (found != end) return found - input.ids.begin();
  }
  return input.ids.size();
}

std::map<uint32_t, uint64_t> all_kernels(const Segments& segments) {
  std::map<uint32_t, uint64_t> counts;
  for (const Word& segment : segments) {
    for (uint32_t kernel : segment) ++counts[kernel];
  }
  return counts;
}

// Most non-overlapping windows with PS = 1, by trying both choices at every position.
uint64_t best_packing(const Segments& segments, size_t length, uint64_t min_count) {
  const auto windows = all_windows(segments, length);
  const auto kernels = all_kernels(segments);
  uint64_t total = 0;
  for (const Word& segment : segments) {
    std::vector<uint64_t> best(segment.size() + 1, 0);
    for (size_t i = segment.size(); i-- > 0;) {
      best[i] = best[i + 1];
      if (i + length > segment.size()) continue;
      const uint64_t occurrences = kernels.at(segment[i]);
      const Word window(segment.begin() + i, segment.begin() + i + length);
      const bool fusable = windows.at(window) == occurrences && occurrences >= min_count;
      if (fusable) best[i] = std::max(best[i], 1 + best[i + length]);
    }
    total += best[0];
  }
  return total;
}

// Most launches saved by non-overlapping windows with PS = 1 of any length.
uint64_t best_saving(const Segments& segments, uint64_t min_count) {
  const auto kernels = all_kernels(segments);
  size_t longest = 0;
  for (const Word& segment : segments) longest = std::max(longest, segment.size());
  std::vector<std::map<Word, uint64_t>> windows(longest + 1);
  for (size_t length = 2; length <= longest; ++length) {
    windows[length] = all_windows(segments, length);
  }
  uint64_t total = 0;
  for (const Word& segment : segments) {
    std::vector<uint64_t> best(segment.size() + 1, 0);
    for (size_t i = segment.size(); i-- > 0;) {
      best[i] = best[i + 1];
      const uint64_t occurrences = kernels.at(segment[i]);
      for (size_t length = 2; occurrences >= min_count && i + length <= segment.size(); ++length) {
        const Word window(segment.begin() + i, segment.begin() + i + length);
        if (windows[length].at(window) != occurrences) continue;
        best[i] = std::max(best[i], length - 1 + best[i + length]);
      }
    }
    total += best[0];
  }
  return total;
}

class RandomKernelSegments : public ::testing::TestWithParam<int> {
 protected:
  // Repeats of a few random phrases, with noise: plain random letters hardly ever repeat.
  Segments next() {
    distinct_ = 2 + rng_() % 8;
    std::vector<Word> phrases(1 + rng_() % 3);
    for (Word& phrase : phrases) {
      phrase.resize(1 + rng_() % 6);
      for (uint32_t& kernel : phrase) kernel = rng_() % distinct_;
    }
    Segments segments(1 + rng_() % 4);
    for (Word& segment : segments) {
      for (size_t n = rng_() % 6; n > 0; --n) {
        const Word& phrase = phrases[rng_() % phrases.size()];
        segment.insert(segment.end(), phrase.begin(), phrase.end());
        if (rng_() % 4 == 0) segment.push_back(rng_() % distinct_);
      }
    }
    return segments;
  }

  std::mt19937 rng_{static_cast<uint32_t>(GetParam())};
  uint32_t distinct_ = 0;
};

TEST_P(RandomKernelSegments, MatchBruteForce) {
  for (int round = 0; round < 200; ++round) {
    const Segments segments = next();
    const KernelSequences input = flatten(segments, distinct_);
    const ChainIndex index = index_chains(input);
    const auto kernels = all_kernels(segments);
    for (uint32_t length = 2; length <= 7; ++length) {
      const auto expected = all_windows(segments, length);
      const double threshold = (1 + rng_() % 10) / 10.0;
      const LengthStats found = count_windows(index, length, threshold, SIZE_MAX);
      uint64_t total = 0;
      uint64_t candidates = 0;
      for (const auto& [window, count] : expected) {
        total += count;
        const auto of_first = static_cast<double>(kernels.at(window[0]));
        if (static_cast<double>(count) >= threshold * of_first - 1e-9) ++candidates;
      }
      ASSERT_EQ(found.unique, expected.size());
      ASSERT_EQ(found.total, total);
      ASSERT_EQ(found.candidates, candidates);
      for (const WindowGroup& group : found.top) {
        const Word window(input.ids.begin() + group.position,
                          input.ids.begin() + group.position + length);
        ASSERT_EQ(group.count, expected.at(window));
        ASSERT_EQ(group.position, first_position(input, window));
        ASSERT_GT(group.proximity, 0);
        ASSERT_LE(group.proximity, 1);
      }
      for (uint32_t min_count : {1u, 2u}) {
        ASSERT_EQ(count_fused(index, length, min_count), best_packing(segments, length, min_count));
      }
    }
  }
}

TEST_P(RandomKernelSegments, PlanSavesWhatBruteForceSaves) {
  for (int round = 0; round < 100; ++round) {
    const Segments segments = next();
    const ChainIndex index = index_chains(flatten(segments, distinct_));
    for (uint32_t min_count : {1u, 2u}) {
      uint64_t saved = 0;
      uint64_t end = 0;
      for (const PlannedChain& chain : best_plan(index, min_count)) {
        ASSERT_GE(chain.position, end);
        ASSERT_LE(chain.length, index.longest[index.ids[chain.position]]);
        end = chain.position + chain.length;
        saved += chain.length - 1;
      }
      ASSERT_EQ(saved, best_saving(segments, min_count));
    }
  }
}

TEST_P(RandomKernelSegments, KeepTheInvariants) {
  for (int round = 0; round < 100; ++round) {
    const Segments segments = next();
    const KernelSequences input = flatten(segments, distinct_);
    const ChainIndex index = index_chains(input);
    const uint64_t k_eager = input.ids.size();

    Segments twice = segments;
    twice.insert(twice.end(), segments.begin(), segments.end());
    const ChainIndex doubled = index_chains(flatten(twice, distinct_));

    Segments renamed = segments;
    for (Word& segment : renamed) {
      for (uint32_t& kernel : segment) kernel = distinct_ - 1 - kernel;
    }
    const ChainIndex bijected = index_chains(flatten(renamed, distinct_));

    for (uint32_t length = 2; length <= 7; ++length) {
      const LengthStats stats = count_windows(index, length, 0.5, SIZE_MAX);
      uint64_t total = 0;
      for (const Word& segment : segments) {
        total += segment.size() >= length ? segment.size() - length + 1 : 0;
      }
      ASSERT_EQ(stats.total, total);

      const uint64_t c_fused = count_fused(index, length, 1);
      ASSERT_LE(c_fused * length, k_eager);
      const uint64_t k_fused = fused_launches(k_eager, c_fused, length);
      ASSERT_GE(k_fused * length, k_eager);
      ASSERT_GE(fusion_speedup(k_eager, k_fused), 1);
      ASSERT_LE(fusion_speedup(k_eager, k_fused), length);

      const LengthStats doubled_stats = count_windows(doubled, length, 0.5, SIZE_MAX);
      ASSERT_EQ(doubled_stats.unique, stats.unique);
      ASSERT_EQ(doubled_stats.total, 2 * stats.total);
      ASSERT_EQ(doubled_stats.candidates, stats.candidates);
      ASSERT_EQ(doubled_stats.top.size(), stats.top.size());
      for (size_t i = 0; i < stats.top.size(); ++i) {
        ASSERT_EQ(doubled_stats.top[i].position, stats.top[i].position);
        ASSERT_EQ(doubled_stats.top[i].count, 2 * stats.top[i].count);
        ASSERT_DOUBLE_EQ(doubled_stats.top[i].proximity, stats.top[i].proximity);
      }
      ASSERT_EQ(count_fused(doubled, length, 1), 2 * c_fused);
      ASSERT_DOUBLE_EQ(
          fusion_speedup(2 * k_eager, fused_launches(2 * k_eager, 2 * c_fused, length)),
          fusion_speedup(k_eager, k_fused));

      const LengthStats bijected_stats = count_windows(bijected, length, 0.5, SIZE_MAX);
      ASSERT_EQ(bijected_stats.unique, stats.unique);
      ASSERT_EQ(bijected_stats.candidates, stats.candidates);
      ASSERT_EQ(count_fused(bijected, length, 1), c_fused);
    }
  }
}

TEST_P(RandomKernelSegments, SplittingASegmentOnlyLowersCounts) {
  for (int round = 0; round < 100; ++round) {
    const Segments segments = next();
    Segments split = segments;
    Word& victim = split[rng_() % split.size()];
    const size_t cut = victim.empty() ? 0 : rng_() % victim.size();
    const Word tail(victim.begin() + cut, victim.end());
    victim.resize(cut);
    split.push_back(tail);
    const KernelSequences input = flatten(split, distinct_);
    const ChainIndex index = index_chains(input);
    for (uint32_t length = 2; length <= 7; ++length) {
      const auto before = all_windows(segments, length);
      for (const WindowGroup& group : count_windows(index, length, 1e-9, SIZE_MAX).top) {
        const Word window(input.ids.begin() + group.position,
                          input.ids.begin() + group.position + length);
        ASSERT_LE(group.count, before.at(window));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomKernelSegments, ::testing::Range(1, 31));

TEST(SuffixArray, SortsAllSuffixesAndMeasuresWhatNeighboursShare) {
  std::mt19937 rng(7);
  for (int round = 0; round < 3000; ++round) {
    const int32_t alphabet = 1 + static_cast<int32_t>(rng() % 4);
    std::vector<int32_t> text(rng() % 40);
    for (int32_t& symbol : text) symbol = static_cast<int32_t>(rng() % alphabet);
    std::vector<int32_t> expected(text.size());
    for (size_t i = 0; i < text.size(); ++i) expected[i] = static_cast<int32_t>(i);
    std::sort(expected.begin(), expected.end(), [&](int32_t a, int32_t b) {
      return std::lexicographical_compare(text.begin() + a, text.end(), text.begin() + b,
                                          text.end());
    });
    const std::vector<int32_t> order = suffix_array(text, alphabet);
    ASSERT_EQ(order, expected);
    const std::vector<int32_t> lcp = common_prefixes(text, order);
    for (size_t k = 1; k < order.size(); ++k) {
      int32_t length = 0;
      const int32_t a = order[k - 1];
      const int32_t b = order[k];
      const auto n = static_cast<int32_t>(text.size());
      while (a + length < n && b + length < n && text[a + length] == text[b + length]) ++length;
      ASSERT_EQ(lcp[k], length);
    }
  }
}

}  // namespace
}  // namespace assay
