#pragma once

// An exact Gaussian process (Rasmussen and Williams, "Gaussian Processes for Machine Learning",
// 2006, ch. 2 and 5) over the kernels of kernel.h.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "throughput/gp/gp_digest.h"
#include "throughput/gp/kernel.h"

namespace assay {

// Tolerance of approximate answers for many similar points: absolute for the mean, relative for the
// standard deviation.
inline constexpr double kGpTolerance = 1e-6;

class GaussianProcess {
 public:
  // y: one value per point. Its median is the prior mean, so that adding a constant to y adds it to
  // every answer. Fails without points, or if the matrix is not positive definite.
  static Result<GaussianProcess> fit(const KernelSpec& spec, std::vector<double> parameters,
                                     std::vector<KernelPoint> points, const std::vector<double>& y);
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;
  ~GaussianProcess();

  // If hundreds of points are similar (one configuration, other lengths and batches), their
  // covariances with the data are approximated by a low-rank product, within kGpTolerance. Other
  // points are exact.
  std::vector<GpAnswer> predict(const std::vector<KernelPoint>& points) const;
  std::vector<GpAnswer> predict_exactly(const std::vector<KernelPoint>& points) const;
  // The means of predict_exactly(), at a fraction of its cost.
  std::vector<double> means_exactly(const std::vector<KernelPoint>& points) const;
  // Digest of similar points, which also answers points between them. nullopt if the rank of their
  // covariances is too high.
  std::optional<GpDigest> digest(const std::vector<KernelPoint>& alike) const;
  // Posterior of the noise-free values: the variance per point, and the covariance with the first
  // point.
  struct Links {
    std::vector<double> variance;
    std::vector<double> with_first;
  };
  Links links(const std::vector<KernelPoint>& points) const;
  // Per training point: its error (value - prediction) and the standard deviation, with its block
  // held out (closed form: R&W 5.12 for blocks).
  std::vector<GpAnswer> leave_out(const std::vector<uint32_t>& block) const;
  // The means at `points` without the training points at `members`.
  std::vector<double> means_without(const std::vector<size_t>& members,
                                    const std::vector<KernelPoint>& points) const;
  const std::vector<double>& parameters() const;
  // Weight per training point: mean = centre + sum of weight x covariance.
  std::vector<double> weights() const;
  // Variance of one measurement around the learned value.
  double noise_variance() const;

 private:
  struct State;
  explicit GaussianProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct GpSearch {
  int max_iterations = 60;
  // Called after each iteration with its number and the objective. If it returns false, the search
  // ends with the current result.
  std::function<bool(int, double)> progress = {};
};

struct GpFound {
  std::vector<double> parameters;
  double objective = 0;  // negative log posterior, without constants
  int iterations = 0;
};

// Maximum a posteriori parameters by L-BFGS over their logarithms, with the log-normal priors of
// the spec. start: spec.prior or spec.defaults.
Result<GpFound> find_parameters(const KernelSpec& spec, const std::vector<double>& start,
                                const std::vector<KernelPoint>& points,
                                const std::vector<double>& y, const GpSearch& search = {});

// Negative log posterior (without constants) and its gradient by log parameter.
Result<double> negative_log_posterior(const KernelSpec& spec, const std::vector<double>& parameters,
                                      const std::vector<KernelPoint>& points,
                                      const std::vector<double>& y, std::vector<double>* gradient);

}  // namespace assay
