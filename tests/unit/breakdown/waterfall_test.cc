#include "breakdown/waterfall.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

namespace assay {
namespace {

// The paper's device: 304 CUs with 2048 dense BF16 FLOP per clock at 2.1 GHz.
WaterfallPeaks mi300x() { return {"MI300X", 304.0 * 2048 * 2.1e9, 2.1e9, "test"}; }

// M, N, K = 8192, 14336, 4096 (spec section 8).
constexpr double kGemmFlop = 962072674304.0;

WaterfallInput worked_example() {
  WaterfallInput input;
  input.flop = kGemmFlop;
  input.flop_counted = 1.05 * kGemmFlop;
  input.matrix_busy = 0.62;
  input.cycles = 1.05 * kGemmFlop / (304.0 * 4 * 512 * 0.62);
  input.overlap_factor = 1.08;
  input.d_act_ns = 1682350;
  return input;
}

int64_t sum_of(const Waterfall& made) {
  return std::accumulate(made.bars_ns.begin(), made.bars_ns.end(), int64_t{0});
}

std::vector<OverlapSample> samples(const std::vector<double>& overlaps,
                                   const std::vector<double>& durations) {
  std::vector<OverlapSample> list;
  for (size_t i = 0; i < overlaps.size(); ++i) list.push_back({0, overlaps[i], 1e6 * durations[i]});
  return list;
}

// Spec section 8: the D curves.
std::vector<OverlapSample> published_curve() {
  return samples({0, .1, .2, .4, .5, .6, .8, 1}, {1, 1.02, 1.03, 1.07, 1.10, 1.12, 1.2, 1.3});
}

// ---- peaks (spec section 7, facts 1 to 4) ------------------------------------------------------

TEST(Waterfall, PeakOfMi300xIs1307TeraflopsAndThePanelsDoubleFigureIsNot) {
  EXPECT_NEAR(mi300x().flop_per_s / 1e12, 1307.4432, 1e-9);
  EXPECT_EQ(304 * 4, 1216);
}

TEST(Waterfall, ThresholdsOfLlamaOperationsAreThePublishedOnes) {
  const auto threshold_us = [](double flop) { return flop / mi300x().flop_per_s * 1e6; };
  EXPECT_NEAR(threshold_us(2.0 * 8192 * 14336 * 4096), 735.84, 0.005);
  EXPECT_NEAR(threshold_us(412316860416.0), 315.36, 0.005);
  EXPECT_NEAR(threshold_us(274877906944.0), 210.24, 0.005);
  EXPECT_NEAR(threshold_us(8607114461184.0), 6583.17, 0.005);
  EXPECT_NEAR(threshold_us(549755813888.0), 420.48, 0.005);
}

// ---- the worked breakdown ----------------------------------------------------------------------

TEST(Waterfall, WorkedExampleGivesTheWorkedFactors) {
  EXPECT_NEAR(worked_example().cycles, 2616989.3, 0.05);
  const auto made = make_waterfall(worked_example(), mi300x());
  ASSERT_TRUE(made);
  EXPECT_NEAR(made->d_thr_ns, 735843, 0.5);
  EXPECT_NEAR(made->instruction, 1.05, 1e-12);
  EXPECT_NEAR(made->utilisation, 1.612903, 5e-7);
  EXPECT_NEAR(made->overlap, 1.08, 1e-12);
  EXPECT_NEAR(made->d_peak_ns, 1246185, 0.5);
  EXPECT_NEAR(made->frequency, 1.25, 1e-6);
  EXPECT_NEAR(made->residual, 1, 1e-9);
  EXPECT_NEAR(
      made->d_thr_ns * made->instruction * made->utilisation * made->overlap * made->frequency,
      1682350, 0.5);
}

TEST(Waterfall, BarsShareTheTimeAbovePeakByTheLogarithmsOfTheFactors) {
  const auto made = make_waterfall(worked_example(), mi300x());
  ASSERT_TRUE(made);
  // By another program: (1682350 - 735843) / ln(1682350 / 735843) ns per unit of logarithm.
  const std::array<int64_t, kWaterfallBars> want = {735843, 55845, 547161, 88090, 255411, 0};
  for (size_t i = 0; i < kWaterfallBars; ++i) {
    EXPECT_NEAR(static_cast<double>(made->bars_ns[i]), static_cast<double>(want[i]), 2) << i;
  }
  EXPECT_EQ(sum_of(*made), 1682350);
}

TEST(Waterfall, SlowerMatrixInstructionsAreTheResidual) {
  WaterfallInput input = worked_example();
  input.matrix_busy = 0.93;  // busy for longer with the same FLOP
  const auto made = make_waterfall(input, mi300x());
  ASSERT_TRUE(made);
  EXPECT_NEAR(made->residual, 0.62 / 0.93, 1e-9);
  // By another program: ln 1.5 of the logarithmic mean of 735843 and 1682350.
  EXPECT_NEAR(static_cast<double>(made->bars_ns[static_cast<size_t>(WaterfallBar::kResidual)]),
              464097, 2);
  EXPECT_EQ(sum_of(*made), 1682350);
}

TEST(Waterfall, FasterThanTheOverlapExplainsIsANegativeBarAndStillSums) {
  WaterfallInput input = worked_example();
  input.overlap_factor = 1.5;  // more than frequency and overlap together have
  const auto made = make_waterfall(input, mi300x());
  ASSERT_TRUE(made);
  EXPECT_LT(made->frequency, 1);
  EXPECT_LT(made->bars_ns[static_cast<size_t>(WaterfallBar::kFrequency)], 0);
  EXPECT_EQ(sum_of(*made), 1682350);
}

TEST(Waterfall, AtPeakAllTimeIsThreshold) {
  WaterfallInput input;
  input.flop = input.flop_counted = 304.0 * 2048 * 1e6;
  input.matrix_busy = 1;
  input.cycles = 1e6;
  input.d_act_ns = 1e6 / 2.1;
  const auto made = make_waterfall(input, mi300x());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->bars_ns[0], 476190);
  EXPECT_EQ(sum_of(*made), 476190);
}

TEST(Waterfall, CountedFlopAreTheThresholdIfThereAreNoShapes) {
  WaterfallInput input = worked_example();
  input.flop = kNan;
  const auto made = make_waterfall(input, mi300x());
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->flop_counted);
  EXPECT_EQ(made->instruction, 1);
  EXPECT_NEAR(made->d_thr_ns, 735843 * 1.05, 1);
  EXPECT_EQ(sum_of(*made), 1682350);
}

