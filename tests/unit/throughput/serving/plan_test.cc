#include "throughput/serving/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "throughput/serving/serving_base.h"

namespace assay {
namespace {

// Both engines ran Llama-3-8B and 3-70B on H100 and H200, one to eight devices, as physics has it.
std::vector<BenchRow> rows() {
  std::vector<BenchRow> out;
  const FactBook& facts = FactBook::built_in();
  for (int campaign = 0; campaign < 8; ++campaign) {
    for (const char* gpu : {"H100", "H200"}) {
      for (const char* model : {"Llama-3-8B", "Llama-3-70B"}) {
        for (const double devices : {1, 2, 4, 8}) {
          for (const double batch : {1, 16, 128}) {
            BenchRow row;
            row.hardware = gpu;
            row.framework = "vllm";
            row.model = model;
            row.devices = devices;
            row.in_len = 1024;
            row.out_len = 256;
            row.batch = batch;
            row.variant.words = "fp8";
            row.variant.version = "v" + std::to_string(campaign);
            row.campaign = std::to_string(campaign);
            settle_precision(row);
            const ServingBase base = serving_base(row, *facts.model(model), *facts.hardware(gpu));
            const double off = std::exp(0.05 * std::cos(2.0 * campaign));
            row.ttft_ms = base.ttft_ms * off;
            row.tpot_ms = base.tpot_ms * off;
            out.push_back(row);
          }
        }
      }
    }
  }
  return out;
}

const LatencyModel& latencies() {
  static const LatencyModel model = *LatencyModel::fit(rows(), FactBook::built_in());
  return model;
}

PlanQuestion question() {
  PlanQuestion out;
  out.model = "Llama-3-70B";
  out.in_len = 1024;
  out.out_len = 256;
  out.ttft_ms = 2000;
  out.tpot_ms = 40;
  out.per_s = 8;
  out.offers = {{"H100", 2.5, 700, 8, 4}, {"H200", 3.2, 700, 8, 4}};
  return out;
}

Plan planned(const PlanQuestion& asked) {
  auto plan = make_plan(latencies(), rows(), FactBook::built_in(), asked);
  EXPECT_TRUE(plan) << plan.error().message;
  return *std::move(plan);
}

std::string refusal(const PlanQuestion& asked, const FactBook& facts = FactBook::built_in()) {
  const auto plan = make_plan(latencies(), rows(), facts, asked);
  return plan ? "" : plan.error().message;
}

TEST(Plan, IsTheCheapestThatIsSure) {
  const Plan plan = planned(question());
  ASSERT_FALSE(plan.sure.empty());
  const PlanCandidate& best = plan.sure.front();
  const PlanSetup& setup = plan.setups[best.setup];
  EXPECT_GE(best.probability, 0.9);
  EXPECT_EQ(best.gpus, best.replicas * setup.row.devices);
  EXPECT_DOUBLE_EQ(best.usd_per_hour, best.gpus * question().offers[setup.offer].usd_per_hour);
  EXPECT_NEAR(best.tokens_per_s_per_gpu * best.gpus, 8 * 256, 1e-9);
  EXPECT_NEAR(best.joules_per_token, best.gpus * 700 / (8 * 256.0), 1e-9);
  EXPECT_LE(best.load, plan.most_load);
  for (const PlanCandidate& other : plan.sure) EXPECT_LE(best.usd_per_hour, other.usd_per_hour);
  for (const PlanCandidate& likely : plan.likely) EXPECT_LT(likely.usd_per_hour, best.usd_per_hour);
}

// 70.55e9 bytes of weights do not fit one H100 of 80 GB with 1.03 of them in 0.9 of it; 64 heads
// are not shared out by 3, 5, 6 or 7.
TEST(Plan, RefusesWhatDoesNotFitOrDivide) {
  PlanQuestion asked = question();
  asked.offers = {{"H100", 2.5, 700, 8, 4}};
  const Plan plan = planned(asked);
  EXPECT_EQ(plan.refused.at("memory").setups, 1U);
  EXPECT_EQ(plan.refused.at("heads that do not divide").setups, 4U);
  for (const PlanSetup& setup : plan.setups) {
    const double n = setup.row.devices;
    EXPECT_TRUE(n == 2 || n == 4 || n == 8) << n;
  }
}

TEST(Plan, RefusesFormatsWithoutUnits) {
  PlanQuestion asked = question();
  asked.precisions = {"fp4"};
  const Plan plan = planned(asked);
  EXPECT_TRUE(plan.setups.empty());
  EXPECT_GT(plan.refused.at("a precision without units").setups, 0U);
}

double probability_of(const PlanQuestion& asked) {
  const Plan plan = planned(asked);
  return plan.best_probability;
}

TEST(Plan, LooserLimitsAndFewerRequestsAreNeverDearer) {
  const double dear = planned(question()).sure.front().usd_per_hour;
  PlanQuestion looser = question();
  looser.ttft_ms = 5000;
  looser.tpot_ms = 80;
  EXPECT_LE(planned(looser).sure.front().usd_per_hour, dear);
  PlanQuestion fewer = question();
  fewer.per_s = 2;
  EXPECT_LE(planned(fewer).sure.front().usd_per_hour, dear);
  PlanQuestion one = question();
  one.offers.pop_back();
  EXPECT_GE(planned(one).sure.front().usd_per_hour, dear);
  PlanQuestion bursts = question();
  bursts.variation = 2;
  EXPECT_GE(planned(bursts).sure.front().usd_per_hour, dear);
}

// "At best" is nothing that a row of the model on an offered GPU beats.
TEST(Plan, FloorIsNoLongerThanARowWithAPromptAsLong) {
  PlanQuestion asked = question();
  asked.offers = {{"H100", 2.5, 700, 8, 4}};
  std::vector<BenchRow> measured = rows();
  measured.push_back(measured.front());
  BenchRow& fast = measured.back();
  fast.model = "Llama-3-70B";
  fast.devices = 8;
  settle_precision(fast);
  fast.ttft_ms = 7;
  fast.tpot_ms = 2;
  const auto floor_of = [&](double in_len) {
    PlanQuestion one = asked;
    one.in_len = in_len;
    return make_plan(latencies(), measured, FactBook::built_in(), one)->ttft;
  };
  const ShortestLatency as_long = floor_of(1024);
  EXPECT_EQ(as_long.measured_ms, 7);
  EXPECT_LE(as_long.least_ms(), 7);
  EXPECT_LE(as_long.low90_ms, as_long.estimate_ms);
  // Of a longer prompt it says nothing.
  EXPECT_TRUE(std::isinf(floor_of(2048).measured_ms));
  asked.offers = {{"H200", 3.2, 700, 8, 4}};
  EXPECT_GT(floor_of(1024).measured_ms, 7);
}

TEST(Plan, RefusalsNameTheirGpus) {
  PlanQuestion asked = question();
  asked.offers = {{"H100", 2.5, 700, 8, 4}, {"T4", 0.5, 70, 8, 4}};
  const Plan plan = planned(asked);
  EXPECT_EQ(plan.refused.at("memory").offers, (std::set<size_t>{0, 1}));
  for (const PlanSetup& setup : plan.setups) EXPECT_EQ(setup.offer, 0U);
}

TEST(Plan, SaysThatNothingIsLikely) {
  PlanQuestion asked = question();
  asked.tpot_ms = 0.5;
  const Plan plan = planned(asked);
  EXPECT_TRUE(plan.sure.empty());
  EXPECT_TRUE(plan.likely.empty());
  EXPECT_LT(probability_of(asked), 0.5);
  EXPECT_GT(plan.tpot.least_ms(), 0.5);
  asked = question();
  asked.per_s = 1e6;
  EXPECT_LT(planned(asked).most_per_s, 1e6);
  EXPECT_LT(planned(asked).ttft.estimate_ms, asked.ttft_ms);
}

// A build that has rows leaves less unknown, however its name is typed.
TEST(Plan, KnowsABuildWithAndWithoutItsV) {
  PlanQuestion asked = question();
  const double unknown = planned(asked).setups.front().tpot_log_sd;
  for (const char* version : {"v3", "3"}) {
    asked.version = version;
    EXPECT_LT(planned(asked).setups.front().tpot_log_sd, 0.9 * unknown) << version;
  }
}

// The model ran in another precision, at a speed that its devices cannot have: the row teaches
// nothing, but says that there are such weights.
TEST(Plan, TriesPrecisionsOfRowsThatTeachNothing) {
  std::vector<BenchRow> more = rows();
  BenchRow row = more.front();
  row.model = "Llama-3-70B";
  row.variant.words = "int8";
  settle_precision(row);
  row.batch = 4096;
  row.ttft_ms = row.tpot_ms = 0.01;
  more.push_back(row);
  const FactBook& facts = FactBook::built_in();
  const LatencyModel model = *LatencyModel::fit(more, facts);
  EXPECT_EQ(model.rows(), rows().size());
  const auto plan = make_plan(model, more, facts, question());
  ASSERT_TRUE(plan);
  std::set<std::string> words;
  for (const PlanSetup& setup : plan->setups) words.insert(setup.row.variant.words);
  EXPECT_EQ(words, (std::set<std::string>{"fp8", "int8"}));
}

// A version is an engine's own: that another engine has it says nothing.
TEST(Plan, ChecksAVersionPerEngine) {
  std::vector<BenchRow> both = rows();
  for (BenchRow row : rows()) {
    row.framework = "sglang";
    row.variant.version = "v0.5";
    both.push_back(row);
  }
  const FactBook& facts = FactBook::built_in();
  const LatencyModel model = *LatencyModel::fit(both, facts);
  PlanQuestion asked = question();
  asked.version = "0.5";
  const auto plan = make_plan(model, both, facts, asked);
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->setups.empty());
  for (const PlanSetup& setup : plan->setups) EXPECT_EQ(setup.row.framework, "sglang");
  EXPECT_EQ(plan->refused.at("an engine without rows of that version").example,
            "vllm has v0, v1, v2, v3, v4, v5, v6, v7");
  asked.engines = {"vllm"};
  const auto refused = make_plan(model, both, facts, asked);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no row ran 'vllm' in version 'v0.5'; vllm has v0"),
            std::string::npos);
}

