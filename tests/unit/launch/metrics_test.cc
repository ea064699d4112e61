// Launch metrics on traces small enough to work out by hand. All times in nanoseconds.

#include "launch/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "flow/run.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

constexpr int64_t kBeyond = 1'000'000'000'000;

Windows whole_trace() { return {WindowSource::kWholeTrace, {{"whole trace", -kBeyond, kBeyond}}}; }

LaunchFloor given(int64_t floor_ns) {
  return {.source = FloorSource::kGiven, .floor_ns = floor_ns, .text = "mine"};
}

LaunchReport analyze(const Trace& trace, const Windows& windows = whole_trace(),
                     const LaunchOptions& options = {}) {
  const Links links = link_trace(trace);
  const DeviceFlow flow = joint_flow(make_flow_run(trace, links));
  LaunchOptions asked = options;
  asked.flow = &flow;
  auto report = analyze_launch(trace, links, windows, asked);
  EXPECT_TRUE(report) << report.error().message;
  return *report;
}

const TrustNote* find_note(const LaunchReport& report, const std::string& what) {
  const auto note = std::find_if(report.trust.begin(), report.trust.end(),
                                 [&](const TrustNote& n) { return n.what == what; });
  return note == report.trust.end() ? nullptr : &*note;
}

// The closed-form model of the specification: a launch every `interval`, latency `latency`, kernels
// of `kernel_ns` one after the other on one stream.
Trace model(int64_t launches, int64_t interval, int64_t latency, int64_t kernel_ns) {
  TraceMaker maker;
  int64_t free_ns = 0;
  for (int64_t i = 0; i < launches; ++i) {
    const int64_t launch = i * interval;
    const int64_t start = std::max(launch + latency, free_ns);
    const auto correlation = static_cast<uint32_t>(i + 1);
    maker.op(1, "aten::mm", launch, interval - 1)
        .call(1, "cudaLaunchKernel", launch, interval / 2, correlation)
        .kernel(0, 7, "gemm", start, kernel_ns, correlation);
    free_ns = start + kernel_ns;
  }
  return maker.build();
}

