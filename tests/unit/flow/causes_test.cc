// Rules of causes, one small run each; times in nanoseconds, worked out by hand.

#include "flow/causes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "flow/graph.h"
#include "flow/names.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;
using Causes = std::map<std::string, int64_t>;

constexpr int64_t kMs = 1'000'000;

struct Idle {
  Causes causes;
  std::vector<Contributor> contributors;
  FlowTotals totals;
};

Idle idle_of(const Trace& trace) {
  const Links links = link_trace(trace);
  const FlowRun run = make_flow_run(trace, links);
  Idle idle;
  ContributorSums sums(trace);
  const Interval window{run.start_ns, run.work_end_ns};
  for (const DeviceFlow& device : device_flows(run)) {
    idle.totals += totals_in(device, window);
    sums.add(device.idle, window);
  }
  idle.contributors = sums.top(8);
  for (size_t c = 0; c < kFlowCauses; ++c) {
    if (idle.totals.cause_ns[c] != 0) {
      idle.causes[std::string(flow_cause_name(static_cast<FlowCause>(c)))] =
          idle.totals.cause_ns[c];
    }
  }
  return idle;
}

// A kernel that begins 2 us after a call of 4 us, at `at_ns`.
TraceMaker& launch(TraceMaker& maker, int64_t at_ns, uint32_t correlation, int64_t kernel_ns,
                   int64_t thread = 1) {
  return maker.call(thread, "cudaLaunchKernel", at_ns, 4000, correlation)
      .kernel(0, 7, "k" + std::to_string(correlation), at_ns + 6000, kernel_ns, correlation);
}

