#include "breakdown/overhead.h"

#include "breakdown/breakdown.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using assay::testing::TraceMaker;

BreakdownReport analyze(const Trace& trace, LevelDefinition definition = LevelDefinition::kAssay) {
  const Links links = link_trace(trace);
  const Windows windows = find_iterations(trace, links);
  BreakdownOptions options;
  options.definition = definition;
  auto report = analyze_breakdown(trace, links, windows, options);
  EXPECT_TRUE(report.has_value());
  return *std::move(report);
}

const KernelLevel& row_of(const Trace& trace, const BreakdownReport& report,
                          std::string_view name) {
  for (const KernelLevel& row : report.rows) {
    if (trace.text(row.kernel) == name) return row;
  }
  ADD_FAILURE() << "no kernel " << name;
  return report.rows.front();
}

// One launched kernel: call at t_l, kernel [t_ks, t_ke) on the stream.
void add(TraceMaker& maker, std::string_view name, int64_t t_l, int64_t t_ks, int64_t t_ke,
         uint32_t correlation, int64_t stream = 7) {
  maker.call(1, "cudaLaunchKernel", t_l, 1, correlation);
  maker.kernel(0, stream, name, t_ks, t_ke - t_ks, correlation);
}

// The vectors of spec/levels section 8, in tenths of their unit so that e's 62.5 is whole.
TraceMaker vectors() {
  TraceMaker maker;
  maker.op(1, "aten::all", 0, 1000);
  add(maker, "a", 0, 30, 100, 1);
  add(maker, "b", 40, 120, 200, 2);
  add(maker, "c", 250, 300, 420, 3);
  add(maker, "d", 260, 420, 500, 4);
  add(maker, "e", 600, 625, 700, 5);
  return maker;
}

TEST(Overhead, GivesTheWorkedLaunchOverheads) {
  const Trace trace = vectors().build();
  const BreakdownReport report = analyze(trace);
  struct Expected {
    const char* name;
    int64_t prep;
    int64_t call;
  };
  for (const Expected& e :
       {Expected{"b", 0, 20}, Expected{"c", 50, 50}, Expected{"d", 0, 0}, Expected{"e", 100, 25}}) {
    const KernelLevel& row = row_of(trace, report, e.name);
    EXPECT_TRUE(row.timed) << e.name;
    EXPECT_EQ(row.prep_ns, e.prep) << e.name;
    EXPECT_EQ(row.call_ns, e.call) << e.name;
    EXPECT_EQ(row.comm_wait_ns, 0) << e.name;
  }
  EXPECT_FALSE(row_of(trace, report, "a").timed) << "the first kernel has no predecessor";
  EXPECT_EQ(row_of(trace, report, "a").launch_ns(), 0);
}

TEST(Overhead, GivesTheWorkedOverlapRatios) {
  TraceMaker maker = vectors();
  add(maker, "ncclDevKernel_AllReduce_x", 1, 50, 150, 11, 20);
  add(maker, "ncclDevKernel_AllReduce_y", 2, 120, 180, 12, 21);
  add(maker, "ncclDevKernel_AllReduce_z", 3, 450, 480, 13, 20);
  const Trace trace = maker.build();
  const BreakdownReport report = analyze(trace);
  LevelSums all;
  const auto ratio = [&](const char* name) {
    LevelSums one;
    one.add(row_of(trace, report, name));
    all.add(one);
    return one.overlap_ratio();
  };
  EXPECT_NEAR(ratio("a"), 0.714286, 1e-6);
  EXPECT_NEAR(ratio("b"), 0.75, 1e-12);
  EXPECT_EQ(ratio("c"), 0);
  EXPECT_NEAR(ratio("d"), 0.375, 1e-12);
  EXPECT_EQ(ratio("e"), 0);
  EXPECT_EQ(all.overlap_ns, 140);
  EXPECT_EQ(all.dur_ns, 425);
  EXPECT_NEAR(all.overlap_ratio(), 0.329412, 1e-6);
}

TEST(Overhead, WaitForACollectiveIsNotLaunchOverhead) {
  TraceMaker maker;
  maker.op(1, "aten::all", 0, 1000);
  add(maker, "first", 0, 10, 100, 1);
  add(maker, "ncclDevKernel_AllReduce", 20, 90, 300, 2, 20);
  add(maker, "second", 110, 320, 400, 3);  // launched at 110, runs when the collective is done
  const Trace trace = maker.build();
  const KernelLevel row = row_of(trace, analyze(trace), "second");
  EXPECT_EQ(row.prep_ns, 0);
  EXPECT_EQ(row.comm_alone_ns, 10);  // 100 to 110: not launched yet
  EXPECT_EQ(row.comm_wait_ns, 190);  // 110 to 300
  EXPECT_EQ(row.call_ns, 20);        // 300 to 320
}

