// Problem: TTFT and TPOT of thousands of runs differ by four orders of magnitude. Their common part
// is arithmetic: bytes over bandwidth, operations over peaks.
//
// Method: per token, decoding reads the weights that its tokens use and the cache of everything in
// flight. It stalls while the prompts of others are processed. The first token waits for its own
// prompt, a share of the prompts in flight (more if prompts fill much of the time), and one step.
// Requests that do not fit the memory wait. Coefficients are the shares of the data sheet that
// engines achieve; the processes learn the residuals.
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

// Achieved shares of the peaks, and further costs. They minimise the scatter of the benchmark runs
// that latency_defaults() uses around their medians, in absolute logarithms, within configurations
// of a run and between configurations of one engine.
constexpr double kWeightsSlower = 1.37;
constexpr double kCacheSlower = 0.875;  // below 1, because an unknown precision counts as 16 bits
constexpr double kDecodeSlower = 1.41;
constexpr double kExchangeSlower = 1.23;
constexpr double kLayerMs = 0.0437;
constexpr double kHostMs = 0.0174;  // per request in flight and step
// The same for prompts of others between tokens.
constexpr double kPromptSlower = 0.777;
constexpr double kPromptAttentionSlower = 2.46;
// The same for a request's own prompt, before its first token.
constexpr double kOwnPromptSlower = 1.1;
constexpr double kOwnAttentionSlower = 5.1;
constexpr double kOwnExchangeSlower = 7.6;
constexpr double kOwnLayerMs = 0.197;
constexpr double kOwnSteps = 2.67;
constexpr double kFirstTokenMs = 21;
// Share of the prompts in flight that run before a new one: a constant, and a multiple of the share
// of time that prompts take.
constexpr double kPromptsBefore = 0.0513;
constexpr double kPromptsByLoad = 0.407;
// Concurrency of engines above that of placement.h. Nine tenths of the memory is a conservative
// default, and engines keep 8-bit keys and values with weights of 8 bits or fewer.
constexpr double kMoreSeats = 1.23;
constexpr double kSmallCache = 2;
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

// Two all-reduces per layer, two bytes per value. GB/s are MB/ms.
double exchange_ms(const BenchRow& row, const ModelFacts& model, const HardwareFacts& hardware,
                   double tokens) {
  if (row.devices <= 1) return 0;
  return model.layers * tokens * model.hidden * 4 / 1e6 / hardware.link_gb_s;
}

// Maximum number of requests that run at the same time, at their mean length.
double seats_of(const BenchRow& row, const ModelFacts& model, const HardwareFacts& hardware) {
  const Placement placement = placement_of(row, model, hardware);
  const double free_gb = std::max(placement.free_gb, kLeastFreeMemory * placement.memory_gb);
  const double mean_gb =
      placement.sequence_gb * (row.in_len + row.out_len / 2) / (row.in_len + row.out_len);
  const bool small = row.precision.weight_bytes < 1.5 && row.precision.kv_bytes > 1;
  return std::max(1.0, kMoreSeats * (small ? kSmallCache : 1) * free_gb / mean_gb);
}

Parts parts_of(const BenchRow& row, const ModelFacts& model, const HardwareFacts& hardware,
               double in_flight) {
  Parts parts;
  // 1e9 bytes / (TB/s) and 1e9 operations / (TFLOP/s) are ms.
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
  const double seats = seats_of(row, model, hardware);
  const double running = std::min(row.batch, seats);
  const double answer = std::max(1.0, row.out_len);
  const Parts parts = parts_of(row, model, hardware, running);
  const double step = kWeightsSlower * parts.weights_ms + kCacheSlower * parts.cache_ms +
                      kDecodeSlower * parts.compute_ms + parts.layers_ms +
                      kExchangeSlower * parts.exchange_ms + kHostMs * running;
  const double prompt = kPromptSlower * parts.prefill_ms +
                        kPromptAttentionSlower * parts.attention_ms +
                        kExchangeSlower * parts.prompt_exchange_ms;
  const double own = kOwnPromptSlower * parts.prefill_ms +
                     kOwnAttentionSlower * parts.attention_ms +
                     kOwnExchangeSlower * parts.prompt_exchange_ms + kOwnLayerMs * model.layers;
  const double load = running * own / answer / step;
  ServingBase base;
  const double prompts = running * prompt / answer;
  base.tpot_ms = step + prompts;
  base.prompt_share = prompts / base.tpot_ms;
  base.ttft_ms = own * (1 + kPromptsBefore * running + kPromptsByLoad * load) + kOwnSteps * step +
                 kFirstTokenMs + (row.batch / running - 1) * answer * base.tpot_ms;
  base.e2e_ms = end_to_end_ms(row, base.ttft_ms, base.tpot_ms);
  return base;
}

bool beyond_peaks(const BenchRow& row, double e2e_ms, const ModelFacts& model,
                  const HardwareFacts& hardware) {
  // If the precision is unknown, the fastest units count.
  const double peak = row.precision.told ? peak_tflops(row, hardware)
                                         : std::max({hardware.tflops, hardware.fp8_tflops,
                                                     hardware.int8_tops, hardware.fp4_tflops});
  const double gflop = row.batch * (row.in_len + row.out_len) * 2 * model.active_b;
  return gflop / (row.devices * peak) > e2e_ms;
}

ServingBase serving_floor(const BenchRow& row, const ModelFacts& model,
                          const HardwareFacts& hardware) {
  const Parts parts = parts_of(row, model, hardware, row.batch);
  const double weights_ms = parts_of(row, model, hardware, 1).weights_ms;
  ServingBase floor;
  floor.ttft_ms = std::max(parts.prefill_ms, weights_ms);
  floor.tpot_ms = std::max(parts.compute_ms, parts.weights_ms);
  floor.e2e_ms = end_to_end_ms(row, floor.ttft_ms, floor.tpot_ms);
  return floor;
}

}  // namespace assay