// A B200 has no rows, Nvidia's others do: it is let in, never sure, and no slower than an H200. Of
// AMD nothing is known.
TEST(Plan, LetsGpusWithoutRowsInButNeverSure) {
  PlanQuestion asked = question();
  asked.offers.push_back({"B200", 0.5, 1000, 8, 4});
  asked.offers.push_back({"MI300X", 0.1, 750, 8, 4});
  const Plan plan = planned(asked);
  ASSERT_FALSE(plan.sure.empty());
  for (const PlanCandidate& one : plan.sure) EXPECT_LT(plan.setups[one.setup].offer, 2U);
  ASSERT_FALSE(plan.likely.empty());
  const PlanSetup& cheap = plan.setups[plan.likely.front().setup];
  EXPECT_EQ(cheap.offer, 2U);
  EXPECT_EQ(cheap.question, LatencyQuestion::kHardware);
  EXPECT_EQ(cheap.status, PredictionStatus::kOutside);
  EXPECT_EQ(cheap.sibling, "H200");
  EXPECT_GT(plan.refused.at("an engine without rows on any GPU of the vendor").setups, 0U);
  EXPECT_LE(cheap.loop.tpot_ms.front(), 40);
  ASSERT_TRUE(plan.measure_next);
  asked.measured_only = true;
  for (const PlanSetup& setup : planned(asked).setups) EXPECT_LT(setup.offer, 2U);
}

