#pragma once

// Beyond a configuration's own largest batch or lengths: its latency as a sum of four terms, fitted
// to its own rows alone. The Gaussian process falls back on what others did there, the sum goes on
// as this configuration did; their errors have little in common, so both together are better than
// either. Inside of the predictor.

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

// What grows with the steps, with steps and sequences (llama.cpp: with the pieces of the prompt),
// with the tokens that every step looks back on, and what is there once.
inline constexpr size_t kLatencyTerms = 4;
using LatencyTerms = std::array<double, kLatencyTerms>;
// physics: of the base's terms, weighed as in the base; else of lengths and batch alone.
LatencyTerms latency_terms(const BenchRow& row, const FactBook& facts, bool physics);

// One more than there are terms.
inline constexpr size_t kLatencyFitRows = kLatencyTerms + 1;

// How much of its weight the fit has at a point: none within the configuration's rows, all at twice
// the largest batch or length, which is as far as held-out rows show what it is worth, and half as
// much with every further doubling. None where the rows cannot tell: a batch or a length that never
// varied, fewer rows than kLatencyFitRows.
struct FitShares {
  double batch = 0;
  double length = 0;
};
FitShares fit_shares(const BenchRow& point, const Reach& own);

// The fits of those configurations that are asked about. What is given must outlive it.
class LatencyFits {
 public:
  // rows: sorted by config_name().
  LatencyFits(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics);
  FitShares shares(const BenchRow& point);
  // Only where shares() are not all 0.
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

// The largest values of what grows, to stand for what lies beyond: every configuration's rows above
// half of its own largest batch (or length), unless these are all that it has. Where that leaves
// too few, the rows above half of the largest of all.
struct WithoutLargest {
  std::vector<BenchRow> inner;
  std::vector<BenchRow> outer;
};
WithoutLargest without_largest(const std::vector<BenchRow>& rows, HeldOut kind);

// An outer row, answered from the inner ones: measured - answered, in logarithms of throughput.
struct BeyondMiss {
  double process = 0;
  double sd = 0;
  double fit = 0;
  double share = 0;  // of the fit's weight
};
// Weights inverse to the squared misses, as if these had nothing in common, which does better on
// new data than weights that trust the correlation found (Bates and Granger, "The combination of
// forecasts", Operational Research Quarterly 20, 1969). And what 90 % takes of the process's
// standard deviations without and with the fit.
ConformalScale scale_beyond(const std::vector<BeyondMiss>& misses);

}  // namespace assay
