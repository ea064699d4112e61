#include "power/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/power_maker.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::PowerMaker;
using ::testing::SizeIs;

KernelProfile profile(const PowerRecording& recording, const ProfileOptions& options = {}) {
  auto result = profile_kernel(recording, options);
  EXPECT_TRUE(result) << (result ? "" : result.error().describe());
  return result ? *result : KernelProfile{};
}

// Samples at many places of the 4th and the last execution, one pair per run is not needed: every
// run has all of them.
std::vector<double> spread_over(int64_t t_ns, std::initializer_list<uint32_t> executions) {
  std::vector<double> times;
  for (const uint32_t execution : executions) {
    for (int i = 0; i <= 20; ++i) {
      times.push_back(static_cast<double>(t_ns) * (execution + (i + 0.001) / 20.01));
    }
  }
  return times;
}

// A sensor that follows with 0.5 ms and was declared a boxcar of 1 ms: what is settled has a mean
// where runs are long enough for it to be forgotten how they began, else nothing.
TEST(ExponentialSensor, GetsTheMeanOfWhatIsSettled) {
  PowerMaker maker{.runs = 150, .executions = 90, .lag_ns = 5e5, .noise_w = 0.5};
  const KernelProfile found = profile(maker.make());
  EXPECT_EQ(found.sensor_check.verdict, SensorVerdict::kOther);
  EXPECT_EQ(found.verdict, PowerVerdict::kMeanOnly);
  EXPECT_NEAR(found.ssp_w, 500, 2.5);
  EXPECT_NEAR(static_cast<double>(found.sensor_check.ramp_ns), 5e5, 1e5);
  EXPECT_THAT(found.curve, IsEmpty());
  EXPECT_THAT(found.notes, Contains(HasSubstr("after a ramp of")));
  maker.executions = 22;
  const KernelProfile shorter = profile(maker.make());
  EXPECT_EQ(shorter.verdict, PowerVerdict::kRefused);
  EXPECT_THAT(shorter.reasons, Contains(HasSubstr("its mean needs runs of")));
}

struct ClosedForm {
  int64_t t_us;
  double sse_start_w;
  double sse_end_w;
};
class ClosedFormTest : public ::testing::TestWithParam<ClosedForm> {};

// Spec/power 2.1: P0 = 100, Pk = 500, w = 1 ms. SSP comes from the strict count of executions, so
// it is 500 everywhere; SSE rises in a straight line from start to end.
TEST_P(ClosedFormTest, SseRisesAsTheWindowFills) {
  const ClosedForm c = GetParam();
  PowerMaker maker{.t_ns = c.t_us * 1000, .runs = 12, .noise_w = 0};
  maker.executions = ssp_executions(maker.window_ns, maker.t_ns, true);
  const uint32_t last = maker.executions - 1;
  const PowerRecording recording =
      maker.make(last == 3 ? spread_over(maker.t_ns, {3}) : spread_over(maker.t_ns, {3, last}));
  const KernelProfile p = profile(recording, {.polynomial = true});
  EXPECT_NEAR(p.ssp_w, 500, 0.5);
  ASSERT_THAT(p.sse_curve, Not(IsEmpty()));
  EXPECT_NEAR(p.sse_curve.front().power_w, c.sse_start_w, 1.5);
  EXPECT_NEAR(p.sse_curve.back().power_w, c.sse_end_w, 1.5);
  EXPECT_NEAR(p.sse_error, (500 - (c.sse_start_w + c.sse_end_w) / 2) / 500, 0.004);
  EXPECT_NEAR(p.energy_j, 500e-6 * static_cast<double>(c.t_us), 1e-6 * c.t_us);
}

INSTANTIATE_TEST_SUITE_P(Spec, ClosedFormTest,
                         ::testing::Values(ClosedForm{50, 160, 180}, ClosedForm{100, 220, 260},
                                           ClosedForm{200, 340, 420}, ClosedForm{240, 388, 484},
                                           ClosedForm{334, 500, 500}, ClosedForm{500, 500, 500}));

