#pragma once

// Components of a kernel together with their parameters, and values shared by many points. Internal
// to the kernel.

#include <cstdint>
#include <utility>
#include <vector>

#include "throughput/gp/kernel.h"

namespace assay {

constexpr size_t index_of(KernelDim dim) { return static_cast<size_t>(dim); }

// Dimensions that a configuration fixes; lengths, batch and overflow vary within it.
bool is_static(KernelDim dim);

struct KernelTerm {
  const KernelComponent* component = nullptr;
  size_t first = 0;        // index of its scale in the parameters; lengths follow
  double variance = 0;     // s^2
  bool has_shape = false;  // depends on lengths or batch
  double length = 0;       // 1 / (2 l^2); 0 = not a dimension of it
  double batch = 0;
  double overflow = 0;
  std::vector<std::pair<size_t, double>> fixed = {};  // static dims
};

std::vector<KernelTerm> terms_of(const KernelSpec& spec, const std::vector<double>& parameters);
// Factor of the term between two configurations, without lengths, batches, overflow and shares.
double factor_of(const KernelTerm& term, const KernelPoint& a, const KernelPoint& b);
// Factor of the term from lengths and batches.
double shape_factor(const KernelTerm& term, const KernelPoint& a, const KernelPoint& b);

// Distinct lengths and batches of points. Values that depend only on them are computed once.
struct KernelShapes {
  std::vector<uint32_t> of;  // per point: index into `distinct`
  std::vector<const KernelPoint*> distinct;
};
KernelShapes shapes_of(const std::vector<KernelPoint>& points);

double length_distance(const KernelPoint& a, const KernelPoint& b);
double share_product(const KernelPoint& a, const KernelPoint& b);

}  // namespace assay
