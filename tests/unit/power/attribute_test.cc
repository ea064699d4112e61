#include "power/attribute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "base/numbers.h"
#include "support/power_maker.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TraceMaker;
using testing::unit_draw;

// Kernels one after the other on one stream, with a known power each; what is not a kernel is idle.
struct MadeWorkload {
  struct Run {
    std::string name;
    double start_ns;
    double end_ns;
    double watts;
  };
  std::vector<Run> runs;
  double idle_w = 80;
  double now_ns = 0;

  void run(const std::string& name, double ms, double watts) {
    runs.push_back({name, now_ns, now_ns + ms * kMillisecondNs, watts});
    now_ns += ms * kMillisecondNs;
  }
  void wait(double ms) { now_ns += ms * kMillisecondNs; }

  double energy_j(double from, double to, const std::string& name = "") const {
    double joules = name.empty() ? idle_w * (to - from) : 0;
    for (const Run& r : runs) {
      const double inside = std::min(to, r.end_ns) - std::max(from, r.start_ns);
      if (inside > 0 && (name.empty() || name == r.name)) joules += r.watts * inside;
    }
    return joules * 1e-9;
  }
  Trace trace() const {
    TraceMaker maker;
    int correlation = 1;
    for (const Run& r : runs) {
      const auto start = static_cast<int64_t>(r.start_ns);
      const auto dur = static_cast<int64_t>(r.end_ns) - start;
      maker.op(1, "aten::" + r.name, start, dur);
      maker.call(1, "cudaLaunchKernel", start, 1000, correlation);
      maker.kernel(0, 7, r.name, start, dur, correlation++);
    }
    return maker.build();
  }
  PowerSeries log(double period_ms, double window_ms, double noise_w, uint64_t seed) const {
    PowerSeries series;
    std::mt19937_64 random(seed);
    for (double t = window_ms * kMillisecondNs; t < now_ns; t += period_ms * kMillisecondNs) {
      const double mean =
          energy_j(t - window_ms * kMillisecondNs, t) / (window_ms * kMillisecondNs * 1e-9);
      series.readings.push_back(
          {static_cast<int64_t>(t), std::max(0.0, mean + noise_w * testing::normal_draw(random))});
    }
    return series;
  }
};

// 40 s of three kernels in random order with random waits.
MadeWorkload random_mix(uint64_t seed, int pieces = 1500) {
  MadeWorkload w;
  std::mt19937_64 random(seed);
  for (int i = 0; i < pieces; ++i) {
    const double draw = unit_draw(random);
    const double ms = 5 + 40 * unit_draw(random);
    if (draw < 0.4)
      w.run("gemm", ms, 420);
    else if (draw < 0.7)
      w.run("softmax", ms, 150);
    else if (draw < 0.85)
      w.run("copy", ms, 60);
    else
      w.wait(ms);
  }
  return w;
}

// A sensor whose window is known within 15 %.
AttributeOptions window_of(int64_t ms) {
  return {.sensor = {.window_low_ns = ms * kMillisecondNs * 85 / 100,
                     .window_high_ns = ms * kMillisecondNs * 115 / 100}};
}

Result<EnergyReport> attribute(const Trace& trace, const PowerSeries& series,
                               AttributeOptions options) {
  const Links links = link_trace(trace);
  const Windows windows = find_iterations(trace, links);
  return attribute_energy(trace, links, windows, {}, series, options);
}

int64_t sum_of(const std::vector<EnergyPart>& parts) {
  int64_t sum = 0;
  for (const EnergyPart& part : parts) sum += part.energy_uj;
  return sum;
}

const EnergyPart& part_named(const std::vector<EnergyPart>& parts, const std::string& name) {
  for (const EnergyPart& part : parts) {
    if (part.name == name) return part;
  }
  ADD_FAILURE() << name;
  return parts.front();
}

