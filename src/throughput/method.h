#pragma once

// Common interface of all methods that predict throughput, for splits, tables and figures: train on
// rows, then answer points. Pure functions over plain data.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/bench_table.h"

namespace assay {

// Spread of measurements with the same key. Contradictory keys are excluded.
struct RepeatNoise {
  size_t keys = 0;    // with several measurements
  uint64_t rows = 0;  // of them
  double log_sd = 0;  // of one measurement, pooled within keys; of log throughput
};

// Rows ready for fitting: usable, one per key, with the attributes that methods need.
struct ThroughputData {
  std::vector<BenchRow> rows;
  std::vector<uint32_t> config;  // per row: hardware | devices | framework | model (cfg)
  std::vector<uint32_t> group;   // per row: cfg | ii | oo
  std::vector<std::string> config_names;
  std::vector<std::string> group_names;
  std::vector<bool> infeasible;       // faster than reading the active weights once per token
  std::vector<BenchOddity> oddities;  // found by cleaning, in addition to the reader's
  RepeatNoise repeats;
};

enum class PredictionStatus : uint8_t {
  kInside,    // within the range of the data
  kWide,      // as inside, but the interval ends above twice the estimate
  kOutside,   // outside the range of the data (hardware, model, scale)
  kNoAnswer,  // no prediction (e.g. no row of the configuration)
};
std::string_view prediction_status_name(PredictionStatus status);
// Widest interval of kInside (high90 / estimate - 1, as a share). Above it, the estimate alone is
// not meaningful.
inline constexpr double kWidestInside = 1;
// kOutside, kWide or kInside from these two.
PredictionStatus prediction_status(bool outside, double half_width90);

struct Prediction {
  double tokens_per_s = 0;  // NaN with kNoAnswer
  double low90 = 0;         // NaN where the method has no interval
  double high90 = 0;
  PredictionStatus status = PredictionStatus::kInside;
  std::string basis;  // "database", "parameter model", "gp on physics", "gp without physics"
};

class ThroughputModel {
 public:
  virtual ~ThroughputModel() = default;
  ThroughputModel() = default;
  ThroughputModel(const ThroughputModel&) = delete;
  ThroughputModel& operator=(const ThroughputModel&) = delete;
  virtual std::vector<Prediction> predict(const std::vector<BenchRow>& points) const = 0;
};

// Held-out part of a split. Intervals are calibrated for questions of this kind.
enum class HeldOut : uint8_t {
  kRow,
  kGroup,
  kConfig,
  kModel,
  kHardware,
  kLargerBatch,
  kLongerLength,
  kRatio,    // of input to output length
  kCampaign  // a whole benchmark run (bench_table.h)
};

struct ThroughputMethod {
  std::string name;   // "assay", "ala", "random forest pooled", ...
  std::string label;  // as in tables
  std::function<Result<std::unique_ptr<ThroughputModel>>(const ThroughputData& train, HeldOut)> fit;
};

}  // namespace assay
