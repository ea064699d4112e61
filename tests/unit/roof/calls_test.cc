#include "roof/calls.h"

#include <gtest/gtest.h>

#include <string>

#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::op_id;
using testing::TraceMaker;

void told(Trace& trace, std::string_view op, std::string_view dims, std::string_view types,
          std::string_view values = "") {
  trace.op_inputs.push_back({op_id(trace, op), trace.strings.intern(dims),
                             trace.strings.intern(types), StringId(0),
                             trace.strings.intern(values)});
}

RoofCalls calls_of(const Trace& trace) {
  const auto kernels = given_or_built_in({}, trace.strings, trace.activities.name);
  return find_roof_calls(trace, link_trace(trace), *kernels);
}

constexpr const char* kFloats = R"(["float","float","float"])";

TEST(RoofCalls, TheInnermostOperatorWithAModelOwnsTheKernel) {
  Trace trace = TraceMaker()
                    .op(1, "aten::linear", 0, 100)
                    .op(1, "aten::mm", 10, 80)
                    .op(1, "aten::resize_", 20, 50)
                    .call(1, "cudaLaunchKernel", 30, 5, 7)
                    .kernel(0, 7, "gemm", 200, 500, 7)
                    .build();
  told(trace, "aten::linear", "[[8,4],[2,4],[]]", kFloats);
  told(trace, "aten::mm", "[[8,4],[4,2]]", kFloats);
  told(trace, "aten::resize_", "[[8,2],[]]", R"(["float",""])");
  const RoofCalls found = calls_of(trace);
  ASSERT_EQ(found.calls.size(), 1U);
  EXPECT_EQ(found.calls[0].op, op_id(trace, "aten::mm"));
  EXPECT_EQ(found.calls[0].work.flop, 2 * 8 * 4 * 2);
  EXPECT_FALSE(found.calls[0].nested);
}

TEST(RoofCalls, WhatIsInsideIsNotCountedTwice) {
  Trace trace = TraceMaker()
                    .op(1, "aten::matmul", 0, 100)
                    .op(1, "aten::mm", 10, 20)
                    .call(1, "cudaLaunchKernel", 15, 5, 7)
                    .call(1, "cudaLaunchKernel", 50, 5, 8)
                    .kernel(0, 7, "gemm", 200, 500, 7)
                    .kernel(0, 7, "epilogue", 700, 10, 8)
                    .build();
  told(trace, "aten::matmul", "[[8,4],[4,2]]", kFloats);
  told(trace, "aten::mm", "[[8,4],[4,2]]", kFloats);
  const RoofCalls found = calls_of(trace);
  ASSERT_EQ(found.calls.size(), 2U);
  double flop = 0;
  for (const CallWork& call : found.calls) flop += call.work.flop;
  EXPECT_EQ(flop, 2 * 8 * 4 * 2);
}

TEST(RoofCalls, ACastInsideTakesNothingFromItsSum) {
  Trace trace = TraceMaker()
                    .op(1, "aten::sum", 0, 100)
                    .op(1, "aten::copy_", 10, 20)
                    .call(1, "cudaLaunchKernel", 15, 5, 7)
                    .call(1, "cudaLaunchKernel", 50, 5, 8)
                    .kernel(0, 7, "copy", 200, 500, 7)
                    .kernel(0, 7, "reduce", 700, 10, 8)
                    .build();
  told(trace, "aten::sum", "[[100]]", R"(["int"])");
  told(trace, "aten::copy_", "[[100],[100],[]]", R"(["long","int","Scalar"])");
  const RoofCalls found = calls_of(trace);
  ASSERT_EQ(found.calls.size(), 2U);
  for (const CallWork& call : found.calls) {
    if (call.op != op_id(trace, "aten::sum")) continue;
    EXPECT_EQ(call.work.read_bytes, 400);
  }
}

TEST(RoofCalls, EachKernelWithoutACallHasItsReason) {
  Trace trace = TraceMaker()
                    .op(1, "aten::strange", 0, 100)
                    .call(1, "cudaLaunchKernel", 15, 5, 7)
                    .op(1, "aten::mm", 100, 50)
                    .call(1, "cudaLaunchKernel", 115, 5, 8)
                    .call(1, "cudaLaunchKernel", 215, 5, 9)
                    .call(1, "cudaGraphLaunch", 315, 5, 10)
                    .kernel(0, 7, "a", 1000, 10, 7)
                    .kernel(0, 7, "b", 1010, 10, 8)
                    .kernel(0, 7, "c", 1020, 10, 9)
                    .kernel(0, 7, "d", 1030, 10, 10)
                    .kernel(0, 7, "e", 1040, 10, 99)
                    .build();
  const RoofCalls found = calls_of(trace);
  EXPECT_TRUE(found.calls.empty());
  EXPECT_EQ(found.why,
            (std::vector<NoWork>{NoWork::kNoModel, NoWork::kNoShapes, NoWork::kNoOperator,
                                 NoWork::kGraphReplay, NoWork::kNoLaunch}));
}

TEST(RoofCalls, AKernelsNameTellsHowFp32WasMultiplied) {
  Trace trace =
      TraceMaker()
          .op(1, "aten::mm", 0, 100)
          .call(1, "cudaLaunchKernel", 15, 5, 7)
          .kernel(0, 7, "cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4", 200, 500, 7)
          .build();
  told(trace, "aten::mm", "[[8,4],[4,2]]", kFloats);
  const RoofCalls found = calls_of(trace);
  ASSERT_EQ(found.calls.size(), 1U);
  EXPECT_EQ(found.calls[0].work.math, ElementType::kTf32);
}

TEST(ShapeWords, ThoseThatDifferAndTheTypeOfTheFirst) {
  const OpInputs inputs =
      read_op_inputs("[[2,3],[2,3],[],[4],[5],[6]]",
                     R"(["c10::Half","float","Scalar","float","float","float"])", "", "");
  EXPECT_EQ(shape_words(inputs), "2x[2,3] [4] [5] +1 fp16");
}

}  // namespace
}  // namespace assay
