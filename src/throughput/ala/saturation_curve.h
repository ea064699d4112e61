#pragma once

// Throughput over batch size with saturation: T(bb) = C - A exp(-B bb) (ALA, Algorithm 1), and its
// fit to measured points (Algorithm 2).

#include <cmath>
#include <vector>

namespace assay {

struct SaturationCurve {
  double a = 0;  // scaling, tokens/s
  double b = 0;  // rate, per unit of batch size
  double c = 0;  // saturation, tokens/s

  double at(double batch) const { return c - a * std::exp(-b * batch); }
};

// The published bounds: A and C in [0, 1e6], B in [1e-5, 1].
constexpr double kMaxCurveLevel = 1e6;
constexpr double kMinCurveRate = 1e-5;
constexpr double kMaxCurveRate = 1;

enum class CurveWeights {
  kAbsolute,  // least squares of tokens/s, as published
  kRelative,  // least squares of the relative error
};

// The global optimum of the bounded least-squares problem, by variable projection. For a given B,
// the best A and C solve a bounded linear problem in closed form, so the search has one dimension,
// log B: a grid of 200 points and a golden section. Two points fit a whole family of curves, and
// the choice among them is arbitrary, as published. One point is a constant: A = 0, the smallest B.
// Input must not be empty and has at least one value per batch size.
SaturationCurve fit_saturation(const std::vector<double>& batch,
                               const std::vector<double>& tokens_per_s,
                               CurveWeights weights = CurveWeights::kAbsolute);

}  // namespace assay
