#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

#include "power/across.h"

namespace assay {
namespace {

KernelProfile measured(const char* name, double flop, double bytes, int64_t t_ns, double ssp_w) {
  KernelProfile profile;
  profile.name = name;
  profile.flop = flop;
  profile.bytes = bytes;
  profile.t_exec_ns = t_ns;
  profile.ssp_w = ssp_w;
  profile.ssp_low_w = ssp_w - 2;
  profile.ssp_high_w = ssp_w + 2;
  profile.idle_w = 100;
  profile.energy_j = ssp_w * static_cast<double>(t_ns) * 1e-9;
  profile.verdict = PowerVerdict::kAveraged;
  return profile;
}

std::optional<DeviceRoofline> known(const char* device) {
  return find_roofline(FactBook::built_in(), device);
}

// Spec/power 2.4 and vector 8: BF16 GEMMs of 8192, 4096, 2048 have 2731, 1365 and 683 FLOP/B and
// are bound by compute on MI300X (ridge 246.7), the GEMVs of the same M and K have about 1.
TEST(Takeaways, SixWorkloadsOfThePaper) {
  const auto mi300x = known("AMD Instinct MI300X OAM");
  ASSERT_TRUE(mi300x);
  EXPECT_NEAR(mi300x->ridge(MathType::kBf16), 246.7, 0.05);
  struct Case {
    double n;
    double op_per_byte;
  };
  for (const Case c : {Case{8192, 2731}, Case{4096, 1365}, Case{2048, 683}}) {
    const double n = c.n;
    const KernelTakeaway gemm =
        take_away(measured("gemm", 2 * n * n * n, 3 * 2 * n * n, 1'000'000, 500), &*mi300x);
    EXPECT_EQ(gemm.bound, KernelBound::kCompute);
    EXPECT_NEAR(gemm.op_per_byte, c.op_per_byte, 0.5);
    const KernelTakeaway gemv =
        take_away(measured("gemv", 2 * n * n, 2 * n * n + 4 * n, 1'000'000, 400), &*mi300x);
    EXPECT_EQ(gemv.bound, KernelBound::kMemory);
    EXPECT_NEAR(gemv.op_per_byte, 1, 0.002);
  }
}

// 1e12 FLOP in 2 ms at 500 W: 500 TFLOP/s, 1 W per TFLOP/s, 1 J, 1 pJ per FLOP.
TEST(Takeaways, PowerPerAchievedFlop) {
  const auto h200 = known("NVIDIA H200");
  const KernelTakeaway t = take_away(measured("gemm", 1e12, 1e9, 2'000'000, 500), &*h200);
  EXPECT_NEAR(t.achieved_flops, 5e14, 1);
  EXPECT_NEAR(t.w_per_tflops, 1, 1e-12);
  EXPECT_NEAR(t.pj_per_flop, 1, 1e-12);
  EXPECT_NEAR(t.pj_per_byte, 1000, 1e-9);
  EXPECT_NEAR(t.above_idle_w, 400, 1e-12);
  EXPECT_NEAR(t.peak_flops_share, 500 / 989.4, 1e-9);
}

TEST(Takeaways, UnknownWorkOrDeviceIsUnknown) {
  const KernelTakeaway no_device = take_away(measured("gemm", 1e12, 1e9, 2'000'000, 500), nullptr);
  EXPECT_EQ(no_device.bound, KernelBound::kUnknown);
  EXPECT_NEAR(no_device.w_per_tflops, 1, 1e-12);
  const auto h200 = known("NVIDIA H200");
  const KernelTakeaway no_work =
      take_away(measured("mine", std::nan(""), std::nan(""), 2'000'000, 500), &*h200);
  EXPECT_EQ(no_work.bound, KernelBound::kUnknown);
  EXPECT_TRUE(std::isnan(no_work.w_per_tflops));
  EXPECT_FALSE(known("GeForce GTX 1080"));
}

// Names as drivers tell them. A variant that is not listed is not taken for a listed one.
TEST(Takeaways, DevicesAreFoundByTheirDriversNames) {
  EXPECT_EQ(known("NVIDIA H100 PCIe")->power_limit_w, 350);
  EXPECT_EQ(known("NVIDIA H100 80GB HBM3")->power_limit_w, 700);
  EXPECT_EQ(known("NVIDIA GH200 480GB")->bytes_per_s, 4.0e12);
  EXPECT_EQ(known("NVIDIA A100-SXM4-40GB")->bytes_per_s, 1.555e12);
  EXPECT_EQ(known("NVIDIA A100 80GB PCIe")->bytes_per_s, 1.935e12);
  EXPECT_EQ(known("AMD Instinct MI325X")->power_limit_w, 1000);
  EXPECT_EQ(known("AMD Instinct MI250X")->fp64_flops, 95.7e12);
  EXPECT_FALSE(known("NVIDIA H200 NVL"));
  EXPECT_EQ(math_type_of("gemm:2048:fp32"), MathType::kFp32);
  EXPECT_EQ(math_type_of("gemm:2048"), MathType::kBf16);
}

// A user's file adds a device of which little is known, and its source is told.
TEST(Takeaways, SpecsOfAUserAreUsed) {
  FactBook facts = FactBook::built_in();
  ASSERT_TRUE(
      facts.add("[hardware Card]\ntflops = 100 ; measured\nbandwidth_tb_s = 0.5 ; measured\n"));
  const auto card = find_roofline(facts, "Card");
  ASSERT_TRUE(card);
  EXPECT_DOUBLE_EQ(card->ridge(MathType::kBf16), 200);
  EXPECT_TRUE(std::isnan(card->power_limit_w));
  EXPECT_EQ(card->source, "measured");
  // Its FP64 peak is not told: no class without it.
  const KernelTakeaway t = take_away(measured("gemm:8:fp64", 1e12, 1e9, 2'000'000, 500), &*card);
  EXPECT_EQ(t.bound, KernelBound::kUnknown);
}

// 500 and 300 W with 100 W of idle counted once: 700 W together.
TEST(Takeaways, ComplementaryKernelsWithinTheLimit) {
  const std::vector<KernelProfile> profiles = {measured("gemm", 1e12, 1e9, 2'000'000, 500),
                                               measured("gemv", 1e9, 1e9, 1'000'000, 300),
                                               measured("gemm2", 1e12, 1e9, 2'000'000, 450)};
  std::vector<KernelTakeaway> taken;
  const auto h200 = known("H200");
  for (const KernelProfile& p : profiles) taken.push_back(take_away(p, &*h200));
  const auto pairs = complementary_pairs(profiles, taken, 690);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_DOUBLE_EQ(pairs[0].together_w, 700);
  EXPECT_DOUBLE_EQ(pairs[0].headroom_w, -10);
  EXPECT_EQ(pairs[0].fits, false);
  EXPECT_EQ(pairs[1].fits, true);
  // Without a limit the pairs are the same, and whether they fit is unknown.
  const auto unlimited = complementary_pairs(profiles, taken, std::nan(""));
  ASSERT_EQ(unlimited.size(), 2u);
  EXPECT_DOUBLE_EQ(unlimited[0].together_w, 700);
  EXPECT_FALSE(unlimited[0].fits);
}

// XCD, IOD and HBM, each within 1 W.
KernelProfile with_parts(KernelProfile profile, double xcd, double iod, double hbm) {
  const std::array<double, 3> watts = {xcd, iod, hbm};
  for (size_t i = 0; i < watts.size(); ++i) {
    profile.components[i] = {watts[i], watts[i] - 1, watts[i] + 1, {}};
  }
  return profile;
}

PowerReport of_parts(std::vector<KernelProfile> profiles) {
  const auto mi300x = known("AMD Instinct MI300X OAM");
  PowerReport report{.kernels = std::move(profiles), .limit_w = 750};
  for (const KernelProfile& one : report.kernels) {
    report.takeaways.push_back(take_away(one, &*mi300x));
  }
  return report;
}

const double kNone = std::nan("");

// Figure 10: a kernel of unknown work complements another by the powers of its parts; one that
// draws more in every part complements none.
TEST(Takeaways, PartsMakeAPairWithoutKnownWork) {
  const std::vector<KernelProfile> profiles = {
      with_parts(measured("gemm", kNone, kNone, 1000, 500), 350, 60, 40),
      with_parts(measured("all_reduce", kNone, kNone, 1000, 300), 90, 110, 60),
      with_parts(measured("more", kNone, kNone, 1000, 700), 400, 150, 90)};
  const std::vector<KernelTakeaway> taken(3);
  const auto pairs = complementary_pairs(profiles, taken, 750);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].compute, "gemm");
  EXPECT_EQ(pairs[0].memory, "all_reduce");
  EXPECT_TRUE(pairs[0].by_parts);
}

