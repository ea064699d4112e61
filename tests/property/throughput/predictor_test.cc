#include "throughput/predictor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "throughput/data_sheets.h"
#include "throughput/dataset.h"
#include "throughput/model_file.h"
#include "throughput/physics.h"
#include "throughput/suggest.h"

namespace assay {
namespace {

double unit_of(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// A made-up engine near physics: every configuration has a speed of its own and 1 % of noise.
std::vector<BenchRow> made_rows(uint64_t seed, bool known = true) {
  std::mt19937_64 random(seed);
  std::vector<BenchRow> rows;
  const FactBook& facts = FactBook::built_in();
  for (const char* hardware : {"Nvidia A100 GPU", "Nvidia H100 GPU"}) {
    for (const char* model : {"Qwen/Qwen2-7B", "meta-llama/Llama-2-7b-hf"}) {
      const double speed = 0.5 + unit_of(random);
      for (const double length : {128, 512, 2048}) {
        for (const double batch : {1, 8, 64}) {
          if (unit_of(random) < 0.2) continue;
          BenchRow row;
          row.hardware = known ? hardware : std::string("mine ") + hardware;
          row.framework = "vLLM";
          row.model = model;
          row.in_len = row.out_len = length;
          row.batch = batch;
          double seconds = 0;
          for (const double term :
               physics_terms(row, *facts.model(model), *facts.hardware(hardware)))
            seconds += 3 * term;
          const double noise = std::exp(0.02 * (unit_of(random) - 0.5));
          row.tokens_per_s = 2 * length * batch / seconds * speed * noise;
          rows.push_back(row);
        }
      }
    }
  }
  return rows;
}

ThroughputData data_of(const std::vector<BenchRow>& rows) {
  return *make_throughput_data(BenchTable{"made", "csv", rows, {}});
}

std::unique_ptr<Predictor> fitted(const std::vector<BenchRow>& rows,
                                  PredictorOptions options = {}) {
  return *Predictor::fit(data_of(rows), FactBook::built_in(), options);
}

std::vector<BenchRow> questions(uint64_t seed) {
  std::mt19937_64 random(seed * 31);
  std::vector<BenchRow> points = made_rows(seed + 1000);
  for (BenchRow& point : points) {
    point.batch = std::ceil(300 * unit_of(random));
    point.in_len = std::ceil(5000 * unit_of(random));
  }
  return points;
}

// Rows of several engines, enough to tell what a fit of a configuration's own is worth.
std::vector<BenchRow> more_rows(uint64_t seed) {
  std::vector<BenchRow> rows;
  for (const char* framework : {"vLLM", "another engine", "a third", "a fourth"}) {
    for (BenchRow& row : made_rows(seed += 500)) {
      row.framework = framework;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// The rows' configurations at twice to eight times their batch or length.
std::vector<BenchRow> points_beyond(uint64_t seed) {
  std::mt19937_64 random(seed * 17);
  std::vector<BenchRow> points = more_rows(seed);
  for (BenchRow& point : points) {
    const double factor = std::ceil(1 + 7 * unit_of(random));
    (unit_of(random) < 0.5 ? point.batch : point.in_len) *= factor;
    point.out_len = point.in_len;
  }
  return points;
}

class RandomTables : public ::testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomTables, ::testing::Range<uint64_t>(1, 6));

TEST_P(RandomTables, PredictionsArePositiveAndInsideTheirIntervals) {
  for (const bool known : {true, false}) {
    for (const Prediction& p :
         fitted(made_rows(GetParam(), known))->predict(questions(GetParam()))) {
      EXPECT_GT(p.low90, 0);
      EXPECT_LE(p.low90, p.tokens_per_s);
      EXPECT_LE(p.tokens_per_s, p.high90);
      EXPECT_TRUE(std::isfinite(p.high90));
    }
  }
}

TEST_P(RandomTables, AllThroughputsTimesKGiveAllPredictionsTimesK) {
  std::vector<BenchRow> rows = made_rows(GetParam());
  const auto before = fitted(rows)->predict(questions(GetParam()));
  for (BenchRow& row : rows) row.tokens_per_s *= 7.5;
  const auto after = fitted(rows)->predict(questions(GetParam()));
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_NEAR(after[i].tokens_per_s / before[i].tokens_per_s, 7.5, 1e-6);
    EXPECT_NEAR(after[i].high90 / before[i].high90, 7.5, 1e-6);
  }
}

TEST_P(RandomTables, TheOrderOfTheRowsChangesNothing) {
  std::vector<BenchRow> rows = made_rows(GetParam());
  const auto before = fitted(rows)->predict(questions(GetParam()));
  std::reverse(rows.begin(), rows.end());
  const auto after = fitted(rows)->predict(questions(GetParam()));
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].tokens_per_s, before[i].tokens_per_s);
    EXPECT_EQ(after[i].low90, before[i].low90);
  }
}

TEST_P(RandomTables, OtherNamesForTheSameThingsChangeNothing) {
  const auto renamed = [](std::vector<BenchRow> rows) {
    for (BenchRow& row : rows) row.framework = "another engine";
    return rows;
  };
  const auto before = fitted(made_rows(GetParam()))->predict(questions(GetParam()));
  const auto after =
      fitted(renamed(made_rows(GetParam())))->predict(renamed(questions(GetParam())));
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_NEAR(after[i].tokens_per_s / before[i].tokens_per_s, 1, 1e-9);
    EXPECT_NEAR(after[i].high90 / before[i].high90, 1, 1e-9);
    EXPECT_EQ(after[i].status, before[i].status);
  }
}

