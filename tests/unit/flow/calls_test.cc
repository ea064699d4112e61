// Outermost calls of host threads; times in nanoseconds, worked out by hand.

#include <gtest/gtest.h>

#include "flow/run.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

std::vector<FlowCall> calls_of(int64_t launch_ns, int64_t launch_dur_ns) {
  TraceMaker maker;
  maker.call(1, "cudaDeviceSynchronize", 0, 100'000, 2)
      .call(1, "cudaLaunchKernel", launch_ns, launch_dur_ns, 1)
      .kernel(0, 7, "work", 120'000, 10'000, 1);
  const Trace trace = maker.build();
  const Links links = link_trace(trace);
  return make_flow_run(trace, links).calls;
}

TEST(FlowCalls, AreSequentialWhereRoundedTimesOverlap) {
  const std::vector<FlowCall> calls = calls_of(99'999, 5000);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].end_ns, 100'000);
  EXPECT_EQ(calls[1].start_ns, 100'000);
  EXPECT_EQ(calls[1].end_ns, 104'999);
}

TEST(FlowCalls, NestInCallsThatEndAfterThem) {
  ASSERT_EQ(calls_of(99'500, 400).size(), 1U);
  ASSERT_EQ(calls_of(50'000, 60'000).size(), 1U);
}

}  // namespace
}  // namespace assay
