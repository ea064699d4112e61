#include <gtest/gtest.h>

#include <cmath>

#include "throughput/dataset.h"
#include "throughput/kernel_table.h"
#include "throughput/predictor.h"
#include "throughput/suggest.h"

namespace assay {
namespace {

BenchRow row_of(double in_len, double out_len, double batch, double tokens_per_s) {
  BenchRow row;
  row.hardware = "mine";
  row.framework = "engine";
  row.model = "small";
  row.in_len = in_len;
  row.out_len = out_len;
  row.batch = batch;
  row.tokens_per_s = tokens_per_s;
  return row;
}

std::unique_ptr<Predictor> fitted(const std::vector<BenchRow>& rows,
                                  const PredictorOptions& options = {}) {
  return *Predictor::fit(*make_throughput_data(BenchTable{"made", "csv", rows, {}}),
                         FactBook::built_in(), options);
}

Explained asked(const Predictor& predictor, const BenchRow& point) {
  return predictor.explain({point}).front();
}

// Three lengths, five batch sizes, rates that batches raise steadily.
std::vector<BenchRow> steady() {
  std::vector<BenchRow> rows;
  for (const double length : {128, 256, 512}) {
    for (const double batch : {1, 2, 4, 8, 16})
      rows.push_back(row_of(length, length, batch, 100 * std::pow(batch, 0.8)));
  }
  return rows;
}

// Four rows measure no width; the process alone, as smooth as it is, would leave all four out.
TEST(Intervals, OfFewSteepRowsHoldTheRowsAndAreAssumed) {
  const std::vector<BenchRow> rows = {row_of(128, 128, 10, 300), row_of(128, 128, 20, 300),
                                      row_of(128, 128, 30, 1235), row_of(128, 128, 40, 1300)};
  const auto predictor = fitted(rows);
  for (const BenchRow& row : rows) {
    const Explained told = asked(*predictor, row);
    EXPECT_FALSE(told.measured);
    EXPECT_LE(told.prediction.low90, row.tokens_per_s) << row.batch;
    EXPECT_GE(told.prediction.high90, row.tokens_per_s) << row.batch;
  }
  EXPECT_EQ(check_goal(*predictor, {rows[0]}, {.latency_ms = {}, .tokens_per_s = 1e-9})[0].verdict,
            GoalVerdict::kLikely);
}

TEST(Intervals, OfManyRowsAreMeasured) {
  const auto predictor = fitted(steady());
  EXPECT_TRUE(asked(*predictor, row_of(128, 128, 6, 0)).measured);
  // All there is is one configuration: none could be left out.
  BenchRow other = row_of(128, 128, 6, 0);
  other.devices = 2;
  EXPECT_FALSE(asked(*predictor, other).measured);
}

TEST(Intervals, HaveAWidthForOneRateOfAllRows) {
  std::vector<BenchRow> rows = steady();
  for (BenchRow& row : rows) row.tokens_per_s = 1000;
  const auto predictor = fitted(rows);
  for (const BenchRow& row : rows) {
    const Prediction told = asked(*predictor, row).prediction;
    EXPECT_LT(told.low90, 999.9);
    EXPECT_GT(told.high90, 1000.1);
    EXPECT_LT(told.high90, 1050);
  }
}

// 0.22 per doubling, four doublings.
TEST(Intervals, OfAnotherBatchThanTheOnlyOneAreAssumedAndOutside) {
  std::vector<BenchRow> rows;
  for (const BenchRow& row : steady()) {
    if (row.batch == 16) rows.push_back(row);
  }
  const auto predictor = fitted(rows);
  EXPECT_EQ(asked(*predictor, rows[0]).assumed, 0);
  const Explained told = asked(*predictor, row_of(128, 128, 32, 0));
  EXPECT_EQ(told.prediction.status, PredictionStatus::kOutside);
  EXPECT_FALSE(told.measured);
  EXPECT_EQ(told.reasons,
            std::vector<std::string>{
                "all rows have batch 16, and what another does is not known without physics"});
  EXPECT_NEAR(asked(*predictor, row_of(128, 128, 1, 0)).assumed, 0.88, 1e-12);
  EXPECT_NEAR(std::log(told.prediction.high90 / told.prediction.tokens_per_s),
              told.scale * told.log_sd + 0.22, 1e-12);
}

// A prompt token costs a twentieth of a generated one: 768 + 256 tokens for 256 + 38.4, over 1.05.
TEST(Intervals, PromptCostsLittleIfThereIsNoPhysics) {
  const KernelTable table = kernel_table({row_of(256, 256, 1, 100), row_of(768, 256, 1, 100)},
                                         FactBook::built_in(), false);
  EXPECT_EQ(table.log_base[0], 0);
  EXPECT_NEAR(table.log_base[1], std::log(512 * 1.05 / 294.4), 1e-12);
}

TEST(Intervals, OfARatioOfLengthsThatNoRowHasAreAssumed) {
  const auto predictor = fitted(steady());
  const Explained told = asked(*predictor, row_of(512, 128, 4, 0));
  EXPECT_EQ(told.prediction.status, PredictionStatus::kOutside);
  EXPECT_FALSE(told.measured);
  EXPECT_NEAR(told.assumed, 2 * 0.05, 1e-12);
}

TEST(Intervals, OfARatioBeyondSeveralAreMeasured) {
  std::vector<BenchRow> rows = steady();
  for (const double ratio : {2, 4, 8}) {
    for (BenchRow row : steady()) {
      row.in_len *= ratio;
      row.tokens_per_s *= (1 + ratio) / 2;
      rows.push_back(row);
    }
  }
  const auto predictor = fitted(rows);
  const Explained near = asked(*predictor, row_of(2048, 128, 4, 0));  // 16, at most 8 is measured
  EXPECT_EQ(near.prediction.status, PredictionStatus::kOutside);
  EXPECT_TRUE(near.measured);
  EXPECT_EQ(near.assumed, 0);
  EXPECT_FALSE(asked(*predictor, row_of(4096, 64, 4, 0)).measured);
}

// evaluate asks for one kind of question at a time: the scale must be the one that users get.
TEST(Intervals, AreThoseThatEvaluateMeasures) {
  std::vector<BenchRow> rows = steady();
  rows[3].tokens_per_s *= 1.5;  // so that rows left out are missed by more than larger batches
  const BenchRow larger = row_of(256, 256, 40, 0);
  const BenchRow longer = row_of(1000, 1000, 4, 0);
  PredictorOptions only;
  only.only = HeldOut::kLargerBatch;
  EXPECT_EQ(asked(*fitted(rows), larger).scale, asked(*fitted(rows, only), larger).scale);
  only.only = HeldOut::kLongerLength;
  EXPECT_EQ(asked(*fitted(rows), longer).scale, asked(*fitted(rows, only), longer).scale);
}

// Llama-2 has a context of 4,096 tokens; rows that were as long show that it can be done.
TEST(Reach, MoreTokensThanTheContextAreOutside) {
  std::vector<BenchRow> rows = steady();
  for (BenchRow& row : rows) {
    row.hardware = "Nvidia A100 GPU";
    row.model = "meta-llama/Llama-2-7b-hf";
    row.in_len = row.out_len = row.in_len * 4;
  }
  BenchRow point = rows.back();
  EXPECT_TRUE(asked(*fitted(rows), point).reasons.empty());
  point.in_len = point.out_len = 2049;
  EXPECT_EQ(asked(*fitted(rows), point).reasons,
            std::vector<std::string>{"4098 tokens are more than the context of "
                                     "'meta-llama/Llama-2-7b-hf' (4096)"});
  rows.push_back(point);
  rows.back().tokens_per_s = 300;
  EXPECT_TRUE(asked(*fitted(rows), point).reasons.empty());
}

// Of the only model with facts no row can be: what it could be compared with is not "0 parameters".
// Its process learns from that row alone, and no batch or length of it can be held out.
TEST(Intervals, TableWithSpecsOfOneRow) {
  std::vector<BenchRow> rows = steady();
  rows.push_back(row_of(128, 128, 16, 900));
  rows.back().hardware = "Nvidia A100 GPU";
  rows.back().model = "meta-llama/Llama-2-7b-hf";
  const auto predictor = fitted(rows);
  EXPECT_EQ(predictor->rows_with_facts(), 1U);
  EXPECT_FALSE(asked(*predictor, rows.back()).measured);
}

TEST(Reach, RowsNearAGpuWithoutRowsAreOfGpusLikeIt) {
  std::vector<BenchRow> rows;
  for (const char* gpu : {"AMD MI250 GPU", "Nvidia A100 GPU", "Nvidia H100 GPU", "nobody's GPU"}) {
    for (BenchRow row : steady()) {
      row.hardware = gpu;
      rows.push_back(row);
    }
  }
  const auto predictor = fitted(rows);
  BenchRow point = row_of(256, 256, 4, 0);
  for (const auto& [gpu, near] : {std::pair{"Nvidia H200 GPU", "Nvidia H100 GPU"},
                                  std::pair{"AMD MI300X GPU", "AMD MI250 GPU"}}) {
    point.hardware = gpu;
    const Explained told = asked(*predictor, point);
    ASSERT_FALSE(told.nearest.empty());
    EXPECT_EQ(predictor->rows()[told.nearest.front().row].hardware, near);
  }
}

TEST(Reach, ModelIsNotComparedIfThereIsNoMatchingRow) {
  std::vector<BenchRow> rows = steady();
  rows.push_back(rows.back());
  rows.back().hardware = "Nvidia A100 GPU";
  rows.back().model = "meta-llama/Llama-2-7b-hf";
  rows.back().tokens_per_s = 1e9;
  const FactBook& facts = FactBook::built_in();
  const auto data =
      make_throughput_data(BenchTable{"made", "csv", rows, {}}, least_latency_by_facts(facts));
  ASSERT_TRUE(data->infeasible.back());
  const auto predictor = *Predictor::fit(*data, facts);
  for (const std::string& reason : asked(*predictor, rows.back()).reasons)
    EXPECT_EQ(reason.find("(0)"), std::string::npos) << reason;
}

TEST(PredictionStatus, IsWideBeyondTwiceTheEstimateAndOutsideWhateverTheWidth) {
  EXPECT_EQ(prediction_status(false, 1.0), PredictionStatus::kInside);
  EXPECT_EQ(prediction_status(false, 1.01), PredictionStatus::kWide);
  EXPECT_EQ(prediction_status(true, 0.1), PredictionStatus::kOutside);
  EXPECT_EQ(prediction_status_name(PredictionStatus::kWide), "wide");
}

// Ten campaigns of one build each, every one faster or slower as a whole: what is missed when all
// of one is left out is more than any of its rows misses.
TEST(Intervals, CoverTheVariationBetweenRuns) {
  const auto rows = [](double apart) {
    std::vector<BenchRow> out;
    for (int k = 0; k < 10; ++k) {
      for (BenchRow row : steady()) {
        row.model = "model " + std::to_string(k);
        row.variant.version = "v" + std::to_string(k);
        row.campaign = row.variant.version;
        row.tokens_per_s *= std::exp(k % 2 == 0 ? apart : -apart);
        out.push_back(std::move(row));
      }
    }
    return out;
  };
  const auto scales_of = [](const std::vector<BenchRow>& made) {
    return *fitted(made)->plain_scales();
  };
  const ConformalScales scales = scales_of(rows(1));
  const auto campaign = static_cast<size_t>(HeldOut::kCampaign);
  EXPECT_TRUE(scales[campaign].measured);
  const auto predictor = fitted(rows(1));
  BenchRow point = rows(1).front();
  point.batch = 6;
  EXPECT_GE(asked(*predictor, point).scale, scales[campaign].scale);
  EXPECT_GT(scales[campaign].scale, scales[static_cast<size_t>(HeldOut::kGroup)].scale);
  std::vector<BenchRow> one = rows(1);
  for (BenchRow& row : one) row.campaign = "all";
  EXPECT_FALSE(scales_of(one)[campaign].measured);
}

}  // namespace
}  // namespace assay
