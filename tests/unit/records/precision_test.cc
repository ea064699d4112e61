#include "records/precision.h"

#include <gtest/gtest.h>

#include "records/bench_table.h"

namespace assay {
namespace {

TEST(Precision, WordsGiveTheBytesOfAWeight) {
  const std::pair<const char*, double> expected[] = {
      {"fp8", 1},       {"FP8 (E4M3)", 1},  {"fp32", 4},
      {"bfloat16", 2},  {"w8a8", 1},        {"int8", 1},
      {"gptq-int8", 1}, {"awq", 0.52},      {"AWQ, bfloat16", 0.52},
      {"w4a16", 0.52},  {"mxfp4", 0.53125}, {"nvfp4", 0.5625},
      {"Q4_0", 0.5625}, {"q8_0", 1.0625}};
  for (const auto& [words, bytes] : expected) {
    EXPECT_TRUE(precision_of(words).told) << words;
    EXPECT_DOUBLE_EQ(precision_of(words).weight_bytes, bytes) << words;
  }
}

TEST(Precision, AssumesSixteenBitsIfThereIsNoWord) {
  for (const char* words : {"", "Tensor Parallelism", "auto", "tp8 ep8", "fp", "v0.8.4"}) {
    EXPECT_FALSE(precision_of(words).told) << words;
    EXPECT_EQ(precision_of(words).weight_bytes, 2) << words;
  }
}

TEST(Precision, TheCacheHasItsOwnWord) {
  EXPECT_EQ(precision_of("fp8").kv_bytes, 2);
  EXPECT_EQ(precision_of("kv fp8").kv_bytes, 1);
  EXPECT_FALSE(precision_of("kv fp8").told);
  const Precision both = precision_of("kv fp8_e5m2, int4");
  EXPECT_EQ(both.kv_bytes, 1);
  EXPECT_DOUBLE_EQ(both.weight_bytes, 0.52);
}

TEST(Precision, TheCacheOfAModelNameCountsUnlessTheVariantNamesOne) {
  EXPECT_EQ(precision_of("", "llama fp16 kv fp8").kv_bytes, 1);
  EXPECT_EQ(precision_of("", "llama-fp32").kv_bytes, 4);
  EXPECT_EQ(precision_of("kv fp16", "llama fp16 kv fp8").kv_bytes, 2);
}

TEST(Precision, ModelNameReplacesAMissingVariant) {
  BenchRow row;
  row.model = "someone/Llama-3-70B-AWQ";
  settle_precision(row);
  EXPECT_DOUBLE_EQ(row.precision.weight_bytes, 0.52);
  row.variant.words = "kv fp8";
  settle_precision(row);
  EXPECT_DOUBLE_EQ(row.precision.weight_bytes, 0.52);
  EXPECT_EQ(row.precision.kv_bytes, 1);
  row.variant.words = "fp16";
  settle_precision(row);
  EXPECT_EQ(row.precision.weight_bytes, 2);
  EXPECT_TRUE(row.precision.told);
  EXPECT_EQ(unmeasured_like(row).precision.weight_bytes, 2);
}

}  // namespace
}  // namespace assay