TEST(Overhead, LateHostIsTheCauseUnlessItWaitsForTheDevice) {
  TraceMaker late;
  late.op(1, "aten::all", 0, 1000);
  add(late, "first", 0, 10, 100, 1);
  add(late, "ncclDevKernel_AllReduce", 20, 90, 300, 2, 20);
  add(late, "second", 310, 320, 400, 3);
  const Trace free_host = late.build();
  const KernelLevel late_row = row_of(free_host, analyze(free_host), "second");
  EXPECT_EQ(late_row.comm_wait_ns, 0);
  EXPECT_EQ(late_row.comm_alone_ns, 200);  // 100 to 300: the GPU works, nothing waits for it
  EXPECT_EQ(late_row.prep_ns, 10);         // 300 to 310
  EXPECT_EQ(late_row.call_ns, 10);         // 310 to 320

  TraceMaker blocked;
  blocked.op(1, "aten::all", 0, 1000);
  add(blocked, "first", 0, 10, 100, 1);
  add(blocked, "ncclDevKernel_AllReduce", 20, 90, 300, 2, 20);
  blocked.call(1, "cudaStreamSynchronize", 50, 255, 9);
  add(blocked, "second", 310, 320, 400, 3);
  const Trace waiting_host = blocked.build();
  const KernelLevel row = row_of(waiting_host, analyze(waiting_host), "second");
  EXPECT_EQ(row.comm_wait_ns, 200);  // 100 to 300, all of it in the blocking call
  EXPECT_EQ(row.other_idle_ns, 5);   // 300 to 305: the call has not returned
  EXPECT_EQ(row.prep_ns, 5);         // 305 to 310
}

TEST(Overhead, ConcurrentStreamsUseTheLatestEndSoFar) {
  TraceMaker maker;
  maker.op(1, "aten::all", 0, 1000);
  add(maker, "long", 0, 10, 500, 1, 7);
  add(maker, "short", 5, 20, 60, 2, 8);
  add(maker, "next", 30, 100, 600, 3, 8);  // after "short" ended, beside "long"
  const Trace trace = maker.build();
  const BreakdownReport report = analyze(trace);
  const KernelLevel& next = row_of(trace, report, "next");
  EXPECT_EQ(next.launch_ns(), 0) << "a gap after the previous row is no bubble of the GPU";
  EXPECT_EQ(next.concurrent_ns, 400);
  EXPECT_EQ(report.spans.at(0).span_ns, 590);
}

TEST(Overhead, CopiesAreNeitherComputeNorLaunchOverhead) {
  TraceMaker maker;
  maker.op(1, "aten::all", 0, 1000);
  add(maker, "first", 0, 10, 100, 1);
  maker.call(1, "cudaMemcpyAsync", 20, 1, 2);
  maker.copy(0, 7, "Memcpy DtoD (Device -> Device)", 110, 60, 2);
  add(maker, "second", 30, 180, 200, 3);
  const Trace trace = maker.build();
  const BreakdownReport report = analyze(trace);
  const KernelLevel& row = row_of(trace, report, "second");
  EXPECT_EQ(row.launch_ns(), 20);  // 100 to 110 and 170 to 180
  EXPECT_EQ(row.copy_ns, 60);
  EXPECT_EQ(report.spans.at(0).span_ns, 190);  // 90 + 20 + 60 + 20
  EXPECT_FALSE(row_of(trace, report, "Memcpy DtoD (Device -> Device)").compute);
}

// The only compute kernel runs from 200 to 300. Outside: copies 0 to 150 and 300 to 400, a
// collective 380 to 500, of which 20 lie beside a copy and count once.
TEST(Overhead, ActivitiesOutsideTheSpanAreSeparate) {
  TraceMaker maker;
  maker.op(1, "aten::all", 0, 1000);
  maker.copy(0, 8, "Memcpy HtoD (Pageable -> Device)", 0, 150, 1);
  add(maker, "only", 160, 200, 300, 2);
  maker.copy(0, 8, "Memcpy DtoH (Device -> Pageable)", 280, 120, 3);
  add(maker, "ncclDevKernel_AllReduce", 170, 380, 500, 4, 20);
  const Trace trace = maker.build();
  const BreakdownReport report = analyze(trace);
  ASSERT_EQ(report.extents.size(), 1u);
  EXPECT_EQ(report.spans.at(0).span_ns, 100);
  EXPECT_EQ(report.extents[0].copy_outside_ns, 230);  // 150 and, beside no collective, 300 to 380
  EXPECT_EQ(report.extents[0].comm_outside_ns, 120);
}

// Transposes, casts and concatenations run on the compute units: 90 + 60 + 20 of 190 are kernels.
TEST(Overhead, KernelsThatMoveDataAreKernels) {
  TraceMaker maker;
  maker.op(1, "aten::all", 0, 1000);
  add(maker, "first", 0, 10, 100, 1);
  add(maker, "batched_transpose_16x32_half", 20, 110, 170, 2);
  add(maker, "second", 30, 180, 200, 3);
  const Trace trace = maker.build();
  const BreakdownReport report = analyze(trace);
  const KernelLevel& moved = row_of(trace, report, "batched_transpose_16x32_half");
  EXPECT_TRUE(moved.compute);
  EXPECT_NE(moved.op_type, OpType::kCopy);
  const LevelSums& sums = report.spans.at(0).compute;
  EXPECT_EQ(sums.dur_ns, 170);
  EXPECT_EQ(sums.launch_ns, 20);
  EXPECT_EQ(sums.copy_ns, 0);
}

