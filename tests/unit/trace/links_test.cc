#include "trace/links.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::activity_id;
using testing::call_id;
using testing::op_id;
using testing::TraceMaker;

OpId parent_of(const Trace& trace, const Links& links, std::string_view op) {
  return links.op_parent[op_id(trace, op).index()];
}

TEST(Links, CallToKernelByCorrelation) {
  const Trace trace = TraceMaker()
                          .op(1, "aten::mm", 0, 1000, 11)
                          .call(1, "cudaLaunchKernel", 100, 50, 7)
                          .call(1, "cudaLaunchKernel", 300, 50, 9)
                          .call(1, "cudaDeviceSynchronize", 600, 50, 10)
                          .kernel(0, 7, "gemm", 500, 400, 7)
                          .kernel(0, 7, "epilogue", 900, 100, 9)
                          .activity(ActivityKind::kSync, 0, 7, "Context Sync", 610, 390, 10)
                          .build();
  const Links links = link_trace(trace);
  const ApiCallId first = call_id(trace, "cudaLaunchKernel", 0);
  const ApiCallId second = call_id(trace, "cudaLaunchKernel", 1);
  const ApiCallId wait = call_id(trace, "cudaDeviceSynchronize");
  EXPECT_EQ(links.activity_call[activity_id(trace, "gemm").index()], first);
  EXPECT_EQ(links.activity_call[activity_id(trace, "epilogue").index()], second);
  EXPECT_EQ(links.activity_call[activity_id(trace, "Context Sync").index()], wait);
  ASSERT_EQ(links.activities_of(first).size(), 1u);
  EXPECT_EQ(links.activities_of(first)[0], activity_id(trace, "gemm"));
  EXPECT_EQ(links.call_op[first.index()], op_id(trace, "aten::mm"));
  EXPECT_EQ(links.activity_op[activity_id(trace, "gemm").index()], op_id(trace, "aten::mm"));
  EXPECT_EQ(links.role_of(trace, first), ApiRole::kKernelLaunch);
  EXPECT_EQ(links.stats.kernels, 2u);
  EXPECT_EQ(links.stats.kernels_linked, 2u);
  EXPECT_EQ(links.stats.kernels_unlinked, 0u);
  EXPECT_EQ(links.stats.copies, 0u);
  EXPECT_EQ(links.stats.launch_calls, 2u);
  EXPECT_EQ(links.stats.launch_calls_unlinked, 0u);
  EXPECT_EQ(links.stats.calls_without_op, 0u);
  EXPECT_EQ(links.stats.activity_ops_by_call, 3u);
}

TEST(Links, CorrelationZeroJoinsNothing) {
  const Trace trace =
      TraceMaker().call(1, "cudaLaunchKernel", 0, 5, 0).kernel(0, 7, "k", 10, 5, 0).build();
  const Links links = link_trace(trace);
  EXPECT_FALSE(links.activity_call[0]);
  EXPECT_EQ(links.stats.kernels_unlinked, 1u);
  EXPECT_EQ(links.stats.kernels_unlinked_ns, 5);
  EXPECT_EQ(links.stats.launch_calls_unlinked, 1u);
  EXPECT_EQ(links.stats.duplicate_calls, 0u);
}

TEST(Links, EarliestCallOfACorrelationIsTheLaunch) {
  // The driver row lies inside the runtime row; a third row on another thread comes first in the
  // table and later in time.
  const Trace trace = TraceMaker()
                          .driver_call(1, "cuLaunchKernel", 500, 10, 7)
                          .driver_call(2, "cuLaunchKernelEx", 105, 10, 7)
                          .call(2, "cudaLaunchKernel", 100, 50, 7)
                          .kernel(0, 7, "k", 600, 5, 7)
                          .build();
  const Links links = link_trace(trace);
  EXPECT_EQ(links.activity_call[0], call_id(trace, "cudaLaunchKernel"));
  EXPECT_TRUE(links.activities_of(call_id(trace, "cuLaunchKernel")).empty());
  EXPECT_TRUE(links.activities_of(call_id(trace, "cuLaunchKernelEx")).empty());
  EXPECT_EQ(links.stats.duplicate_calls, 2u);
  EXPECT_EQ(links.stats.launch_calls, 1u);
  EXPECT_EQ(links.stats.launch_calls_unlinked, 0u);
}

