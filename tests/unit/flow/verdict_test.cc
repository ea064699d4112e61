#include "flow/verdict.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

// A run of `works` kernels, each launched by one call after `prepare`.
struct Shape {
  int works = 100;
  int64_t kernel_ns = 20'000;
  int64_t host_ns = 100'000;  // between launches
  std::string op = {};        // around it; empty = nothing is recorded
  std::string call = {};      // in it, but for 2000
  bool waits = false;         // for the kernel, after launching it
  int64_t late_ns = 0;        // kernels begin that much later than they could
};

Trace run_of(const Shape& shape) {
  TraceMaker maker;
  int64_t now_ns = 0;
  int64_t free_ns = 0;
  for (int i = 0; i < shape.works; ++i) {
    const auto correlation = static_cast<uint32_t>(i + 1);
    if (!shape.op.empty()) maker.op(1, shape.op, now_ns, shape.host_ns);
    if (!shape.call.empty()) maker.call(1, shape.call, now_ns + 1000, shape.host_ns - 2000, 0);
    now_ns += shape.host_ns;
    maker.call(1, "cudaLaunchKernel", now_ns, 4000, correlation);
    now_ns += 4000;
    const int64_t start_ns = std::max(now_ns + 3000, free_ns + 1000) + shape.late_ns;
    free_ns = start_ns + shape.kernel_ns;
    maker.kernel(0, 7, "gemm", start_ns, shape.kernel_ns, correlation);
    if (shape.waits) {
      maker.call(1, "cudaStreamSynchronize", now_ns, free_ns + 5000 - now_ns, 0);
      now_ns = free_ns + 5000;
    }
  }
  return maker.build();
}

FlowVerdict judge(const Trace& trace) {
  const Links links = link_trace(trace);
  return judge_flow(trace, make_flow_report(trace, links, {}), {});
}
FlowVerdict judge(const Shape& shape) { return judge(run_of(shape)); }