TEST(LaunchMetrics, ClosedFormModelExactly) {
  struct Row {
    int64_t kernel_ns, tklqt_ns, il_ns, idle_ns;
  };
  // N = 100, d = 5 us, t0 = 4.5 us.
  const std::vector<Row> rows = {{2'000, 450'000, 501'500, 301'500},
                                 {5'000, 450'000, 504'500, 4'500},
                                 {8'000, 15'300'000, 804'500, 4'500},
                                 {20'000, 74'700'000, 2'004'500, 4'500}};
  for (const Row& row : rows) {
    SCOPED_TRACE("e = " + std::to_string(row.kernel_ns));
    const LaunchMetrics whole =
        analyze(model(100, 5'000, 4'500, row.kernel_ns), whole_trace(), {.floor = given(4'500)})
            .whole;
    EXPECT_EQ(whole.kernels, 100u);
    EXPECT_EQ(whole.linked, 100u);
    EXPECT_EQ(whole.launches, 100u);
    EXPECT_EQ(whole.tklqt_ns, row.tklqt_ns);
    EXPECT_EQ(whole.tklqt_bracket.low_ns, row.tklqt_ns);
    EXPECT_EQ(whole.tklqt_bracket.high_ns, row.tklqt_ns);
    EXPECT_EQ(whole.il_ns, row.il_ns);
    EXPECT_EQ(whole.gpu_idle_eq5_ns, row.idle_ns);
    EXPECT_EQ(whole.gpu_idle_union_ns, row.idle_ns);
    EXPECT_EQ(whole.gpu_idle_bracket.low_ns, row.idle_ns);
    EXPECT_EQ(whole.gpu_idle_bracket.high_ns, row.idle_ns);
    EXPECT_EQ(whole.akd_ns, static_cast<double>(row.kernel_ns));
    EXPECT_EQ(whole.kernel_sum_ns, 100 * row.kernel_ns);
    EXPECT_EQ(whole.kernel_union_ns, 100 * row.kernel_ns);
    EXPECT_EQ(whole.origin, OriginSource::kRootOpWithKernel);
    EXPECT_EQ(whole.floor_sum_ns, 450'000);
    EXPECT_EQ(whole.queue_sum_ns, row.tklqt_ns - 450'000);
  }
}

TEST(LaunchMetrics, DistributionOfLaunchTimes) {
  // t_l = 100, 200, 300, 400, 500.
  TraceMaker maker;
  for (uint32_t i = 0; i < 5; ++i) {
    maker.call(1, "cudaLaunchKernel", 1'000 * i, 10, i + 1)
        .kernel(0, 7, "k", 1'000 * i + 100 * (i + 1), 10, i + 1);
  }
  const LaunchTimeStats stats = analyze(maker.build()).whole.launch_time;
  EXPECT_EQ(stats.n, 5u);
  EXPECT_DOUBLE_EQ(stats.mean_ns, 300);
  EXPECT_DOUBLE_EQ(stats.p5_ns, 120);
  EXPECT_DOUBLE_EQ(stats.p50_ns, 300);
  EXPECT_DOUBLE_EQ(stats.p95_ns, 480);
  EXPECT_DOUBLE_EQ(stats.p99_ns, 496);
}

TEST(LaunchMetrics, SmallNegativeTimesAreClampedLargeOnesDropped) {
  const LaunchReport report = analyze(TraceMaker()
                                          .call(1, "cudaLaunchKernel", 20'000, 10, 1)
                                          .call(1, "cudaLaunchKernel", 40'000, 10, 2)
                                          .call(1, "cudaLaunchKernel", 60'000, 10, 3)
                                          .kernel(0, 7, "k", 20'000 - 9'999, 10, 1)
                                          .kernel(0, 7, "k", 40'000 - 10'000, 10, 2)
                                          .kernel(0, 7, "k", 60'000 + 700, 10, 3)
                                          .build());
  const LaunchMetrics& whole = report.whole;
  EXPECT_EQ(whole.launches, 3u);
  EXPECT_EQ(whole.launch_time.n, 2u);
  EXPECT_EQ(whole.tklqt_ns, 700);
  EXPECT_EQ(whole.clamped, 1u);
  EXPECT_EQ(whole.clamped_ns, 9'999);
  EXPECT_EQ(whole.dropped, 1u);
  EXPECT_EQ(whole.dropped_ns, 10'000);
  // Low: 700 - 9999, at least 0. High: 2 launches x 9999 more, and p95 = 665 for the dropped one.
  EXPECT_EQ(whole.tklqt_bracket.low_ns, 0);
  EXPECT_EQ(whole.tklqt_bracket.high_ns, 700 + 2 * 9'999 + 665);
  EXPECT_EQ(whole.tklqt_bracket.reasons, "clamped_launches,dropped_launches");
  ASSERT_NE(find_note(report, "clamped_launches"), nullptr);
  EXPECT_EQ(find_note(report, "clamped_launches")->count, 1u);
  EXPECT_EQ(find_note(report, "clamped_launches")->time_ns, 9'999);
  ASSERT_NE(find_note(report, "dropped_launches"), nullptr);
  EXPECT_EQ(find_note(report, "dropped_launches")->time_ns, 10'000);
  ASSERT_NE(find_note(report, "clock_offset"), nullptr);
  EXPECT_EQ(find_note(report, "clock_offset")->time_ns, 2'000);
}

TEST(LaunchMetrics, AGraphHasOneLaunchAndManyKernels) {
  const LaunchReport report = analyze(TraceMaker()
                                          .op(1, "replay", 0, 1'000)
                                          .call(1, "cudaGraphLaunch", 100, 50, 1)
                                          .kernel(0, 7, "b", 900, 300, 1)
                                          .kernel(0, 7, "a", 600, 200, 1)
                                          .kernel(0, 8, "c", 1'000, 100, 1)
                                          .build());
  const LaunchMetrics& whole = report.whole;
  EXPECT_EQ(whole.kernels, 3u);
  EXPECT_EQ(whole.launches, 1u);
  EXPECT_EQ(whole.graph_launches, 1u);
  EXPECT_EQ(whole.graph_kernels, 3u);
  EXPECT_EQ(whole.graph_kernel_sum_ns, 600);
  EXPECT_EQ(whole.tklqt_ns, 500);  // 600 - 100, first by device start
  EXPECT_EQ(whole.il_ns, 1'200);
  EXPECT_EQ(whole.busy_in_window_ns, 500);
  EXPECT_EQ(whole.gpu_idle_union_ns, 700);
  ASSERT_NE(find_note(report, "graph_kernels"), nullptr);
  EXPECT_EQ(find_note(report, "shared_correlations"), nullptr);
  ASSERT_NE(find_note(report, "overlapping_kernels"), nullptr);
  EXPECT_EQ(find_note(report, "overlapping_kernels")->count, 1u);
  EXPECT_EQ(find_note(report, "overlapping_kernels")->time_ns, 100);
}

TEST(LaunchMetrics, SeveralKernelsOfOneCallAreTimedOnce) {
  const LaunchReport report = analyze(TraceMaker()
                                          .call(1, "cudaLaunchKernel", 0, 50, 1)
                                          .kernel(0, 7, "a", 400, 100, 1)
                                          .kernel(0, 7, "b", 500, 100, 1)
                                          .build());
  EXPECT_EQ(report.whole.kernels, 2u);
  EXPECT_EQ(report.whole.linked, 2u);
  EXPECT_EQ(report.whole.launches, 1u);
  EXPECT_EQ(report.whole.tklqt_ns, 400);
  ASSERT_NE(find_note(report, "shared_correlations"), nullptr);
  EXPECT_EQ(find_note(report, "shared_correlations")->count, 1u);
}

TEST(LaunchMetrics, KernelsOfBeforeTheTraceStayOutOfTheWindow) {
  const LaunchReport report = analyze(TraceMaker()
                                          .op(1, "aten::mm", 1'000, 500)
                                          .call(1, "cudaLaunchKernel", 1'100, 50, 1)
                                          .kernel(0, 7, "old", 100, 700, 90)
                                          .kernel(0, 7, "mm", 1'600, 400, 1)
                                          .build());
  const LaunchMetrics& whole = report.whole;
  EXPECT_EQ(whole.kernels, 2u);
  EXPECT_EQ(whole.linked, 1u);
  EXPECT_EQ(whole.tklqt_ns, 500);
  EXPECT_EQ(whole.il_ns, 1'000);
  EXPECT_EQ(whole.kernel_sum_ns, 1'100);
  EXPECT_EQ(whole.kernel_union_ns, 1'100);
  EXPECT_EQ(whole.busy_in_window_ns, 400);
  EXPECT_EQ(whole.gpu_idle_union_ns, 600);
  EXPECT_EQ(whole.gpu_idle_eq5_ns, -100);
  EXPECT_EQ(whole.tklqt_bracket.high_ns, 500);
  ASSERT_NE(find_note(report, "carried_over_kernels"), nullptr);
  EXPECT_EQ(find_note(report, "carried_over_kernels")->time_ns, 700);
  EXPECT_EQ(find_note(report, "unlinked_kernels"), nullptr);
  ASSERT_NE(find_note(report, "kernels_before_origin"), nullptr);
  EXPECT_EQ(find_note(report, "kernels_before_origin")->time_ns, 700);
}

TEST(LaunchMetrics, UnlinkedKernelsWidenTheBrackets) {
  const LaunchReport report = analyze(TraceMaker()
                                          .op(1, "aten::mm", 1'000, 500)
                                          .call(1, "cudaLaunchKernel", 1'100, 50, 1)
                                          .kernel(0, 7, "mm", 1'600, 400, 1)
                                          .kernel(0, 7, "lost", 2'100, 300, 90)
                                          .build());
  const LaunchMetrics& whole = report.whole;
  EXPECT_EQ(whole.il_ns, 1'400);
  EXPECT_EQ(whole.gpu_idle_union_ns, 700);
  EXPECT_EQ(whole.gpu_idle_bracket.low_ns, 700);
  EXPECT_EQ(whole.gpu_idle_bracket.high_ns, 1'000);
  EXPECT_EQ(whole.gpu_idle_bracket.reasons, "unlinked_kernels");
  EXPECT_EQ(whole.tklqt_bracket.low_ns, 500);
  EXPECT_EQ(whole.tklqt_bracket.high_ns, 1'000);
  ASSERT_NE(find_note(report, "unlinked_kernels"), nullptr);
  EXPECT_EQ(find_note(report, "unlinked_kernels")->time_ns, 300);
}

TEST(LaunchMetrics, OriginFallsBackStepByStep) {
  const auto origin = [](TraceMaker& maker) {
    const LaunchMetrics whole = analyze(maker.build()).whole;
    return std::pair(whole.origin, whole.origin_ns);
  };
  TraceMaker with_kernel;
  with_kernel.op(1, "idle", 5, 10)
      .op(1, "mm", 50, 100)
      .call(1, "cudaLaunchKernel", 60, 5, 1)
      .kernel(0, 7, "k", 100, 10, 1);
  EXPECT_EQ(origin(with_kernel), std::pair(OriginSource::kRootOpWithKernel, int64_t{50}));
  TraceMaker op_only;
  op_only.op(1, "idle", 5, 10).call(1, "cudaLaunchKernel", 60, 5, 1).kernel(0, 7, "k", 100, 10, 1);
  EXPECT_EQ(origin(op_only), std::pair(OriginSource::kEarliestOp, int64_t{5}));
  TraceMaker call_only;
  call_only.call(1, "cudaLaunchKernel", 60, 5, 1).kernel(0, 7, "k", 100, 10, 1);
  EXPECT_EQ(origin(call_only), std::pair(OriginSource::kEarliestLaunch, int64_t{60}));
  TraceMaker kernel_only;
  kernel_only.kernel(0, 7, "k", 100, 10, 1);
  EXPECT_EQ(origin(kernel_only), std::pair(OriginSource::kEarliestKernel, int64_t{100}));
  TraceMaker nothing;
  nothing.op(1, "mm", 50, 100);
  EXPECT_EQ(origin(nothing), std::pair(OriginSource::kNone, int64_t{0}));
}

TEST(LaunchMetrics, AProfilerStepRecordedAsOperatorIsNotAnOperator) {
  const LaunchMetrics whole = analyze(TraceMaker()
                                          .op(1, "ProfilerStep#3", 0, 10'000)
                                          .op(1, "aten::mm", 1'000, 500)
                                          .call(1, "cudaLaunchKernel", 1'100, 50, 1)
                                          .kernel(0, 7, "k", 1'600, 400, 1)
                                          .build())
                                  .whole;
  EXPECT_EQ(whole.origin_ns, 1'000);
  EXPECT_EQ(whole.cpu_busy_ns, 500);
}

TEST(LaunchMetrics, TheMetricIsRefusedIfLaunchRowsAreMissing) {
  const LaunchReport report =
      analyze(TraceMaker().kernel(0, 7, "a", 100, 100, 1).kernel(0, 7, "b", 300, 100, 2).build());
  const LaunchMetrics& whole = report.whole;
  EXPECT_TRUE(whole.tklqt_bracket.refused);
  EXPECT_EQ(whole.tklqt_bracket.reasons, "unlinked_kernels");
  EXPECT_FALSE(whole.cpu_idle_known);
  EXPECT_TRUE(std::isnan(whole.queue_share));
  EXPECT_TRUE(std::isnan(whole.launch_time.mean_ns));
  EXPECT_EQ(whole.il_ns, 300);
  EXPECT_EQ(whole.gpu_idle_union_ns, 100);
}

TEST(LaunchMetrics, AnEmptyTraceGivesZerosAndNoNotes) {
  const LaunchReport report = analyze(Trace());
  EXPECT_EQ(report.whole.kernels, 0u);
  EXPECT_EQ(report.whole.il_ns, 0);
  EXPECT_TRUE(std::isnan(report.whole.akd_ns));
  EXPECT_FALSE(report.whole.tklqt_bracket.refused);
  EXPECT_EQ(report.floor.source, FloorSource::kNone);
  EXPECT_TRUE(report.trust.empty());
  EXPECT_TRUE(report.top_kernels.empty());
  EXPECT_EQ(report.iterations_without_kernels, 1u);
  EXPECT_EQ(report.means.il_ns.n, 0u);
}

TEST(LaunchMetrics, OverlapMakesEquationFiveNegativeButNotTheUnion) {
  const LaunchReport report = analyze(TraceMaker()
                                          .call(1, "cudaLaunchKernel", 0, 10, 1)
                                          .call(1, "cudaLaunchKernel", 20, 10, 2)
                                          .kernel(0, 7, "a", 100, 1'000, 1)
                                          .kernel(0, 8, "b", 150, 900, 2)
                                          .build());
  EXPECT_EQ(report.whole.il_ns, 1'100);
  EXPECT_EQ(report.whole.gpu_idle_eq5_ns, -800);
  EXPECT_EQ(report.whole.gpu_idle_union_ns, 100);
  ASSERT_NE(find_note(report, "overlapping_kernels"), nullptr);
  EXPECT_EQ(find_note(report, "overlapping_kernels")->time_ns, 900);
  EXPECT_EQ(find_note(report, "overlapping_kernels")->count, 1u);
}

TEST(LaunchMetrics, CopiesCountAsBusyOnlyWhenAsked) {
  TraceMaker maker;
  maker.call(1, "cudaLaunchKernel", 0, 10, 1)
      .call(1, "cudaMemcpyAsync", 20, 10, 2)
      .kernel(0, 7, "a", 100, 200, 1)
      .copy(0, 8, "Memcpy DtoD", 50, 100, 2);
  const Trace trace = maker.build();
  EXPECT_EQ(analyze(trace).whole.gpu_idle_union_ns, 100);
  LaunchOptions options;
  options.count_copies = true;
  const LaunchMetrics whole = analyze(trace, whole_trace(), options).whole;
  EXPECT_EQ(whole.busy_in_window_ns, 250);
  EXPECT_EQ(whole.gpu_idle_union_ns, 50);
  EXPECT_EQ(whole.gpu_idle_eq5_ns, 100);
  EXPECT_EQ(whole.kernels, 1u);
  EXPECT_EQ(whole.kernel_union_ns, 200);
}

// Thread 1, window [0, 3'000'000):
//   root op 0-400'000 with a launch at 1'000 and a launch that takes 250 us at 100'000,
//   cudaStreamSynchronize 500'000-800'000, data loader 900'000-1'000'000, nothing until the end.
// GPU: 10'000-300'000, 300'000-600'000, and from a launch at 2'500'000 on, 2'600'000-3'000'000.
Trace host_side() {
  return TraceMaker()
      .op(1, "aten::mm", 0, 400'000)
      .call(1, "cudaLaunchKernel", 1'000, 5'000, 1)
      .call(1, "cudaLaunchKernel", 100'000, 250'000, 2)
      .call(1, "cudaStreamSynchronize", 500'000, 300'000, 3)
      .annotation(1, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 900'000,
                  100'000)
      .call(1, "cudaLaunchKernel", 2'500'000, 10'000, 4)
      .call(2, "cudaLaunchKernel", 100, 10, 5)
      .kernel(0, 7, "a", 10'000, 290'000, 1)
      .kernel(0, 7, "b", 300'000, 300'000, 2)
      .kernel(0, 7, "c", 2'600'000, 400'000, 4)
      .kernel(0, 9, "other", 20'000, 1'000, 5)
      .build();
}

TEST(LaunchMetrics, CpuIdleIsWhatTheDispatchingThreadDoesNotWork) {
  const Trace trace = host_side();
  const LaunchReport report = analyze(trace);
  const LaunchMetrics& whole = report.whole;
  EXPECT_EQ(whole.il_ns, 3'000'000);
  ASSERT_TRUE(whole.cpu_idle_known);
  EXPECT_EQ(trace.threads[whole.dispatching_thread.index()].tid, "1");
  EXPECT_EQ(whole.other_thread_launches, 1u);
  // Blocked: 300 us of synchronising and 150 us of a launch beyond its 100th.
  EXPECT_EQ(whole.cpu_blocked_ns, 450'000);
  // Busy: the op less those 150 us, and the last launch.
  EXPECT_EQ(whole.cpu_busy_ns, 250'000 + 10'000);
  EXPECT_EQ(whole.cpu_idle_ns, 2'740'000);
  EXPECT_EQ(whole.cpu_unrecorded_ns, 2'290'000);
  EXPECT_DOUBLE_EQ(whole.cpu_blocking_share, 450.0 / 2740);
  EXPECT_NE(find_note(report, "other_thread_launches"), nullptr);
}

// What leads to the numbers: with fewer than eight samples a launch takes up to 18 us.
TEST(LaunchMetrics, EveryIdleNanosecondHasOneCause) {
  const LaunchMetrics whole = analyze(host_side()).whole;
  // Idle: 0-10'000 and 600'000-2'600'000.
  EXPECT_EQ(whole.gpu_idle_union_ns, 2'010'000);
  ASSERT_TRUE(whole.idle_told);
  // Up to 100 in the operator and to 110 in thread 2's call; then "other" could begin.
  EXPECT_EQ(whole.idle[FlowCause::kDispatch], 100);
  EXPECT_EQ(whole.idle[FlowCause::kCall], 10 + 10'000);
  EXPECT_EQ(whole.idle.host_busy_ns(), 10'110);
  EXPECT_EQ(whole.idle.host_blocked_ns(), 200'000);
  EXPECT_EQ(whole.idle.host_input_ns(), 100'000);
  EXPECT_EQ(whole.idle.host_gaps_ns(), 100'000 + 1'500'000);
  EXPECT_EQ(whole.idle.latency_ns(), 9'890 + 18'000);
  EXPECT_EQ(whole.idle.unseen_ns(), 72'000);  // c begins 90 us after its call returned
  EXPECT_EQ(whole.idle.copy_ns + whole.idle.other_work_ns, 0);
  // The second gap began while the host sat in cudaStreamSynchronize.
  EXPECT_EQ(whole.idle.after_sync_ns, 2'000'000);
}

TEST(LaunchMetrics, NoCauseIsReportedIfThereIsNoFlow) {
  const Trace trace = host_side();
  const auto report = analyze_launch(trace, link_trace(trace), whole_trace(), {});
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->whole.idle_told);
  EXPECT_EQ(report->whole.gpu_idle_union_ns, 2'010'000);
}

Trace copy_between_kernels() {
  return TraceMaker()
      .call(1, "cudaLaunchKernel", 0, 10, 1)
      .call(1, "cudaMemcpy", 50, 300, 2)
      .call(1, "cudaLaunchKernel", 400, 10, 3)
      .kernel(0, 7, "a", 100, 100, 1)
      .copy(0, 7, "Memcpy DtoH (Device -> Pageable)", 210, 20, 2)
      .kernel(0, 7, "b", 500, 100, 3)
      .build();
}

TEST(LaunchMetrics, CopiesInIdleTimeAreSeparate) {
  const LaunchMetrics whole = analyze(copy_between_kernels()).whole;
  EXPECT_EQ(whole.gpu_idle_union_ns, 100 + 300);
  EXPECT_EQ(whole.idle.copy_ns, 20);
  // 0-10 and 400-410 in launch calls; 200-210 and 230-350 in the copy's, which hands it over as it
  // begins; 350-400 nothing recorded; the rest was handed over and ready.
  EXPECT_EQ(whole.idle.host_busy_ns(), 20);
  EXPECT_EQ(whole.idle.host_blocked_ns(), 10 + 120);
  EXPECT_EQ(whole.idle.host_gaps_ns(), 50);
  EXPECT_EQ(whole.idle.latency_ns(), 90 + 90);
  EXPECT_EQ(whole.idle.after_sync_ns, 10 + 270);  // both gaps around the copy
  EXPECT_EQ(whole.cpu_blocked_ns, 300);
}

TEST(LaunchMetrics, CountedCopiesAreNotIdleTime) {
  LaunchOptions options;
  options.count_copies = true;
  const LaunchMetrics whole = analyze(copy_between_kernels(), whole_trace(), options).whole;
  EXPECT_EQ(whole.gpu_idle_union_ns, 100 + 280);
  EXPECT_EQ(whole.idle.copy_ns, 0);
  EXPECT_EQ(whole.idle.host_blocked_ns(), 10 + 120);
}

// Of the second iteration's latency, 500 to 3'000, kernel a of the first runs until 2'000.
TEST(LaunchMetrics, KernelsOfOtherIterationsAreSeparate) {
  const Trace trace = TraceMaker()
                          .op(1, "x", 0, 100)
                          .call(1, "cudaLaunchKernel", 10, 50, 1)
                          .op(1, "y", 500, 100)
                          .call(1, "cudaLaunchKernel", 510, 50, 2)
                          .kernel(0, 7, "a", 200, 1'800, 1)
                          .kernel(0, 7, "b", 2'600, 400, 2)
                          .build();
  const LaunchReport report =
      analyze(trace, {WindowSource::kProfilerStep, {{"1", 0, 500}, {"2", 500, 1'000}}});
  ASSERT_EQ(report.iterations.size(), 2u);
  const LaunchMetrics& second = report.iterations[1];
  EXPECT_EQ(second.gpu_idle_union_ns, 2'100);
  EXPECT_EQ(second.idle.other_work_ns, 1'500);
  EXPECT_EQ(second.idle.latency_ns(), 600);
}

TEST(LaunchMetrics, TheBackwardThreadsTimeIsNotAGap) {
  // The main thread launches twice and then only waits for the backward thread, which launches
  // once.
  const LaunchMetrics whole = analyze(TraceMaker()
                                          .op(1, "forward", 0, 1'000)
                                          .call(1, "cudaLaunchKernel", 100, 10, 1)
                                          .call(1, "cudaLaunchKernel", 200, 10, 2)
                                          .call(1, "cudaStreamSynchronize", 1'000, 500, 0)
                                          .op(2, "backward", 1'200, 5'000'000)
                                          .call(2, "cudaLaunchKernel", 4'000'000, 10, 3)
                                          .kernel(0, 7, "a", 300, 100, 1)
                                          .kernel(0, 7, "b", 400, 900, 2)
                                          .kernel(0, 7, "c", 5'000'000, 100, 3)
                                          .build())
                                  .whole;
  EXPECT_EQ(whole.gpu_idle_union_ns, 300 + 4'998'700);
  EXPECT_EQ(whole.idle.host_busy_ns(), 110 + 3'998'710);
  EXPECT_EQ(whole.idle.latency_ns(), 190 + 18'000);
  EXPECT_EQ(whole.idle.unseen_ns(), 981'990);
  EXPECT_EQ(whole.idle.host_blocked_ns(), 0);
  EXPECT_EQ(whole.idle.after_sync_ns, 0);  // the wait at 1300 was not all the host did
  EXPECT_EQ(whole.cpu_blocked_ns, 500);
  EXPECT_EQ(whole.cpu_unrecorded_ns, 5'000'100 - 1'500);
}

TEST(LaunchMetrics, TheFloorPartsLaunchingFromQueueing) {
  // t_l is 400, 1300 and 500.
  const Trace trace = TraceMaker()
                          .call(1, "cudaLaunchKernel", 0, 10, 1)
                          .call(1, "cudaLaunchKernel", 100, 10, 2)
                          .call(1, "cudaLaunchKernel", 5'000, 10, 3)
                          .kernel(0, 7, "a", 400, 1'000, 1)
                          .kernel(0, 7, "b", 1'400, 1'000, 2)
                          .kernel(0, 7, "c", 5'500, 1'000, 3)
                          .build();
  const LaunchReport report = analyze(trace, whole_trace(), {.floor = given(450)});
  EXPECT_EQ(report.floor.floor_ns, 450);
  EXPECT_EQ(report.whole.tklqt_ns, 2'200);
  EXPECT_EQ(report.whole.floor_sum_ns, 400 + 450 + 450);
  EXPECT_EQ(report.whole.queue_sum_ns, 900);
  EXPECT_DOUBLE_EQ(report.whole.queue_share, 900 / 2'200.0);

  const LaunchReport unknown = analyze(trace);
  EXPECT_FALSE(unknown.floor.known());
  EXPECT_TRUE(std::isnan(unknown.whole.queue_share));
  EXPECT_EQ(unknown.whole.queue_sum_ns, 0);
}

TEST(LaunchMetrics, WholeMicrosecondsWidenEveryNumber) {
  const LaunchReport report = analyze(TraceMaker()
                                          .call(1, "cudaLaunchKernel", 0, 1'000, 1)
                                          .call(1, "cudaLaunchKernel", 10'000, 1'000, 2)
                                          .kernel(0, 7, "a", 5'000, 1'000, 1)
                                          .kernel(0, 7, "b", 14'000, 6'000, 2)
                                          .whole_microseconds()
                                          .build());
  EXPECT_EQ(report.whole.tklqt_ns, 9'000);
  EXPECT_EQ(report.whole.tklqt_bracket.low_ns, 7'000);
  EXPECT_EQ(report.whole.tklqt_bracket.high_ns, 11'000);
  EXPECT_EQ(report.whole.gpu_idle_union_ns, 13'000);
  EXPECT_EQ(report.whole.gpu_idle_bracket.low_ns, 11'000);
  EXPECT_EQ(report.whole.gpu_idle_bracket.high_ns, 15'000);
  ASSERT_NE(find_note(report, "whole_microseconds"), nullptr);
}

// Two iterations and a launch between them; the kernel of the first runs into the second.
Trace two_iterations() {
  return TraceMaker()
      .op(1, "forward", 100, 300)
      .call(1, "cudaLaunchKernel", 200, 10, 1)
      .op(1, "between", 950, 20)
      .call(1, "cudaLaunchKernel", 960, 5, 2)
      .op(1, "forward", 1'100, 300)
      .call(1, "cudaLaunchKernel", 1'200, 10, 3)
      .kernel(0, 7, "a", 300, 900, 1)
      .kernel(0, 7, "x", 1'200, 100, 2)
      .kernel(0, 7, "a", 1'400, 300, 3)
      .build();
}

Windows two_windows() {
  return {WindowSource::kProfilerStep,
          {{"ProfilerStep#1", 0, 900},
           {"ProfilerStep#2", 1'000, 1'900},
           {"ProfilerStep#3", 2'000, 2'500}}};
}

TEST(LaunchMetrics, IterationsOwnWhatTheyLaunch) {
  const LaunchReport report = analyze(two_iterations(), two_windows());
  ASSERT_EQ(report.iterations.size(), 3u);
  const LaunchMetrics& first = report.iterations[0];
  const LaunchMetrics& second = report.iterations[1];
  EXPECT_EQ(first.name, "ProfilerStep#1");
  EXPECT_EQ(first.kernels, 1u);
  EXPECT_EQ(first.origin_ns, 100);
  EXPECT_EQ(first.il_ns, 1'100);
  EXPECT_EQ(first.tklqt_ns, 100);
  EXPECT_EQ(first.gpu_idle_union_ns, 200);
  EXPECT_EQ(first.gpu_idle_bracket.low_ns, 200);

  EXPECT_EQ(second.kernels, 1u);
  EXPECT_EQ(second.il_ns, 600);
  EXPECT_EQ(second.tklqt_ns, 200);
  EXPECT_EQ(second.gpu_idle_eq5_ns, 300);
  EXPECT_EQ(second.gpu_idle_union_ns, 300);
  // 1'100-1'300 was busy with the others' kernels.
  EXPECT_EQ(second.gpu_idle_bracket.low_ns, 100);
  EXPECT_EQ(second.gpu_idle_bracket.high_ns, 300);
  EXPECT_EQ(second.gpu_idle_bracket.reasons, "neighbour_kernels");

  EXPECT_EQ(report.iterations_without_kernels, 1u);
  EXPECT_EQ(report.kernels_outside_iterations, 1u);
  EXPECT_EQ(report.means.tklqt_ns.n, 2u);
  EXPECT_DOUBLE_EQ(report.means.tklqt_ns.mean, 150);
  // Half width t(0.975, 1) s / sqrt(2) = 12.7062 x 70.7107 / 1.41421.
  EXPECT_NEAR(report.means.tklqt_ns.high, 150 + 635.31, 5e-3);
  EXPECT_DOUBLE_EQ(report.means.il_ns.mean, 850);
  ASSERT_NE(find_note(report, "kernels_outside_iterations"), nullptr);
  EXPECT_EQ(find_note(report, "kernels_outside_iterations")->time_ns, 100);
  ASSERT_NE(find_note(report, "neighbour_kernels"), nullptr);
  EXPECT_EQ(find_note(report, "neighbour_kernels")->time_ns, 200);
}

TEST(LaunchMetrics, ARootThatSpansTheIterationsIsNotTheirOrigin) {
  TraceMaker maker;
  maker.op(1, "train", 0, 5'000)
      .call(1, "cudaLaunchKernel", 1'200, 10, 1)
      .kernel(0, 7, "a", 1'400, 300, 1);
  const LaunchReport report =
      analyze(maker.build(), {WindowSource::kRepeatedRoot, {{"step", 1'000, 2'000}}});
  EXPECT_EQ(report.whole.origin_ns, 0);
  EXPECT_EQ(report.iterations[0].origin, OriginSource::kEarliestLaunch);
  EXPECT_EQ(report.iterations[0].origin_ns, 1'200);
}

TEST(LaunchMetrics, AnInvertedWindowIsRefused) {
  const LaunchReport report = analyze(TraceMaker()
                                          .op(1, "aten::mm", 50'000, 500)
                                          .call(1, "cudaLaunchKernel", 50'100, 50, 1)
                                          .kernel(0, 7, "k", 1'000, 400, 1)
                                          .build());
  EXPECT_EQ(report.whole.il_ns, 0);
  EXPECT_EQ(report.whole.gpu_idle_union_ns, 0);
  EXPECT_TRUE(report.whole.gpu_idle_bracket.refused);
  EXPECT_TRUE(report.whole.tklqt_bracket.refused);
  EXPECT_EQ(report.whole.tklqt_bracket.reasons, "dropped_launches");
  EXPECT_NE(find_note(report, "inverted_window"), nullptr);
}

TEST(LaunchMetrics, TopKernelsByCountThenLaunchTimeThenName) {
  TraceMaker maker;
  uint32_t correlation = 0;
  const auto launch = [&](const char* name, int64_t t_l, int64_t dur) {
    ++correlation;
    const int64_t start = 10'000 * correlation;
    maker.call(1, "cudaLaunchKernel", start, 10, correlation)
        .kernel(0, 7, name, start + t_l, dur, correlation);
  };
  launch("rare_but_slow", 9'000, 100);
  launch("late", 200, 10);
  launch("late", 300, 30);
  launch("early", 100, 10);
  launch("early", 100, 10);
  launch("b_tie", 50, 5);
  launch("b_tie", 50, 5);
  launch("a_tie", 60, 5);
  launch("a_tie", 40, 5);
  maker.kernel(0, 7, "late", 200'000, 20, 999);
  const Trace trace = maker.build();
  const std::vector<TopKernel> top = analyze(trace).top_kernels;
  ASSERT_EQ(top.size(), 5u);
  EXPECT_EQ(top[0].name, "late");
  EXPECT_EQ(top[0].count, 3u);
  EXPECT_EQ(top[0].timed, 2u);
  EXPECT_EQ(top[0].launch_queue_sum_ns, 500);
  EXPECT_DOUBLE_EQ(top[0].launch_queue_mean_ns, 250);
  EXPECT_EQ(top[0].dur_sum_ns, 60);
  EXPECT_DOUBLE_EQ(top[0].dur_mean_ns, 20);
  EXPECT_EQ(top[1].name, "early");
  EXPECT_EQ(top[2].name, "a_tie");
  EXPECT_EQ(top[3].name, "b_tie");
  EXPECT_EQ(top[4].name, "rare_but_slow");
  LaunchOptions options;
  options.top_kernels = 2;
  const LaunchReport cut = analyze(trace, whole_trace(), options);
  EXPECT_EQ(cut.top_kernels.size(), 2u);
  EXPECT_EQ(cut.kernel_names, 5u);
}

// Kernels launched outside operators may run before the first operator, where IL begins: what of
// them lies before it cannot be taken off IL.
TEST(LaunchMetrics, KernelTimeIsCutAtTheStartOfIl) {
  const LaunchReport report = analyze(TraceMaker()
                                          .call(1, "cudaLaunchKernel", 0, 10, 1)
                                          .kernel(0, 7, "k", 100, 300, 1)
                                          .call(1, "cudaLaunchKernel", 20, 10, 2)
                                          .kernel(0, 7, "k", 900, 200, 2)
                                          .op(1, "aten::mul", 1000, 100)
                                          .call(1, "cudaLaunchKernel", 1010, 10, 3)
                                          .kernel(0, 7, "k", 1200, 50, 3)
                                          .build());
  ASSERT_EQ(report.whole.origin_ns, 1000);
  ASSERT_EQ(report.whole.il_ns, 250);
  ASSERT_EQ(report.top_kernels.size(), 1u);
  EXPECT_EQ(report.top_kernels[0].dur_sum_ns, 550);
  EXPECT_EQ(report.top_kernels[0].dur_in_il_ns, 100 + 50);
}

TEST(LaunchMetrics, SeveralDevicesAreSaid) {
  const LaunchReport report = analyze(TraceMaker()
                                          .call(1, "cudaLaunchKernel", 0, 10, 1)
                                          .call(1, "cudaLaunchKernel", 20, 10, 2)
                                          .kernel(0, 7, "a", 100, 100, 1)
                                          .kernel(1, 7, "a", 100, 100, 2)
                                          .build());
  ASSERT_NE(find_note(report, "several_devices"), nullptr);
  EXPECT_EQ(find_note(report, "several_devices")->count, 2u);
}

}  // namespace
}  // namespace assay
