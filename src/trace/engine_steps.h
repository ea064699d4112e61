#pragma once

// Labels that serving engines give to the steps of their loop: vLLM and others "execute_...", SGLang
// "step[...]", TensorRT-LLM "[Executor] _forward_step ...".

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

enum class StepKind : uint8_t {
  kUntold,   // a step of unknown contents
  kPrefill,  // prompts alone
  kDecode,   // sequences that get their next token, alone
  kMixed,    // both
  kIdle,     // neither
};
std::string_view step_kind_name(StepKind kind);

// Numbers that are not known stay empty.
struct StepLabel {
  StepKind kind = StepKind::kUntold;
  std::optional<uint64_t> prompts = {};        // sequences in prefill
  std::optional<uint64_t> prompt_tokens = {};  // their tokens in this step
  std::optional<uint64_t> decoding = {};       // sequences in decode
  std::optional<uint64_t> decode_tokens = {};  // tokens of them, more than one each with speculation
  std::optional<uint64_t> computed = {};       // tokens with padding
  bool verifies = false;  // checks proposed tokens: one or more new ones a sequence (TARGET_VERIFY)
  bool drafts = false;    // of the model that proposes them: no new ones (DRAFT_EXTEND)
};

// Nothing for any other label. Numbers above 10^12 count as not known. The forms are
// `execute_[P_]context_N(C)_generation_M(G)`, `step[MODE bs=N toks=T]` and
// `[Executor] _forward_step I: N ctx reqs, T ctx tokens, M gen reqs`. In the first, N are prompts, M are decoding and
// P is the number of tokens with padding. C and G begin with the sum of query lengths, as in "sq37sk34489" or "37".
// MODE is EXTEND, DECODE, MIXED, TARGET_VERIFY, DRAFT_EXTEND or IDLE.
std::optional<StepLabel> read_step_label(std::string_view label);

// Adds the numbers of the inner of two labels around one step that the outer lacks.
void add_told(const StepLabel& inner, StepLabel& outer);

}  // namespace assay
