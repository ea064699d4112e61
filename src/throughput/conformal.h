#pragma once

// Factor on the standard deviations of a Gaussian process with which intervals contain 90 % of new
// errors. It is measured on held-out rows (spec/throughput, "Intervals"; Vovk, Gammerman and
// Shafer, 2005; Lei et al., JASA 113, 2018).

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace assay {

// Share of new errors that an interval must contain.
inline constexpr double kHeldShare = 0.9;

// Two-sided 90 % of the normal distribution.
inline constexpr double kNormalScale = 1.6448536269514722;

// Minimum scale. Rows that repeat to the last digit say nothing about the noise of the next run, of
// which the process expects a few percent.
inline constexpr double kLeastScale = 0.1;

// Error of a held-out row.
struct Miss {
  double sds = 0;    // |measured - answered|, in standard deviations of the answer
  std::string pair;  // pair_name() of the row
};

// Half-width of a 90 % interval, in standard deviations of the Gaussian process.
struct ConformalScale {
  double scale = kNormalScale;  // over all rows
  size_t residuals = 0;         // number of errors behind the quantile
  bool measured = false;        // false: assumed, as there is too little data
  // Scale per hardware and framework, because 90 % over all rows is not 90 % of each pair. A pair
  // with few errors of its own stays close to `scale`.
  std::map<std::string, double> of_pair;

  // Beyond a configuration's own rows (latency_fit.h): the weight of its latency fit against the
  // Gaussian process where the fit has full weight, and the scale of the combination.
  double fit_weight = 0;
  double blended_scale = kNormalScale;

  // Scale of the pair, or `scale` if the pair has none.
  double at(const std::string& pair) const;
};

// Minimum number of errors to measure a scale: 90 % of fewer draws can miss one. With fewer, the
// scale is the largest error, at least that of the normal distribution.
inline constexpr size_t kFewestMisses = 9;
ConformalScale conformal_scale(const std::vector<Miss>& misses);

}  // namespace assay
