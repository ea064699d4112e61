// Two launches by hand, and everything that the tracks say of them. That the sums of real traces
// are those of the report is checked by tests/golden/check_perfetto.py.

#include "report/run/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "support/trace_maker.h"

namespace assay {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;
using testing::TraceMaker;

// name, start, end
using Shown = std::tuple<std::string, int64_t, int64_t>;

// The host launches a at 100 and b at 500; a runs from 300 to 400, b from 700 to 900.
Trace two_launches() {
  return TraceMaker()
      .op(1, "aten::all", 0, 1'000)
      .op(1, "aten::relu", 50, 150)
      .call(1, "cudaLaunchKernel", 100, 50, 1)
      .op(1, "aten::add", 450, 150)
      .call(1, "cudaLaunchKernel", 500, 50, 2)
      .kernel(0, 7, "relu_kernel", 300, 100, 1)
      .kernel(0, 7, "add_kernel", 700, 200, 2)
      .build();
}

Timeline timeline_of(const Trace& trace, const TelemetryReport* telemetry = nullptr) {
  const Links links = link_trace(trace);
  const Windows windows = find_iterations(trace, links);
  LaunchFloor floor;
  floor.source = FloorSource::kGiven;
  floor.floor_ns = 150;
  const FlowReport flow = make_flow_report(trace, links, {});
  LaunchOptions launch_options;
  launch_options.floor = floor;
  launch_options.flow = &flow.all_devices();
  const auto launch = analyze_launch(trace, links, windows, launch_options);
  FusionOptions fusion_options;
  fusion_options.floor = floor;
  const auto fusion = analyze_fusion(trace, links, windows, fusion_options);
  HostOverheadOptions overhead_options;
  overhead_options.floor = floor;
  const auto overhead = analyze_overhead(trace, links, windows, overhead_options);
  const auto breakdown = analyze_breakdown(trace, links, windows, {});
  EXPECT_TRUE(launch && fusion && overhead && breakdown);
  return trace_timeline(trace, links, windows,
                        {.flow = flow,
                         .launch = *launch,
                         .fusion = *fusion,
                         .overhead = *overhead,
                         .breakdown = *breakdown,
                         .telemetry = telemetry});
}

std::vector<Shown> shown(const Timeline& timeline, const std::string& name) {
  std::vector<Shown> slices;
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.name != name) continue;
    for (const TimelineSlice& slice : track.slices) {
      slices.emplace_back(timeline.texts.view(slice.name), slice.start_ns,
                          slice.start_ns + slice.dur_ns);
    }
  }
  return slices;
}

std::vector<int64_t> values(const Timeline& timeline, const std::string& name,
                            const std::string& key) {
  std::vector<int64_t> found;
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.name != name) continue;
    for (size_t k = 0; k < track.keys.size(); ++k) {
      if (track.keys[k].key != key) continue;
      for (size_t i = 0; i < track.slices.size(); ++i) {
        found.push_back(track.values[i * track.keys.size() + k]);
      }
    }
  }
  return found;
}

