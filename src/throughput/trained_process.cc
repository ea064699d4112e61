// Problem: an interval must cover new kinds of rows (a new configuration, a larger batch), and the
// process's own standard deviation does not.
//
// Method: for each kind of question, the rows are held out block by block; a block is everything
// that such a question lacks. The errors of the process, in its own standard deviations, are the
// scale of that kind. Holding out is in closed form on one factorisation (gp.h), which is made when
// first needed. A model file with digests never needs it.
//
// Effect: one factorisation instead of one per block;
// docs/measured/throughput_llm_inference_bench.md has the coverage.

#include "throughput/trained_process.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <set>

#include "throughput/dataset.h"
#include "throughput/latency_fit.h"

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
      case HeldOut::kCampaign:
        blocks.push_back(names.of(row.campaign));
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

// Minimum number of blocks for a measured scale: the worst of eight is exceeded by a new block once
// in nine times.
constexpr size_t kFewestBlocks = 8;

// The pair of an error, or "" if errors are not separated by pair. They are separated only where
// single blocks of a pair represent the new one. Errors for models, hardware, larger batches and
// longer lengths are correlated, and too few per pair. Separated by pair all the same, the
// intervals of LLM-Inference-Bench contained 60.9 % instead of 69.6 % of the worst pair's larger
// batches (S3), 85.8 % instead of 89.5 % of longer lengths (S4) and 87.4 % instead of 89.1 % of new
// models (S6).
std::string pair_of_miss(const BenchRow& row, HeldOut kind) {
  const bool own = kind == HeldOut::kRow || kind == HeldOut::kGroup || kind == HeldOut::kConfig;
  return own ? pair_name(row) : "";
}

// Splits the rows by |log2(input / output length)|, at half of its maximum.
WithoutLargest without_steepest(const std::vector<BenchRow>& rows) {
  const auto unlike = [](const BenchRow& row) {
    return std::abs(std::log2(row.in_len / row.out_len));
  };
  double largest = 0;
  for (const BenchRow& row : rows) largest = std::max(largest, unlike(row));
  WithoutLargest out;
  for (const BenchRow& row : rows)
    (unlike(row) <= largest / 2 ? out.inner : out.outer).push_back(row);
  return out;
}

// Scale from training without the largest values and testing on them.
Result<ConformalScale> nested_scale(const std::vector<BenchRow>& rows, const FactBook& facts,
                                    bool physics, const std::vector<double>& parameters,
                                    HeldOut kind) {
  const WithoutLargest nested =
      kind == HeldOut::kRatio ? without_steepest(rows) : without_largest(rows, kind);
  if (nested.inner.empty() || nested.outer.empty()) return ConformalScale{};
  ASSAY_TRY_ASSIGN(Trained trained, train(nested.inner, facts, physics, parameters));
  const KernelTable asked = kernel_table(nested.outer, facts, physics, trained.names);
  const std::vector<GpAnswer> answers = trained.process()->predict(asked.points);
  LatencyFits fits(nested.inner, facts, physics);
  std::vector<BeyondMiss> misses;
  for (size_t i = 0; i < answers.size(); ++i) {
    const BenchRow& row = nested.outer[asked.rows[i]];
    const FitShares shares = fits.shares(row);
    double share = kind == HeldOut::kLargerBatch ? shares.batch : shares.length;
    if (kind == HeldOut::kRatio) share = 0;
    const double fit = share > 0 ? std::log(row.tokens_per_s) - fits.log_throughput(row) : 0;
    misses.push_back({asked.residual[i] - answers[i].mean, answers[i].sd, fit, share});
  }
  ConformalScale scale = scale_beyond(misses);
  // Without an analytical model, one step beyond the data does not determine the error of several.
  if (!physics) {
    scale.scale = std::max(scale.scale, kNormalScale);
    scale.blended_scale = std::max(scale.blended_scale, kNormalScale);
  }
  return scale;
}

