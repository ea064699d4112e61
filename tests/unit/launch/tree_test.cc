// The call tree and the list of kernels, on a trace small enough to draw:
//
//   thread 1: model ─ linear ─ cudaLaunchKernel ─ cuLaunchKernel ─ gemm   (twice)
//                   └ relu ─── cudaLaunchKernel ─ relu_kernel
//   thread 2: autograd::engine::... ─ cudaLaunchKernel ─ gemm
//   no call:  memory_kernel

#include "launch/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

Trace small_program() {
  return TraceMaker()
      .op(1, "model", 0, 1'000)
      .op(1, "linear", 100, 200)
      .call(1, "cudaLaunchKernel", 150, 50, 1)
      .driver_call(1, "cuLaunchKernel", 160, 30, 0)
      .op(1, "linear", 400, 200)
      .call(1, "cudaLaunchKernel", 450, 50, 2)
      .op(1, "relu", 700, 100)
      .call(1, "cudaLaunchKernel", 720, 20, 3)
      .op(2, "autograd::engine::evaluate_function: MulBackward", 1'100, 200)
      .call(2, "cudaLaunchKernel", 1'150, 40, 4)
      .kernel(0, 7, "gemm", 250, 300, 1)
      .kernel(0, 7, "gemm", 550, 300, 2)
      .kernel(0, 7, "relu_kernel", 850, 100, 3)
      .kernel(0, 7, "gemm", 1'250, 300, 4)
      .kernel(0, 7, "memory_kernel", 1'600, 10, 99)
      .build();
}

std::string path_of(const CallTree& tree, size_t index) {
  std::string path;
  for (auto i = static_cast<int32_t>(index); i > 0; i = tree.nodes[i].parent) {
    path = tree.nodes[i].name + (path.empty() ? "" : "/") + path;
  }
  return path;
}

const CallTreeNode* find(const CallTree& tree, const std::string& path) {
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    if (path_of(tree, i) == path) return &tree.nodes[i];
  }
  return nullptr;
}

CallTree build(const Trace& trace, const TreeOptions& options = {}) {
  auto tree = build_call_tree(trace, link_trace(trace), options);
  EXPECT_TRUE(tree);
  return *tree;
}

TEST(CallTree, CollapsesEqualPaths) {
  const CallTree tree = build(small_program());
  const CallTreeNode& root = tree.nodes[0];
  EXPECT_EQ(root.kind, TreeNodeKind::kRoot);
  EXPECT_EQ(root.kernels, 5u);
  EXPECT_EQ(root.device_ns, 1'010);
  EXPECT_EQ(root.launch_queue_ns, 100 + 100 + 130 + 100);
  EXPECT_EQ(root.host_ns, 1'200);

  const CallTreeNode* model = find(tree, "dispatching thread/model");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->count, 1u);
  EXPECT_EQ(model->host_ns, 1'000);
  EXPECT_EQ(model->host_self_ns, 500);
  EXPECT_EQ(model->launch_queue_ns, 330);
  EXPECT_EQ(model->device_ns, 700);
  EXPECT_EQ(model->depth, 2u);

  const CallTreeNode* linear = find(tree, "dispatching thread/model/linear");
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(linear->count, 2u);
  EXPECT_EQ(linear->host_ns, 400);
  EXPECT_EQ(linear->host_self_ns, 300);

  const CallTreeNode* call = find(tree, "dispatching thread/model/linear/cudaLaunchKernel");
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->host_ns, 100);
  EXPECT_EQ(call->host_self_ns, 70);  // cuLaunchKernel took 30 of it
  EXPECT_EQ(find(tree, "dispatching thread/model/linear/cudaLaunchKernel/cuLaunchKernel")->host_ns,
            30);

  const CallTreeNode* gemm = find(tree, "dispatching thread/model/linear/cudaLaunchKernel/gemm");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->kind, TreeNodeKind::kKernel);
  EXPECT_EQ(gemm->count, 2u);
  EXPECT_EQ(gemm->device_ns, 600);
  EXPECT_EQ(gemm->launch_queue_ns, 200);

  EXPECT_EQ(find(tree, "backward threads")->kernels, 1u);
  EXPECT_EQ(find(tree, "no launch call in the trace/memory_kernel")->device_ns, 10);
}

std::vector<std::string> names_below(const CallTree& tree, const std::string& path) {
  std::vector<std::string> names;
  const auto parent = static_cast<int32_t>(find(tree, path) - tree.nodes.data());
  for (const CallTreeNode& node : tree.nodes) {
    if (node.parent == parent) names.push_back(node.name);
  }
  return names;
}

TEST(CallTree, OrdersSiblingsByTheChosenNumber) {
  const Trace trace = TraceMaker()
                          .op(1, "slow_launch", 0, 10)
                          .call(1, "cudaLaunchKernel", 1, 2, 1)
                          .op(1, "slow_kernel", 20, 10)
                          .call(1, "cudaLaunchKernel", 21, 2, 2)
                          .op(1, "slow_host", 40, 100)
                          .call(1, "cudaLaunchKernel", 41, 2, 3)
                          .kernel(0, 7, "a", 901, 10, 1)
                          .kernel(0, 7, "b", 121, 500, 2)
                          .kernel(0, 7, "c", 641, 20, 3)
                          .build();
  using Names = std::vector<std::string>;
  const auto order = [&](TreeOrder by) {
    return names_below(build(trace, {by, 0}), "dispatching thread");
  };
  EXPECT_EQ(order(TreeOrder::kLaunchQueue), (Names{"slow_launch", "slow_host", "slow_kernel"}));
  EXPECT_EQ(order(TreeOrder::kDevice), (Names{"slow_kernel", "slow_host", "slow_launch"}));
  EXPECT_EQ(order(TreeOrder::kHost), (Names{"slow_host", "slow_launch", "slow_kernel"}));
}

TEST(CallTree, MergesWhatIsBelowTheShare) {
  // Device time 1010: relu has 100 and is below a fifth, memory_kernel too.
  const CallTree tree = build(small_program(), {TreeOrder::kDevice, 0.2});
  EXPECT_EQ(find(tree, "dispatching thread/model/relu"), nullptr);
  const CallTreeNode* rest = find(tree, "dispatching thread/model/(smaller ones)");
  ASSERT_NE(rest, nullptr);
  EXPECT_EQ(rest->kind, TreeNodeKind::kRest);
  EXPECT_EQ(rest->count, 1u);
  EXPECT_EQ(rest->device_ns, 100);
  EXPECT_EQ(rest->host_ns, 100);
  EXPECT_EQ(rest->host_self_ns, 100);
  EXPECT_EQ(rest->launch_queue_ns, 130);
  EXPECT_EQ(tree.nodes[0].device_ns, 1'010);
  // relu, its call, its kernel; cuLaunchKernel; the role without call and its kernel.
  EXPECT_EQ(tree.pruned_nodes, 6u);
}

TEST(CallTree, ProfilerStepsRecordedAsOperatorsAreSeenThrough) {
  const Trace trace = TraceMaker()
                          .op(1, "ProfilerStep#1", 0, 100)
                          .op(1, "aten::mm", 10, 20)
                          .op(1, "ProfilerStep#2", 100, 100)
                          .op(1, "aten::mm", 110, 20)
                          .build();
  const CallTree tree = build(trace);
  ASSERT_EQ(tree.nodes.size(), 3u);
  EXPECT_EQ(find(tree, "other threads/aten::mm")->count, 2u);
}

TEST(CallTree, RefusesABadShareAndTakesAnEmptyTrace) {
  const Trace trace;
  const Links links = link_trace(trace);
  for (double share : {-0.1, 1.1, std::nan("")}) {
    EXPECT_FALSE(build_call_tree(trace, links, {TreeOrder::kDevice, share}));
  }
  EXPECT_EQ(build(trace).nodes.size(), 1u);
}

TEST(CallTree, DeepNestingNeedsNoStackAndEndsAtAThousandParents) {
  TraceMaker maker;
  constexpr int64_t kDepth = 200'000;
  for (int64_t i = 0; i < kDepth; ++i) maker.op(1, "f", i, 2 * kDepth - 2 * i);
  const CallTree tree = build(maker.build());
  EXPECT_GT(tree.nodes.size(), 1000u);
  EXPECT_LT(tree.nodes.size(), 1010u);
}

TEST(KernelList, SaysWhatLaunchedEachKernel) {
  const Trace trace = small_program();
  const Windows windows = {WindowSource::kProfilerStep, {{"ProfilerStep#1", 0, 500}}};
  const std::vector<KernelRow> rows = list_kernels(trace, link_trace(trace), windows);
  ASSERT_EQ(rows.size(), 5u);
  const KernelRow& first = rows[0];
  EXPECT_EQ(trace.text(first.kernel_name), "gemm");
  EXPECT_EQ(trace.text(first.call_name), "cudaLaunchKernel");
  EXPECT_EQ(trace.text(first.root_op), "model");
  EXPECT_EQ(trace.text(first.parent_op), "linear");
  EXPECT_EQ(first.call_start_ns, 150);
  EXPECT_EQ(first.kernel_start_ns, 250);
  EXPECT_EQ(first.launch_queue_ns, 100);
  EXPECT_EQ(first.dur_ns, 300);
  EXPECT_EQ(first.iteration, 0);
  EXPECT_EQ(rows[2].iteration, -1);
  const KernelRow& last = rows[4];
  EXPECT_EQ(trace.text(last.kernel_name), "memory_kernel");
  EXPECT_FALSE(last.call_name);
  EXPECT_FALSE(last.root_op);
  EXPECT_EQ(last.launch_queue_ns, -1);
}

TEST(KernelList, ADroppedTimeIsNone) {
  const Trace trace = TraceMaker()
                          .call(1, "cudaLaunchKernel", 50'000, 10, 1)
                          .call(1, "cudaLaunchKernel", 60'000, 10, 2)
                          .kernel(0, 7, "too_early", 40'000, 10, 1)
                          .kernel(0, 7, "early", 59'000, 10, 2)
                          .build();
  const std::vector<KernelRow> rows = list_kernels(trace, link_trace(trace), {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].launch_queue_ns, -1);
  EXPECT_EQ(rows[1].launch_queue_ns, 0);
}

}  // namespace
}  // namespace assay