TEST(Attribute, PowersOfTheWorkloadAreFoundAgain) {
  const MadeWorkload w = random_mix(1);
  const auto report = attribute(w.trace(), w.log(100, 25, 3, 9), window_of(25));
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_NEAR(report->base_w, 80, 4);
  ASSERT_EQ(report->classes.size(), 3u);
  for (const PowerClass& c : report->classes) {
    const double truth = c.names[0] == "gemm" ? 420 : c.names[0] == "softmax" ? 150 : 60;
    EXPECT_NEAR(c.above_idle_w, truth, 6) << c.names[0];
  }
  EXPECT_GT(report->explained, 0.99);
  EXPECT_THAT(report->trust, ElementsAre(Field(&TrustNote::what, "partial_coverage"),
                                         Field(&TrustNote::what, "gain_unknown"),
                                         Field(&TrustNote::what, "aliased_total"),
                                         Field(&TrustNote::what, "part_time_sensor")));
  const double whole_j =
      w.energy_j(static_cast<double>(report->begin_ns), static_cast<double>(report->end_ns));
  EXPECT_LT(report->model_low_j, whole_j);
  EXPECT_GT(report->model_high_j, whole_j);
  const double truth_j = w.energy_j(static_cast<double>(report->begin_ns),
                                    static_cast<double>(report->end_ns), "gemm");
  EXPECT_NEAR(part_named(report->kernels, "gemm").energy_uj * 1e-6 / truth_j, 1, 0.02);
  EXPECT_EQ(part_named(report->operators, "aten::gemm").energy_uj,
            part_named(report->kernels, "gemm").energy_uj);
}

TEST(Attribute, PartsSumExactlyToTheMeasuredEnergy) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const MadeWorkload w = random_mix(seed, 400);
    const auto report = attribute(w.trace(), w.log(50, 50, 10, seed), window_of(50));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->base_uj + report->kernels_uj + report->unattributed_uj, report->total_uj);
    EXPECT_EQ(sum_of(report->kernels), report->kernels_uj);
    EXPECT_EQ(sum_of(report->operators), report->kernels_uj);
    // A window as long as the period sees everything: the measured energy is the true one.
    const double truth_j =
        w.energy_j(static_cast<double>(report->begin_ns), static_cast<double>(report->end_ns));
    EXPECT_NEAR(report->total_uj * 1e-6 / truth_j, 1, 0.01);
  }
}

// Readings around the work stand for what lies before the first and behind the last inside: without
// them up to a period of it at either end had no energy.
TEST(Attribute, WorkAtTheEndsOfTheTraceIsCovered) {
  for (const double cut_ms : {0.0, 30.0, 60.0, 90.0}) {
    MadeWorkload w;
    w.wait(700 + cut_ms);
    for (const MadeWorkload::Run& r : random_mix(2, 300).runs) {
      w.run(r.name, (r.end_ns - r.start_ns) / kMillisecondNs, r.watts);
    }
    w.run("gemm", 80 + cut_ms, 420);
    const Trace trace = w.trace();
    w.wait(600);
    const auto report = attribute(trace, w.log(100, 25, 1, 5), window_of(25));
    ASSERT_TRUE(report) << report.error().describe();
    const auto begin = static_cast<int64_t>(w.runs.front().start_ns);
    const auto end = static_cast<int64_t>(w.runs.back().end_ns);
    EXPECT_EQ(report->begin_ns, begin);
    EXPECT_EQ(report->end_ns, end);
    EXPECT_EQ(report->covered_ns, end - begin);
    const double truth_j = w.energy_j(static_cast<double>(begin), static_cast<double>(end));
    EXPECT_NEAR(report->model_total_j / truth_j, 1, 0.005) << cut_ms;
    EXPECT_EQ(sum_of(report->kernels), report->kernels_uj);
    EXPECT_EQ(report->base_uj + report->kernels_uj + report->unattributed_uj, report->total_uj);
    EXPECT_THAT(report->trust, Not(Contains(Field(&TrustNote::what, "partial_coverage"))));
  }
}