// 2,731 FLOP/B are above the ridge of every known device, 1 is below it; 150 is neither.
TEST(Takeaways, BoundWithoutKnownPeaks) {
  const auto bound = [](double op_per_byte) {
    KernelTakeaway taken{.name = "gemm:8192"};
    taken.op_per_byte = op_per_byte;
    return bound_on_any_device(taken, FactBook::built_in());
  };
  EXPECT_EQ(bound(2731), KernelBound::kCompute);
  EXPECT_EQ(bound(1), KernelBound::kMemory);
  EXPECT_EQ(bound(150), KernelBound::kUnknown);
  EXPECT_EQ(bound(kNone), KernelBound::kUnknown);
}

// Kernels of several recordings are one report, and a name that comes twice has its recording's.
TEST(Takeaways, OneReportOfSeveralRecordings) {
  const PowerReport gemm = of_parts({measured("gemm", 1e12, 1e9, 2'000'000, 500)});
  const PowerReport gemv = of_parts({measured("gemv", 1e9, 1e9, 1'000'000, 300)});
  const PowerReport all = report_across({gemm, gemv, gemm}, {"a", "b", "c"});
  ASSERT_EQ(all.kernels.size(), 3u);
  EXPECT_EQ(all.kernels[2].name, "gemm (c)");
  EXPECT_EQ(all.takeaways[2].name, "gemm (c)");
  ASSERT_EQ(all.pairs.size(), 2u);
  EXPECT_EQ(all.pairs[0].fits, true);
}

