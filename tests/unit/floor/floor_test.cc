// The one floor of a trace: the order of its sources, the estimate, and what is said of it.

#include "floor/floor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "floor/estimate.h"
#include "floor/given.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using assay::testing::TraceMaker;

// `n` launches, each to an empty stream, that begin first_ns, first_ns + step_ns, ... after their
// calls.
TraceMaker launches(uint32_t n, int64_t first_ns, int64_t step_ns) {
  TraceMaker maker;
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t at_ns = int64_t{10'000'000} * i;
    maker.call(1, "cudaLaunchKernel", at_ns, 10, i + 1)
        .kernel(0, 7, "k", at_ns + first_ns + step_ns * i, 500, i + 1);
  }
  return maker;
}

FloorEstimate estimate(const Trace& trace) { return estimate_floor(trace, link_trace(trace)); }

LaunchFloor found(const Trace& trace, const std::optional<LaunchFloor>& given = std::nullopt) {
  auto floor = find_floor(trace, link_trace(trace), given);
  EXPECT_TRUE(floor);
  return floor ? *floor : LaunchFloor{};
}

const TrustNote* note(const LaunchFloor& floor, const std::string& what) {
  const auto place = std::find_if(floor.trust.begin(), floor.trust.end(),
                                  [&](const TrustNote& one) { return one.what == what; });
  return place == floor.trust.end() ? nullptr : &*place;
}

LaunchFloor given(int64_t floor_ns) {
  return {.source = FloorSource::kGiven, .floor_ns = floor_ns, .text = "mine"};
}

// ---- the estimate

