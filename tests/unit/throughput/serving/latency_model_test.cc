#include "throughput/serving/latency_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "throughput/serving/latency_evaluate.h"
#include "throughput/serving/serving_base.h"

namespace assay {
namespace {

BenchRow run(const std::string& model, const char* gpu, double devices, double batch) {
  BenchRow row;
  row.hardware = gpu;
  row.framework = "vllm";
  row.model = model;
  row.devices = devices;
  row.in_len = 1024;
  row.out_len = 256;
  row.batch = batch;
  row.variant.words = "fp8";
  settle_precision(row);
  return row;
}

// Llama-3-8B in FP8 on one H100, one request: 8.03e9 bytes over 3.35 TB/s are 2.397 ms, times 1.37;
// 131072 bytes a token of cache at 16 bits, 1152 tokens, are 0.0451 ms, times 0.875; 16.06 GFLOP
// over 1978.9 TFLOP/s are 0.0081 ms, times 1.41; 32 layers at 0.0437 ms; host 0.0174 ms. The
// prompt: 1024 times 0.0081 = 8.310 ms, and attention 32 x 1024^2 x 32 x 128 x 2 / 989.4e12 s =
// 0.2778 ms, times 0.777 and 2.46 of which a 256th comes between tokens, times 1.1 and 5.1 before
// the first.
TEST(ServingBase, IsBytesAndOperationsOverPeaks) {
  const FactBook& facts = FactBook::built_in();
  const BenchRow row = run("Llama-3-8B", "H100", 1, 1);
  const ServingBase base = serving_base(row, *facts.model("Llama-3-8B"), *facts.hardware("H100"));
  const double step = 1.37 * 2.39701 + 0.875 * 0.045073 + 1.41 * 0.0081156 + 32 * 0.0437 + 0.0174;
  const double between = 0.777 * 8.3103 + 2.46 * 0.27783;
  const double own = 1.1 * 8.3103 + 5.1 * 0.27783 + 0.197 * 32;
  EXPECT_NEAR(base.tpot_ms, step + between / 256, 1e-3);
  EXPECT_NEAR(base.ttft_ms, own * (1.0513 + 0.407 * own / 256 / step) + 2.67 * step + 21, 2e-3);
  EXPECT_NEAR(base.e2e_ms, base.ttft_ms + 255 * base.tpot_ms, 1e-9);
  const ServingBase floor = serving_floor(row, *facts.model("Llama-3-8B"), *facts.hardware("H100"));
  EXPECT_NEAR(floor.tpot_ms, 2.39701, 1e-4);
  EXPECT_NEAR(floor.ttft_ms, 8.3103, 1e-3);
}

// Llama-3-8B at 16 bits on one H100: 0.9 x 80 - 1.03 x 16.06 = 55.46 GB for sequences of 1024 + 128
// tokens in the mean, 0.151 GB each: 367, times 1.23 are 451.8 seats. Of 903.6 in flight half wait
// until one round of answers is done, 256 tokens' time; tokens take no longer than with 451.8.
TEST(ServingBase, LetsRequestsWaitThatMemoryHasNoSeatFor) {
  const FactBook& facts = FactBook::built_in();
  BenchRow row = run("Llama-3-8B", "H100", 1, 1);
  row.variant.words = "bf16";
  settle_precision(row);
  const ModelFacts& model = *facts.model("Llama-3-8B");
  const HardwareFacts& hardware = *facts.hardware("H100");
  const double seats = 1.23 * (72 - 1.03 * 16.06) / (131072e-9 * 1152);
  row.batch = seats;
  const ServingBase full = serving_base(row, model, hardware);
  row.batch = 2 * seats;
  const ServingBase queued = serving_base(row, model, hardware);
  EXPECT_NEAR(queued.tpot_ms, full.tpot_ms, 1e-3 * full.tpot_ms);
  EXPECT_NEAR(queued.ttft_ms - full.ttft_ms, 256 * full.tpot_ms, 2e-3 * queued.ttft_ms);
}

// 416 prompts of 15,000 tokens through 32.76e9 weights in 7.5 s are 54 PFLOP/s: two B200 do 18.
TEST(ServingBase, KnowsWhatIsBeyondAllPeaks) {
  const FactBook& facts = FactBook::built_in();
  BenchRow row = run("Qwen3-32B", "B200", 2, 416);
  row.variant.words = "fp4";
  settle_precision(row);
  row.in_len = 15000;
  row.out_len = 500;
  EXPECT_TRUE(beyond_peaks(row, 7533, *facts.model("Qwen3-32B"), *facts.hardware("B200")));
  EXPECT_FALSE(beyond_peaks(row, 30000, *facts.model("Qwen3-32B"), *facts.hardware("B200")));
}

BlockMiss miss(double z, uint32_t block,
               LatencyQuestion question = LatencyQuestion::kConfiguration) {
  return {z, 1, block, question};
}

// Twenty blocks miss by 1, 2, ... 20 deviations. Of one question they are their own pool of twenty:
// the share up to k is k/20 of 40, and 0.9 of 40 x 21/20 needs k = 18.9: the nineteenth.
TEST(CampaignScales, AreQuantilesOverBlocksAndTheOneToCome) {
  std::vector<BlockMiss> misses;
  for (uint32_t k = 1; k <= 20; ++k) misses.push_back(miss(k, k));
  const CampaignScale scale =
      campaign_scales(misses, {}, 8, 0.25)[static_cast<size_t>(LatencyQuestion::kConfiguration)];
  EXPECT_TRUE(scale.measured);
  EXPECT_EQ(scale.blocks, 20U);
  EXPECT_DOUBLE_EQ(scale.half_width(1), 19);
}

// A campaign weighs the same however many rows it has.
TEST(CampaignScales, DoNotCountRows) {
  std::vector<BlockMiss> misses;
  for (uint32_t k = 1; k <= 20; ++k) misses.push_back(miss(k, k));
  const double once = campaign_scales(misses, {}, 8, 0.25)[1].half_width(1);
  for (int again = 0; again < 50; ++again) misses.push_back(miss(1, 1));
  EXPECT_DOUBLE_EQ(campaign_scales(misses, {}, 8, 0.25)[1].half_width(1), once);
}

TEST(CampaignScales, OfFewBlocksAreAssumedAndNeverNarrowerThanNearerQuestions) {
  std::vector<BlockMiss> misses;
  for (uint32_t k = 1; k <= 20; ++k) misses.push_back(miss(5, k));
  misses.push_back(miss(0.1, 21, LatencyQuestion::kModel));
  const CampaignScales scales = campaign_scales(misses, {}, 8, 0.25);
  EXPECT_FALSE(scales[2].measured);
  EXPECT_GE(scales[2].half_width(1), scales[1].half_width(1));
}

// Twenty campaigns miss by one deviation; models that are left out whole by 1 to 20. Of the forty
// that count, 0.9 times 21/20 is the 17.8th of the models, and no other question sees them.
TEST(CampaignScales, OfANewModelAreOfModelsLeftOut) {
  constexpr auto kNewModel = static_cast<size_t>(LatencyQuestion::kNewModel);
  std::vector<BlockMiss> misses, models;
  for (uint32_t k = 1; k <= 20; ++k) {
    misses.push_back(miss(1, k));
    models.push_back(miss(k, k, LatencyQuestion::kNewModel));
  }
  CampaignScales scales = campaign_scales(misses, models, 8, 0.25);
  EXPECT_TRUE(scales[kNewModel].measured);
  EXPECT_EQ(scales[kNewModel].blocks, 20U);
  for (size_t q = 0; q < kLatencyQuestions; ++q)
    EXPECT_DOUBLE_EQ(scales[q].half_width(1), q == kNewModel ? 18 : 1);
  // Seven that were missed by nothing make it no narrower than what campaigns are missed by.
  for (BlockMiss& one : models) one.miss = 0;
  models.resize(7);
  scales = campaign_scales(misses, models, 8, 0.25);
  EXPECT_FALSE(scales[kNewModel].measured);
  EXPECT_GE(scales[kNewModel].half_width(1), 1);
}

TEST(CampaignScales, SingleRunUsesTheVariationOfOtherTables) {
  const CampaignScales scales = campaign_scales({miss(1, 1), miss(2, 1)}, {}, 8, 0.6);
  EXPECT_FALSE(scales[0].measured);
  EXPECT_NEAR(scales[0].half_width(0), 1.6448536269514722 * 0.6, 1e-12);
}

// Twelve campaigns of six builds, each off by a factor of its own.
std::vector<BenchRow> campaigns(const std::vector<std::string>& models = {"Llama-3-8B",
                                                                          "Qwen3-8B"}) {
  std::vector<BenchRow> rows;
  const FactBook& facts = FactBook::built_in();
  for (int k = 0; k < 12; ++k) {
    for (const std::string& model : models) {
      for (const double batch : {1, 4, 16, 64}) {
        BenchRow row = run(model, "H100", 1, batch);
        row.variant.version = "v" + std::to_string(k / 2);
        row.campaign = "day " + std::to_string(k);
        const double off = std::exp(0.1 * std::sin(5.0 * k));
        const ServingBase base = serving_base(row, *facts.model(model), *facts.hardware("H100"));
        row.ttft_ms = base.ttft_ms * off;
        row.tpot_ms = base.tpot_ms * off;
        rows.push_back(row);
      }
    }
  }
  return rows;
}

LatencyAnswer asked(const LatencyModel& model, const BenchRow& row) {
  return *model.answer({row}).front();
}

TEST(LatencyModel, AnswersACampaignToComeAndSaysWhatIsNew) {
  const auto model = LatencyModel::fit(campaigns(), FactBook::built_in());
  ASSERT_TRUE(model);
  EXPECT_EQ(model->campaigns(), 12U);
  EXPECT_EQ(model->builds(), 6U);
  const FactBook& facts = FactBook::built_in();
  const BenchRow row = run("Llama-3-8B", "H100", 1, 8);
  const LatencyAnswer same = asked(*model, row);
  EXPECT_EQ(same.question, LatencyQuestion::kOtherCampaign);
  EXPECT_TRUE(same.reasons.empty());
  const ServingBase base = serving_base(row, *facts.model("Llama-3-8B"), *facts.hardware("H100"));
  EXPECT_NEAR(same.at(LatencyTarget::kTpot).ms / base.tpot_ms, 1, 0.1);
  EXPECT_LT(same.at(LatencyTarget::kTpot).low90_ms, same.at(LatencyTarget::kTpot).ms);
  EXPECT_EQ(asked(*model, run("Llama-3-8B", "H100", 2, 8)).question,
            LatencyQuestion::kConfiguration);
  EXPECT_EQ(asked(*model, run("Mistral-7B", "H100", 1, 8)).question, LatencyQuestion::kNewModel);
  const LatencyAnswer hardware = asked(*model, run("Llama-3-8B", "H200", 1, 8));
  EXPECT_EQ(hardware.question, LatencyQuestion::kHardware);
  EXPECT_EQ(hardware.at(LatencyTarget::kTpot).status, PredictionStatus::kOutside);
  EXPECT_FALSE(hardware.beyond_rows());
  EXPECT_TRUE(asked(*model, run("Llama-3-8B", "H200", 1, 1024)).beyond_rows());
}

// The H200 has 4.8 TB/s where the H100 has 3.35, and the same 16-bit peak: the baseline's TPOT is
// the H100's times 3.35 / 4.8, its TTFT the H100's. Rows of an H100 that ran half as fast as
// physics say nothing of an A100, which is below it by its sheet and must not be told to be faster.
TEST(LatencyModel, KeepsGpusWithoutRowsInTheOrderOfDataSheets) {
  std::vector<BenchRow> rows = campaigns();
  for (BenchRow& row : rows) {
    row.ttft_ms *= 20;
    row.tpot_ms *= 20;
  }
  const auto model = LatencyModel::fit(rows, FactBook::built_in());
  const auto of = [&](const char* gpu) { return asked(*model, run("Llama-3-8B", gpu, 1, 8)); };
  const LatencyAnswer h100 = of("H100");
  const LatencyAnswer h200 = of("H200");
  EXPECT_TRUE(h100.sibling.empty());
  EXPECT_EQ(h200.sibling, "H100");
  EXPECT_NEAR(h200.sibling_ms[1], h100.at(LatencyTarget::kTpot).ms * 3.35 / 4.8, 1e-6);
  EXPECT_NEAR(h200.sibling_ms[0], h100.at(LatencyTarget::kTtft).ms, 1e-6);
  for (const LatencyTarget target : kLearntLatencies) {
    EXPECT_LE(h200.at(target).ms, h100.at(target).ms * (1 + 1e-9));
    EXPECT_GE(of("A100 80GB").at(target).ms, h100.at(target).ms * (1 - 1e-9));
    EXPECT_LE(of("B200").at(target).ms, h200.at(target).ms * (1 + 1e-9));
  }
  EXPECT_TRUE(of("MI300X").sibling.empty());
}

TEST(LatencyModel, DoesNotDependOnTheNamesOfRuns) {
  std::vector<BenchRow> renamed = campaigns();
  for (BenchRow& row : renamed) row.campaign = "run of " + row.campaign;
  const BenchRow row = run("Llama-3-8B", "H100", 1, 8);
  const LatencyEstimate a =
      asked(*LatencyModel::fit(campaigns(), FactBook::built_in()), row).at(LatencyTarget::kTtft);
  const LatencyEstimate b =
      asked(*LatencyModel::fit(renamed, FactBook::built_in()), row).at(LatencyTarget::kTtft);
  EXPECT_DOUBLE_EQ(a.ms, b.ms);
  EXPECT_DOUBLE_EQ(a.high90_ms, b.high90_ms);
}

// One scale for both: a build that has rows is told narrower by its smaller deviation alone.
TEST(LatencyModel, IsNotWiderForABuildThatHasRows) {
  const auto model = LatencyModel::fit(campaigns(), FactBook::built_in());
  BenchRow row = run("Llama-3-8B", "H100", 1, 8);
  const LatencyEstimate unknown = asked(*model, row).at(LatencyTarget::kTpot);
  row.variant.version = "v3";
  const LatencyEstimate told = asked(*model, row).at(LatencyTarget::kTpot);
  EXPECT_LT(told.log_sd, unknown.log_sd);
  EXPECT_LT(told.half_width90(), unknown.half_width90());
  const CampaignScale scale = model->campaign_scales_of(LatencyTarget::kTpot)[0];
  EXPECT_NEAR(std::log1p(unknown.half_width90()), scale.half_width(unknown.log_sd), 1e-9);
}

// A model that one build alone has run, four times slower on the prompts of others and as fast as
// physics otherwise: under a build that is as fast as physics with other models it is expected to
// be nearly so, too, long prompts included. Without the effect on prompts the model is to blame.
TEST(LatencyModel, BlamesABuildForPromptsThatItIsSlowWith) {
  const FactBook& facts = FactBook::built_in();
  const auto measured = [&](const std::string& model, double in_len, double batch, bool slow) {
    BenchRow row = run(model, "H100", 1, batch);
    row.in_len = in_len;
    row.variant.version = slow ? "slow" : "usual";
    row.campaign = slow ? "one day" : "another";
    const ServingBase base = serving_base(row, *facts.model(model), *facts.hardware("H100"));
    row.ttft_ms = base.ttft_ms;
    row.tpot_ms = base.tpot_ms * (1 + (slow ? 3 : 0) * base.prompt_share);
    return row;
  };
  std::vector<BenchRow> rows;
  for (const double in_len : {128, 1024, 8192}) {
    for (const double batch : {1, 4, 16, 64}) {
      rows.push_back(measured("Llama-3-8B", in_len, batch, false));
      rows.push_back(measured("Mistral-7B", in_len, batch, true));
    }
  }
  BenchRow row = measured("Mistral-7B", 8192, 64, false);
  const auto log_slower = [&](const LatencyOptions& options) {
    const auto model = LatencyModel::fit(rows, facts, options);
    return std::log(asked(*model, row).at(LatencyTarget::kTpot).ms / row.tpot_ms);
  };
  LatencyOptions without;
  auto& scale = without.parameters[static_cast<size_t>(LatencyTarget::kTpot)].scale;
  for (size_t k = 0; k < kLatencyScales; ++k) {
    if (latency_scale_names()[k].back() == 'p') scale[k] = 0;
  }
  EXPECT_LT(log_slower({}), 0.35);
  EXPECT_GT(log_slower(without), 2 * log_slower({}));
  const HardwareFacts& h100 = *facts.hardware("H100");
  const ServingBase heavy = serving_base(row, *facts.model("Mistral-7B"), h100);
  const ServingBase light =
      serving_base(run("Mistral-7B", "H100", 1, 1), *facts.model("Mistral-7B"), h100);
  EXPECT_GT(heavy.prompt_share, 0.4);
  EXPECT_LT(light.prompt_share, 0.05);
}

// Campaigns repeat and models do not: every second is three times slower. A campaign left out says
// nothing of that, since its models have rows in the others.
TEST(LatencyModel, PredictsAModelWithoutRowsFromHeldOutModels) {
  const std::vector<std::string> models = {"Llama-3-8B", "Qwen3-8B",    "Llama-2-7b",
                                           "Qwen2-7B",   "Qwen2.5-7B",  "Qwen1.5-7B",
                                           "opt-6.7b",   "Qwen2.5-14B", "Qwen3-14B"};
  std::vector<BenchRow> rows = campaigns(models);
  std::map<std::string, double> times;
  for (size_t m = 0; m < models.size(); ++m) times[models[m]] = m % 2 == 0 ? 1 : 3;
  for (BenchRow& row : rows) row.tpot_ms *= times[row.model];
  const auto model = LatencyModel::fit(rows, FactBook::built_in());
  ASSERT_TRUE(model);
  const LatencyAnswer told = asked(*model, run("Mistral-7B", "H100", 1, 8));
  EXPECT_EQ(told.question, LatencyQuestion::kNewModel);
  EXPECT_TRUE(told.measured);
  const CampaignScales scales = model->campaign_scales_of(LatencyTarget::kTpot);
  const CampaignScale& scale = scales[static_cast<size_t>(LatencyQuestion::kNewModel)];
  EXPECT_EQ(scale.blocks, models.size());
  const LatencyEstimate& tpot = told.at(LatencyTarget::kTpot);
  EXPECT_NEAR(std::log1p(tpot.half_width90()), scale.half_width(tpot.log_sd), 1e-9);
  const CampaignScale& known = scales[static_cast<size_t>(LatencyQuestion::kModel)];
  EXPECT_GT(scale.half_width(tpot.log_sd), 1.2 * known.half_width(tpot.log_sd));
}

TEST(LatencyModel, RefusesATableWithoutLatencies) {
  std::vector<BenchRow> rows = campaigns();
  for (BenchRow& row : rows) row.ttft_ms = std::nan("");
  const auto model = LatencyModel::fit(rows, FactBook::built_in());
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("TTFT and TPOT"), std::string::npos);
}

TEST(LatencyEvaluation, HoldsWholeRunsOutAndFindsTheirFactors) {
  const auto told = evaluate_latency(campaigns(), FactBook::built_in());
  ASSERT_TRUE(told);
  const LatencyErrors& first = told->errors.front();
  EXPECT_EQ(first.split, "campaign");
  EXPECT_EQ(first.rows, 96U);
  EXPECT_EQ(first.campaigns, 12U);
  // No campaign is off by more than a tenth, from the middle of them.
  EXPECT_LT(first.p90_ape, 0.2);
  EXPECT_GE(first.coverage90, 0.9);
  const auto model = std::find_if(told->errors.begin(), told->errors.end(),
                                  [](const LatencyErrors& e) { return e.split == "model"; });
  ASSERT_NE(model, told->errors.end());
  EXPECT_EQ(model->rows, 96U);
}

// A laboratory whose runs take three times as long as all campaigns learnt from, on a GPU, model
// and engine that have rows: its copies of known measurements are not asked, the others are all
// missed by that factor, and campaigns that differ by a tenth do not make intervals that hold it.
TEST(LatencyEvaluation, EvaluatesATableOutsideTheTraining) {
  const FactBook& facts = FactBook::built_in();
  const std::vector<BenchRow> rows = campaigns();
  std::vector<BenchRow> other(rows.begin(), rows.begin() + 8);
  std::vector<BenchRow> slow = other;
  for (BenchRow& row : slow) {
    row.campaign = "elsewhere";
    row.ttft_ms *= 3;
    row.tpot_ms *= 3;
    row.latency_s *= 3;
    other.push_back(row);
  }
  BenchRow unknown = slow.front();
  unknown.model = "a model without facts";
  other.push_back(unknown);
  const auto told = judge_latency(rows, other, facts);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->copies, 8U);
  EXPECT_EQ(told->left_out, 1U);
  EXPECT_EQ(told->errors.front().split, kOtherTable);
  EXPECT_EQ(told->errors.front().rows, 8U);
  EXPECT_EQ(told->judged.size(), 8U * kLatencyTargets);
  for (const JudgedRow& judged : told->judged) {
    EXPECT_EQ(judged.row->campaign, "elsewhere");
    if (judged.target != LatencyTarget::kTpot) continue;
    EXPECT_NEAR(judged.told.ms / judged.measured_ms, 1.0 / 3, 0.08);
    EXPECT_LT(judged.told.high90_ms, judged.measured_ms);
  }
  EXPECT_FALSE(judge_latency(rows, {unknown}, facts));
}

TEST(LimitsProbability, IsNearOneFarBelowAndNearNoneFarAboveTheLimits) {
  LatencyAnswer answer;
  for (LatencyEstimate& of : answer.of) of = {.ms = 100, .log_sd = 0.1};
  EXPECT_NEAR(limits_probability(answer, 0.3, 200, 200), 1, 1e-9);
  EXPECT_NEAR(limits_probability(answer, 0.3, 50, 200), 0, 1e-9);
  EXPECT_GT(limits_probability(answer, 0.3, 110, 110), limits_probability(answer, 0.3, 105, 110));
}

}  // namespace
}  // namespace assay
