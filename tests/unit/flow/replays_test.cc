// Which operator each node of a graph replay comes from. Times are nanoseconds.

#include "flow/replays.h"

#include <gtest/gtest.h>

#include "flow/replay_fit.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

// Two launches and a copy, recorded under two operators of a module.
TraceMaker& capture(TraceMaker& maker, int64_t at_ns, const std::string& second) {
  maker.op(1, "module", at_ns, 1000);
  maker.call(1, "cudaStreamBeginCapture", at_ns + 10, 5, 0);
  maker.op(1, "aten::mm", at_ns + 100, 200);
  maker.call(1, "cudaLaunchKernel", at_ns + 150, 10, static_cast<uint32_t>(at_ns + 1));
  maker.op(1, second, at_ns + 400, 300);
  maker.call(1, "cudaMemcpyAsync", at_ns + 450, 10, static_cast<uint32_t>(at_ns + 2));
  maker.call(1, "cudaLaunchKernel", at_ns + 500, 10, static_cast<uint32_t>(at_ns + 3));
  maker.call(1, "cudaStreamEndCapture", at_ns + 900, 5, 0);
  return maker;
}

TraceMaker& replay(TraceMaker& maker, int64_t at_ns) {
  const auto id = static_cast<uint32_t>(at_ns + 7);
  maker.call(1, "cudaGraphLaunch", at_ns, 20, id);
  maker.kernel(0, 7, "gemm", at_ns + 100, 50, id);
  maker.copy(0, 7, "Memcpy DtoD", at_ns + 160, 10, id);
  maker.kernel(0, 7, "add", at_ns + 180, 30, id);
  return maker;
}

FlowRun run_of(const Trace& trace, const Links& links) { return make_flow_run(trace, links); }

TEST(Replays, NodesGetTheOperatorsOfTheRecordingInTheSameTrace) {
  TraceMaker maker;
  capture(maker, 1000, "aten::add");
  replay(maker, 5000);
  replay(maker, 6000);
  const Trace trace = maker.build();
  const Links links = link_trace(trace);
  const FlowRun run = run_of(trace, links);
  const std::vector<CapturedGraph> graphs = captured_graphs(run);
  ASSERT_EQ(graphs.size(), 1u);
  ASSERT_EQ(graphs[0].nodes.size(), 3u);
  EXPECT_EQ(graphs[0].nodes[0].op, "aten::mm");
  EXPECT_EQ(graphs[0].nodes[0].outer, "module");
  EXPECT_TRUE(graphs[0].nodes[1].copies);
  EXPECT_EQ(graphs[0].nodes[2].op, "aten::add");
  const ReplayReport report = make_replay_report(run, join_replays(run, graphs));
  EXPECT_EQ(report.replays, 2u);
  EXPECT_EQ(report.works, 6u);
  EXPECT_EQ(report.joined, 6u);
  EXPECT_EQ(report.ambiguous, 0u);
  ASSERT_EQ(report.ops.size(), 2u);
  EXPECT_EQ(report.ops[0].op, "aten::mm");
  EXPECT_EQ(report.ops[0].ns, 100);  // twice 50
  EXPECT_EQ(report.ops[1].op, "aten::add");
  EXPECT_EQ(report.ops[1].ns, 80);  // twice 10 + 30
  EXPECT_EQ(report.ops[1].works, 4u);
}

