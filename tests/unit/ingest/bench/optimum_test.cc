// Columns of the llm-perf leaderboard's CSV files and keys of optimum-benchmark's benchmark.json.

#include <gtest/gtest.h>

#include "support/bench_file.h"

namespace assay {
namespace {

class Optimum : public testing::BenchFile {};

constexpr char kOptimumHeader[] =
    "config.name,config.backend.name,config.backend.version,config.backend.torch_dtype,"
    "config.backend.quantization_scheme,config.backend.model,config.backend.device,"
    "config.scenario.input_shapes.batch_size,config.scenario.input_shapes.sequence_length,"
    "config.scenario.generate_kwargs.max_new_tokens,config.environment.cpu,config.environment.gpu,"
    "report.prefill.latency.unit,report.prefill.latency.mean,report.decode.latency.unit,"
    "report.decode.latency.mean,report.decode.throughput.value\n";

// 256 + 64 tokens in 0.36 + 2.016 s; 63 tokens of 32 ms.
TEST_F(Optimum, ReadsTheLeaderboardAndDropsRunsThatFailed) {
  const auto table = read(
      std::string(kOptimumHeader) +
      "4bit-awq-gemv-sdpa,pytorch,2.4.1+cu124,float16,awq,meta-llama/Llama-3.1-8B-Instruct,cuda,1,"
      "256,64,\" A CPU\",\"['Tesla T4']\",s,0.36,s,2.016,31.25\n"
      "float16-sdpa,pytorch,2.4.1+cu124,float16,,big/Model,cuda,1,256,64,\" A CPU\","
      "\"['Tesla T4']\",,,,,\n"
      "float16-sdpa,pytorch,2.4.1+cu124,float16,,small/Model,cuda,2,256,64,\" A CPU\","
      "\"['Tesla T4', 'Tesla T4']\",s,0.36,s,2.016,31.25\n");
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->format, "optimum-benchmark");
  ASSERT_EQ(table->rows.size(), 2U);
  const BenchRow& row = table->rows[0];
  EXPECT_EQ(row.hardware, "Tesla T4");
  EXPECT_EQ(row.devices, 1);
  EXPECT_EQ(row.framework, "pytorch");
  EXPECT_EQ(row.model, "meta-llama/Llama-3.1-8B-Instruct");
  EXPECT_EQ(row.in_len, 256);
  EXPECT_EQ(row.out_len, 64);
  EXPECT_EQ(row.batch, 1);
  EXPECT_DOUBLE_EQ(row.ttft_ms, 360);
  EXPECT_DOUBLE_EQ(row.tpot_ms, 32);
  EXPECT_DOUBLE_EQ(row.latency_s, 2.376);
  EXPECT_DOUBLE_EQ(row.tokens_per_s, 320 / 2.376);
  EXPECT_DOUBLE_EQ(row.precision.weight_bytes, 0.52);
  EXPECT_EQ(table->rows[1].devices, 2);
  EXPECT_EQ(count(*table, "run_without_report"), 1U);
  EXPECT_EQ(count(*table, "identity_failed"), 1U);  // two sequences: 62.5 tokens/s
}

TEST_F(Optimum, ReadsABenchmarkJson) {
  const auto table = read(R"({"config":{"name":"bench","backend":{"name":"pytorch","version":"2.5",
 "model":"m/M","device":"cuda","device_ids":"0","torch_dtype":"bfloat16"},
 "scenario":{"input_shapes":{"batch_size":4,"sequence_length":128},
 "generate_kwargs":{"max_new_tokens":11}},
 "environment":{"gpu":["NVIDIA A10","NVIDIA A10"],"cpu":" C"}},
 "report":{"prefill":{"latency":{"unit":"s","mean":0.05}},
 "decode":{"latency":{"unit":"s","mean":0.2},"throughput":{"value":200.0}}}})"
                          "\n");
  ASSERT_TRUE(table) << table.error().describe();
  ASSERT_EQ(table->rows.size(), 1U);
  const BenchRow& row = table->rows[0];
  EXPECT_EQ(row.hardware, "NVIDIA A10");
  EXPECT_EQ(row.devices, 1);  // of the two that the machine has
  EXPECT_DOUBLE_EQ(row.tpot_ms, 20);
  EXPECT_DOUBLE_EQ(row.tokens_per_s, 139 * 4 / 0.25);
  EXPECT_EQ(count(*table, "identity_failed"), 0U);
}

TEST_F(Optimum, RefusesAnotherUnit) {
  const auto table =
      read(std::string(kOptimumHeader) +
           "x,pytorch,2,float16,,m,cuda,1,256,64,c,\"['Tesla T4']\",ms,360,s,2.0,1\n");
  EXPECT_FALSE(table);
}

}  // namespace
}  // namespace assay
