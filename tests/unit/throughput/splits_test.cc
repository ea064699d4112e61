#include "throughput/splits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "throughput/dataset.h"

namespace assay {
namespace {

// Hashes worked out by a Python script of five lines.
TEST(ThroughputSplits, HashesAreFnv1a64AndTheMurmurFinaliser) {
  EXPECT_EQ(fnv1a64(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(fnv1a64("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171f73967e8ULL);
  EXPECT_EQ(fmix64(fnv1a64("")), 0xefd01f60ba992926ULL);
  EXPECT_EQ(fmix64(fnv1a64("a")), 0x82a2a958a9bece5bULL);
  const char* group = "Nvidia H100 GPU|1|vLLM|meta-llama/Meta-Llama-3-8B|128|128";
  EXPECT_EQ(fnv1a64(group), 0x59797b17f7b949cbULL);
  EXPECT_EQ(fmix64(fnv1a64(group)), 0x99c358b695b1c0bcULL);
  EXPECT_EQ(fold_of(""), 2U);
  EXPECT_EQ(fold_of("a"), 0U);
  EXPECT_EQ(fold_of(group), 4U);
}

BenchRow row(const char* hardware, const char* model, double length, double batch) {
  BenchRow r;
  r.hardware = hardware;
  r.framework = "vLLM";
  r.model = model;
  r.in_len = length;
  r.out_len = length;
  r.batch = batch;
  r.tokens_per_s = 100 * batch;
  return r;
}

ThroughputData small_table() {
  BenchTable table;
  for (const char* model : {"a", "b", "c", "d"}) {
    for (const double length : {128., 512., 1024.}) {
      for (const double batch : {1., 32., 48., 64.}) {
        table.rows.push_back(row("H", model, length, batch));
      }
    }
  }
  return *make_throughput_data(table);
}

TEST(ThroughputSplits, RowsBetweenTheLimitsAreOnNeitherSide) {
  const ThroughputData data = small_table();
  const auto larger = make_split(data, "s3");
  ASSERT_TRUE(larger);
  ASSERT_EQ(larger->folds.size(), 1U);
  EXPECT_EQ(larger->folds[0].train.size(), 24U);  // 4 models x 3 lengths x batches 1, 32
  EXPECT_EQ(larger->folds[0].test.size(), 12U);   // batch 64; 48 is on neither side
  const auto longer = make_split(data, "S4");
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->folds[0].train.size(), 32U);
  EXPECT_EQ(longer->folds[0].test.size(), 16U);
}

TEST(ThroughputSplits, FoldsByHashKeepGroupsTogetherAndTestEveryRowOnce) {
  const ThroughputData data = small_table();
  for (const Split& split : make_splits(data)) {
    if (split.name == "S3" || split.name == "S4" || split.name == "S7") continue;
    std::vector<int> tested(data.rows.size(), 0);
    for (const SplitFold& fold : split.folds) {
      EXPECT_EQ(fold.train.size() + fold.test.size(), data.rows.size()) << split.name;
      for (const size_t i : fold.test) ++tested[i];
      if (split.name != "S1") continue;
      for (const size_t i : fold.test) {
        for (const size_t j : fold.train) EXPECT_NE(data.group[i], data.group[j]);
      }
    }
    EXPECT_EQ(std::count(tested.begin(), tested.end(), 1), static_cast<long>(tested.size()))
        << split.name;
  }
}

TEST(ThroughputSplits, ASplitThatTheDataCannotHaveHasNoFolds) {
  const ThroughputData data = small_table();
  EXPECT_TRUE(make_split(data, "S7")->folds.empty());  // one hardware only
  EXPECT_EQ(make_split(data, "S6")->folds.size(), 4U);
  EXPECT_EQ(make_split(data, "S6")->folds[0].name, "a");
  EXPECT_TRUE(make_split(data, "S8")->folds.empty());  // one campaign only
  const auto unknown = make_split(data, "S9");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("S1 to S8"), std::string::npos);
}

TEST(ThroughputSplits, ACampaignIsHeldOutAsAWhole) {
  ThroughputData data = small_table();
  for (size_t i = 0; i < data.rows.size(); ++i)
    data.rows[i].campaign = "engine|v1|day " + std::to_string(i % 7);
  const Split split = *make_split(data, "s8");
  EXPECT_EQ(split.held_out, HeldOut::kCampaign);
  EXPECT_GE(split.folds.size(), 2U);
  std::vector<int> tested(data.rows.size(), 0);
  for (const SplitFold& fold : split.folds) {
    for (const size_t i : fold.test) {
      ++tested[i];
      for (const size_t j : fold.train) EXPECT_NE(data.rows[i].campaign, data.rows[j].campaign);
    }
  }
  EXPECT_EQ(std::count(tested.begin(), tested.end(), 1), static_cast<long>(tested.size()));
}

// 4 models x 3 lengths x batches 1, 32, 48, 64.
TEST(ThroughputSplits, TrainingSetsHaveTheirShapes) {
  const std::vector<Split> sets = make_training_sets(small_table());
  ASSERT_EQ(sets.size(), 4U);
  const size_t expected[] = {
      4 * 3 * 2,  // batches 32 and 64
      4 * 2 * 2,  // lengths 512 and 1024, batches 48 and 64
      4 * 3 * 2,  // batches 1 and 32
      4 * 2 * 2,  // lengths 128 and 1024, batches 1 and 64
  };
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(sets[i].folds.size(), 1U) << sets[i].name;
    EXPECT_EQ(sets[i].folds[0].train.size(), expected[i]) << sets[i].name;
    EXPECT_EQ(sets[i].folds[0].test.size(), 48 - expected[i]) << sets[i].name;
  }
}

}  // namespace
}  // namespace assay
