#include "throughput/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "throughput/kernel_table.h"

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
  r.variant.words = "TP";
  r.in_len = 100.5;
  EXPECT_EQ(group_name(r), "Nvidia H100 GPU|1|vLLM|meta-llama/Meta-Llama-3-8B|TP|100.5|128");
}

TEST(ThroughputDataset, LayoutAndVersionMakeAnotherConfigurationButNoOtherEngine) {
  BenchRow row = good_row();
  row.variant = {"fp8", ParallelLayout{2, 1, 1, 4}, "v0.9.1"};
  EXPECT_EQ(config_name(row),
            "Nvidia H100 GPU|1|vLLM|meta-llama/Meta-Llama-3-8B|fp8, tp2 ep4, v0.9.1");
  const auto keys = GroupNames::keys_of(row);
  EXPECT_EQ(keys[static_cast<size_t>(KernelGroup::kFramework)], "vLLM|fp8");
  EXPECT_EQ(keys[static_cast<size_t>(KernelGroup::kModelFramework)],
            "meta-llama/Meta-Llama-3-8B|vLLM|fp8");
  EXPECT_EQ(keys[static_cast<size_t>(KernelGroup::kConfig)], config_name(row));
}

TEST(ThroughputDataset, TheFirstOfAKeyIsKeptOfLlmInferenceBench) {
  BenchTable table;
  table.format = "llm-inference-bench";
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
  EXPECT_EQ(oddity->weight, OddityWeight::kNote);  // nothing that was not measured before
  EXPECT_EQ(data->group_names.size(), 1U);
  EXPECT_EQ(data->group[0], data->group[1]);
}

TEST(ThroughputDataset, ImpossibleMeasurementsAreDroppedAndCountedByKind) {
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
    EXPECT_EQ(oddity->weight, OddityWeight::kLoss) << code;
  }
}

TEST(ThroughputDataset, CopiesAreDroppedAndRepeatsAveraged) {
  BenchTable table;
  table.format = "csv";
  table.rows.assign(4, good_row());
  table.rows[1].tokens_per_s = 2248;
  table.rows[1].latency_s = 1.8;
  table.rows[3].batch = 32;
  const auto data = make_throughput_data(table);
  ASSERT_TRUE(data);
  ASSERT_EQ(data->rows.size(), 2U);
  EXPECT_DOUBLE_EQ(data->rows[0].tokens_per_s, 2148);
  EXPECT_DOUBLE_EQ(data->rows[0].latency_s, 1.9);
  EXPECT_EQ(find(data->oddities, "duplicate_key")->dropped, 1U);
  const BenchOddity* repeats = find(data->oddities, "repeats_averaged");
  ASSERT_NE(repeats, nullptr);
  EXPECT_EQ(repeats->rows, 2U);
  EXPECT_EQ(repeats->dropped, 0U);
  EXPECT_EQ(repeats->weight, OddityWeight::kNote);
  // 2248 / 2048 is 1.0977.
  EXPECT_NE(repeats->effect.find("9.766 %"), std::string::npos) << repeats->effect;
  EXPECT_EQ(find(data->oddities, "repeats_disagree"), nullptr);
}

// ln 1.1 apart: deviations of half of that from the mean, squared and over one degree of freedom,
// give ln 1.1 / sqrt 2 = 0.0674 per key; the second key has ln 1.2 / sqrt 2 = 0.1289. Pooled:
// sqrt((0.0674^2 + 0.1289^2) / 2) = 0.1029.
TEST(ThroughputDataset, RepeatsThatScatterMoreThanTheNoiseTakenAreWarnedOf) {
  BenchTable table;
  table.format = "csv";
  table.rows.assign(5, good_row());
  table.rows[1].tokens_per_s = 2048 * 1.1;
  table.rows[2].batch = table.rows[3].batch = 32;
  table.rows[3].tokens_per_s = 2048 * 1.2;
  table.rows[4].batch = 64;
  auto data = make_throughput_data(table);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->repeats.keys, 2U);
  EXPECT_EQ(data->repeats.rows, 4U);
  EXPECT_NEAR(data->repeats.log_sd, 0.1029, 5e-5);
  note_repeat_noise(0.0344, *data);  // a third and a little
  EXPECT_EQ(find(data->oddities, "repeats_noisy"), nullptr);
  note_repeat_noise(0.0342, *data);
  const BenchOddity* noisy = find(data->oddities, "repeats_noisy");
  ASSERT_NE(noisy, nullptr);
  EXPECT_EQ(noisy->rows, 4U);
  EXPECT_EQ(noisy->weight, OddityWeight::kWarning);
  EXPECT_NE(noisy->effect.find("scatter by 10.3 %"), std::string::npos) << noisy->effect;
  EXPECT_NE(noisy->effect.find("takes 3.42 %"), std::string::npos) << noisy->effect;
}

