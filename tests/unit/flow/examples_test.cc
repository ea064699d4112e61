// The worked examples of docs/metrics.md, Flow: small runs whose causes, residuals and gains were
// worked out by hand. Times are nanoseconds; fewer than eight samples, so that the assumed floors
// hold: a launch takes 3000 (18000 is no longer usual), a successor 1500 (14000), an event 2000
// (14000).

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "flow/causes.h"
#include "flow/graph.h"
#include "flow/path.h"
#include "flow/replay.h"
#include "support/scaled_lags.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::activity_id;
using testing::TraceMaker;
using Causes = std::map<std::string, int64_t>;

// A trace with all that flow makes of it. What each example must hold is checked on the way.
struct Example {
  explicit Example(Trace made)
      : trace(std::move(made)),
        links(link_trace(trace)),
        run(make_flow_run(trace, links)),
        graph(make_flow_graph(run)),
        devices(device_flows(run)) {
    EXPECT_EQ(identity_errors(graph), 0u);
    const CriticalPath path = critical_path(run, graph);
    const int64_t causes = std::accumulate(path.cause_ns.begin(), path.cause_ns.end(), int64_t{0});
    const int64_t work = std::accumulate(path.work_ns.begin(), path.work_ns.end(), int64_t{0});
    EXPECT_EQ(causes + work + path.queue_ns + path.start_ns, path.makespan_ns);
    EXPECT_EQ(makespan_ns(run, graph, graph.time_ns), path.makespan_ns);
  }

  Interval window() const { return {run.start_ns, run.work_end_ns}; }
  int64_t gain(const FlowScale& scale) const {
    const std::vector<int64_t> lags = scaled_lags(run, graph, scale);
    const ReplayOptions options{.residuals = Residuals::kKeep, .lags_ns = &lags};
    return makespan_ns(run, graph, replay(graph, {})) -
           makespan_ns(run, graph, replay(graph, options));
  }

  Trace trace;
  Links links;
  FlowRun run;
  FlowGraph graph;
  std::vector<DeviceFlow> devices;
};

Causes named(const FlowTotals& totals) {
  Causes causes;
  for (size_t c = 0; c < kFlowCauses; ++c) {
    if (totals.cause_ns[c] != 0) {
      causes[std::string(flow_cause_name(static_cast<FlowCause>(c)))] = totals.cause_ns[c];
    }
  }
  return causes;
}

Causes idle_of(const Example& example) {
  const FlowTotals totals = totals_in(example.devices.at(0), example.window());
  EXPECT_EQ(totals.compute_ns + totals.collective_ns + totals.copy_ns + totals.idle_ns,
            totals.window_ns);
  return named(totals);
}

FlowScale without(FlowCause cause) {
  FlowScale scale;
  scale.cause[static_cast<size_t>(cause)] = 0;
  return scale;
}

TEST(FlowExamples, PendingLaunch) {
  const Example run(TraceMaker()
                        .call(1, "cudaLaunchKernel", 0, 4000, 1)
                        .call(1, "cudaLaunchKernel", 4000, 4000, 2)
                        .kernel(0, 7, "k1", 7000, 10000, 1)
                        .kernel(0, 7, "k2", 100000, 10000, 2)
                        .build());
  EXPECT_EQ(idle_of(run), (Causes{{"call", 4000}, {"latency", 17000}, {"unseen", 69000}}));
  // k2 could begin at 17000 + 1500.
  EXPECT_EQ(run.graph.residual_ns[run.graph.work_point(1, false)], 81500);
  EXPECT_EQ(run.run.works[1].activity, activity_id(run.trace, "k2"));
}

// Few launches tell what one takes here: the shortest, and not a time that is usual elsewhere. k4
// began while its call still ran: when it was handed over is not known.
TEST(FlowExamples, FewLaunches) {
  const Example run(TraceMaker()
                        .call(1, "cudaLaunchKernel", 0, 4000, 1)
                        .call(1, "cudaLaunchKernel", 100000, 4000, 2)
                        .call(1, "cudaLaunchKernel", 200000, 4000, 3)
                        .call(1, "cudaLaunchKernel", 300000, 9000, 4)
                        .kernel(0, 7, "k1", 10500, 10000, 1)
                        .kernel(0, 7, "k2", 110200, 10000, 2)
                        .kernel(0, 7, "k3", 230000, 10000, 3)
                        .kernel(0, 7, "k4", 303000, 10000, 4)
                        .build());
  EXPECT_EQ(run.run.floors.launch.typical_ns, 6200);
  EXPECT_TRUE(run.run.floors.launch.assumed);
}

