#include <gtest/gtest.h>

#include <cmath>

#include "support/bench_file.h"

namespace assay {
namespace {

class BenchCsv : public testing::BenchFile {};

constexpr char kHeader[] =
    "Hardware,Num of Hardware,Framework,Model,Input Output Length,Batch Size,Latency,Throughput";

TEST_F(BenchCsv, ReadsLlmInferenceBench) {
  const auto table = read(std::string(kHeader) + "\nNvidia H100 GPU,2,vLLM,m,128,16,2,2048\n");
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->format, "llm-inference-bench");
  ASSERT_EQ(table->rows.size(), 1U);
  const BenchRow& row = table->rows[0];
  EXPECT_EQ(row.hardware, "Nvidia H100 GPU");
  EXPECT_EQ(row.devices, 2);
  EXPECT_EQ(row.in_len, 128);
  EXPECT_EQ(row.out_len, 128);
  EXPECT_EQ(row.batch, 16);
  EXPECT_EQ(row.latency_s, 2);
  EXPECT_EQ(row.tokens_per_s, 2048);
  EXPECT_EQ(row.line, 2);
  EXPECT_TRUE(table->oddities.empty());
}

TEST_F(BenchCsv, BlankLinesLowerCaseTitlesSpacesAndWindowsEndsAreFine) {
  const auto table = read(
      "hardware,num of hardware,framework,model ,input output length, batch size,latency,"
      "throughput,kv_cache_dtype\r\n\r\n H ,1,vLLM,m ,128,16,2,2048,fp8\r\nH,1,vLLM,m,128,32,2,"
      "4096,fp8\r\n");
  ASSERT_TRUE(table) << table.error().describe();
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].model, "m");
  EXPECT_EQ(table->rows[0].hardware, "H");
  EXPECT_EQ(table->rows[0].variant, "fp8");
  EXPECT_EQ(table->rows[1].line, 4);
  EXPECT_EQ(count(*table, "blank_line"), 1U);
}

TEST_F(BenchCsv, MilliwattsAreToldByTheirSize) {
  const auto table = read(std::string(kHeader) + ",avg_power\nH,1,v,m,128,16,2,2048,222122.27\n");
  ASSERT_TRUE(table);
  EXPECT_NEAR(table->rows[0].power_w, 222.12227, 1e-9);
  EXPECT_EQ(count(*table, "power_in_milliwatts"), 1U);
}

TEST_F(BenchCsv, ACommaWithoutQuotesIsJoinedWhereOnlyOnePlaceFits) {
  const auto table = read(
      "Hardware,Num of Hardware,Framework,Model,Input Output Length,Batch Size,Parallelism Type,"
      "Latency,Throughput\nH,4,v,m,128,16,Hybrid TP = 2, EP = 2,2,2048\n");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 1U);
  EXPECT_EQ(table->rows[0].variant, "Hybrid TP = 2, EP = 2");
  EXPECT_EQ(table->rows[0].tokens_per_s, 2048);
  EXPECT_EQ(count(*table, "unquoted_comma"), 1U);
}

TEST_F(BenchCsv, SurplusCellsWithoutOneReadingAreDropped) {
  const auto table =
      read(std::string(kHeader) + "\nH,1,a,b,m,128,16,2,2048\nH,1,v,m,128,16,2,2048\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows.size(), 1U);
  EXPECT_EQ(count(*table, "surplus_cells"), 1U);
}

TEST_F(BenchCsv, TextInNumbersAndMissingCellsAreUnknownNeverZero) {
  const auto table =
      read(std::string(kHeader) + "\nH,1,v,m,128,16,2,OOM\nH,1,v,m,128,,2,2048\nH,1,v,m,128,16\n");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 3U);
  // 256 tokens x 16 in 2 s, from the latency.
  EXPECT_EQ(table->rows[0].tokens_per_s, 2048);
  EXPECT_TRUE(std::isnan(table->rows[1].batch));
  EXPECT_TRUE(std::isnan(table->rows[2].tokens_per_s));
  EXPECT_EQ(count(*table, "text_in_number"), 1U);
  EXPECT_EQ(count(*table, "missing_cell"), 3U);
  EXPECT_EQ(count(*table, "throughput_from_latency"), 1U);
}

