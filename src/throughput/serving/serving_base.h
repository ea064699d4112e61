#pragma once

// Analytical duration of prefill and decoding of one request that runs with others. It is the base
// of the latency models (latency_model.h), and a lower bound for every engine. Milliseconds
// throughout. Spec page planner, 4.1.

#include "records/bench_table.h"
#include "records/facts.h"

namespace assay {

struct ServingBase {
  double ttft_ms = 0;  // time to the first token, its own prompt and a share of others' included
  double tpot_ms = 0;  // per token after it, others' prompts between included
  double e2e_ms = 0;   // ttft + (oo - 1) tpot
  double prompt_share = 0;  // of tpot: the prompts of others, 0 to 1
};

// The row's `batch` is how many requests are in flight, all the time (a closed loop).
ServingBase serving_base(const BenchRow& row, const ModelFacts& model,
                         const HardwareFacts& hardware);
// At the data sheet's peaks, with nothing lost: weights of one pass or arithmetic, whichever is
// slower.
ServingBase serving_floor(const BenchRow& row, const ModelFacts& model,
                          const HardwareFacts& hardware);

// True if all prompts and answers of the row's closed loop need more arithmetic than its devices
// can do at their peaks in the reported time. Then prompts came from a cache, or more devices ran
// than the row says.
bool beyond_peaks(const BenchRow& row, double e2e_ms, const ModelFacts& model,
                  const HardwareFacts& hardware);

// The first token plus all later ones.
double end_to_end_ms(const BenchRow& row, double ttft_ms, double tpot_ms);

}  // namespace assay