// Branches of a graph run side by side: the copy came first on the device. In the order in which
// they ran the copy would stand for the product; where every node's id was recorded, it tells.
TEST(Replays, NodeIdsGiveTheOrderOfTheRecording) {
  for (const bool told : {true, false}) {
    TraceMaker maker;
    capture(maker, 1000, "aten::add");
    maker.call(1, "cudaGraphLaunch", 5000, 20, 77);
    maker.copy(0, 8, "Memcpy DtoD", 5050, 10, 77);
    maker.kernel(0, 7, "gemm", 5100, 50, 77).kernel(0, 7, "add", 5180, 30, 77);
    Trace trace = maker.build();
    for (size_t a = 0; told && a < trace.activities.size(); ++a) {
      const std::string_view name = trace.text(trace.activities.name[a]);
      const uint64_t node = name == "gemm" ? 11 : name == "add" ? 13 : 12;
      trace.kernel_shapes.push_back(
          {.activity = ActivityId(static_cast<uint32_t>(a)), .graph_id = 3, .graph_node_id = node});
    }
    const Links links = link_trace(trace);
    const FlowRun run = run_of(trace, links);
    const ReplayReport report = make_replay_report(run, join_replays(run, captured_graphs(run)));
    EXPECT_EQ(report.joined, told ? 3U : 0U);
    if (!told) continue;
    ASSERT_EQ(report.ops.size(), 2U);
    EXPECT_EQ(report.ops[0].op, "aten::mm");
    EXPECT_EQ(report.ops[0].ns, 50);
    EXPECT_EQ(report.ops[1].ns, 40);
  }
}

TEST(Replays, ARecordingOfAnotherTraceServesToo) {
  TraceMaker recorded;
  const Trace capture_trace = capture(recorded, 1000, "aten::add").build();
  const Links capture_links = link_trace(capture_trace);
  TraceMaker maker;
  const Trace trace = replay(maker, 5000).build();
  const Links links = link_trace(trace);
  const FlowRun run = run_of(trace, links);
  EXPECT_EQ(join_replays(run, captured_graphs(run)).joined, 0u);
  const auto graphs = captured_graphs(run_of(capture_trace, capture_links));
  EXPECT_EQ(join_replays(run, graphs).joined, 3u);
}

TEST(Replays, RecordingsOfDifferentOperatorsThatFitAreAmbiguous) {
  TraceMaker maker;
  capture(maker, 1000, "aten::add");
  capture(maker, 3000, "aten::add");
  replay(maker, 5000);
  Trace trace = maker.build();
  Links links = link_trace(trace);
  FlowRun run = run_of(trace, links);
  EXPECT_EQ(join_replays(run, captured_graphs(run)).joined, 3u);  // the same operators in both
  TraceMaker other;
  capture(other, 1000, "aten::add");
  capture(other, 3000, "aten::mul");
  replay(other, 5000);
  trace = other.build();
  links = link_trace(trace);
  run = run_of(trace, links);
  const ReplayJoin join = join_replays(run, captured_graphs(run));
  EXPECT_EQ(join.joined, 0u);
  EXPECT_EQ(join.ambiguous, 3u);
}

// Two kernels of one operator each, recorded as gemm and then add; the launch calls name them where
// names are given.
CapturedGraph& name_nodes(CapturedGraph& graph, const std::string& first, const std::string& last) {
  graph.nodes[0].kernel = first;
  graph.nodes[2].kernel = last;
  return graph;
}

// Branches of a graph: the addition ran before the product.
Trace swapped_replay() {
  TraceMaker maker;
  maker.call(1, "hipGraphLaunch", 5000, 20, 77);
  maker.kernel(0, 8, "void add<float>(float*)", 5050, 30, 77);
  maker.copy(0, 7, "Memcpy DtoD", 5085, 10, 77);
  maker.kernel(0, 7, "gemm", 5100, 50, 77);
  return maker.build();
}

std::vector<CapturedGraph> recorded(const std::string& first, const std::string& last) {
  TraceMaker maker;
  const Trace trace = capture(maker, 1000, "aten::add").build();
  const Links links = link_trace(trace);
  std::vector<CapturedGraph> graphs = captured_graphs(run_of(trace, links));
  name_nodes(graphs.at(0), first, last);
  return graphs;
}

// By order alone the product's 50 ns would be the addition's.
TEST(Replays, KernelNamesCorrectAWrongOrder) {
  const Trace trace = swapped_replay();
  const Links links = link_trace(trace);
  const FlowRun run = run_of(trace, links);
  const auto graphs = recorded("gemm", "_Z3addIfEvPf");
  const ReplayReport report = make_replay_report(run, join_replays(run, graphs));
  EXPECT_EQ(report.joined, 3U);
  EXPECT_EQ(report.named, 2U);
  ASSERT_EQ(report.ops.size(), 2U);
  EXPECT_EQ(report.ops[0].op, "aten::mm");
  EXPECT_EQ(report.ops[0].ns, 50);
  EXPECT_EQ(report.ops[1].ns, 40);
}

