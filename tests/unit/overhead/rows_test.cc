#include <gtest/gtest.h>

#include "overhead/unique_kernels.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

const Windows kWhole = {WindowSource::kWholeTrace, {{"whole trace", INT64_MIN, INT64_MAX}}, 0};

HostOverheadRows rows_of(const Trace& trace, const HostOverheadOptions& options = {}) {
  return extract_overhead_rows(trace, link_trace(trace), kWhole, options);
}

TEST(HostOverheadRows, TimesRunFromFrameToOperatorToCallToKernel) {
  const Trace trace = TraceMaker()
                          .frame(1, "module.py(1): <module>", 0, 1000)
                          .frame(1, "nn.Module: Linear_0", 100, 500)
                          .op(1, "aten::linear", 130, 300)
                          .op(1, "aten::addmm", 150, 200)
                          .call(1, "cudaLaunchKernel", 190, 20, 7)
                          .kernel(0, 7, "sgemm", 240, 90, 7)
                          .build();
  const HostOverheadRows extracted = rows_of(trace);
  ASSERT_EQ(extracted.rows.size(), 1u);
  const HostOverheadRow& row = extracted.rows[0];
  EXPECT_EQ(row.op, testing::op_id(trace, "aten::addmm"));
  EXPECT_EQ(row.cost.t_py_ns, 50);
  EXPECT_EQ(row.cost.t_dispatch_ns, 40);
  EXPECT_EQ(row.cost.t_launch_ns, 50);
  EXPECT_EQ(row.cost.dur_ns, 90);
  EXPECT_EQ(row.entry_ns, 150);
  EXPECT_EQ(row.root_ns, 0);
  EXPECT_TRUE(row.single_launch);
  EXPECT_FALSE(row.follower);
  EXPECT_FALSE(row.without_py);
}

TEST(HostOverheadRows, TheInnermostOuterOperatorOtherThanAtenStartsPythonIfFramesAreMissing) {
  const Trace trace = TraceMaker()
                          .op(1, "autograd::engine::evaluate_function: MmBackward0", 0, 500)
                          .op(1, "MmBackward0", 20, 400)
                          .op(1, "aten::mm", 50, 300)
                          .call(1, "cudaLaunchKernel", 60, 5, 1)
                          .kernel(0, 7, "k", 70, 5, 1)
                          .build();
  EXPECT_EQ(rows_of(trace).rows[0].cost.t_py_ns, 30);
  EXPECT_EQ(rows_of(trace).rows[0].root_ns, 0);
}

// An operator of 250 within another one that began 30 before it: what the 30 are.
HostOverheadRow row_within(const char* outer, const char* other = "aten::add") {
  const Trace trace = TraceMaker()
                          .op(1, outer, 20, 400)
                          .op(1, "aten::mm", 50, 300)
                          .op(1, other, 600, 10)
                          .call(1, "cudaLaunchKernel", 60, 5, 1)
                          .kernel(0, 7, "k", 70, 5, 1)
                          .build();
  return rows_of(trace).rows[0];
}

// Each moment charged once: as printed T_Py stays what it is.
TEST(HostOverheadRows, TimeOfTheBackwardEngineIsNotPython) {
  for (const char* outer : {"MmBackward0", "torch::autograd::AccumulateGrad", "ClampBackward1",
                            "autograd::engine::evaluate_function: MmBackward0"}) {
    const HostOverheadRow row = row_within(outer);
    EXPECT_EQ(row.entry_ns, 20) << outer;
    EXPECT_EQ(row.py_ns, 20) << outer;
    EXPECT_EQ(row.cost.t_py_ns, 30) << outer;
  }
  // Before nodes were numbered, names without a number are the engine's as well.
  EXPECT_EQ(row_within("MmBackward").entry_ns, 20);
}

TEST(HostOverheadRows, FunctionsOfABackwardPassInPythonArePython) {
  EXPECT_EQ(row_within("CheckpointFunctionBackward", "MmBackward0").entry_ns, 50);
  EXPECT_EQ(row_within("CheckpointFunctionBackward", "MmBackward0").py_ns, 20);
  for (const char* outer : {"Optimizer.step#SGD.step", "## Backward ##", "Backward"}) {
    EXPECT_EQ(row_within(outer).entry_ns, 50) << outer;
  }
}

