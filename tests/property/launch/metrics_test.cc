// Invariants of the launch metrics, the call tree and the kernel list, on random traces with
// several threads, streams, graphs, copies, unlinked kernels and clock trouble.

#include "launch/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "flow/run.h"
#include "launch/fusion.h"
#include "launch/idle.h"
#include "launch/tree.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

struct Shape {
  int64_t shift_ns = 0;         // added to every time
  int64_t device_shift_ns = 0;  // added to device times besides
  bool orderly = false;         // only positive launch times, everything linked
};

// The same seed gives the same trace but for the shifts.
Trace random_trace(uint32_t seed, const Shape& shape) {
  std::mt19937 rng(seed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(rng() % n); };
  TraceMaker maker;
  int64_t now = 1'000'000 + shape.shift_ns;
  uint32_t correlation = 0;
  const int64_t rounds = 5 + below(30);
  for (int64_t i = 0; i < rounds; ++i) {
    const int64_t thread = 1 + below(2);
    const int64_t width = 2'000 + below(20'000);
    const std::string outer = "outer" + std::to_string(below(3));
    const std::string inner = "inner" + std::to_string(below(3));
    if (below(5) > 0) maker.op(thread, outer, now, width);
    if (below(3) > 0) maker.op(thread, inner, now + width / 4, width / 2);
    ++correlation;
    const bool graph = below(6) == 0;
    const char* call = graph ? "cudaGraphLaunch" : "cudaLaunchKernel";
    const bool linked = shape.orderly || below(8) > 0;
    const int64_t call_dur = below(8) == 0 ? 150'000 : 1'000;
    if (linked) maker.call(thread, call, now + width / 3, call_dur, correlation);
    const int64_t latency = shape.orderly ? below(50'000) : below(60'000) - 15'000;
    const int64_t kernels = graph ? 1 + below(5) : 1 + (below(10) == 0 ? 1 : 0);
    int64_t start = now + width / 3 + latency + shape.device_shift_ns;
    for (int64_t k = 0; k < kernels; ++k) {
      const int64_t dur = below(30'000);
      maker.kernel(0, 7 + below(2), "k" + std::to_string(below(4)), start, dur, correlation);
      start += below(40'000);
    }
    if (below(4) == 0) {
      maker.call(thread, "cudaMemcpyAsync", now + width, 500, 1'000'000 + correlation)
          .copy(0, 7, below(2) ? "Memcpy DtoH" : "Memcpy HtoD",
                now + width + 5'000 + shape.device_shift_ns, 3'000, 1'000'000 + correlation);
    }
    if (below(4) == 0) maker.call(thread, "cudaDeviceSynchronize", now + width, below(90'000), 0);
    now += width + below(100'000);
    if (below(10) == 0) now += 2'000'000;
  }
  return maker.build();
}

Windows random_windows(uint32_t seed, const Shape& shape) {
  std::mt19937 rng(seed + 1);
  Windows windows;
  windows.source = WindowSource::kProfilerStep;
  int64_t now = 900'000 + shape.shift_ns;
  for (int i = 0; i < 6; ++i) {
    const int64_t end = now + 50'000 + static_cast<int64_t>(rng() % 900'000);
    windows.windows.push_back({"step " + std::to_string(i), now, end});
    now = end + static_cast<int64_t>(rng() % 3) * 40'000;
  }
  return windows;
}

LaunchReport analyze(uint32_t seed, const Shape& shape, const LaunchOptions& options = {}) {
  const Trace trace = random_trace(seed, shape);
  const Links links = link_trace(trace);
  const DeviceFlow flow = joint_flow(make_flow_run(trace, links));
  LaunchOptions asked = options;
  asked.flow = &flow;
  const auto report = analyze_launch(trace, links, random_windows(seed, shape), asked);
  EXPECT_TRUE(report);
  return *report;
}

// With copies counted as busy, idle from the union may be below equation 5, which knows only
// kernels.
void expect_parts_sum(const LaunchMetrics& m, bool copies, const std::string& where) {
  SCOPED_TRACE(where + " " + m.name);
  EXPECT_LE(m.linked, m.kernels);
  EXPECT_LE(m.launches, m.linked);
  EXPECT_EQ(m.launch_time.n + m.dropped, m.launches);
  EXPECT_GE(m.tklqt_ns, 0);
  EXPECT_GE(m.il_ns, 0);
  EXPECT_EQ(m.gpu_idle_eq5_ns, m.il_ns - m.kernel_sum_ns);
  EXPECT_EQ(m.gpu_idle_union_ns, m.il_ns - m.busy_in_window_ns);
  EXPECT_GE(m.gpu_idle_union_ns, 0);
  if (!copies) {
    EXPECT_GE(m.gpu_idle_union_ns, m.gpu_idle_eq5_ns);
  }
  EXPECT_LE(m.kernel_union_ns, m.kernel_sum_ns);
  if (!m.tklqt_bracket.refused) {
    EXPECT_LE(m.tklqt_bracket.low_ns, m.tklqt_ns);
    EXPECT_GE(m.tklqt_bracket.high_ns, m.tklqt_ns);
  }
  if (!m.gpu_idle_bracket.refused) {
    EXPECT_LE(m.gpu_idle_bracket.low_ns, m.gpu_idle_union_ns);
    EXPECT_GE(m.gpu_idle_bracket.high_ns, m.gpu_idle_union_ns);
    EXPECT_GE(m.gpu_idle_bracket.low_ns, 0);
    EXPECT_LE(m.gpu_idle_bracket.high_ns, m.il_ns);
  }
  if (m.cpu_idle_known) {
    EXPECT_EQ(m.cpu_idle_ns, m.il_ns - m.cpu_busy_ns);
    EXPECT_EQ(m.cpu_idle_ns, m.cpu_blocked_ns + m.cpu_unrecorded_ns);
    EXPECT_GE(m.cpu_busy_ns, 0);
    EXPECT_GE(m.cpu_unrecorded_ns, 0);
  }
  ASSERT_TRUE(m.idle_told);
  int64_t told_ns = m.idle.copy_ns + m.idle.other_work_ns;
  for (const int64_t cause_ns : m.idle.cause_ns) {
    EXPECT_GE(cause_ns, 0);
    told_ns += cause_ns;
  }
  EXPECT_EQ(told_ns, m.gpu_idle_union_ns);
  EXPECT_GE(m.idle.copy_ns, 0);
  EXPECT_GE(m.idle.other_work_ns, 0);
  EXPECT_LE(m.idle.after_sync_ns, m.gpu_idle_union_ns);
  EXPECT_GE(m.queue_sum_ns, 0);
  if (!std::isnan(m.queue_share)) {
    EXPECT_EQ(m.floor_sum_ns + m.queue_sum_ns, m.tklqt_ns);
  }
}

class RandomLaunchTraces : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomLaunchTraces, PartsSumToWholes) {
  for (bool copies : {false, true}) {
    LaunchOptions options;
    options.count_copies = copies;
    options.top_kernels = 0;
    const LaunchReport report = analyze(GetParam(), {}, options);
    expect_parts_sum(report.whole, copies, "whole");
    uint64_t kernels = report.kernels_outside_iterations;
    int64_t kernel_sum = 0;
    int64_t tklqt = 0;
    for (const LaunchMetrics& iteration : report.iterations) {
      expect_parts_sum(iteration, copies, "iteration");
      kernels += iteration.kernels;
      kernel_sum += iteration.kernel_sum_ns;
      tklqt += iteration.tklqt_ns;
    }
    EXPECT_EQ(kernels, report.whole.kernels);
    EXPECT_LE(kernel_sum, report.whole.kernel_sum_ns);
    EXPECT_LE(tklqt, report.whole.tklqt_ns);
    uint64_t top = 0;
    for (const TopKernel& kernel : report.top_kernels) {
      top += kernel.count;
    }
    EXPECT_EQ(top, report.whole.kernels);
  }
}

// Slice by slice what IdleTime says in sums.
TEST_P(RandomLaunchTraces, IdleSlicesTileTheIdleTime) {
  for (const bool copies : {false, true}) {
    LaunchOptions options;
    options.count_copies = copies;
    const LaunchReport report = analyze(GetParam(), {}, options);
    const Trace trace = random_trace(GetParam(), {});
    const Links links = link_trace(trace);
    const DeviceFlow flow = joint_flow(make_flow_run(trace, links));
    IdleTime sums;
    int64_t last_end_ns = INT64_MIN;
    for (const IdleSlice& slice : idle_slices(flow, report.idle_gaps)) {
      ASSERT_LT(slice.span.start_ns, slice.span.end_ns);
      ASSERT_GE(slice.span.start_ns, last_end_ns);
      last_end_ns = slice.span.end_ns;
      const int64_t ns = slice.span.end_ns - slice.span.start_ns;
      if (slice.state == IdleState::kCopy) sums.copy_ns += ns;
      if (slice.state == IdleState::kOtherWork) sums.other_work_ns += ns;
      if (slice.state != IdleState::kCause) continue;
      sums.cause_ns[static_cast<size_t>(slice.slice->cause)] += ns;
      if (slice.slice->opened_by == OpenedBy::kSync) sums.after_sync_ns += ns;
    }
    EXPECT_EQ(sums.cause_ns, report.whole.idle.cause_ns);
    EXPECT_EQ(sums.copy_ns, report.whole.idle.copy_ns);
    EXPECT_EQ(sums.other_work_ns, report.whole.idle.other_work_ns);
    EXPECT_EQ(sums.after_sync_ns, report.whole.idle.after_sync_ns);
  }
}

// On one device, flow and this room agree about IL without looking at each other's intervals.
TEST_P(RandomLaunchTraces, IdleTimeIsWhatFlowLeavesIdleAndCopies) {
  const LaunchMetrics whole = analyze(GetParam(), {}).whole;
  const Trace trace = random_trace(GetParam(), {});
  const Links links = link_trace(trace);
  const std::vector<DeviceFlow> devices = device_flows(make_flow_run(trace, links));
  ASSERT_EQ(devices.size(), 1u);
  const FlowTotals totals = totals_in(devices[0], {whole.origin_ns, whole.origin_ns + whole.il_ns});
  EXPECT_EQ(totals.idle_ns + totals.copy_ns, whole.gpu_idle_union_ns);
  EXPECT_EQ(totals.cause_ns, whole.idle.cause_ns);
  EXPECT_EQ(totals.copy_ns, whole.idle.copy_ns);
  EXPECT_EQ(whole.idle.other_work_ns, 0);
}

void expect_same(const LaunchMetrics& a, const LaunchMetrics& b) {
  EXPECT_EQ(a.tklqt_ns, b.tklqt_ns);
  EXPECT_EQ(a.il_ns, b.il_ns);
  EXPECT_EQ(a.gpu_idle_eq5_ns, b.gpu_idle_eq5_ns);
  EXPECT_EQ(a.gpu_idle_union_ns, b.gpu_idle_union_ns);
  EXPECT_EQ(a.cpu_idle_ns, b.cpu_idle_ns);
  EXPECT_EQ(a.queue_sum_ns, b.queue_sum_ns);
  EXPECT_EQ(a.tklqt_bracket.high_ns, b.tklqt_bracket.high_ns);
  EXPECT_EQ(a.gpu_idle_bracket.low_ns, b.gpu_idle_bracket.low_ns);
  EXPECT_EQ(a.idle.cause_ns, b.idle.cause_ns);
  EXPECT_EQ(a.idle.after_sync_ns, b.idle.after_sync_ns);
}

TEST_P(RandomLaunchTraces, ACommonShiftChangesNothing) {
  const LaunchReport base = analyze(GetParam(), {});
  for (int64_t shift : {int64_t{-5'000'000}, int64_t{1'700'000'000'000'000'000}}) {
    const LaunchReport shifted = analyze(GetParam(), {.shift_ns = shift});
    expect_same(base.whole, shifted.whole);
    EXPECT_EQ(base.floor.floor_ns, shifted.floor.floor_ns);
    ASSERT_EQ(base.iterations.size(), shifted.iterations.size());
    for (size_t i = 0; i < base.iterations.size(); ++i) {
      expect_same(base.iterations[i], shifted.iterations[i]);
    }
  }
}

TEST_P(RandomLaunchTraces, ADeviceClockOffsetAddsItselfPerLaunch) {
  const LaunchMetrics base = analyze(GetParam(), {.orderly = true}).whole;
  for (int64_t offset : {1, 777, 1'000'000}) {
    const LaunchMetrics moved =
        analyze(GetParam(), {.device_shift_ns = offset, .orderly = true}).whole;
    EXPECT_EQ(moved.launches, base.launches);
    EXPECT_EQ(moved.tklqt_ns, base.tklqt_ns + offset * static_cast<int64_t>(base.launch_time.n));
    EXPECT_EQ(moved.il_ns, base.il_ns + offset);
  }
}

TEST_P(RandomLaunchTraces, TreeSumsAreExactPrunedOrNot) {
  const Trace trace = random_trace(GetParam(), {});
  const Links links = link_trace(trace);
  const LaunchMetrics whole = analyze(GetParam(), {}).whole;
  for (TreeOrder order : {TreeOrder::kLaunchQueue, TreeOrder::kDevice, TreeOrder::kHost}) {
    for (double share : {0.0, 0.05, 0.5}) {
      const auto tree = build_call_tree(trace, links, {order, share});
      ASSERT_TRUE(tree);
      const std::vector<CallTreeNode>& nodes = tree->nodes;
      EXPECT_EQ(nodes[0].kernels, whole.kernels);
      EXPECT_EQ(nodes[0].device_ns, whole.kernel_sum_ns);
      EXPECT_EQ(nodes[0].launch_queue_ns, whole.tklqt_ns);
      struct Sums {
        int64_t host = 0, launch_queue = 0, device = 0;
        uint64_t kernels = 0, children = 0;
      };
      std::vector<Sums> below(nodes.size());
      for (size_t i = 1; i < nodes.size(); ++i) {
        ASSERT_LT(nodes[i].parent, static_cast<int32_t>(i));
        ASSERT_EQ(nodes[i].depth, nodes[nodes[i].parent].depth + 1);
        Sums& sums = below[nodes[i].parent];
        sums.host += nodes[i].host_ns;
        sums.launch_queue += nodes[i].launch_queue_ns;
        sums.device += nodes[i].device_ns;
        sums.kernels += nodes[i].kernels;
        ++sums.children;
      }
      for (size_t i = 0; i < nodes.size(); ++i) {
        EXPECT_EQ(nodes[i].host_self_ns + below[i].host, nodes[i].host_ns);
        if (below[i].children == 0) continue;
        EXPECT_EQ(nodes[i].launch_queue_ns, below[i].launch_queue);
        EXPECT_EQ(nodes[i].device_ns, below[i].device);
        EXPECT_EQ(nodes[i].kernels, below[i].kernels);
      }
    }
  }
}

TEST_P(RandomLaunchTraces, TheKernelListAgreesWithTheMetrics) {
  const Trace trace = random_trace(GetParam(), {});
  const LaunchReport report = analyze(GetParam(), {});
  int64_t tklqt = 0;
  uint64_t linked = 0;
  std::vector<uint64_t> per_iteration(report.iterations.size(), 0);
  for (const KernelRow& row :
       list_kernels(trace, link_trace(trace), random_windows(GetParam(), {}))) {
    tklqt += row.launch_queue_ns >= 0 ? row.launch_queue_ns : 0;
    linked += row.call_name ? 1 : 0;
    if (row.iteration >= 0) ++per_iteration[row.iteration];
  }
  EXPECT_EQ(tklqt, report.whole.tklqt_ns);
  EXPECT_EQ(linked, report.whole.linked);
  for (size_t i = 0; i < per_iteration.size(); ++i) {
    EXPECT_EQ(per_iteration[i], report.iterations[i].kernels);
  }
}

TEST_P(RandomLaunchTraces, EveryKernelIsMinedOrAccountedFor) {
  const Trace trace = random_trace(GetParam(), {});
  const Links links = link_trace(trace);
  const Windows windows = random_windows(GetParam(), {});
  uint64_t none_segments = 0;
  for (SegmentRule rule :
       {SegmentRule::kNone, SegmentRule::kSync, SegmentRule::kRootOp, SegmentRule::kIteration}) {
    FusionOptions options;
    options.segment = rule;
    const auto report = analyze_fusion(trace, links, windows, options);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->k_eager + report->graph_kernels + report->unlinked_kernels +
                  report->outside_kernels,
              links.stats.kernels);
    EXPECT_LE(report->plan_min.launches_saved, report->plan.launches_saved);
    for (const ChainRow& row : report->chains) {
      EXPECT_LE(row.c_fused_min2, row.c_fused);
      EXPECT_LE(row.c_fused * (row.length - 1), report->plan.launches_saved);
    }
    uint64_t saved = 0;
    for (const std::vector<ActivityId>& run : report->planned_kernels) saved += run.size() - 1;
    for (const RecommendedChain& chain : report->recommended) {
      EXPECT_GE(chain.count, options.min_count);
      saved -= chain.launches_saved;
    }
    EXPECT_EQ(saved == 0, report->recommended_total == report->recommended.size());
    if (rule == SegmentRule::kNone) none_segments = report->segments;
    if (rule != SegmentRule::kIteration) {
      EXPECT_GE(report->segments, none_segments);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLaunchTraces, ::testing::Range(1u, 121u));

}  // namespace
}  // namespace assay
