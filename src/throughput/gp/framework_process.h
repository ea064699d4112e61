#pragma once

// A Gaussian process for one framework at a time, for configurations without rows of their own.
//
// Rows of different frameworks share only the kernel's components over all rows, which are smooth
// and therefore of low rank. The contribution of the other frameworks is summarised once, in a
// matrix of that rank. A query then needs only the covariances of its own framework's rows: blocks
// instead of the whole matrix, which is never factorised.
//
// For many query points, the standard deviations come from even fewer numbers: linear combinations
// of the rows, computed from the query points. Ignoring known data can only widen an interval.
// Random combinations that were left out bound the effect for each point (Halko, Martinsson and
// Tropp, SIAM Review 53, 2011, section 4.3). A point with a bound above kReducedTolerance uses all
// rows of its framework.

#include <cstddef>
#include <optional>
#include <vector>

#include "throughput/gp/gp_digest.h"
#include "throughput/gp/kernel.h"

namespace assay {

// Standard deviations may be larger by this share of them than those of the process on all rows.
// Means are the same but for rounding.
inline constexpr double kReducedTolerance = 1e-3;

struct FrameworkSummary {
  std::vector<size_t> pivots;   // rows that span the common part
  std::vector<double> weights;  // per row: means are sums of these times covariances
  // Contribution of all other rows to a framework. The covariance of its points a and b is the
  // kernel's minus told(a)' told(b), where told(x) is the transpose of `told` times the common
  // terms of x.
  struct Framework {
    size_t row = 0;            // any of its rows; an index past the rows = a framework without rows
    std::vector<double> told;  // pivots.size() * rank, column-major
  };
  std::vector<Framework> frameworks;
};

// True if rows of different frameworks share only the components over all rows.
bool splits_by_framework(const KernelSpec& spec);
// Absent where it does not split or a block cannot be factorised. weights: of the whole process.
std::optional<FrameworkSummary> summarise_frameworks(const KernelSpec& spec,
                                                     const std::vector<double>& parameters,
                                                     const std::vector<KernelPoint>& rows,
                                                     std::vector<double> weights);
// Points of configurations that have no rows. Absent where a block cannot be factorised.
std::optional<std::vector<GpAnswer>> predict_by_framework(const KernelSpec& spec,
                                                          const std::vector<double>& parameters,
                                                          const std::vector<KernelPoint>& rows,
                                                          double centre,
                                                          const FrameworkSummary& summary,
                                                          const std::vector<KernelPoint>& points);

}  // namespace assay
