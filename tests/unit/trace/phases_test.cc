#include "trace/phases.h"

#include <gtest/gtest.h>

#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

TEST(PhaseOfLabel, ReadsWordsAndTheLabelsOfServingEngines) {
  EXPECT_EQ(phase_of_label("Prefill"), Phase::kPrefill);
  EXPECT_EQ(phase_of_label("chunked_prefill_3"), Phase::kPrefill);
  EXPECT_EQ(phase_of_label("decode_17"), Phase::kDecode);
  EXPECT_EQ(phase_of_label("step[DECODE bs=8]"), Phase::kDecode);
  EXPECT_EQ(phase_of_label("step[EXTEND bs=15 toks=15360]"), Phase::kPrefill);
  EXPECT_EQ(phase_of_label("execute_32_context_0(sq0sk0)_generation_32(sq32sk55086)"),
            Phase::kDecode);
  EXPECT_EQ(phase_of_label("execute_15360_context_15(sq15360)_generation_0(sq0)"), Phase::kPrefill);
  EXPECT_EQ(phase_of_label("execute_9_context_1(sq1)_generation_8(sq8)"), Phase::kNone);
  EXPECT_EQ(phase_of_label("## decoder fp8 None ##"), Phase::kNone);
  EXPECT_EQ(phase_of_label("image_decoded"), Phase::kNone);
  EXPECT_EQ(phase_of_label("prefill+decode"), Phase::kNone);
  EXPECT_EQ(phase_of_label("context_"), Phase::kNone);
  EXPECT_EQ(phase_of_label(""), Phase::kNone);
}

