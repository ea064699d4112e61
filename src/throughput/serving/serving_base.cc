// Problem: TTFT and TPOT of thousands of runs differ by four orders of magnitude, and what they
// have in common is arithmetic: bytes over bandwidth, operations over peaks.
//
// Method: decoding reads the weights that its tokens touch and the cache of everything in flight
// once a token, and stands still while the prompts of others are worked on; the first token waits
// for its own prompt, a share of the prompts in flight and one step. Coefficients stand for what
// engines reach of the data sheet; the processes learn what they miss.
//
// Effect: docs/measured/throughput_latency.md, the baseline's column (this times one factor per
// engine and GPU).

#include "throughput/serving/serving_base.h"

#include <algorithm>
#include <cmath>

#include "throughput/physics.h"
#include "throughput/placement.h"

namespace assay {
namespace {

// What of the peaks is reached, as spec page planner 4.1 has it: bandwidth by weights and by the
// cache, FLOP/s by decoding and by the prompt.
constexpr double kWeightsSlower = 1.2;
constexpr double kCacheSlower = 1.3;
constexpr double kDecodeSlower = 2.0;
constexpr double kPrefillSlower = 2.2;
constexpr double kAttentionSlower = 2.0;
constexpr double kLayerMs = 0.012;
constexpr double kHostMs = 0.006;  // per request in flight and step
constexpr double kFirstTokenMs = 20;
// Of the prompts in flight that stand before one's own, chosen on all rows of the public half of
// AIConfigurator's table by the spread that remains.
constexpr double kPromptsBefore = 0.04;
constexpr double kHeadDim = 128;

struct Parts {
  double weights_ms = 0;
  double cache_ms = 0;
  double compute_ms = 0;
  double layers_ms = 0;
  double exchange_ms = 0;
  double prefill_ms = 0;  // arithmetic of one prompt
  double attention_ms = 0;
  double prompt_exchange_ms = 0;
};

// Two sums over all devices per layer, two bytes a value. GB/s are MB/ms.
double exchange_ms(const BenchRow& row, const ModelFacts& model, const HardwareFacts& hardware,
                   double tokens) {
  if (row.devices <= 1) return 0;
  return model.layers * tokens * model.hidden * 4 / 1e6 / hardware.link_gb_s;
}

Parts parts_of(const BenchRow& row, const ModelFacts& model, const HardwareFacts& hardware) {
  Parts parts;
  const double in_flight = row.batch;
  // 1e9 bytes over TB/s, and 1e9 operations over TFLOP/s, are ms.
  const double bandwidth = row.devices * hardware.bandwidth_tb_s;
  const double tflops = row.devices * peak_tflops(row, hardware);
  const double copies = kv_copies(row, model);
  parts.weights_ms = weights_touched(model, in_flight) * row.precision.weight_bytes / bandwidth;
  parts.cache_ms =
      in_flight * kv_gb_per_token(row, model) * copies * (row.in_len + row.out_len / 2) / bandwidth;
  parts.compute_ms = in_flight * 2 * model.active_b / tflops;
  parts.layers_ms = kLayerMs * model.layers * (1 + 0.5 * std::log2(row.devices));
  parts.exchange_ms = exchange_ms(row, model, hardware, in_flight);
  parts.prefill_ms = row.in_len * 2 * model.active_b / tflops;
  const double heads = model.heads > 0 ? model.heads : model.hidden / kHeadDim;
  parts.attention_ms = model.layers * row.in_len * row.in_len * heads * kHeadDim * 2 / 1e9 /
                       (row.devices * hardware.tflops);
  parts.prompt_exchange_ms = exchange_ms(row, model, hardware, row.in_len);
  return parts;
}

}  // namespace

double end_to_end_ms(const BenchRow& row, double ttft_ms, double tpot_ms) {
  return ttft_ms + std::max(0.0, row.out_len - 1) * tpot_ms;
}

ServingBase serving_base(const BenchRow& row, const ModelFacts& model,
                         const HardwareFacts& hardware) {
  const Parts parts = parts_of(row, model, hardware);
  const double prefill = kPrefillSlower * parts.prefill_ms + kAttentionSlower * parts.attention_ms +
                         parts.prompt_exchange_ms;
  ServingBase base;
  base.ttft_ms = prefill * (1 + kPromptsBefore * row.batch) + kWeightsSlower * parts.weights_ms +
                 parts.layers_ms + kFirstTokenMs;
  base.tpot_ms = kWeightsSlower * parts.weights_ms + kCacheSlower * parts.cache_ms +
                 kDecodeSlower * parts.compute_ms + parts.layers_ms + parts.exchange_ms +
                 kHostMs * row.batch + row.batch * prefill / std::max(1.0, row.out_len);
  base.e2e_ms = end_to_end_ms(row, base.ttft_ms, base.tpot_ms);
  return base;
}

bool beyond_peaks(const BenchRow& row, double e2e_ms, const ModelFacts& model,
                  const HardwareFacts& hardware) {
  // Of a precision that nobody told the fastest units count.
  const double peak = row.precision.told ? peak_tflops(row, hardware)
                                         : std::max({hardware.tflops, hardware.fp8_tflops,
                                                     hardware.int8_tops, hardware.fp4_tflops});
  const double gflop = row.batch * (row.in_len + row.out_len) * 2 * model.active_b;
  return gflop / (row.devices * peak) > e2e_ms;
}

ServingBase serving_floor(const BenchRow& row, const ModelFacts& model,
                          const HardwareFacts& hardware) {
  const Parts parts = parts_of(row, model, hardware);
  BenchRow alone = row;
  alone.batch = 1;
  const double weights_ms = parts_of(alone, model, hardware).weights_ms;
  ServingBase floor;
  floor.ttft_ms = std::max(parts.prefill_ms, weights_ms);
  floor.tpot_ms = std::max(parts.compute_ms, parts.weights_ms);
  floor.e2e_ms = end_to_end_ms(row, floor.ttft_ms, floor.tpot_ms);
  return floor;
}

}  // namespace assay
