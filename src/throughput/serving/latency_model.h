#pragma once

// TTFT and TPOT of runs nobody measured, each a Gaussian process on physics (serving_base.h,
// latency_kernel.h) that knows campaigns and builds as effects of their own, and the end-to-end
// latency that they make together; with
// intervals for a run of a campaign to come, measured by leaving out whole campaigns. Spec page
// planner, 2 and 4; docs/decisions/0018-latency-plans.md says where it is left.

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

// What is new about a run beside its campaign.
enum class LatencyQuestion : uint8_t {
  kOtherCampaign,  // the configuration has rows
  kConfiguration,  // GPU, engine and model together have
  kModel,          // GPU and engine together have, and the model elsewhere
  kNewModel,       // GPU and engine together have, the model nowhere
  kHardware
};
inline constexpr size_t kLatencyQuestions = 5;
// "other campaign", "configuration", "model", "new model", "hardware"
std::string_view latency_question_name(LatencyQuestion question);

// Half of an interval of 90 % is scale * sqrt(sd^2 + tau^2), in logarithms.
struct CampaignScale {
  double scale = 1.6448536269514722;
  double tau = 0;         // what blocks differ by beyond what the process expects
  size_t blocks = 0;      // campaigns that it is from; of a new model: engines' models
  bool measured = false;  // else the widest of what nearer questions say, or assumed

  double half_width(double sd) const;
};
using CampaignScales = std::array<CampaignScale, kLatencyQuestions>;

// A row that was left out with all of its block.
struct BlockMiss {
  double miss = 0;  // |measured - answered|, in logarithms
  double sd = 0;    // of the answer
  uint32_t block = 0;
  LatencyQuestion question = LatencyQuestion::kOtherCampaign;
};
// Every block weighs the same, however many rows it has, and one more stands for the block to come
// (pooled distribution functions: Dunn, Wasserman and Ramdas, "Distribution-free prediction sets
// for two-layer hierarchical models", 2023); twenty blocks of all questions but new hardware
// together shrink the few of one. Questions of fewer than `fewest` blocks are not measured. With
// one block alone nothing says what blocks differ by: `assumed_tau` stands for it.
// without_model: what is missed when all rows of a model under an engine are left out, which a
// model that no row has is told by: a campaign left out leaves its models in other campaigns.
CampaignScales campaign_scales(const std::vector<BlockMiss>& misses,
                               const std::vector<BlockMiss>& without_model, size_t fewest,
                               double assumed_tau);

struct LatencyEstimate {
  double ms = 0;
  double low90_ms = 0;
  double high90_ms = 0;
  double log_sd = 0;  // of the process alone: probabilities are made of it
  PredictionStatus status = PredictionStatus::kInside;

  double half_width90() const { return high90_ms / ms - 1; }
};

struct LatencyAnswer {
  LatencyQuestion question = LatencyQuestion::kHardware;
  std::array<LatencyEstimate, kLatencyTargets> of;  // by LatencyTarget
  bool measured = false;             // the intervals are 90 % because left-out rows say so
  std::vector<std::string> reasons;  // why it is outside; empty otherwise
  // Of a GPU without rows under the engine: the nearest of its vendor that has some, empty where
  // none has; what TTFT and TPOT there are, times the ratio of FLOP/s and of bandwidth, and the
  // whole of these (the baseline; NaN without); and how the estimate came about.
  std::string sibling;
  std::array<double, kLatencyTargets> sibling_ms = {kNan, kNan, kNan};
  std::vector<std::string> by_sheet;
  // Beyond the rows in more than the GPU.
  bool beyond_rows() const { return reasons.size() > (question == LatencyQuestion::kHardware); }

  const LatencyEstimate& at(LatencyTarget target) const { return of[static_cast<size_t>(target)]; }
};

struct LatencyOptions {
  std::array<LatencyParameters, kLatencyProcesses> parameters = {
      latency_defaults(LatencyTarget::kTtft), latency_defaults(LatencyTarget::kTpot)};
  double outside_factor = 4;  // as PredictorOptions
};

// What a row must tell to teach anything here: TTFT and TPOT, of requests in flight (llama.cpp's
// batch is none).
bool tells_latency(const BenchRow& row);
double measured_ms(const BenchRow& row, LatencyTarget target);
// With facts, TTFT and TPOT, and within the peaks of its devices.
bool teaches_latency(const BenchRow& row, FactLookup& facts);
// "GPU|engine|model", by the names of the facts.
std::string latency_unit_of(const BenchRow& row, const FactBook& facts);

class LatencyModel {
 public:
  // Rows without facts, TTFT or TPOT teach nothing, nor do those beyond all peaks (serving_base.h).
  // Errors: none are left.
  static Result<LatencyModel> fit(const std::vector<BenchRow>& rows, const FactBook& facts,
                                  const LatencyOptions& options = {});
  LatencyModel(LatencyModel&&) noexcept;
  LatencyModel& operator=(LatencyModel&&) noexcept;
  ~LatencyModel();

  // Of points that a campaign to come will measure, whatever their `campaign` is; their version
  // tells the build where rows have it. Absent where facts are missing.
  std::vector<std::optional<LatencyAnswer>> answer(const std::vector<BenchRow>& points) const;

  size_t rows() const;          // that it was learnt from
  size_t beyond_peaks() const;  // left out
  size_t campaigns() const;
  size_t builds() const;
  CampaignScales campaign_scales_of(LatencyTarget target) const;
  // Correlation of what TTFT and TPOT are missed by when campaigns are left out; 0 where fewer than
  // eight campaigns tell.
  double correlation() const;
  const LatencyOptions& options() const;
  // Parameters found anew on these rows (find_latency_parameters).
  Result<LatencyOptions> refit() const;

 private:
  struct State;
  explicit LatencyModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// By the end-to-end latency: (ii + oo) requests in flight over it.
ThroughputMethod latency_method(const FactBook& facts);

}  // namespace assay
