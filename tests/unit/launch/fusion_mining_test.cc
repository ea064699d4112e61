// The worked tables of the fusion specification, on letters: "ABC|AB" is two segments.

#include "launch/fusion_mining.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

KernelSequences sequences(std::string_view letters) {
  KernelSequences result;
  for (char letter : letters) {
    if (letter == '|') {
      result.offsets.push_back(static_cast<uint32_t>(result.ids.size()));
    } else {
      result.ids.push_back(static_cast<uint32_t>(letter - 'A'));
    }
  }
  result.offsets.push_back(static_cast<uint32_t>(result.ids.size()));
  result.distinct = 26;
  return result;
}

struct ChainWindow {
  std::string text;
  uint32_t count;
  double proximity;
};

std::vector<ChainWindow> windows(const KernelSequences& input, uint32_t length, double threshold) {
  std::vector<ChainWindow> result;
  for (const WindowGroup& group :
       count_windows(index_chains(input), length, threshold, SIZE_MAX).top) {
    ChainWindow window{"", group.count, group.proximity};
    for (uint32_t i = 0; i < length; ++i) {
      window.text += static_cast<char>('A' + input.ids[group.position + i]);
    }
    result.push_back(window);
  }
  return result;
}

void expect_windows(const KernelSequences& input, uint32_t length,
                    const std::vector<ChainWindow>& expected) {
  const std::vector<ChainWindow> found = windows(input, length, 1e-9);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].text, expected[i].text);
    EXPECT_EQ(found[i].count, expected[i].count) << found[i].text;
    EXPECT_NEAR(found[i].proximity, expected[i].proximity, 5e-5) << found[i].text;
  }
}

struct FusionRow {
  uint32_t length;
  uint64_t unique;
  uint64_t total;
  uint64_t c_fused;
  uint64_t k_fused;
  double speedup;
};

void expect_row(std::string_view letters, uint64_t k_eager, const FusionRow& row) {
  const ChainIndex index = index_chains(sequences(letters));
  const LengthStats stats = count_windows(index, row.length, 1, 10);
  EXPECT_EQ(stats.unique, row.unique) << "L=" << row.length;
  EXPECT_EQ(stats.total, row.total) << "L=" << row.length;
  const uint64_t c_fused = count_fused(index, row.length, 1);
  EXPECT_EQ(c_fused, row.c_fused) << "L=" << row.length;
  const uint64_t k_fused = fused_launches(k_eager, c_fused, row.length);
  EXPECT_EQ(k_fused, row.k_fused) << "L=" << row.length;
  EXPECT_NEAR(fusion_speedup(k_eager, k_fused), row.speedup, 5e-7) << "L=" << row.length;
}

TEST(FuseMining, FirstWorkedTableWindows) {
  const KernelSequences input = sequences("ABCABCABD|ABC");
  expect_windows(input, 2, {{"AB", 4, 1}, {"BC", 3, .75}, {"CA", 2, .6667}, {"BD", 1, .25}});
  expect_windows(input, 3, {{"ABC", 3, .75}, {"BCA", 2, .5}, {"CAB", 2, .6667}, {"ABD", 1, .25}});
  expect_windows(input, 4,
                 {{"ABCA", 2, .5}, {"BCAB", 2, .5}, {"CABC", 1, .3333}, {"CABD", 1, .3333}});
}

TEST(FuseMining, FirstWorkedTableRows) {
  expect_row("ABCABCABD|ABC", 12, {2, 4, 10, 4, 8, 1.5});
  expect_row("ABCABCABD|ABC", 12, {3, 4, 8, 0, 12, 1});
  expect_row("ABCABCABD|ABC", 12, {4, 4, 6, 0, 12, 1});
}

TEST(FuseMining, SecondWorkedTableRows) {
  const std::string_view letters = "XABCDYABCDXABCDZ|ABCDX";
  expect_row(letters, 21, {2, 8, 19, 8, 13, 1.615385});
  expect_row(letters, 21, {3, 9, 17, 4, 13, 1.615385});
  expect_row(letters, 21, {4, 10, 15, 4, 9, 2.333333});
  expect_row(letters, 21, {5, 11, 13, 1, 17, 1.235294});
}

TEST(FuseMining, ASingletonChainCountsOnlyWithoutTheMinCountRule) {
  const ChainIndex index = index_chains(sequences("XABCDYABCDXABCDZ|ABCDX"));
  EXPECT_EQ(count_fused(index, 5, 1), 1u);  // YABCD
  EXPECT_EQ(count_fused(index, 5, 2), 0u);
  EXPECT_EQ(count_fused(index, 4, 2), 4u);  // ABCD
}