// Appends a step that launches these kernels, 10 us apart, and then waits for the device.
class Generation {
 public:
  int64_t step(const std::vector<std::string>& kernels, int64_t kernel_dur_ns, bool wait = true) {
    const int64_t start_ns = now_;
    for (const std::string& kernel : kernels) {
      ++correlation_;
      maker.op(1, "aten::op", now_, 5'000)
          .call(1, "cudaLaunchKernel", now_ + 1'000, 1'000, correlation_)
          .kernel(0, 7, kernel, now_ + 4'000, kernel_dur_ns, correlation_);
      now_ += 10'000;
    }
    if (wait) maker.call(1, "cudaStreamSynchronize", now_, 5'000, 0);
    now_ += 20'000;
    return start_ns;
  }
  int64_t now() const { return now_; }

  TraceMaker maker;

 private:
  int64_t now_ = 0;
  uint32_t correlation_ = 0;
};

std::vector<std::string> kernels(const std::string& prefix, size_t count) {
  std::vector<std::string> names = {"embedding", prefix + "_attention"};
  while (names.size() < count) names.push_back(prefix + std::to_string(names.size() % 7));
  names.push_back("lm_head");
  return names;
}

Phases phases_of(const Trace& trace, const Windows& windows) {
  return find_phases(trace, link_trace(trace), windows);
}
Windows whole(int64_t end_ns) {
  return {WindowSource::kWholeTrace, {{"whole trace", 0, end_ns}}, 0};
}

TEST(Phases, ByLabelTakeTheOutermostAnnotations) {
  const Trace trace = TraceMaker()
                          .annotation(1, "generate", 0, 1000)
                          .annotation(1, "prefill", 0, 300)
                          .annotation(1, "prefill.attention", 10, 20)
                          .annotation(1, "decode 1", 300, 100)
                          .annotation(1, "decode 2", 400, 100)
                          .build();
  const Phases phases = phases_of(trace, whole(1000));
  EXPECT_EQ(phases.source, PhaseSource::kLabels);
  EXPECT_EQ(phases.phase, (std::vector<Phase>{Phase::kPrefill, Phase::kDecode, Phase::kDecode}));
  EXPECT_EQ(phases.decode_steps, 2u);
}

TEST(Phases, LabelAroundALoopShowsNoSteps) {
  const Trace one = TraceMaker().annotation(1, "decode", 0, 1000).build();
  EXPECT_EQ(phases_of(one, whole(1000)).decode_steps, 0u);
  const Trace engine =
      TraceMaker().annotation(1, "execute_32_context_0(a)_generation_32(b)", 0, 1000).build();
  EXPECT_EQ(phases_of(engine, whole(1000)).decode_steps, 1u);
}

TEST(Phases, ByIterationsThatRepeatAfterALongerOne) {
  Generation run;
  Windows windows{.source = WindowSource::kProfilerStep, .windows = {}};
  const auto step = [&](const std::string& prefix, size_t count, int64_t dur_ns) {
    const int64_t start_ns = run.step(kernels(prefix, count), dur_ns);
    windows.windows.push_back({"s", start_ns, run.now()});
  };
  step("prefill_", 30, 9'000);
  for (int i = 0; i < 5; ++i) step("decode_", 29, 2'000);
  const Phases phases = phases_of(run.maker.build(), windows);
  EXPECT_EQ(phases.source, PhaseSource::kPattern);
  EXPECT_EQ(phases.phase[0], Phase::kPrefill);
  EXPECT_EQ(phases.phase[5], Phase::kDecode);
  EXPECT_EQ(phases.decode_steps, 5u);
}

TEST(Phases, ThreeEqualStepsOrAShorterFirstOneAreNotGeneration) {
  for (const bool short_run : {true, false}) {
    Generation run;
    Windows windows{.source = WindowSource::kProfilerStep, .windows = {}};
    const auto step = [&](const std::string& prefix, int64_t dur_ns) {
      const int64_t start_ns = run.step(kernels(prefix, 30), dur_ns);
      windows.windows.push_back({"s", start_ns, run.now()});
    };
    step("prefill_", short_run ? 9'000 : 1'000);
    for (int i = 0; i < (short_run ? 3 : 6); ++i) step("decode_", 2'000);
    const Phases phases = phases_of(run.maker.build(), windows);
    EXPECT_EQ(phases.source, PhaseSource::kNone);
    EXPECT_TRUE(phases.windows.windows.empty());
    EXPECT_FALSE(phases.why.empty());
  }
}

TEST(Phases, BySequenceInOneWindow) {
  Generation run;
  run.step(kernels("prefill_", 30), 9'000);
  const int64_t first_ns = run.step(kernels("decode_", 28), 2'000);
  for (int i = 0; i < 5; ++i) run.step(kernels("decode_", 28), 2'000);
  const int64_t end_ns = run.now();
  const Phases phases = phases_of(run.maker.build(), whole(end_ns));
  ASSERT_EQ(phases.source, PhaseSource::kPattern);
  ASSERT_EQ(phases.windows.windows.size(), 7u);
  EXPECT_EQ(phases.decode_steps, 6u);
  EXPECT_EQ(phases.phase[0], Phase::kPrefill);
  // The prefill ends like a step, with lm_head, and the windows start with a launch.
  EXPECT_EQ(phases.windows.windows[1].start_ns, first_ns + 1'000);
}

TEST(Phases, LayersOfOnePassAreNotSteps) {
  Generation run;
  run.step(kernels("prefill_", 30), 9'000, false);
  for (int i = 0; i < 6; ++i) run.step(kernels("layer_", 28), 2'000, false);
  const int64_t end_ns = run.now();
  EXPECT_EQ(phases_of(run.maker.build(), whole(end_ns)).source, PhaseSource::kNone);
}

TEST(Phases, TrainingHasNone) {
  Generation run;
  run.maker.op(2, "MmBackward0", 0, 10);
  run.step(kernels("prefill_", 30), 9'000);
  for (int i = 0; i < 6; ++i) run.step(kernels("decode_", 28), 2'000);
  const int64_t end_ns = run.now();
  EXPECT_EQ(phases_of(run.maker.build(), whole(end_ns)).source, PhaseSource::kNone);
  EXPECT_EQ(phases_of(Trace(), whole(0)).source, PhaseSource::kNone);
}

}  // namespace
}  // namespace assay
