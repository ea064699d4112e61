#include "breakdown/telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/trace_maker.h"

namespace assay {
namespace {

using assay::testing::TraceMaker;
using ::testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1'000 * kMs;

// Readings at 0, 100 ms, 200 ms, ...
TelemetryTrack gauge(std::vector<double> values,
                     TelemetrySignal signal = TelemetrySignal::kSmClock) {
  TelemetryTrack track;
  track.signal = signal;
  track.period_ns = 100 * kMs;
  for (size_t i = 0; i < values.size(); ++i) {
    track.t_ns.push_back(static_cast<int64_t>(i) * 100 * kMs);
  }
  track.value = std::move(values);
  return track;
}

// Means over (0, 100 ms], (100 ms, 200 ms], ...
TelemetryTrack means(std::vector<double> values) {
  TelemetryTrack track = gauge(std::move(values), TelemetrySignal::kActiveCores);
  track.mean = track.host = true;
  track.from_ns = track.t_ns;
  for (int64_t& t : track.t_ns) t += 100 * kMs;
  return track;
}

TEST(CoreEquations, TheSpecsVector) {
  // spec/levels section 8: C_active 5, C_min 2.255.
  const std::vector<float> util = {100, 50, 50, 25, 0, 0, 0.5F, 0};
  EXPECT_EQ(active_cores(util.data(), util.size()), 5);
  EXPECT_NEAR(min_cores(util.data(), util.size()), 2.255, 1e-12);
}

TEST(CoreEquations, OfflineProcessorsCountAsIdle) {
  const std::vector<float> util = {std::nanf(""), 100};
  EXPECT_EQ(active_cores(util.data(), 2), 1);
  EXPECT_DOUBLE_EQ(min_cores(util.data(), 2), 1);
}

TEST(SampleIntervals, EverySampleRepresentsTheTimeAroundIt) {
  // 50 to 250 ms: the readings at 100 and 200 ms, each for 100 ms.
  const SampledValue value =
      sample_intervals(gauge({1000, 1200, 1600, 1000}), {{50 * kMs, 250 * kMs}});
  EXPECT_EQ(value.how, SampledHow::kWeighted);
  EXPECT_DOUBLE_EQ(value.value, 1400);
  EXPECT_DOUBLE_EQ(value.coverage_share, 1);
  EXPECT_EQ(value.samples, 2U);
  // Variances around them: (200^2 / 2 + 400^2 / 2) / 2 = 50,000 and (400^2 / 2 + 600^2 / 2) / 2 =
  // 130,000; the error of their mean is sqrt(180,000) / 2 = 212.13, times 1.95996.
  EXPECT_NEAR((value.high - value.low) / 2, 415.7718, 1e-3);
}

TEST(SampleIntervals, WeightsAreTheTimesInCommon) {
  // 100 to 225 ms: 50 ms of the reading at 100 ms, 75 ms of that at 200 ms.
  const SampledValue value = sample_intervals(gauge({0, 1000, 2000, 0}), {{100 * kMs, 225 * kMs}});
  EXPECT_DOUBLE_EQ(value.value, (50 * 1000.0 + 75 * 2000.0) / 125);
}

TEST(SampleIntervals, AConstantSignalIsKnownExactlyHoweverItIsCut) {
  const SampledValue value = sample_intervals(gauge(std::vector<double>(20, 1410)),
                                              {{130 * kMs, 460 * kMs}, {900 * kMs, 1150 * kMs}});
  EXPECT_DOUBLE_EQ(value.value, 1410);
  EXPECT_DOUBLE_EQ(value.low, 1410);
  EXPECT_DOUBLE_EQ(value.high, 1410);
}

TEST(SampleIntervals, AHoleInTheLogCoversNothing) {
  TelemetryTrack track = gauge({1, 1, 1, 1});
  track.t_ns[2] += kSecond;
  track.t_ns[3] += kSecond;
  // The reading at 100 ms reaches 75 ms into the hole, to 175 ms; that at 1.2 s back to 1.125 s.
  const SampledValue value = sample_intervals(track, {{100 * kMs, 1200 * kMs}});
  EXPECT_NEAR(value.coverage_share, 150.0 / 1100, 1e-12);
  EXPECT_EQ(value.how, SampledHow::kBracket);
}

TEST(SampleIntervals, IntervalsShorterThanThePeriodAreBracketedNotInterpolated) {
  const SampledValue value =
      sample_intervals(gauge({1000, 1200, 1600, 1000}), {{130 * kMs, 140 * kMs}});
  EXPECT_EQ(value.how, SampledHow::kBracket);
  EXPECT_TRUE(std::isnan(value.value));
  EXPECT_DOUBLE_EQ(value.low, 1000);
  EXPECT_DOUBLE_EQ(value.high, 1600);
  EXPECT_EQ(value.samples, 0U);
}

// One reading has no error of its own: what its neighbours lend it is no interval to stand on.
TEST(SampleIntervals, SingleSampleIsNotAMean) {
  TelemetryTrack track = gauge({1000, 1200, 1600, 1000});
  track.period_ns = 60 * kMs;  // of a log that was mostly faster: reach 45 ms
  const SampledValue one = sample_intervals(track, {{145 * kMs, 225 * kMs}});
  EXPECT_EQ(one.how, SampledHow::kBracket);
  EXPECT_DOUBLE_EQ(one.low, 1000);
  EXPECT_DOUBLE_EQ(one.high, 1600);
}

TEST(SampleIntervals, SamplesInsideShortIntervalsCountForThem) {
  std::vector<double> values;
  std::vector<Interval> busy;
  for (int i = 0; i < 12; ++i) {
    // Even readings lie in an interval of 2 ms, odd ones between two.
    values.push_back(i % 2 == 0 ? 1500 + i : 900);
    if (i % 2 == 0) busy.push_back({(100 * i - 1) * kMs, (100 * i + 1) * kMs});
  }
  const SampledValue value = sample_intervals(gauge(values), busy);
  EXPECT_EQ(value.how, SampledHow::kHits);
  EXPECT_EQ(value.samples, 6U);
  EXPECT_DOUBLE_EQ(value.value, 1505);  // 1500, 1502, ..., 1510
  // Standard deviation 3.741657, over sqrt(6), times Student's 2.570582 of 5 degrees of freedom.
  EXPECT_NEAR(value.high - value.value, 3.926623, 1e-5);
  // Power is the sensor's mean over a time of its own: readings in short intervals are not theirs.
  const SampledValue power = sample_intervals(gauge(values, TelemetrySignal::kPower), busy);
  EXPECT_EQ(power.how, SampledHow::kBracket);
}

TEST(SampleIntervals, MeansOverTheirIntervalAreExactOnlyWhole) {
  const SampledValue whole = sample_intervals(means({4, 8, 4}), {{100 * kMs, 200 * kMs}});
  EXPECT_EQ(whole.how, SampledHow::kWeighted);
  EXPECT_DOUBLE_EQ(whole.value, 8);
  EXPECT_DOUBLE_EQ(whole.high, 8);
  const SampledValue part = sample_intervals(means({4, 8, 4}), {{100 * kMs, 250 * kMs}});
  EXPECT_DOUBLE_EQ(part.value, (100 * 8.0 + 50 * 4.0) / 150);
  EXPECT_GT(part.high, part.value);
}

TEST(SampleIntervals, NothingNearIsNothing) {
  const SampledValue value = sample_intervals(gauge({1, 1}), {{10 * kSecond, 11 * kSecond}});
  EXPECT_EQ(value.how, SampledHow::kNone);
  EXPECT_EQ(value.coverage_share, 0);
  EXPECT_EQ(sample_intervals(gauge({}), {{0, kSecond}}).how, SampledHow::kNone);
}

// ---- placing ----

TelemetryLog clock_log(LogClock clock, int64_t start_ns) {
  TelemetryLog log;
  log.path = "log.csv";
  log.clock = clock;
  TelemetrySeries series;
  series.device = "0";
  series.quantity = TelemetryQuantity::kSmClock;
  for (int i = 0; i < 11; ++i) {
    series.t_ns.push_back(start_ns + i * 100 * kMs);
    series.value.push_back(1000 + i);
  }
  log.series.push_back(series);
  log.devices.push_back({"0", 0, "", ""});
  return log;
}

TEST(PlaceTelemetry, LocalTimeIsMovedByItsZone) {
  TelemetryOptions options;
  options.zone_ns = 7'200 * kSecond;  // two hours east
  const auto placed =
      place_telemetry({clock_log(LogClock::kLocalTime, 10'000 * kSecond)}, options, 0);
  ASSERT_TRUE(placed) << placed.error().describe();
  EXPECT_EQ(placed->tracks[0].t_ns.front(), 2'800 * kSecond);
  EXPECT_EQ(placed->files[0].clock, "local time, read as UTC+02:00");
}

TEST(PlaceTelemetry, TimesOfUnknownOriginNeedAnOffset) {
  const std::vector<TelemetryLog> logs = {clock_log(LogClock::kUnknownOrigin, 5 * kSecond)};
  const auto refused = place_telemetry(logs, {}, 77 * kSecond);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().describe(), HasSubstr("--telemetry-offset"));
  TelemetryOptions told;
  told.offset_told = true;
  told.offset_ns = kSecond;
  EXPECT_EQ(place_telemetry(logs, told, 0)->tracks[0].t_ns.front(), 6 * kSecond);
  TelemetryOptions start;
  start.at_start = true;
  EXPECT_EQ(place_telemetry(logs, start, 77 * kSecond)->tracks[0].t_ns.front(), 77 * kSecond);
}

TEST(PlaceTelemetry, LogThatBeginsWithTheWorkIsReportedAsAnAssumption) {
  const std::vector<TelemetryLog> logs = {clock_log(LogClock::kEpoch, 5 * kSecond)};
  TelemetryOptions start;
  start.at_start = true;
  const auto assumed = place_telemetry(logs, start, 77 * kSecond);
  ASSERT_TRUE(assumed);
  ASSERT_EQ(assumed->trust.size(), 1U);
  EXPECT_EQ(assumed->trust[0].what, "telemetry_offset_assumed");
  EXPECT_EQ(assumed->trust[0].count, 1U);
  EXPECT_TRUE(place_telemetry(logs, {}, 77 * kSecond)->trust.empty());
}

TEST(PlaceTelemetry, ALogOfAnotherTimeIsRefusedWithTheZoneThatWouldDo) {
  const auto placed = place_telemetry({clock_log(LogClock::kLocalTime, 100'000 * kSecond)}, {}, 0);
  ASSERT_TRUE(placed);
  // The trace is five hours later: the log's zone is UTC-05:00.
  const Interval trace{118'000 * kSecond, 118'001 * kSecond};
  const auto refused = check_telemetry_overlap(*placed, trace);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().describe(), HasSubstr("--telemetry-zone -05:00"));
  EXPECT_TRUE(check_telemetry_overlap(*placed, {100'000 * kSecond, 100'001 * kSecond}));
}

// ---- rows ----

// Two kernels of one operation 400 ms each, a bubble of 100 ms between them, at 10 s.
Trace small_trace() {
  TraceMaker maker;
  const int64_t t = 10 * kSecond;
  maker.op(1, "aten::mm", t, 50 * kMs);
  maker.call(1, "cudaLaunchKernel", t + 10 * kMs, kMs, 1);
  maker.kernel(0, 7, "gemm_a", t + 20 * kMs, 400 * kMs, 1);
  maker.call(1, "cudaLaunchKernel", t + 30 * kMs, kMs, 2);
  maker.kernel(0, 7, "gemm_a", t + 520 * kMs, 400 * kMs, 2);
  return maker.build();
}

BreakdownReport levels_of(const Trace& trace) {
  const Links links = link_trace(trace);
  auto report = analyze_breakdown(trace, links, find_iterations(trace, links), {});
  EXPECT_TRUE(report.has_value());
  return *std::move(report);
}

TEST(TelemetryRows, AnOperationIsTheRunOfItsKernelsWithTheBubblesInside) {
  const Trace trace = small_trace();
  const BreakdownReport report = levels_of(trace);
  TelemetryLog log = clock_log(LogClock::kEpoch, 10 * kSecond);
  TrustNotes notes;
  const auto placed = place_telemetry({log}, {}, 0);
  const auto rows = telemetry_rows(report, *placed, {}, notes);
  const TelemetryRow* op = nullptr;
  for (const TelemetryRow& row : rows) {
    if (row.level == TelemetryLevel::kOperation) op = &row;
  }
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->intervals, 1U);
  EXPECT_EQ(op->time_ns, 900 * kMs);  // 20 to 920 ms
  ASSERT_EQ(op->values.size(), 1U);
  // 30 ms of 1000, 100 ms each of 1001 to 1008, 70 ms of 1009.
  EXPECT_NEAR(op->values[0].value, (30 * 1000.0 + 100 * 8036.0 + 70 * 1009.0) / 900, 1e-9);
  EXPECT_TRUE(notes.empty());
}

TEST(TelemetryRows, GpusAreMatchedByNumberUnlessGiven) {
  const Trace trace = small_trace();
  const BreakdownReport report = levels_of(trace);
  TelemetryLog log = clock_log(LogClock::kEpoch, 10 * kSecond);
  log.series.push_back(log.series.front());
  log.series.back().device = "1";
  for (double& value : log.series.back().value) value = 500;
  log.devices.push_back({"1", 1, "", "GPU-second"});
  const auto placed = place_telemetry({log}, {}, 0);
  TrustNotes notes;
  EXPECT_GT(telemetry_rows(report, *placed, {}, notes).front().values.at(0).value, 999);
  TelemetryOptions told;
  told.device_of[0] = "GPU-second";
  EXPECT_DOUBLE_EQ(telemetry_rows(report, *placed, told, notes).front().values.at(0).value, 500);
  EXPECT_TRUE(notes.empty());
  told.device_of[0] = "no such device";
  EXPECT_TRUE(telemetry_rows(report, *placed, told, notes).front().values.empty());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].what, "telemetry_gpu_unmatched");
}

TEST(GpuMoments, AreMeanLeastAndGreatestOfOneRound) {
  TelemetryReport report;
  for (const double start : {1000.0, 1300.0}) {
    TelemetryTrack track = gauge({start, start + 100, start});
    track.device = start < 1200 ? "0" : "1";
    // The second GPU is read 3 ms later, and its last reading is missing.
    if (start > 1200) {
      for (int64_t& t : track.t_ns) t += 3 * kMs;
      track.t_ns.pop_back();
      track.value.pop_back();
    }
    report.tracks.push_back(track);
  }
  const auto moments = gpu_moments(report, TelemetrySignal::kSmClock);
  ASSERT_EQ(moments.size(), 3U);
  EXPECT_EQ(moments[1].gpus, 2U);
  EXPECT_DOUBLE_EQ(moments[1].mean, 1250);
  EXPECT_DOUBLE_EQ(moments[1].min, 1100);
  EXPECT_DOUBLE_EQ(moments[1].max, 1400);
  EXPECT_TRUE(gpu_moments(report, TelemetrySignal::kPower).empty());
}

// ---- cores ----

TEST(CpuActivity, PhysicalCoresCountTheirActiveSiblings) {
  PlacedTelemetry placed;
  placed.cpu.cpus = {0, 1, 2, 3};
  placed.cores = {{0, 0}, {0, 1}, {0, 0}, {0, 1}};  // 0 and 2 are siblings, 1 and 3
  placed.cpu.from_ns = {0, 100 * kMs, 200 * kMs};
  placed.cpu.t_ns = {100 * kMs, 200 * kMs, 300 * kMs};
  placed.cpu.percent = {100, 0, 0,  0,   // core 0: one
                        50,  0, 50, 0,   // core 0: both
                        0,   0, 0,  0};  // none
  const auto activity = cpu_activity(placed, {0, 300 * kMs});
  ASSERT_TRUE(activity);
  EXPECT_EQ(activity->logical, 4U);
  ASSERT_EQ(activity->cores.size(), 2U);
  EXPECT_EQ(activity->cores[0].one, 1U);
  EXPECT_EQ(activity->cores[0].more, 1U);
  EXPECT_EQ(activity->cores_used, 1U);
  EXPECT_DOUBLE_EQ(activity->siblings_share, 0.5);
  EXPECT_DOUBLE_EQ(activity->active.median, 1);
  EXPECT_DOUBLE_EQ(activity->active.max, 2);
  EXPECT_DOUBLE_EQ(activity->min_cores.median, 1);
  EXPECT_NEAR(activity->utilization, 2.0 / 12, 1e-12);
  EXPECT_EQ(activity->moments[1].siblings, 1);
  // Samples outside the trace do not count.
  EXPECT_EQ(cpu_activity(placed, {210 * kMs, 220 * kMs})->moments.size(), 1U);
  EXPECT_FALSE(cpu_activity(placed, {kSecond, 2 * kSecond}));
}

TEST(CpuActivity, HasNoPhysicalCoresIfTheTopologyIsUnknown) {
  PlacedTelemetry placed;
  placed.cpu.cpus = {0, 1};
  placed.cpu.from_ns = {0};
  placed.cpu.t_ns = {100 * kMs};
  placed.cpu.percent = {100, 3};
  const auto activity = cpu_activity(placed, {0, kSecond});
  ASSERT_TRUE(activity);
  EXPECT_TRUE(activity->cores.empty());
  EXPECT_DOUBLE_EQ(activity->active.median, 2);
}

}  // namespace
}  // namespace assay