// Times behind the work before of which most waited for their launches: what is usual is the
// shortest that did not, and no median of both.
TEST(FlowExamples, SuccessorsThatWaitedForLaunches) {
  TraceMaker made;
  for (uint32_t i = 0; i < 12; ++i) {
    const int64_t at_ns = 100000 * static_cast<int64_t>(i);
    const uint32_t id = 2 * i + 1;
    made.call(1, "cudaLaunchKernel", at_ns, 4000, id);
    made.kernel(0, 7, "first", at_ns + 10000, 4000, id);  // 6000 behind its call
    made.call(1, "cudaLaunchKernel", at_ns + 9000, 4000, id + 1);
    // Launched at 13000, the work before ends at 14000: 19000 by its launch.
    made.kernel(0, 7, "second", at_ns + 19000, 4000, id + 1);
  }
  // One that was launched long before its turn.
  made.call(1, "cudaLaunchKernel", 1300000, 4000, 101);
  made.call(1, "cudaLaunchKernel", 1304000, 4000, 102);
  made.kernel(0, 7, "first", 1310000, 20000, 101);
  made.kernel(0, 7, "second", 1331200, 4000, 102);
  const Example run(made.build());
  EXPECT_EQ(run.run.floors.launch.typical_ns, 6000);
  EXPECT_EQ(run.run.floors.stream.typical_ns, 1200);
}

TEST(FlowExamples, Allocation) {
  const Example run(TraceMaker()
                        .call(1, "hipLaunchKernel", 0, 4000, 1)
                        .call(1, "hipFree", 5000, 55000, 2)
                        .call(1, "hipLaunchKernel", 61000, 4000, 3)
                        .kernel(0, 0, "k1", 6000, 10000, 1)
                        .kernel(0, 0, "k2", 67000, 10000, 3)
                        .build());
  EXPECT_EQ(idle_of(run),
            (Causes{{"alloc", 44000}, {"call", 8000}, {"host_gap", 1000}, {"latency", 4000}}));
  // More than the idle time of the cause: launch and latency then hide under k1.
  EXPECT_EQ(run.gain(without(FlowCause::kAlloc)), 49500);
}

TEST(FlowExamples, EventWait) {
  Trace trace = TraceMaker()
                    .call(1, "cudaLaunchKernel", 0, 3000, 1)
                    .call(1, "cudaEventRecord", 3200, 0, 10)
                    .call(1, "cudaStreamWaitEvent", 3500, 0, 11)
                    .call(1, "cudaMemcpyAsync", 4000, 3000, 2)
                    .kernel(0, 7, "k1", 5000, 40000, 1)
                    .copy(0, 9, "copy", 47000, 10000, 2)
                    .activity(ActivityKind::kSync, 0, 9, "Stream Wait Event", 3500, 0, 11)
                    .build();
  trace.waits.push_back(
      {activity_id(trace, "Stream Wait Event"), WaitKind::kStreamWaitEvent, 7, 10});
  const Example run(std::move(trace));
  EXPECT_EQ(run.run.recorded_waits, 1u);
  EXPECT_EQ(idle_of(run), (Causes{{"call", 3000}, {"latency", 4000}}));
  const FlowTotals totals = totals_in(run.devices[0], run.window());
  EXPECT_EQ(totals.latency_ns[static_cast<size_t>(ReadyBy::kLaunch)], 2000);
  EXPECT_EQ(totals.latency_ns[static_cast<size_t>(ReadyBy::kEvent)], 2000);
  const StreamId copies = run.trace.activities.stream[activity_id(run.trace, "copy").index()];
  EXPECT_EQ(named(slice_totals(stream_idle(run.run, copies), run.window())),
            (Causes{{"call", 6000}, {"host_gap", 1000}, {"latency", 2000}, {"wait_other", 38000}}));
  FlowScale half;
  half.work[static_cast<size_t>(WorkKind::kCompute)] = 0.5;
  EXPECT_EQ(run.gain(half), 20000);
}

TEST(FlowExamples, SyncRemoval) {
  const Example run(TraceMaker()
                        .call(1, "cudaLaunchKernel", 0, 4000, 1)
                        .call(1, "cudaStreamSynchronize", 4000, 34000, 2)
                        .frame(1, "train.py(3): step", 38000, 40000)
                        .call(1, "cudaLaunchKernel", 78000, 4000, 3)
                        .kernel(0, 7, "k1", 6000, 30000, 1)
                        .kernel(0, 7, "k2", 84000, 30000, 3)
                        .build());
  EXPECT_EQ(idle_of(run),
            (Causes{{"call", 8000}, {"latency", 4000}, {"python", 40000}, {"sync", 2000}}));
  // The gap that began in the sync is 48000 long: that is not what removing the sync gives.
  const FlowTotals totals = totals_in(run.devices[0], run.window());
  int64_t opened_by_sync = 0;
  for (size_t c = 0; c < kFlowCauses; ++c) {
    opened_by_sync += totals.opened_ns[c][static_cast<size_t>(OpenedBy::kSync)];
  }
  EXPECT_EQ(opened_by_sync, 48000);
  EXPECT_EQ(run.gain(without(FlowCause::kSync)), 34000);
  EXPECT_EQ(run.gain(without(FlowCause::kPython)), 40000);
  FlowScale both = without(FlowCause::kSync);
  both.cause[static_cast<size_t>(FlowCause::kPython)] = 0;
  EXPECT_EQ(run.gain(both), 46500);
}

}  // namespace
}  // namespace assay