TEST(Replays, TheOrderDecidesIfNamesAreMissing) {
  TraceMaker maker;
  const Trace trace = replay(maker, 5000).build();
  const Links links = link_trace(trace);
  const FlowRun run = run_of(trace, links);
  for (const char* last : {"", "add"}) {
    const ReplayJoin join = join_replays(run, recorded("", last));
    EXPECT_EQ(join.joined, 3U);
    EXPECT_EQ(join.named, *last == 0 ? 0U : 1U);
  }
}

TEST(Replays, KernelsOfOtherNamesAreNotJoined) {
  TraceMaker maker;
  const Trace trace = replay(maker, 5000).build();
  const Links links = link_trace(trace);
  const FlowRun run = run_of(trace, links);
  for (const char* last : {"mul", "add<int>", "_Z3mulIfEvPf"}) {
    const ReplayJoin join = join_replays(run, recorded("gemm", last));
    const bool cut = std::string(last) == "add<int>";  // one name has no template arguments
    EXPECT_EQ(join.joined, cut ? 3U : 0U) << last;
    EXPECT_EQ(join.ambiguous, cut ? 0U : 3U) << last;
  }
  std::vector<CapturedGraph> both = recorded("gemm", "mul");
  both.push_back(recorded("gemm", "add")[0]);
  both[0].nodes[2].op = "aten::mul";
  EXPECT_EQ(join_replays(run, both).joined, 3U);  // names tell the recordings apart
  const ReplayJoin partly = join_replays(run, recorded("", "mul"));
  EXPECT_EQ(partly.joined, 0U);
  EXPECT_EQ(partly.ambiguous, 3U);
}

// Both products have one name, and the addition ran between them or not: which is which by the
// order among equal names, but where the order of all says another operator.
TEST(Replays, EqualNamesInAnotherOrderAreAmbiguousWhereOperatorsDiffer) {
  const auto item = [](uint32_t name) { return ReplayItem{.copies = false, .name = name}; };
  ReplayNames names;
  const uint32_t gemm = names.add("gemm");
  const uint32_t add = names.add("add");
  const std::vector<ReplayItem> nodes = {item(gemm), item(gemm), item(add)};
  const ReplayFit fit = fit_replay(names, {item(add), item(gemm), item(gemm)}, nodes, false);
  ASSERT_EQ(fit.kind, ReplayFitKind::kFits);
  EXPECT_EQ(fit.node, (std::vector<uint32_t>{2, 0, 1}));
  EXPECT_EQ(fit.by_order, (std::vector<uint32_t>{2, 1, 1}));  // the first product may be the second
  EXPECT_EQ(fit_replay(names, {item(add), item(gemm), item(gemm)}, nodes, true).kind,
            ReplayFitKind::kOtherNames);  // ids of nodes tell the order
}

// What an operator of this name was called with in every row of it.
void tell_inputs(Trace& trace, std::string_view op, std::string_view dims, std::string_view types) {
  const StringId sizes = trace.strings.intern(dims);
  const StringId names = trace.strings.intern(types);
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    if (trace.text(trace.ops.name[i]) != op) continue;
    trace.op_inputs.push_back({OpId(i), sizes, names, StringId(0), StringId(0)});
  }
}

