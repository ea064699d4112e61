#include "throughput/trained_process.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include "throughput/dataset.h"

namespace assay {

struct Trained::Lazy {
  std::once_flag once;
  std::optional<GaussianProcess> process;
};

const GaussianProcess* Trained::process() const {
  std::call_once(lazy->once, [this] {
    if (lazy->process) return;
    auto made = GaussianProcess::fit(spec(), parameters, table.points, table.residual);
    if (made) lazy->process = *std::move(made);
  });
  return lazy->process ? &*lazy->process : nullptr;
}

namespace {

// The smallest value that at least 90 % of new misses stay below, if they are exchangeable with the
// old ones (Vovk, Gammerman and Shafer, 2005; Lei et al., JASA 113, 2018).
ConformalScale conformal(std::vector<double> misses) {
  const size_t n = misses.size();
  const auto rank = static_cast<size_t>(std::ceil(static_cast<double>(n + 1) * 0.9));
  if (rank > n) return {kNormalScale, n, false};
  std::sort(misses.begin(), misses.end());
  return {misses[rank - 1], n, true};
}

std::vector<double> misses_in_sd(const std::vector<GpAnswer>& left_out) {
  std::vector<double> misses;
  misses.reserve(left_out.size());
  for (const GpAnswer& answer : left_out) misses.push_back(std::abs(answer.mean) / answer.sd);
  return misses;
}

Trained prepare(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics,
                const std::vector<double>& parameters) {
  Trained trained;
  trained.physics = physics;
  trained.table = kernel_table(rows, facts, physics, trained.names);
  trained.parameters = parameters.empty() ? trained.spec().defaults : parameters;
  trained.lazy = std::make_shared<Trained::Lazy>();
  return trained;
}

Result<Trained> train(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics,
                      const std::vector<double>& parameters) {
  Trained trained = prepare(rows, facts, physics, parameters);
  ASSAY_TRY_ASSIGN(trained.lazy->process,
                   GaussianProcess::fit(trained.spec(), trained.parameters, trained.table.points,
                                        trained.table.residual));
  return trained;
}

}  // namespace

std::vector<uint32_t> blocks_of(const std::vector<BenchRow>& rows, const KernelTable& table,
                                HeldOut kind) {
  Names names;
  std::vector<uint32_t> blocks;
  for (const size_t i : table.rows) {
    const BenchRow& row = rows[i];
    switch (kind) {
      case HeldOut::kGroup:
        blocks.push_back(names.of(group_name(row)));
        break;
      case HeldOut::kConfig:
        blocks.push_back(names.of(config_name(row)));
        break;
      case HeldOut::kModel:
        blocks.push_back(names.of(row.model));
        break;
      case HeldOut::kHardware:
        blocks.push_back(names.of(row.hardware));
        break;
      default:
        blocks.push_back(static_cast<uint32_t>(blocks.size()));
    }
  }
  return blocks;
}

bool several(const std::vector<uint32_t>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](uint32_t block) { return block != blocks.front(); });
}

namespace {

// The largest values of what grows stand for what lies beyond: learn below half of the largest,
// answer above.
Result<ConformalScale> nested_scale(const std::vector<BenchRow>& rows, const FactBook& facts,
                                    bool physics, const std::vector<double>& parameters,
                                    HeldOut kind) {
  const auto size = [kind](const BenchRow& row) {
    return kind == HeldOut::kLargerBatch ? row.batch : length_of(row);
  };
  double largest = 0;
  for (const BenchRow& row : rows) largest = std::max(largest, size(row));
  std::vector<BenchRow> inner;
  std::vector<BenchRow> outer;
  for (const BenchRow& row : rows) (size(row) <= largest / 2 ? inner : outer).push_back(row);
  if (inner.empty()) return ConformalScale{kNormalScale, 0, false};
  ASSAY_TRY_ASSIGN(Trained trained, train(inner, facts, physics, parameters));
  const KernelTable asked = kernel_table(outer, facts, physics, trained.names);
  std::vector<double> misses;
  const std::vector<GpAnswer> answers = trained.process()->predict(asked.points);
  for (size_t i = 0; i < answers.size(); ++i)
    misses.push_back(std::abs(asked.residual[i] - answers[i].mean) / answers[i].sd);
  ConformalScale scale = conformal(std::move(misses));
  // Without physics to carry it, one step beyond the data says too little about several.
  if (!physics) scale.scale = std::max(scale.scale, kNormalScale);
  return scale;
}

Result<ConformalScale> measure_scale(const Trained& trained, const std::vector<BenchRow>& rows,
                                     const FactBook& facts, const std::vector<double>& parameters,
                                     HeldOut kind) {
  if (kind == HeldOut::kLargerBatch || kind == HeldOut::kLongerLength)
    return nested_scale(rows, facts, trained.physics, parameters, kind);
  const std::vector<uint32_t> blocks = blocks_of(rows, trained.table, kind);
  if (!several(blocks)) return ConformalScale{kNormalScale, 0, false};
  return conformal(misses_in_sd(trained.process()->leave_out(blocks)));
}

}  // namespace

Result<Trained> train_and_measure(const std::vector<BenchRow>& rows, const FactBook& facts,
                                  bool physics, const PredictorOptions& options) {
  const std::vector<double>& parameters =
      physics ? options.physics_parameters : options.plain_parameters;
  const auto& known = physics ? options.physics_scales : options.plain_scales;
  if (known && !options.digests.empty()) {
    Trained trained = prepare(rows, facts, physics, parameters);
    trained.scales = *known;
    return trained;
  }
  ASSAY_TRY_ASSIGN(Trained trained, train(rows, facts, physics, parameters));
  if (known) {
    trained.scales = *known;
    return trained;
  }
  for (const HeldOut kind : kAllHeldOut) {
    trained.scales[index_of(kind)] = {kNormalScale, 0, false};
    if (options.only && kind != *options.only) continue;
    ASSAY_TRY_ASSIGN(trained.scales[index_of(kind)],
                     measure_scale(trained, rows, facts, parameters, kind));
  }
  return trained;
}

}  // namespace assay
