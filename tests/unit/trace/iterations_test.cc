#include "trace/iterations.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/expect_windows.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::expect_windows;
using testing::TraceMaker;

Windows find(const Trace& trace) { return find_iterations(trace, link_trace(trace)); }

// n launches of 1 ns each from start_ns on.
void launch(TraceMaker& maker, int64_t thread, int64_t start_ns, int n) {
  for (int i = 0; i < n; ++i) maker.call(thread, "cudaLaunchKernel", start_ns + i, 1, 0);
}

TEST(Iterations, ProfilerStepsInTimeOrder) {
  const Trace trace = TraceMaker()
                          .annotation(1, "ProfilerStep#10", 200, 100)
                          .annotation(1, "ProfilerStep#9", 100, 100)
                          .annotation(1, "ProfilerStep#x", 0, 50)
                          .annotation(1, "forward", 110, 20)
                          .build();
  const Windows windows = find(trace);
  expect_windows(windows, WindowSource::kProfilerStep,
                 {{"ProfilerStep#9", 100, 200}, {"ProfilerStep#10", 200, 300}});
  EXPECT_EQ(windows.overlaps_cut, 0u);
}

TEST(Iterations, OneStepIsEnough) {
  expect_windows(find(TraceMaker().annotation(1, "ProfilerStep#1", 5, 10).build()),
                 WindowSource::kProfilerStep, {{"ProfilerStep#1", 5, 15}});
}

TEST(Iterations, StepsFiledAsOperators) {
  expect_windows(find(TraceMaker().op(1, "ProfilerStep#1", 5, 10).build()),
                 WindowSource::kProfilerStep, {{"ProfilerStep#1", 5, 15}});
}

TEST(Iterations, WidestSpanOfANumberCounts) {
  const Trace trace = TraceMaker()
                          .annotation(1, "ProfilerStep#1", 110, 50)
                          .annotation(2, "ProfilerStep#1", 100, 100)
                          .annotation(1, "ProfilerStep#2", 200, 90)
                          .annotation(2, "ProfilerStep#2", 205, 40)
                          .build();
  expect_windows(find(trace), WindowSource::kProfilerStep,
                 {{"ProfilerStep#1", 100, 200}, {"ProfilerStep#2", 200, 290}});
}

TEST(Iterations, OverlappingStepsAreCutAndCounted) {
  const Trace trace = TraceMaker()
                          .annotation(1, "ProfilerStep#1", 0, 105)
                          .annotation(1, "ProfilerStep#2", 100, 100)
                          .annotation(1, "ProfilerStep#3", 200, 50)
                          .annotation(2, "ProfilerStep#4", 200, 60)
                          .build();
  const Windows windows = find(trace);
  // 3 and 4 start together: nothing is left of 3.
  expect_windows(
      windows, WindowSource::kProfilerStep,
      {{"ProfilerStep#1", 0, 100}, {"ProfilerStep#2", 100, 200}, {"ProfilerStep#4", 200, 260}});
  EXPECT_EQ(windows.overlaps_cut, 2u);
}

TEST(Iterations, StepsOfNoLengthCutNothing) {
  const Trace trace = TraceMaker()
                          .annotation(1, "ProfilerStep#1", 0, 100)
                          .annotation(1, "ProfilerStep#2", 50, 0)
                          .build();
  const Windows windows = find(trace);
  expect_windows(windows, WindowSource::kProfilerStep, {{"ProfilerStep#1", 0, 100}});
  EXPECT_EQ(windows.overlaps_cut, 0u);
}

TEST(Iterations, RepeatedSpanThatHoldsTheLaunches) {
  TraceMaker maker;
  for (int i = 0; i < 3; ++i) {
    const int64_t start = 1000 * i;
    maker.annotation(1, "step[DECODE bs=" + std::to_string(7 + i) + "]", start, 500);
    maker.annotation(1, "sample", start + 10, 20);  // inside: not outermost
    maker.op(1, "aten::op" + std::to_string(i), start + 5, 100);
    launch(maker, 1, start + 20, 20 + i);
    launch(maker, 2, start + 600, 1);  // outside
  }
  expect_windows(find(maker.build()), WindowSource::kRepeatedRoot,
                 {{"step[DECODE bs=7] [1]", 0, 500},
                  {"step[DECODE bs=8] [2]", 1000, 1500},
                  {"step[DECODE bs=9] [3]", 2000, 2500}});
}