TEST(Links, CorrelationsFarApartAndAtTheEndsOfTheirRange) {
  TraceMaker maker;
  const std::vector<uint32_t> correlations = {1, 2, 1000000, 4000000000u, UINT32_MAX};
  for (size_t i = 0; i < correlations.size(); ++i) {
    const int64_t start = static_cast<int64_t>(i) * 100;
    maker.call(1, "cudaLaunchKernel", start, 10, correlations[i]);
    maker.call(1, "cudaLaunchKernel", start + 50, 10, correlations[i]);
    maker.kernel(0, 7, "k", start + 1000, 10, correlations[i]);
  }
  maker.kernel(0, 7, "stray", 5000, 10, 3).kernel(0, 7, "stray", 5100, 10, 4000000001u);
  const Trace trace = maker.build();
  const Links links = link_trace(trace);
  for (size_t i = 0; i < correlations.size(); ++i) {
    EXPECT_EQ(links.activity_call[i], ApiCallId(2 * i)) << correlations[i];
  }
  EXPECT_FALSE(links.activity_call[5]);
  EXPECT_FALSE(links.activity_call[6]);
  EXPECT_EQ(links.stats.duplicate_calls, 5u);
}

TEST(Links, GraphLaunchOwnsManyKernels) {
  const Trace trace = TraceMaker()
                          .call(1, "cudaGraphLaunch", 0, 10, 7)
                          .call(1, "cudaGraphLaunch", 100, 10, 8)
                          .call(1, "cudaLaunchKernel", 200, 10, 9)
                          .kernel(0, 8, "late", 60, 5, 7)
                          .kernel(0, 7, "early", 40, 5, 7)
                          .memset(0, 7, "Memset (Device)", 50, 5, 7)
                          .kernel(0, 7, "a", 300, 5, 9)
                          .kernel(0, 7, "b", 310, 5, 9)
                          .build();
  const Links links = link_trace(trace);
  const auto owned = links.activities_of(call_id(trace, "cudaGraphLaunch", 0));
  ASSERT_EQ(owned.size(), 3u);
  EXPECT_EQ(owned[0], activity_id(trace, "early"));
  EXPECT_EQ(owned[1], activity_id(trace, "Memset (Device)"));
  EXPECT_EQ(owned[2], activity_id(trace, "late"));
  EXPECT_EQ(links.stats.graph_launches, 1u);
  EXPECT_EQ(links.stats.graph_kernels, 2u);
  EXPECT_EQ(links.stats.shared_correlations, 1u);
  EXPECT_EQ(links.stats.launch_calls, 3u);
  EXPECT_EQ(links.stats.launch_calls_unlinked, 1u);
  EXPECT_EQ(links.stats.copies, 1u);
  EXPECT_EQ(links.stats.copies_linked, 1u);
  EXPECT_EQ(links.stats.calls_without_op, 3u);
}

TEST(Links, CarriedOverIsWhatEndsBeforeTheFirstLinkedKernelOfItsStream) {
  // Stream 9 still works off its queue while stream 7 runs linked work; stream 8 has none linked.
  const Trace trace = TraceMaker()
                          .call(1, "cudaLaunchKernel", 0, 10, 7)
                          .call(1, "cudaLaunchKernel", 20, 10, 8)
                          .kernel(0, 9, "still queued", 300, 100, 6)
                          .kernel(0, 9, "linked, later", 400, 10, 8)
                          .kernel(0, 9, "after it", 410, 10, 9)
                          .kernel(0, 7, "queued before", 10, 30, 1)
                          .kernel(0, 7, "ends at its start", 40, 60, 2)
                          .kernel(0, 8, "ends after its start", 50, 51, 3)
                          .kernel(0, 7, "linked", 100, 10, 7)
                          .kernel(0, 7, "later stray", 200, 7, 4)
                          .copy(0, 7, "Memcpy DtoD", 20, 5, 5)
                          .build();
  const LinkStats stats = link_trace(trace).stats;
  EXPECT_EQ(stats.kernels, 8u);
  EXPECT_EQ(stats.kernels_linked, 2u);
  EXPECT_EQ(stats.kernels_unlinked, 6u);
  EXPECT_EQ(stats.kernels_unlinked_ns, 30 + 60 + 51 + 7 + 100 + 10);
  EXPECT_EQ(stats.kernels_carried_over, 3u);
  EXPECT_EQ(stats.kernels_carried_over_ns, 30 + 60 + 100);
  EXPECT_EQ(stats.copies, 1u);
  EXPECT_EQ(stats.copies_linked, 0u);
}

