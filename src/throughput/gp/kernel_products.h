#pragma once

// Sums over the rows of weights times covariances, for many points of few configurations, without
// the covariance matrix. Within a configuration a component depends only on lengths and batch (and
// overflow), and the rows have few distinct values of these. Rows are therefore summed per
// configuration first.

#include <cstddef>
#include <memory>
#include <vector>

#include "throughput/gp/kernel.h"

namespace assay {

class KernelProducts {
 public:
  // All arguments must outlive it.
  KernelProducts(const KernelSpec& spec, const std::vector<double>& parameters,
                 const std::vector<KernelPoint>& rows, const std::vector<KernelPoint>& points);
  ~KernelProducts();
  KernelProducts(const KernelProducts&) = delete;
  KernelProducts& operator=(const KernelProducts&) = delete;
  // weights: `count` vectors of rows.size(), one after the other. out: points.size() vectors of
  // `count`, with out[p * count + w] = sum over i of weights[w * rows.size() + i] * k(rows[i],
  // points[p]).
  void apply(const double* weights, size_t count, double* out) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