TEST(HostOverheadRows, ACustomOperatorIsItsOwnEntryUnlessAtenIsAroundIt) {
  const Trace trace = TraceMaker()
                          .op(1, "vllm::rms_norm", 0, 50)
                          .call(1, "cuLaunchKernel", 10, 5, 1)
                          .op(1, "aten::conv", 100, 90)
                          .op(1, "mylib::inner", 120, 50)
                          .call(1, "cuLaunchKernel", 130, 5, 2)
                          .kernel(0, 7, "a", 20, 5, 1)
                          .kernel(0, 7, "b", 140, 5, 2)
                          .build();
  const HostOverheadRows extracted = rows_of(trace);
  EXPECT_EQ(extracted.rows[0].op, testing::op_id(trace, "vllm::rms_norm"));
  EXPECT_TRUE(extracted.rows[0].without_py);
  EXPECT_EQ(extracted.rows[1].op, testing::op_id(trace, "aten::conv"));
  EXPECT_EQ(extracted.rows[1].cost.t_dispatch_ns, 30);
}

TEST(HostOverheadRows, StepsFiledAsOperatorsAreNeitherEntryNorPython) {
  const Trace trace = TraceMaker()
                          .op(1, "ProfilerStep#3", 0, 1000)
                          .op(1, "aten::add", 100, 50)
                          .call(1, "cudaLaunchKernel", 110, 5, 1)
                          .call(1, "cudaLaunchKernel", 400, 5, 2)
                          .kernel(0, 7, "a", 120, 5, 1)
                          .kernel(0, 7, "b", 410, 5, 2)
                          .build();
  const HostOverheadRows extracted = rows_of(trace);
  EXPECT_TRUE(extracted.rows[0].without_py);
  EXPECT_EQ(extracted.rows[0].cost.t_py_ns, 0);
  EXPECT_EQ(extracted.rows[0].root_ns, 100);
  EXPECT_FALSE(extracted.rows[1].has_entry());
}

TEST(HostOverheadRows, AnOperatorWithSeveralLaunchesIsMarkedAndEveryLaunchMeasuredFromItsStart) {
  const Trace trace = TraceMaker()
                          .op(1, "aten::outer", 0, 100)
                          .call(1, "cudaMemsetAsync", 5, 5, 1)
                          .op(1, "aten::inner", 20, 30)
                          .call(1, "cudaLaunchKernel", 25, 5, 2)
                          .call(1, "cudaLaunchKernel", 60, 5, 3)
                          .memset(0, 7, "Memset", 6, 1, 1)
                          .kernel(0, 7, "a", 40, 5, 2)
                          .kernel(0, 7, "b", 70, 5, 3)
                          .build();
  const HostOverheadRows extracted = rows_of(trace);
  ASSERT_EQ(extracted.rows.size(), 2u);
  EXPECT_EQ(extracted.copies_left_out, 1u);
  EXPECT_EQ(extracted.rows[0].cost.t_dispatch_ns, 5);
  EXPECT_TRUE(extracted.rows[0].single_launch);
  EXPECT_EQ(extracted.rows[1].cost.t_dispatch_ns, 60);
  EXPECT_FALSE(extracted.rows[1].single_launch);
  EXPECT_EQ(rows_of(trace, {.count_copies = true}).rows.size(), 3u);
}

TEST(HostOverheadRows, OnlyTheFirstKernelOfAGraphLaunchIsPaidFor) {
  const Trace trace = TraceMaker()
                          .op(1, "graph", 0, 100)
                          .call(1, "cudaGraphLaunch", 10, 50, 1)
                          .kernel(0, 7, "second", 60, 5, 1)
                          .kernel(0, 7, "first", 30, 5, 1)
                          .build();
  const HostOverheadRows extracted = rows_of(trace);
  EXPECT_EQ(trace.text(trace.activities.name[extracted.rows[0].kernel.index()]), "first");
  EXPECT_EQ(extracted.rows[0].cost.t_launch_ns, 20);
  EXPECT_EQ(extracted.rows[0].cost.unpaid, 0u);
  EXPECT_TRUE(extracted.rows[1].follower);
  EXPECT_EQ(extracted.rows[1].cost.unpaid, 1u);
  EXPECT_EQ(extracted.rows[1].cost.t_launch_ns, std::nullopt);
  EXPECT_EQ(extracted.rows[1].cost.t_dispatch_ns, 0);
}