TEST(Links, NothingIsCarriedOverIfNoKernelIsLinked) {
  const Trace trace = TraceMaker().kernel(0, 7, "k", 10, 30, 1).build();
  EXPECT_EQ(link_trace(trace).stats.kernels_carried_over, 0u);
}

TEST(Links, AbsurdDurationsDoNotOverflowTheSums) {
  const Trace trace =
      TraceMaker().kernel(0, 7, "a", 0, INT64_MAX, 1).kernel(0, 7, "b", 0, INT64_MAX, 2).build();
  EXPECT_EQ(link_trace(trace).stats.kernels_unlinked_ns, INT64_MAX);
}

TEST(Links, MtiaPacketsLinkToTheirSubmission) {
  const Trace trace =
      TraceMaker()
          .call(1, "runFunction - job_prep_and_submit_for_execution", 0, 10, 7)
          .activity(ActivityKind::kOther, 0, 0, "batch_matmul-dtype_Float", 50, 5, 7)
          .build();
  const Links links = link_trace(trace);
  EXPECT_EQ(links.activity_call[0], ApiCallId(0));
  EXPECT_EQ(links.stats.kernels, 0u);
  EXPECT_EQ(links.stats.launch_calls, 1u);
  EXPECT_EQ(links.stats.launch_calls_unlinked, 0u);
}

TEST(Nesting, InnermostOpenOperatorIsTheParent) {
  const Trace trace = TraceMaker()
                          .op(1, "linear", 0, 100)
                          .op(1, "t", 10, 20)
                          .op(1, "transpose", 12, 10)
                          .op(1, "addmm", 40, 60)
                          .op(1, "next", 100, 10)
                          .op(2, "other thread", 20, 10)
                          .build();
  const Links links = link_trace(trace);
  EXPECT_FALSE(parent_of(trace, links, "linear"));
  EXPECT_EQ(parent_of(trace, links, "t"), op_id(trace, "linear"));
  EXPECT_EQ(parent_of(trace, links, "transpose"), op_id(trace, "t"));
  EXPECT_EQ(parent_of(trace, links, "addmm"), op_id(trace, "linear"));
  EXPECT_FALSE(parent_of(trace, links, "next"));  // starts where linear ends
  EXPECT_FALSE(parent_of(trace, links, "other thread"));
  EXPECT_EQ(links.root_of(op_id(trace, "transpose")), op_id(trace, "linear"));
  EXPECT_EQ(links.root_of(op_id(trace, "next")), op_id(trace, "next"));
}

TEST(Nesting, EqualStartsAndZeroLengths) {
  const Trace trace = TraceMaker()
                          .op(1, "short", 0, 10)
                          .op(1, "long", 0, 100)
                          .op(1, "zero at start", 0, 0)
                          .op(1, "twin a", 50, 5)
                          .op(1, "twin b", 50, 5)
                          .op(1, "zero a", 60, 0)
                          .op(1, "zero b", 60, 0)
                          .op(1, "zero at end", 100, 0)
                          .build();
  const Links links = link_trace(trace);
  EXPECT_EQ(parent_of(trace, links, "short"), op_id(trace, "long"));
  EXPECT_EQ(parent_of(trace, links, "zero at start"), op_id(trace, "short"));
  EXPECT_EQ(parent_of(trace, links, "twin b"), op_id(trace, "twin a"));
  EXPECT_EQ(parent_of(trace, links, "zero a"), op_id(trace, "long"));
  EXPECT_EQ(parent_of(trace, links, "zero b"), op_id(trace, "long"));
  EXPECT_FALSE(parent_of(trace, links, "zero at end"));
  EXPECT_EQ(links.stats.overlap_split, 0u);
  EXPECT_EQ(links.stats.overlap_tolerated, 0u);
}