TEST(Iterations, SpansThatHoldTooLittleOrDifferTooMuchAreNone) {
  TraceMaker little;
  for (int i = 0; i < 2; ++i) {
    little.annotation(1, "optimizer", 1000 * i, 500);
    launch(little, 1, 1000 * i + 20, 10);
    launch(little, 1, 1000 * i + 600, 2);  // 4 of 24 outside
  }
  little.op(1, "aten::a", 600, 10).op(1, "aten::b", 1600, 10);
  expect_windows(find(little.build()), WindowSource::kWholeTrace, {{"whole trace", 0, 1610}});

  TraceMaker uneven;
  uneven.annotation(1, "step", 0, 500).annotation(1, "step", 1000, 500);
  launch(uneven, 1, 20, 9);
  launch(uneven, 1, 1020, 20);
  expect_windows(find(uneven.build()), WindowSource::kWholeTrace, {{"whole trace", 0, 1500}});
}

TEST(Iterations, SpansInsideASpanAreNone) {
  TraceMaker maker;
  maker.annotation(1, "model_inference", 0, 4000);
  for (int i = 0; i < 3; ++i) {
    maker.annotation(1, "block", 1000 * i, 500);
    launch(maker, 1, 1000 * i + 20, 4);
  }
  expect_windows(find(maker.build()), WindowSource::kWholeTrace, {{"whole trace", 0, 4000}});
}

TEST(Iterations, CompiledRegionsAreNotIterations) {
  TraceMaker maker;
  for (int i = 0; i < 3; ++i) {
    maker.annotation(1, "## Call CompiledFxGraph fabc ##", 1000 * i, 500);
    launch(maker, 1, 1000 * i + 20, 4);
  }
  expect_windows(find(maker.build()), WindowSource::kWholeTrace, {{"whole trace", 0, 2500}});
}

// Embedding, two layers, head, or the first `ops` of them; each root operator lasts 100 ns and
// launches 3 kernels. Returns the end.
int64_t add_pass(TraceMaker& maker, int64_t start_ns, size_t ops = 6) {
  constexpr const char* kOps[] = {"embedding", "attention", "mlp", "attention", "mlp", "head"};
  for (size_t i = 0; i < ops; ++i) {
    maker.op(1, kOps[i], start_ns, 100);
    maker.op(1, "inner", start_ns + 10, 50);
    launch(maker, 1, start_ns + 20, 3);
    start_ns += 100;
  }
  return start_ns;
}

TEST(Iterations, PeriodOfTheRootOperators) {
  TraceMaker maker;
  int64_t end = 0;
  for (int i = 0; i < 3; ++i) end = add_pass(maker, end + 50);
  maker.call(1, "cudaDeviceSynchronize", end + 10, 90, 0);
  expect_windows(
      find(maker.build()), WindowSource::kRepeatedRoot,
      {{"embedding [1]", 50, 700}, {"embedding [2]", 700, 1350}, {"embedding [3]", 1350, 2050}});
}

TEST(Iterations, AnnotationsRepresentTheirContent) {
  TraceMaker maker;
  for (int i = 0; i < 2; ++i) {
    const int64_t start = 1000 * i;
    maker.op(1, "aten::linear", start, 100).annotation(1, "forward", start, 400);
    maker.op(1, "only " + std::to_string(i), start + 200, 100);
    maker.op(1, "backward", start + 500, 100);
    launch(maker, 1, start + 10, 20);
    launch(maker, 1, start + 510, 20);
  }
  expect_windows(find(maker.build()), WindowSource::kRepeatedRoot,
                 {{"forward [1]", 0, 1000}, {"forward [2]", 1000, 1600}});
}