// The wider of two scales: over whole held-out benchmark runs, and over whole builds of engines,
// which several runs may share. A build with rows does not exclude variation between runs.
ConformalScale campaign_scale(const Trained& trained, const std::vector<BenchRow>& rows) {
  constexpr size_t kFewestBuilds = 6;
  const std::vector<uint32_t> campaigns = blocks_of(rows, trained.table, HeldOut::kCampaign);
  if (std::set<uint32_t>(campaigns.begin(), campaigns.end()).size() < kFewestBlocks) return {};
  Names names;
  std::vector<uint32_t> builds;
  for (const size_t i : trained.table.rows)
    builds.push_back(names.of(rows[i].framework + "|" + rows[i].variant.version));
  const auto scale_of = [&trained](const std::vector<uint32_t>& blocks) {
    std::vector<Miss> misses;
    for (const GpAnswer& miss : trained.process()->leave_out(blocks))
      misses.push_back({std::abs(miss.mean) / miss.sd, ""});
    return conformal_scale(misses);
  };
  ConformalScale out = scale_of(campaigns);
  if (std::set<uint32_t>(builds.begin(), builds.end()).size() >= kFewestBuilds)
    out.scale = std::max(out.scale, scale_of(builds).scale);
  return out;
}

Result<ConformalScale> measure_scale(const Trained& trained, const std::vector<BenchRow>& rows,
                                     const FactBook& facts, const std::vector<double>& parameters,
                                     HeldOut kind) {
  if (kind == HeldOut::kLargerBatch || kind == HeldOut::kLongerLength || kind == HeldOut::kRatio) {
    std::vector<BenchRow>
        learnt;  // other rows are not in the process, and could be all of the inner ones
    for (const size_t i : trained.table.rows) learnt.push_back(rows[i]);
    return nested_scale(learnt, facts, trained.physics, parameters, kind);
  }
  if (kind == HeldOut::kCampaign) return campaign_scale(trained, rows);
  const std::vector<uint32_t> blocks = blocks_of(rows, trained.table, kind);
  if (!several(blocks)) return ConformalScale{};
  const std::vector<GpAnswer> left_out = trained.process()->leave_out(blocks);
  std::vector<Miss> misses;
  for (size_t i = 0; i < left_out.size(); ++i) {
    misses.push_back({std::abs(left_out[i].mean) / left_out[i].sd,
                      pair_of_miss(rows[trained.table.rows[i]], kind)});
  }
  ConformalScale scale = conformal_scale(misses);
  // Errors of one block are correlated, so few blocks are few errors.
  scale.measured &= std::set<uint32_t>(blocks.begin(), blocks.end()).size() >= kFewestBlocks;
  return scale;
}

// Questions that the rows cannot test get the scale of the worst testable one, and at least a scale
// that covers all training rows.
void assume_the_rest(Trained& trained) {
  double widest = kNormalScale;
  for (const ConformalScale& scale : trained.scales) {
    if (scale.measured) widest = std::max(widest, scale.scale);
  }
  if (!trained.scales[index_of(HeldOut::kRow)].measured) {
    const std::vector<GpAnswer> answers = trained.process()->predict(trained.table.points);
    for (size_t i = 0; i < answers.size(); ++i) {
      const double miss = std::abs(trained.table.residual[i] - answers[i].mean) / answers[i].sd;
      widest = std::max(widest, miss * (1 + 1e-6));
    }
  }
  for (ConformalScale& scale : trained.scales) {
    if (scale.measured) continue;
    scale.scale = std::max(scale.scale, widest);
    scale.blended_scale = std::max(scale.blended_scale, widest);
    for (auto& [pair, own] : scale.of_pair) own = std::max(own, widest);
  }
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
  const auto measure = [&](HeldOut kind) -> Status {
    ASSAY_TRY_ASSIGN(trained.scales[index_of(kind)],
                     measure_scale(trained, rows, facts, parameters, kind));
    return Ok{};
  };
  if (options.only) {
    ASSAY_TRY(measure(*options.only));
    if (trained.scales[index_of(*options.only)].measured) return trained;
  }
  for (const HeldOut kind : kAllHeldOut) {
    if (kind != options.only) ASSAY_TRY(measure(kind));
  }
  assume_the_rest(trained);
  return trained;
}

}  // namespace assay