PowerMaker typical() {
  return {.t_ns = 100'000,
          .phases = {{0.3, 650}, {0.5, 450}, {0.2, 300}},
          .noise_w = 4,
          .drift_ppm = 37,
          .outlier_share = 0.15,
          .jitter = 0.01};
}
constexpr double kTypicalMean = 0.3 * 650 + 0.5 * 450 + 0.2 * 300;  // 480

TEST(Profile, ShortKernelIsAveragedAndItsMeanIsRight) {
  const KernelProfile p = profile(typical().make(), {.strict = true});
  EXPECT_EQ(p.verdict, PowerVerdict::kAveraged);
  EXPECT_NEAR(p.ssp_w, kTypicalMean, 0.01 * kTypicalMean);
  EXPECT_LT(p.ssp_low_w, kTypicalMean);
  EXPECT_GT(p.ssp_high_w, kTypicalMean);
  EXPECT_NEAR(p.clock.drift_ppm, 37, 0.1);
  EXPECT_NEAR(p.w_over_t, 10, 0.15);
  EXPECT_LT(p.attenuation, 0.01);
  EXPECT_EQ(p.loi_target, 10u);
  EXPECT_EQ(p.executions_per_run, 11u);
  EXPECT_GT(p.golden, 150u);
  EXPECT_LT(p.golden, 185u);
  EXPECT_NEAR(p.idle_w, 100, 1);
  EXPECT_GT(p.window_share, 0.995);
  ASSERT_THAT(p.reasons, SizeIs(1));
  EXPECT_THAT(p.reasons[0], HasSubstr("moving average"));
}

void cut_run(PowerRecording& recording, uint32_t run, uint32_t left) {
  std::vector<PowerExecution>& all = recording.executions;
  all.erase(
      std::remove_if(all.begin(), all.end(),
                     [&](const PowerExecution& e) { return e.run == run && e.index >= left; }),
      all.end());
}

// A kill within an append leaves the first executions of the last run; one that was gone on with
// has them in the middle. Both count for nothing, so that the others give what they give alone.
TEST(CutRuns, AreLeftOutAndCounted) {
  const PowerRecording whole = typical().make();
  for (const uint32_t run : {199u, 77u}) {
    PowerRecording cut = whole;
    cut_run(cut, run, 4);
    PowerRecording without = whole;
    cut_run(without, run, 0);
    const KernelProfile p = profile(cut, {.strict = true});
    const KernelProfile expected = profile(without, {.strict = true});
    EXPECT_EQ(p.cut_runs, 1u);
    EXPECT_EQ(expected.cut_runs, 0u);
    EXPECT_EQ(p.runs, 199u);
    EXPECT_EQ(p.lois, expected.lois);
    EXPECT_EQ(p.ssp_w, expected.ssp_w);
    EXPECT_EQ(p.t_exec_ns, expected.t_exec_ns);
    EXPECT_NEAR(p.idle_w, 100, 1);
  }
}

TEST(CutRuns, RunsOfManyLengthsAreNotCut) {
  PowerRecording recording = typical().make();
  EXPECT_EQ(profile(recording).cut_runs, 0u);
  for (uint32_t run = 0; run < 200; run += 2) cut_run(recording, run, 10);
  const KernelProfile p = profile(recording);
  EXPECT_EQ(p.cut_runs, 0u);
  EXPECT_EQ(p.runs, 200u);
}