TEST(FuseMining, ARepeatedKernelPredictsNothing) {
  const KernelSequences input = sequences("AAAA");
  expect_windows(input, 2, {{"AA", 3, .75}});
  EXPECT_EQ(count_fused(index_chains(input), 2, 1), 0u);
}

TEST(FuseMining, CandidatesStartAtTheThreshold) {
  const ChainIndex index = index_chains(sequences("ABCABCABD|ABC"));
  EXPECT_EQ(count_windows(index, 2, 1, 10).candidates, 1u);
  EXPECT_EQ(count_windows(index, 2, 0.75, 10).candidates, 2u);  // BC is exactly there
  EXPECT_EQ(count_windows(index, 2, 0.7500001, 10).candidates, 1u);
  EXPECT_EQ(count_windows(index, 2, 0.2, 10).candidates, 4u);
  EXPECT_EQ(count_windows(index, 2, 0.2, 3).top.size(), 3u);
}

// SKIP Fig. 8: speed-up 2.7 with one fused chain of 256 implies 405 eager launches, 6.8 implies
// 299.
TEST(FuseMining, PaperSpeedupsFromOneLongChain) {
  EXPECT_EQ(fused_launches(405, 1, 256), 150u);
  EXPECT_NEAR(fusion_speedup(405, 150), 2.7, 1e-12);
  EXPECT_EQ(fused_launches(299, 1, 256), 44u);
  EXPECT_NEAR(fusion_speedup(299, 44), 6.8, 0.005);
  EXPECT_EQ(fused_launches(810, 2, 256), 300u);
  EXPECT_NEAR(fusion_speedup(810, 300), 2.7, 1e-12);
}

TEST(FuseMining, ChainsLongerThanTheRunSaveNothing) {
  const ChainIndex index = index_chains(sequences("ABCDE"));
  EXPECT_EQ(count_fused(index, 5, 1), 1u);
  EXPECT_EQ(count_fused(index, 6, 1), 0u);
  EXPECT_EQ(count_windows(index, 6, 1, 10).total, 0u);
  EXPECT_EQ(fusion_speedup(5, fused_launches(5, 0, 6)), 1);
}

TEST(FuseMining, EmptyInputAndEmptySegments) {
  for (std::string_view letters : {"", "|", "||A||"}) {
    const ChainIndex index = index_chains(sequences(letters));
    EXPECT_EQ(count_fused(index, 2, 1), 0u);
    EXPECT_EQ(count_windows(index, 2, 1, 10).unique, 0u);
    EXPECT_TRUE(best_plan(index, 1).empty());
  }
  EXPECT_EQ(fusion_speedup(0, 0), 1);
}

TEST(FuseMining, ThePlanMixesLengths) {
  // longest: A 3, D 4, E 3, F 2, C 1 (ends a segment), so three ABC and two DEFG.
  const std::vector<PlannedChain> plan =
      best_plan(index_chains(sequences("ABCDEFG|ABC|ABC|DEFG")), 2);
  ASSERT_EQ(plan.size(), 5u);
  uint64_t saved = 0;
  for (const PlannedChain& chain : plan) saved += chain.length - 1;
  EXPECT_EQ(saved, 12u);
  EXPECT_EQ(plan[0].position, 0u);
  EXPECT_EQ(plan[0].length, 3u);
  EXPECT_EQ(plan[1].position, 3u);
  EXPECT_EQ(plan[1].length, 4u);
}

// Naive early-exit comparison is quadratic on these.
TEST(FuseMining, ManyKernelsOfOneNameAndOfOnePeriod) {
  KernelSequences same;
  same.ids.assign(400'000, 0);
  same.offsets = {0, 400'000};
  same.distinct = 1;
  const ChainIndex index = index_chains(same);
  EXPECT_EQ(index.longest[0], 1u);
  EXPECT_EQ(count_windows(index, 256, 0.5, 10).unique, 1u);
  EXPECT_EQ(count_windows(index, 256, 0.5, 10).total, 399'745u);

  KernelSequences periodic;
  constexpr uint32_t kPeriod = 1000;
  for (uint32_t i = 0; i < 400'000; ++i) periodic.ids.push_back(i % kPeriod);
  periodic.offsets = {0, 400'000};
  periodic.distinct = kPeriod;
  const ChainIndex period_index = index_chains(periodic);
  EXPECT_EQ(period_index.longest[0], 1000u);
  EXPECT_EQ(period_index.longest[999], 1u);
  EXPECT_EQ(count_fused(period_index, 1000, 2), 400u);
  EXPECT_EQ(best_plan(period_index, 2).size(), 400u);
}

}  // namespace
}  // namespace assay
