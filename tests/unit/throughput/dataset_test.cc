#include "throughput/dataset.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

BenchRow good_row() {
  BenchRow r;
  r.hardware = "Nvidia H100 GPU";
  r.framework = "vLLM";
  r.model = "meta-llama/Meta-Llama-3-8B";
  r.in_len = 128;
  r.out_len = 128;
  r.batch = 16;
  r.latency_s = 2;
  r.tokens_per_s = 2048;
  return r;
}

const BenchOddity* find(const std::vector<BenchOddity>& oddities, const std::string& code) {
  for (const BenchOddity& oddity : oddities) {
    if (oddity.code == code) return &oddity;
  }
  return nullptr;
}

TEST(ThroughputDataset, NamesAreTheStringsThatAreHashed) {
  BenchRow r = good_row();
  EXPECT_EQ(config_name(r), "Nvidia H100 GPU|1|vLLM|meta-llama/Meta-Llama-3-8B");
  EXPECT_EQ(group_name(r), "Nvidia H100 GPU|1|vLLM|meta-llama/Meta-Llama-3-8B|128|128");
  EXPECT_EQ(row_name(r), "Nvidia H100 GPU|1|vLLM|meta-llama/Meta-Llama-3-8B|128|128|16");
  r.variant = "TP";
  r.in_len = 100.5;
  EXPECT_EQ(group_name(r), "Nvidia H100 GPU|1|vLLM|meta-llama/Meta-Llama-3-8B|TP|100.5|128");
}

TEST(ThroughputDataset, TheFirstOfAKeyIsKept) {
  BenchTable table;
  table.rows = {good_row(), good_row(), good_row()};
  table.rows[1].tokens_per_s = 999;
  table.rows[2].batch = 32;
  table.rows[1].line = 3;
  const auto data = make_throughput_data(table);
  ASSERT_TRUE(data);
  ASSERT_EQ(data->rows.size(), 2U);
  EXPECT_EQ(data->rows[0].tokens_per_s, 2048);
  const BenchOddity* oddity = find(data->oddities, "duplicate_key");
  ASSERT_NE(oddity, nullptr);
  EXPECT_EQ(oddity->dropped, 1U);
  EXPECT_EQ(oddity->first_line, 3);
  EXPECT_EQ(data->group_names.size(), 1U);
  EXPECT_EQ(data->group[0], data->group[1]);
}

TEST(ThroughputDataset, WhatCannotBeAMeasurementIsDroppedAndCountedByKind) {
  BenchTable table;
  const double nan = std::nan("");
  table.rows.assign(8, good_row());
  table.rows[1].tokens_per_s = 0;
  table.rows[2].tokens_per_s = -4;
  table.rows[3].tokens_per_s = nan;
  table.rows[4].in_len = 0;
  table.rows[5].batch = nan;
  table.rows[6].devices = nan;
  table.rows[7].tokens_per_s = INFINITY;
  const auto data = make_throughput_data(table);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->rows.size(), 1U);
  const std::pair<const char*, uint64_t> expected[] = {
      {"zero_throughput", 1}, {"impossible_throughput", 2},
      {"no_throughput", 1},   {"no_length", 1},
      {"no_batch", 1},        {"no_devices", 1}};
  for (const auto& [code, dropped] : expected) {
    const BenchOddity* oddity = find(data->oddities, code);
    ASSERT_NE(oddity, nullptr) << code;
    EXPECT_EQ(oddity->dropped, dropped) << code;
  }
}

TEST(ThroughputDataset, ATableWithoutAUsableRowIsAnError) {
  BenchTable table;
  EXPECT_FALSE(make_throughput_data(table));
  table.rows = {good_row()};
  table.rows[0].batch = 0;
  EXPECT_FALSE(make_throughput_data(table));
}

// Llama-3-8B: 2 x 8.03 GB per token at 3.35 TB/s is 4.79 ms, 0.6136 s for 128 tokens.
TEST(ThroughputDataset, FasterThanReadingTheWeightsIsInfeasibleAndKept) {
  BenchTable table;
  table.rows = {good_row(), good_row(), good_row()};
  table.rows[1].batch = 32;
  table.rows[1].latency_s = 0.60;
  table.rows[2].batch = 64;
  table.rows[2].latency_s = 0.62;
  const auto data = make_throughput_data(table, least_latency_by_facts());
  ASSERT_TRUE(data);
  EXPECT_EQ(data->infeasible, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(find(data->oddities, "infeasible")->rows, 1U);
  EXPECT_EQ(find(data->oddities, "infeasible")->dropped, 0U);
}

TEST(ThroughputDataset, LatencyComesFromThroughputWhereItIsMissing) {
  BenchRow r = good_row();
  r.latency_s = std::nan("");
  EXPECT_DOUBLE_EQ(latency_of(r), 256. * 16 / 2048);
  r.framework = "llama.cpp";
  EXPECT_DOUBLE_EQ(latency_of(r), 256. / 2048);
}

TEST(ThroughputDataset, ASubsetKeepsIdsAndNames) {
  BenchTable table;
  table.rows = {good_row(), good_row()};
  table.rows[1].model = "other";
  const auto data = make_throughput_data(table);
  const ThroughputData part = subset(*data, {1});
  ASSERT_EQ(part.rows.size(), 1U);
  EXPECT_EQ(part.config_names[part.config[0]], config_name(part.rows[0]));
}

}  // namespace
}  // namespace assay