TEST(Iterations, AnnotationIsNotAnOperator) {
  TraceMaker maker;
  for (int i = 0; i < 4; ++i) {
    if (i == 0 || i == 3) maker.op(1, "a", 100 * i, 50);
    if (i == 1 || i == 2) maker.annotation(1, "x", 100 * i, 50);
    launch(maker, 1, 100 * i, 10);
  }
  expect_windows(find(maker.build()), WindowSource::kWholeTrace, {{"whole trace", 0, 350}});
}

TEST(Iterations, PeriodMayEndInTheMiddle) {
  TraceMaker maker;
  int64_t end = 0;
  for (int i = 0; i < 2; ++i) end = add_pass(maker, end);
  maker.op(1, "embedding", end, 100).op(1, "attention", end + 100, 100);
  launch(maker, 1, end + 20, 3);
  expect_windows(find(maker.build()), WindowSource::kRepeatedRoot,
                 {{"embedding [1]", 0, 600}, {"embedding [2]", 600, 1200}});
}

// The period shows only to a search that falls back to shorter borders.
TEST(Iterations, PeriodThatBeginsLikeItsOwnMiddle) {
  TraceMaker maker;
  for (int i = 0; i < 8; ++i) {
    maker.op(1, i % 4 == 2 ? "attention" : "mlp", 100 * i, 50);
    launch(maker, 1, 100 * i, 3);
  }
  expect_windows(find(maker.build()), WindowSource::kRepeatedRoot,
                 {{"mlp [1]", 0, 400}, {"mlp [2]", 400, 750}});
}

TEST(Iterations, FirstOfManyMayLaunchLess) {
  TraceMaker maker;
  for (int i = 0; i < 3; ++i) {
    const int64_t start = 1000 * i;
    maker.op(1, "zero_grad", start, 100).op(1, "forward", start + 100, 400);
    if (i > 0) launch(maker, 1, start, 30);
    launch(maker, 1, start + 100, 30);
  }
  expect_windows(
      find(maker.build()), WindowSource::kRepeatedRoot,
      {{"zero_grad [1]", 0, 1000}, {"zero_grad [2]", 1000, 2000}, {"zero_grad [3]", 2000, 2500}});

  TraceMaker two;
  two.op(1, "zero_grad", 0, 100).op(1, "forward", 100, 400);
  two.op(1, "zero_grad", 1000, 100).op(1, "forward", 1100, 400);
  launch(two, 1, 100, 30);
  launch(two, 1, 1000, 60);
  expect_windows(find(two.build()), WindowSource::kWholeTrace, {{"whole trace", 0, 1500}});
}

TEST(Iterations, LayersOfOnePassAreNotIterations) {
  TraceMaker maker;
  const int64_t end = add_pass(maker, 0);
  expect_windows(find(maker.build()), WindowSource::kWholeTrace, {{"whole trace", 0, end}});
}

TEST(Iterations, LoopOverOneOperatorIsOneWindow) {
  TraceMaker maker;
  for (int i = 0; i < 50; ++i) {
    maker.op(1, "aten::add", 100 * i, 50);
    launch(maker, 1, 100 * i + 10, 1);
  }
  expect_windows(find(maker.build()), WindowSource::kWholeTrace, {{"whole trace", 0, 4950}});
}

TEST(Iterations, WindowsFollowTheThreadThatLaunchesFirst) {
  // Forward on thread 1, backward on thread 2, which launches more and repeats as well. The trace
  // ends within the sixth forward pass.
  TraceMaker maker;
  int64_t start = 0;
  for (int i = 0; i < 5; ++i) {
    maker.op(2, "backward of head", start + 650, 100).op(2, "backward of mlp", start + 750, 100);
    launch(maker, 2, start + 660, 40);
    add_pass(maker, start);
    start += 1000;
  }
  add_pass(maker, start, 5);
  expect_windows(find(maker.build()), WindowSource::kRepeatedRoot,
                 {{"embedding [1]", 0, 1000},
                  {"embedding [2]", 1000, 2000},
                  {"embedding [3]", 2000, 3000},
                  {"embedding [4]", 3000, 4000},
                  {"embedding [5]", 4000, 5000}});
}

