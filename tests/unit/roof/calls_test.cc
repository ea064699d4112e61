#include "roof/calls.h"

#include <gtest/gtest.h>

#include <string>

#include "support/flat_launch.h"
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

TEST(RoofCalls, NestedWorkIsNotCountedTwice) {
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

// A graph's launch inside an operator that nobody models, as compiled regions are: its kernels are
// replays, whatever the operator is.
TEST(RoofCalls, AGraphInsideAnOperatorIsAReplay) {
  Trace trace = TraceMaker()
                    .op(1, "Torch-Compiled Region: 0/0", 0, 100)
                    .call(1, "cudaGraphLaunch", 15, 5, 7)
                    .kernel(0, 7, "a", 1000, 10, 7)
                    .build();
  const RoofCalls found = calls_of(trace);
  EXPECT_EQ(found.why, (std::vector<NoWork>{NoWork::kGraphReplay}));
  EXPECT_EQ(found.innermost[0], op_id(trace, "Torch-Compiled Region: 0/0"));
}

TEST(RoofCalls, BoundsAreKeptApartFromWhatIsKnown) {
  Trace trace = TraceMaker()
                    .op(1, "_C::paged_attention_v1", 0, 100)
                    .call(1, "cudaLaunchKernel", 15, 5, 7)
                    .kernel(0, 7, "a", 1000, 10, 7)
                    .build();
  told(trace, "_C::paged_attention_v1",
       "[[3,4,8],[3,4,8],[50,2,1,16,8],[50,2,8,16],[],[],[3,9],[3],[],[]]",
       R"(["c10::Half","c10::Half","c10::Half","c10::Half"])",
       R"(["","","","","2","0.1","","","16","20"])");
  const RoofCalls found = calls_of(trace);
  EXPECT_TRUE(found.calls.empty());
  EXPECT_EQ(found.why, (std::vector<NoWork>{NoWork::kBounds}));
  ASSERT_EQ(found.bounds.size(), 1U);
  EXPECT_EQ(found.bound, (std::vector<uint32_t>{0}));
  EXPECT_EQ(found.bounds[0].most.flop, 20 * found.bounds[0].least.flop);
}

// The convolution's number stands at the operator around it; the node that undid it has the
// gradient. Two nodes of one number with other sizes, as of two threads, tell nothing.
TEST(RoofCalls, AConvolutionsResultIsAsLargeAsItsGradient) {
  for (const bool ambiguous : {false, true}) {
    Trace trace = TraceMaker()
                      .op(1, "aten::_convolution", 0, 100)
                      .op(1, "aten::cudnn_convolution", 10, 50)
                      .call(1, "cudaLaunchKernel", 15, 5, 7)
                      .op(2, "CudnnConvolutionBackward", 500, 50)
                      .op(2, "ConvolutionBackward0", 600, 50)
                      .kernel(0, 7, "conv", 1000, 10, 7)
                      .build();
    told(trace, "aten::cudnn_convolution", "[[2,3,8,8],[4,3,3,3],[]]", kFloats);
    told(trace, "CudnnConvolutionBackward", "[[2,4,6,6]]", kFloats);
    told(trace, "ConvolutionBackward0", "[[2,4,8,8]]", kFloats);
    trace.op_sequences.push_back({op_id(trace, "aten::_convolution"), 5, 0});
    trace.op_sequences.push_back({op_id(trace, "CudnnConvolutionBackward"), 5, 1});
    trace.op_sequences.push_back({op_id(trace, "ConvolutionBackward0"), ambiguous ? 5 : 6, 1});
    const RoofCalls found = calls_of(trace);
    ASSERT_EQ(found.calls.size(), ambiguous ? 0U : 1U);
    if (!ambiguous) {
      EXPECT_EQ(found.calls[0].work.flop, 2.0 * 2 * 4 * 36 * 27);
    }
  }
}

TEST(RoofCalls, KernelNameShowsHowFp32WasMultiplied) {
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

// Two lookups with ten bags of one table each; nodes come back in their order, and what each makes
// is as long as the indices of its own.
TEST(RoofCalls, NodeOfALookupIsMatchedByTheLengthOfItsIndices) {
  const char* const kLookup = "fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function";
  const char* const kNode = "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>";
  Trace trace = TraceMaker()
                    .op(1, kLookup, 0, 100)
                    .op(1, "other", 100, 1)
                    .op(1, kLookup, 200, 100)
                    .op(2, kNode, 400, 100)
                    .op(2, "aten::empty_like", 410, 10)
                    .call(2, "cudaLaunchKernel", 430, 5, 7)
                    .kernel(0, 7, "split_embedding_backward", 1'000, 500, 7)
                    .build();
  const auto lookup = [&trace](uint32_t op, const std::string& indices) {
    const std::string dims = "[[0],[96000],[0],[0,0],[1],[1],[2],[],[],[2],[],[" + indices +
                             "],[11],[],[],[],[0],[],[],[],[1000],[0]]";
    trace.op_inputs.push_back(
        {OpId(op), trace.strings.intern(dims),
         trace.strings.intern(
             R"(["float","float","float","float","int","long","int","","","long","",)"
             R"("long","long","","","","int","","","","float","float"])"),
         StringId(0), StringId(0)});
  };
  lookup(0, "600");
  lookup(2, "700");
  told(trace, kNode, "[[10,96]]", kFloats);
  told(trace, "aten::empty_like", "[[700],[]]", R"(["long",""])");
  const RoofCalls found = calls_of(trace);
  ASSERT_EQ(found.bounds.size(), 1U);
  EXPECT_EQ(found.why[0], NoWork::kBounds);
  EXPECT_EQ(found.bounds[0].op, op_id(trace, kNode));
  EXPECT_EQ(found.bounds[0].least.read_bytes, 10 * 96 * 4 + (700 + 11) * 8 + 16);
  // Without what it makes both fit, and none is taken.
  trace.op_inputs.dims.back() = trace.strings.intern("[[5],[]]");
  EXPECT_EQ(calls_of(trace).why[0], NoWork::kUntold);
}

// Without shapes, name and grid tell bounds, of launches outside operators too.
TEST(RoofCalls, GridsReplaceMissingOperators) {
  const char* const kAdd =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
      "at::detail::Array<char*, 3> >(int)";
  Trace trace = TraceMaker()
                    .op(1, "aten::add", 0, 100)
                    .call(1, "cudaLaunchKernel", 30, 5, 7)
                    .kernel(0, 7, kAdd, 200, 500, 7)
                    .kernel(0, 7, kAdd, 800, 500, 9)
                    .build();
  for (uint32_t a = 0; a < 2; ++a) {
    testing::add_flat_launch(trace, a, 10);
  }
  const RoofCalls found = calls_of(trace);
  EXPECT_EQ(found.why[0], NoWork::kBounds);
  EXPECT_EQ(found.why[1], NoWork::kBounds);
  ASSERT_EQ(found.bounds.size(), 2U);  // one of an operator's name
  EXPECT_FALSE(found.bounds[0].op);
  EXPECT_EQ(found.bounds[0].most.bytes(), 10 * 512 * 12);
  trace.kernel_shapes.grid_y[1] = 2;
  EXPECT_EQ(calls_of(trace).why[1], NoWork::kNoLaunch);
}

// A newer PyTorch takes 4 to 16 elements a thread. A launch of the same kernel over 5,000 recorded
// elements needs 5 blocks of 128 threads with 8 each, 10 with 4, 3 with 16; its result of two bytes
// is the lambda's. So 10 blocks of it, whose launch was not recorded, are 9,217 to 10,240 elements.
TEST(RoofCalls, SameKernelOverKnownSizesShowsElementsPerThread) {
  const char* const kCopy =
      "void at::native::vectorized_elementwise_kernel<4, at::native::copy(at::TensorIterator&)::"
      "{lambda(float)#1}, std::array<char*, 2ul> >(int)";
  const auto made = [&](uint32_t blocks) {
    Trace trace = TraceMaker()
                      .op(1, "aten::copy_", 0, 100)
                      .call(1, "cudaLaunchKernel", 30, 5, 7)
                      .kernel(0, 7, kCopy, 200, 500, 7)
                      .kernel(0, 7, kCopy, 800, 500, 9)
                      .build();
    told(trace, "aten::copy_", "[[50,100],[50,100],[]]", R"(["c10::BFloat16","float","Scalar"])");
    for (const auto& [a, grid] : {std::pair{0U, blocks}, {1U, uint32_t{10}}}) {
      testing::add_flat_launch(trace, a, grid);
    }
    return trace;
  };
  const RoofCalls found = calls_of(made(5));
  EXPECT_EQ(found.why[0], NoWork::kKnown);
  ASSERT_EQ(found.bounds.size(), 1U);
  EXPECT_TRUE(found.bounds[0].shown);
  EXPECT_EQ(found.bounds[0].choices.size(), 1U);
  EXPECT_EQ(found.bounds[0].least.bytes(), (9 * 1024 + 1) * 6);
  EXPECT_EQ(found.bounds[0].most.bytes(), 10 * 1024 * 6);
  // A grid that none of the three makes of these sizes shows nothing.
  const RoofCalls odd = calls_of(made(7));
  ASSERT_EQ(odd.bounds.size(), 1U);
  EXPECT_FALSE(odd.bounds[0].shown);
  EXPECT_EQ(odd.bounds[0].choices.size(), 3U);
  EXPECT_EQ(odd.bounds[0].most.bytes(), 10 * 2048 * 12);
}

// A profiler that wrote no types at all: what a product multiplies is of the type in the kernel's
// name. Where others are told, none is filled in, and a sum may be of several.
TEST(RoofCalls, KernelShowsTheTypeOfProductsWithoutTypes) {
  Trace trace = TraceMaker()
                    .op(1, "aten::mm", 0, 100)
                    .op(1, "aten::add", 200, 100)
                    .call(1, "cudaLaunchKernel", 30, 5, 7)
                    .call(1, "cudaLaunchKernel", 230, 5, 8)
                    .kernel(0, 7, "volta_sgemm_128x64_nn", 500, 500, 7)
                    .kernel(0, 7, "add<float>", 1'500, 500, 8)
                    .build();
  told(trace, "aten::mm", "[[8,4],[4,2]]", "[]");
  told(trace, "aten::add", "[[8,4],[8,4],[]]", "[]");
  const RoofCalls found = calls_of(trace);
  ASSERT_EQ(found.calls.size(), 1U);
  EXPECT_EQ(found.calls[0].work.flop, 2 * 8 * 4 * 2);
  EXPECT_EQ(found.calls[0].work.bytes(), (8 * 4 + 4 * 2 + 8 * 2) * 4);
  EXPECT_EQ(found.why[1], NoWork::kUntold);
  trace.op_inputs.types[0] = trace.strings.intern(R"(["strange","strange"])");
  EXPECT_EQ(calls_of(trace).why[0], NoWork::kUntold);
}

// Norms in single precision have parameters of no other type, in half they may. A kernel that
// streams contiguous tensors says the type of all.
TEST(RoofCalls, KernelShowsTheTypeOfNormsAndStreamsWithoutTypes) {
  for (const std::string type : {"float", "__half"}) {
    Trace trace =
        TraceMaker()
            .op(1, "aten::cudnn_batch_norm", 0, 100)
            .op(1, "aten::add_", 200, 100)
            .call(1, "cudaLaunchKernel", 30, 5, 7)
            .call(1, "cudaLaunchKernel", 230, 5, 8)
            .kernel(0, 7, "bn_fw_tr_1C11_kernel_NCHW<" + type + ", float, 512, true, 1>", 500, 9, 7)
            .kernel(0, 7,
                    "void at::native::vectorized_elementwise_kernel<4, "
                    "at::native::AddFunctor<long>, at::detail::Array<char*, 3> >(int)",
                    1'500, 500, 8)
            .build();
    told(trace, "aten::cudnn_batch_norm", "[[2,4,8,8],[4],[4],[4],[4],[],[],[]]", "[]");
    told(trace, "aten::add_", "[[10],[10],[]]", "[]");
    const RoofCalls found = calls_of(trace);
    if (type == "float") {
      ASSERT_EQ(found.calls.size(), 2U);
      EXPECT_EQ(found.calls[0].work.bytes(), (512 + 16 + 512) * 4);
    } else {
      ASSERT_EQ(found.calls.size(), 1U);
      EXPECT_EQ(found.why[0], NoWork::kUntold);
    }
    EXPECT_EQ(found.calls.back().work.bytes(), 10 * 3 * 8);
  }
}

// Nothing numbers the operators; the backward pass was called with the same input and weight, and
// has the gradient of the result. One that came back less, or another with other sizes (a stride
// of two), tells nothing.
TEST(RoofCalls, AConvolutionsGradientIsKnownByItsSizes) {
  const auto flop = [](int backward, const char* second) {
    TraceMaker maker;
    maker.op(1, "aten::cudnn_convolution", 10, 50).op(1, "aten::cudnn_convolution", 100, 50);
    maker.call(1, "cudaLaunchKernel", 15, 5, 7).kernel(0, 7, "scudnn", 1000, 10, 7);
    for (int i = 0; i < backward; ++i)
      maker.op(2, i == 0 ? "aten::cudnn_convolution_backward" : "aten::convolution_backward",
               500 + 100 * i, 50);
    Trace trace = maker.build();
    for (size_t i = 0; i < trace.ops.size(); ++i) {
      const std::string_view name = trace.text(trace.ops.name[i]);
      const char* dims = "[[2,3,8,8],[4,3,3,3],[]]";
      if (name == "aten::cudnn_convolution_backward") dims = "[[2,3,8,8],[2,4,6,6],[4,3,3,3]]";
      if (name == "aten::convolution_backward") dims = second;
      trace.op_inputs.push_back({OpId(static_cast<uint32_t>(i)), trace.strings.intern(dims),
                                 trace.strings.intern("[]"), StringId(0), StringId(0)});
    }
    const RoofCalls found = calls_of(trace);
    return found.calls.empty() ? 0.0 : found.calls[0].work.flop;
  };
  constexpr const char* kSame = "[[2,4,6,6],[2,3,8,8],[4,3,3,3]]";
  EXPECT_EQ(flop(2, kSame), 2.0 * 2 * 4 * 36 * 27);
  EXPECT_EQ(flop(1, kSame), 0);
  EXPECT_EQ(flop(2, "[[2,4,3,3],[2,3,8,8],[4,3,3,3]]"), 0);
}

}  // namespace
}  // namespace assay