TEST(Nesting, ChildMayOutliveItsParentByOneMicrosecond) {
  const Trace trace = TraceMaker()
                          .op(1, "parent", 0, 10000)
                          .op(1, "child", 5000, 6000)  // ends at 11000
                          .op(1, "after", 10500, 100)  // inside the child, behind the parent
                          .build();
  const Links links = link_trace(trace);
  EXPECT_EQ(parent_of(trace, links, "child"), op_id(trace, "parent"));
  EXPECT_EQ(parent_of(trace, links, "after"), op_id(trace, "child"));
  EXPECT_EQ(links.stats.overlap_tolerated, 1u);
  EXPECT_EQ(links.stats.overlap_split, 0u);
}

TEST(Nesting, ChildThatOutlivesItsParentByMoreIsASibling) {
  const Trace trace = TraceMaker()
                          .op(1, "outer", 0, 20000)
                          .op(1, "parent", 1000, 9000)    // ends at 10000
                          .op(1, "stranger", 5000, 6001)  // ends at 11001
                          .op(1, "inside both", 6000, 100)
                          .build();
  const Links links = link_trace(trace);
  EXPECT_EQ(parent_of(trace, links, "stranger"), op_id(trace, "outer"));
  EXPECT_EQ(parent_of(trace, links, "inside both"), op_id(trace, "stranger"));
  EXPECT_EQ(links.stats.overlap_tolerated, 0u);
  EXPECT_EQ(links.stats.overlap_split, 1u);
}

// Every answer walks the chain of parents for each launch.
TEST(Nesting, ChainsOfParentsAreBounded) {
  constexpr int kOps = 3000;
  for (const int64_t step : {2, -2}) {  // nested, and each outliving its parent a little
    TraceMaker maker;
    for (int64_t i = 0; i < kOps; ++i) maker.op(1, "op", i, 20000 - step * i);
    const Trace trace = maker.build();
    const Links links = link_trace(trace);
    size_t longest = 0;
    for (size_t i = 0; i < kOps; ++i) {
      size_t parents = 0;
      for (OpId op = links.op_parent[i]; op; op = links.op_parent[op.index()]) ++parents;
      longest = std::max(longest, parents);
    }
    EXPECT_EQ(longest, 1000U) << step;
    EXPECT_EQ(links.stats.overlap_split, kOps - 1001U) << step;
  }
}

TEST(Nesting, CallBelongsToTheOperatorOpenAtItsStart) {
  const Trace trace = TraceMaker()
                          .op(1, "outer", 0, 10000)
                          .op(1, "inner", 100, 200)
                          .op(1, "zero", 400, 0)
                          .call(1, "cudaMalloc", 100, 10, 1)             // at the start of inner
                          .call(1, "cudaLaunchKernel", 250, 50000, 2)    // outlives both
                          .call(1, "cudaStreamSynchronize", 300, 10, 3)  // where inner ends
                          .call(1, "cudaFree", 400, 10, 4)               // where the empty one lies
                          .call(1, "cudaEventQuery", 10000, 10, 5)       // behind all
                          .call(2, "cudaEventRecord", 150, 10, 6)        // another thread
                          .build();
  const Links links = link_trace(trace);
  const auto op_of = [&](std::string_view call) {
    return links.call_op[call_id(trace, call).index()];
  };
  EXPECT_EQ(op_of("cudaMalloc"), op_id(trace, "inner"));
  EXPECT_EQ(op_of("cudaLaunchKernel"), op_id(trace, "inner"));
  EXPECT_EQ(op_of("cudaStreamSynchronize"), op_id(trace, "outer"));
  EXPECT_EQ(op_of("cudaFree"), op_id(trace, "outer"));
  EXPECT_FALSE(op_of("cudaEventQuery"));
  EXPECT_FALSE(op_of("cudaEventRecord"));
}

