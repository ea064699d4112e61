#include "launch/shares.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

LaunchMetrics idle_for(int64_t idle_ns) {
  LaunchMetrics metrics;
  metrics.kernels = 10;
  metrics.il_ns = 1000;
  metrics.kernel_sum_ns = 1000 - idle_ns;
  metrics.gpu_idle_union_ns = idle_ns;
  metrics.gpu_idle_bracket = {idle_ns - 100, idle_ns + 100, false, ""};
  metrics.idle_told = true;
  return metrics;
}

void set(LaunchMetrics& metrics, FlowCause cause, int64_t ns) {
  metrics.idle.cause_ns[static_cast<size_t>(cause)] = ns;
}

TEST(LaunchShares, AreOfIdleTimeByCause) {
  LaunchMetrics metrics = idle_for(400);
  set(metrics, FlowCause::kCall, 10);
  set(metrics, FlowCause::kDispatch, 20);
  set(metrics, FlowCause::kPython, 30);
  set(metrics, FlowCause::kHostGap, 20);
  set(metrics, FlowCause::kLatency, 20);
  set(metrics, FlowCause::kSync, 80);
  set(metrics, FlowCause::kInput, 40);
  set(metrics, FlowCause::kUnseen, 160);
  set(metrics, FlowCause::kCold, 20);
  metrics.idle.after_sync_ns = 60;
  const LaunchShares shares = launch_shares(metrics);
  EXPECT_DOUBLE_EQ(shares.gpu_idle_share, 0.4);
  EXPECT_DOUBLE_EQ(shares.gpu_idle_share_low, 0.3);
  EXPECT_DOUBLE_EQ(shares.gpu_idle_share_high, 0.5);
  EXPECT_DOUBLE_EQ(shares.idle_host_share, 0.25);
  EXPECT_DOUBLE_EQ(shares.idle_blocked_share, 0.2);
  EXPECT_DOUBLE_EQ(shares.idle_input_share, 0.1);
  EXPECT_DOUBLE_EQ(shares.idle_unseen_share, 0.4);
  EXPECT_DOUBLE_EQ(shares.idle_after_sync_share, 0.15);
}

TEST(LaunchShares, UnknownIsNotZero) {
  LaunchMetrics metrics = idle_for(400);
  metrics.idle_told = false;
  EXPECT_TRUE(std::isnan(launch_shares(metrics).idle_host_share));
  EXPECT_TRUE(std::isnan(launch_shares(metrics).cpu_idle_share));
  EXPECT_TRUE(std::isnan(launch_shares(idle_for(0)).idle_host_share));
  EXPECT_TRUE(std::isnan(launch_shares(LaunchMetrics{}).gpu_idle_share));
}

}  // namespace
}  // namespace assay
