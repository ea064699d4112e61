#include "flow/stretches.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "flow/judged.h"
#include "flow/replay.h"
#include "flow/whatif.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

// Kernels of 100 us one behind the other, each launched well before, from start_ns on.
void add_busy(TraceMaker& maker, int count, int64_t launched_ns, int64_t start_ns,
              uint32_t correlation) {
  for (int i = 0; i < count; ++i) {
    maker.call(1, "cudaLaunchKernel", launched_ns + i * 5'000, 4'000, correlation);
    maker.kernel(0, 7, "gemm", start_ns + i * 100'000, 100'000, correlation);
    ++correlation;
  }
}

struct Found {
  Trace trace;
  Links links;
  FlowModel model;
  JudgedRun run;
  const Stretches& parts() const { return run.report.stretches; }
};

std::unique_ptr<Found> judge(TraceMaker maker, const std::string& part = "") {
  auto found = std::make_unique<Found>();
  found->trace = maker.build();
  found->links = link_trace(found->trace);
  found->model = make_flow_model(found->trace, found->links);
  const Windows windows = find_iterations(found->trace, found->links);
  auto run = judge_run(found->model, windows, {}, part);
  EXPECT_TRUE(run.has_value()) << run.error().message;
  if (run) found->run = *std::move(run);
  return found;
}

std::string words(const Stretches& stretches) {
  std::string text;
  for (const Stretch& part : stretches.parts) {
    text += (text.empty() ? "" : " ") + std::string(stretch_kind_word(part.kind)) +
            (part.headline ? "*" : "");
  }
  return text;
}

void expect_whole(const Stretches& stretches) {
  int64_t sum_ns = 0;
  int64_t at_ns = stretches.window.start_ns;
  for (const Stretch& part : stretches.parts) {
    EXPECT_EQ(part.span.start_ns, at_ns);
    at_ns = part.span.end_ns;
    sum_ns += part.ns;
  }
  EXPECT_EQ(at_ns, stretches.window.end_ns);
  EXPECT_EQ(sum_ns, stretches.window_ns);
}

// 20 kernels are handed over from 0 on; the device begins at 10 ms and works for 20 x 100 us x 5.
TraceMaker behind_others() {
  TraceMaker maker;
  add_busy(maker, 100, 0, 10'000'000, 1);
  return maker;
}

TEST(Stretches, LeadInBeforeTheWork) {
  const auto found = judge(behind_others());
  EXPECT_EQ(words(found->parts()), "lead_in steady*");
  expect_whole(found->parts());
  EXPECT_EQ(found->parts().parts[1].span, (Interval{10'000'000, 20'000'000}));
  EXPECT_EQ(found->run.verdict.bound, BoundBy::kGpu);
  EXPECT_EQ(found->run.verdict.device_idle_share, 0);
  EXPECT_NEAR(found->parts().idle_share, 0.5, 0.001);
}

TEST(Stretches, ReplayStaysInsideTheAnalyzedStretch) {
  const auto found = judge(behind_others());
  EXPECT_TRUE(found->model.graph.bounded);
  EXPECT_EQ(identity_errors(found->model.graph), 0U);
  EXPECT_EQ(found->run.report.path.makespan_ns, 10'000'000);
  EXPECT_EQ(found->run.report.fit.run_ns, 10'000'000);
  EXPECT_EQ(misfit_of(found->run.report.fit), Misfit::kNone);
  // Of the kernels nothing is left: all of the stretch, and nothing of what lies before it.
  const WhatIf tried = explore_edits(
      found->model, found->run.iterations, found->run.report,
      {.edits = {{.kind = EditKind::kKernels, .pattern = "gemm", .factor = 0}}});
  ASSERT_EQ(tried.levers.size(), 1U);
  EXPECT_EQ(tried.levers[0].edit.refusal, EditRefusal::kNone);
  EXPECT_GT(tried.levers[0].alone.run_ns, 9'900'000);
  EXPECT_LE(tried.levers[0].alone.run_ns, 10'000'000);
}