// Batches of different shapes, so that no sequence of operators repeats; the first step also makes
// the state of the optimizer.
TEST(Iterations, OptimizerStepsEndIterations) {
  TraceMaker maker;
  for (int i = 0; i < 4; ++i) {
    const int64_t start = 1000 * i;
    maker.op(1, "aten::shape_" + std::to_string(i), start, 400);
    launch(maker, 1, start + 10, i == 0 ? 50 : 30);
    maker.annotation(1, "Optimizer.step#AdamW.step", start + 500, 100);
    maker.annotation(2, "Optimizer.step#AdamW.step", start + 510, 80);
    launch(maker, 1, start + 510, 5);
  }
  maker.op(1, "aten::eval", 4000, 200);
  launch(maker, 1, 4010, 20);
  expect_windows(find(maker.build()), WindowSource::kRepeatedRoot,
                 {{"training step 1", 0, 600},
                  {"training step 2", 600, 1600},
                  {"training step 3", 1600, 2600},
                  {"training step 4", 2600, 3600}});
}

TEST(Iterations, AlternatingOptimizersAreNotIterations) {
  TraceMaker maker;
  for (int i = 0; i < 6; ++i) {
    const int64_t start = 1000 * i;
    maker.op(1, "aten::part_" + std::to_string(i), start, 400);
    launch(maker, 1, start + 10, i % 2 == 0 ? 40 : 15);
    maker.annotation(1, "Optimizer.step#Adam.step", start + 500, 100);
  }
  EXPECT_EQ(find(maker.build()).source, WindowSource::kWholeTrace);
}

// Two prefills and five decode steps in no regular order, as an engine's scheduler has it. The
// prefill launches ten kernels, a decode step replays what takes three launches.
TEST(Iterations, PrefillAndDecodeStepsOfAnEngineAreIterations) {
  for (const bool loops : {false, true}) {
    TraceMaker maker;
    std::vector<testing::ExpectedWindow> expected;
    int64_t start = 0;
    for (const char phase : std::string(loops ? "pdpd" : "pddpddd")) {
      const std::string name = phase == 'p' ? "prefill 1" : "decode 4";
      maker.annotation(1, name, start, 500);
      launch(maker, 1, start + 10, phase == 'p' ? 10 : 3);
      expected.push_back(
          {name + " [" + std::to_string(expected.size() + 1) + "]", start, start + 500});
      start += 1000;
    }
    const Windows found = find(maker.build());
    if (!loops) {
      expect_windows(found, WindowSource::kRepeatedRoot, expected);
    } else {
      EXPECT_NE(found.windows.size(), 4U);  // one decode label for each prefill: a loop
    }
  }
}

