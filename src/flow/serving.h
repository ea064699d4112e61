#pragma once

// Steps of a serving engine's loop, from its labels, and serving metrics that follow from them.
// Definitions: docs/metrics.md, Flow, Serving.

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "trace/engine_steps.h"

namespace assay {

struct FlowRun;

// A step with device work. Work belongs to the step with its launch call inside the label.
struct ServingStep {
  StepLabel told;
  Interval host;           // span of its label
  Interval device;         // from its first work to its last
  int64_t busy_ns = 0;     // part of `device` in which a device is busy
  int64_t launch_ns = 0;   // from the begin of its label to the end of its last launching call
  // From the previous step's last end of work to its own; 0 for the first step.
  int64_t period_ns = 0;
  // Time between tokens of the sequences that it decodes: from their previous tokens to those of
  // this step; 0 if there are none before.
  int64_t token_gap_ns = 0;

  bool decodes() const { return told.kind == StepKind::kDecode || told.kind == StepKind::kMixed; }
  bool prefills() const { return told.kind == StepKind::kPrefill || told.kind == StepKind::kMixed; }
};

// Why tokens at the 99th percentile of inter-token time are slow: the part of that time with the
// largest excess over its median.
struct SlowToken {
  enum class What : uint8_t {
    kNone,
    kPrefillInStep,
    kPrefillBetween,
    kHost,      // time without any step
    kLongStep,  // a long step without prompts
  };
  What what = What::kNone;
  int64_t ns = 0;  // length of that part
  uint64_t prompt_tokens = 0;
};

// Unknown values are NaN; unknown times are 0.
struct Serving {
  static constexpr double kUntold = std::numeric_limits<double>::quiet_NaN();

  std::vector<ServingStep> steps;  // in order
  uint64_t prefill_steps = 0;
  uint64_t decode_steps = 0;
  uint64_t mixed_steps = 0;
  uint64_t prompt_tokens = 0;   // in prefill
  uint64_t decode_tokens = 0;
  int64_t span_ns = 0;          // time in which some step is between its first and its last work
  double tokens_per_s = kUntold;      // prefill and decode tokens processed, over span_ns
  double new_tokens_per_s = kUntold;  // decoding sequences over the periods of all steps
  double batch = kUntold;             // decoding sequences of a decode or mixed step, on average
  double padding = kUntold;           // 1 - requested tokens / computed tokens
  // Inter-token latency: token_gap_ns of decode and mixed steps. `speculates`: some step may yield
  // more than one token per sequence, so that these are times between steps and new_tokens_per_s is
  // a lower bound.
  bool speculates = false;
  int64_t itl_p50_ns = 0;
  int64_t itl_p90_ns = 0;
  int64_t itl_p99_ns = 0;
  int64_t tpot_ns = 0;      // mean of token_gap_ns
  SlowToken slow_token = {};
  // Median over prefill and mixed steps, begin of label to end of work: a lower bound.
  int64_t ttft_low_ns = 0;
  // A single decode step has no inter-token time: its span is a lower bound of itl_p50_ns and
  // tpot_ns.
  bool itl_at_least = false;
  // From calls with known work in the steps, over span_ns and devices.
  double hfu = kUntold;          // FLOP / peak of their type
  double mfu = kUntold;          // hfu * (1 - padding)
  double mbu = kUntold;          // bytes of products, experts and attention / peak
  double known_share = kUntold;  // share of kernel time with known work
};

// Steps with device work that begins in `window`, in order.
std::vector<ServingStep> engine_steps(const FlowRun& run, Interval window);

// Range of output tokens of the steps: one per decoding sequence, plus at most one per prompt,
// since a prompt may span several steps. None if a step lacks its numbers, or may yield several
// tokens per sequence.
struct OutputTokens {
  uint64_t least = 0;
  uint64_t most = 0;
};
std::optional<OutputTokens> output_tokens(const std::vector<ServingStep>& steps);

// The steps with all metrics. `steps` is empty without such labels.
Serving serving_of(const FlowRun& run, Interval window);

}  // namespace assay