TEST(FlowVerdict, DeviceBound) {
  const FlowVerdict verdict = judge({.kernel_ns = 500'000});
  EXPECT_EQ(verdict.bound, BoundBy::kGpu);
  EXPECT_TRUE(verdict.device_bound);
  EXPECT_EQ(verdict.lever, FirstLever::kFasterKernel);
  EXPECT_LT(verdict.device_idle_share, 0.01);
  EXPECT_FALSE(verdict.detail.has_value());
}

TEST(FlowVerdict, HostBound) {
  const FlowVerdict verdict = judge({.op = "aten::mm"});
  EXPECT_EQ(verdict.bound, BoundBy::kHost);
  EXPECT_EQ(verdict.detail, FlowCause::kDispatch);
  EXPECT_EQ(verdict.program.kind, ProgramKind::kPyTorch);
  EXPECT_EQ(verdict.lever, FirstLever::kGraphOrCompile);
  EXPECT_DOUBLE_EQ(verdict.absent_share, 0);
}

TEST(FlowVerdict, NothingRecordedOfTheHost) {
  const FlowVerdict verdict = judge(Shape{});
  EXPECT_EQ(verdict.bound, BoundBy::kHost);
  EXPECT_EQ(verdict.detail, FlowCause::kHostGap);
  EXPECT_EQ(verdict.program.kind, ProgramKind::kCuda);
  EXPECT_GT(verdict.absent_share, 0.9);
}

// 100 pieces of host work between launches, by operators of these names and lengths in turn.
Trace host_of(const std::vector<std::pair<std::string, int64_t>>& ops) {
  TraceMaker maker;
  int64_t now_ns = 0;
  for (int i = 0; i < 100; ++i) {
    const auto& [name, ns] = ops[static_cast<size_t>(i) % ops.size()];
    const auto correlation = static_cast<uint32_t>(i + 1);
    if (!name.empty()) maker.op(1, name, now_ns, ns);
    now_ns += ns;
    maker.call(1, "cudaLaunchKernel", now_ns, 4000, correlation);
    now_ns += 4000;
    maker.kernel(0, 7, "gemm", now_ns + 1000, 1000, correlation);
  }
  return maker.build();
}

TEST(FlowVerdict, StallsOfOneName) {
  const FlowVerdict verdict = judge(host_of({{"aten::mm", 20'000}, {"acme::step", 2'000'000}}));
  EXPECT_EQ(verdict.bound, BoundBy::kHost);
  EXPECT_EQ(verdict.lever, FirstLever::kLessHostWork);
  // The kernel behind the operator before still runs for 2 us of each pause.
  EXPECT_EQ(verdict.pauses.count, 50u);
  EXPECT_EQ(verdict.pauses.ns, 50 * 1'998'000);
  ASSERT_TRUE(verdict.pauses.who.has_value());
  EXPECT_EQ(verdict.pauses.who->source, RowSource::kOp);
  EXPECT_FALSE(verdict.pauses.stalls);
}

TEST(FlowVerdict, StallsOfAHeavyTailKeepMedianAndLongest) {
  std::vector<std::pair<std::string, int64_t>> ops(49, {"acme::step", 1'002'000});
  ops.emplace_back("acme::step", 800'002'000);
  const LeadingPauses pauses = judge(host_of(ops)).pauses;
  ASSERT_TRUE(pauses.who.has_value());
  for (const DurationSpread& spread : {pauses.all, pauses.of_who}) {
    EXPECT_EQ(spread.count, pauses.count);
    EXPECT_EQ(spread.median_ns, 1'000'000);
    EXPECT_EQ(spread.longest_ns, 800'000'000);
    EXPECT_EQ(spread.mean_ns, pauses.ns / static_cast<int64_t>(pauses.count));
    EXPECT_FALSE(spread.mean_is_typical());
  }
}

TEST(FlowVerdict, StallsTakeThreeTenthsOfAMillisecondAndHalfOfTheHost) {
  EXPECT_EQ(judge(host_of({{"acme::step", 301'000}})).pauses.count, 0u);  // 299 us idle
  EXPECT_GT(judge(host_of({{"acme::step", 302'000}})).pauses.count, 90u);
  // One pause of 400 us in ten pieces of 100 us is less than half of the host's time.
  std::vector<std::pair<std::string, int64_t>> ops(9, {"aten::mm", 100'000});
  ops.emplace_back("acme::step", 400'000);
  EXPECT_EQ(judge(host_of(ops)).pauses.ns, 0);
}

TEST(FlowVerdict, StallsOfCallsThatTypicallyTakeNoTime) {
  std::vector<std::pair<std::string, int64_t>> ops(19, {"aten::mm", 20'000});
  ops.emplace_back("aten::mm", 5'000'000);
  // All of one operator: eight of them are many enough for chance, fewer are its own.
  EXPECT_TRUE(judge(host_of(ops)).pauses.rare);
  EXPECT_FALSE(judge(host_of(ops)).pauses.stalls);
  const std::vector<std::pair<std::string, int64_t>> often(ops.end() - 10, ops.end());
  EXPECT_TRUE(judge(host_of(often)).pauses.stalls);
  // Silence has no rows that could usually be short.
  ops.back().first = "";
  const FlowVerdict verdict = judge(host_of(ops));
  EXPECT_FALSE(verdict.pauses.stalls);
  ASSERT_TRUE(verdict.pauses.who.has_value());
  EXPECT_FALSE(verdict.pauses.who->name);
}

// Every launch call returns 10 us after its kernel has ended, but the last `not_waiting` ones.
Trace blocking_launches(int not_waiting, int64_t kernel_ns) {
  TraceMaker maker;
  int64_t now_ns = 0;
  for (int i = 0; i < 100; ++i) {
    const auto correlation = static_cast<uint32_t>(i + 1);
    maker.op(1, "aten::mm", now_ns, 30'000);
    now_ns += 30'000;
    const int64_t end_ns = now_ns + 5000 + kernel_ns;
    const bool waits = i < 100 - not_waiting;
    maker.call(1, "acmeLaunchKernel", now_ns, waits ? end_ns + 10'000 - now_ns : 25'000,
               correlation);
    maker.kernel(0, 7, "gemm", now_ns + 5000, kernel_ns, correlation);
    now_ns = end_ns + 10'000;
  }
  return maker.build();
}

TEST(FlowVerdict, LaunchesThatBlock) {
  const auto blocks = [](const Trace& trace) {
    const Links links = link_trace(trace);
    return make_flow_report(trace, links, {}).evidence.blocking_launches;
  };
  EXPECT_TRUE(blocks(blocking_launches(0, 60'000)));
  EXPECT_TRUE(blocks(blocking_launches(10, 60'000)));
  EXPECT_FALSE(blocks(blocking_launches(11, 60'000)));
  EXPECT_FALSE(blocks(blocking_launches(0, 4000)));  // no call of them takes 20 us
  EXPECT_EQ(judge(blocking_launches(0, 60'000)).bound, BoundBy::kSync);
}

TEST(FlowVerdict, Input) {
  EXPECT_EQ(judge({.op = "enumerate(DataLoader)#it.__next__"}).bound, BoundBy::kInput);
}

TEST(FlowVerdict, Allocation) {
  const FlowVerdict verdict = judge({.op = "aten::empty", .call = "hipFree"});
  EXPECT_EQ(verdict.bound, BoundBy::kAlloc);
  EXPECT_EQ(verdict.lever, FirstLever::kCachingAllocator);
}

// The host is fast and waits after every kernel: without the waits the device would be busy.
TEST(FlowVerdict, WaitingForTheDevice) {
  const FlowVerdict verdict =
      judge({.kernel_ns = 30'000, .host_ns = 20'000, .op = "aten::mm", .waits = true});
  EXPECT_EQ(verdict.bound, BoundBy::kSync);
  EXPECT_EQ(verdict.lever, FirstLever::kRemoveSync);
  // A slow host waits as well, yet would be as slow without waiting.
  EXPECT_EQ(judge({.kernel_ns = 30'000, .host_ns = 200'000, .op = "aten::mm", .waits = true}).bound,
            BoundBy::kHost);
}

TEST(FlowVerdict, LateForNoRecordedReason) {
  const FlowVerdict verdict = judge({.host_ns = 10'000, .op = "aten::mm", .late_ns = 80'000});
  EXPECT_EQ(verdict.bound, BoundBy::kUnseenWork);
  EXPECT_EQ(verdict.lever, FirstLever::kRecordMore);
}

TEST(FlowVerdict, TooLittle) {
  EXPECT_EQ(judge({.works = 2, .op = "aten::mm"}).too_little, TooLittle::kFewWorks);
  EXPECT_EQ(judge({.works = 49, .op = "aten::mm"}).bound, BoundBy::kHost);  // the same 49 times
  EXPECT_EQ(judge({.works = 60, .kernel_ns = 500, .host_ns = 1000}).too_little,
            TooLittle::kShortWindow);
  // Few kernels that fill the window say enough about themselves.
  EXPECT_EQ(judge({.works = 5, .kernel_ns = 5'000'000}).bound, BoundBy::kGpu);
  EXPECT_EQ(judge(TraceMaker().op(1, "aten::mm", 0, 1000).build()).bound, BoundBy::kNoGpu);
}

TEST(FlowVerdict, KernelsOnly) {
  TraceMaker maker;
  for (int i = 0; i < 100; ++i) maker.kernel(0, 7, "k", i * 100'000, 1000, 0);
  EXPECT_EQ(judge(maker.build()).bound, BoundBy::kNoHost);
}

TEST(FlowVerdict, ColdStartAndWhatFollows) {
  TraceMaker maker;
  maker.op(1, "aten::mm", 0, 50'000'000).call(1, "cudaMalloc", 0, 49'000'000, 1000);
  int64_t now_ns = 49'000'000;
  for (uint32_t i = 1; i <= 100; ++i) {
    maker.call(1, "cudaLaunchKernel", now_ns, 4000, i).kernel(0, 7, "k", now_ns + 7000, 5000, i);
    now_ns += 100'000;
  }
  const FlowVerdict verdict = judge(maker.build());
  EXPECT_EQ(verdict.bound, BoundBy::kColdStart);
  EXPECT_EQ(verdict.cold_ns, 49'000'000);
  ASSERT_TRUE(verdict.steady_judged);
  EXPECT_EQ(verdict.steady_bound, BoundBy::kHost);
  EXPECT_EQ(verdict.lever, FirstLever::kWarmUpFirst);
}

Windows iterations_of(int64_t count, int64_t length_ns) {
  Windows iterations;
  iterations.source = WindowSource::kLabel;
  for (int64_t i = 0; i < count; ++i) {
    iterations.windows.push_back({"step", i * length_ns, (i + 1) * length_ns});
  }
  return iterations;
}

FlowVerdict judge(const Trace& trace, const Windows& iterations) {
  return judge_flow(trace, make_flow_report(trace, link_trace(trace), {}),
                    {.iterations = &iterations});
}

// Six iterations of 10 ms; the first `cold` of them load code for 8 ms.
Trace loading_in(int cold) {
  TraceMaker maker;
  uint32_t correlation = 0;
  for (int i = 0; i < 6; ++i) {
    int64_t now_ns = i * 10'000'000;
    if (i < cold) maker.call(1, "cuModuleLoadData", now_ns, 8'000'000, 0);
    now_ns += 8'000'000;
    for (int k = 0; k < 20; ++k, now_ns += 20'000) {
      ++correlation;
      maker.call(1, "cudaLaunchKernel", now_ns, 4000, correlation)
          .kernel(0, 7, "k", now_ns + 7000, 5000, correlation);
    }
  }
  return maker.build();
}

TEST(FlowVerdict, CostsInEachIterationAreReportedAsSuch) {
  const Windows iterations = iterations_of(6, 10'000'000);
  const FlowVerdict always = judge(loading_in(6), iterations);
  EXPECT_EQ(always.bound, BoundBy::kColdStart);
  EXPECT_EQ(always.cold_iterations, 6U);
  EXPECT_EQ(always.iterations, 6U);
  for (const int start : {3, 4, 5}) {
    EXPECT_EQ(judge(loading_in(start), iterations).cold_iterations, 0U) << start;
  }
  EXPECT_EQ(judge(loading_in(6)).cold_iterations, 0U);  // nothing tells iterations
}

// An operator before each launch, which takes `op_ns` and may make a call.
FlowVerdict before_each_launch(std::string_view op, int64_t op_ns, bool calls) {
  TraceMaker maker;
  int64_t now_ns = 0;
  for (uint32_t i = 1; i <= 100; ++i) {
    maker.op(1, op, now_ns, op_ns);
    if (calls) maker.call(1, "cudaMemcpyAsync", now_ns + 1000, 2000, 0);
    now_ns += op_ns;
    maker.op(1, "aten::mm", now_ns, 9000).call(1, "cudaLaunchKernel", now_ns + 1000, 4000, i);
    now_ns += 10'000;
    maker.kernel(0, 7, "gemm", now_ns, 5000, i);
  }
  return judge(maker.build());
}

TEST(FlowVerdict, TheHostComputesItself) {
  const FlowVerdict verdict = before_each_launch("aten::lerp_", 200'000, false);
  EXPECT_EQ(verdict.bound, BoundBy::kHost);
  ASSERT_EQ(verdict.computed.names.size(), 1U);
  EXPECT_GE(verdict.computed.ns, 95 * 200'000);
  EXPECT_TRUE(before_each_launch("aten::lerp_", 15'000, false).computed.names.empty());
  EXPECT_TRUE(before_each_launch("aten::lerp_", 200'000, true).computed.names.empty());
  EXPECT_TRUE(before_each_launch("aten::copy_", 200'000, false).computed.names.empty());
  EXPECT_TRUE(before_each_launch("aten::view", 200'000, false).computed.names.empty());
  EXPECT_TRUE(before_each_launch("c10d::allreduce_", 200'000, false).computed.names.empty());
  EXPECT_TRUE(before_each_launch("lookup", 200'000, false).computed.names.empty());
}

// Ten iterations of four operators each, of which one takes 5 ms.
FlowVerdict long_one_at(int (*place)(int iteration)) {
  TraceMaker maker;
  uint32_t correlation = 0;
  for (int i = 0; i < 10; ++i) {
    int64_t now_ns = i * 6'000'000;
    for (int k = 0; k < 4; ++k) {
      const int64_t op_ns = k == place(i) ? 5'000'000 : 20'000;
      ++correlation;
      maker.op(1, "aten::convolution", now_ns, op_ns)
          .call(1, "cudaLaunchKernel", now_ns + op_ns - 5000, 4000, correlation)
          .kernel(0, 7, "k", now_ns + op_ns + 2000, 5000, correlation);
      now_ns += op_ns + 10'000;
    }
  }
  return judge(maker.build(), iterations_of(10, 6'000'000));
}

TEST(FlowVerdict, LongTimesAtTheSamePositionOfEachIterationAreNotStalls) {
  const FlowVerdict search = long_one_at([](int) { return 0; });
  ASSERT_TRUE(search.pauses.who.has_value());
  EXPECT_TRUE(search.pauses.rare);
  EXPECT_FALSE(search.pauses.stalls);
  EXPECT_TRUE(long_one_at([](int i) { return i * 7 % 4; }).pauses.stalls);
}

// A device that is used for a moment is not idle for the rest of the run.
TEST(FlowVerdict, EachDeviceHasItsOwnWindow) {
  TraceMaker maker;
  int64_t now_ns = 0;
  for (uint32_t i = 1; i <= 100; ++i) {
    maker.call(1, "cudaLaunchKernel", now_ns, 4000, i)
        .kernel(0, 7, "k", std::max<int64_t>(now_ns + 7000, (i - 1) * 500'000 + 8000), 490'000, i);
    now_ns += 5000;
  }
  maker.call(1, "cudaLaunchKernel", now_ns, 4000, 500)
      .kernel(1, 7, "k", now_ns + 7000, 10'000, 500);
  const FlowVerdict verdict = judge(maker.build());
  EXPECT_EQ(verdict.bound, BoundBy::kGpu);
  EXPECT_LT(verdict.device_idle_share, 0.05);
}

}  // namespace
}  // namespace assay
