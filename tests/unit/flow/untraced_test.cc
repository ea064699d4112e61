// The run without its recorder, on runs of which one can say by hand what recording cost.

#include "flow/untraced.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

constexpr int64_t kUs = 1'000;

struct Recording {
  explicit Recording(Trace made)
      : trace(std::move(made)),
        links(link_trace(trace)),
        iterations(find_iterations(trace, links)),
        model(make_flow_model(trace, links)),
        replay(model, iterations) {}
  Trace trace;
  Links links;
  Windows iterations;
  FlowModel model;
  UntracedReplay replay;
};

// Iterations of 40 us, one after the other: borders at 0, 10, 20, 26, 30 and 40 us.
TraceMaker plain_steps(int steps, int64_t kernel_ns = 2 * kUs) {
  TraceMaker maker;
  for (int i = 0; i < steps; ++i) {
    const int64_t at = i * 50 * kUs;
    const auto id = static_cast<uint32_t>(i + 1);
    maker.annotation(1, "ProfilerStep#" + std::to_string(i), at, 40 * kUs);
    maker.op(1, "aten::mm", at + 10 * kUs, 20 * kUs);
    maker.call(1, "cudaLaunchKernel", at + 20 * kUs, 6 * kUs, id);
    maker.kernel(0, 7, "gemm", at + 28 * kUs, kernel_ns, id);
  }
  return maker;
}

// Iterations of 200 us of which the host waits from 40 us on for a kernel of 150 us.
Trace waiting_steps(int steps) {
  TraceMaker maker;
  for (int i = 0; i < steps; ++i) {
    const int64_t at = i * 210 * kUs;
    const auto id = static_cast<uint32_t>(2 * i + 1);
    maker.annotation(1, "ProfilerStep#" + std::to_string(i), at, 200 * kUs);
    maker.op(1, "aten::mm", at + 10 * kUs, 20 * kUs);
    maker.call(1, "cudaLaunchKernel", at + 20 * kUs, 6 * kUs, id);
    maker.kernel(0, 7, "gemm", at + 30 * kUs, 150 * kUs, id);
    maker.call(1, "cudaDeviceSynchronize", at + 40 * kUs, 143 * kUs, id + 1);
  }
  return maker.build();
}

RecordingCost rows(double border_ns) { return recording_cost(CostShape::kRows, border_ns); }