// However slow the H100's rows are, no GPU without rows is slower than one that its data sheet
// dominates, asked alone or together.
TEST_P(RandomTables, GpusWithoutRowsKeepTheOrderOfDataSheets) {
  std::vector<BenchRow> rows = made_rows(GetParam());
  for (BenchRow& row : rows) {
    if (row.hardware == "Nvidia H100 GPU") row.tokens_per_s *= 0.2;
  }
  const auto predictor = fitted(rows);
  const FactBook& facts = FactBook::built_in();
  const std::vector<const char*> gpus = {"Nvidia A100 80GB", "Nvidia H100 NVL", "Nvidia H200 GPU",
                                         "Nvidia B200 GPU", "Nvidia GB200 GPU"};
  for (const BenchRow& question : questions(GetParam())) {
    std::vector<BenchRow> points(gpus.size(), question);
    for (size_t g = 0; g < gpus.size(); ++g) points[g].hardware = gpus[g];
    const auto told = predictor->predict(points);
    const double alone = predictor->predict({points[2]}).front().tokens_per_s;
    EXPECT_NEAR(alone / told[2].tokens_per_s, 1, 1e-9);
    for (size_t a = 0; a < gpus.size(); ++a) {
      for (size_t b = 0; b < gpus.size(); ++b) {
        if (!dominates(question, *facts.hardware(gpus[a]), *facts.hardware(gpus[b]))) continue;
        EXPECT_GE(told[a].tokens_per_s / told[b].tokens_per_s, 1 - 1e-9) << gpus[a] << gpus[b];
      }
    }
  }
}

// Also one that ran under another engine, and nothing of a GPU with rows.
TEST_P(RandomTables, GpusWithoutRowsArePredictedFromSiblings) {
  std::vector<BenchRow> rows = made_rows(GetParam());
  for (BenchRow& row : rows) {
    if (row.hardware == "Nvidia H100 GPU") row.framework = "another engine";
  }
  const auto predictor = fitted(rows);
  const auto by_sibling = [&](const char* gpu) {
    BenchRow point = rows.front();
    point.framework = "vLLM";
    point.hardware = gpu;
    const Explained told = predictor->explain({point}).front();
    return std::any_of(told.reasons.begin(), told.reasons.end(), [](const std::string& reason) {
      return reason.find("of the estimate is that of") != std::string::npos;
    });
  };
  EXPECT_TRUE(by_sibling("Nvidia H100 GPU"));
  EXPECT_TRUE(by_sibling("Nvidia H200 GPU"));
  EXPECT_FALSE(by_sibling("Nvidia A100 GPU"));
}

// Two GPUs of one engine tell each other's misses, too few to be an interval of 90 %: it is no
// narrower than the process's own.
TEST_P(RandomTables, FewLeftOutGpusMakeNoIntervalNarrower) {
  const auto predictor = fitted(made_rows(GetParam()));
  BenchRow point = made_rows(GetParam()).front();
  point.hardware = "Nvidia H200 GPU";
  const Explained told = predictor->explain({point}).front();
  EXPECT_FALSE(told.measured);
  EXPECT_GE(told.log_half_width(), kNormalScale * told.log_sd);
}

// 3.35 over 1.555 TB/s of what the A100 is told to do, and nothing of a GPU with rows.
TEST_P(RandomTables, TheNearestGpuTimesBandwidthIsABaseline) {
  std::vector<BenchRow> rows = made_rows(GetParam());
  std::erase_if(rows, [](const BenchRow& row) { return row.hardware == "Nvidia H100 GPU"; });
  const auto baseline =
      *nearest_gpu_method(FactBook::built_in()).fit(data_of(rows), HeldOut::kHardware);
  BenchRow old = rows.front();
  BenchRow point = old;
  point.hardware = "Nvidia H100 GPU";
  const auto answers = baseline->predict({point, old});
  const double measured = fitted(rows)->predict({old}).front().tokens_per_s;
  EXPECT_NEAR(answers[0].tokens_per_s / measured, 3.35 / 1.555, 1e-6);
  EXPECT_TRUE(std::isnan(answers[0].low90));
  EXPECT_EQ(answers[1].status, PredictionStatus::kNoAnswer);
}

