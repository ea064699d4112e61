// Who asked for device memory, and when it was most. Times are nanoseconds.

#include "breakdown/memory.h"

#include <gtest/gtest.h>

#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

constexpr int32_t kCuda = 1;

void add_event(Trace& trace, int64_t time_ns, int64_t bytes, int64_t total, int64_t reserved,
               int32_t type = kCuda) {
  trace.memory_events.push_back({time_ns, bytes, total, reserved, 0, type, type == 0 ? -1 : 0});
}

JobMemory memory_of(const Trace& trace) {
  const Links links = link_trace(trace);
  const Windows windows = find_iterations(trace, links);
  const auto report = analyze_breakdown(trace, links, windows, {});
  JobMemory job;
  add_memory(trace, links, *report, job);
  return job;
}

// A product whose result is allocated inside it, and a view that launches nothing.
TraceMaker product() {
  TraceMaker maker;
  maker.op(1, "aten::mm", 100, 100)
      .op(1, "aten::empty", 110, 20)
      .call(1, "cudaMalloc", 112, 4, 3)
      .call(1, "cudaLaunchKernel", 150, 10, 7)
      .op(1, "aten::view", 300, 50)
      .kernel(0, 7, "gemm", 400, 100, 7);
  return maker;
}

TEST(Memory, EventsGoToTheInnermostOperatorThatLaunches) {
  Trace trace = product().build();
  add_event(trace, 115, 64, 1064, 4096);
  add_event(trace, 320, 8, 1072, 4096);
  add_event(trace, 330, -8, 1064, 4096);
  add_event(trace, 500, -64, 1000, 2048);
  const JobMemory job = memory_of(trace);
  ASSERT_EQ(job.devices.size(), 1u);
  const DeviceMemory& device = job.devices[0];
  EXPECT_EQ(device.first_bytes, 1000);
  EXPECT_EQ(device.last_bytes, 1000);
  EXPECT_EQ(device.sums.allocations, 2u);
  EXPECT_EQ(device.sums.frees, 2u);
  EXPECT_EQ(device.sums.allocated_bytes, 72);
  EXPECT_EQ(device.sums.freed_bytes, 72);
  EXPECT_EQ(device.sums.peak_bytes, 1072);
  EXPECT_EQ(device.peak_reserved_bytes, 4096);
  EXPECT_EQ(device.grown_bytes, 72);
  EXPECT_EQ(device.peak.op, "aten::view");
  EXPECT_EQ(device.outside, 1u);
  EXPECT_EQ(device.ambiguous, 0u);
  ASSERT_EQ(device.ops.size(), 3u);
  EXPECT_EQ(device.ops[0].op, "aten::mm") << "not aten::empty, which launches nothing";
  EXPECT_EQ(device.ops[0].phase, memory_of(trace).devices[0].phases.back().phase);
  EXPECT_EQ(device.ops[0].sums.allocated_bytes, 64);
  EXPECT_EQ(device.ops[0].sums.peak_bytes, 1064);
  EXPECT_EQ(device.ops[1].op, "aten::view");
  EXPECT_EQ(device.ops[1].phase, LevelPhase::kNone);
  EXPECT_EQ(device.ops[2].op, "");
  EXPECT_EQ(device.ops[2].sums.freed_bytes, 64);
  EXPECT_EQ(job.driver.allocations, 1u);
  EXPECT_EQ(job.driver.frees, 0u);
  EXPECT_EQ(job.driver.ns, 4);
}

TEST(Memory, HasNoOperatorIfTwoThreadsAreInsideOperators) {
  TraceMaker maker = product();
  maker.op(2, "aten::add", 100, 100);
  Trace trace = maker.build();
  add_event(trace, 115, 64, 64, 64);
  const DeviceMemory device = memory_of(trace).devices.at(0);
  EXPECT_EQ(device.ambiguous, 1u);
  EXPECT_EQ(device.outside, 0u);
  EXPECT_EQ(device.ops.at(0).op, "");
}

// Profilers of 2021 file the marks of steps among operators; another thread inside one is in none.
TEST(Memory, StepMarksAreNotOperators) {
  TraceMaker maker = product();
  maker.op(2, "ProfilerStep#3", 0, 1000);
  Trace trace = maker.build();
  add_event(trace, 115, 64, 64, 64);
  add_event(trace, 600, -64, 0, 64);
  const DeviceMemory device = memory_of(trace).devices.at(0);
  EXPECT_EQ(device.ambiguous, 0u);
  EXPECT_EQ(device.outside, 1u);
  EXPECT_EQ(device.ops.at(0).op, "aten::mm");
}

// Of profilers that tell no totals: ahead by 60, 20, 50 bytes.
TEST(Memory, ReportsGrowthIfThereAreNoTotals) {
  Trace trace = product().build();
  add_event(trace, 115, 60, -1, -1);
  add_event(trace, 320, -40, -1, -1);
  add_event(trace, 330, 30, -1, -1);
  const DeviceMemory device = memory_of(trace).devices.at(0);
  EXPECT_EQ(device.sums.peak_bytes, -1);
  EXPECT_EQ(device.first_bytes, -1);
  EXPECT_EQ(device.grown_bytes, 60);
  EXPECT_EQ(device.peak.op, "aten::mm");
}

TEST(Memory, UnrecordedDataIsAbsent) {
  Trace trace = product().build();
  EXPECT_TRUE(memory_of(trace).devices.empty());
  add_event(trace, 115, 64, 64, -1, 0);
  EXPECT_TRUE(memory_of(trace).devices.empty()) << "of the host";
  EXPECT_EQ(memory_of(trace).driver.allocations, 0u);
}

}  // namespace
}  // namespace assay
