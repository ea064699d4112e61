#pragma once

// A Gaussian process one framework at a time, for configurations without rows of their own.
//
// Rows of different frameworks have in common only what the kernel's components over all rows say,
// and that is smooth: of low rank. So what the other frameworks tell is summed up once, in a matrix
// of that rank, and a question needs the covariances of its own framework's rows alone: blocks in
// place of the whole matrix, which never has to be factorised.
//
// Where many points are asked about, their standard deviations come from fewer numbers still:
// linear combinations of the rows, found from the points themselves. Leaving something out of what
// is known can only widen an interval; by how much is bounded point by point from random
// combinations that were left out (Halko, Martinsson and Tropp, SIAM Review 53, 2011, section 4.3).
// A point whose bound is above kReducedTolerance is answered from all rows of its framework.

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
  std::vector<size_t> pivots;   // rows in whose terms the common part is told
  std::vector<double> weights;  // per row: means are sums of these times covariances
  // What all other rows tell the rows of a framework: covariances of its points are the kernel's
  // less told(a)' told(b), where told(x) is the transpose of `told` times the common terms of x.
  struct Framework {
    size_t row = 0;            // any of it; beyond the rows: of a framework that has none
    std::vector<double> told;  // pivots.size() * rank, column-major
  };
  std::vector<Framework> frameworks;
};

// Whether rows of different frameworks share nothing but the components over all rows.
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