TEST_F(BenchCsv, MapNamesColumnsAndMetaWhatNoColumnTells) {
  const auto table = read("Prompt, size;bb,Speed (tok/s)\n\"1,024\",8,500\n", {"ii=Prompt"}, {});
  EXPECT_FALSE(table);
  const auto mapped = read("Prompt,Streams,Speed (tok/s),Took [ms]\n\"1,024\",8,500,20480\n",
                           {"ii=Prompt,bb=Streams,throughput=Speed (tok/s)", "latency=Took [ms]"},
                           {"oo=256,n=4,hardware=Nvidia H100, SXM"});
  ASSERT_TRUE(mapped) << mapped.error().describe();
  const BenchRow& row = mapped->rows[0];
  EXPECT_EQ(row.in_len, 1024);
  EXPECT_EQ(row.out_len, 256);
  EXPECT_EQ(row.batch, 8);
  EXPECT_EQ(row.devices, 4);
  EXPECT_EQ(row.hardware, "Nvidia H100, SXM");
  EXPECT_NEAR(row.latency_s, 20.48, 1e-12);  // 1280 x 8 / 500: the identity holds
  EXPECT_EQ(count(*mapped, "identity_failed"), 0U);
}

TEST_F(BenchCsv, TheIdentityFindsUnitsAndMeanings) {
  const auto table = read(
      "len,bb,latency,throughput,framework\n"
      "100,10,2,1000,ok\n"         // 200 x 10 / 2
      "100,10,2000,1000,millis\n"  // the same, latency in ms
      "100,10,2,500,output\n"      // 100 x 10 / 2
      "100,10,2,100,llama.cpp\n"   // 200 x 1 / 2
      "100,10,2,1234,wrong\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[1].latency_s, 2);
  EXPECT_EQ(table->rows[2].tokens_per_s, 1000);
  EXPECT_EQ(table->rows[2].output_tokens_per_s, 500);
  EXPECT_EQ(table->rows[3].tokens_per_s, 100);
  EXPECT_EQ(table->rows[4].tokens_per_s, 1234);
  for (const char* code : {"latency_in_milliseconds", "output_tokens_only", "one_sequence_identity",
                           "identity_failed"}) {
    EXPECT_EQ(count(*table, code), 1U) << code;
  }
}

TEST_F(BenchCsv, UnitsInCellsWinOverTheTitle) {
  const auto table =
      read("len,bb,latency,throughput\n100,10,2 s,1000\n100,20,4000 ms,1000 tok/s\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[0].latency_s, 2);
  EXPECT_EQ(table->rows[1].latency_s, 4);
  EXPECT_EQ(count(*table, "unit_in_cell"), 3U);
}

TEST_F(BenchCsv, WhatIsNoThroughputTableIsRefusedByName) {
  const auto vidur = read("time_stats.emb.min,num_tokens\n1,2\n");
  ASSERT_FALSE(vidur);
  EXPECT_EQ(vidur.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(vidur.error().message.find("Vidur"), std::string::npos);
  EXPECT_FALSE(read("TIMESTAMP,ContextTokens,GeneratedTokens\n0,1,2\n"));
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("len,bb,throughput\n"));
  const auto lacking = read("len,throughput\n1,2\n");
  ASSERT_FALSE(lacking);
  EXPECT_NE(lacking.error().message.find("bb (batch size)"), std::string::npos);
  const auto unknown = read("len,bb,throughput\n1,2,3\n", {"speed=throughput"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("no such role"), std::string::npos);
}

}  // namespace
}  // namespace assay
