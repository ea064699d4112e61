#pragma once

// What a Gaussian process says about one configuration, whatever the lengths and batches, kept so
// that answering needs neither the covariance of all rows nor its factor: with n rows and rank r,
// r^2 operations a point in place of n^2.
//
// The covariances of such points x with the rows X are about k(x, J) k(P, J)^-1 k(P, X) for a few
// pivot points P and rows J (cross_approximation.h). So mean and variance are a linear and a
// quadratic form of k(x, J), whose coefficients are worked out once.

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "throughput/gp/kernel.h"

namespace assay {

// Added to the variance of every measurement: keeps the matrix positive definite when rows repeat
// and the noise is small.
inline constexpr double kGpJitter = 1e-6;

// A value with its standard deviation, noise included.
struct GpAnswer {
  double mean = 0;
  double sd = 0;
};

struct GpDigest {
  std::vector<size_t> pivots;   // of the points that it was made for
  std::vector<size_t> columns;  // rows of the data, as many
  // In the coordinates of the elimination of k(pivots, columns), in order:
  std::vector<double> mean;   // above the centre
  std::vector<double> known;  // rank^2, symmetric: by how much the data lower the variance
};

class DigestReader {
 public:
  // pivots: the points of the digest's pivots, in its order. data: the rows that were learnt from.
  // All must outlive the reader.
  DigestReader(const KernelSpec& spec, const std::vector<double>& parameters,
               const std::vector<KernelPoint>& data, double centre, const GpDigest& digest,
               const std::vector<KernelPoint>& pivots);
  ~DigestReader();
  DigestReader(const DigestReader&) = delete;
  DigestReader& operator=(const DigestReader&) = delete;
  // Absent where the digest does not reach: covariances with other rows, spread over the data, are
  // compared with what it makes of them.
  std::vector<std::optional<GpAnswer>> predict(const std::vector<KernelPoint>& points) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