// T = 4 w: three quarters of each phase are seen as they are.
TEST(Profile, LongKernelIsResolved) {
  PowerMaker maker = typical();
  maker.t_ns = 4'000'000;
  maker.executions = 4;
  const PowerRecording recording = maker.make();
  const KernelProfile p = profile(recording);
  EXPECT_EQ(p.verdict, PowerVerdict::kResolved);
  EXPECT_THAT(p.reasons, IsEmpty());
  EXPECT_NEAR(p.ssp_w, kTypicalMean, 0.01 * kTypicalMean);
  EXPECT_NEAR(p.w_over_t, 0.25, 0.01);
  EXPECT_NEAR(p.attenuation, 0.900, 0.005);
  EXPECT_EQ(p.degree, 4u);
  EXPECT_EQ(p.curve_kind, "spline");
  EXPECT_GT(p.curve[10].power_w, p.curve[35].power_w);
  EXPECT_THAT(p.notes, Not(Contains(HasSubstr("misses structure"))));
  EXPECT_THAT(p.notes, Contains(HasSubstr("the declared sensor was not tested")));
  const KernelProfile quartic = profile(recording, {.polynomial = true});
  EXPECT_EQ(quartic.curve_kind, "polynomial");
  EXPECT_THAT(quartic.notes, Contains(HasSubstr("misses structure")));  // steps: no quartic
  EXPECT_EQ(quartic.ssp_w, p.ssp_w);
}

TEST(Profile, AttenuationOfTheSpec) {
  struct Case {
    int64_t t_us;
    double left;
  };
  for (const Case c : {Case{10'000, .984}, Case{4'000, .900}, Case{2'000, .637}, Case{1'000, 0}}) {
    PowerMaker maker{.t_ns = c.t_us * 1000, .runs = 12, .executions = 4};
    EXPECT_NEAR(profile(maker.make()).attenuation, c.left, 0.0006) << c.t_us;
  }
}

TEST(Profile, ScatterStaysInsideTheExecution) {
  const KernelProfile p = profile(typical().make());
  ASSERT_FALSE(p.lois_points.empty());
  for (const ProfilePoint& point : p.lois_points) {
    EXPECT_GE(point.toi_ns, 0);
    EXPECT_LE(point.toi_ns, p.golden_high_ns);
  }
  EXPECT_EQ(p.lois, p.lois_points.size());
  EXPECT_EQ(p.samples, typical().make().samples.size());
}

TEST(Profile, PowerTimesKGivesPowerTimesK) {
  PowerRecording recording = typical().make();
  const KernelProfile one = profile(recording);
  for (PowerSample& sample : recording.samples) sample.power_w *= 3;
  const KernelProfile three = profile(recording);
  EXPECT_NEAR(three.ssp_w, 3 * one.ssp_w, 1e-9 * three.ssp_w);
  EXPECT_NEAR(three.ssp_high_w, 3 * one.ssp_high_w, 1e-6 * three.ssp_w);
  EXPECT_NEAR(three.sse_error, one.sse_error, 1e-9);
  EXPECT_NEAR(three.curve[7].power_w, 3 * one.curve[7].power_w, 1e-6);
}

TEST(Profile, ShiftOfAllClocksChangesNothing) {
  PowerMaker maker = typical();
  const KernelProfile here = profile(maker.make());
  maker.cpu_origin_ns = 7;
  maker.gpu_origin_ns = 1'000'000'000'000'000'000;
  const KernelProfile there = profile(maker.make());
  EXPECT_EQ(here.golden, there.golden);
  ASSERT_EQ(here.lois, there.lois);
  EXPECT_NEAR(here.ssp_w, there.ssp_w, 0.05);
  EXPECT_EQ(here.t_exec_ns, there.t_exec_ns);
}

TEST(Profile, DelayedSamplesAreMovedBackByTheirDelay) {
  PowerRecording recording = typical().make();
  recording.samples_on_cpu_clock = true;
  for (PowerSample& sample : recording.samples) {
    sample.t_ns += typical().cpu_origin_ns - typical().gpu_origin_ns;
  }
  const KernelProfile prompt = profile(recording);
  recording.sensor.delay_ns = 40'000;
  for (PowerSample& sample : recording.samples) sample.t_ns += 40'000;
  const KernelProfile late = profile(recording);
  ASSERT_EQ(late.lois, prompt.lois);
  EXPECT_EQ(late.lois_points.front().toi_ns, prompt.lois_points.front().toi_ns);
  EXPECT_DOUBLE_EQ(late.ssp_w, prompt.ssp_w);
}

