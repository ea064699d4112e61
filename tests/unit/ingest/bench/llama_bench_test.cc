// Fields as llama.cpp's tools/llama-bench/README.md shows them; values made up.

#include <gtest/gtest.h>

#include "support/bench_file.h"

namespace assay {
namespace {

class LlamaBench : public testing::BenchFile {};

std::string test(const char* numbers, const char* gpu = "NVIDIA GeForce RTX 4090") {
  return std::string(
             R"({"build_commit":"8cf427ff","build_number":5163,"cpu_info":"A CPU","gpu_info":")") +
         gpu +
         R"(","backends":"CUDA","model_filename":"models/Qwen2.5-7B-Instruct-Q4_K_M.gguf",
 "model_type":"qwen2 7B Q4_K - Medium","model_size":4677120000,"n_batch":2048,"n_ubatch":512,
 "n_threads":8,"type_k":"f16","type_v":"f16","n_gpu_layers":-1,"split_mode":"layer",
 "test_time":"2025-04-24T11:58:50Z",)" +
         numbers + "}";
}

// A prompt of 512 tokens in 72 ms and an answer of 128 in 1.088 s: 8.5 ms a token, 72 + 127 x 8.5 =
// 1151.5 ms for 640 tokens.
TEST_F(LlamaBench, OneRunIsThePromptAndTheAnswer) {
  const auto table = read(
      "[" + test(R"("n_prompt":512,"n_gen":0,"n_depth":0,"avg_ns":72000000,"avg_ts":7111.1)") +
      "," + test(R"("n_prompt":0,"n_gen":128,"n_depth":0,"avg_ns":1088000000,"avg_ts":117.6)") +
      "," + test(R"("n_prompt":512,"n_gen":128,"n_depth":0,"avg_ns":1160000000,"avg_ts":551.7)") +
      "]\n");
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->format, "llama-bench");
  ASSERT_EQ(table->rows.size(), 1U);
  const BenchRow& row = table->rows[0];
  EXPECT_EQ(row.hardware, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(row.devices, 1);
  EXPECT_EQ(row.framework, "llama.cpp");
  EXPECT_EQ(row.model, "Qwen2.5-7B-Instruct");
  EXPECT_EQ(row.variant.text(), "q4_k_m, v8cf427ff");
  EXPECT_DOUBLE_EQ(row.precision.weight_bytes, 4.5 / 8);
  EXPECT_EQ(row.date, "2025-04-24");
  EXPECT_EQ(row.in_len, 512);
  EXPECT_EQ(row.out_len, 128);
  EXPECT_EQ(row.batch, 512);  // tokens of the prompt at a time
  EXPECT_DOUBLE_EQ(row.ttft_ms, 72);
  EXPECT_DOUBLE_EQ(row.tpot_ms, 8.5);
  EXPECT_DOUBLE_EQ(row.latency_s, 1.1515);
  EXPECT_NEAR(row.tokens_per_s, 640 / 1.1515, 1e-9);
  EXPECT_EQ(count(*table, "answer_without_context"), 1U);
  EXPECT_EQ(count(*table, "prompt_and_answer_together"), 1U);
}

// Where an answer behind the prompt's context was tested, that one is the run's.
TEST_F(LlamaBench, UsesTheAnswerAfterThePromptsContext) {
  const auto table =
      read(test(R"("n_prompt":512,"n_gen":0,"n_depth":0,"avg_ns":72000000)") + "\n" +
           test(R"("n_prompt":0,"n_gen":128,"n_depth":0,"avg_ns":1088000000)") + "\n" +
           test(R"("n_prompt":0,"n_gen":128,"n_depth":512,"avg_ns":1152000000)") + "\n" +
           test(R"("n_prompt":512,"n_gen":0,"n_depth":512,"avg_ns":80000000)") + "\n");
  ASSERT_TRUE(table) << table.error().describe();
  ASSERT_EQ(table->rows.size(), 1U);
  EXPECT_DOUBLE_EQ(table->rows[0].tpot_ms, 9);
  EXPECT_EQ(count(*table, "answer_without_context"), 0U);
  EXPECT_EQ(count(*table, "half_of_a_run"), 1U);
  EXPECT_EQ(count(*table, "context_already_there"), 1U);
}

TEST_F(LlamaBench, CsvQuotesEveryCellAndTwoGpusAreTwo) {
  const std::string head =
      "build_commit,gpu_info,cpu_info,backends,model_filename,n_batch,n_ubatch,n_threads,type_k,"
      "type_v,n_gpu_layers,n_prompt,n_gen,test_time,avg_ns,avg_ts\n";
  const std::string same =
      "\"8cf4\",\"NVIDIA A10, NVIDIA A10\",\"A CPU\",\"CUDA\",\"m/Llama-3-8B-F16.gguf\",\"256\","
      "\"512\",\"8\",\"q8_0\",\"q8_0\",\"99\",";
  const auto table =
      read(head + same + "\"1024\",\"0\",\"2025-04-24T11:57:09Z\",\"100000000\",\"1\"\n" + same +
           "\"0\",\"64\",\"2025-04-24T11:57:09Z\",\"640000000\",\"1\"\n");
  ASSERT_TRUE(table) << table.error().describe();
  ASSERT_EQ(table->rows.size(), 1U);
  EXPECT_EQ(table->rows[0].hardware, "NVIDIA A10");
  EXPECT_EQ(table->rows[0].devices, 2);
  EXPECT_EQ(table->rows[0].batch, 256);
  EXPECT_EQ(table->rows[0].variant.text(), "f16, kv q8_0, v8cf4");
  EXPECT_DOUBLE_EQ(table->rows[0].tpot_ms, 10);
}

TEST_F(LlamaBench, RefusesHalfOfARunAndRoundedMarkdown) {
  const auto half = read(test(R"("n_prompt":512,"n_gen":0,"avg_ns":72000000)") + "\n");
  ASSERT_FALSE(half);
  const auto rounded = read(
      "| model | size | params | backend | ngl | test | t/s |\n|---|--:|--:|---|--:|---|--:|\n"
      "| llama 7B | 3.56 GiB | 6.74 B | CUDA | -1 | tg 128 | 132.19 ± 0.55 |\n");
  ASSERT_FALSE(rounded);
  EXPECT_NE(rounded.error().message.find("-o json"), std::string::npos);
}

TEST_F(LlamaBench, RefusesASummaryOfMlperf) {
  const auto table = read(
      "================================================\nMLPerf Results Summary\n"
      "================================================\nSUT name : LWIS\nScenario : Offline\n"
      "Samples per second: 120.5\nResult is : VALID\n");
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("MLPerf summary"), std::string::npos);
}

}  // namespace
}  // namespace assay
