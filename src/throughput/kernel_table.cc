#include "throughput/kernel_table.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "throughput/dataset.h"
#include "throughput/physics.h"

namespace assay {
namespace {

// Units of the features before log2. The kernels do not depend on them.
constexpr double kRowLengthUnit = 512;
constexpr double kRowBatchUnit = 8;

struct ShareGroup {
  std::vector<PhysicsTerm> terms;
};

const std::array<ShareGroup, kKernelShares>& share_groups() {
  static const std::array<ShareGroup, kKernelShares> groups = {
      {{{PhysicsTerm::kWeights, PhysicsTerm::kLayers, PhysicsTerm::kHops}},
       {{PhysicsTerm::kCompute, PhysicsTerm::kPrefill, PhysicsTerm::kCommunication,
         PhysicsTerm::kHost}},
       {{PhysicsTerm::kKvCache, PhysicsTerm::kAttention}},
       {{PhysicsTerm::kWaves}},
       {{PhysicsTerm::kChunks}}}};
  return groups;
}

double& row_dim(KernelPoint& point, KernelDim which) { return point.x[static_cast<size_t>(which)]; }

KernelPoint plain_point(const BenchRow& row, GroupNames& names) {
  KernelPoint point;
  point.in_len = std::log2(row.in_len / kRowLengthUnit);
  point.out_len = std::log2(row.out_len / kRowLengthUnit);
  row_dim(point, KernelDim::kBatch) = std::log2(row.batch / kRowBatchUnit);
  row_dim(point, KernelDim::kDevices) = std::log2(row.devices);
  point.id = names.of(row);
  return point;
}

// A row as a kernel point, and the log of the analytical throughput that it is compared with.
struct Placed {
  KernelPoint point;
  double log_base = 0;
};

Placed place_on_physics(const BenchRow& row, const ModelFacts& model, const HardwareFacts& hardware,
                        GroupNames& names) {
  Placed placed{plain_point(row, names), 0};
  KernelPoint& point = placed.point;
  row_dim(point, KernelDim::kActive) = std::log2(model.active_b);
  row_dim(point, KernelDim::kExperts) = std::log2(model.parameters_b / model.active_b);
  row_dim(point, KernelDim::kKv) = std::log2(kv_gb_per_token(row, model));
  row_dim(point, KernelDim::kBandwidth) = std::log2(hardware.bandwidth_tb_s);
  row_dim(point, KernelDim::kFlops) = std::log2(peak_tflops(row, hardware));
  const double fit = sequences_in_memory(row, model, hardware);
  row_dim(point, KernelDim::kOverflow) = std::max(0.0, std::log2(sequences_of(row) / fit));
  PhysicsTerms parts = physics_terms(row, model, hardware);
  double total = 0;
  for (size_t k = 0; k < kPhysicsTerms; ++k) total += parts[k] *= fixed_coefficients()[k];
  total = std::max(total, 1e-6);
  for (size_t g = 0; g < kKernelShares; ++g) {
    for (const PhysicsTerm term : share_groups()[g].terms)
      point.share[g] += parts[static_cast<size_t>(term)] / total;
  }
  placed.log_base = std::log((row.in_len + row.out_len) * sequences_of(row) / total);
  return placed;
}

// Cost of a prompt token relative to a generated one. It was measured on 703 rows of NVIDIA's
// AIConfigurator with a matching row of equal lengths and the same batch size, at input over output
// from 1/8 to 32. With 1, the median error of throughput was 0.85 in logarithms (0.9 quantile
// 1.41); with this value it is 0.11 (0.36).
constexpr double kPromptCost = 0.05;

// For rows without specifications: the base is all tokens over their cost in generated tokens, 1
// for equal lengths. The data determine the cost of batching and length.
Placed place_plainly(const BenchRow& row, GroupNames& names) {
  const double cost = (row.out_len + kPromptCost * row.in_len) / (1 + kPromptCost);
  return {plain_point(row, names), std::log((row.in_len + row.out_len) / 2 / cost)};
}

std::optional<Placed> place(const BenchRow& row, FactLookup& facts, bool physics,
                            GroupNames& names) {
  if (!physics) return place_plainly(row, names);
  const ModelFacts* model = facts.model(row.model);
  const HardwareFacts* hardware = facts.hardware(row.hardware);
  if (model == nullptr || hardware == nullptr) return std::nullopt;
  return place_on_physics(row, *model, *hardware, names);
}

}  // namespace

std::array<std::string, kKernelGroups> GroupNames::keys_of(const BenchRow& row) {
  const std::string framework = row.framework + "|" + row.variant.words;
  std::array<std::string, kKernelGroups> keys;
  keys[static_cast<size_t>(KernelGroup::kHardware)] = row.hardware;
  keys[static_cast<size_t>(KernelGroup::kFramework)] = framework;
  keys[static_cast<size_t>(KernelGroup::kModel)] = row.model;
  keys[static_cast<size_t>(KernelGroup::kHardwareFramework)] = row.hardware + "|" + framework;
  keys[static_cast<size_t>(KernelGroup::kModelFramework)] = row.model + "|" + framework;
  keys[static_cast<size_t>(KernelGroup::kConfig)] = config_name(row);
  return keys;
}

std::array<uint32_t, kKernelGroups> GroupNames::of(const BenchRow& row) {
  const auto keys = keys_of(row);
  std::array<uint32_t, kKernelGroups> ids{};
  for (size_t g = 0; g < kKernelGroups; ++g) ids[g] = names[g].of(keys[g]);
  return ids;
}

KernelTable kernel_table(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics,
                         GroupNames& names) {
  KernelTable table;
  FactLookup lookup(facts);
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::optional<Placed> placed = place(rows[i], lookup, physics, names);
    if (!placed) continue;
    table.rows.push_back(i);
    table.points.push_back(placed->point);
    table.log_base.push_back(placed->log_base);
    table.residual.push_back(std::log(rows[i].tokens_per_s) - placed->log_base);
  }
  return table;
}

KernelTable kernel_table(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics) {
  GroupNames names;
  return kernel_table(rows, facts, physics, names);
}

}  // namespace assay
