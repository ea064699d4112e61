#pragma once

// TTFT and TPOT of new runs, and the end-to-end latency that follows from them. Each is a Gaussian
// process on an analytical base (serving_base.h, latency_kernel.h), with benchmark run and engine
// build as separate effects. Intervals are for a future benchmark run, measured by holding out
// whole benchmark runs. Spec page planner, 2 and 4; docs/decisions/0018-latency-plans.md describes
// the limits.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "records/facts.h"
#include "throughput/method.h"
#include "throughput/serving/latency_kernel.h"

namespace assay {

// What is new about a run in addition to its benchmark run.
enum class LatencyQuestion : uint8_t {
  kOtherCampaign,  // the configuration has rows
  kConfiguration,  // GPU, engine and model together have rows
  kModel,          // GPU and engine together have rows, and the model others
  kNewModel,       // GPU and engine together have rows, the model has none
  kHardware
};
inline constexpr size_t kLatencyQuestions = 5;
// The names are "other campaign", "configuration", "model", "new model" and "hardware".
std::string_view latency_question_name(LatencyQuestion question);

// The half-width of a 90 % interval is scale * sqrt(sd^2 + tau^2), in logarithms.
struct CampaignScale {
  double scale = 1.6448536269514722;
  double tau = 0;         // variation between blocks beyond that of the process
  size_t blocks = 0;      // number of benchmark runs behind it; for a new model, of engine and
                          // model pairs
  bool measured = false;  // false: the widest of nearer questions, or assumed

  double half_width(double sd) const;
};
using CampaignScales = std::array<CampaignScale, kLatencyQuestions>;

// Error of a row with its whole block held out.
struct BlockMiss {
  double miss = 0;  // |measured - answered|, in logarithms
  double sd = 0;    // of the answer
  uint32_t block = 0;
  LatencyQuestion question = LatencyQuestion::kOtherCampaign;
};
// Every block has equal weight, independent of its rows, and one block is added for the next
// (pooled distribution functions: Dunn, Wasserman and Ramdas, "Distribution-free prediction sets
// for two-layer hierarchical models", 2023). A question with few blocks is shrunk towards twenty
// blocks of all questions except new hardware. Questions of fewer than `fewest` blocks are not
// measured. One block alone does not show the variation between blocks; `assumed_tau` replaces it.
// without_model: errors with all rows of a model under an engine held out, for models without rows.
// Holding out a benchmark run is not enough there, because its models remain in others.
CampaignScales campaign_scales(const std::vector<BlockMiss>& misses,
                               const std::vector<BlockMiss>& without_model, size_t fewest,
                               double assumed_tau);

struct LatencyEstimate {
  double ms = 0;
  double low90_ms = 0;
  double high90_ms = 0;
  double log_sd = 0;  // of the process alone; used for probabilities
  PredictionStatus status = PredictionStatus::kInside;

  double half_width90() const { return high90_ms / ms - 1; }
};

struct LatencyAnswer {
  LatencyQuestion question = LatencyQuestion::kHardware;
  std::array<LatencyEstimate, kLatencyTargets> of;  // by LatencyTarget
  bool measured = false;             // coverage of 90 % was measured on held-out rows
  std::vector<std::string> reasons;  // why it is outside; empty otherwise
  // For a GPU without rows under the engine: the nearest GPU of its vendor that has some, empty if
  // there is none. sibling_ms: its TTFT scaled by FLOP/s, its TPOT scaled by bandwidth, and their
  // end-to-end latency (the baseline; NaN without). by_sheet: how the estimate was made.
  std::string sibling;
  std::array<double, kLatencyTargets> sibling_ms = {kNan, kNan, kNan};
  std::vector<std::string> by_sheet;
  // True if the point is beyond the rows in more than the GPU.
  bool beyond_rows() const { return reasons.size() > (question == LatencyQuestion::kHardware); }

  const LatencyEstimate& at(LatencyTarget target) const { return of[static_cast<size_t>(target)]; }
};

struct LatencyOptions {
  std::array<LatencyParameters, kLatencyProcesses> parameters = {
      latency_defaults(LatencyTarget::kTtft), latency_defaults(LatencyTarget::kTpot)};
  double outside_factor = 4;  // as PredictorOptions
};

// True if a row has the required data: TTFT and TPOT, and requests in flight (a batch of llama.cpp
// is not that).
bool tells_latency(const BenchRow& row);
double measured_ms(const BenchRow& row, LatencyTarget target);
// True if the row is usable for training: with specifications, TTFT and TPOT, and within the peaks
// of its devices.
bool teaches_latency(const BenchRow& row, FactLookup& facts);
// "GPU|engine|model", by the names of the specifications.
std::string latency_unit_of(const BenchRow& row, const FactBook& facts);

class LatencyModel {
 public:
  // Rows that teaches_latency() rejects are not used. Fails if none are left.
  static Result<LatencyModel> fit(const std::vector<BenchRow>& rows, const FactBook& facts,
                                  const LatencyOptions& options = {});
  LatencyModel(LatencyModel&&) noexcept;
  LatencyModel& operator=(LatencyModel&&) noexcept;
  ~LatencyModel();

  // Predictions for a future benchmark run, independent of the points' `campaign`. Their version
  // selects the build if rows have it. nullopt if specifications are missing.
  std::vector<std::optional<LatencyAnswer>> answer(const std::vector<BenchRow>& points) const;

  size_t rows() const;          // number of training rows
  size_t beyond_peaks() const;  // rows rejected by beyond_peaks()
  size_t campaigns() const;
  size_t builds() const;
  CampaignScales campaign_scales_of(LatencyTarget target) const;
  // Correlation of the errors of TTFT and TPOT over held-out benchmark runs; 0 with fewer than
  // eight.
  double correlation() const;
  const LatencyOptions& options() const;
  // Options with parameters fitted to these rows (find_latency_parameters).
  Result<LatencyOptions> refit() const;

 private:
  struct State;
  explicit LatencyModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Throughput of a closed loop: (ii + oo) x requests in flight / end-to-end latency.
ThroughputMethod latency_method(const FactBook& facts);

}  // namespace assay
