#include "ingest/power/gpu_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

struct MadeLog {
  CsvTable table;
  std::vector<int64_t> times;
  std::vector<size_t> truth;
};

struct Rounds {
  size_t gpus = 4;
  double apart_s = 0.0045;  // between the rows of a round
  double lost = 0;          // share of rows
  double period_s = 0.1;
};

MadeLog log_of(const Rounds& made, uint64_t seed, int rounds = 2000) {
  MadeLog log;
  log.table.header = {"timestamp", "power.draw [W]", "temperature.gpu", "memory.used [MiB]"};
  SplitMix64 random(seed);
  std::vector<double> watts, degrees, memory;
  for (size_t g = 0; g < made.gpus; ++g) {
    watts.push_back(random.uniform(60, 380));
    degrees.push_back(random.uniform(30, 70));
    memory.push_back(random.uniform(1e3, 7e4));
  }
  double now = 0;
  for (int round = 0; round < rounds; ++round) {
    now += made.period_s + 0.002 * random.normal();
    double at = now;
    for (size_t g = 0; g < made.gpus; ++g) {
      at += made.apart_s * random.uniform(0.8, 1.3);
      if (random.chance(made.lost)) continue;
      const double drawn = watts[g] * (random.chance(0.7) ? 1 : 0.4) + 3 * random.normal();
      log.times.push_back(std::llround(at * 1e9));
      log.truth.push_back(g);
      log.table.rows.push_back({"x", std::to_string(std::fabs(drawn)) + " W",
                                std::to_string(std::lround(degrees[g] + 0.3 * random.normal())),
                                std::to_string(std::lround(memory[g])) + " MiB"});
      log.table.line.push_back(log.table.rows.size());
    }
  }
  return log;
}

TEST(GpuRows, ReportsRoundsWithLostRows) {
  for (const Rounds& made :
       {Rounds{4, 0.0045, 0}, Rounds{4, 0.0045, 0.02}, Rounds{3, 0.010, 0.02},
        Rounds{2, 0.0005, 0.05}, Rounds{8, 0.001, 0.02}, Rounds{16, 0.0005, 0.05}}) {
    const MadeLog log = log_of(made, 5);
    const auto rows = place_gpu_rows(log.table, log.times, "x.csv");
    ASSERT_TRUE(rows) << rows.error().describe();
    ASSERT_EQ(rows->gpus, made.gpus);
    size_t wrong = 0;
    for (size_t i = 0; i < log.truth.size(); ++i) {
      wrong += rows->of_row[i] != GpuRows::kUnplaced && rows->of_row[i] != log.truth[i] ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0U) << made.gpus;
    EXPECT_LT(rows->unplaced, log.truth.size() / 50) << made.gpus;
  }
}

// Rows that fill the whole round: their number is not told by times, and one GPU would be wrong.
TEST(GpuRows, RowsWithoutRoundsAreRefused) {
  const MadeLog log = log_of({8, 0.012, 0, 0.1}, 6);
  const auto rows = place_gpu_rows(log.table, log.times, "x.csv");
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("look like those of 8 GPUs"));
}

// Where they are told how many: by the time between rows, a lost one leaves twice of it.
TEST(GpuRows, AttributesTurnsWithoutAGapIfTheirNumberIsGiven) {
  MadeLog log = log_of({8, 0, 0, 0.1}, 6);
  SplitMix64 random(3);
  MadeLog kept;
  kept.table.header = log.table.header;
  for (size_t i = 0; i < log.times.size(); ++i) {
    if (i > 0 && random.chance(0.02)) continue;
    kept.times.push_back(static_cast<int64_t>(i) * 12'500'000 + random.below(1'000'000));
    kept.truth.push_back(log.truth[i]);
    kept.table.rows.push_back(log.table.rows[i]);
    kept.table.line.push_back(i + 2);
  }
  const auto rows = place_gpu_rows(kept.table, kept.times, "x.csv", 8);
  ASSERT_TRUE(rows) << rows.error().describe();
  EXPECT_EQ(rows->gpus, 8U);
  EXPECT_EQ(rows->of_row, kept.truth);
  const auto one = place_gpu_rows(kept.table, kept.times, "x.csv", 1);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->gpus, 1U);
  for (size_t i = 500; i < kept.times.size(); ++i) kept.times[i] += 900'000'000;
  const auto paused = place_gpu_rows(kept.table, kept.times, "x.csv", 8);
  ASSERT_FALSE(paused);
  EXPECT_THAT(paused.error().message, HasSubstr("the next of the 8 GPUs is unknown"));
}

// One GPU: polled evenly, with jitter, now and then late, and twice within each update.
TEST(GpuRows, OneGpuStaysOne) {
  SplitMix64 random(7);
  for (const double late : {0.0, 0.05, 0.3}) {
    MadeLog log = log_of({1, 0, 0, 0.013}, 8);
    for (size_t i = 1; i < log.times.size(); ++i) {
      const double gap = 0.013 * (random.chance(late) ? 2 : 1) + 0.0005 * random.uniform();
      log.times[i] = log.times[i - 1] + std::llround(gap * 1e9);
    }
    const auto rows = place_gpu_rows(log.table, log.times, "x.csv");
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->gpus, 1U) << late;
    EXPECT_EQ(rows->name(0), "");
  }
  MadeLog twice = log_of({1, 0, 0, 0.1}, 9);
  for (size_t i = 1; i < twice.times.size(); ++i) {
    const bool again = i % 2 == 1;
    twice.times[i] = twice.times[i - 1] + (again ? 10'000'000 : 90'000'000);
    if (again) twice.table.rows[i] = twice.table.rows[i - 1];
  }
  const auto rows = place_gpu_rows(twice.table, twice.times, "x.csv");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->gpus, 1U);
}

// No numbers but power, and hardly any rows: nothing is told, and nothing crashes.
TEST(GpuRows, FewRowsAreOneGpu) {
  for (const size_t count : {0U, 1U, 2U, 5U}) {
    MadeLog log = log_of({1, 0, 0, 0.1}, 10, static_cast<int>(count));
    const auto rows = place_gpu_rows(log.table, log.times, "x.csv");
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->gpus, 1U);
    EXPECT_EQ(rows->of_row.size(), count);
  }
}

}  // namespace
}  // namespace assay
