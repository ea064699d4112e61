#include "ingest/bench/silicon.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/bench_file.h"

namespace assay {
namespace {

class Silicon : public testing::BenchFile {};

constexpr char kSiliconHeader[] =
    "id,silicon_data_source,backend,backend_version,model_path,system,precision,mode,isl,osl,"
    "batch_size,tp_size,pp_size,attention_dp_size,moe_tp_size,moe_ep_size,silicon_ttft_ms,"
    "silicon_tpot_ms\n";

// tp 64 stands for 8 x 8 on eight devices; tp 4 dp 4 with experts by 16 for four devices.
TEST(SquaredLayout, IsDetectedInBothForms) {
  EXPECT_EQ(squared_layout(64, 1, 8, 8).kind, Square::kExperts);
  EXPECT_EQ(squared_layout(64, 1, 8, 8).side, 8U);
  EXPECT_EQ(squared_layout(1, 16, 4, 4).side, 4U);
  EXPECT_EQ(squared_layout(4, 4, 1, 16).kind, Square::kReplicas);
  EXPECT_EQ(squared_layout(4, 4, 1, 16).side, 4U);
  EXPECT_EQ(squared_layout(64, 1, 1, 64).kind, Square::kNone);  // 64 devices, experts over all
  EXPECT_EQ(squared_layout(8, 1, 8, 1).kind, Square::kNone);    // no square
  EXPECT_EQ(squared_layout(4, 1, 4, 1).kind, Square::kNone);
  EXPECT_EQ(squared_layout(1, 1, 1, 1).kind, Square::kNone);
  EXPECT_EQ(squared_layout(4, 4, 4, 4).kind, Square::kExperts);
}

// 235 GB of FP8 weights under tp 1 with experts over two do not run on one device of 141 GB.
TEST(UntoldReplicas, AreWhatTheExpertsSpanBeyondTensorParallelism) {
  EXPECT_EQ(untold_replicas(1, 0, 2, 1), 2U);
  EXPECT_EQ(untold_replicas(2, 0, 4, 1), 2U);
  EXPECT_EQ(untold_replicas(4, 0, 2, 2), 1U);
  EXPECT_EQ(untold_replicas(8, 0, 1, 1), 1U);  // a dense model
  EXPECT_EQ(untold_replicas(4, 0, 6, 1), 1U);
  EXPECT_EQ(untold_replicas(2, 1, 4, 1), 1U);  // told
}

TEST(SourceField, IsFoundByItsWholeName) {
  const std::string text = "db/2026-04-27; config_id=7; silicon_concurrency=128; measured=x";
  EXPECT_EQ(source_field(text, "silicon_concurrency"), "128");
  EXPECT_EQ(source_field(text, "measured"), "x");
  EXPECT_EQ(source_field(text, "concurrency"), "");
  EXPECT_EQ(source_field(text, "id"), "");
  EXPECT_EQ(source_field("", "id"), "");
}

TEST_F(Silicon, SquaresConcurrencyAndDayOfARow) {
  const auto table = read(
      std::string(kSiliconHeader) +
      "a,f; silicon_concurrency=4; measured=2026-04-17T00:00:00Z,sglang,0.5.9,m,b200_sxm,fp4,agg,"
      "1024,101,99,64,1,1,8,8,500,15\n"
      "b,source_file=/home/x/data/b200_sxm/sglang/0.5.9/m.csv; silicon_concurrency=8,sglang,0.5.9,"
      "m,b200_sxm,fp4,agg,1024,101,2,2,1,2,1,4,500,15\n"
      "c,source_file=m.csv,sglang,0.5.9,m,b200_sxm,fp4,agg,1024,101,8,8,1,1,1,8,500,15\n"
      "d,source_file=m.csv; silicon_concurrency=9,vllm,0.12.0,m,h200_sxm,fp8,agg,1024,101,9,1,1,,2,"
      "1,500,15\n");
  ASSERT_TRUE(table) << table.error().describe();
  ASSERT_EQ(table->rows.size(), 3U);
  EXPECT_EQ(table->rows[2].devices, 2);
  EXPECT_EQ(table->rows[2].variant.text(), "fp8, dp2, v0.12.0");
  EXPECT_EQ(count(*table, "layout_by_experts"), 1U);
  const BenchRow& square = table->rows[0];
  EXPECT_EQ(square.devices, 8);
  EXPECT_EQ(square.batch, 4);
  EXPECT_EQ(square.variant.text(), "fp4, tp8 ep8, v0.5.9");
  EXPECT_EQ(square.date, "2026-04-17");
  EXPECT_EQ(square.campaign, "sglang|v0.5.9|2026-04-17");
  // 500 ms + 100 x 15 ms: 1125 tokens x 4 in 2 s.
  EXPECT_DOUBLE_EQ(square.tokens_per_s, 2250);
  const BenchRow& replicas = table->rows[1];
  EXPECT_EQ(replicas.devices, 2);
  EXPECT_EQ(replicas.batch, 8);
  EXPECT_EQ(replicas.variant.text(), "fp4, dp2 ep2, v0.5.9");
  EXPECT_EQ(replicas.campaign, "sglang|v0.5.9|b200_sxm/sglang/0.5.9");
  EXPECT_EQ(count(*table, "layout_squared"), 1U);
  EXPECT_EQ(count(*table, "layout_squared_by_speed"), 1U);
  EXPECT_EQ(find(*table, "layout_squared_by_speed")->weight, OddityWeight::kWarning);
  EXPECT_EQ(find(*table, "concurrency_unknown")->dropped, 1U);
}

TEST_F(Silicon, OneMeasurementUnderTwoNamesIsKeptOnceWithTheFewestDevices) {
  const std::string rows =
      "hw,n,fw,model,ii,oo,bb,ttft,tpot\n"
      "h,8,v,one,128,128,4,188.73155,8.041529\n"
      "h,4,v,two,128,128,4,188.73155,8.041529\n"
      "h,4,v,two,128,128,8,188.73155,8.041529\n"  // other sizes: another run
      "h,4,v,three,128,128,4,200,8\n"             // short numbers agree by chance
      "h,4,v,four,128,128,4,200,8\n";
  const auto table = read(rows);
  ASSERT_TRUE(table) << table.error().describe();
  ASSERT_EQ(table->rows.size(), 4U);
  EXPECT_EQ(table->rows[0].model, "two");
  EXPECT_EQ(table->rows[0].devices, 4);
  EXPECT_EQ(find(*table, "copied_measurement")->dropped, 1U);
}

// 42 ms at 2 in flight and 28 at 4 is a fall of 1.5 times; 10 and 8 one of 1.25.
TEST_F(Silicon, GroupWithFasterTokensAtMoreRequestsIsUnsteady) {
  const auto table = read(
      "hw,n,fw,model,ii,oo,bb,ttft,tpot\n"
      "h,1,v,a,128,128,1,100,8\nh,1,v,a,128,128,2,100,42\nh,1,v,a,128,128,4,100,28\n"
      "h,1,v,b,128,128,1,100,10\nh,1,v,b,128,128,2,100,8\n"
      "h,1,v,c,128,128,1,100,42\nh,1,v,c,128,128,1,100,8\n");  // repeats are not more requests
  ASSERT_TRUE(table) << table.error().describe();
  ASSERT_EQ(table->rows.size(), 7U);
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(table->rows[i].unsteady, i < 3) << i;
  EXPECT_EQ(count(*table, "unsteady"), 3U);
  EXPECT_EQ(find(*table, "unsteady")->dropped, 0U);
}

// Counts by an independent reading of the table.
TEST_F(Silicon, CountsOfThePublicTable) {
  const char* data = std::getenv("ASSAY_DATA");
  const std::string path =
      std::string(data != nullptr ? data : "") + "/bench/aiconfigurator_silicon_sample_A.csv.gz";
  if (data == nullptr || !std::filesystem::exists(path)) GTEST_SKIP() << "no corpus";
  const auto table = read_bench_table(path);
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(count(*table, "layout_squared"), 139U);
  EXPECT_EQ(count(*table, "layout_squared_by_speed"), 57U);
  EXPECT_EQ(count(*table, "layout_by_experts"), 19U);
  EXPECT_EQ(count(*table, "copied_measurement"), 57U);
  EXPECT_EQ(count(*table, "concurrency_unknown"), 12U);
  EXPECT_EQ(count(*table, "disaggregated"), 715U);
  EXPECT_EQ(count(*table, "unsteady"), 22U);
  EXPECT_EQ(table->rows.size(), 1826U);
  for (const BenchRow& row : table->rows) EXPECT_LE(row.devices, 16) << row.line;
}

}  // namespace
}  // namespace assay
