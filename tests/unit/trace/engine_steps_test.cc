#include "trace/engine_steps.h"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

StepLabel read(std::string_view label) {
  const auto step = read_step_label(label);
  EXPECT_TRUE(step.has_value()) << label;
  return step.value_or(StepLabel{});
}

TEST(StepLabels, Execute) {
  const StepLabel prefill =
      read("execute_15872_context_15(sq15360sk15360sqsq15728640sqsk15728640)_generation_0(sq0sk0sqsq0sqsk0)");
  EXPECT_EQ(prefill.kind, StepKind::kPrefill);
  EXPECT_EQ(prefill.prompts, 15U);
  EXPECT_EQ(prefill.prompt_tokens, 15360U);
  EXPECT_EQ(prefill.decoding, 0U);
  EXPECT_EQ(prefill.decode_tokens, 0U);
  EXPECT_EQ(prefill.computed, 15872U);
  const StepLabel mixed = read("execute_context_2(512_262144)_generation_7(7)");
  EXPECT_EQ(mixed.kind, StepKind::kMixed);
  EXPECT_EQ(mixed.prompt_tokens, 512U);
  EXPECT_EQ(mixed.decode_tokens, 7U);
  EXPECT_FALSE(mixed.computed.has_value());
  EXPECT_EQ(read("execute_context_0(0)_generation_0(0)").kind, StepKind::kIdle);
}

TEST(StepLabels, Sglang) {
  const StepLabel extend = read("step[EXTEND bs=15 toks=15360]");
  EXPECT_EQ(extend.kind, StepKind::kPrefill);
  EXPECT_EQ(extend.prompts, 15U);
  EXPECT_EQ(extend.prompt_tokens, 15360U);
  const StepLabel decode = read("step[DECODE bs=8]");
  EXPECT_EQ(decode.decoding, 8U);
  EXPECT_EQ(decode.decode_tokens, 8U);
  EXPECT_FALSE(read("step[TARGET_VERIFY bs=8]").decode_tokens.has_value());
  const StepLabel mixed = read("step[MIXED bs=9 toks=700]");
  EXPECT_EQ(mixed.kind, StepKind::kMixed);
  EXPECT_FALSE(mixed.prompts.has_value()) << "how many of each is not told";
  EXPECT_EQ(read("step[IDLE bs=0]").kind, StepKind::kIdle);
}

TEST(StepLabels, TensorRt) {
  const StepLabel step = read("[Executor] _forward_step 117: 1 ctx reqs, 96 ctx tokens, 32 gen reqs");
  EXPECT_EQ(step.kind, StepKind::kMixed);
  EXPECT_EQ(step.prompt_tokens, 96U);
  EXPECT_EQ(step.decoding, 32U);
  const StepLabel older = read("[Executor] _forward_step 117: 1 ctx reqs, 32 gen reqs");
  EXPECT_FALSE(older.prompt_tokens.has_value());
}

// Every label cut at every place, and with every character changed: a step or none, and never more than is told.
TEST(StepLabels, BrokenLabelsAreReadOrRefused) {
  for (const std::string label :
       {"execute_64_context_2(sq37sk34489)_generation_7(sq7sk9)", "step[DECODE bs=8 toks=9]",
        "[Executor] _forward_step 117: 1 ctx reqs, 96 ctx tokens, 32 gen reqs"}) {
    for (size_t end = 0; end < label.size(); ++end) {
      // "step[DECODE bs=8 " may go on with words of later versions.
      const bool complete = label.substr(0, end).starts_with("step[DECODE bs=8 ");
      if (!complete) {
        EXPECT_FALSE(read_step_label(label.substr(0, end)).has_value()) << label.substr(0, end);
      }
      std::string changed = label;
      changed[end] = '\x7f';
      (void)read_step_label(changed);
    }
  }
  EXPECT_FALSE(read("execute_context_99999999999999999999(5)_generation_0(0)").prompts.has_value());
  EXPECT_FALSE(read_step_label("capture_32_FULL").has_value());
  EXPECT_FALSE(read_step_label("execute_model").has_value());
  EXPECT_FALSE(read_step_label("execute_diffusion_2_1024x1024").has_value());
}

}  // namespace
}  // namespace assay
