// Crossovers and platform changes, worked by hand.

#include "overhead/sweep.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

HostOverheadPoint point(double batch, double t_orch, double t_device, double seq_len = 0,
                        double t_e2e = 0) {
  HostOverheadPoint p;
  p.batch = batch;
  p.seq_len = seq_len;
  p.t_orch_ns = t_orch;
  p.t_device_ns = t_device;
  p.t_e2e_ns = t_e2e;
  return p;
}

TEST(PointLabel, BatchOrBatchByLength) {
  EXPECT_EQ(parse_point_label("8")->batch, 8);
  EXPECT_EQ(parse_point_label("8")->seq_len, 0);
  EXPECT_EQ(parse_point_label("4x2048")->batch, 4);
  EXPECT_EQ(parse_point_label("4x2048")->seq_len, 2048);
  for (const char* bad : {"", "x", "4x", "x4", "0", "-1", "4x0", "b8", "4x2x2", "nan"}) {
    EXPECT_FALSE(parse_point_label(bad)) << bad;
  }
}

// HDBI 0.4 at batch 4 and 0.6 at batch 8: half of the way in the logarithm, sqrt(32).
TEST(HdbiCrossover, InterpolatesTheLogarithmOfTheBatch) {
  const auto found =
      hdbi_crossovers({point(8, 40, 60), point(1, 75, 25), point(4, 60, 40), point(16, 20, 80)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].along_batch);
  EXPECT_EQ(found[0].from, 4);
  EXPECT_EQ(found[0].to, 8);
  EXPECT_TRUE(found[0].to_device);
  EXPECT_NEAR(found[0].interpolated, std::sqrt(32.0), 1e-12);
}

TEST(HdbiCrossover, RunsAlongBothSizesAndSkipsPointsWithoutKernels) {
  const auto found = hdbi_crossovers(
      {point(1, 60, 40, 512), point(1, 40, 60, 2048), point(4, 40, 60, 512), point(4, 0, 0, 2048)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].along_batch);
  EXPECT_EQ(found[0].fixed, 512);
  EXPECT_NEAR(found[0].interpolated, 2, 1e-12);
  EXPECT_FALSE(found[1].along_batch);
  EXPECT_EQ(found[1].fixed, 1);
  EXPECT_NEAR(found[1].interpolated, 1024, 1e-9);
}

TEST(HdbiCrossover, APointWithoutAChargeHasNoBalance) {
  HostOverheadPoint point;
  point.n = 3;
  point.t_device_ns = 100;
  EXPECT_TRUE(std::isnan(hdbi_of(point)));
  point.t_orch_ns = 300;
  EXPECT_DOUBLE_EQ(hdbi_of(point), 0.25);
}

TEST(HdbiCrossover, NoneOnOneSide) {
  EXPECT_TRUE(hdbi_crossovers({point(1, 80, 20), point(8, 60, 40)}).empty());
  EXPECT_TRUE(std::isnan(hdbi_of(point(1, 0, 0))));
}

// Points on a diagonal lie on no line along one size; both sides are there all the same.
TEST(HdbiSides, AreThePointsClosestToTheBalance) {
  const std::vector<HostOverheadPoint> points = {point(1, 89, 11, 512), point(2, 70, 30, 1024),
                                                 point(4, 48, 52, 2048), point(8, 10, 90, 4096),
                                                 point(16, 0, 5, 8192)};
  EXPECT_TRUE(hdbi_crossovers(points).empty());
  const HdbiSides sides = hdbi_sides(points);
  ASSERT_TRUE(sides.host && sides.device);
  EXPECT_EQ(sides.host->batch, 2);
  EXPECT_EQ(sides.device->batch, 4);
  EXPECT_DOUBLE_EQ(sides.low, 0.11);
  EXPECT_DOUBLE_EQ(sides.high, 0.9);
  EXPECT_FALSE(hdbi_sides({point(1, 80, 20), point(8, 60, 40)}).device);
  EXPECT_FALSE(hdbi_sides({point(1, 0, 0)}).host);
}

// FlashAttention in the paper: 19.5 to 18.1 ms is -7.2 %, T_Orch 9.8 to 9.1 ms is -7.1 %; HDBI of
// T_Device 6.006 and T_Orch 9.8 is 0.38, so T_Orch alone moves the wall time by 0.62 x -7.14 %.
TEST(HostOverheadChanges, AreRelativeToTheFirstPlatform) {
  const auto changes = overhead_changes({point(1, 9.8, 6.00645, 512, 19.5), point(2, 1, 1)},
                                        {point(1, 9.1, 4.5, 512, 18.1), point(2, 1, 1, 99)});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_NEAR(changes[0].t_e2e, -0.0718, 5e-5);
  EXPECT_NEAR(changes[0].t_orch, -0.0714, 5e-5);
  EXPECT_NEAR(changes[0].hdbi_a, 0.38, 1e-5);
  EXPECT_NEAR(changes[0].t_e2e_from_orch, -0.62 * 0.7 / 9.8, 1e-5);
}

}  // namespace
}  // namespace assay