// Every other kernel is of layer 0, the rest of none, so that the two cut every name's energy.
TEST(Attribute, GroupingsFromOutsideCutTheSameEnergy) {
  const MadeWorkload w = random_mix(3, 400);
  const Trace trace = w.trace();
  WorkGrouping layers{.key = "layers", .title = "By layer", .names = {"layer 0"}};
  layers.of_activity.assign(trace.activities.size(), WorkGrouping::kNone);
  int64_t layer_ns = 0;
  for (size_t i = 0; i < trace.activities.size(); i += 2) layers.of_activity[i] = 0;
  AttributeOptions options = window_of(50);
  options.groupings = {layers};
  const auto report = attribute(trace, w.log(50, 50, 10, 3), options);
  ASSERT_TRUE(report);
  for (size_t i = 0; i < trace.activities.size(); i += 2) {
    const int64_t begin = std::max(trace.activities.start_ns[i], report->begin_ns);
    const int64_t end = std::min(trace.end_ns(ActivityId(i)), report->end_ns);
    layer_ns += std::max<int64_t>(0, end - begin);
  }
  ASSERT_EQ(report->groupings.size(), 1u);
  const std::vector<EnergyPart>& parts = report->groupings[0].parts;
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(sum_of(parts), report->kernels_uj);
  EXPECT_EQ(part_named(parts, "layer 0").busy_ns, layer_ns);
}

// Two kernels that follow each other every 2 ms look the same to a window of 25 ms.
TEST(Attribute, KernelsThatRunAlikeAreMergedAndSaid) {
  MadeWorkload w;
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; ++i) {
    const int pairs = 10 + static_cast<int>(random() % 40);
    for (int k = 0; k < pairs; ++k) {
      w.run("attention", 1, 400);
      w.run("mlp", 1, 200);
    }
    w.wait(10 + 60 * unit_draw(random));
  }
  const auto report = attribute(w.trace(), w.log(100, 25, 3, 1), window_of(25));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->classes.size(), 1u);
  EXPECT_NEAR(report->classes[0].above_idle_w, 300, 6);
  EXPECT_FALSE(report->kernels[0].alone);
  // Each may have all of it or none; both together are known.
  EXPECT_EQ(report->kernels[0].low_j, 0);
  EXPECT_GT(report->kernels[0].high_j, report->kernels_uj * 1e-6);
  EXPECT_NEAR(report->kernels_low_j / (report->kernels_uj * 1e-6), 1, 0.05);
  EXPECT_THAT(report->trust, Contains(Field(&TrustNote::what, "merged_kernels")));
}

// No GPU draws more than a few thousand watts: what runs alike with a fill of microseconds keeps
// its energy, and the fill has no more than it could draw.
TEST(Attribute, AShortCompanionTakesLittle) {
  MadeWorkload w;
  std::mt19937_64 random(6);
  for (int i = 0; i < 300; ++i) {
    const int pairs = 10 + static_cast<int>(random() % 40);
    for (int k = 0; k < pairs; ++k) {
      w.run("fill", 0.002, 100);
      w.run("gemm", 2, 500);
    }
    w.wait(10 + 60 * unit_draw(random));
  }
  const auto report = attribute(w.trace(), w.log(100, 25, 3, 1), window_of(25));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->classes.size(), 1u);
  const EnergyPart& gemm = part_named(report->kernels, "gemm");
  const EnergyPart& fill = part_named(report->kernels, "fill");
  const double truth_j = w.energy_j(report->begin_ns, report->end_ns, "gemm");
  EXPECT_LT(gemm.low_j, truth_j);
  EXPECT_GT(gemm.low_j, 0.98 * truth_j);
  EXPECT_GT(gemm.high_j, truth_j);
  EXPECT_EQ(fill.low_j, 0);
  EXPECT_LT(fill.high_j, 3000.5e-9 * static_cast<double>(fill.busy_ns));
}

// Always busy with the same mix: nothing can be told from what the device draws anyway, and no
// number is given without saying so.
TEST(Attribute, AKernelThatNeverStopsIsBracketed) {
  MadeWorkload w;
  for (int i = 0; i < 20'000; ++i) w.run("gemm", 0.5, 400);
  const auto report = attribute(w.trace(), w.log(100, 25, 1, 1), window_of(25));
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->follows);
  EXPECT_EQ(report->kernels[0].low_j, 0);
  EXPECT_GT(report->kernels[0].high_j, 3900);  // of 10 s at 400 W
  EXPECT_LE(report->kernels[0].high_j, report->total_high_j);
  EXPECT_LE(report->kernels_high_j, report->total_high_j);
  EXPECT_EQ(report->kernels[0].why, "does_not_follow");
  EXPECT_THAT(report->trust, Contains(Field(&TrustNote::what, "not_identifiable")));
}

