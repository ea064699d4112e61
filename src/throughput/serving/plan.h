#pragma once

// The cheapest GPUs that serve a model at a given rate within limits on TTFT and TPOT, with the
// probability that they do. Spec page planner, 6.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/facts.h"
#include "throughput/serving/latency_model.h"
#include "throughput/serving/queueing.h"

namespace assay {

struct GpuOffer {
  std::string name;         // as in the price list
  double usd_per_hour = 0;  // of one GPU; 0 = no price list
  double watts = 0;         // of one GPU under load; 0 = board power of the specifications
  uint32_t per_node = 8;
  uint32_t nodes = 4;  // available nodes
};

enum class PlanRank : uint8_t { kDollar, kGpu, kJoule, kUser };

struct PlanQuestion {
  std::string model;
  double in_len = 0;
  double out_len = 0;
  double ttft_ms = 0;  // limits
  double tpot_ms = 0;
  double per_s = 0;         // requests
  double percentile = 0.9;  // of requests (TTFT) and tokens (TPOT) that must stay below
  double confidence = 0.9;  // required probability
  double variation = 1;     // squared variation of arrivals, see at_rate()
  std::vector<GpuOffer> offers;
  std::vector<std::string> engines;     // empty: those that have rows of the model, else all
  std::vector<std::string> precisions;  // likewise
  std::string version;         // of the engine, with or without v; empty = any future build
  uint32_t max_gpus = 0;       // 0: what the offers allow
  bool measured_only = false;  // only configurations that have rows
  PlanRank rank = PlanRank::kDollar;
};

// One configuration of the model: a row without batch, with its latency curve.
struct PlanSetup {
  BenchRow row;  // hardware as offered; batch is not set
  size_t offer = 0;
  LatencyQuestion question = LatencyQuestion::kModel;
  bool measured = false;                                // coverage of the intervals was measured
  PredictionStatus status = PredictionStatus::kInside;  // end to end, in the middle of the curve
  // Only for a GPU without rows under the engine, which is never sure: the nearest GPU of its
  // vendor that has rows, and the effect of data sheets on the median of the curve.
  std::string sibling = {};
  std::vector<std::string> by_sheet = {};
  size_t seats = 0;  // maximum concurrency: by memory, search range and range of rows
  ClosedLoop loop;   // the estimate
  double ttft_log_sd = 0;
  double tpot_log_sd = 0;
};

struct PlanCandidate {
  size_t setup = 0;
  uint32_t replicas = 0;
  uint32_t gpus = 0;
  double usd_per_hour = 0;
  double probability = 0;
  AtRate at;        // of one replica, by the estimated curve
  double load = 0;  // of a replica's capacity
  double tokens_per_s_per_gpu = 0;
  double tokens_per_usd = 0;
  double joules_per_token = 0;  // at board power: an upper bound
};

// Performance of a replica at one concurrency: throughput per user against throughput per GPU.
struct ParetoPoint {
  size_t setup = 0;
  double in_flight = 0;
  double tokens_per_s_per_user = 0;
  double tokens_per_s_per_gpu = 0;
  double low90 = 0;  // of tokens_per_s_per_gpu
  double high90 = 0;
  double usd_per_mtok = 0;
  double joules_per_token = 0;
};

// Setups rejected for one reason.
struct PlanRefusal {
  size_t setups = 0;
  std::set<size_t> offers;  // indices of their GPUs in PlanQuestion::offers
  std::string example;      // details of the last one; may be empty
};

// Lower bounds of a latency.
struct ShortestLatency {
  double estimate_ms = 0;  // minimum over the setups; 0 if there are none
  double low90_ms = 0;     // least low end of the 90 % intervals
  // Minimum over the rows of the model on offered GPUs with prompts at least as long; infinite if
  // there are none.
  double measured_ms = std::numeric_limits<double>::infinity();

  // The lower of the estimated and the measured minimum.
  double least_ms() const { return std::min(low90_ms, measured_ms); }
};

struct Plan {
  std::vector<PlanSetup> setups;
  // One per GPU, engine and precision, best first.
  std::vector<PlanCandidate> sure;
  std::vector<PlanCandidate> likely;       // at least 0.5, and cheaper than the first sure one
  std::vector<ParetoPoint> pareto;         // beaten by no other in both; most tokens/s/user first
  std::vector<ParetoPoint> pareto_by_gpu;  // the same per GPU
  std::map<std::string, PlanRefusal> refused;  // by reason
  std::optional<size_t> measure_next;          // into `likely`: largest expected saving
  double most_load = 0;
  double best_probability = 0;  // maximum over everything searched
  // Minimum over all setups with a single request in flight.
  ShortestLatency ttft;
  ShortestLatency tpot;
  double most_per_s = 0;  // maximum rate of one setup on all its GPUs, without limits
};

// Fails for a model or a GPU without specifications, without offers, for an engine, precision or
// version without rows, and for lengths, limits or a rate that are not above 0.
Result<Plan> make_plan(const LatencyModel& latencies, const std::vector<BenchRow>& rows,
                       const FactBook& facts, const PlanQuestion& question);

}  // namespace assay