TEST(ThroughputDataset, ContradictionsNameTheWorst) {
  BenchTable table;
  table.format = "csv";
  table.rows.assign(4, good_row());
  table.rows[2].batch = table.rows[3].batch = 32;
  const double measured[] = {100, 160, 100, 300};
  for (size_t i = 0; i < 4; ++i) {
    table.rows[i].tokens_per_s = measured[i];
    table.rows[i].line = static_cast<int64_t>(i) + 2;
  }
  const auto data = make_throughput_data(table);
  ASSERT_TRUE(data);
  const BenchOddity* odd = find(data->oddities, "repeats_disagree");
  ASSERT_NE(odd, nullptr);
  EXPECT_EQ(odd->rows, 4U);
  EXPECT_EQ(odd->weight, OddityWeight::kWarning);
  EXPECT_NE(odd->effect.find("4 measurements of 2 of 2 keys"), std::string::npos) << odd->effect;
  EXPECT_NE(odd->effect.find("up to 3 times the smallest: 100 (line 4) and 300 (line 5) tokens/s"),
            std::string::npos)
      << odd->effect;
  EXPECT_EQ(data->repeats.keys, 0U);  // a contradiction is no noise
}

TEST(ThroughputDataset, AbsurdValuesAreDroppedByName) {
  BenchTable table;
  table.format = "csv";
  table.rows.assign(6, good_row());
  table.rows[1].tokens_per_s = 1e308;
  table.rows[2].tokens_per_s = 1e-300;
  table.rows[3].batch = 1.5;
  table.rows[4].batch = 1e18;
  table.rows[5].in_len = 1e9;
  const auto data = make_throughput_data(table);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->rows.size(), 1U);
  EXPECT_EQ(find(data->oddities, "absurd_throughput")->dropped, 2U);
  EXPECT_EQ(find(data->oddities, "absurd_size")->dropped, 2U);
  EXPECT_EQ(find(data->oddities, "not_whole")->dropped, 1U);
  // The concurrency that Little's law gives is a mean.
  table.format = "vllm";
  EXPECT_EQ(find(make_throughput_data(table)->oddities, "not_whole"), nullptr);
}

TEST(ThroughputDataset, OfTooManyRowsTheSameSubsetIsKeptInAnyOrder) {
  BenchTable table;
  table.format = "csv";
  for (int i = 0; i < 100; ++i) {
    table.rows.push_back(good_row());
    table.rows.back().batch = 1 + i;
  }
  const auto data = make_throughput_data(table, {}, 30);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->rows.size(), 30U);
  EXPECT_EQ(find(data->oddities, "rows_beyond_limit")->dropped, 70U);
  EXPECT_EQ(find(data->oddities, "rows_beyond_limit")->weight, OddityWeight::kWarning);
  std::set<double> batches;
  for (const BenchRow& row : data->rows) batches.insert(row.batch);
  std::reverse(table.rows.begin(), table.rows.end());
  const auto reversed = make_throughput_data(table, {}, 30);
  for (const BenchRow& row : reversed->rows) EXPECT_EQ(batches.count(row.batch), 1U);
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

TEST(ThroughputDataset, CountsUncheckedRows) {
  BenchTable table;
  table.rows = {good_row(), good_row()};
  table.rows[1].hardware = "a GPU of tomorrow";
  const auto data = make_throughput_data(table, least_latency_by_facts());
  ASSERT_TRUE(data);
  EXPECT_EQ(find(data->oddities, "feasibility_unchecked")->rows, 1U);
  EXPECT_EQ(find(data->oddities, "feasibility_unchecked")->weight, OddityWeight::kNote);
}