// Pulses of 600 W above 80 W with a duty of half, which a mean of 1 s shows as one power. The log
// covers 12 s of work and `around_s` before and after it.
Result<EnergyReport> steady_pulses(double around_s) {
  MadeWorkload w;
  w.wait(around_s * 1e3);
  const auto begin_ns = static_cast<int64_t>(w.now_ns);
  for (int i = 0; i < 115; ++i) {
    w.run("gemm", 52.2, 600);
    w.wait(52.2);
  }
  const auto end_ns = static_cast<int64_t>(w.now_ns);
  w.wait(around_s * 1e3);
  PowerSeries log = w.log(100, 1000, 1, 4);
  std::erase_if(log.readings, [&](const PowerReading& reading) {
    return around_s == 0 && (reading.t_ns < begin_ns || reading.t_ns > end_ns);
  });
  return attribute(w.trace(), log, {});
}

TEST(Attribute, IdleOfTheLogSettlesTheBase) {
  const auto report = steady_pulses(5);
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_TRUE(report->follows);
  EXPECT_NEAR(report->base_w, 80, 1);
  const double truth_j = 115 * 0.0522 * 600;
  EXPECT_NEAR(static_cast<double>(report->kernels_uj) * 1e-6 / truth_j, 1, 0.005);
  EXPECT_LT(report->kernels_low_j, truth_j);
  EXPECT_GT(report->kernels_high_j, truth_j);
  // The mean of 1 s shows a part of the work after its end.
  const double whole_j = truth_j + 80 * static_cast<double>(report->covered_ns) * 1e-9;
  EXPECT_NEAR(static_cast<double>(report->total_uj) * 1e-6 / whole_j, 1, 0.005);
}

TEST(Attribute, TheBaseIsBracketedWithoutIdle) {
  const auto report = steady_pulses(0);
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_FALSE(report->follows);
  EXPECT_FALSE(report->separates);
  EXPECT_EQ(report->kernels_low_j, 0);
  EXPECT_EQ(report->base_low_w, 0);
  EXPECT_NEAR(report->kernels_high_j, report->total_high_j, 1e-3);
}

TEST(Attribute, ADelayedSensorIsFoundOrReported) {
  const MadeWorkload w = random_mix(3);
  PowerSeries late = w.log(100, 25, 2, 1);
  for (PowerReading& reading : late.readings) reading.t_ns += 200 * kMillisecondNs;
  const auto found = attribute(w.trace(), late, window_of(25));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->lag_ns.value, 200e6, 2e6);
  EXPECT_GT(found->explained, 0.99);
  EXPECT_FALSE(found->lag_searched);
  // Later than a sensor is: looked for, and told.
  for (PowerReading& reading : late.readings) reading.t_ns += 400 * kMillisecondNs;
  const auto far = attribute(w.trace(), late, window_of(25));
  ASSERT_TRUE(far);
  EXPECT_TRUE(far->lag_searched);
  EXPECT_NEAR(far->lag_ns.value, 600e6, 2e6);
  EXPECT_THAT(far->trust, Contains(Field(&TrustNote::what, "clock_off")));
  // Later than it may be: only with a word of it.
  for (PowerReading& reading : late.readings) reading.t_ns += 2'600 * kMillisecondNs;
  const auto lost = attribute(w.trace(), late, window_of(25));
  AttributeOptions options = window_of(25);
  options.sensor.delay_ns = 3'200 * kMillisecondNs;
  const auto told = attribute(w.trace(), late, options);
  ASSERT_TRUE(lost && told);
  EXPECT_FALSE(lost->follows);
  EXPECT_EQ(part_named(lost->kernels, "gemm").low_j, 0);
  EXPECT_GT(told->explained, 0.99);
}