// 20 times from 3000 in steps of 100: place 0.05 x 19 = 0.95 of the sorted times is 3095.
TEST(FloorEstimate, IsTheFifthPercentileOfLaunchesToAnEmptyStream) {
  const FloorEstimate own = estimate(launches(20, 3'000, 100).build());
  EXPECT_EQ(own.floor_ns, 3'095);
  EXPECT_EQ(own.samples, 20u);
  EXPECT_EQ(own.launches, 20u);
  EXPECT_EQ(own.text, "5th percentile of 20 launches to an empty stream in this trace");
}

TEST(FloorEstimate, NeedsEightSamples) {
  const FloorEstimate eight = estimate(launches(8, 3'000, 0).build());
  EXPECT_EQ(eight.floor_ns, 3'000);
  const FloorEstimate seven = estimate(launches(7, 3'000, 0).build());
  EXPECT_EQ(seven.floor_ns, std::nullopt);
  EXPECT_EQ(seven.samples, 7u);
  EXPECT_EQ(seven.text, "not known: 7 launches found their stream empty, 8 are needed");
  EXPECT_EQ(estimate(launches(1, 3'000, 0).build()).text,
            "not known: 1 launch found its stream empty, 8 are needed");
  EXPECT_EQ(estimate(Trace()).text, "not known: no launch found its stream empty");
}

// A launch 100 ns after another's queues behind it; the next, at 5000, finds the copy that began at
// 4000 still running. Of the rows of stream 7 only the first is a sample, and the one of stream 9.
TEST(FloorEstimate, LaunchOnABusyStreamIsNotASample) {
  const Trace trace = TraceMaker()
                          .call(1, "cudaLaunchKernel", 0, 10, 1)
                          .call(1, "cudaLaunchKernel", 100, 10, 2)
                          .call(1, "cudaLaunchKernel", 5'000, 10, 3)
                          .call(1, "cudaLaunchKernel", 5'100, 10, 4)
                          .kernel(0, 7, "a", 400, 1'000, 1)
                          .kernel(0, 7, "b", 1'400, 1'000, 2)
                          .copy(0, 7, "Memcpy DtoD", 4'000, 2'000, 9)
                          .kernel(0, 7, "c", 6'000, 1'000, 3)
                          .kernel(0, 9, "d", 5'600, 1'000, 4)
                          .build();
  EXPECT_EQ(estimate(trace).samples, 2u);
  EXPECT_EQ(estimate(trace).launches, 4u);
}

TEST(FloorEstimate, ASynchronisationRowOccupiesNoStream) {
  const Trace trace = TraceMaker()
                          .activity(ActivityKind::kSync, 0, 7, "Event Sync", 0, 10'000, 9)
                          .call(1, "cudaLaunchKernel", 5'000, 10, 1)
                          .kernel(0, 7, "a", 8'000, 1'000, 1)
                          .build();
  EXPECT_EQ(estimate(trace).samples, 1u);
}

TEST(FloorEstimate, GraphLaunchesAndLaterKernelsOfACallAreNotSamples) {
  const Trace trace = TraceMaker()
                          .call(1, "cudaGraphLaunch", 0, 10, 1)
                          .call(1, "cudaLaunchKernel", 50'000, 10, 2)
                          .kernel(0, 7, "a", 4'000, 100, 1)
                          .kernel(0, 7, "b", 54'000, 100, 2)
                          .kernel(0, 9, "c", 56'000, 100, 2)
                          .build();
  EXPECT_EQ(estimate(trace).samples, 1u);
  EXPECT_EQ(estimate(trace).launches, 2u);
}

TEST(FloorEstimate, NoLaunchTakesAMillisecond) {
  EXPECT_EQ(estimate(launches(8, 1'000'000, 0).build()).floor_ns, 1'000'000);
  const FloorEstimate held_up = estimate(launches(8, 1'000'001, 0).build());
  EXPECT_EQ(held_up.floor_ns, std::nullopt);
  EXPECT_NE(held_up.text.find("over a millisecond"), std::string::npos) << held_up.text;
}

TEST(FloorEstimate, NoLaunchReachesADeviceInHalfAMicrosecond) {
  EXPECT_EQ(estimate(launches(8, 500, 0).build()).floor_ns, 500);
  const FloorEstimate clocks = estimate(launches(8, 499, 0).build());
  EXPECT_EQ(clocks.floor_ns, std::nullopt);
  EXPECT_NE(clocks.text.find("clocks"), std::string::npos) << clocks.text;
}

// Times from -4000 in steps of 1300. Left out, the negative ones would leave a floor of 1720 that
// rests on nothing but a clock that is off.
TEST(FloorEstimate, TimesBeforeTheCallCount) {
  EXPECT_EQ(estimate(launches(13, -4'000, 1'300).build()).floor_ns, std::nullopt);
}

// ---- the order of sources

Trace trace_on(std::string device, Tracer tracer) {
  Trace trace = launches(20, 3'000, 100).build();
  trace.devices.push_back({.id = 0, .name = std::move(device)});
  trace.tracer = tracer;
  return trace;
}

TEST(FindFloor, ThePublishedOneOfThisBoardAndTracerGoesBeforeTheEstimate) {
  const LaunchFloor profiler = found(trace_on("NVIDIA A100-SXM4-80GB", Tracer::kPyTorchProfiler));
  EXPECT_EQ(profiler.source, FloorSource::kPublished);
  EXPECT_EQ(profiler.floor_ns, 2'261);
  EXPECT_EQ(profiler.samples, 0u);
  EXPECT_EQ(profiler.text,
            "published for AMD+A100: SKIP Table V: null kernel, PyTorch 2.4.1 profiler, CUDA 12.6; "
            "same board, not the same host");
  const LaunchFloor nsys = found(trace_on("NVIDIA H200 NVL", Tracer::kNsightSystems));
  EXPECT_EQ(nsys.source, FloorSource::kPublished);
  EXPECT_EQ(nsys.floor_ns, 4'503);
}

TEST(FindFloor, ValueOfAnotherTracerOrBoardIsNeverUsedImplicitly) {
  for (const auto& [device, tracer] : {std::pair{"NVIDIA A100-SXM4-80GB", Tracer::kNsightSystems},
                                       std::pair{"NVIDIA H200 NVL", Tracer::kPyTorchProfiler},
                                       std::pair{"NVIDIA H100 80GB HBM3", Tracer::kPyTorchProfiler},
                                       std::pair{"NVIDIA A100-SXM4-40GB", Tracer::kPyTorchProfiler},
                                       std::pair{"", Tracer::kOther}}) {
    const LaunchFloor floor = found(trace_on(device, tracer));
    EXPECT_EQ(floor.source, FloorSource::kEstimated) << device;
    EXPECT_EQ(floor.floor_ns, 3'095) << device;
    EXPECT_EQ(floor.samples, 20u) << device;
    EXPECT_TRUE(floor.trust.empty()) << device;
  }
}

TEST(FindFloor, TwoBoardsHaveNoPublishedOne) {
  Trace trace = launches(8, 3'000, 0)
                    .call(1, "cudaLaunchKernel", 0, 10, 99)
                    .kernel(1, 7, "k", 4'000, 500, 99)
                    .build();
  trace.devices.push_back({.id = 0, .name = "NVIDIA A100-SXM4-80GB"});
  trace.devices.push_back({.id = 1, .name = "NVIDIA H100 PCIe"});
  trace.tracer = Tracer::kPyTorchProfiler;
  EXPECT_EQ(found(trace).source, FloorSource::kEstimated);
}

TEST(FindFloor, TheGivenOneGoesFirst) {
  const Trace trace = trace_on("NVIDIA A100-SXM4-80GB", Tracer::kPyTorchProfiler);
  const LaunchFloor floor = found(trace, given(3'000));
  EXPECT_EQ(floor.source, FloorSource::kGiven);
  EXPECT_EQ(floor.floor_ns, 3'000);
  EXPECT_EQ(floor.text, "mine");
  for (const int64_t bad_ns : {int64_t{0}, int64_t{-1}, kLargestFloorNs + 1}) {
    const auto refused = find_floor(trace, link_trace(trace), given(bad_ns));
    ASSERT_FALSE(refused) << bad_ns;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_FALSE(floor_or_found(given(bad_ns), trace, link_trace(trace))) << bad_ns;
  }
}

TEST(FindFloor, UsesTheValueFoundBefore) {
  const Trace trace = trace_on("NVIDIA A100-SXM4-80GB", Tracer::kPyTorchProfiler);
  const auto taken = floor_or_found(LaunchFloor{.text = "not known"}, trace, link_trace(trace));
  ASSERT_TRUE(taken);
  EXPECT_FALSE(taken->known());
  EXPECT_TRUE(taken->trust.empty());
  EXPECT_EQ(floor_or_found(std::nullopt, trace, link_trace(trace))->floor_ns, 2'261);
}

// ---- what is said of it

TEST(FloorTrust, AFloorOfAnotherRunIsComparedWithTheTrace) {
  // The trace's own 3095 over 2261 is 1.37, over 3000 1.03, over 9000 0.34.
  const Trace trace = trace_on("NVIDIA A100-SXM4-80GB", Tracer::kPyTorchProfiler);
  const LaunchFloor published = found(trace);
  ASSERT_NE(note(published, "floor_disagrees"), nullptr);
  EXPECT_EQ(note(published, "floor_disagrees")->count, 20u);
  EXPECT_NE(note(published, "floor_disagrees")->effect.find("took 1.4 times"), std::string::npos);
  EXPECT_EQ(note(found(trace, given(3'000)), "floor_disagrees"), nullptr);
  const LaunchFloor high = found(trace, given(9'000));
  ASSERT_NE(note(high, "floor_disagrees"), nullptr);
  EXPECT_NE(note(high, "floor_disagrees")->effect.find("took 0.3 times"), std::string::npos);
}

TEST(FloorTrust, ReportsFewSamples) {
  ASSERT_NE(note(found(launches(19, 3'000, 0).build()), "floor_samples"), nullptr);
  EXPECT_EQ(note(found(launches(19, 3'000, 0).build()), "floor_samples")->count, 19u);
  EXPECT_EQ(note(found(launches(20, 3'000, 0).build()), "floor_samples"), nullptr);
}

TEST(FloorTrust, ReportsAMissingValueIfThereAreLaunches) {
  const LaunchFloor floor = found(launches(5, 3'000, 0).build());
  EXPECT_EQ(floor.source, FloorSource::kNone);
  EXPECT_EQ(floor.floor_ns, 0);
  EXPECT_EQ(floor.samples, 5u);
  ASSERT_NE(note(floor, "no_floor"), nullptr);
  EXPECT_EQ(note(floor, "no_floor")->count, 5u);
  EXPECT_TRUE(found(Trace()).trust.empty());
}

// ---- what the user brings

TEST(GivenFloor, NanosecondsAreRounded) {
  const auto floor = floor_of_text("4500.4", nullptr);
  ASSERT_TRUE(floor && *floor);
  EXPECT_EQ((*floor)->source, FloorSource::kGiven);
  EXPECT_EQ((*floor)->floor_ns, 4'500);
  for (const char* bad : {"0", "0.9", "-5", "1e9", "inf", "nan"}) {
    EXPECT_FALSE(floor_of_text(bad, nullptr)) << bad;
  }
}

TEST(GivenFloor, APlatformIsPublishedAndTheTracesTracerGoesFirst) {
  const auto profiler = floor_of_text("H100", nullptr);
  ASSERT_TRUE(profiler && *profiler);
  EXPECT_EQ((*profiler)->source, FloorSource::kPublished);
  EXPECT_EQ((*profiler)->floor_ns, 2'375);
  const Trace nsys = trace_on("NVIDIA H100 80GB HBM3", Tracer::kNsightSystems);
  EXPECT_EQ((*floor_of_text("H100", &nsys))->floor_ns, 4'707);
  EXPECT_TRUE((*floor_of_text("H100", &nsys))->trust.empty());
  // Named in full, whatever the trace was taken with.
  const auto other = floor_of_text("AMD+A100", &nsys);
  ASSERT_TRUE(other && *other);
  EXPECT_EQ((*other)->floor_ns, 2'261);
  EXPECT_NE(note(**other, "floor_tracer"), nullptr);
  EXPECT_NE(note(**other, "floor_gpu"), nullptr);
  const auto none = floor_of_text("abacus", nullptr);
  EXPECT_TRUE(none && !*none);
  EXPECT_EQ(published_platforms(), "GH200, Intel+H100, AMD+A100, DGX-H100, Intel+H200-NVL");
}

SampleStats sample(double mean_ns) {
  return {150, mean_ns, 1, mean_ns, mean_ns, mean_ns, mean_ns, mean_ns};
}

TEST(GivenFloor, OfAFileIsTheSmallestMeanOfTheSameGpu) {
  FloorFile file;
  file.head = {CollectorTracer::kNsys, "", 50, 150};
  file.gpus = {{{"NVIDIA H200", ""}, sample(4503), sample(1200)},
               {{"NVIDIA H200", ""}, sample(4499.6), sample(1200)}};
  const Trace same = trace_on("nvidia h200", Tracer::kNsightSystems);
  const auto floor = floor_of_file(file, &same);
  ASSERT_TRUE(floor);
  EXPECT_EQ(floor->floor_ns, 4500);
  EXPECT_EQ(floor->source, FloorSource::kMeasured);
  EXPECT_EQ(floor->samples, 150u);
  EXPECT_EQ(floor->tracer, CollectorTracer::kNsys);
  EXPECT_TRUE(floor->trust.empty());
  const Trace another = trace_on("NVIDIA H100 PCIe", Tracer::kNsightSystems);
  EXPECT_FALSE(floor_of_file(file, &another));
  const Trace profiled = trace_on("NVIDIA H200", Tracer::kPyTorchProfiler);
  EXPECT_NE(note(*floor_of_file(file, &profiled), "floor_tracer"), nullptr);
  EXPECT_NE(note(*floor_of_file(file, nullptr), "floor_gpu_unchecked"), nullptr);
  file.head.tracer = CollectorTracer::kHip;
  EXPECT_NE(note(*floor_of_file(file, &profiled), "floor_upper_bound"), nullptr);
}

}  // namespace
}  // namespace assay