// As above: 128 tokens out take 128 x 2 x 8.03 GB / 3.35 TB/s at least.
TEST(ThroughputDataset, AThroughputThatNoRunCanHaveHasAReason) {
  BenchRow row = good_row();
  const double most = (row.in_len + row.out_len) * row.batch / (128 * 2 * 8.03 / 3350);
  const LeastLatency least = least_latency_by_facts();
  EXPECT_TRUE(impossible_reason(least, row, 1.01 * most));
  EXPECT_FALSE(impossible_reason(least, row, 0.99 * most));
  row.model = "nobody knows";
  EXPECT_FALSE(impossible_reason(least, row, 100 * most));
}

// At one byte half of that, 0.3068 s; at the fewest bytes in use, 0.5, a quarter: 0.1534 s.
TEST(ThroughputDataset, ImpossibilityDependsOnThePrecision) {
  BenchTable table;
  table.format = "csv";
  table.rows = {good_row(), good_row(), good_row(), good_row()};
  const double latency[] = {0.60, 0.30, 0.31, 0.60};
  for (size_t i = 0; i < 4; ++i) {
    table.rows[i].latency_s = latency[i];
    table.rows[i].variant.words = i == 3 ? "bf16" : "fp8";
    settle_precision(table.rows[i]);
    table.rows[i].batch = 16.0 * static_cast<double>(1 + i);
  }
  const auto data = make_throughput_data(
      table, least_latency_by_facts(FactBook::built_in(), untold_precision(table)));
  ASSERT_TRUE(data);
  EXPECT_EQ(data->infeasible, (std::vector<bool>{false, true, false, true}));
}

TEST(ThroughputDataset, AGuessedPrecisionMakesNoRowImpossibleThatFewerBitsExplain) {
  BenchTable table;
  table.format = "csv";
  table.rows = {good_row(), good_row(), good_row()};
  const double latency[] = {0.62, 0.16, 0.15};
  for (size_t i = 0; i < 3; ++i) {
    table.rows[i].latency_s = latency[i];
    table.rows[i].batch = 16.0 * static_cast<double>(1 + i);
  }
  const FactBook& facts = FactBook::built_in();
  auto data = make_throughput_data(table, least_latency_by_facts(facts, untold_precision(table)));
  ASSERT_TRUE(data);
  EXPECT_EQ(data->infeasible, (std::vector<bool>{false, false, true}));
  EXPECT_EQ(find(data->oddities, "faster_than_16_bit")->rows, 1U);
  EXPECT_EQ(find(data->oddities, "faster_than_16_bit")->weight, OddityWeight::kWarning);
  note_precision(facts, untold_precision(table), *data);
  EXPECT_EQ(find(data->oddities, "precision_unknown")->rows, 3U);
  // LLM-Inference-Bench ran at 16 bits, as its paper says.
  table.format = "llm-inference-bench";
  data = make_throughput_data(table, least_latency_by_facts(facts, untold_precision(table)));
  EXPECT_EQ(data->infeasible, (std::vector<bool>{false, true, true}));
  note_precision(facts, untold_precision(table), *data);
  EXPECT_EQ(find(data->oddities, "precision_unknown"), nullptr);
}

// The bound of one device, 0.6136 s, is that of two at half: 0.3068 s.
TEST(ThroughputDataset, DevicesReadTheWeightsTogether) {
  BenchTable table;
  table.rows = {good_row(), good_row()};
  for (BenchRow& row : table.rows) row.devices = 2;
  table.rows[0].latency_s = 0.31;
  table.rows[1].latency_s = 0.30;
  table.rows[1].batch = 32;
  const auto data = make_throughput_data(table, least_latency_by_facts());
  ASSERT_TRUE(data);
  EXPECT_EQ(data->infeasible, (std::vector<bool>{false, true}));
}

TEST(ThroughputDataset, APeakThatIsNotKnownIsSaid) {
  BenchTable table;
  table.rows = {good_row(), good_row()};
  table.rows[0].variant.words = "fp8";
  table.rows[1].variant.words = "nvfp4";
  for (BenchRow& row : table.rows) settle_precision(row);
  auto data = make_throughput_data(table);
  note_precision(FactBook::built_in(), UntoldPrecision::kAssumed, *data);
  EXPECT_EQ(find(data->oddities, "peak_unknown")->rows, 1U);  // Hopper has no FP4 units
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