// The gain scales, and its error widens, in quadrature.
TEST(Attribute, AKnownGainGivesWhatAMeterWouldRead) {
  const MadeWorkload w = random_mix(3);
  AttributeOptions options = window_of(25);
  options.gain = {0.8, 0.8 * 0.97, 0.8 * 1.03, "a meter"};
  const auto report = attribute(w.trace(), w.log(100, 25, 2, 1), options);
  ASSERT_TRUE(report);
  const double kernels_j = static_cast<double>(report->kernels_uj) * 1e-6;
  EXPECT_NEAR(report->kernels_true_j, kernels_j / 0.8, 1e-6 * kernels_j);
  const double low = std::hypot(1 - report->kernels_low_j / kernels_j, 1 - 1 / 1.03);
  EXPECT_NEAR(report->kernels_true_low_j, kernels_j / 0.8 * (1 - low), 1e-6 * kernels_j);
  EXPECT_LT(report->kernels_true_low_j / report->kernels_true_j, 1 / 1.029);
  EXPECT_GT(report->kernels_true_high_j / report->kernels_true_j, 1.03);
  EXPECT_THAT(report->trust, Not(Contains(Field(&TrustNote::what, "gain_unknown"))));
}

// As an older Assay had it: a fit of powers alone, and the assumption is noted.
TEST(Attribute, HeldOffsetsAreAssumptions) {
  const MadeWorkload w = random_mix(3);
  AttributeOptions options;
  options.sensor = {
      .window_low_ns = 25 * kMillisecondNs, .window_high_ns = 25 * kMillisecondNs, .hold = true};
  const auto report = attribute(w.trace(), w.log(100, 25, 2, 1), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->lag_ns.low, 0);
  EXPECT_EQ(report->lag_ns.high, 0);
  EXPECT_EQ(report->window_ns.value, 25e6);
  EXPECT_GT(report->explained, 0.99);
  EXPECT_THAT(report->trust, Contains(Field(&TrustNote::what, "offset_assumed")));
}

