#include "power/procedure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "devices/simulated.h"
#include "support/throttling_device.h"

namespace assay {
namespace {

using testing::drawn_throttling;
using ::testing::HasSubstr;
using testing::Throttling;
using testing::ThrottlingDevice;

constexpr const char* kSteady = "kind=logger,window=1ms,period=1ms,delay=0,boost=0,t=100us";

std::unique_ptr<SimulatedDevice> device_with(const std::string& knobs, uint64_t seed = 7) {
  return make_simulated_device(seed, *parse_simulated_knobs(knobs));
}

ProcedureOptions options_for(uint64_t seed = 7) {
  ProcedureOptions options;
  options.seed = seed;
  options.profile.strict = true;
  options.profile.bootstrap = 200;
  return options;
}

TEST(Procedure, WarmUpsAreDeducedFromTheTimes) {
  EXPECT_EQ(deduce_warm_ups({130, 112, 106, 100, 100, 101, 100, 100}, 0.05), 3U);
  // Within 10 % of the median of what follows (100.5 of 106 100 100 101 100 100) already the third.
  EXPECT_EQ(deduce_warm_ups({130, 112, 106, 100, 100, 101, 100, 100}, 0.10), 2U);
  EXPECT_EQ(deduce_warm_ups({100, 100, 100}, 0.02), 0U);
  EXPECT_EQ(deduce_warm_ups({}, 0.05), 0U);
}

TEST(Procedure, CountsAreWarmUpsPlusAWindowfulPlusOne) {
  // Executions of about 100 us in a 1 ms window: 3 + 10 + 1, or 11 where they are just shorter.
  const auto device = device_with(kSteady);
  const auto result = run_procedure(*device, *parse_workload_list("gemm:2048"), options_for(), {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->plan.warm_ups, 3U);
  const int64_t t = result->plan.t_exec_ns;
  EXPECT_EQ(result->plan.executions_per_run, 3 + (1'000'000 + t - 1) / t + 1);
  EXPECT_EQ(result->plan.runs, 200U);
  EXPECT_EQ(result->plan.loi_target, static_cast<uint32_t>((t + 9999) / 10000));
  EXPECT_FALSE(result->plan.throttles);
  EXPECT_FALSE(result->plan.mean_only);
}

TEST(Procedure, MeasurementsWithoutEndAreRefusedBeforeTheyRun) {
  const auto device = device_with("kind=logger,window=1ms,period=1ms");
  const int64_t before = device->now_ns();
  for (const char* workload : {"gemm:1048576", "2*gemm:1048576 , 1*gemm:2048"}) {
    const auto result = run_procedure(*device, *parse_workload_list(workload), options_for(), {});
    ASSERT_FALSE(result) << workload;
    EXPECT_THAT(result.error().message, HasSubstr("million samples"));
    EXPECT_EQ(device->now_ns(), before);
  }
}

TEST(Procedure, ThePapersCountsAreThePapers) {
  const auto device = device_with(kSteady);
  ProcedureOptions options = options_for();
  options.paper_counts = true;
  options.profile.strict = false;
  const auto result = run_procedure(*device, *parse_workload_list("gemm:2048"), options, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->plan.executions_per_run,
            ssp_executions(1'000'000, result->plan.t_exec_ns, false));
}

TEST(Procedure, ThrottlingIsOutlasted) {
  const auto device = device_with("kind=logger,window=1ms,period=1ms,delay=0,boost=0.25,t=200us");
  const auto result = run_procedure(*device, *parse_workload_list("gemm:4096"), options_for(), {});
  ASSERT_TRUE(result);
  const KernelTruth truth = device->truth()->kernels[0];
  ASSERT_GT(truth.settled_after_ns, 0);
  EXPECT_TRUE(result->plan.throttles);
  // All but the last few percent of the ramp lie before the profiled execution.
  EXPECT_GT(result->plan.executions_per_run * 200'000.0, 0.9 * truth.settled_after_ns);
  EXPECT_NEAR(result->profile.ssp_w, truth.ssp_w, 0.01 * truth.ssp_w);
}

// What a device of the second simulator is told to do after the time of a run: how much less it
// draws then, in truth, and whether that was said.
struct LateRun {
  double left = 0;  // of the power at the end of a run, what still goes
  bool said = false;
  double power_change = 0;
};

LateRun late_run(uint64_t seed, bool throttles) {
  const Throttling made = drawn_throttling(seed, throttles);
  ThrottlingDevice device(made, seed);
  ProcedureOptions options = options_for(seed);
  options.runs = 12;
  options.rounds = 0;
  options.profile.check_sensor = false;
  const auto result = run_procedure(device, *parse_workload_list("gemm:4096"), options, {});
  EXPECT_TRUE(result) << seed;
  if (!result) return {};
  EXPECT_GT(result->late.watched_ns, 0) << seed;
  const double run_s =
      static_cast<double>(result->plan.executions_per_run * result->plan.t_exec_ns) * 1e-9;
  return {1 - made.watts_at(60) / made.watts_at(run_s), result->late.changes,
          result->late.power_change};
}

// Clocks that fall by 3 to 25 % within 0.3 to 5 s, in four ways, with kernels that slow down by it
// or hardly do; runs last some milliseconds to seconds. ASSAY_DEVICES=300 prints what was missed.
TEST(Procedure, ThrottlingThatSettlesLateIsSaid) {
  const char* asked = std::getenv("ASSAY_DEVICES");
  const uint64_t devices = asked == nullptr ? 60 : std::strtoull(asked, nullptr, 10);
  uint64_t late = 0;
  uint64_t missed = 0;
  uint64_t false_alarms = 0;
  for (uint64_t i = 0; i < devices; ++i) {
    const LateRun throttled = late_run(710'000 + i, true);
    if (throttled.left >= 0.02) {
      ++late;
      missed += throttled.said ? 0 : 1;
    }
    if (throttled.said && throttled.left > 0.05) {
      EXPECT_LT(throttled.power_change, -0.01) << i;
    }
    false_alarms += late_run(720'000 + i, false).said ? 1 : 0;
  }
  EXPECT_GT(late, devices / 2);
  EXPECT_LE(missed, devices / 100);
  EXPECT_LE(false_alarms, devices / 100);
  if (asked != nullptr) {
    std::printf("%zu of %zu missed, %zu of %zu steady ones told\n", static_cast<size_t>(missed),
                static_cast<size_t>(late), static_cast<size_t>(false_alarms),
                static_cast<size_t>(devices));
  }
}

// The last run is the longest of all: a device that fails there leaves the profile as it is.
TEST(Procedure, ADeviceThatFailsWhileWatchedLeavesTheProfile) {
  Throttling made = drawn_throttling(720'000, false);
  made.t_exec_s = 1e-3;
  made.period_s = made.window_s = 1e-3;
  ThrottlingDevice device(made, 1);
  device.fail_beyond(4'000);
  ProcedureOptions options = options_for(1);
  options.runs = 12;
  options.rounds = 0;
  const auto result = run_procedure(device, *parse_workload_list("gemm:4096"), options, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->profile.ssp_w, 0);
  EXPECT_EQ(result->late.watched_ns, 0);
  EXPECT_THAT(result->late_failed, HasSubstr("fell off the bus"));
}

// A budget that is used up leaves no room to watch, and nothing is said of what comes later.
TEST(Procedure, LaterTimesAreNotReportedIfTimeIsMissing) {
  ThrottlingDevice device(drawn_throttling(710'000, true), 1);
  ProcedureOptions options = options_for(1);
  options.budget_ns = 1;
  const auto result = run_procedure(device, *parse_workload_list("gemm:4096"), options, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->late.watched_ns, 0);
  EXPECT_FALSE(result->late.changes);
}

// Boosted executions that are warm-ups as well take as long as settled ones: only their power
// tells, and the profiled execution's window reaches into the last of them.
TEST(Procedure, ThrottlingThatTimesDoNotShowIsOutlasted) {
  std::vector<std::pair<uint64_t, std::string>> devices;
  for (const uint64_t seed : {70'001, 70'050, 70'083}) devices.emplace_back(seed, "t=4ms");
  for (uint64_t seed = 73'000; seed < 73'020; ++seed)
    devices.emplace_back(seed, "t=3ms,boost=0.25");
  for (const auto& [seed, knobs] : devices) {
    const auto device = device_with("kind=logger," + knobs, seed);
    const auto result =
        run_procedure(*device, *parse_workload_list("gemm:4096"), options_for(seed), {});
    ASSERT_TRUE(result) << seed;
    const double truth = device->truth()->kernels[0].ssp_w;
    EXPECT_NEAR(result->profile.ssp_w, truth, 0.005 * truth) << seed;
  }
}

TEST(Procedure, ASlowSensorGivesAMeanFromFewLongRuns) {
  const auto device = device_with("kind=nvml,t=1ms,boost=0");
  const auto result = run_procedure(*device, *parse_workload_list("gemm:4096"), options_for(), {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->plan.mean_only);
  EXPECT_EQ(result->profile.verdict, PowerVerdict::kMeanOnly);
  const double truth = device->truth()->kernels[0].ssp_w;
  EXPECT_NEAR(result->profile.ssp_w, truth, 0.01 * truth);
}

// A sensor of 100 ms takes some minutes; with a budget it is over by then, but for the run that was
// going on and the planning before it.
TEST(Procedure, ABudgetEndsItInTimeWithWhatThereIs) {
  const std::string slow = "kind=logger,window=25ms,period=100ms";
  ProcedureOptions options = options_for();
  const auto whole_device = device_with(slow);
  const int64_t began_ns = whole_device->now_ns();
  const auto whole = run_procedure(*whole_device, *parse_workload_list("gemm:4096"), options, {});
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_FALSE(whole->out_of_time);
  EXPECT_EQ(whole->runs, whole->plan.runs);
  const int64_t whole_ns = whole_device->now_ns() - began_ns;
  for (const int64_t part : {2, 4}) {
    const auto device = device_with(slow);
    options.budget_ns = whole_ns / part;
    const int64_t from_ns = device->now_ns();
    const auto result = run_procedure(*device, *parse_workload_list("gemm:4096"), options, {});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->out_of_time);
    EXPECT_LT(result->runs, whole->runs);
    EXPECT_GE(result->runs, 3U);
    EXPECT_LE(device->now_ns() - from_ns, options.budget_ns) << part;
    EXPECT_NEAR(result->profile.ssp_w, whole->profile.ssp_w, 0.02 * whole->profile.ssp_w);
  }
}

TEST(Procedure, UnmeasurableKernelsAreRefusedWithAReason) {
  const std::pair<const char*, const char*> cases[] = {{"kind=logger,t=12us", "25 us"},
                                                       {"kind=unknown,t=100us", "power calibrate"}};
  for (const auto& [knobs, says] : cases) {
    const auto device = device_with(knobs);
    const auto result =
        run_procedure(*device, *parse_workload_list("gemm:2048"), options_for(), {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->profile.verdict, PowerVerdict::kRefused);
    ASSERT_EQ(result->profile.reasons.size(), 1U);
    EXPECT_THAT(result->profile.reasons[0], HasSubstr(says));
    EXPECT_TRUE(std::isnan(result->profile.ssp_w));
  }
}

TEST(Procedure, ForceRunsShortKernelsMoreOften) {
  const auto device = device_with("kind=logger,window=1ms,period=1ms,delay=0,boost=0,t=12500ns");
  ProcedureOptions options = options_for();
  options.profile.force = true;
  const auto result = run_procedure(*device, *parse_workload_list("gemm:2048"), options, {});
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->plan.runs, 800, 16);  // 400 x 25 us / 12.5 us
}

TEST(Procedure, AnInterleavedListRunsInOrderAndProfilesItsLast) {
  const auto device = device_with(kSteady);
  ProcedureOptions options = options_for();
  options.profile.strict = false;
  options.runs = 20;
  options.rounds = 0;
  const auto result =
      run_procedure(*device, *parse_workload_list("6*gemm:2048 , 1*gemm:8192"), options, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->profile.name, "gemm:8192");
  ASSERT_EQ(result->recording.executions.size(), 20U * 7U);
  for (const PowerExecution& one : result->recording.executions) {
    EXPECT_EQ(one.kernel, one.index == 6 ? 1U : 0U);
  }
}

TEST(Procedure, TheSameSeedGivesTheSameRecording) {
  const auto a = device_with(kSteady);
  const auto b = device_with(kSteady);
  ProcedureOptions options = options_for();
  options.runs = 20;
  const auto steps = parse_workload_list("gemm:2048");
  const auto first = run_procedure(*a, *steps, options, {});
  const auto second = run_procedure(*b, *steps, options, {});
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->recording.samples.size(), second->recording.samples.size());
  for (size_t i = 0; i < first->recording.samples.size(); ++i) {
    ASSERT_EQ(first->recording.samples[i].t_ns, second->recording.samples[i].t_ns);
    ASSERT_EQ(first->recording.samples[i].power_w, second->recording.samples[i].power_w);
  }
  EXPECT_EQ(first->profile.ssp_w, second->profile.ssp_w);
}

// Keeps what a recording on disk would hold, and stops after so many records.
struct Disk {
  ProcedureResume kept;
  int room = 1'000'000;
  ProcedureObserver observer() {
    ProcedureObserver observer;
    observer.planned = [this](const PowerRecording& head, const PowerPlan& plan) -> Status {
      kept.recording = head;
      kept.plan = plan;
      return Ok{};
    };
    observer.recorded = [this](const PowerRunRecord& record) -> Status {
      if (room-- == 0) return Error{ErrorCode::kIo, "No space left on device", "samples.csv", -1};
      const auto add = [](auto& all, const auto& some) {
        all.insert(all.end(), some.begin(), some.end());
      };
      add(kept.recording.samples, record.samples);
      add(kept.recording.executions, record.executions);
      add(kept.recording.probes, record.probes);
      return Ok{};
    };
    return observer;
  }
};

TEST(Procedure, AFullDiskStopsTheRunByName) {
  const auto device = device_with(kSteady);
  Disk disk;
  disk.room = 5;
  const auto result =
      run_procedure(*device, *parse_workload_list("gemm:2048"), options_for(), disk.observer());
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().describe(), HasSubstr("samples.csv: No space left on device"));
}

TEST(Procedure, AnInterruptedMeasurementEndsAsIfUninterrupted) {
  const auto steps = parse_workload_list("gemm:2048");
  ProcedureOptions options = options_for();
  options.runs = 40;
  const auto whole = run_procedure(*device_with(kSteady), *steps, options, {});
  ASSERT_TRUE(whole);
  Disk disk;
  disk.room = 16;  // the delay benchmark and 15 runs
  ASSERT_FALSE(run_procedure(*device_with(kSteady), *steps, options, disk.observer()));
  disk.room = 1'000'000;
  const ProcedureResume left = disk.kept;
  const auto rest = run_procedure(*device_with(kSteady), *steps, options, disk.observer(), &left);
  ASSERT_TRUE(rest) << rest.error().message;
  ASSERT_EQ(rest->recording.executions.size(), whole->recording.executions.size());
  for (size_t i = 0; i < whole->recording.executions.size(); ++i) {
    ASSERT_EQ(rest->recording.executions[i].run, whole->recording.executions[i].run);
    ASSERT_EQ(rest->recording.executions[i].start_ns, whole->recording.executions[i].start_ns);
    ASSERT_EQ(rest->recording.executions[i].end_ns, whole->recording.executions[i].end_ns);
  }
  // Energies are summed from another start: equal but for the rounding of doubles.
  EXPECT_NEAR(rest->profile.ssp_w, whole->profile.ssp_w, 1e-5);
}

TEST(Procedure, AnotherMeasurementsRecordIsNotResumed) {
  Disk disk;
  ProcedureOptions options = options_for();
  options.runs = 20;
  ASSERT_TRUE(run_procedure(*device_with(kSteady), *parse_workload_list("gemm:2048"), options,
                            disk.observer()));
  const auto other = run_procedure(*device_with(kSteady), *parse_workload_list("gemm:4096"),
                                   options, {}, &disk.kept);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("another measurement run ('gemm:2048'"));
  options.seed = 8;
  EXPECT_FALSE(run_procedure(*device_with(kSteady), *parse_workload_list("gemm:2048"), options, {},
                             &disk.kept));
}

TEST(Procedure, RunsInStepWithTheSensorSeeFewPlacesInTheKernel) {
  // Strategy S1 off: without random delays the samples fall where the sensor's phase puts them.
  const auto steps = parse_workload_list("gemm:2048");
  ProcedureOptions options = options_for();
  options.rounds = 0;
  const std::string knobs = "kind=logger,window=1ms,period=1ms,delay=0,boost=0,drift=0,t=900us";
  const auto with = run_procedure(*device_with(knobs), *steps, options, {});
  options.random_delays = false;
  const auto without = run_procedure(*device_with(knobs), *steps, options, {});
  ASSERT_TRUE(with && without);
  EXPECT_LT(with->profile.largest_gap_ns, 100'000);
  EXPECT_GT(without->profile.largest_gap_ns, 300'000);
}

}  // namespace
}  // namespace assay
