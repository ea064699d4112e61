#pragma once

// Predictions beyond a configuration's own largest batch or lengths: the latency is a sum of four
// terms, fitted only to the rows of the configuration. There, the Gaussian process reverts to the
// behaviour of other configurations, and the sum continues that of this one. Their errors are
// nearly independent, so the combination is better than either. Internal to the predictor.

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "records/bench_table.h"
#include "records/facts.h"
#include "throughput/conformal.h"
#include "throughput/method.h"
#include "throughput/reach.h"

namespace assay {

// Terms proportional to: the steps; steps times sequences (llama.cpp: chunks of the prompt); the
// tokens in the context of each step; and a constant.
inline constexpr size_t kLatencyTerms = 4;
using LatencyTerms = std::array<double, kLatencyTerms>;
// physics: terms and weights of the analytical model, if the specifications are known. Otherwise
// terms of lengths and batch alone.
LatencyTerms latency_terms(const BenchRow& row, const FactBook& facts, bool physics);

// Minimum number of rows for a fit.
inline constexpr size_t kLatencyFitRows = kLatencyTerms + 1;

// Weight of the fit at a point, as a share of its full weight. It is 0 within the configuration's
// rows and 1 at twice the largest batch or length, up to which held-out rows measure its value. It
// halves with every further doubling. It is also 0 if the rows do not determine the fit: a constant
// batch or length, or fewer rows than kLatencyFitRows.
struct FitShares {
  double batch = 0;
  double length = 0;
};
FitShares fit_shares(const BenchRow& point, const Reach& own);

// Fits per configuration, made at the first query. Arguments must outlive it.
class LatencyFits {
 public:
  // rows: sorted by config_name().
  LatencyFits(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics);
  FitShares shares(const BenchRow& point);
  // Valid only where a share of shares() is above 0.
  double log_throughput(const BenchRow& point);

 private:
  struct Own {
    Reach reach;
    LatencyTerms seconds{};  // per unit of each term; 0 with too few rows
  };
  const Own& own(const BenchRow& point);
  const std::vector<BenchRow>& rows_;
  const FactBook& facts_;
  bool physics_;
  std::map<std::string, Own> by_config_;
};

// Splits off the largest batches (or lengths) to simulate values beyond the rows: every
// configuration's rows above half of its own maximum, unless these are all its rows. If too few
// rows are split off, those above half of the overall maximum.
struct WithoutLargest {
  std::vector<BenchRow> inner;
  std::vector<BenchRow> outer;
};
WithoutLargest without_largest(const std::vector<BenchRow>& rows, HeldOut kind);

// Errors for an outer row predicted from the inner ones: log(measured / predicted throughput), by
// the process and by the fit.
struct BeyondMiss {
  double process = 0;
  double sd = 0;
  double fit = 0;
  double share = 0;  // of the full weight of the fit
};
// Weights are inverse to the squared errors, as for independent errors. On new data this is better
// than weights from the measured correlation (Bates and Granger, "The combination of forecasts",
// Operational Research Quarterly 20, 1969). Returns the weight and the factors on the process's
// standard deviations for 90 %, without and with the fit.
ConformalScale scale_beyond(const std::vector<BeyondMiss>& misses);

}  // namespace assay
