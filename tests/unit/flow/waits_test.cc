// Waits between streams that no event records; times in nanoseconds, worked out by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "flow/graph.h"
#include "flow/run.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

constexpr int64_t kStepNs = 1'000'000;

// Each step hands over a kernel of 200 us to stream 7 and at once a copy to stream 20 (of another
// device where asked), which begins `after(step)` ns after the kernel's end.
template <typename After>
Trace steps(int64_t count, int64_t device, After after) {
  TraceMaker maker;
  for (int64_t step = 0; step < count; ++step) {
    const int64_t at_ns = step * kStepNs;
    const auto id = static_cast<uint32_t>(2 * step + 1);
    maker.call(1, "cudaLaunchKernel", at_ns, 4000, id)
        .kernel(0, 7, "work", at_ns + 6000, 200'000, id)
        .call(1, "cudaLaunchKernel", at_ns + 5000, 4000, id + 1)
        .kernel(device, 20, "follower", at_ns + 206'000 + after(step), 50'000, id + 1);
  }
  return maker.build();
}

TEST(FlowWaits, AnActivityThatAlwaysFollowsAnotherWaitsForIt) {
  for (const int64_t device : {0, 1}) {
    const Trace trace = steps(5, device, [](int64_t step) { return 2000 + 100 * step; });
    const Links links = link_trace(trace);
    const FlowRun run = make_flow_run(trace, links);
    EXPECT_EQ(run.recorded_waits, 0U);
    ASSERT_EQ(run.inferred_waits, 5U);
    for (const FlowWork& work : run.works) {
      const bool follower =
          run.trace->text(trace.activities.name[work.activity.index()]) == "follower";
      ASSERT_EQ(work.wait_count, follower ? 1U : 0U);
      EXPECT_EQ(work.wait_inferred, follower);
      if (!follower) continue;
      EXPECT_EQ(work.ready_by, ReadyBy::kEvent);
      EXPECT_EQ(run.works[run.waits[work.first_wait]].end_ns, work.ready_ns);
    }
  }
}

TEST(FlowWaits, TwiceIsChance) {
  const Trace trace = steps(2, 0, [](int64_t) { return 2000; });
  const Links links = link_trace(trace);
  EXPECT_EQ(make_flow_run(trace, links).inferred_waits, 0U);
}

TEST(FlowWaits, AnActivityThatStartsAtAnyTimeHasAnotherDependency) {
  const Trace trace = steps(8, 0, [](int64_t step) { return 15'000 + 30'000 * step; });
  const Links links = link_trace(trace);
  EXPECT_EQ(make_flow_run(trace, links).inferred_waits, 0U);
}

// Where ends are everywhere, each start follows one.
TEST(FlowWaits, ContinuousActivitiesAreNoEvidence) {
  TraceMaker maker;
  uint32_t id = 0;
  for (int64_t at_ns = 0; at_ns < 6 * kStepNs; at_ns += 10'000) {
    ++id;
    maker.call(1, "cudaLaunchKernel", at_ns, 2000, id)
        .kernel(0, 7, "dense", at_ns + 3000, 9000, id);
  }
  for (int64_t step = 0; step < 6; ++step) {
    ++id;
    maker.call(2, "cudaLaunchKernel", step * kStepNs, 4000, id)
        .kernel(0, 20, "follower", step * kStepNs + 300'000 + 3000, 50'000, id);
  }
  const Trace trace = maker.build();
  const Links links = link_trace(trace);
  EXPECT_EQ(make_flow_run(trace, links).inferred_waits, 0U);
}

// cudaFree drains the device; the next ones find it idle. Four steps: launches for 30 us, the
// kernel runs for 600 us, the first call frees 40 us after its end, two more take 50 us each.
TEST(FlowWaits, EachCallThatFreesMemoryWaitsSeparately) {
  TraceMaker maker;
  for (int64_t step = 0; step < 4; ++step) {
    const int64_t at_ns = step * kStepNs;
    const auto id = static_cast<uint32_t>(4 * step + 1);
    maker.call(1, "cudaLaunchKernel", at_ns, 4000, id)
        .kernel(0, 7, "work", at_ns + 6000, 600'000, id)
        .call(1, "cudaFree", at_ns + 30'000, 616'000, id + 1)
        .call(1, "cudaFree", at_ns + 650'000, 50'000, id + 2)
        .call(1, "cudaFree", at_ns + 702'000, 50'000, id + 3);
  }
  const Trace trace = maker.build();
  const Links links = link_trace(trace);
  const FlowRun run = make_flow_run(trace, links);
  uint64_t waits = 0;
  for (const FlowCall& call : run.calls) {
    if (call.kind != FlowCause::kAlloc) continue;
    const bool first = call.end_ns - call.start_ns > 100'000;
    ASSERT_EQ(call.target_count, first ? 1U : 0U);
    waits += call.target_count;
    if (first) {
      EXPECT_EQ(run.works[run.targets[call.first_target]].end_ns, call.end_ns - 40'000);
    }
  }
  EXPECT_EQ(waits, 4U);
}

// A run of 200 launches by one call, each kernel 20 us after the call began: one kernel of twenty
// takes 900 us and the others take 60 us. The call returns `after_ns` after the begin of a short
// kernel and `after_long_ns` after that of a long one. How many calls wait for a kernel.
uint64_t calls_that_wait(std::string_view name, int64_t after_ns, int64_t after_long_ns) {
  TraceMaker maker;
  for (int64_t i = 0; i < 200; ++i) {
    const int64_t at_ns = i * kStepNs;
    const bool is_long = i % 20 == 19;
    const auto id = static_cast<uint32_t>(i + 1);
    maker.call(1, name, at_ns, 20'000 + (is_long ? after_long_ns : after_ns), id)
        .kernel(0, 7, "work", at_ns + 20'000, is_long ? 900'000 : 60'000, id);
  }
  const Trace trace = maker.build();
  const Links links = link_trace(trace);
  const FlowRun run = make_flow_run(trace, links);
  return static_cast<uint64_t>(
      std::count_if(run.calls.begin(), run.calls.end(),
                    [](const FlowCall& call) { return call.target_count > 0; }));
}

// The host's clock shows that calls of short kernels return 5 us too early: long kernels decide.
TEST(FlowWaits, ALaunchThatHoldsLongKernelsWaitsForThem) {
  for (const std::string_view name : {"acmeRunKernel", "cudaLaunchKernel", "cudaGraphLaunch"}) {
    EXPECT_EQ(calls_that_wait(name, 55'000, 910'000), 10U) << name;
    EXPECT_EQ(calls_that_wait(name, 65'000, 910'000), 200U) << name;
  }
}

// Kernels that end within a slow launch have not held it: long ones outlast it.
TEST(FlowWaits, ASlowLaunchThatOverlapsShortKernelsDoesNotWait) {
  for (const std::string_view name : {"acmeRunKernel", "hipLaunchKernel", "cudaGraphLaunch"}) {
    EXPECT_EQ(calls_that_wait(name, 70'000, 70'000), 0U) << name;
    EXPECT_EQ(calls_that_wait(name, 70'000, 5000), 0U) << name;
  }
}

}  // namespace
}  // namespace assay