// Each of the stretches of 10, 10, 6, 4 and 10 us pays for half of both its borders: 6 + 6 + 2 + 0.6 + 6. Calls alone
// cost 10 + 8 + 2 + 2 + 10, operators and ranges alone 6 + 8 + 6 + 2 + 6.
TEST(Untraced, AStretchPaysHalfOfEachBorder) {
  const Recording run(plain_steps(4).build());
  EXPECT_EQ(run.replay.iteration_ns({}), 40 * kUs);
  EXPECT_EQ(run.replay.iteration_ns(rows(4'000)), 20'600);
  EXPECT_EQ(run.replay.iteration_ns(recording_cost(CostShape::kCalls, 4'000)), 32 * kUs);
  EXPECT_EQ(run.replay.iteration_ns(recording_cost(CostShape::kOps, 4'000)), 28 * kUs);
  EXPECT_EQ(run.replay.iteration_ns(recording_cost(CostShape::kPace, 0.5)), 20 * kUs);
}

TEST(Untraced, APartOfAStretchIsAlwaysTheProgramsOwn) {
  const Recording run(plain_steps(4).build());
  EXPECT_NEAR(static_cast<double>(run.replay.iteration_ns(rows(20'000))), 6e3, 1);
}

// The kernel begins earlier by what the host saves before it, and takes as long as before.
TEST(Untraced, AWaitStaysAWait) {
  const Recording run(waiting_steps(4));
  ASSERT_EQ(run.replay.iteration_ns({}), 200 * kUs);
  const int64_t shorter_ns = run.replay.iteration_ns(rows(4'000));
  // 10 to 6, 10 to 6 and 6 to 2 us before the kernel, 17 to 13 us after the wait.
  EXPECT_NEAR(static_cast<double>(shorter_ns), 200e3 - 16e3, 100);
}

TEST(Untraced, NoCostChangesNoTime) {
  for (const bool waits : {false, true}) {
    const Recording run(waits ? waiting_steps(4) : plain_steps(4).build());
    const auto retimed = run.replay.retimed({});
    ASSERT_TRUE(retimed);
    EXPECT_EQ(retimed->trace.ops.start_ns, run.trace.ops.start_ns);
    EXPECT_EQ(retimed->trace.ops.dur_ns, run.trace.ops.dur_ns);
    EXPECT_EQ(retimed->trace.api_calls.start_ns, run.trace.api_calls.start_ns);
    EXPECT_EQ(retimed->trace.api_calls.dur_ns, run.trace.api_calls.dur_ns);
    EXPECT_EQ(retimed->trace.activities.start_ns, run.trace.activities.start_ns);
    EXPECT_EQ(retimed->trace.activities.dur_ns, run.trace.activities.dur_ns);
    EXPECT_EQ(retimed->trace.annotations.start_ns, run.trace.annotations.start_ns);
    EXPECT_EQ(retimed->iterations.windows.back().end_ns, run.iterations.windows.back().end_ns);
  }
}

TEST(Untraced, RowsMoveWithTheStretchesAroundThem) {
  const Recording run(plain_steps(4).build());
  const auto retimed = run.replay.retimed(rows(4'000));
  ASSERT_TRUE(retimed);
  const Trace& trace = retimed->trace;
  EXPECT_EQ(trace.ops.start_ns[0] - trace.annotations.start_ns[0], 6 * kUs);
  EXPECT_EQ(trace.ops.dur_ns[0], 8'600);
  EXPECT_EQ(trace.api_calls.dur_ns[0], 2 * kUs);
  EXPECT_EQ(trace.annotations.dur_ns[0], 20'600);
  EXPECT_EQ(trace.activities.dur_ns[0], 2 * kUs);
  // The launch reaches the device as long after its call as before.
  EXPECT_EQ(trace.activities.start_ns[0] - trace.api_calls.start_ns[0] - trace.api_calls.dur_ns[0],
            2 * kUs);
  EXPECT_EQ(trace.text(trace.ops.name[0]), "aten::mm");
}

TEST(Untraced, TheCostIsFoundFromAnIteration) {
  const Recording run(plain_steps(4).build());
  const auto cost = run.replay.solve(CostShape::kRows, 20'600);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(*cost, 4'000, 5);
  EXPECT_EQ(run.replay.solve(CostShape::kRows, 41 * kUs), 0.0);
  EXPECT_FALSE(run.replay.solve(CostShape::kRows, 5 * kUs));
}

// Costs of 3 x (witness - 400 ns), but for the last pair, which costs 260 ns more: a tenth of 400 + 2,200.
constexpr std::string_view kTable =
    "recorder\tprogram\trecording\tgpu\trecorded_us\tuntraced_us\trows\twitness_us\tcost_us\n"
    "kineto\ta\ta.1\tX\t1\t1\t1\t0.600\t0.600\n"
    "kineto\ta\ta.2\tX\t1\t1\t1\t0.800\t1.200\n"
    "kineto\tb\tb.1\tX\t1\t1\t1\t1.000\t1.800\n"
    "kineto\tb\tb.2\tX\t1\t1\t1\t1.400\t3.000\n"
    "kineto\tc\tc.1\tX\t1\t1\t1\t\t2.000\n"
    "kineto\tc\tc.2\tX\t1\t1\t1\t1.200\t\n"
    "other\tc\tc.3\tX\t1\t1\t1\t1.200\t9.000\n";

TEST(Untraced, ConstantsAreFittedToTheTable) {
  const CostFit fit = fit_recording_cost(kTable, "kineto");
  EXPECT_EQ(fit.pairs, 4U);
  EXPECT_NEAR(fit.slope, 3, 1e-9);
  EXPECT_NEAR(fit.offset_ns, -1'200, 1e-6);
  EXPECT_NEAR(fit.spread, 0, 1e-9);
  EXPECT_NEAR(fit.cost(900).ns, 1'500, 1e-6);
  EXPECT_NEAR(fit.cost(100).ns, 0, 1e-6);
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(fit.cost(none).ns, 1'800, 1e-6);
  EXPECT_NEAR(fit.cost(none).low_ns, 0, 1e-6);
  EXPECT_NEAR(fit.cost(none).high_ns, 3'750, 1e-6);
  EXPECT_EQ(fit_recording_cost(kTable, "kineto", "a").pairs, 0U);  // two are too few
  EXPECT_EQ(fit_recording_cost(kTable, "nsys").pairs, 0U);
}

TEST(Untraced, TheIntervalIsAsWideAsThePairsAreScattered) {
  const std::string table =
      std::string(kTable) + "kineto\td\td.1\tX\t1\t1\t1\t1.000\t2.240\n";
  const CostFit fit = fit_recording_cost(table, "kineto");
  EXPECT_NEAR(fit.slope, 3, 1e-9);
  // 440 of 400 + 1,800, half as much again.
  EXPECT_NEAR(fit.spread, 0.3, 1e-9);
  EXPECT_NEAR(fit.cost(1'000).low_ns, 1'800 - 660, 1e-6);
  EXPECT_NEAR(fit.cost(1'000).high_ns, 1'800 + 660, 1e-6);
}

TEST(Untraced, AnAnchorIsTaken) {
  const Recording run(plain_steps(4).build());
  const Untraced found =
      find_untraced(run.model, run.replay, UntracedTime{20'600, 20'600, 26'600}, {});
  EXPECT_EQ(found.source, UntracedSource::kAnchor);
  EXPECT_EQ(found.iteration_ns, 20'600);
  EXPECT_EQ(found.recorded_iteration_ns, 40 * kUs);
  EXPECT_NEAR(static_cast<double>(found.row_cost_ns), 8'000, 10);
  EXPECT_LT(found.row_cost_low_ns, found.row_cost_ns);
  EXPECT_NEAR(found.rows_per_iteration, 3, 1e-9);
}

TEST(Untraced, AnUnknownCostIsRefused) {
  const CostFit fit = fit_recording_cost(kTable, "kineto");
  const auto refusal = [&](Trace trace, std::optional<UntracedTime> anchor, const CostFit& with) {
    const Recording run(std::move(trace));
    const Untraced found = find_untraced(run.model, run.replay, anchor, with);
    EXPECT_EQ(found.source, UntracedSource::kRefused);
    return found.refusal;
  };
  const UntracedTime slow{43 * kUs, 43 * kUs, 43 * kUs};
  const UntracedTime fast{2 * kUs, 2 * kUs, 2 * kUs};
  EXPECT_EQ(refusal(plain_steps(4).build(), slow, fit), UntracedRefusal::kSlower);
  EXPECT_EQ(refusal(plain_steps(4).build(), fast, fit), UntracedRefusal::kOtherWork);
  EXPECT_EQ(refusal(plain_steps(4).build(), std::nullopt, {}), UntracedRefusal::kNoPairs);
  EXPECT_EQ(refusal(plain_steps(4).frame(1, "train.py(3): step", 0, 40 * kUs).build(),
                    std::nullopt, fit),
            UntracedRefusal::kFrames);
  EXPECT_EQ(refusal(TraceMaker().op(1, "aten::mm", 0, 10 * kUs).build(), fast, fit),
            UntracedRefusal::kNoIterations);
}

TEST(Untraced, TheWitnessIsFromAnOperatorToItsFirstChild) {
  TraceMaker maker = plain_steps(30);
  for (int i = 0; i < 30; ++i) {
    maker.op(1, "aten::addmm", i * 50 * kUs + 10 * kUs + 700, 15 * kUs);
  }
  const Recording run(maker.build());
  EXPECT_EQ(run.replay.witness_ns(), 700);
  EXPECT_TRUE(std::isnan(Recording(plain_steps(4).build()).replay.witness_ns()));
}

// Fitted to the table that is compiled in.
TEST(Untraced, TheTableOfCostsHasPairsOfKineto) {
  const CostFit fit = fit_recording_cost(tracer_cost_text(), "kineto");
  EXPECT_GE(fit.pairs, 16U);
  EXPECT_GT(fit.slope, 2);
  EXPECT_LT(fit.slope, 5);
}

}  // namespace
}  // namespace assay
