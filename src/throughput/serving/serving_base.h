#pragma once

// Analytical duration of prefill and decoding of a request that runs with others, in milliseconds.
// It is the base of the latency models (latency_model.h). Spec page planner, 4.1.

#include "records/bench_table.h"
#include "records/facts.h"

namespace assay {

struct ServingBase {
  double ttft_ms = 0;       // time to the first token, including a share of others' prompts
  double tpot_ms = 0;       // per later token, including prompts of others in between
  double e2e_ms = 0;        // ttft + (oo - 1) tpot
  double prompt_share = 0;  // share of tpot for the prompts of others, 0 to 1
};

// The row's `batch` is the constant number of requests in flight (a closed loop).
ServingBase serving_base(const BenchRow& row, const ModelFacts& model,
                         const HardwareFacts& hardware);
// Lower bound for every engine, at the peaks of the data sheet: weights of one pass or arithmetic,
// whichever takes longer. prompt_share is 0.
ServingBase serving_floor(const BenchRow& row, const ModelFacts& model,
                          const HardwareFacts& hardware);

// True if all prompts and answers of the row's closed loop need more arithmetic than its devices
// can do at their peaks in the reported time. Then prompts came from a cache, or more devices ran
// than the row says.
bool beyond_peaks(const BenchRow& row, double e2e_ms, const ModelFacts& model,
                  const HardwareFacts& hardware);

// TTFT plus the time of all later tokens.
double end_to_end_ms(const BenchRow& row, double ttft_ms, double tpot_ms);

}  // namespace assay
