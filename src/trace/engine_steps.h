#pragma once

// Parses the labels of serving engines for the steps of their loop: vLLM and others "execute_...",
// SGLang "step[...]", TensorRT-LLM "[Executor] _forward_step ...".

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

enum class StepKind : uint8_t {
  kUntold,   // unknown
  kPrefill,  // only prompts
  kDecode,   // only sequences that get their next token
  kMixed,    // both
  kIdle,     // neither
};
std::string_view step_kind_name(StepKind kind);

// Contents of a step; unknown numbers are nullopt.
struct StepLabel {
  StepKind kind = StepKind::kUntold;
  std::optional<uint64_t> prompts = {};        // sequences in prefill
  std::optional<uint64_t> prompt_tokens = {};  // their tokens
  std::optional<uint64_t> decoding = {};       // sequences in decode
  std::optional<uint64_t> decode_tokens = {};  // their tokens; several each with speculation
  std::optional<uint64_t> computed = {};       // tokens including padding
  bool verifies = false;  // checks proposed tokens: one or more new ones per sequence
                          // (TARGET_VERIFY)
  bool drafts = false;    // step of the draft model: no new tokens (DRAFT_EXTEND)
};

// Parses the label of a step; nullopt for other labels. Numbers above 10^12 are unknown. Forms:
// - `execute_[P_]context_N(C)_generation_M(G)`: N prompts, M decoding sequences, P tokens with
//   padding. C and G begin with the sum of query lengths, as in "sq37sk34489" or "37".
// - `step[MODE bs=N toks=T]`: MODE is EXTEND, DECODE, MIXED, TARGET_VERIFY, DRAFT_EXTEND or IDLE.
// - `[Executor] _forward_step I: N ctx reqs, T ctx tokens, M gen reqs`.
std::optional<StepLabel> read_step_label(std::string_view label);

// Of two nested labels of one step: sets kind and numbers that the outer one lacks to those of the
// inner one.
void add_told(const StepLabel& inner, StepLabel& outer);

}  // namespace assay