TEST_P(RandomTables, ATrainingRowIsPredictedWithinTheNoise) {
  const auto predictor = fitted(made_rows(GetParam()));
  const auto answers = predictor->predict(predictor->rows());
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_NEAR(std::log(answers[i].tokens_per_s / predictor->rows()[i].tokens_per_s), 0, 0.05);
    EXPECT_EQ(answers[i].status, PredictionStatus::kInside);
  }
}

TEST_P(RandomTables, WithinItsRowsNoConfigurationHasAFitOfItsOwn) {
  const auto predictor = fitted(more_rows(GetParam()));
  std::vector<BenchRow> points = predictor->rows();
  for (BenchRow& point : points) point.batch = std::max(1.0, std::floor(0.9 * point.batch));
  for (const Explained& e : predictor->explain(points)) {
    EXPECT_EQ(e.fit_weight, 0);
    EXPECT_EQ(e.prediction.basis, "gp on physics");
  }
}

TEST_P(RandomTables, AFitOfItsOwnKeepsWhatHoldsOfAllPredictions) {
  std::vector<BenchRow> rows = more_rows(GetParam());
  const std::vector<BenchRow> points = points_beyond(GetParam());
  const auto before = fitted(rows)->explain(points);
  std::reverse(rows.begin(), rows.end());
  const auto reversed = fitted(rows)->explain(points);
  for (BenchRow& row : rows) row.tokens_per_s *= 7.5;
  const auto scaled = fitted(rows)->explain(points);
  size_t with_fit = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const Prediction& p = before[i].prediction;
    with_fit += before[i].fit_weight > 0;
    EXPECT_LT(before[i].fit_weight, 1);
    EXPECT_GT(p.low90, 0);
    EXPECT_LE(p.low90, p.tokens_per_s);
    EXPECT_LE(p.tokens_per_s, p.high90);
    EXPECT_EQ(reversed[i].prediction.tokens_per_s, p.tokens_per_s);
    EXPECT_EQ(reversed[i].prediction.high90, p.high90);
    EXPECT_NEAR(scaled[i].prediction.tokens_per_s / p.tokens_per_s, 7.5, 1e-5);
    EXPECT_NEAR(scaled[i].prediction.high90 / p.high90, 7.5, 1e-5);
  }
  EXPECT_GT(with_fit, points.size() / 10);
}

// At the edge of a configuration's rows, at twice and four times its largest batch or length.
TEST_P(RandomTables, NothingJumpsWhereAFitOfItsOwnSetsIn) {
  constexpr double kStep = 1e-9;
  const auto predictor = fitted(more_rows(GetParam()));
  const auto at = [&](bool batch, double factor) {
    std::vector<BenchRow> points = predictor->rows();
    for (BenchRow& point : points) {
      (batch ? point.batch : point.in_len) *= factor;
      point.out_len = point.in_len;
    }
    return predictor->predict(points);
  };
  for (const bool batch : {true, false}) {
    for (const double factor : {1.0, 2.0, 4.0}) {
      const auto before = at(batch, factor);
      const auto after = at(batch, factor * (1 + kStep));
      const auto further = at(batch, factor * (1 + 2 * kStep));
      for (size_t i = 0; i < before.size(); ++i) {
        EXPECT_NEAR(after[i].tokens_per_s / before[i].tokens_per_s, 1, 1e-6);
        // The question changes at the edge, and with it the interval; beyond nothing does.
        EXPECT_NEAR(further[i].high90 / after[i].high90, 1, 1e-6);
      }
    }
  }
}

TEST_P(RandomTables, IntervalsGoFromTheScaleOfTheProcessToThatWithTheFit) {
  const auto predictor = fitted(more_rows(GetParam()));
  const ConformalScales& scales = *predictor->physics_scales();
  const ConformalScale& larger = scales[static_cast<size_t>(HeldOut::kLargerBatch)];
  ASSERT_GT(larger.fit_weight, 0);
  size_t checked = 0;
  for (const BenchRow& row : predictor->rows()) {
    for (const double share : {0.5, 1.0}) {
      BenchRow point = row;
      point.batch *= std::exp2(share);
      const Explained e = predictor->explain({point}).front();
      if (std::abs(e.fit_weight - share * larger.fit_weight) > 1e-9) continue;
      const double beyond = (1 - share) * larger.scale + share * larger.blended_scale;
      EXPECT_NEAR(e.scale, beyond, 1e-9);  // as the larger batches that were held out say
      ++checked;
    }
  }
  EXPECT_GT(checked, 10U);
}