// A product of 2 x 3 and 3 x 4: 48 FLOP. The addition's sizes are not told.
TEST(Replays, NodesHaveTheWorkOfTheRecordedCall) {
  TraceMaker maker;
  capture(maker, 1000, "aten::add");
  replay(maker, 5000);
  replay(maker, 6000);
  Trace trace = maker.build();
  tell_inputs(trace, "aten::mm", "[[2,3],[3,4]]", R"(["float","float"])");
  const Links links = link_trace(trace);
  const FlowRun run = run_of(trace, links);
  const ReplayReport report = find_replays(run, nullptr);
  ASSERT_EQ(report.activities.size(), 6u);
  ASSERT_EQ(report.calls.size(), 1u);
  EXPECT_EQ(report.calls[0].op, "aten::mm");
  EXPECT_EQ(report.calls[0].shape, "[2,3] [3,4] fp32");
  EXPECT_EQ(report.calls[0].work.flop, 48);
  const ReplayedActivity& first = report.activities[0];
  EXPECT_EQ(report.nodes[first.node].call, 0u);
  EXPECT_FALSE(first.sizes_differ);
  const ReplayedActivity& third = report.activities[2];
  EXPECT_EQ(third.launch, first.launch);
  EXPECT_EQ(report.nodes[third.node].call, kNoCallWork);
  EXPECT_EQ(report.nodes[third.node].no_work, NoWork::kNoShapes);
  EXPECT_EQ(report.nodes[third.node].no_work_op, "aten::add");
  EXPECT_NE(report.activities[3].launch, first.launch);
}

// Graphs for two batch sizes have the same operators: a replay has those, and no work.
TEST(Replays, RecordingsOfOtherSizesLeaveTheFlopUnknown) {
  TraceMaker maker;
  capture(maker, 1000, "aten::add");
  capture(maker, 3000, "aten::add");
  replay(maker, 5000);
  Trace trace = maker.build();
  tell_inputs(trace, "aten::mm", "[[2,3],[3,4]]", R"(["float","float"])");
  const Links links = link_trace(trace);
  const FlowRun run = run_of(trace, links);
  EXPECT_FALSE(find_replays(run, nullptr).activities.at(0).sizes_differ);
  trace.op_inputs.dims.back() = trace.strings.intern("[[8,3],[3,4]]");
  const ReplayReport report = find_replays(run, nullptr);
  EXPECT_EQ(report.joined, 3u);
  EXPECT_TRUE(report.activities.at(0).sizes_differ);
}

// 16 queries in two sequences of 8, of which each key is one: told by values, which are others in a
// replay.
TEST(Replays, WorkOfRecordedLengthsIsNoneOfAReplay) {
  constexpr std::string_view kAttention = "flash_attn::_flash_attn_varlen_forward";
  TraceMaker maker;
  capture(maker, 1000, std::string(kAttention));
  replay(maker, 5000);
  Trace trace = maker.build();
  tell_inputs(trace, kAttention, "[[16,4,32],[16,4,32],[16,4,32],[3],[3],[],[],[],[],[],[],[]]",
              R"(["c10::Half","c10::Half","c10::Half","int","int","Scalar","Scalar"])");
  trace.op_inputs.concrete.back() =
      trace.strings.intern(R"(["","","","","","8","8","0.0","1.0","False","-1","-1"])");
  const Links links = link_trace(trace);
  const FlowRun run = run_of(trace, links);
  const std::vector<CapturedGraph> graphs = captured_graphs(run);
  ASSERT_EQ(graphs.at(0).calls.size(), 1u);
  EXPECT_EQ(graphs[0].calls[0].work.flop, 2 * 2 * 4 * (8 * 8) * (32 + 32));
  EXPECT_EQ(graphs[0].nodes[2].call, kNoCallWork);
  EXPECT_EQ(graphs[0].nodes[2].no_work, NoWork::kUntold);
}

TEST(Replays, CopiesAtOtherPlacesDoNotFit) {
  TraceMaker maker;
  capture(maker, 1000, "aten::add");
  maker.call(1, "cudaGraphLaunch", 5000, 20, 9);
  maker.copy(0, 7, "Memcpy DtoD", 5100, 50, 9);
  maker.kernel(0, 7, "gemm", 5160, 10, 9);
  maker.kernel(0, 7, "add", 5180, 30, 9);
  const Trace trace = maker.build();
  const Links links = link_trace(trace);
  const FlowRun run = run_of(trace, links);
  EXPECT_EQ(join_replays(run, captured_graphs(run)).joined, 0u);
}

}  // namespace
}  // namespace assay