TEST(SectionTimeline, IdleTimeByCause) {
  const Timeline timeline = timeline_of(two_launches());
  EXPECT_THAT(shown(timeline, "GPU idle"),
              ElementsAre(Shown("dispatch", 0, 50), Shown("dispatch", 50, 100),
                          Shown("call", 100, 150), Shown("latency", 150, 300),
                          Shown("dispatch", 400, 450), Shown("dispatch", 450, 500),
                          Shown("call", 500, 550), Shown("latency", 550, 700)));
  EXPECT_THAT(values(timeline, "GPU idle", "gap"), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  std::vector<std::string> behind_it;
  for (const int64_t id : values(timeline, "GPU idle", "behind_it")) {
    behind_it.emplace_back(timeline.texts.view(StringId(static_cast<size_t>(id))));
  }
  EXPECT_THAT(behind_it, ElementsAre("aten::all", "aten::relu", "cudaLaunchKernel", "relu_kernel",
                                     "aten::all", "aten::add", "cudaLaunchKernel", "add_kernel"));
}

TEST(SectionTimeline, LatencyRunsFromTheFirstOperatorToTheLastKernel) {
  const Timeline timeline = timeline_of(two_launches());
  EXPECT_THAT(shown(timeline, "inference latency, IL"), ElementsAre(Shown("whole trace", 0, 900)));
}

TEST(SectionTimeline, WaitsAreCutAtTheLaunch) {
  const Timeline timeline = timeline_of(two_launches());
  EXPECT_THAT(shown(timeline, "GPU 0 waits before kernels"),
              ElementsAre(Shown("not launched yet (prep)", 400, 500),
                          Shown("launched, not started (call)", 500, 700)));
}

// b and c are one operation, and the bubble between them is inside it; d begins while c still runs
// and counts from c's end. All of it is one phase.
TEST(SectionTimeline, OperationsAreRunsOfKernels) {
  const Trace trace = TraceMaker()
                          .annotation(1, "ProfilerStep#4", 0, 1'000)
                          .op(1, "aten::relu", 50, 150)
                          .call(1, "cudaLaunchKernel", 100, 50, 1)
                          .kernel(0, 7, "a", 300, 100, 1)
                          .op(1, "aten::add", 450, 150)
                          .call(1, "cudaLaunchKernel", 500, 20, 2)
                          .call(1, "cudaLaunchKernel", 540, 20, 3)
                          .kernel(0, 7, "b", 600, 100, 2)
                          .kernel(0, 7, "c", 730, 100, 3)
                          .op(1, "aten::mul", 650, 50)
                          .call(1, "cudaLaunchKernel", 660, 10, 4)
                          .kernel(0, 8, "d", 800, 90, 4)
                          .build();
  const Timeline timeline = timeline_of(trace);
  const std::string track = "GPU 0 operations";
  EXPECT_THAT(shown(timeline, track),
              ElementsAre(Shown("forward", 300, 890), Shown("aten::relu", 300, 400),
                          Shown("aten::add", 600, 830), Shown("aten::mul", 830, 890)));
  EXPECT_THAT(values(timeline, track, "dur_ns"), ElementsAre(390, 100, 200, 90));
  EXPECT_THAT(values(timeline, track, "overlapping_kernels_ns"), ElementsAre(30, 0, 0, 30));
  EXPECT_THAT(values(timeline, track, "inner_bubble_ns"), ElementsAre(30, 0, 30, 0));
  EXPECT_THAT(values(timeline, track, "iter"), ElementsAre(4, 4, 4, 4));
}

// T_Py reaches from the outermost operator to the aten operator, dispatch from there to the call;
// the second launch begins where the first call ended.
TEST(SectionTimeline, TheOverheadTilesTheThread) {
  const Timeline timeline = timeline_of(two_launches());
  const std::string track = "overhead, thread 1";
  EXPECT_THAT(shown(timeline, track),
              ElementsAre(Shown("relu_kernel", 0, 150), Shown("other work of the host", 0, 50),
                          Shown("dispatch", 50, 100), Shown("launch call", 100, 150),
                          Shown("add_kernel", 150, 550), Shown("other work of the host", 150, 450),
                          Shown("dispatch", 450, 500), Shown("launch call", 500, 550)));
  const std::vector<int64_t> floors = values(timeline, track, "kt_ns");
  EXPECT_EQ(floors[0], 50);
  EXPECT_EQ(floors[1], kNoTimelineValue);
  EXPECT_EQ(floors[4], 50);
}

TEST(SectionTimeline, ThreadsOfOneNameHaveTracksOfTheirOwn) {
  Trace trace = two_launches();
  ASSERT_EQ(trace.threads.size(), 1u);
  trace.threads[0].name = "main";
  trace.threads.push_back({trace.threads[0].pid + "0", "1", "main"});
  const Timeline timeline = timeline_of(trace);
  EXPECT_FALSE(shown(timeline, "overhead, main of process " + trace.threads[0].pid).empty());
}

// A wait for the GPU between two launches is part of T_Py and shown as the wait that it is.
TEST(SectionTimeline, SeparatesAWaitForTheGpuFromPython) {
  const Timeline timeline = timeline_of(TraceMaker()
                                            .op(1, "outer", 0, 1000)
                                            .op(1, "aten::relu", 50, 100)
                                            .call(1, "cudaLaunchKernel", 100, 50, 1)
                                            .kernel(0, 7, "relu_kernel", 200, 500, 1)
                                            .call(1, "cudaDeviceSynchronize", 200, 510, 0)
                                            .op(1, "aten::add", 800, 150)
                                            .call(1, "cudaLaunchKernel", 850, 50, 2)
                                            .kernel(0, 7, "add_kernel", 950, 100, 2)
                                            .build());
  EXPECT_THAT(shown(timeline, "overhead, thread 1"),
              ElementsAre(Shown("relu_kernel", 0, 150), Shown("Python (T_Py)", 0, 50),
                          Shown("dispatch", 50, 100), Shown("launch call", 100, 150),
                          Shown("add_kernel", 150, 900),
                          Shown("waiting for the GPU, or allocating", 200, 710),
                          Shown("Python (T_Py)", 150, 200), Shown("Python (T_Py)", 710, 800),
                          Shown("dispatch", 800, 850), Shown("launch call", 850, 900)));
}

TEST(SectionTimeline, TheQueueRisesAtTheCallAndFallsAtTheKernel) {
  const Timeline timeline = timeline_of(two_launches());
  ASSERT_EQ(timeline.counters.size(), 2u);
  EXPECT_EQ(timeline.counters[0].name, "launched, not started");
  EXPECT_THAT(timeline.counters[0].time_ns, ElementsAre(100, 300, 500, 700));
  EXPECT_THAT(timeline.counters[0].value, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(timeline.counters[1].time_ns, ElementsAre(100, 500));
  EXPECT_THAT(timeline.counters[1].value, ElementsAre(200, 200));
}

TEST(SectionTimeline, ChainsHaveARankAndAPrice) {
  const std::string a = "void at::native::vectorized_elementwise_kernel<4, a>(int)";
  const std::string b = "void at::native::vectorized_elementwise_kernel<4, b>(int)";
  TraceMaker maker;
  for (int64_t i = 0; i < 4; ++i) {  // a, b, a, b, ...
    const auto id = static_cast<uint32_t>(2 * i + 1);
    maker.call(1, "cudaLaunchKernel", 1'000 * i, 10, id);
    maker.kernel(0, 7, a, 1'000 * i + 100, 50, id);
    maker.call(1, "cudaLaunchKernel", 1'000 * i + 20, 10, id + 1);
    maker.kernel(0, 7, b, 1'000 * i + 200, 70, id + 1);
    maker.call(1, "cudaDeviceSynchronize", 1'000 * i + 300, 10, 0);
  }
  const Timeline timeline = timeline_of(maker.build());
  const std::vector<Shown> chains = shown(timeline, "fusion chains");
  ASSERT_EQ(chains.size(), 4u);
  EXPECT_EQ(chains[1],
            Shown("#1 chain of 2: at::native::vectorized_elementwise_kernel …", 1'100, 1'270));
  EXPECT_THAT(values(timeline, "fusion chains", "rank"), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(values(timeline, "fusion chains", "saving_ns"), ElementsAre(150, 150, 150, 150));
  EXPECT_THAT(values(timeline, "fusion chains", "device_ns"), ElementsAre(120, 120, 120, 120));
}

// 150 W for 1 ms, 200 W for 1 ms; then a hole of 8 ms, into which each reading reaches 0.75 ms.
TEST(SectionTimeline, PowerHasItsEnergy) {
  TelemetryReport telemetry;
  TelemetryTrack& readings = telemetry.tracks.emplace_back();  // of power
  readings.period_ns = 1'000'000;
  readings.t_ns = {0, 1'000'000, 2'000'000, 10'000'000};
  readings.value = {100, 200, 200, 100};
  TelemetryTrack means;
  means.device = "1";
  means.mean = true;
  means.period_ns = 1'000'000;
  means.from_ns = {0, 5'000'000};
  means.t_ns = {1'000'000, 6'000'000};
  means.value = {100, 50};
  telemetry.tracks.push_back(means);
  const Timeline timeline = timeline_of(two_launches(), &telemetry);
  std::map<std::string, const TimelineCounter*> counters;
  for (const TimelineCounter& counter : timeline.counters) {
    counters[counter.name + " " + counter.unit] = &counter;
  }
  ASSERT_EQ(counters.count("GPU power_w"), 1u);
  ASSERT_EQ(counters.count("GPU energy_j"), 1u);
  EXPECT_THAT(counters["GPU energy_j"]->value,
              Pointwise(DoubleNear(1e-12), std::vector<double>{0, 0.15, 0.35, 0.575}));
  EXPECT_THAT(counters["GPU 1 energy_j"]->time_ns, ElementsAre(0, 1'000'000, 5'000'000, 6'000'000));
  EXPECT_THAT(counters["GPU 1 energy_j"]->value,
              Pointwise(DoubleNear(1e-12), std::vector<double>{0, 0.1, 0.1, 0.15}));
}

TEST(SectionTimeline, AnEmptyTraceHasNoTracksButItsWindow) {
  const Timeline timeline = timeline_of(Trace());
  EXPECT_LE(timeline.tracks.size(), 1u);
  EXPECT_TRUE(timeline.counters.empty());
}

}  // namespace
}  // namespace assay