TEST(HostOverheadRows, ClockNoiseIsClampedAndMoreIsDropped) {
  const auto row_at = [](int64_t kernel_ns) {
    const Trace trace = TraceMaker()
                            .call(1, "cudaLaunchKernel", 100'000, 5, 1)
                            .kernel(0, 7, "k", kernel_ns, 5, 1)
                            .build();
    return rows_of(trace).rows[0];
  };
  EXPECT_EQ(row_at(90'001).cost.t_launch_ns, 0);
  EXPECT_TRUE(row_at(90'001).launch_clamped);
  EXPECT_EQ(row_at(90'000).cost.t_launch_ns, std::nullopt);
  EXPECT_TRUE(row_at(90'000).launch_dropped);
  EXPECT_EQ(row_at(100'000).cost.t_launch_ns, 0);
  EXPECT_FALSE(row_at(100'000).launch_clamped);
}

TEST(HostOverheadRows, RangesReplaceOperatorsInATraceWithoutThem) {
  const Trace trace = TraceMaker()
                          .annotation(1, "step", 0, 1000)
                          .annotation(1, "layer", 50, 200)
                          .annotation(2, "elsewhere", 60, 200)
                          .call(1, "cudaLaunchKernel", 80, 5, 1)
                          .call(1, "cudaLaunchKernel", 600, 5, 2)
                          .kernel(0, 7, "a", 90, 5, 1)
                          .kernel(0, 7, "b", 700, 5, 2)
                          .build();
  const HostOverheadRows extracted = rows_of(trace);
  EXPECT_TRUE(extracted.ranges_as_ops);
  EXPECT_EQ(extracted.rows[0].range, testing::annotation_id(trace, "layer"));
  EXPECT_EQ(extracted.rows[0].cost.t_dispatch_ns, 30);
  EXPECT_EQ(extracted.rows[0].cost.t_py_ns, 50);
  EXPECT_EQ(extracted.rows[1].range, testing::annotation_id(trace, "step"));
  EXPECT_TRUE(extracted.rows[1].without_py);
}

TEST(HostOverheadRows, RangesFiledAsOperatorsAreReportedUnlessAFrameworkMadeThem) {
  const auto ranges = [](std::string_view name) {
    Trace trace = TraceMaker()
                      .op(1, name, 0, 100)
                      .call(1, "cudaLaunchKernel", 10, 5, 1)
                      .kernel(0, 7, "k", 20, 5, 1)
                      .build();
    trace.tracer = Tracer::kNsightSystems;
    return rows_of(trace).ranges_as_ops;
  };
  EXPECT_TRUE(ranges("solver step"));
  EXPECT_FALSE(ranges("aten::mm"));
}

TEST(HostOverheadRows, OrphansLieInTheWindowInWhichTheyRun) {
  const Trace trace = TraceMaker()
                          .call(1, "cudaLaunchKernel", 80, 5, 1)
                          .kernel(0, 7, "late", 150, 5, 1)
                          .kernel(0, 7, "orphan", 120, 5, 99)
                          .build();
  const Windows windows = {WindowSource::kLabel, {{"a", 0, 100}, {"b", 100, 200}}, 0};
  const HostOverheadRows extracted = extract_overhead_rows(trace, link_trace(trace), windows, {});
  EXPECT_EQ(trace.text(trace.activities.name[extracted.rows[0].kernel.index()]), "late");
  EXPECT_EQ(extracted.rows[0].window, 0u);
  EXPECT_EQ(extracted.rows[1].window, 1u);
  EXPECT_EQ(extracted.rows[1].cost.unpaid, 1u);
  EXPECT_FALSE(extracted.rows[1].owns_call());
}

TEST(UniqueKernels, DifferByCleanedNameAndShape) {
  TraceMaker maker;
  maker.call(1, "cudaLaunchKernel", 0, 1, 1).kernel(0, 7, "void f<int>(int)", 10, 5, 1);
  maker.call(1, "cudaLaunchKernel", 1, 1, 2).kernel(0, 7, "void f<float>(float)", 20, 5, 2);
  maker.call(1, "cudaLaunchKernel", 2, 1, 3).kernel(0, 7, "void g<int>(int)", 30, 5, 3);
  maker.call(1, "cudaLaunchKernel", 3, 1, 4).kernel(0, 7, "void f<int>(int)", 40, 5, 4);
  Trace trace = maker.build();
  trace.kernel_shapes.push_back({.activity = ActivityId(3), .grid_x = 2});
  const std::vector<HostOverheadRow> rows = rows_of(trace).rows;
  const std::vector<UniqueKernel> kernels = group_unique_kernels(trace, rows);
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].name, "f");
  EXPECT_EQ(kernels[0].rows, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(kernels[1].name, "g");
  EXPECT_EQ(kernels[2].name, "f");
  EXPECT_EQ(kernels[2].shape.grid[0], 2u);
}

}  // namespace
}  // namespace assay