// An engine names every pass of its loop: however unlike they are, each is an iteration. Idle ones launch nothing.
TEST(Iterations, LabelledStepsOfAnEngineAreIterationsHoweverUnlike) {
  TraceMaker maker;
  maker.annotation(1, "run", 0, 10'000);
  std::vector<testing::ExpectedWindow> expected;
  const auto step = [&](const std::string& name, int64_t start_ns, int launches) {
    maker.annotation(1, name, start_ns, 500).annotation(1, "forward", start_ns + 5, 400);
    if (launches == 0) return;
    launch(maker, 1, start_ns + 10, launches);
    expected.push_back({name + " [" + std::to_string(expected.size() + 1) + "]", start_ns, start_ns + 500});
  };
  step("execute_context_1(900)_generation_0(0)", 0, 100);
  step("execute_context_0(0)_generation_1(1)", 1000, 1);
  step("execute_context_0(0)_generation_0(0)", 2000, 0);
  step("execute_context_1(30)_generation_1(1)", 3000, 90);
  expect_windows(find(maker.build()), WindowSource::kRepeatedRoot, expected);
}

TEST(Iterations, LabelledStepsThatHoldTooLittleAreNone) {
  TraceMaker maker;
  maker.annotation(1, "step[DECODE bs=1]", 0, 500).annotation(1, "step[DECODE bs=2]", 1000, 500);
  launch(maker, 1, 10, 3);
  launch(maker, 1, 1010, 3);
  launch(maker, 1, 3000, 4);
  EXPECT_EQ(find(maker.build()).source, WindowSource::kWholeTrace);
}

// As SpansInsideASpanAreNone, but each looks at its result.
TEST(Iterations, SpansInsideASpanThatLookAtResultsAreIterations) {
  TraceMaker maker;
  maker.annotation(1, "benchmark", 0, 4000);
  for (int i = 0; i < 3; ++i) {
    maker.annotation(1, "execute_model", 1000 * i, 500);
    launch(maker, 1, 1000 * i + 20, 4 + i);
    maker.call(1, "cudaStreamSynchronize", 1000 * i + 600, 50, 0);
  }
  expect_windows(find(maker.build()), WindowSource::kRepeatedRoot,
                 {{"execute_model [1]", 0, 500},
                  {"execute_model [2]", 1000, 1500},
                  {"execute_model [3]", 2000, 2500}});
}

// Kernels of 10 ns with pauses of 5 ns, and one of 1,000 ns before each step.
class DeviceRun {
 public:
  DeviceRun& kernel(const std::string& name) {
    if (by_call_) maker_.call(1, "cudaLaunchKernel", now_ / 2, 1, ++correlation_);
    maker_.kernel(0, 7, name, now_, 10, by_call_ ? correlation_ : 0);
    now_ += 15;
    return *this;
  }
  DeviceRun& decode_step(int layers, int length) {
    now_ += 1000;
    kernel("get_rows");
    for (int l = 0; l < layers; ++l) {
      kernel("rms_norm").kernel("gemm_qkv").kernel("attention_" + std::to_string(length));
      kernel("gemm_out_128x" + std::to_string(length)).kernel("silu").kernel("gemm_down");
    }
    return kernel("gemm_head").kernel("argmax");
  }
  DeviceRun& launched_by_calls() {
    by_call_ = true;
    return *this;
  }
  int64_t now() const { return now_; }
  Trace build() { return maker_.build(); }

 private:
  TraceMaker maker_;
  int64_t now_ = 0;
  bool by_call_ = false;
  uint32_t correlation_ = 0;
};

std::vector<WorkRole> roles_of(const Trace& trace) {
  std::vector<WorkRole> roles(trace.strings.size());
  for (size_t s = 0; s < roles.size(); ++s) {
    const std::string_view name = trace.text(StringId(s));
    if (name.starts_with("gemm")) roles[s] = WorkRole::kHeavy;
    if (name.starts_with("attention")) roles[s] = WorkRole::kAttention;
  }
  return roles;
}

TEST(Iterations, PeriodOfKernelsWithoutAHost) {
  DeviceRun run;
  for (int k = 0; k < 30; ++k) run.kernel("load_weights");
  std::vector<testing::ExpectedWindow> expected;
  for (int step = 1; step <= 6; ++step) {
    const int64_t start_ns = run.now() + 1000;
    run.decode_step(8, 128);
    expected.push_back({"iteration " + std::to_string(step), start_ns, run.now() + 1000});
  }
  expected.back().end_ns -= 1005;  // the end of the trace
  const Trace trace = run.build();
  const Windows windows = find_iterations(trace, link_trace(trace), roles_of(trace));
  expect_windows(windows, WindowSource::kKernelPeriod, expected);
  EXPECT_EQ(windows.evidence,
            "6 by the period of kernel names, each with layers inside, at least 100 % alike; 30 "
            "GPU activities are in none of them");
}

// Of six steps the calls of one were recorded: its kernels belong to the window of their call, the
// others to that of their own time, and no cut fits both. It is said what there may be.
TEST(Iterations, FewCallsHideThePeriodsAndItIsSaid) {
  DeviceRun run;
  for (int step = 0; step < 5; ++step) run.decode_step(8, 128);
  run.launched_by_calls();
  run.decode_step(8, 128);
  const Trace trace = run.build();
  const Windows windows = find_iterations(trace, link_trace(trace), roles_of(trace));
  EXPECT_EQ(windows.source, WindowSource::kWholeTrace);
  EXPECT_EQ(windows.windows.size(), 1U);
  EXPECT_TRUE(windows.evidence.starts_with("none is detected, although there may be 6 by the "
                                           "period"))
      << windows.evidence;
}

// Names of attention and of a tile size change with the length of the text.
TEST(Iterations, NamesThatChangeWithLengthAreOne) {
  DeviceRun run;
  for (int step = 0; step < 40; ++step) run.decode_step(8, step < 20 ? 128 : 256);
  const Trace trace = run.build();
  const Windows windows = find_iterations(trace, link_trace(trace), roles_of(trace));
  EXPECT_EQ(windows.source, WindowSource::kKernelPeriod);
  EXPECT_EQ(windows.windows.size(), 40u);
}

// Windows are of host time where the host is known.
TEST(Iterations, PeriodOfKernelsBeginsWithTheirCalls) {
  DeviceRun run;
  run.launched_by_calls();
  std::vector<int64_t> starts;
  for (int step = 0; step < 5; ++step) {
    starts.push_back((run.now() + 1000) / 2);
    run.decode_step(8, 128);
  }
  const Trace trace = run.build();
  const Windows windows = find_iterations(trace, link_trace(trace), roles_of(trace));
  ASSERT_EQ(windows.windows.size(), 5u);
  for (size_t w = 0; w < 5; ++w) EXPECT_EQ(windows.windows[w].start_ns, starts[w]);
}

TEST(Iterations, OnePassWithoutAHostIsOneWindow) {
  DeviceRun run;
  run.decode_step(36, 128);
  const Trace trace = run.build();
  EXPECT_EQ(find_iterations(trace, link_trace(trace), roles_of(trace)).source,
            WindowSource::kWholeTrace);
}

TEST(Iterations, WholeTraceSpansHostAndDevice) {
  const Trace trace = TraceMaker()
                          .op(1, "aten::mm", 100, 50)
                          .frame(1, "main.py(1): f", 90, 200)
                          .kernel(0, 7, "carried over", 20, 10, 1)
                          .kernel(0, 7, "last", 500, 0, 2)
                          .build();
  expect_windows(find(trace), WindowSource::kWholeTrace, {{"whole trace", 20, 501}});
}

TEST(Iterations, TimesAtTheEndsOfTheirRange) {
  const Trace trace = TraceMaker()
                          .kernel(0, 7, "last", INT64_MAX, 0, 1)
                          .call(1, "cudaLaunchKernel", INT64_MIN, 0, 1)
                          .build();
  expect_windows(find(trace), WindowSource::kWholeTrace, {{"whole trace", INT64_MIN, INT64_MAX}});
}

TEST(Iterations, EmptyTraceIsOneEmptyWindow) {
  expect_windows(find(Trace()), WindowSource::kWholeTrace, {{"whole trace", 0, 0}});
}

TEST(WindowAt, HoldsItsStartAndNotItsEnd) {
  const Windows windows{.windows = {{"a", 10, 20}, {"b", 20, 25}, {"c", 40, 50}}};
  EXPECT_EQ(window_at(windows, 9), -1);
  EXPECT_EQ(window_at(windows, 10), 0);
  EXPECT_EQ(window_at(windows, 19), 0);
  EXPECT_EQ(window_at(windows, 20), 1);
  EXPECT_EQ(window_at(windows, 25), -1);
  EXPECT_EQ(window_at(windows, 40), 2);
  EXPECT_EQ(window_at(windows, 50), -1);
  EXPECT_EQ(window_at(Windows{}, 0), -1);
}

}  // namespace
}  // namespace assay
