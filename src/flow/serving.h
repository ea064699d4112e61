#pragma once

// Steps of a serving engine's loop, by its labels, and the numbers of serving that follow from them. Definitions:
// docs/metrics.md, Flow, Serving.

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "trace/engine_steps.h"

namespace assay {

struct FlowRun;

// One step that has device work. Work belongs to the step with the label around its launch call.
struct ServingStep {
  StepLabel told;
  Interval host;           // of its label
  Interval device;         // from its first work to its last
  int64_t busy_ns = 0;     // of it, in which a device works
  int64_t launch_ns = 0;   // from the begin of its label to the end of its last call that launches
  int64_t period_ns = 0;   // from the end of the last work of the step before; 0 of the first step
  // From the tokens before to those of this step, of the sequences that it decodes; 0 where there are none before.
  int64_t token_gap_ns = 0;

  bool decodes() const { return told.kind == StepKind::kDecode || told.kind == StepKind::kMixed; }
  bool prefills() const { return told.kind == StepKind::kPrefill || told.kind == StepKind::kMixed; }
};

// The part of the 99th percentile of times between tokens with the largest excess over the median.
struct SlowToken {
  enum class What : uint8_t {
    kNone,
    kPrefillInStep,
    kPrefillBetween,
    kHost,      // no step has work
    kLongStep,  // with as many prompts as others: none
  };
  What what = What::kNone;
  int64_t ns = 0;  // of that part
  uint64_t prompt_tokens = 0;
};

// NaN, and 0 of times: not known.
struct Serving {
  static constexpr double kUntold = std::numeric_limits<double>::quiet_NaN();

  std::vector<ServingStep> steps;  // in order
  uint64_t prefill_steps = 0;
  uint64_t decode_steps = 0;
  uint64_t mixed_steps = 0;
  uint64_t prompt_tokens = 0;   // in prefill
  uint64_t decode_tokens = 0;
  int64_t span_ns = 0;          // in which some step is between its first and its last work
  double tokens_per_s = kUntold;      // of prefill and decode through the model, over span_ns
  double new_tokens_per_s = kUntold;  // decoding sequences over the periods of all steps
  double batch = kUntold;             // decoding sequences of a decode or mixed step, on average
  double padding = kUntold;           // 1 - asked tokens / computed tokens
  // Time between tokens of one sequence: token_gap_ns of decode and mixed steps. `speculates`: some step may have more
  // than one new token a sequence, so that these are times between steps and new_tokens_per_s is a lower bound.
  bool speculates = false;
  int64_t itl_p50_ns = 0;
  int64_t itl_p90_ns = 0;
  int64_t itl_p99_ns = 0;
  int64_t tpot_ns = 0;      // the mean of them
  SlowToken slow_token = {};
  int64_t ttft_low_ns = 0;  // median over prefill and mixed steps: begin of the label to its last work
  // One decode step alone has no time between tokens: its span is the least that itl_p50_ns and tpot_ns can be.
  bool itl_at_least = false;
  // Calls with known work in the steps, over span_ns and devices.
  double hfu = kUntold;          // FLOP / peak of their type
  double mfu = kUntold;          // the same without padding
  double mbu = kUntold;          // bytes of products, experts and attention / peak
  double known_share = kUntold;  // of the kernels' time
};

// Steps with device work that begins in `window`, in order.
std::vector<ServingStep> engine_steps(const FlowRun& run, Interval window);

// Output tokens of steps: those of sequences in decode, and at most a first one of each prompt more, as a prompt may have
// several steps. Empty if a step lacks its numbers, or may have several tokens per sequence.
struct OutputTokens {
  uint64_t least = 0;
  uint64_t most = 0;
};
std::optional<OutputTokens> output_tokens(const std::vector<ServingStep>& steps);

// The same with their numbers. The result has no steps without such labels.
Serving serving_of(const FlowRun& run, Interval window);

}  // namespace assay
