// What holds of the figures of any configuration, and of any set of ranks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "breakdown/figures.h"
#include "breakdown/token_groups.h"
#include "support/random.h"

namespace assay {
namespace {

JobLevels random_job(uint64_t seed) {
  Dice dice(seed);
  JobLevels job;
  job.op_names = {"a", "b", "c", "d"};
  const int64_t gpus = 1 + dice.below(4);
  const auto iterations = static_cast<int32_t>(1 + dice.below(5));
  for (int64_t gpu = 0; gpu < gpus; ++gpu) {
    for (int32_t iter = 0; iter < iterations; ++iter) {
      for (const LevelPhase phase : {LevelPhase::kForward, LevelPhase::kBackward}) {
        for (int32_t layer = -1; layer < 3; ++layer) {
          for (uint32_t op = 0; op < 4; ++op) {
            for (const OpType type : {OpType::kGemm, OpType::kVector, OpType::kComm}) {
              if (dice.below(3) == 0) continue;
              LevelCell cell{gpu, iter, phase, layer, op, type, {}};
              cell.sums.kernels = 1 + static_cast<uint64_t>(dice.below(3));
              cell.sums.dur_ns = 1 + dice.below(1000);
              cell.sums.op_dur_ns = cell.sums.dur_ns + dice.below(10);
              cell.sums.overlap_ns = dice.below(cell.sums.dur_ns + 1);
              cell.sums.prep_ns = dice.below(100);
              cell.sums.call_ns = dice.below(100);
              cell.sums.launch_ns = cell.sums.prep_ns + cell.sums.call_ns;
              job.cells.push_back(cell);
            }
          }
        }
      }
    }
  }
  return job;
}

TEST(FiguresProperty, BoxesAreInOrderAndRatiosWithinBounds) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const ConfigFigures figures = config_figures("x", random_job(seed), {});
    const auto ordered = [](const FigureBox& box) {
      return box.min <= box.p25 && box.p25 <= box.median && box.median <= box.p75 &&
             box.p75 <= box.max;
    };
    for (const FigureOp& op : figures.ops) {
      EXPECT_TRUE(ordered(op.dur_ns));
      EXPECT_TRUE(std::isnan(op.correlation) || std::abs(op.correlation) <= 1 + 1e-12);
      EXPECT_GE(op.overlap_ratio, 0);
      EXPECT_LE(op.overlap_ratio, 1);
      EXPECT_GE(op.executions, op.dur_ns.samples);
    }
    for (const FigureLayer& one : figures.layers) {
      EXPECT_TRUE(ordered(one.dur_ns));
      EXPECT_LE(one.overlap_ratio.max, 1);
    }
  }
}

TEST(FiguresProperty, CurvesRiseToOneFromTheLeastDuration) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const ConfigFigures figures = config_figures("x", random_job(seed), {});
    const FigureExecution* before = nullptr;
    for (const FigureExecution& one : figures.executions) {
      const bool same = before != nullptr && before->name == one.name && before->gpu == one.gpu;
      if (!same) {
        EXPECT_EQ(one.relative, 1);
        if (before != nullptr && !std::isnan(before->cumulative)) {
          EXPECT_NEAR(before->cumulative, 1, 1e-12);
        }
      } else {
        EXPECT_GE(one.relative, before->relative);
        EXPECT_TRUE(std::isnan(one.cumulative) || one.cumulative >= before->cumulative);
      }
      before = &one;
    }
  }
}

TEST(FiguresProperty, TypesOfASampleAddUpToItsPhase) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    JobLevels job = random_job(seed);
    std::erase_if(job.cells, [](const LevelCell& c) { return c.gpu != 0 || c.iter != 0; });
    const ConfigFigures figures = config_figures("x", job, {});
    std::map<LevelPhase, double> whole;
    std::map<LevelPhase, double> parts;
    for (const FigurePart& part : figures.parts)
      (part.op_type ? parts : whole)[part.phase] += part.dur_ns;
    EXPECT_EQ(parts, whole);
    // Operations with their bubbles are no shorter than their kernels.
    double ops = 0;
    double kernels = 0;
    for (const FigureOp& op : figures.ops) ops += op.dur_ns.median;
    for (const auto& [phase, dur_ns] : whole) kernels += dur_ns;
    EXPECT_GE(ops, kernels);
  }
}

TEST(FiguresProperty, CorrelationDoesNotDependOnUnits) {
  Dice dice(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> x;
    std::vector<double> y;
    std::vector<double> scaled;
    for (int i = 0; i < 12; ++i) {
      x.push_back(static_cast<double>(dice.below(100)));
      y.push_back(static_cast<double>(dice.below(100)));
      scaled.push_back(5 + 1e6 * y.back());
    }
    EXPECT_NEAR(correlation(x, y), correlation(y, x), 1e-12);
    EXPECT_NEAR(correlation(x, y), correlation(x, scaled), 1e-9);
  }
  EXPECT_TRUE(std::isnan(correlation({0.1, 0.1, 0.1}, {1, 2, 3})));
}

TEST(FiguresProperty, TokenGroupsPartitionTheRanks) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    std::vector<RankLevels> ranks(static_cast<size_t>(1 + dice.below(8)));
    for (RankLevels& rank : ranks) {
      rank.report.placement.layers = 4;
      rank.report.groups.push_back({"tp" + std::to_string(dice.below(3)), "", "all_reduce"});
      const int64_t times = 2 + dice.below(6);
      for (int k = 0; k < times; ++k)
        rank.report.collectives.push_back({0, 1, LevelPhase::kForward, k, k, k + 1});
      LevelSpan span;
      span.iter = 1;
      span.tokens = 8 + dice.below(2);
      rank.report.spans.push_back(span);
    }
    const std::vector<size_t> first = token_groups(ranks);
    ASSERT_EQ(first.size(), ranks.size());
    for (size_t r = 0; r < ranks.size(); ++r) {
      EXPECT_LE(first[r], r);
      EXPECT_EQ(first[first[r]], first[r]);
      EXPECT_EQ(ranks[r].report.spans[0].tokens, ranks[first[r]].report.spans[0].tokens);
      if (first[r] != r) {
        EXPECT_GE(ranks[r].report.collectives.size(), 4u);
      }
    }
  }
}

}  // namespace
}  // namespace assay
