// Which operator each node of a graph replay comes from. Times are nanoseconds.

#include "flow/replays.h"

#include <gtest/gtest.h>

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
