#pragma once

// The factor on the standard deviations of a Gaussian process with which intervals contain 90 % of
// new errors. It is measured on the errors of held-out rows (spec/throughput, "Intervals"; Vovk,
// Gammerman and Shafer, 2005; Lei et al., JASA 113, 2018).

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace assay {

// Of new misses an interval is to hold so many.
inline constexpr double kHeldShare = 0.9;

// Two-sided 90 % of the normal distribution.
inline constexpr double kNormalScale = 1.6448536269514722;

// No interval is narrower than this: rows that repeat to the last digit say nothing about the next
// run's noise, of which the process expects some percent.
inline constexpr double kLeastScale = 0.1;

// A row that was left out and answered.
struct Miss {
  double sds = 0;    // |measured - answered|, in standard deviations of the answer
  std::string pair;  // pair_name() of the row
};

// By how many of the Gaussian process's own standard deviations an interval of 90 % reaches.
struct ConformalScale {
  double scale = kNormalScale;  // over all rows
  size_t residuals = 0;         // misses that it is the quantile of
  bool measured = false;        // else assumed: too few data to measure it
  // For the rows of one hardware and framework: some are steadier than others, and 90 % over all is
  // not 90 % of each. Few misses of its own leave a pair close to `scale`.
  std::map<std::string, double> of_pair;

  // Beyond a configuration's own rows (latency_fit.h): the weight of the configuration's fit
  // against the Gaussian process at the point where it has its full weight, and the scale of the
  // two combined.
  double fit_weight = 0;
  double blended_scale = kNormalScale;

  // That of the pair, else that of all.
  double at(const std::string& pair) const;
};

// Fewer misses measure nothing: 90 % of ten draws can leave out one. Then it is the largest, if it
// is more than the normal distribution's.
inline constexpr size_t kFewestMisses = 9;
ConformalScale conformal_scale(const std::vector<Miss>& misses);

}  // namespace assay
