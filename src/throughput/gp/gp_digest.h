#pragma once

// Precomputed posterior of a Gaussian process for one configuration at any lengths and batches. A
// query then needs neither the covariance of all rows nor its factor. With n rows and rank r, a
// point takes r^2 operations instead of n^2.
//
// The covariances of such points x with the rows X are about k(x, J) k(P, J)^-1 k(P, X) for a few
// pivot points P and rows J (cross_approximation.h). Mean and variance are therefore a linear and a
// quadratic form of k(x, J), with coefficients that are computed once.

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "throughput/gp/kernel.h"

namespace assay {

// Added to the variance of every measurement. Keeps the matrix positive definite if rows repeat and
// the noise is small.
inline constexpr double kGpJitter = 1e-6;

// A value with its standard deviation, noise included.
struct GpAnswer {
  double mean = 0;
  double sd = 0;
};

struct GpDigest {
  std::vector<size_t> pivots;   // into the points of GaussianProcess::digest()
  std::vector<size_t> columns;  // indices of training rows; as many as pivots
  // Coefficients in the coordinates of the elimination of k(pivots, columns), in order:
  std::vector<double> mean;   // of the mean, above the centre
  std::vector<double> known;  // rank x rank, symmetric: reduction of the variance
};

class DigestReader {
 public:
  // pivots: the digest's pivot points, in its order. data: the training rows. All must outlive the
  // reader.
  DigestReader(const KernelSpec& spec, const std::vector<double>& parameters,
               const std::vector<KernelPoint>& data, double centre, const GpDigest& digest,
               const std::vector<KernelPoint>& pivots);
  ~DigestReader();
  DigestReader(const DigestReader&) = delete;
  DigestReader& operator=(const DigestReader&) = delete;
  // One answer per point; nullopt if the digest does not apply. For this it is compared with exact
  // covariances with other rows, spread over the data.
  std::vector<std::optional<GpAnswer>> predict(const std::vector<KernelPoint>& points) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
