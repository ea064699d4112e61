#include "breakdown/figures_measured.h"

#include <gtest/gtest.h>

#include <cmath>

#include "breakdown/waterfall.h"

namespace assay {
namespace {

TelemetryTrack track(TelemetrySignal signal, const std::string& device, int64_t period_ns,
                     std::vector<int64_t> t_ns, std::vector<double> value) {
  TelemetryTrack one;
  one.signal = signal;
  one.device = device;
  one.period_ns = period_ns;
  one.t_ns = std::move(t_ns);
  one.value = std::move(value);
  return one;
}

TEST(FiguresMeasured, CombinesSamplesOfSeveralGpusInStepsOfTheLongestPeriod) {
  TelemetryReport report;
  report.trace = {1000, 1400};
  // GPU a every 50, GPU b every 100: two readings of a and one of b in a step.
  report.tracks = {
      track(TelemetrySignal::kPower, "a", 50, {1000, 1050, 1100, 1150}, {300, 500, 600, 600}),
      track(TelemetrySignal::kPower, "b", 100, {1020, 1120}, {200, 400}),
      track(TelemetrySignal::kTemperature, "a", 50, {1000}, {60})};
  ConfigFigures figures;
  add_figure_telemetry(report, figures);
  ASSERT_EQ(figures.moments.size(), 2u);
  EXPECT_EQ(figures.moments[0].signal, "power_w");
  EXPECT_EQ(figures.moments[0].t_ns, 0);
  EXPECT_EQ(figures.moments[0].gpus, 2u);
  EXPECT_EQ(figures.moments[0].mean, 300);  // 400 of a, 200 of b
  EXPECT_EQ(figures.moments[1].t_ns, 100);
  EXPECT_EQ(figures.moments[1].min, 400);
  EXPECT_EQ(figures.moments[1].max, 600);
}

TEST(FiguresMeasured, CoresAreCountedFromTheStartOfTheTrace) {
  TelemetryReport report;
  report.trace = {1000, 1400};
  report.cpu.emplace();
  report.cpu->moments = {{1000, 1100, 25, 9.5, 23, 1}};
  report.cpu->cores.resize(8);
  report.cpu->cores_used = 1;
  ConfigFigures figures;
  add_figure_telemetry(report, figures);
  ASSERT_EQ(figures.cores.size(), 1u);
  EXPECT_EQ(figures.cores[0].t_ns, 100);
  EXPECT_EQ(figures.cores[0].active, 25);
  EXPECT_EQ(figures.cores[0].least, 9.5);
  EXPECT_EQ(figures.cores_used_share, 0.125);  // the paper's 12.5 %
}

TEST(FiguresMeasured, RefusedWaterfallsAreLeftOutAndTheFirstReasonKept) {
  OpWaterfall made;
  made.op = 1;
  made.op_type = OpType::kGemm;
  made.executions = 3;
  made.waterfall.bars_ns = {10, 1, 2, 3, 4, 5};
  OpWaterfall refused;
  refused.refused = "no clock";
  ConfigFigures figures;
  add_figure_waterfalls({refused, made}, {"attn_fa", "mlp_up"}, figures);
  ASSERT_EQ(figures.waterfalls.size(), 1u);
  EXPECT_EQ(figures.waterfalls[0].name.op, "mlp_up");
  EXPECT_EQ(figures.waterfalls[0].bars_ns.front(),
            (std::pair<std::string, int64_t>("theoretical", 10)));
  EXPECT_EQ(figures.no_waterfalls, "no clock");
  ConfigFigures none;
  add_figure_waterfalls({}, {}, none);
  EXPECT_FALSE(none.no_waterfalls.empty());
}

}  // namespace
}  // namespace assay
