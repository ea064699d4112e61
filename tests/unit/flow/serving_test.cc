#include "flow/serving.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "flow/flow.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

// Steps of 100 us each on the host, their kernels 1 us later on the device: a prefill of 3 prompts with 90 tokens (128
// with padding) whose kernel takes 80, then decode steps of 4 and 6 sequences that take 40 and 30.
Trace three_steps() {
  testing::TraceMaker maker;
  const auto step = [&](std::string_view label, int64_t start_ns, int64_t kernel_ns, uint32_t id) {
    maker.annotation(1, label, start_ns, 50'000);
    maker.call(1, "cudaLaunchKernel", start_ns + 10'000, 2'000, id);
    maker.kernel(0, 7, "gemm", start_ns + 20'000, kernel_ns, id);
  };
  step("execute_128_context_3(sq90sk90)_generation_0(sq0)", 0, 80'000, 1);
  step("execute_4_context_0(sq0)_generation_4(sq4sk94)", 100'000, 40'000, 2);
  step("execute_6_context_0(sq0)_generation_6(sq6sk99)", 200'000, 30'000, 3);
  return maker.build();
}

Serving serve(const Trace& trace, Interval window) {
  const Links links = link_trace(trace);
  const FlowModel model = make_flow_model(trace, links);
  return serving_of(model.run, window);
}

TEST(Serving, NumbersOfThreeSteps) {
  const Serving serving = serve(three_steps(), {0, 1'000'000});
  ASSERT_EQ(serving.steps.size(), 3U);
  EXPECT_EQ(serving.prefill_steps, 1U);
  EXPECT_EQ(serving.decode_steps, 2U);
  EXPECT_EQ(serving.prompt_tokens, 90U);
  EXPECT_EQ(serving.decode_tokens, 10U);
  EXPECT_EQ(serving.span_ns, 150'000);
  EXPECT_DOUBLE_EQ(serving.tokens_per_s, 100 / 150e-6);
  EXPECT_DOUBLE_EQ(serving.batch, 5);
  EXPECT_DOUBLE_EQ(serving.padding, 1 - 100.0 / 138);
  // Work ends at 100, 160 and 250 us.
  EXPECT_EQ(serving.steps[1].period_ns, 60'000);
  EXPECT_EQ(serving.steps[2].period_ns, 90'000);
  // Four sequences of three prompts: one of them is older than the trace.
  EXPECT_EQ(serving.steps[1].token_gap_ns, 0);
  EXPECT_EQ(serving.steps[2].token_gap_ns, 90'000);
  EXPECT_EQ(serving.itl_p50_ns, 90'000);
  EXPECT_EQ(serving.itl_p99_ns, 90'000);
  EXPECT_EQ(serving.tpot_ns, 90'000);
  EXPECT_FALSE(serving.itl_at_least);
  EXPECT_DOUBLE_EQ(serving.new_tokens_per_s, 10 / 150e-6);
  EXPECT_EQ(serving.ttft_low_ns, 100'000);
  EXPECT_EQ(serving.steps[0].launch_ns, 12'000);
  EXPECT_TRUE(std::isnan(serving.hfu)) << "no operator, no device";
}

// Kernels of 10 us, one step each 100 us: their ends are at 30, 130, 230, ... us.
Serving serve_labels(const std::vector<std::string>& labels) {
  testing::TraceMaker maker;
  for (size_t i = 0; i < labels.size(); ++i) {
    const int64_t start_ns = static_cast<int64_t>(i) * 100'000;
    const auto id = static_cast<uint32_t>(i + 1);
    maker.annotation(1, labels[i], start_ns, 50'000)
        .call(1, "cudaLaunchKernel", start_ns + 10'000, 2'000, id)
        .kernel(0, 7, "gemm", start_ns + 20'000, 10'000, id);
  }
  return serve(maker.build(), {0, 1'000'000'000});
}

std::vector<int64_t> token_gaps(const Serving& serving) {
  std::vector<int64_t> gaps;
  for (const ServingStep& step : serving.steps) gaps.push_back(step.token_gap_ns);
  return gaps;
}

TEST(Serving, TimeBetweenTokensIncludesPrefill) {
  const Serving serving =
      serve_labels({"step[DECODE bs=4]", "step[EXTEND bs=1 toks=900]", "step[EXTEND bs=1 toks=900]",
                    "step[DECODE bs=6]", "step[DECODE bs=6]"});
  EXPECT_EQ(token_gaps(serving), (std::vector<int64_t>{0, 0, 0, 300'000, 100'000}));
  EXPECT_EQ(serving.itl_p99_ns, 300'000);
  EXPECT_EQ(serving.itl_p50_ns, 100'000);
  EXPECT_DOUBLE_EQ(serving.new_tokens_per_s, 12 / 400e-6) << "prefill takes its part of the time";
}

TEST(Serving, SequencesThatMayAllBeNewCountFromTheirPrefill) {
  const Serving serving = serve_labels({"step[DECODE bs=2]", "step[IDLE bs=0]", "step[EXTEND bs=2 toks=90]",
                                        "step[DECODE bs=2]", "step[EXTEND bs=1 toks=9]", "step[DECODE bs=2]"});
  EXPECT_EQ(token_gaps(serving), (std::vector<int64_t>{0, 0, 0, 100'000, 0, 200'000}));
}

TEST(Serving, SpeculationIsKnownAndOnlyChecksHaveNewTokens) {
  const Serving checks = serve_labels({"step[TARGET_VERIFY bs=4]", "step[DRAFT_EXTEND bs=4]", "step[DECODE bs=4]",
                                       "step[TARGET_VERIFY bs=4]"});
  EXPECT_TRUE(checks.speculates);
  EXPECT_EQ(token_gaps(checks), (std::vector<int64_t>{0, 0, 0, 300'000}));
  EXPECT_TRUE(serve_labels({"execute_context_0(0)_generation_2(8)"}).speculates);
  EXPECT_FALSE(serve_labels({"execute_context_0(0)_generation_2(2)"}).speculates);
}

TEST(Serving, OutputTokensAreThoseOfDecodeAndAtMostOnePerPromptMore) {
  const auto tokens = [](const std::vector<std::string>& labels) { return output_tokens(serve_labels(labels).steps); };
  const auto plain = tokens({"step[EXTEND bs=3 toks=9]", "step[DECODE bs=4]", "step[DECODE bs=4]"});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->least, 8U);
  EXPECT_EQ(plain->most, 11U);
  EXPECT_FALSE(tokens({"step[MIXED bs=4]"}));
  EXPECT_FALSE(tokens({"step[TARGET_VERIFY bs=4]"}));
  EXPECT_FALSE(tokens({"execute_context_0(0)_generation_2(8)"}));
  EXPECT_FALSE(tokens({"step[EXTEND bs=3 toks=9]"})) << "no output yet";
}

TEST(Serving, OneDecodeStepHasALowerBoundOfItl) {
  const Serving serving = serve(three_steps(), {200'000, 1'000'000});
  ASSERT_EQ(serving.steps.size(), 1U);
  EXPECT_TRUE(serving.itl_at_least);
  EXPECT_EQ(serving.itl_p50_ns, 30'000);
  EXPECT_TRUE(std::isnan(serving.new_tokens_per_s));
}

TEST(Serving, NestedLabelsAreOneStepAndUnknownTokensStayUnknown) {
  testing::TraceMaker maker;
  maker.annotation(1, "step[MIXED bs=7]", 0, 50'000)
      .annotation(1, "execute_context_2(30)_generation_5(5)", 5'000, 40'000)
      .call(1, "cudaLaunchKernel", 10'000, 2'000, 1)
      .kernel(0, 7, "gemm", 20'000, 10'000, 1)
      .annotation(1, "step[TARGET_VERIFY bs=7]", 100'000, 50'000)
      .call(1, "cudaLaunchKernel", 110'000, 2'000, 2)
      .kernel(0, 7, "gemm", 120'000, 10'000, 2)
      .annotation(1, "step[DECODE bs=7]", 200'000, 50'000);
  const Serving serving = serve(maker.build(), {0, 1'000'000});
  ASSERT_EQ(serving.steps.size(), 2U) << "a step without device work does not count";
  EXPECT_EQ(serving.steps[0].told.kind, StepKind::kMixed);
  EXPECT_EQ(serving.steps[0].told.prompt_tokens, 30U);
  EXPECT_TRUE(std::isnan(serving.tokens_per_s));
  EXPECT_DOUBLE_EQ(serving.batch, 6);
}

TEST(Serving, NoLabelsNoNumbers) {
  testing::TraceMaker maker;
  maker.call(1, "cudaLaunchKernel", 10'000, 2'000, 1).kernel(0, 7, "gemm", 20'000, 10'000, 1);
  EXPECT_TRUE(serve(maker.build(), {0, 1'000'000}).steps.empty());
}

}  // namespace
}  // namespace assay