// The second kernel is handed over at 120 us and begins at 1,000 us on an idle device: what kept it
// is not recorded, and beyond what a launch takes it is no launch overhead.
TEST(Overhead, IdleTimeOfOtherCausesIsNotLaunchOverhead) {
  TraceMaker maker;
  maker.op(1, "aten::all", 0, 1'000'000);
  add(maker, "first", 0, 5'000, 100'000, 1);
  add(maker, "second", 120'000, 1'000'000, 1'100'000, 2);
  const Trace trace = maker.build();
  const BreakdownReport report = analyze(trace);
  const KernelLevel& row = row_of(trace, report, "second");
  EXPECT_EQ(row.prep_ns, 20'000);
  EXPECT_GT(row.other_idle_ns, 800'000);
  EXPECT_EQ(row.launch_ns() + row.other_idle_ns, 900'000);
  EXPECT_EQ(report.idle_ns[static_cast<size_t>(FlowCause::kUnseen)], row.other_idle_ns);
}

// Without a launch record nothing tells that a launch was waited for.
TEST(Overhead, FilesWithoutLaunchesHaveNoLaunchOverhead) {
  TraceMaker maker;
  maker.kernel(0, 7, "first", 0, 100, 0).kernel(0, 7, "second", 400, 100, 0);
  const Trace trace = maker.build();
  const BreakdownReport report = analyze(trace);
  const KernelLevel& row = row_of(trace, report, "second");
  EXPECT_EQ(row.launch_ns(), 0);
  EXPECT_EQ(row.other_idle_ns, 300);
  EXPECT_EQ(report.idle_ns[static_cast<size_t>(FlowCause::kNoEvidence)], 300);
}

TEST(Overhead, ChopperBooksTheWaitForACollectiveAsLaunchOverhead) {
  TraceMaker maker;
  maker.op(1, "aten::all", 0, 1000);
  add(maker, "first", 0, 10, 100, 1);
  add(maker, "ncclDevKernel_AllReduce", 20, 90, 300, 2, 20);
  add(maker, "second", 110, 320, 400, 3);
  const Trace trace = maker.build();
  const BreakdownReport report = analyze(trace, LevelDefinition::kChopper);
  const KernelLevel& row = row_of(trace, report, "second");
  EXPECT_EQ(row.prep_ns, 10);
  EXPECT_EQ(row.call_ns, 210);
  EXPECT_EQ(row.comm_wait_ns, 0);
  const KernelLevel& first = row_of(trace, report, "first");
  EXPECT_EQ(first.call_ns, 10);  // of the first row of an iteration: t_ks - t_l
  EXPECT_EQ(first.prep_ns, 0);
}

// Calls alone were recorded: of the gap of 200 ms between them nothing tells that the host was on
// its way to a launch. An operator shows that the host was recorded, and the time beside it is the
// launch's.
TEST(Overhead, UnrecordedHostIsNotLaunchOverhead) {
  for (const bool host_told : {false, true}) {
    TraceMaker maker;
    if (host_told) maker.op(1, "aten::mm", 0, 40'000);
    maker.call(1, "cudaLaunchKernel", 10'000, 5'000, 1).kernel(0, 7, "first", 20'000, 50'000, 1);
    maker.call(1, "cudaLaunchKernel", 200'000'000, 5'000, 2);
    maker.kernel(0, 7, "second", 200'010'000, 50'000, 2);
    const Trace trace = maker.build();
    const BreakdownReport report = analyze(trace);
    const KernelLevel& row = row_of(trace, report, "second");
    const int64_t gap_ns = 200'000'000 - 70'000;
    EXPECT_EQ(row.prep_ns, host_told ? gap_ns : 0);
    EXPECT_EQ(row.other_idle_ns, host_told ? 0 : gap_ns);
    EXPECT_EQ(row.call_ns, 10'000);
    EXPECT_EQ(report.idle_ns[static_cast<size_t>(FlowCause::kHostGap)], host_told ? 0 : gap_ns);
  }
}

TEST(Overhead, OperationDurationHoldsTheBubblesInsideIt) {
  TraceMaker maker;
  maker.op(1, "aten::mm", 0, 50).op(1, "aten::add", 60, 40);
  add(maker, "k1", 1, 10, 100, 1);
  add(maker, "k2", 20, 130, 200, 2);  // same operation: 30 between
  add(maker, "k3", 70, 240, 300, 3);  // another one
  const Trace trace = maker.build();
  const BreakdownReport report = analyze(trace);
  for (const LevelCell& cell : report.cells) {
    if (report.op_names[cell.op] == "aten::mm") {
      EXPECT_EQ(cell.sums.op_dur_ns, 190);
    }
    if (report.op_names[cell.op] == "aten::add") {
      EXPECT_EQ(cell.sums.op_dur_ns, 60);
    }
  }
}

}  // namespace
}  // namespace assay
