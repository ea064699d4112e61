#pragma once

// `--method assay`: an analytical base, a Gaussian process on its residuals, and intervals. Their
// width is calibrated on the model's own errors for questions of the same kind.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/facts.h"
#include "throughput/conformal.h"
#include "throughput/dataset.h"
#include "throughput/gp/framework_process.h"
#include "throughput/gp/gp.h"
#include "throughput/kernel_table.h"
#include "throughput/left_out_gpus.h"
#include "throughput/method.h"

namespace assay {

inline constexpr size_t kHeldOutKinds = 9;
inline constexpr std::array<HeldOut, kHeldOutKinds> kAllHeldOut = {
    HeldOut::kRow,          HeldOut::kGroup,    HeldOut::kConfig,
    HeldOut::kModel,        HeldOut::kHardware, HeldOut::kLargerBatch,
    HeldOut::kLongerLength, HeldOut::kRatio,    HeldOut::kCampaign};
// The names are "row", "length pair", "configuration", "model", "hardware", "larger batch", "longer
// length", "length ratio" and "campaign".
std::string_view held_out_name(HeldOut kind);

using ConformalScales = std::array<ConformalScale, kHeldOutKinds>;

// A measured row that lies near a point.
struct Evidence {
  size_t row = 0;           // of Predictor::rows()
  std::string relation;     // "same configuration", "same hardware and framework", ...
  double length_ratio = 1;  // of the point over the row
  double batch_ratio = 1;
};

// A prediction with everything that determines its confidence.
struct Explained {
  Prediction prediction;
  HeldOut kind = HeldOut::kRow;  // what is new about the point: its interval is made for that
  double log_sd = 0;             // of the Gaussian process alone
  double scale = 0;              // times this,
  double assumed = 0;            // plus this is half of the interval, in logarithms
  bool measured = false;         // misses of the rows say that this is 90 %; else it is assumed
  double log_half_width() const { return scale * log_sd + assumed; }
  double fit_weight = 0;             // of the configuration's own latency fit (latency_fit.h)
  std::vector<std::string> reasons;  // why it is outside; empty inside
  std::vector<Evidence> nearest;
};

// A configuration's digest, with what its points are made of.
struct ConfigDigest {
  struct Shape {
    double in_len = 0;
    double out_len = 0;
    double batch = 0;
  };
  size_t row = 0;  // of Predictor::rows(): any of the configuration
  bool physics = false;
  std::vector<Shape> pivots;
  GpDigest gp;
};

// One that was made before, read when a point asks for it; absent when its numbers do not belong
// together.
struct KeptDigest {
  size_t row = 0;  // as in ConfigDigest
  bool physics = false;
  std::function<std::optional<ConfigDigest>()> read;
};

struct PredictorOptions {
  bool physics = true;                     // false: as if no facts were known
  std::vector<double> physics_parameters;  // empty: defaults
  std::vector<double> plain_parameters;    // empty: defaults
  std::optional<HeldOut> only;             // answer as for questions of this kind alone
  // The baseline for GPUs without rows alone: the nearest GPU times the ratio of bandwidths,
  // without an interval, and no answer to anything else (unmeasured_gpu.h).
  bool only_sibling = false;
  // Measured before, on the same rows: not measured again.
  std::optional<ConformalScales> physics_scales;
  std::optional<ConformalScales> plain_scales;
  std::optional<SiblingRules> siblings;
  // Made before, of the same rows, facts and parameters.
  std::vector<KeptDigest> digests;
  std::shared_ptr<const FrameworkSummary> frameworks;  // of the process on physics
  size_t digest_from_rows = 1024;                      // with fewer the exact answers come as fast
  double outside_factor = 4;  // beyond the data by more than this in batch, length or devices
  size_t nearest = 3;
  UntoldPrecision untold = UntoldPrecision::kAssumed;  // of points, for what is impossible
};

// How well leaving out one length pair at a time works for the rows of one hardware and framework.
struct FitGroup {
  std::string name;  // "hardware|framework"
  size_t rows = 0;
  double median_ape = 0;  // share
  double p90_ape = 0;
};

struct ConfidenceBin {
  size_t rows = 0;
  double half_width90 = 0;  // median, share: exp(half width) - 1
  double median_ape = 0;    // share
  double coverage90 = 0;
};

class Predictor final : public ThroughputModel {
 public:
  // facts are copied. Errors: no row that can be fitted.
  static Result<std::unique_ptr<Predictor>> fit(const ThroughputData& data, const FactBook& facts,
                                                const PredictorOptions& options = {});
  ~Predictor() override;

  std::vector<Prediction> predict(const std::vector<BenchRow>& points) const override;
  std::vector<Explained> explain(const std::vector<BenchRow>& points) const;

  // Rows that were fitted, in the order of evidence; infeasible ones are not among them.
  const std::vector<BenchRow>& rows() const;
  const FactBook& facts() const;
  const PredictorOptions& options() const;
  size_t rows_with_facts() const;
  // Scales of the process on physics, and of the one without; absent when there is no such process.
  const ConformalScales* physics_scales() const;
  const ConformalScales* plain_scales() const;
  // The rules for GPUs without rows; nullptr without the analytical base. Computed at the first
  // call.
  const SiblingRules* sibling_rules() const;
  // Models and hardware of the rows that no facts are known of.
  std::vector<std::string> unknown_names() const;
  std::vector<FitGroup> groups() const;
  // Half of the interval's width in logarithms; 0 where there is no answer.
  std::vector<double> log_half_widths(const std::vector<BenchRow>& points) const;
  // Training rows by predicted interval width with their length pair held out, in five equal parts.
  // Shows how well the widths predict errors.
  std::vector<ConfidenceBin> confidence() const;
  // Of every configuration that has rows, checked against exact answers; seconds to make.
  // Called before each with how many are done, of how many at most.
  using DigestProgress = std::function<void(size_t, size_t)>;
  std::vector<ConfigDigest> digests(const DigestProgress& progress = {}) const;
  // For configurations without rows; absent where there are no digests.
  std::optional<FrameworkSummary> frameworks() const;
  // log sd of `target` if each of `extra` were measured too.
  std::vector<double> log_sd_after(const BenchRow& target,
                                   const std::vector<BenchRow>& extra) const;

 private:
  struct State;
  explicit Predictor(std::unique_ptr<State> state);
  // The same without the nearest rows.
  std::vector<Explained> judged(const std::vector<BenchRow>& points) const;
  // As judged(), of GPUs without rows what the process alone says (unmeasured_gpu.h).
  std::vector<Explained> by_rows(const std::vector<BenchRow>& points) const;
  std::unique_ptr<State> state_;
};

// "nearest-gpu": the baseline above, which answers where a GPU is new and no other split.
ThroughputMethod nearest_gpu_method(const FactBook& facts);
// The method for splits and figures.
ThroughputMethod assay_method(const FactBook& facts, const PredictorOptions& options = {});

}  // namespace assay
