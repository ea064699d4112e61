// Kernels of labelled ranges: which range and entry a launch belongs to, and its three times. Times
// are worked out by hand from the rows.

#include "overhead/replay_ranges.h"

#include <gtest/gtest.h>

#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

std::map<uint64_t, ReplayedKernels> kernels_of(const Trace& trace) {
  return replayed_kernels(trace, link_trace(trace));
}

TEST(ReplayRanges, TimesOfTheFirstLaunchInEachRangeAreItsSample) {
  const Trace trace = TraceMaker()
                          .annotation(1, "aten_dispatch|3|0", 1000, 900)
                          .annotation(1, "aten_dispatch|3|1", 5000, 900)
                          .call(1, "cudaLaunchKernel", 1200, 50, 1)
                          .call(1, "cudaLaunchKernel", 1400, 50, 2)
                          .call(1, "cudaLaunchKernel", 5300, 50, 3)
                          .kernel(0, 7, "add", 1260, 10, 1)
                          .kernel(0, 7, "add", 1500, 10, 2)
                          .kernel(0, 7, "add", 5380, 30, 3)
                          .build();
  const auto found = kernels_of(trace);
  ASSERT_EQ(found.size(), 1u);
  const ReplayedKernels& entry = found.at(3);
  EXPECT_EQ(entry.ranges, 2u);
  ASSERT_EQ(entry.candidates.size(), 1u);
  const ReplayCandidate& add = entry.candidates[0];
  EXPECT_EQ(add.count, 3u);
  EXPECT_EQ(add.dispatch.n, 2u);
  EXPECT_EQ(add.dispatch.min_ns, 200);
  EXPECT_EQ(add.dispatch.max_ns, 300);
  EXPECT_EQ(add.launch.mean_ns, 70);
  EXPECT_EQ(add.duration.mean_ns, 20);
}

TEST(ReplayRanges, WarmUpsOtherThreadsAndOtherLabelsCountForNothing) {
  const Trace trace = TraceMaker()
                          .annotation(1, "aten_dispatch|0|0", 1000, 100)
                          .annotation(1, "aten_dispatch|x|0", 3000, 100)
                          .annotation(1, "aten_dispatch|7", 4000, 100)
                          .annotation(1, "ProfilerStep#1", 0, 9000)
                          .call(1, "cudaLaunchKernel", 500, 10, 1)
                          .call(2, "cudaLaunchKernel", 1010, 10, 2)
                          .call(1, "cudaLaunchKernel", 1100, 10, 3)
                          .call(1, "cudaLaunchKernel", 3010, 10, 4)
                          .kernel(0, 7, "warm_up", 600, 10, 1)
                          .kernel(0, 7, "other_thread", 1050, 10, 2)
                          .kernel(0, 7, "after_the_range", 1200, 10, 3)
                          .kernel(0, 7, "no_entry", 3050, 10, 4)
                          .build();
  const auto found = kernels_of(trace);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at(0).ranges, 1u);
  EXPECT_TRUE(found.at(0).candidates.empty());
}

TEST(ReplayRanges, ClockNoiseCountsAsZeroAndWorseIsLeftOut) {
  const Trace trace = TraceMaker()
                          .annotation(1, "aten_dispatch|0|0", 0, 90000)
                          .call(1, "cudaLaunchKernel", 20000, 10, 1)
                          .call(1, "cudaLaunchKernel", 40000, 10, 2)
                          .kernel(0, 7, "early", 10001, 10, 1)
                          .kernel(0, 7, "impossible", 30000, 10, 2)
                          .build();
  const ReplayedKernels entry = kernels_of(trace).at(0);
  ASSERT_EQ(entry.candidates.size(), 1u);
  EXPECT_EQ(entry.candidates[0].name, "early");
  EXPECT_EQ(entry.candidates[0].launch.mean_ns, 0);
  EXPECT_EQ(entry.left_out, 1u);
}

TEST(ReplayRanges, KernelsOfOneNameAndDifferentShapesAreDifferentCandidates) {
  Trace trace = TraceMaker()
                    .annotation(1, "aten_dispatch|0|0", 0, 900)
                    .call(1, "cudaLaunchKernel", 100, 10, 1)
                    .call(1, "cudaLaunchKernel", 200, 10, 2)
                    .kernel(0, 7, "reduce", 300, 10, 1)
                    .kernel(0, 7, "reduce", 400, 10, 2)
                    .build();
  for (uint32_t i = 0; i < 2; ++i) {
    trace.kernel_shapes.push_back(
        {.activity = testing::activity_id(trace, "reduce", i), .grid_x = i + 1});
  }
  const ReplayedKernels entry = kernels_of(trace).at(0);
  ASSERT_EQ(entry.candidates.size(), 2u);
  EXPECT_EQ(entry.candidates[0].grid, (Dim3{1, 0, 0}));
  EXPECT_EQ(entry.candidates[1].grid, (Dim3{2, 0, 0}));
}

TEST(ReplayRecords, SampleStatsAreThoseOfTheFloorPage) {
  // 1 .. 5: mean 3, variance 10 / 4; quantiles by linear interpolation at (n - 1) q.
  const SampleStats stats = sample_stats({5, 1, 4, 2, 3});
  EXPECT_EQ(stats.n, 5u);
  EXPECT_EQ(stats.mean_ns, 3);
  EXPECT_DOUBLE_EQ(stats.std_ns * stats.std_ns, 2.5);
  EXPECT_DOUBLE_EQ(stats.p5_ns, 1.2);
  EXPECT_EQ(stats.p50_ns, 3);
  EXPECT_DOUBLE_EQ(stats.p95_ns, 4.8);
  EXPECT_EQ(sample_stats({7}).std_ns, 0);
  EXPECT_EQ(sample_stats({}).n, 0u);
}

TEST(ReplayRecords, DynamicOperatorsAreThoseThatDependOnValuesOrWait) {
  for (const char* op : {"aten::nonzero", "aten::nonzero_static", "aten::unique_dim",
                         "aten::_unique2", "aten::index_add_", "aten::masked_select", "aten::item",
                         "aten::_local_scalar_dense", "nonzero"}) {
    EXPECT_TRUE(is_dynamic_operator(op)) << op;
  }
  for (const char* op : {"aten::add", "aten::index", "aten::items", "aten::equal_", ""}) {
    EXPECT_FALSE(is_dynamic_operator(op)) << op;
  }
}

}  // namespace
}  // namespace assay