TEST(ActivityOp, CallFirstThenExternalId) {
  const Trace trace = TraceMaker()
                          .op(1, "encloses", 0, 100, 11)
                          .op(1, "bears 12", 200, 100, 12)
                          .call(1, "cudaLaunchKernel", 10, 5, 7)
                          .call(2, "cudaLaunchKernel", 210, 5, 8, 12)
                          .call(2, "cudaLaunchKernel", 220, 5, 9)
                          .kernel(0, 7, "by call", 300, 5, 7, 12)
                          .kernel(0, 7, "by id of the call", 310, 5, 8)
                          .kernel(0, 7, "by own id", 320, 5, 99, 12)
                          .kernel(0, 7, "by nothing", 330, 5, 9)
                          .kernel(0, 7, "unknown id", 340, 5, 98, 13)
                          .build();
  const Links links = link_trace(trace);
  const auto op_of = [&](std::string_view kernel) {
    return links.activity_op[activity_id(trace, kernel).index()];
  };
  EXPECT_EQ(op_of("by call"), op_id(trace, "encloses"));
  EXPECT_EQ(op_of("by id of the call"), op_id(trace, "bears 12"));
  EXPECT_EQ(op_of("by own id"), op_id(trace, "bears 12"));
  EXPECT_FALSE(op_of("by nothing"));
  EXPECT_FALSE(op_of("unknown id"));
  EXPECT_EQ(links.stats.activity_ops_by_call, 1u);
  EXPECT_EQ(links.stats.activity_ops_by_external_id, 2u);
  EXPECT_EQ(links.stats.external_ids_ignored, 0u);
}

TEST(ActivityOp, ExternalIdEqualToTheCorrelationIsNotAnOperators) {
  const Trace trace = TraceMaker()
                          .op(1, "bears 7 by chance", 0, 100, 7)
                          .op(1, "bears 8, encloses its launch", 200, 100, 8)
                          .call(1, "cudaLaunchKernel", 150, 5, 7, 7)
                          .call(1, "cudaLaunchKernel", 210, 5, 8, 8)
                          .kernel(0, 7, "stray", 300, 5, 7, 7)
                          .kernel(0, 7, "owned", 310, 5, 8, 8)
                          .build();
  const Links links = link_trace(trace);
  EXPECT_FALSE(links.activity_op[activity_id(trace, "stray").index()]);
  EXPECT_EQ(links.activity_op[activity_id(trace, "owned").index()],
            op_id(trace, "bears 8, encloses its launch"));
  EXPECT_EQ(links.stats.external_ids_ignored, 1u);
}

TEST(ActivityOp, LastOpStartedBeforeIsUsedForAnAmbiguousId) {
  const Trace trace = TraceMaker()
                          .op(1, "session 1", 100, 10, 5)
                          .op(1, "session 2", 1000, 10, 5)
                          .kernel(0, 7, "first", 500, 5, 71, 5)
                          .kernel(0, 7, "second", 1500, 5, 72, 5)
                          .kernel(0, 7, "before both", 50, 5, 73, 5)
                          .build();
  const Links links = link_trace(trace);
  const auto op_of = [&](std::string_view kernel) {
    return links.activity_op[activity_id(trace, kernel).index()];
  };
  EXPECT_EQ(op_of("first"), op_id(trace, "session 1"));
  EXPECT_EQ(op_of("second"), op_id(trace, "session 2"));
  EXPECT_EQ(op_of("before both"), op_id(trace, "session 1"));
}

TEST(Links, EmptyTrace) {
  const Links links = link_trace(Trace());
  EXPECT_TRUE(links.activity_call.empty());
  EXPECT_EQ(links.call_offsets, std::vector<uint32_t>{0});
  EXPECT_EQ(links.stats.kernels, 0u);
}

}  // namespace
}  // namespace assay
