#pragma once

// A Gaussian process for one framework at a time, for configurations without rows of their own.
//
// Rows of different frameworks share only the kernel's components over all rows, which are smooth
// and therefore of low rank. The contribution of the other frameworks is summarised once, in a
// matrix of that rank. A query then needs only the covariances of its own framework's rows: blocks
// instead of the whole matrix, which is never factorised.
//
// For many query points, the standard deviations come from a few linear combinations of the rows,
// computed from the query points. Ignoring known data can only widen an interval. Random
// combinations that were left out bound the effect for each point (Halko, Martinsson and Tropp,
// SIAM Review 53, 2011, section 4.3). A point with a bound above kReducedTolerance uses all rows of
// its framework.

#include <cstddef>
#include <optional>
#include <vector>

#include "throughput/gp/gp_digest.h"
#include "throughput/gp/kernel.h"

namespace assay {

// Standard deviations may exceed those of the process on all rows by this share. Means are equal up
// to rounding.
inline constexpr double kReducedTolerance = 1e-3;

struct FrameworkSummary {
  std::vector<size_t> pivots;   // indices of rows that span the common part
  std::vector<double> weights;  // per row; mean = centre + sum of weight x covariance
  // Contribution of all other rows to a framework. The covariance of its points a and b is k(a, b)
  // - told(a)' told(b), where told(x) is the transpose of `told` times the common terms of x.
  struct Framework {
    size_t row = 0;            // any row of it; rows.size() = a framework without rows
    std::vector<double> told;  // pivots.size() * rank, column-major
  };
  std::vector<Framework> frameworks;
};

// True if rows of different frameworks share only the components over all rows.
bool splits_by_framework(const KernelSpec& spec);
// nullopt if the kernel does not split or a block cannot be factorised. weights:
// GaussianProcess::weights() of the process on all rows.
std::optional<FrameworkSummary> summarise_frameworks(const KernelSpec& spec,
                                                     const std::vector<double>& parameters,
                                                     const std::vector<KernelPoint>& rows,
                                                     std::vector<double> weights);
// Answers for points of configurations without rows, in their order. nullopt if a block cannot be
// factorised.
std::optional<std::vector<GpAnswer>> predict_by_framework(const KernelSpec& spec,
                                                          const std::vector<double>& parameters,
                                                          const std::vector<KernelPoint>& rows,
                                                          double centre,
                                                          const FrameworkSummary& summary,
                                                          const std::vector<KernelPoint>& points);

}  // namespace assay