RuleFinding found(const PowerReport& report, TakeawayRule rule) {
  return takeaway_rules(report)[static_cast<size_t>(rule)];
}

// Table II on kernels for which every rule holds, and on kernels for which each does not.
TEST(Takeaways, RulesOfThePaperHoldOrNot) {
  KernelProfile heavy = with_parts(measured("heavy", 8e12, 1e9, 10'000'000, 600), 400, 60, 40);
  KernelProfile light = with_parts(measured("light", 2e12, 1e9, 5'000'000, 560), 380, 50, 30);
  KernelProfile memory = with_parts(measured("memory", 1e9, 1e9, 50'000, 200), 60, 70, 50);
  memory.sse_w = 80;
  memory.sse_error = 0.6;
  memory.sse_error_low = 0.58;
  memory.sse_error_high = 0.62;
  memory.w_over_t = 20;
  heavy.w_over_t = 0.1;
  PowerReport report = of_parts({heavy, light, memory});
  report.pairs = complementary_pairs(report.kernels, report.takeaways, report.limit_w);
  report.comparisons = {{.name = "memory",
                         .base = "memory",
                         .other = "9*heavy, 1*memory",
                         .relative = 0.5,
                         .relative_low = 0.4,
                         .relative_high = 0.6,
                         .differs = true},
                        {.name = "heavy",
                         .base = "heavy",
                         .other = "9*memory, 1*heavy",
                         .relative = 0.01,
                         .relative_low = -0.02,
                         .relative_high = 0.04}};
  for (const RuleFinding& finding : takeaway_rules(report)) EXPECT_EQ(finding.holds, true);
  EXPECT_EQ(found(report, TakeawayRule::kFirstDiffers).kernel, "memory");
  EXPECT_DOUBLE_EQ(found(report, TakeawayRule::kXcdLeads).value, 400.0 / 600);
  EXPECT_DOUBLE_EQ(found(report, TakeawayRule::kPowerDoesNotFollow).other_value, 380.0 / 400);
  EXPECT_DOUBLE_EQ(found(report, TakeawayRule::kNeighboursCount).value, 0.5);

  report.kernels[2].sse_error_low = 0;
  report.kernels[2].ssp_w = 700;
  report.kernels[0].components[2].ssp_w = 450;
  report.kernels[1].components[0].ssp_w = 200;
  report.comparisons[1].differs = true;
  report.pairs = complementary_pairs(report.kernels, report.takeaways, report.limit_w);
  for (const RuleFinding& finding : takeaway_rules(report)) EXPECT_EQ(finding.holds, false);
  EXPECT_EQ(found(report, TakeawayRule::kNeighboursCount).kernel, "heavy");

  const PowerReport bare = of_parts({measured("mine", kNone, kNone, 1000, 500)});
  for (const RuleFinding& finding : takeaway_rules(bare)) EXPECT_FALSE(finding.holds);
}

// 400 +- 2 against 380 +- 2: -5 % +- 0.95 * hypot(0.5 %, 2/380).
TEST(Takeaways, ComparisonCarriesBothIntervals) {
  const auto c = compare_profiles(measured("gemm", 1, 1, 1000, 400), "alone",
                                  measured("gemm", 1, 1, 1000, 380), "mixed");
  ASSERT_TRUE(c);
  EXPECT_NEAR(c->relative, -0.05, 1e-12);
  EXPECT_NEAR(c->relative_high - c->relative, 0.95 * std::hypot(2 / 400.0, 2 / 380.0), 1e-12);
  EXPECT_TRUE(c->differs);
  EXPECT_FALSE(compare_profiles(measured("gemm", 1, 1, 1000, 400), "a",
                                measured("gemm", 1, 1, 1000, 401), "b")
                   ->differs);
  EXPECT_FALSE(compare_profiles(KernelProfile{}, "a", KernelProfile{}, "b"));
}

}  // namespace
}  // namespace assay