TEST(Plan, SaysWhatExactlyRuledASetupOut) {
  PlanQuestion asked = question();
  asked.in_len = 8000;
  const Plan plan = planned(asked);
  EXPECT_TRUE(plan.setups.empty());
  EXPECT_EQ(plan.refused.at("the model's context").example,
            "8192 tokens, and prompt and answer have 8256");
}

TEST(Plan, MeasuredOnlyTakesWhatHasRows) {
  PlanQuestion asked = question();
  asked.model = "Qwen3-8B";
  EXPECT_FALSE(planned(asked).setups.empty());
  asked.measured_only = true;
  const Plan plan = planned(asked);
  EXPECT_TRUE(plan.setups.empty());
  EXPECT_GT(plan.refused.at("having no rows").setups, 0U);
}

TEST(Plan, ParetoFrontierRisesAsUsersGetLess) {
  const Plan plan = planned(question());
  ASSERT_GT(plan.pareto.size(), 2U);
  for (size_t k = 1; k < plan.pareto.size(); ++k) {
    EXPECT_LE(plan.pareto[k].tokens_per_s_per_user, plan.pareto[k - 1].tokens_per_s_per_user);
    EXPECT_GT(plan.pareto[k].tokens_per_s_per_gpu, plan.pareto[k - 1].tokens_per_s_per_gpu);
    EXPECT_LT(plan.pareto[k].low90, plan.pareto[k].tokens_per_s_per_gpu);
  }
}

// An H200 is an H100 with more and faster memory: it leaves the H100 nothing of the frontier, but
// who compares the two wants both curves.
TEST(Plan, HasACurveOfEveryGpu) {
  const Plan plan = planned(question());
  std::set<size_t> offers;
  for (const ParetoPoint& point : plan.pareto_by_gpu) offers.insert(plan.setups[point.setup].offer);
  EXPECT_EQ(offers.size(), 2U);
  for (size_t offer = 0; offer < 2; ++offer) {
    double most = 0;
    for (const ParetoPoint& point : plan.pareto_by_gpu) {
      if (plan.setups[point.setup].offer != offer) continue;
      EXPECT_GT(point.tokens_per_s_per_gpu, most);
      most = point.tokens_per_s_per_gpu;
    }
  }
}

TEST(Plan, NamesWhatItDoesNotKnow) {
  PlanQuestion asked = question();
  asked.model = "nobody/unknown";
  EXPECT_NE(refusal(asked).find("nobody/unknown"), std::string::npos);
  asked = question();
  asked.offers.push_back({"Z9000", 1, 1, 8, 4});
  EXPECT_NE(refusal(asked).find("Z9000"), std::string::npos);
  asked = question();
  asked.engines = {"sglang"};
  EXPECT_NE(refusal(asked).find("there are vllm"), std::string::npos);
  asked = question();
  asked.version = "v99";
  EXPECT_NE(refusal(asked).find("engine version 'v99'; vllm has v0, v1"), std::string::npos);
  asked = question();
  asked.per_s = 0;
  EXPECT_NE(refusal(asked).find("above 0"), std::string::npos);
}

}  // namespace
}  // namespace assay