TEST_P(RandomTables, MoreRowsNeverWidenTheProcessAtATrainingPoint) {
  const std::vector<BenchRow> all = made_rows(GetParam());
  const std::vector<BenchRow> half(all.begin(),
                                   all.begin() + static_cast<ptrdiff_t>(all.size() / 2));
  const auto few = fitted(half)->explain(half);
  const auto many = fitted(all)->explain(half);
  for (size_t i = 0; i < half.size(); ++i) EXPECT_LE(many[i].log_sd, few[i].log_sd * (1 + 1e-9));
}

TEST_P(RandomTables, AModelFileAnswersAsTheFitThatWroteIt) {
  ThroughputFit fit{"made", "csv", data_of(more_rows(GetParam())), FactBook::built_in(), {}};
  const auto predictor = *Predictor::fit(fit.data, fit.facts, fit.options);
  auto read = read_model(write_model(fit, *predictor), "model.json");
  ASSERT_TRUE(read) << read.error().describe();
  const auto again = *Predictor::fit(read->data, read->facts, read->options);
  std::vector<BenchRow> points = questions(GetParam());
  for (const BenchRow& point : points_beyond(GetParam())) points.push_back(point);
  const auto before = predictor->predict(points);
  const auto after = again->predict(points);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].tokens_per_s, before[i].tokens_per_s);
    EXPECT_EQ(after[i].low90, before[i].low90);
  }
}

// A model file with digests, read again.
std::unique_ptr<Predictor> digested(const std::vector<BenchRow>& rows) {
  ThroughputFit fit{"made", "csv", data_of(rows), FactBook::built_in(), {}};
  fit.options.digest_from_rows = 0;
  const auto predictor = *Predictor::fit(fit.data, fit.facts, fit.options);
  auto read = read_model(write_model(fit, *predictor), "model.json");
  EXPECT_TRUE(read) << read.error().describe();
  EXPECT_FALSE(read->options.digests.empty());
  return *Predictor::fit(read->data, read->facts, read->options);
}

TEST_P(RandomTables, DigestsAnswerAsTheProcessDoes) {
  for (const bool known : {true, false}) {
    const std::vector<BenchRow> rows = made_rows(GetParam(), known);
    std::vector<BenchRow> points = rows;  // what digests are for: measured configurations
    for (BenchRow& point : points) {
      point.batch = std::ceil(1.3 * point.batch);
      point.in_len = point.out_len = std::ceil(0.9 * point.in_len);
    }
    const std::vector<BenchRow> far = questions(GetParam());
    points.insert(points.end(), far.begin(), far.end());
    const auto exact = fitted(rows)->explain(points);
    const auto quick = digested(rows)->explain(points);
    for (size_t i = 0; i < points.size(); ++i) {
      const Prediction& a = exact[i].prediction;
      const Prediction& b = quick[i].prediction;
      EXPECT_NEAR(b.tokens_per_s / a.tokens_per_s, 1, 1e-6);
      EXPECT_NEAR(quick[i].log_sd / exact[i].log_sd, 1, 1e-6);
      EXPECT_EQ(b.status, a.status);
    }
  }
}

TEST_P(RandomTables, TheOrderOfTheRowsChangesNoDigest) {
  std::vector<BenchRow> rows = made_rows(GetParam());
  const auto before = digested(rows)->predict(questions(GetParam()));
  std::reverse(rows.begin(), rows.end());
  const auto after = digested(rows)->predict(questions(GetParam()));
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].tokens_per_s, before[i].tokens_per_s);
    EXPECT_EQ(after[i].low90, before[i].low90);
  }
}

TEST_P(RandomTables, ASuggestionPredictsTheGainOfItsMeasurement) {
  std::vector<BenchRow> rows = made_rows(GetParam());
  const auto predictor = fitted(rows);
  const BenchRow target = questions(GetParam()).front();
  const std::vector<BenchRow> extra = {questions(GetParam()).back(), target};
  const std::vector<double> promised = predictor->log_sd_after(target, extra);
  for (size_t k = 0; k < extra.size(); ++k) {
    std::vector<BenchRow> more = rows;
    more.push_back(extra[k]);
    more.back().tokens_per_s = 1234;
    EXPECT_NEAR(fitted(more)->explain({target}).front().log_sd, promised[k], 1e-5);
  }
}

}  // namespace
}  // namespace assay