TEST(Stretches, StrayKernelBelongsToTheLeadIn) {
  TraceMaker maker = behind_others();
  maker.call(1, "cudaLaunchKernel", -20'000, 4'000, 900);
  maker.kernel(0, 7, "stray", -10'000, 3'000, 900);
  const auto found = judge(std::move(maker));
  EXPECT_EQ(words(found->parts()), "lead_in steady*");
  EXPECT_EQ(found->parts().parts[0].span.start_ns, -20'000);
  expect_whole(found->parts());
}

TEST(Stretches, HoleInTheMiddleIsNotTheHosts) {
  TraceMaker maker;
  add_busy(maker, 100, 0, 1'000'000, 1);
  add_busy(maker, 100, 600'000, 13'000'000, 200);
  const auto found = judge(std::move(maker));
  EXPECT_EQ(words(found->parts()), "steady* hole steady");
  // Latency that is usual between two pieces of work is none of the hole's.
  EXPECT_NEAR(static_cast<double>(found->parts().parts[1].span.start_ns), 11e6, 20e3);
  EXPECT_EQ(found->parts().parts[1].span.end_ns, 13'000'000);
  expect_whole(found->parts());
}

TEST(Stretches, HolesThroughoutAreTorn) {
  TraceMaker maker;
  for (int i = 0; i < 6; ++i) {
    add_busy(maker, 20, i * 200'000, 1'000'000 + i * 4'000'000, static_cast<uint32_t>(1 + i * 50));
  }
  const auto found = judge(std::move(maker));
  EXPECT_TRUE(found->parts().torn);
  EXPECT_EQ(found->parts().headline(), nullptr);
  EXPECT_EQ(found->run.verdict.bound, BoundBy::kUnseenWork);
  expect_whole(found->parts());
}

TEST(Stretches, OneThatIsWholeIsLeftAsItIs) {
  TraceMaker maker;
  add_busy(maker, 100, 0, 10'000, 1);
  const auto found = judge(std::move(maker));
  EXPECT_EQ(words(found->parts()), "steady*");
  EXPECT_FALSE(found->model.graph.bounded);
  EXPECT_FALSE(found->run.report.told_window);
}

TEST(Stretches, APartMayBeRequested) {
  for (const char* word : {"lead-in", "LEAD_IN", "1"}) {
    const auto found = judge(behind_others(), word);
    EXPECT_EQ(words(found->parts()), "lead_in* steady") << word;
    EXPECT_EQ(found->run.report.window, (Interval{0, 10'000'000}));
  }
  const auto all = judge(behind_others(), "all");
  EXPECT_EQ(words(all->parts()), "lead_in steady");
  EXPECT_EQ(all->run.verdict.bound, BoundBy::kUnseenWork);
}

TEST(Stretches, UnknownPartsAreNamed) {
  const Trace trace = behind_others().build();
  const Links links = link_trace(trace);
  FlowModel model = make_flow_model(trace, links);
  const auto run = judge_run(model, find_iterations(trace, links), {}, "warmup");
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(run.error().message, "no part 'warmup' here; parts: 1 lead-in, 2 the rest, all");
}

TEST(Stretches, StepsOfAnEngineNameThePart) {
  TraceMaker maker = behind_others();
  maker.annotation(1, "step[DECODE bs=8]", -1'000, 600'000);
  const auto found = judge(std::move(maker));
  ASSERT_EQ(words(found->parts()), "lead_in steady*");
  EXPECT_EQ(stretch_name(found->parts().parts[1]), "decode step");
}

TEST(Stretches, TimeBeforeTheLabelledStepsIsAPart) {
  TraceMaker maker;
  add_busy(maker, 30, 0, 10'000, 1);
  for (int i = 0; i < 3; ++i) {
    const int64_t at_ns = 4'000'000 + i * 2'000'000;
    maker.annotation(1, "ProfilerStep#" + std::to_string(i), at_ns, 2'000'000);
    add_busy(maker, 20, at_ns + 1'000, at_ns + 10'000, static_cast<uint32_t>(100 + i * 50));
  }
  const auto found = judge(std::move(maker));
  ASSERT_FALSE(found->parts().parts.empty());
  EXPECT_EQ(found->parts().parts[0].kind, StretchKind::kBefore);
  EXPECT_EQ(found->parts().parts[0].span, (Interval{0, 4'000'000}));
  expect_whole(found->parts());
}

TEST(Stretches, TheWholeStepAroundTheFirstLaunchIsAnalyzed) {
  TraceMaker maker;
  maker.op(1, "preprocess", 0, 100'000);
  for (int i = 0; i < 3; ++i) {
    const int64_t at_ns = i * 4'000'000;
    maker.annotation(1, "ProfilerStep#" + std::to_string(i), at_ns, 4'000'000);
    add_busy(maker, 20, at_ns + 1'500'000, at_ns + 1'600'000, static_cast<uint32_t>(1 + i * 50));
  }
  const auto found = judge(std::move(maker));
  EXPECT_EQ(found->parts().window.start_ns, 0);
  expect_whole(found->parts());
}

// 100 kernels of 100 us from 10 ms on, after a lead-in of 10 ms.
TEST(Stretches, ChosenTimesAreAPartAndTheOthersKeepTheRest) {
  const auto found = judge(behind_others(), "11ms..13.5ms");
  EXPECT_EQ(words(found->parts()), "lead_in steady asked* steady");
  expect_whole(found->parts());
  const Stretch& asked = *found->parts().headline();
  EXPECT_EQ(asked.span, (Interval{11'000'000, 13'500'000}));
  EXPECT_EQ(asked.total.idle_ns, 0);
  EXPECT_EQ(found->run.report.window, asked.span);
}

TEST(Stretches, ChosenTimesAcrossPartsAddUp) {
  const auto found = judge(behind_others(), "9..11ms");
  EXPECT_EQ(words(found->parts()), "lead_in asked* steady");
  expect_whole(found->parts());
  EXPECT_EQ(found->parts().headline()->total.idle_ns, 1'000'000);
}

TEST(Stretches, ChosenTimesEndWithTheWindow) {
  const auto found = judge(behind_others(), "0ms..1s");
  EXPECT_EQ(words(found->parts()), "asked*");
  expect_whole(found->parts());
}

TEST(Stretches, RefusesTimesWithoutAStretchBetween) {
  Trace trace = behind_others().build();
  const Links links = link_trace(trace);
  for (const char* asked : {"..", "1..2", "2ms..1ms", "1ms..1ms", "x..1ms", "1ms..", "..1ms", "-1ms..1ms", "1e3ms..2ms",
                            "1ms..2h", "30ms..40ms", "99999999999s..999999999999s"}) {
    FlowModel model = make_flow_model(trace, links);
    EXPECT_FALSE(judge_run(model, find_iterations(trace, links), {}, asked).has_value()) << asked;
  }
}

}  // namespace
}  // namespace assay