TEST(Profile, TwiceTheWindowIsWhereCurvesResolve) {
  PowerMaker maker{.runs = 200, .executions = 4};
  maker.t_ns = 1'900'000;
  EXPECT_EQ(profile(maker.make()).verdict, PowerVerdict::kAveraged);
  maker.t_ns = 2'100'000;
  EXPECT_EQ(profile(maker.make()).verdict, PowerVerdict::kResolved);
}

TEST(Profile, EarlyWindowsAreSaidToReachBack) {
  PowerMaker maker = typical();
  maker.executions = 10;  // the paper's count: the first LOIs hold idle time
  const KernelProfile p = profile(maker.make());
  EXPECT_LT(p.window_share, 0.96);
  EXPECT_LT(p.ssp_w, kTypicalMean);
  EXPECT_THAT(p.notes,
              Contains(HasSubstr("too low; one execution more per run and --strict-windows")));
}

TEST(Profile, OutlierProfileTakesTheOtherRuns) {
  const PowerRecording recording = typical().make();
  const KernelProfile p = profile(recording, {.outlier_ns = 130'000});
  EXPECT_GT(p.golden, 10u);
  EXPECT_LT(p.golden, 50u);
  EXPECT_NEAR(static_cast<double>(p.t_exec_ns), 130'000, 2'000);
  const KernelProfile none = profile(recording, {.outlier_ns = 200'000});
  EXPECT_EQ(none.verdict, PowerVerdict::kRefused);
  EXPECT_TRUE(std::isnan(none.ssp_w));
}

TEST(Profile, FewerRunsAreATakenPrefix) {
  const KernelProfile p = profile(typical().make(), {.first_runs = 50});
  EXPECT_EQ(p.runs, 50u);
  EXPECT_LE(p.golden, 50u);
  EXPECT_LT(p.lois, 10u);
  EXPECT_EQ(p.verdict, PowerVerdict::kShortCoverage);
}

// Strategies switched off: each is worse, which is what it buys.
TEST(Profile, AllRunsCountIfThereAreNoGoldenRuns) {
  const KernelProfile p = profile(typical().make(), {.use_golden_runs = false});
  EXPECT_EQ(p.golden, 200u);
}
TEST(Profile, SamplesDriftAwayIfClocksAreNotSynchronized) {
  PowerMaker maker = typical();
  maker.drift_ppm = 80;
  const KernelProfile with = profile(maker.make());
  const KernelProfile without = profile(maker.make(), {.use_clock_sync = false});
  EXPECT_NE(with.lois_points.front().toi_ns, without.lois_points.front().toi_ns);
}
TEST(Profile, TheFirstSettledExecutionIsProfiledIfThereIsNoSsp) {
  const KernelProfile p = profile(typical().make(), {.use_ssp = false});
  EXPECT_LT(p.ssp_w, 0.7 * kTypicalMean);
}

TEST(Profile, UnderTwentyFiveMicrosecondsIsRefusedUnlessForced) {
  PowerMaker maker{.t_ns = 20'000, .executions = 51};
  const KernelProfile refused = profile(maker.make());
  EXPECT_EQ(refused.verdict, PowerVerdict::kRefused);
  EXPECT_THAT(refused.reasons, Contains(HasSubstr("under the 25 us")));
  EXPECT_TRUE(std::isnan(refused.ssp_w));
  EXPECT_NE(profile(maker.make(), {.force = true}).verdict, PowerVerdict::kRefused);
}

TEST(Profile, UnknownWindowIsRefused) {
  PowerRecording recording = typical().make();
  recording.sensor = {};
  const KernelProfile p = profile(recording);
  EXPECT_EQ(p.verdict, PowerVerdict::kRefused);
  EXPECT_THAT(p.reasons, Contains(HasSubstr("averaging window is not known")));
}

// Reads of the GPU's clock that scatter by 20 us say nothing about a 100 us kernel.
TEST(Profile, ClocksThatDisagreeAreRefused) {
  PowerRecording recording = typical().make();
  std::mt19937_64 random(9);
  for (ClockProbe& probe : recording.probes) {
    probe.c0_ns -= 20'000;
    probe.c1_ns += 20'000;
    probe.gpu_ticks += static_cast<int64_t>(random() % 20'000);
  }
  std::sort(recording.probes.begin(), recording.probes.end(),
            [](const ClockProbe& a, const ClockProbe& b) { return a.c0_ns < b.c0_ns; });
  for (size_t i = 1; i < recording.probes.size(); ++i) {
    recording.probes[i].gpu_ticks =
        std::max(recording.probes[i].gpu_ticks, recording.probes[i - 1].gpu_ticks);
  }
  const KernelProfile p = profile(recording);
  EXPECT_EQ(p.verdict, PowerVerdict::kRefused);
  EXPECT_THAT(p.reasons, Contains(HasSubstr("the clocks agree to")));
}

// Spec/power 4.1: a 25 ms window every 100 ms, a kernel of 1 ms. No curve; the plateau's mean.
TEST(Profile, SlowSensorGivesTheMeanOnly) {
  PowerMaker maker{.t_ns = 1'000'000,
                   .phases = {{0.5, 700}, {0.5, 300}},
                   .runs = 24,
                   .executions = 260,
                   .window_ns = 25'000'000,
                   .period_ns = 100'000'000,
                   .noise_w = 2};
  const KernelProfile p = profile(maker.make());
  EXPECT_EQ(p.verdict, PowerVerdict::kMeanOnly);
  EXPECT_THAT(p.curve, IsEmpty());
  EXPECT_NEAR(p.ssp_w, 500, 2);
  EXPECT_TRUE(std::isfinite(p.ssp_low_w));
  EXPECT_NEAR(p.energy_j, 0.5, 0.002);
  // Two runs of whole watts may be equal by chance: "500 W to 500 W" was told of such.
  const KernelProfile of_two = profile(maker.make(), {.first_runs = 2});
  EXPECT_EQ(of_two.verdict, PowerVerdict::kMeanOnly);
  EXPECT_TRUE(std::isfinite(of_two.ssp_w));
  EXPECT_TRUE(std::isnan(of_two.ssp_low_w) && std::isnan(of_two.ssp_high_w));
  EXPECT_THAT(of_two.notes, Contains(HasSubstr("no interval can be given")));
  maker.executions = 20;  // 20 ms never fill the window
  const KernelProfile refused = profile(maker.make());
  EXPECT_EQ(refused.verdict, PowerVerdict::kRefused);
  EXPECT_THAT(refused.reasons, Contains(HasSubstr("back to back")));
}

// 95 % intervals hold what they promise, on the plateau and on the stitched curve.
TEST(Profile, IntervalsOfTheMeanCoverTheTruth) {
  constexpr int kDevices = 300;
  int plateau = 0;
  int curve = 0;
  for (uint64_t seed = 1; seed <= kDevices; ++seed) {
    PowerMaker slow{.t_ns = 1'000'000,
                    .phases = {{0.5, 700}, {0.5, 300}},
                    .runs = 12,
                    .executions = 130,
                    .window_ns = 25'000'000,
                    .period_ns = 100'000'000,
                    .noise_w = 2,
                    .seed = seed};
    const KernelProfile mean = profile(slow.make(), {.check_sensor = false});
    plateau += mean.ssp_low_w <= 500 && 500 <= mean.ssp_high_w;
    PowerMaker fast = typical();
    fast.seed = seed;
    const KernelProfile averaged =
        profile(fast.make(), {.strict = true, .check_sensor = false, .bootstrap = 300});
    curve += averaged.ssp_low_w <= kTypicalMean && kTypicalMean <= averaged.ssp_high_w;
    EXPECT_NEAR(averaged.ssp_w, kTypicalMean, 0.01 * kTypicalMean) << seed;
    EXPECT_NEAR(averaged.clock.drift_ppm, 37, 0.5) << seed;
  }
  EXPECT_GE(plateau, 0.92 * kDevices);
  EXPECT_LE(plateau, 0.98 * kDevices);
  EXPECT_GE(curve, 0.92 * kDevices);
  EXPECT_LE(curve, 0.98 * kDevices);
}

TEST(Profile, SlowSensorResolvesWhatIsTwiceAsLong) {
  PowerMaker maker{.t_ns = 200'000'000,
                   .phases = {{0.5, 700}, {0.5, 300}},
                   .runs = 200,
                   .executions = 4,
                   .window_ns = 25'000'000,
                   .period_ns = 100'000'000};
  const KernelProfile p = profile(maker.make());
  // Two LOIs per run do not reach one per 10 us of 200 ms.
  EXPECT_EQ(p.verdict, PowerVerdict::kShortCoverage);
  EXPECT_GT(p.curve[15].power_w, 600);
  EXPECT_NEAR(p.ssp_w, 500, 5);
}

TEST(Profile, ComponentsAreProfiledLikeTheWhole) {
  PowerRecording recording = typical().make();
  for (PowerSample& sample : recording.samples) {
    sample.xcd_w = sample.power_w * 0.6;
    sample.hbm_w = sample.power_w * 0.25;
  }
  const KernelProfile p = profile(recording);
  EXPECT_NEAR(p.components[0].ssp_w, 0.6 * p.ssp_w, 1e-6);
  EXPECT_NEAR(p.components[0].low_w, 0.6 * p.ssp_low_w, 1e-6);
  EXPECT_FALSE(p.components[1].measured());
  EXPECT_TRUE(p.components[1].curve.empty());
  EXPECT_NEAR(p.components[2].ssp_w, 0.25 * p.ssp_w, 1e-6);
  ASSERT_EQ(p.components[0].curve.size(), p.curve.size());
  for (size_t i = 0; i < p.curve.size(); ++i) {
    EXPECT_NEAR(p.components[0].curve[i].power_w, 0.6 * p.curve[i].power_w, 0.01);
  }
  EXPECT_DOUBLE_EQ(p.rest_w + p.components[0].ssp_w + p.components[2].ssp_w, p.ssp_w);
  EXPECT_GT(p.rest_w, 0);
}

// A window of a tenth of a second: the mean of every part over the same plateau, and no curve.
TEST(Profile, ComponentsOfASlowSensorAreMeans) {
  PowerRecording recording =
      PowerMaker{.executions = 400, .window_ns = 20'000'000, .period_ns = 20'000'000}.make();
  for (PowerSample& sample : recording.samples) sample.iod_w = sample.power_w * 0.2;
  const KernelProfile p = profile(recording);
  ASSERT_EQ(p.verdict, PowerVerdict::kMeanOnly);
  EXPECT_NEAR(p.components[1].ssp_w, 0.2 * p.ssp_w, 1e-6);
  EXPECT_NEAR(p.components[1].high_w, 0.2 * p.ssp_high_w, 1e-6);
  EXPECT_TRUE(p.components[1].curve.empty());
}

TEST(Profile, PartsThatExceedTheWholeAreSaid) {
  PowerRecording recording = typical().make();
  for (PowerSample& sample : recording.samples) {
    sample.xcd_w = sample.power_w * 0.8;
    sample.hbm_w = sample.power_w * 0.4;
  }
  const KernelProfile p = profile(recording);
  EXPECT_NEAR(p.rest_w, -0.2 * p.ssp_w, 1e-6);
  EXPECT_THAT(p.notes, Contains(HasSubstr("parts or whole are measured wrongly")));
}

TEST(Profile, InterleavedRunsProfileTheLastKernel) {
  PowerRecording recording = typical().make();
  recording.kernels = {"other", "gemm"};
  recording.kernel_flop = recording.kernel_bytes = {std::nan(""), std::nan("")};
  for (PowerExecution& e : recording.executions) e.kernel = e.index == 10 ? 1 : 0;
  EXPECT_THAT(profiled_kernels(recording), ::testing::ElementsAre(1));
  const KernelProfile p = profile(recording, {.kernel = 1});
  EXPECT_EQ(p.name, "gemm");
  EXPECT_EQ(p.executions_per_run, 1u);
  EXPECT_TRUE(std::isnan(p.sse_w));
  EXPECT_LT(p.window_share, 0.15);
  EXPECT_THAT(p.notes, Contains(HasSubstr("outside this kernel's executions")));
}

// ---- recordings that make no sense ----

TEST(BadRecording, IsAnErrorThatSaysWhere) {
  const PowerRecording good = PowerMaker{.runs = 12}.make();
  const auto message = [](const PowerRecording& recording) {
    const auto result = profile_kernel(recording, {});
    return result ? std::string("accepted") : result.error().message;
  };
  PowerRecording bad = good;
  bad.samples.clear();
  EXPECT_THAT(message(bad), HasSubstr("no power samples"));
  bad = good;
  bad.executions.clear();
  EXPECT_THAT(message(bad), HasSubstr("no executions"));
  bad = good;
  bad.probes.resize(9);
  EXPECT_THAT(message(bad), HasSubstr("only 9 clock probes"));
  bad = good;
  bad.samples[5].t_ns = bad.samples[4].t_ns - 12;
  EXPECT_THAT(message(bad), HasSubstr("power sample 6: the logger's clock jumps back by 12 ns"));
  bad = good;
  bad.samples[5].power_w = 350'000;
  EXPECT_THAT(message(bad), HasSubstr("cannot be watts"));
  bad = good;
  bad.samples[5].power_w = std::nan("");
  EXPECT_THAT(message(bad), HasSubstr("power sample 6"));
  bad = good;
  bad.executions[3].end_ns = bad.executions[3].start_ns - 1;
  EXPECT_THAT(message(bad), HasSubstr("run 0, execution 3: it ends before it starts"));
  bad = good;
  bad.executions[4].start_ns = bad.executions[3].start_ns - 1;
  EXPECT_THAT(message(bad), HasSubstr("run 0, execution 4: it starts before"));
  bad = good;
  bad.executions[4].index = 3;
  EXPECT_THAT(message(bad), HasSubstr("run 0, execution 3: it is there twice"));
  bad = good;
  bad.executions[3].end_ns += (bad.executions[3].end_ns - bad.executions[3].start_ns) / 2;
  EXPECT_THAT(message(bad), HasSubstr("run 0, execution 4: it starts"));
  bad = good;
  bad.executions[3].end_ns = bad.executions[3].start_ns;
  EXPECT_THAT(message(bad), HasSubstr("run 0, execution 3: it takes no time"));
  bad = good;
  for (PowerSample& sample : bad.samples) sample.power_w = 0;
  EXPECT_THAT(message(bad), HasSubstr("every power sample is 0 W"));
  bad = good;
  for (PowerSample& sample : bad.samples) sample.t_ns += 3'600'000'000'000;
  EXPECT_THAT(message(bad), HasSubstr("outside every run"));
  bad = good;
  bad.kernels.push_back("never run");
  EXPECT_THAT(profile_kernel(bad, {.kernel = 1}).error().message, HasSubstr("has no executions"));
  EXPECT_THAT(profile_kernel(bad, {.kernel = 2}).error().message, HasSubstr("no such kernel"));
}

TEST(BadRecording, RepeatedStampsAreDroppedAndCounted) {
  PowerRecording recording = typical().make();
  const KernelProfile before = profile(recording);
  recording.samples.insert(recording.samples.begin() + 3, recording.samples[2]);
  const KernelProfile after = profile(recording);
  EXPECT_EQ(after.samples_repeated, 1u);
  EXPECT_DOUBLE_EQ(before.ssp_w, after.ssp_w);
}

TEST(BadRecording, SamplesInGapsAreCounted) {
  PowerRecording recording = typical().make();
  // Every execution loses its second half: what fell there is in a gap, except after the last one.
  for (PowerExecution& e : recording.executions) e.end_ns = (e.start_ns + e.end_ns) / 2;
  const KernelProfile p = profile(recording, {.force = true});
  EXPECT_GT(p.samples_in_gaps, 50u);
  EXPECT_LT(p.window_share, 0.6);
}

}  // namespace
}  // namespace assay