TEST(Waterfall, ResidualAboveOneIsRefusedWithTheReason) {
  WaterfallPeaks peaks = mi300x();
  WaterfallInput input = worked_example();
  input.flop_counted *= 2;  // a counter that counts twice
  const auto made = make_waterfall(input, peaks);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("rho = 2.0"), std::string::npos) << made.error().message;
  EXPECT_NE(made.error().message.find("peak"), std::string::npos);
}

TEST(Waterfall, NamesMissingCounters) {
  struct Case {
    double WaterfallInput::*member;
    const char* words;
  };
  for (const Case& one :
       {Case{&WaterfallInput::d_act_ns, "time"},
        Case{&WaterfallInput::flop_counted, "matrix instruction"},
        Case{&WaterfallInput::matrix_busy, "busy"}, Case{&WaterfallInput::cycles, "cycles"}}) {
    WaterfallInput input = worked_example();
    input.*one.member = 0;
    const auto made = make_waterfall(input, mi300x());
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find(one.words), std::string::npos) << made.error().message;
  }
  WaterfallPeaks peaks = mi300x();
  peaks.clock_hz = 0;
  EXPECT_FALSE(make_waterfall(worked_example(), peaks));
  peaks = mi300x();
  peaks.flop_per_s = 0;
  EXPECT_FALSE(make_waterfall(worked_example(), peaks));
}

// ---- D_50 % / D_0 % ----------------------------------------------------------------------------

TEST(OverlapFactor, ThreeMethodsOnThePublishedCurve) {
  EXPECT_NEAR(overlap_factor(published_curve(), OverlapReading::kCurve).factor, 1.10, 1e-12);
  EXPECT_NEAR(overlap_factor(published_curve(), OverlapReading::kQuantile).factor, 1.10, 1e-12);
  EXPECT_NEAR(overlap_factor(published_curve(), OverlapReading::kCumulative).factor, 1.12, 1e-12);
}

TEST(OverlapFactor, ConstantOverlapHasFactorOneAndNoCorrelation) {
  const OverlapFactor factor =
      overlap_factor(samples({.3, .3, .3}, {1, 1.2, 1.1}), OverlapReading::kCurve);
  EXPECT_TRUE(factor.constant);
  EXPECT_EQ(factor.factor, 1);
  EXPECT_TRUE(std::isnan(factor.pearson));
}

TEST(OverlapFactor, DurationsAreInUnitsOfTheShortestOfTheirGpu) {
  std::vector<OverlapSample> list = {{0, 0, 100}, {0, .5, 110}, {1, 0, 200}, {1, .5, 220}};
  const OverlapFactor factor = overlap_factor(list, OverlapReading::kCurve);
  EXPECT_NEAR(factor.factor, 1.1, 1e-12);
  EXPECT_NEAR(factor.pearson, 1, 1e-12);
  EXPECT_FALSE(factor.extrapolated);
}

TEST(OverlapFactor, ViolatorsArePooled) {
  // Weighted means of the violating pair: (1.2 + 1.0) / 2 = 1.1 at 0.2 and 0.4.
  const OverlapFactor factor =
      overlap_factor(samples({0, .2, .4, .6}, {1, 1.2, 1.0, 1.3}), OverlapReading::kCurve);
  EXPECT_NEAR(factor.d0, 1, 1e-12);
  EXPECT_NEAR(factor.d50, 1.2, 1e-12);  // halfway from 1.1 to 1.3
}

TEST(OverlapFactor, ReportsMissingSamplesNearTheEnds) {
  EXPECT_TRUE(overlap_factor(samples({.1, .6}, {1, 1.1}), OverlapReading::kCurve).extrapolated);
  EXPECT_TRUE(overlap_factor(samples({0, .4}, {1, 1.1}), OverlapReading::kCurve).extrapolated);
  EXPECT_FALSE(overlap_factor(samples({.05, .5}, {1, 1.1}), OverlapReading::kCurve).extrapolated);
}

}  // namespace
}  // namespace assay