// Two hours off with a log of local time: the only zone in which they meet, and it is said.
TEST(Attribute, AMissingTimeZoneIsAdded) {
  const MadeWorkload w = random_mix(3, 300);
  PowerSeries log = w.log(100, 25, 2, 1);
  for (PowerReading& reading : log.readings) reading.t_ns += 7200 * int64_t{1'000'000'000};
  AttributeOptions options = window_of(25);
  options.sensor.local_time = true;
  const auto report = attribute(w.trace(), log, options);
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_EQ(report->zone_ns, -7200 * int64_t{1'000'000'000});
  EXPECT_TRUE(report->follows);
  EXPECT_THAT(report->trust, Contains(Field(&TrustNote::what, "zone_assumed")));
}

TEST(Attribute, RefusesWhatDoesNotOverlap) {
  const MadeWorkload w = random_mix(3, 300);
  PowerSeries log = w.log(100, 25, 2, 1);
  for (PowerReading& reading : log.readings) reading.t_ns += 7200 * int64_t{1'000'000'000};
  const auto report = attribute(w.trace(), log, {});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("do not overlap"));
  EXPECT_THAT(report.error().message, HasSubstr("--offset -7200, as if the log were in another"));
  AttributeOptions options = window_of(25);
  options.sensor.offset_ns = -7200 * int64_t{1'000'000'000};
  EXPECT_TRUE(attribute(w.trace(), log, options));
}

// What ran in a hole of the log has no energy, and the hole is said.
TEST(Attribute, HolesInTheLogAreLeftOutAndSaid) {
  const MadeWorkload w = random_mix(4);
  PowerSeries log = w.log(50, 50, 1, 1);
  const int64_t from = 10'000 * kMillisecondNs;
  const int64_t to = 18'000 * kMillisecondNs;
  std::erase_if(log.readings, [&](const PowerReading& r) { return r.t_ns > from && r.t_ns < to; });
  const auto report = attribute(w.trace(), log, window_of(50));
  ASSERT_TRUE(report) << report.error().describe();
  // Readings at 10.0 s and 18.0 s bound the hole.
  EXPECT_EQ(report->covered_ns, report->end_ns - report->begin_ns - (to - from));
  const auto begin = static_cast<double>(report->begin_ns);
  const auto end = static_cast<double>(report->end_ns);
  for (const std::string name : {"", "gemm"}) {
    const double truth_j = w.energy_j(begin, static_cast<double>(from), name) +
                           w.energy_j(static_cast<double>(to), end, name);
    const int64_t found =
        name.empty() ? report->total_uj : part_named(report->kernels, name).energy_uj;
    EXPECT_NEAR(static_cast<double>(found) * 1e-6 / truth_j, 1, 0.02) << name;
  }
  ASSERT_THAT(report->trust, Contains(Field(&TrustNote::what, "log_gaps")));
  EXPECT_EQ(report->trust[0].count, 1U);
  EXPECT_EQ(report->trust[0].time_ns, to - from);
}

TEST(Attribute, RefusesTooFewSamples) {
  const MadeWorkload w = random_mix(3, 40);  // about a second
  const auto report = attribute(w.trace(), w.log(100, 25, 2, 1), window_of(25));
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("at least 20 are needed"));
}

TEST(Attribute, RefusesATraceWithoutDeviceWork) {
  const Trace trace = TraceMaker().op(1, "aten::mm", 0, 100).build();
  const auto report = attribute(trace, random_mix(1, 100).log(100, 25, 1, 1), {});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("no device work"));
}

// Stretches far shorter than the sensor's window have their power; of a stretch that draws more
// than its kernels do elsewhere, its own readings tell.
TEST(Attribute, StretchesHaveTheirPower) {
  const MadeWorkload w = random_mix(5);
  AttributeOptions options = window_of(100);
  std::vector<Interval> gemm;
  for (const MadeWorkload::Run& r : w.runs) {
    if (r.name == "gemm") {
      gemm.push_back({static_cast<int64_t>(r.start_ns), static_cast<int64_t>(r.end_ns)});
    }
  }
  const auto second = static_cast<int64_t>(1e9);
  const Interval raised{10 * second, 14 * second};
  options.stretches = {merge_intervals(gemm), {raised}, {{5000 * second, 5001 * second}}};
  PowerSeries log = w.log(100, 100, 2, 9);
  const auto plain = attribute(w.trace(), log, options);
  for (PowerReading& reading : log.readings) {
    if (reading.t_ns > raised.start_ns && reading.t_ns <= raised.end_ns) reading.power_w += 20;
  }
  const auto report = attribute(w.trace(), log, options);
  ASSERT_TRUE(plain && report);
  const StretchPower& of_gemm = plain->stretches[0];
  EXPECT_LT(of_gemm.low_w, 500);  // 420 W above 80 W of idle
  EXPECT_GT(of_gemm.high_w, 500);
  EXPECT_NEAR(of_gemm.mean_w, 500, 6);
  const double true_w = w.energy_j(10e9, 14e9) / 4;
  EXPECT_NEAR(plain->stretches[1].mean_w, true_w, 6);
  EXPECT_GE(plain->stretches[1].readings, 30u);
  EXPECT_NEAR(report->stretches[1].mean_w, true_w + 20, 8);
  EXPECT_LT(report->stretches[1].low_w, true_w + 20);
  EXPECT_GT(report->stretches[1].high_w, true_w + 20);
  EXPECT_EQ(plain->stretches[2].covered_ns, 0);
  EXPECT_TRUE(std::isnan(plain->stretches[2].mean_w));
}

TEST(Attribute, TheBaseIsCutByWhatTheDeviceWasDoing) {
  const MadeWorkload w = random_mix(5);
  AttributeOptions options = window_of(25);
  const auto second = static_cast<int64_t>(1e9);
  options.idle = {{"waits", {{2 * second, 3 * second}, {4 * second, 5 * second}}},
                  {"nothing", {{6 * second, 7 * second}}}};
  const auto report = attribute(w.trace(), w.log(100, 25, 3, 9), options);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->idle.size(), 3u);
  EXPECT_EQ(sum_of(report->idle), report->base_uj);
  EXPECT_EQ(report->idle[0].name, "(while work runs)");
  EXPECT_EQ(report->idle[1].name, "waits");
  EXPECT_EQ(report->idle[1].busy_ns, 2 * second);
  EXPECT_NEAR(report->idle[1].energy_uj * 1e-6, 2 * report->base_w, 1e-5);
  EXPECT_NEAR(report->idle[1].low_j, 2 * report->base_low_w, 1e-9);
}

}  // namespace
}  // namespace assay
