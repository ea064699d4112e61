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

// A measured row near a point.
struct Evidence {
  size_t row = 0;           // of Predictor::rows()
  std::string relation;     // "same configuration", "same hardware and framework", ...
  double length_ratio = 1;  // of the point over the row
  double batch_ratio = 1;
};

// A prediction with everything that determines its confidence.
struct Explained {
  Prediction prediction;
  HeldOut kind = HeldOut::kRow;  // what is new about the point; selects the interval
  double log_sd = 0;             // of the Gaussian process alone
  double scale = 0;              // times this,
  double assumed = 0;            // plus this is half of the interval, in logarithms
  bool measured = false;         // the interval was measured on held-out rows; else assumed
  double log_half_width() const { return scale * log_sd + assumed; }
  double fit_weight = 0;             // of the configuration's own latency fit (latency_fit.h)
  std::vector<std::string> reasons;  // why it is outside; empty inside
  std::vector<Evidence> nearest;
};

// Digest of a configuration, with the shapes of its pivot points.
struct ConfigDigest {
  struct Shape {
    double in_len = 0;
    double out_len = 0;
    double batch = 0;
  };
  size_t row = 0;  // into Predictor::rows(): any row of the configuration
  bool physics = false;
  std::vector<Shape> pivots;
  GpDigest gp;
};

// A stored digest. `read` parses it when a point needs it; nullopt if its data are inconsistent.
struct KeptDigest {
  size_t row = 0;  // as in ConfigDigest
  bool physics = false;
  std::function<std::optional<ConfigDigest>()> read;
};

struct PredictorOptions {
  bool physics = true;                     // false: ignore specifications
  std::vector<double> physics_parameters;  // empty: defaults
  std::vector<double> plain_parameters;    // empty: defaults
  std::optional<HeldOut> only;             // use the scale of this kind for all points
  // Only the baseline for GPUs without rows: the nearest GPU times the ratio of bandwidths, without
  // an interval. Other points get no answer (unmeasured_gpu.h).
  bool only_sibling = false;
  // Stored scales of the same rows, to avoid measuring them again.
  std::optional<ConformalScales> physics_scales;
  std::optional<ConformalScales> plain_scales;
  std::optional<SiblingRules> siblings;
  // Stored digests of the same rows, specifications and parameters.
  std::vector<KeptDigest> digests;
  std::shared_ptr<const FrameworkSummary> frameworks;  // of the process on physics
  size_t digest_from_rows = 1024;                      // with fewer rows, exact answers are as fast
  double outside_factor = 4;  // extrapolation beyond this factor in batch, length or devices
  size_t nearest = 3;
  UntoldPrecision untold = UntoldPrecision::kAssumed;  // how to bound the throughput of points
};

// Errors with one length pair held out at a time, for the rows of one hardware and framework.
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
  // Copies `facts`. Fails if no row can be fitted.
  static Result<std::unique_ptr<Predictor>> fit(const ThroughputData& data, const FactBook& facts,
                                                const PredictorOptions& options = {});
  ~Predictor() override;

  std::vector<Prediction> predict(const std::vector<BenchRow>& points) const override;
  std::vector<Explained> explain(const std::vector<BenchRow>& points) const;

  // The fitted rows, without infeasible ones; Evidence::row is an index into them.
  const std::vector<BenchRow>& rows() const;
  const FactBook& facts() const;
  const PredictorOptions& options() const;
  size_t rows_with_facts() const;
  // Scales of the process with and without the analytical base; nullptr if there is no such
  // process.
  const ConformalScales* physics_scales() const;
  const ConformalScales* plain_scales() const;
  // The rules for GPUs without rows; nullptr without the analytical base. Computed at the first
  // call.
  const SiblingRules* sibling_rules() const;
  // Models and hardware of the rows without specifications, sorted.
  std::vector<std::string> unknown_names() const;
  std::vector<FitGroup> groups() const;
  // Half-width of the interval per point, in logarithms; 0 if there is no answer.
  std::vector<double> log_half_widths(const std::vector<BenchRow>& points) const;
  // Training rows with their length pair held out, sorted by predicted interval width, in five
  // equal parts. Shows how well the widths predict errors. Empty with too few rows.
  std::vector<ConfidenceBin> confidence() const;
  // Digests of every configuration with rows, checked against exact answers. Takes seconds; empty
  // with few rows. `progress` is called before each with the number done and the maximum.
  using DigestProgress = std::function<void(size_t, size_t)>;
  std::vector<ConfigDigest> digests(const DigestProgress& progress = {}) const;
  // For configurations without rows; nullopt if there are no digests.
  std::optional<FrameworkSummary> frameworks() const;
  // Standard deviation of the log throughput of `target` if a point of `extra` were measured too,
  // one value per point.
  std::vector<double> log_sd_after(const BenchRow& target,
                                   const std::vector<BenchRow>& extra) const;

 private:
  struct State;
  explicit Predictor(std::unique_ptr<State> state);
  // explain() without the nearest rows and the check for impossible speeds.
  std::vector<Explained> judged(const std::vector<BenchRow>& points) const;
  // As judged(), without the correction for GPUs without rows (unmeasured_gpu.h).
  std::vector<Explained> by_rows(const std::vector<BenchRow>& points) const;
  std::unique_ptr<State> state_;
};

// "nearest-gpu": the baseline of PredictorOptions::only_sibling. Answers only if the GPU is new.
ThroughputMethod nearest_gpu_method(const FactBook& facts);
// The method for splits and figures.
ThroughputMethod assay_method(const FactBook& facts, const PredictorOptions& options = {});

}  // namespace assay
