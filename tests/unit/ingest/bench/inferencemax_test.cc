// Keys of InferenceMAX's result files, one object per run.

#include <gtest/gtest.h>

#include "support/bench_file.h"

namespace assay {
namespace {

class InferenceMax : public testing::BenchFile {
 protected:
  static std::string run(const std::string& changed = "") {
    return R"({"hw":"h200","tp":8,"ep":1,"dp_attention":"false","conc":16,
"image":"vllm/vllm-openai:v0.11.0","model":"openai/gpt-oss-120b","infmax_model_prefix":"gptoss",
"framework":"vllm","precision":"fp4","spec_decoding":"none","disagg":false,"isl":1024,"osl":1024,
"is_multinode":false,"tput_per_gpu":494.5,"output_tput_per_gpu":247.25,"input_tput_per_gpu":247.25,
"mean_ttft":0.1,"median_ttft":0.09,"p99_ttft":0.2,"mean_tpot":0.008,"mean_intvty":125.0,
"mean_e2el":8.284,"date":"2026-04-17")" +
           changed + "}";
  }
};

// 494.5 tokens/s of each of eight GPUs, prompts and answers together; times in seconds.
TEST_F(InferenceMax, ReadsSecondsAndTokensPerGpu) {
  const auto table = read("[" + run() + "]\n");
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->format, "inferencemax");
  ASSERT_EQ(table->rows.size(), 1U);
  const BenchRow& row = table->rows[0];
  EXPECT_EQ(row.hardware, "h200");
  EXPECT_EQ(row.devices, 8);
  EXPECT_EQ(row.framework, "vLLM");
  EXPECT_EQ(row.model, "openai/gpt-oss-120b");
  EXPECT_EQ(row.in_len, 1024);
  EXPECT_EQ(row.out_len, 1024);
  EXPECT_EQ(row.batch, 16);
  EXPECT_DOUBLE_EQ(row.ttft_ms, 100);
  EXPECT_DOUBLE_EQ(row.tpot_ms, 8);
  EXPECT_DOUBLE_EQ(row.latency_s, 8.284);
  EXPECT_DOUBLE_EQ(row.tokens_per_s, 3956);
  EXPECT_DOUBLE_EQ(row.output_tokens_per_s, 1978);
  EXPECT_EQ(row.variant.text(), "fp4, v0.11.0");
  EXPECT_EQ(row.campaign, "vLLM|v0.11.0|2026-04-17");
  EXPECT_EQ(count(*table, "identity_failed"), 0U);
}

// Experts and attention replicas lie on the GPUs of tensor parallelism: eight, not 64.
TEST_F(InferenceMax, CountsTheGpusOfTensorParallelismOnce) {
  const auto table = read(run(R"(,"ep":8,"dp_attention":"true","spec_decoding":"mtp")") + "\n");
  ASSERT_TRUE(table) << table.error().describe();
  const BenchRow& row = table->rows.at(0);
  EXPECT_EQ(row.devices, 8);
  EXPECT_EQ(row.variant.words, "fp4, mtp");
  EXPECT_EQ(row.variant.layout, (ParallelLayout{.tensor = 1, .data = 8, .expert = 8}));
}

TEST_F(InferenceMax, DropsByNameWhatHasNoOneShape) {
  const auto table =
      read("[" + run() + "," + run(R"(,"disagg":true)") + "," + run(R"(,"is_multinode":"true")") +
           "," + run(R"(,"isl":null,"osl":null)") + "]\n");
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->rows.size(), 1U);
  for (const char* code : {"disaggregated", "several_nodes", "no_fixed_lengths"})
    EXPECT_EQ(count(*table, code), 1U) << code;
  const auto none = read(run(R"(,"disagg":true)") + "\n");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("disaggregated"), std::string::npos);
}

// As vLLM's own runs write them: "device", a time behind the day, flags as text, no end to end.
TEST_F(InferenceMax, ReadsRunsThatNameTheirDevice) {
  const auto table =
      read(R"([{"conc":8,"date":"2026-09-30 17:44:42","device":"mi300x","disagg":"false",
"dp_attention":"false","ep":1,"framework":"vllm","image":"vllm/vllm-openai-rocm:nightly-ac68c30",
"input_tput_per_gpu":130.0,"is_multinode":"false","isl":1024,"mean_tpot":0.12,"mean_ttft":2.84,
"model":"moonshotai/Kimi-K2.5","nightly":true,"osl":1024,"output_tput_per_gpu":130.0,
"precision":"bf16","spec_decoding":"false","tp":8,"tput_per_gpu":260.0}])");
  ASSERT_TRUE(table) << table.error().describe();
  const BenchRow& row = table->rows.at(0);
  EXPECT_EQ(row.hardware, "mi300x");
  EXPECT_EQ(row.devices, 8);
  EXPECT_EQ(row.variant.text(), "bf16, vnightly-ac68c30");
  EXPECT_EQ(row.campaign, "vLLM|vnightly-ac68c30|2026-09-30");
  EXPECT_DOUBLE_EQ(row.tokens_per_s, 2080);
}

TEST_F(InferenceMax, ReportsInconsistentSums) {
  const auto table = read(run(R"(,"tput_per_gpu":600)") + "\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(count(*table, "identity_failed"), 1U);
}

}  // namespace
}  // namespace assay
