#include <gtest/gtest.h>

#include <cmath>

#include "overhead/overhead.h"

namespace assay {
namespace {

KernelCost row(bool library, uint64_t invocations, double t_py_us, double t_dispatch_us,
               double t_launch_us, double dur_us) {
  const auto ns = [](double us) { return std::llround(us * 1000); };
  KernelCost cost;
  cost.library = library;
  cost.invocations = invocations;
  cost.t_py_ns = ns(t_py_us);
  cost.t_dispatch_ns = ns(t_dispatch_us);
  cost.t_launch_ns = ns(t_launch_us);
  cost.dur_ns = ns(dur_us);
  return cost;
}

// spec/overhead 8, kernels A to E.
const std::vector<KernelCost>& worked_example() {
  static const std::vector<KernelCost> rows = {
      row(false, 4, 1.0, 5.0, 4.9, 3), row(false, 2, 2.0, 6.0, 5.2, 4),
      row(false, 1, 0.5, 9.0, 4.4, 10), row(true, 3, 1.5, 11.5, 6.7, 20),
      row(true, 1, 1.0, 4.0, 6.0, 5)};
  return rows;
}
constexpr int64_t kFloorNs = 4500;

TEST(WorkedExample, BaseDependsOnTheWeighting) {
  EXPECT_EQ(dispatch_base(worked_example(), BaseWeighting::kKernel), 6000);
  EXPECT_EQ(dispatch_base(worked_example(), BaseWeighting::kInvocation), 5000);
}

TEST(WorkedExample, PaperMode) {
  const HostOverheadSums sums =
      sum_overhead(worked_example(), HostOverheadMode::kPaper, 6000, kFloorNs, 11);
  EXPECT_EQ(sums.n, 11u);
  EXPECT_EQ(sums.t_py_ns, 14'000);
  EXPECT_EQ(sums.ft_dispatch_ns, 66'000);
  EXPECT_EQ(sums.ft_ns, 80'000);
  EXPECT_EQ(sums.ct_ns, 16'500);
  EXPECT_EQ(sums.kt_ns, 49'500);
  EXPECT_EQ(sums.t_orch_ns, 146'000);
  EXPECT_EQ(sums.t_device_ns, 95'000);
  EXPECT_NEAR(*sums.hdbi, 0.39419087, 5e-9);
  EXPECT_EQ(sums.kt_fw_ns, 11'100);
  EXPECT_EQ(sums.host_observed_ns, 154'000);
  EXPECT_EQ(sums.host_framework_ns, 104'500);
}

TEST(WorkedExample, CodeMode) {
  const HostOverheadSums sums =
      sum_overhead(worked_example(), HostOverheadMode::kCode, 6000, kFloorNs, 11);
  EXPECT_EQ(sums.ft_dispatch_ns, 65'000);
  EXPECT_EQ(sums.ct_ns, 16'500);
  EXPECT_EQ(sums.t_orch_ns, 145'000);
  EXPECT_NEAR(*sums.hdbi, 0.39583333, 5e-9);
}

TEST(WorkedExample, LaunchExcessPerKernel) {
  const std::vector<int64_t> expected = {400, 700, 0, 2200, 1500};
  for (size_t i = 0; i < expected.size(); ++i) {
    KernelCost one = worked_example()[i];
    one.invocations = 1;
    EXPECT_EQ(sum_overhead({one}, HostOverheadMode::kPaper, 0, kFloorNs, 1).kt_fw_ns, expected[i])
        << i;
  }
}

TEST(DispatchBase, OfAnEvenCountIsTheMiddleRoundedUp) {
  EXPECT_EQ(dispatch_base({row(false, 1, 0, 1.000, 1, 1), row(false, 1, 0, 1.001, 1, 1)},
                          BaseWeighting::kKernel),
            1001);
}

TEST(DispatchBase, LeavesOutNoiseLibraryKernelsAndUnpaidInvocations) {
  KernelCost follower = row(false, 3, 0, 50, 1, 1);
  follower.unpaid = 3;
  EXPECT_EQ(dispatch_base({row(false, 9, 0, 0.1, 1, 1), row(true, 1, 0, 8, 1, 1), follower},
                          BaseWeighting::kInvocation),
            std::nullopt);
  EXPECT_EQ(dispatch_base({row(false, 9, 0, 0.1, 1, 1), row(false, 1, 0, 0.101, 1, 1)},
                          BaseWeighting::kInvocation),
            101);
  EXPECT_EQ(dispatch_base({}, BaseWeighting::kKernel), std::nullopt);
}

TEST(SumOverhead, KernelsOfAGraphButItsFirstCostTheHostNothing) {
  KernelCost graph = row(false, 1, 2, 7, 6, 10);
  KernelCost followers = row(false, 99, 0, 0, 0, 10);
  followers.unpaid = 99;
  followers.t_launch_ns.reset();
  const HostOverheadSums sums =
      sum_overhead({graph, followers}, HostOverheadMode::kPaper, 5000, kFloorNs, 1);
  EXPECT_EQ(sums.n, 100u);
  EXPECT_EQ(sums.n_launch, 1u);
  EXPECT_EQ(sums.t_orch_ns, 2000 + 5000 + 4500);
  EXPECT_EQ(sums.t_device_ns, 1'000'000);
  EXPECT_EQ(sums.kt_fw_ns, 1500);
}

TEST(SumOverhead, NothingHasNoBalance) {
  const HostOverheadSums sums = sum_overhead({}, HostOverheadMode::kPaper, 5000, kFloorNs, 0);
  EXPECT_EQ(sums.hdbi, std::nullopt);
  EXPECT_EQ(sums.t_orch_ns, 0);
}

// Kernels whose launch nobody saw, and no operator or floor to charge: 1.00 would say that the host
// costs nothing.
TEST(SumOverhead, ThereIsNoBalanceIfNothingIsCharged) {
  KernelCost orphan = row(false, 3, 0, 0, 0, 10);
  orphan.unpaid = 3;
  orphan.t_launch_ns.reset();
  const HostOverheadSums unseen =
      sum_overhead({orphan}, HostOverheadMode::kPaper, 5000, kFloorNs, 0);
  EXPECT_FALSE(unseen.charged());
  EXPECT_EQ(unseen.hdbi, std::nullopt);
  const HostOverheadSums unpriced =
      sum_overhead({row(false, 1, 0, 0, 6, 10)}, HostOverheadMode::kPaper, 0, 0, 1);
  EXPECT_FALSE(unpriced.charged());
  EXPECT_EQ(unpriced.hdbi, std::nullopt);
  EXPECT_TRUE(sum_overhead({orphan, row(false, 1, 0, 0, 6, 10)}, HostOverheadMode::kPaper, 0, 1, 1)
                  .charged());
  EXPECT_TRUE(
      sum_overhead({}, HostOverheadMode::kPaper, 0, 0, 0).charged());  // nothing costs nothing
}

// spec/overhead 6: what the paper prints, from what it prints. One row that makes the given T_Orch
// and T_Device; the printed value has `digits` digits behind the point.
struct PaperBalance {
  const char* what;
  double t_orch_ms;
  double t_device_ms;
  double hdbi;
  double tolerance;
};

class PaperBalances : public ::testing::TestWithParam<PaperBalance> {};

TEST_P(PaperBalances, AgreeWithTheSums) {
  const PaperBalance& fact = GetParam();
  KernelCost one = row(false, 1, fact.t_orch_ms * 1000, 0, 0, fact.t_device_ms * 1000);
  const HostOverheadSums sums = sum_overhead({one}, HostOverheadMode::kPaper, 0, 0, 1);
  EXPECT_NEAR(*sums.hdbi, fact.hdbi, fact.tolerance) << fact.what;
}

INSTANTIATE_TEST_SUITE_P(
    Printed, PaperBalances,
    ::testing::Values(PaperBalance{"#2 GPT-2 BS=1", 5.04, 1.66, 0.248, 0.0005},
                      PaperBalance{"#3 GPT-2 BS=16", 5.52, 15.43, 0.7365, 0.00005},
                      PaperBalance{"#7 Llama-1B prefill", 10.5, 6.17, 0.37, 0.005},
                      PaperBalance{"#8 Llama-3B prefill", 17.6, 12.23, 0.41, 0.005},
                      PaperBalance{"#12 Llama-1B decode", 102.13, 30.5, 0.23, 0.005},
                      PaperBalance{"#12 Llama-3B decode", 188.27, 59.5, 0.24, 0.005},
                      PaperBalance{"#13 Qwen", 448.8, 75.9, 0.1447, 0.00005},
                      PaperBalance{"#13 OLMoE", 273, 46.1, 0.1445, 0.00005},
                      PaperBalance{"#15 Qwen decode", 895.5, 158.0, 0.15, 0.005},
                      PaperBalance{"#15 OLMoE decode", 1655, 183.9, 0.1, 0.005},
                      PaperBalance{"#20 FA2 long", 11.7, 0.979 * 303.9, 0.962, 0.0005},
                      PaperBalance{"#21 FA2 long", 8.9, 0.965 * 95.5, 0.912, 0.0005}));

TEST(PaperFacts, Gpt2LayersAddUp) {
  // #1 and #5: 0.50 + 2.89 + 0 + 1.65 ms over 376 launches.
  KernelCost one = row(false, 1, 500, 0, 0, 0);
  one.invocations = 376;
  one.t_py_ns = 0;
  HostOverheadSums sums = sum_overhead({one}, HostOverheadMode::kPaper, 7686, 4388, 376);
  EXPECT_NEAR(static_cast<double>(sums.ft_dispatch_ns), 2.89e6, 5e3);
  EXPECT_NEAR(static_cast<double>(sums.kt_ns), 1.65e6, 5e3);
  EXPECT_EQ(sums.t_orch_ns, sums.ft_ns + sums.ct_ns + sums.kt_ns);
}

// A launch pays what it took: a library kernel the base and the excess, or less than the base.
TEST(SumOverhead, ExclusiveCostsAreChargedAsTheyAre) {
  KernelCost library;
  library.library = true;
  library.t_py_ns = 10;
  library.t_dispatch_ns = 900;
  library.call_ns = 40;
  KernelCost quick = library;
  quick.t_dispatch_ns = 300;
  KernelCost native = library;
  native.library = false;
  const HostOverheadSums sums =
      sum_overhead({library, quick, native}, HostOverheadMode::kExclusive, 500, kFloorNs, 3);
  EXPECT_EQ(sums.t_py_ns, 30);
  EXPECT_EQ(sums.ft_dispatch_ns, 500 + 300 + 900);
  EXPECT_EQ(sums.ct_ns, 400);
  EXPECT_EQ(sums.kt_ns, 120);  // no floor in it
  EXPECT_EQ(sums.t_orch_ns, 30 + 900 + 300 + 900 + 120);
}

TEST(PaperFacts, LaunchFloorTimesLaunches) {
  // #19: launches saved by FlashAttention-2, #25: OLMoE per token.
  KernelCost one = row(false, 1, 0, 0, 0, 0);
  const auto kt_ms = [&](uint64_t launches, int64_t floor_ns) {
    return static_cast<double>(
               sum_overhead({one}, HostOverheadMode::kPaper, 0, floor_ns, launches).kt_ns) /
           1e6;
  };
  EXPECT_NEAR(kt_ms(59, 4503), 0.27, 0.005);
  EXPECT_NEAR(kt_ms(172, 4503), 0.77, 0.005);
  EXPECT_NEAR(kt_ms(9305, 4700), 43.7, 0.05);
}

}  // namespace
}  // namespace assay