// Sixty launches, one every 60 us, of kernels of 20 us that begin 400 us later, each behind others
// on their way.
Trace far_away(int64_t way_us, bool every_second_late = false) {
  TraceMaker maker;
  for (uint32_t i = 0; i < 60; ++i) {
    const int64_t at_ns = i * 60'000;
    const int64_t late_us = every_second_late && i % 2 == 1 ? 18 : 0;
    maker.op(1, "aten::mm", at_ns, 60'000)
        .call(1, "cudaLaunchKernel", at_ns + 50'000, 5'000, i + 1)
        .kernel(0, 7, "k", at_ns + 55'000 + (way_us + late_us) * 1000, 20'000, i + 1);
  }
  return maker.build();
}

TEST(FlowCauses, LaunchesThatAreAllOnTheirWayForLongAreTheHosts) {
  Causes causes = idle_of(far_away(400)).causes;
  EXPECT_EQ(causes.count("unseen"), 0u);
  // 59 gaps of 40 us and the time until the first kernel: each has a call of 5 us, and 3 us that
  // launches take at any rate.
  EXPECT_EQ(causes["call"], 60 * 5'000);
  EXPECT_EQ(causes["latency"], 60 * 3'000);
  EXPECT_EQ(causes["dispatch"], 59 * 32'000 + 50'000);
}

TEST(FlowCauses, OccasionalDelaysAreNotALongPath) {
  const Causes causes = idle_of(far_away(100, true)).causes;
  ASSERT_EQ(causes.count("unseen"), 1u);
  EXPECT_GT(causes.at("unseen"), 1'000'000);
}

TEST(FlowCauses, ShortCopiesToPageableMemoryWaitAndOthersDoNot) {
  const auto causes_with = [](const char* name) {
    TraceMaker maker;
    for (uint32_t i = 0; i < 10; ++i) {
      const int64_t at_ns = i * 30'000;
      maker.call(1, "cudaMemcpyAsync", at_ns, 15'000, i + 1)
          .copy(0, 7, name, at_ns + 10'000, 2'000, i + 1);
    }
    return idle_of(maker.build()).causes;
  };
  EXPECT_EQ(causes_with("Memcpy DtoH (Device -> Pageable)").count("sync"), 1u);
  EXPECT_EQ(causes_with("Memcpy DtoH (Device -> Pinned)").count("sync"), 0u);
  EXPECT_EQ(causes_with("Memcpy HtoD (Pageable -> Device)").count("sync"), 0u);
}

TEST(FlowCauses, KernelsWithoutCallsAreNotUsed) {
  const Idle idle =
      idle_of(TraceMaker().kernel(0, 7, "a", 1000, 500, 0).kernel(0, 7, "b", 9000, 500, 0).build());
  EXPECT_EQ(idle.causes, (Causes{{"no_evidence", 7500}}));
}

// Work queued before the trace: usual after its predecessor, then unseen.
TEST(FlowCauses, CarriedOverWork) {
  TraceMaker maker;
  maker.kernel(0, 7, "old1", 0, 10000, 901).kernel(0, 7, "old2", 60000, 10000, 902);
  launch(maker, 20000, 1, 10000);
  maker.kernel(0, 7, "k2", 80000, 1000, 2).call(1, "cudaLaunchKernel", 24000, 4000, 2);
  const Idle idle = idle_of(maker.build());
  // Device busy [0, 10000), [26000, 36000), [60000, 70000), [80000, 81000). old2 is linked to no
  // call and begins after k1: no record. k2 was ready when k1 ended and could begin at once.
  EXPECT_EQ(idle.totals[FlowCause::kNoEvidence], 24000);
}

TEST(FlowCauses, TheDeviceBeforeTheHost) {
  // k2 is late from 38000 on, though the host sits in a loader all the while.
  TraceMaker maker;
  launch(maker, 0, 1, 10000);
  maker.call(1, "cudaLaunchKernel", 4000, 4000, 2)
      .op(1, "enumerate(DataLoader)#it.__next__", 8000, 92000)
      .kernel(0, 7, "k2", 100000, 1000, 2);
  const Idle idle = idle_of(maker.build());
  // 6000 before k1 (4000 in the call, 2000 until it begins), 14000 usual after it, then unseen.
  EXPECT_EQ(idle.causes, (Causes{{"call", 4000}, {"latency", 16000}, {"unseen", 70000}}));
  EXPECT_EQ(idle.contributors.front().cause, FlowCause::kUnseen);
}

TEST(FlowCauses, CallsInALoaderCountAsLoading) {
  TraceMaker maker;
  launch(maker, 0, 1, 10000);
  maker.op(1, "enumerate(DataLoader)#it.__next__", 4000, 96000)
      .op(1, "aten::stack", 20000, 30000)
      .call(1, "cudaPointerGetAttributes", 60000, 10000, 0)
      .call(1, "cudaHostAlloc", 80000, 15000, 0);
  launch(maker, 100000, 2, 1000);
  const Idle idle = idle_of(maker.build());
  // Idle [16000, 106000): the allocation keeps its name, 15000; the last 6000 are launch.
  EXPECT_EQ(idle.causes,
            (Causes{{"alloc", 15000}, {"call", 8000}, {"input", 69000}, {"latency", 4000}}));
}

TEST(FlowCauses, WaitingForTheOutside) {
  TraceMaker maker;
  launch(maker, 0, 1, 10000);
  maker.frame(1, "server.py(10): loop", 4000, 96000)
      .frame(1, "<built-in method poll of select.epoll object>", 20000, 70000);
  launch(maker, 100000, 2, 1000);
  const Idle idle = idle_of(maker.build());
  EXPECT_EQ(
      idle.causes,
      (Causes{{"call", 8000}, {"latency", 4000}, {"nothing_asked", 70000}, {"python", 14000}}));
}

// The second device has nothing to do while the host waits for the first.
TEST(FlowCauses, TheHostWaitsForAnotherDevice) {
  TraceMaker maker;
  maker.call(1, "cudaLaunchKernel", 0, 4000, 1).kernel(0, 7, "k1", 6000, 44000, 1);
  maker.call(1, "cudaDeviceSynchronize", 8000, 44000, 0);
  maker.call(1, "cudaLaunchKernel", 52000, 4000, 2).kernel(1, 17, "k2", 58000, 2000, 2);
  const Idle idle = idle_of(maker.build());
  // Device 0: 6000 before k1, 10000 after it that nobody asks for. Device 1: 4000 in the first
  // call, 4000 of silence, waiting from 8000 to 50000, 2000 until the call returns, 4000 + 2000 of
  // launch.
  EXPECT_EQ(idle.causes, (Causes{{"call", 12000},
                                 {"host_gap", 4000},
                                 {"latency", 4000},
                                 {"nothing_asked", 10000},
                                 {"sync", 2000},
                                 {"wait_other", 42000}}));
}

TEST(FlowCauses, HowManyDevicesWorkAtOnce) {
  DeviceFlow one;
  one.compute = {{0, 30}, {50, 60}};
  one.copy = {{30, 40}};
  DeviceFlow other;
  other.compute = {{20, 35}, {60, 80}};
  const DeviceOverlap overlap = overlap_in({one, other}, {10, 70});
  EXPECT_EQ(overlap.any_ns, 50);  // [10, 40) and [50, 70)
  EXPECT_EQ(overlap.several_ns, 15);
}

// A lock below a queue waits for the outside; a bare lock may be anybody's.
TEST(FlowCauses, LocksBelowQueues) {
  EXPECT_TRUE(classify_host_name("queue.py(154): get").queue);
  EXPECT_TRUE(classify_host_name("<built-in method acquire of _thread.lock object>").lock);
  EXPECT_FALSE(classify_host_name("<built-in method acquire of _thread.lock object>").outside);
  EXPECT_TRUE(classify_host_name("torch/utils/data/dataloader.py(628): __next__").input);
  EXPECT_TRUE(classify_host_name("IteratorGetNext").input);
  EXPECT_FALSE(classify_host_name("train.py(3): build_dataloader").input);
  EXPECT_TRUE(classify_host_name("triton/compiler/compiler.py(226): compile").cold);
  EXPECT_FALSE(classify_host_name("triton/runtime/jit.py(574): run").cold);
  EXPECT_FALSE(classify_host_name("torch/_inductor/output_code.py(466): __call__").cold);
}

TEST(FlowCauses, FirstCallsAndLoading) {
  TraceMaker maker;
  maker.call(1, "cudaFree", 0, 5 * kMs, 1);  // before any work: it makes the context
  launch(maker, 5 * kMs, 2, 10000);
  maker.call(1, "cuModuleLoadData", 6 * kMs, 100'000, 3);
  launch(maker, 7 * kMs, 4, 10000);
  maker.call(1, "cudaFree", 8 * kMs, 2 * kMs, 5);  // in the middle of the run it is a release
  launch(maker, 11 * kMs, 6, 10000);
  const Idle idle = idle_of(maker.build());
  EXPECT_EQ(idle.totals[FlowCause::kCold], 5 * kMs + 100'000);
  EXPECT_EQ(idle.totals[FlowCause::kAlloc], 2 * kMs);
}

// The first launch of a kernel loads its code; a later launch as long as that does not.
TEST(FlowCauses, FirstLaunchOfAKernel) {
  TraceMaker maker;
  launch(maker, 0, 1, 1000);
  maker.call(1, "cudaLaunchKernel", 20000, 2 * kMs, 2)
      .kernel(0, 7, "fresh", 20000 + 2 * kMs + 2000, 1000, 2);
  for (uint32_t i = 3; i < 9; ++i) launch(maker, 3 * kMs + i * 20000, i, 1000);
  maker.call(1, "cudaLaunchKernel", 4 * kMs, 2 * kMs, 20)
      .kernel(0, 7, "fresh", 6 * kMs + 2000, 1000, 20);
  const Idle idle = idle_of(maker.build());
  EXPECT_EQ(idle.totals[FlowCause::kCold], 2 * kMs);
  EXPECT_EQ(idle.totals.evidence_ns[static_cast<size_t>(FlowCause::kCold)]
                                   [static_cast<size_t>(CauseEvidence::kInferred)],
            2 * kMs);
}

// Where most launches bring a new kernel they tell nothing of what a launch takes.
TEST(FlowCauses, FirstLaunchesOfMostKernels) {
  const auto cold_of = [](bool again) {
    TraceMaker maker;
    int64_t at_ns = 0;
    for (uint32_t i = 1; i <= 5; ++i) {
      const int64_t call_ns = i == 2 ? 30'000 : i * kMs;
      maker.call(1, "cudaLaunchKernel", at_ns, call_ns, i)
          .kernel(0, 7, "k" + std::to_string(i), at_ns + call_ns - 3000, 1000, i);
      at_ns += call_ns + 10'000;
    }
    if (again) {
      maker.call(1, "cudaLaunchKernel", at_ns, 4000, 6).kernel(0, 7, "k1", at_ns + 6000, 1000, 6);
    }
    return idle_of(maker.build()).totals[FlowCause::kCold];
  };
  // 1, 3, 4 and 5 ms without their kernels; what lies behind the last work is no idle time.
  EXPECT_EQ(cold_of(false), 13 * kMs - 4 * 1000 - 2000);
  EXPECT_EQ(cold_of(true), 13 * kMs - 4 * 1000);
}

// A first copy of 44 us in a call of 335 ms, and others like it in calls of 60 us.
Trace start_in_copy(const char* name) {
  TraceMaker maker;
  for (uint32_t i = 0; i < 10; ++i) {
    const int64_t start_up_ns = i == 0 ? 334 * kMs : 0;
    const int64_t at_ns = i == 0 ? 0 : 335 * kMs + i * 100'000;
    maker.call(1, "hipMemcpy", at_ns, start_up_ns + 60'000, i + 1)
        .copy(0, 7, name, at_ns + start_up_ns + 8'000, 44'000, i + 1);
  }
  return maker.build();
}

TEST(FlowCauses, AProgramMayStartInItsFirstCopy) {
  const Idle idle = idle_of(start_in_copy("CopyHostToDevice"));
  EXPECT_EQ(idle.totals[FlowCause::kCold], 334 * kMs + 8'000);
  // What comes to the host may have waited for work from before the recording.
  EXPECT_EQ(idle_of(start_in_copy("CopyDeviceToHost")).totals[FlowCause::kCold], 0);
}

// A library of kernels makes its handle in the first product; a second product has it.
TEST(FlowCauses, AllocationsOfTheFirstOperatorOfAName) {
  const auto cold_of = [](bool again, bool busy) {
    TraceMaker maker;
    launch(maker, 0, 1, busy ? 20 * kMs : 10'000);
    for (uint32_t i = 0; i < 3; ++i) {
      const int64_t at_ns = kMs + i * 10 * kMs;
      maker.op(1, "aten::addmm", at_ns, 8 * kMs);
      if (i == 0 || again) maker.call(1, "cudaFree", at_ns + 1000, 5 * kMs, 10 + i);
      launch(maker, at_ns + 6 * kMs, 2 + i, 10'000);
    }
    return idle_of(maker.build()).totals[FlowCause::kCold];
  };
  EXPECT_EQ(cold_of(false, false), 5 * kMs);
  EXPECT_EQ(cold_of(true, false), 0);  // each product pays for it
  EXPECT_EQ(cold_of(false, true), 0);  // it may wait for the kernel
}

// Between loading code and the first kernel a program starts up, whatever it does.
TEST(FlowCauses, StartUp) {
  TraceMaker maker;
  maker.call(1, "hipModuleLoadData", 0, kMs, 1)
      .copy(0, 7, "CopyHostToDevice", kMs + 20000, 1000, 2)
      .call(1, "hipMemcpyWithStream", kMs, 22000, 2);
  launch(maker, 9 * kMs, 3, kMs);
  launch(maker, 12 * kMs, 4, 1000);
  const Idle idle = idle_of(maker.build());
  // The call that loads, and 7978000 of silence until the first kernel's launch; the silence after
  // it
  // ([10006000, 12000000)) is the program's.
  EXPECT_EQ(idle.totals[FlowCause::kCold], kMs + 7'978'000);
  EXPECT_EQ(idle.totals[FlowCause::kHostGap], 1'994'000);
}

// Thread 1 is silent from 10000 to 400000; thread 2 of its process loads code from 100000 on.
TEST(FlowCauses, ASilenceThatStartUpBeginsInIsCutThere) {
  TraceMaker maker;
  maker.op(1, "prepare", 0, 10'000).call(2, "cuModuleLoadData", 100'000, 50'000, 0);
  launch(maker, 400'000, 1, 10'000);
  const Idle idle = idle_of(maker.build());
  EXPECT_EQ(idle.causes, (Causes{{"call", 4000},
                                 {"cold", 300'000},
                                 {"dispatch", 10'000},
                                 {"host_gap", 90'000},
                                 {"latency", 2000}}));
}

TEST(FlowCauses, RecordingAGraphIsNotARun) {
  TraceMaker maker;
  launch(maker, 0, 1, 1000);
  maker.op(1, "capture", 10000, 200'000)
      .call(1, "hipStreamBeginCapture", 20000, 1000, 0)
      .call(1, "hipLaunchKernel", 50000, 5000, 30)
      .call(1, "hipStreamEndCapture", 119000, 1000, 0);
  launch(maker, 300'000, 2, 1000);
  const Idle idle = idle_of(maker.build());
  EXPECT_EQ(idle.totals[FlowCause::kCold], 100'000);
}

// Thread 1 is silent while thread 2, which launches to the same device, works.
TEST(FlowCauses, ASilentThreadWaitsForAnother) {
  TraceMaker maker;
  launch(maker, 0, 1, 1000);
  maker.op(2, "MulBackward0", 30000, 40000).op(2, "AddBackward0", 71000, 1000);
  launch(maker, 68000, 2, 1000, 2);
  launch(maker, 130'000, 3, 1000);
  const Trace trace = maker.build();
  const Links links = link_trace(trace);
  const FlowRun run = make_flow_run(trace, links);
  const FlowGraph graph = make_flow_graph(run);
  EXPECT_EQ(graph.hand_overs, 2u);  // to thread 2 and back
  const Idle idle = idle_of(trace);
  // Of thread 2's pieces before its launch 38000 in the operator, found by its own thread.
  EXPECT_EQ(idle.totals[FlowCause::kDispatch], 38000);
}

// All nodes of a graph launch are handed over at once.
TEST(FlowCauses, NodesOfAGraph) {
  TraceMaker maker;
  maker.call(1, "cudaGraphLaunch", 0, 4000, 1)
      .kernel(0, 7, "a", 7000, 10000, 1)
      .kernel(0, 8, "b", 19000, 10000, 1)
      .kernel(0, 7, "c", 90000, 10000, 1);
  const Idle idle = idle_of(maker.build());
  EXPECT_EQ(idle.totals.latency_ns[static_cast<size_t>(ReadyBy::kGraph)], 2000 + 14000);
  EXPECT_EQ(idle.totals[FlowCause::kUnseen], 90000 - 29000 - 14000);
}

// Rows that no call launches one by one do not hide what the host did before them.
TEST(FlowCauses, HelperRowsAreNotMissingLaunches) {
  TraceMaker maker;
  launch(maker, 0, 1, 1000);
  maker.op(1, "aten::mul", 4000, 60000)
      .activity(ActivityKind::kOther, 0, 7, "dma_request", 50000, 1000, 0);
  launch(maker, 64000, 2, 1000);
  const Idle idle = idle_of(maker.build());
  EXPECT_EQ(idle.totals[FlowCause::kNoEvidence], 0);
  EXPECT_EQ(idle.totals[FlowCause::kDispatch], 64000 - 7000 - 1000);
}

// After the last launch nobody asks the device for work, but the host takes pages back.
TEST(FlowCauses, PagesThatMoveAfterTheLastLaunchAreTheHosts) {
  TraceMaker maker;
  launch(maker, 0, 1, 1000);
  maker.activity(ActivityKind::kMemcpy, 0, 7, "Memcpy DtoH (Device -> Managed)", 50000, 1000, 0)
      .activity(ActivityKind::kMemcpy, 0, 7, "Memcpy DtoH (Device -> Managed)", 90000, 1000, 0);
  const Idle idle = idle_of(maker.build());
  EXPECT_EQ(idle.totals[FlowCause::kNothingAsked], 0);
  EXPECT_EQ(idle.totals[FlowCause::kHostGap], 50000 - 7000 + 90000 - 51000);
  for (const Contributor& part : idle.contributors) {
    EXPECT_EQ(part.source == RowSource::kActivity, part.cause == FlowCause::kHostGap);
  }
}

// An engine that copies without calls moves no managed memory.
TEST(FlowCauses, CountsDmaRowsWithoutCallsAsNoMigration) {
  TraceMaker maker;
  launch(maker, 0, 1, 1000);
  maker.activity(ActivityKind::kOther, 0, 7, "dma_request", 50000, 1000, 0);
  const Idle idle = idle_of(maker.build());
  EXPECT_EQ(idle.totals[FlowCause::kHostGap], 50000 - 7000);
  for (const Contributor& part : idle.contributors) EXPECT_NE(part.source, RowSource::kActivity);
}

// What would close a circle is cut, and the rest still replays exactly.
TEST(FlowGraph, WorkBeforeItsOwnCause) {
  TraceMaker maker;
  // x is launched after the wait for y, and y follows x on the stream: ids or clocks are wrong.
  maker.call(1, "cudaLaunchKernel", 0, 1000, 1)
      .call(1, "cudaStreamSynchronize", 2000, 50000, 2)
      .call(1, "cudaLaunchKernel", 60000, 1000, 3)
      .kernel(0, 7, "x", 10000, 1000, 3)
      .kernel(0, 7, "y", 20000, 1000, 1);
  const Trace trace = maker.build();
  const Links links = link_trace(trace);
  const FlowGraph graph = make_flow_graph(make_flow_run(trace, links));
  EXPECT_EQ(graph.cut_edges, 1u);
  EXPECT_EQ(graph.points(), 10u);
}

}  // namespace
}  // namespace assay
