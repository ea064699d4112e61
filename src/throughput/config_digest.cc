#include "throughput/config_digest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "base/stats.h"
#include "throughput/dataset.h"
#include "throughput/reach.h"

namespace assay {
namespace {

// A digest reaches this far beyond all rows.
constexpr double kLengthsBeyond = 2;
constexpr double kBatchesBeyond = 4;
// Of candidate points per doubling. Lengths that differ between input and output have one more
// dimension.
constexpr double kEqualLengthsStep = 0.25;
constexpr double kLengthsStep = 0.5;
constexpr size_t kChecks = 4;

using Shape = ConfigDigest::Shape;

std::vector<double> doublings(double low, double high, double step) {
  std::vector<double> values;
  for (int k = 0; low * std::exp2(k * step) < high * std::exp2(step / 2); ++k) {
    const double value = std::max(1.0, std::round(low * std::exp2(k * step)));
    if (values.empty() || value > values.back()) values.push_back(value);
  }
  return values;
}

std::vector<Shape> candidates(const Reach& reach, const Range& ratio) {
  const bool equal = ratio.low == 1 && ratio.high == 1;
  const double step = equal ? kEqualLengthsStep : kLengthsStep;
  const auto lengths = [step](const Range& range) {
    return doublings(range.low / kLengthsBeyond, range.high * kLengthsBeyond, step);
  };
  const std::vector<double> batches =
      doublings(reach.batch.low / kBatchesBeyond, reach.batch.high * kBatchesBeyond, step);
  std::vector<Shape> shapes;
  for (const double in : lengths(reach.in_len)) {
    for (const double out : equal ? std::vector<double>{in} : lengths(reach.out_len)) {
      for (const double batch : batches) shapes.push_back({in, out, batch});
    }
  }
  return shapes;
}

// Between neighbours of the candidates, spread over them.
std::vector<Shape> between(const std::vector<Shape>& shapes) {
  std::vector<Shape> out;
  for (size_t k = 0; k < kChecks; ++k) {
    const size_t at = (2 * k + 1) * shapes.size() / (2 * kChecks);
    const double up = std::round(shapes[at].in_len * std::exp2(kEqualLengthsStep / 2));
    const bool equal = shapes[at].in_len == shapes[at].out_len;
    out.push_back({up, equal ? up : shapes[at].out_len,
                   std::round(shapes[at].batch * std::exp2(kEqualLengthsStep / 2))});
  }
  return out;
}

std::vector<KernelPoint> points_of(const BenchRow& row, const std::vector<Shape>& shapes,
                                   const Trained& trained, const FactBook& facts) {
  std::vector<BenchRow> rows;
  for (const Shape& shape : shapes) {
    rows.push_back(row);
    std::tie(rows.back().in_len, rows.back().out_len, rows.back().batch) =
        std::tie(shape.in_len, shape.out_len, shape.batch);
  }
  GroupNames names = trained.names;
  return kernel_table(rows, facts, trained.physics, names).points;
}

bool holds(const GpDigest& digest, const std::vector<KernelPoint>& pivots, const Trained& trained,
           const std::vector<KernelPoint>& asked) {
  const DigestReader reader(trained.spec(), trained.parameters, trained.table.points,
                            median(trained.table.residual), digest, pivots);
  const auto answers = reader.predict(asked);
  const std::vector<GpAnswer> exact = trained.process()->predict_exactly(asked);
  for (size_t k = 0; k < asked.size(); ++k) {
    if (!answers[k]) continue;  // where it does not reach it says nothing
    const bool close = std::abs(answers[k]->mean - exact[k].mean) <= kGpTolerance &&
                       std::abs(answers[k]->sd - exact[k].sd) <= kGpTolerance * exact[k].sd;
    if (!close) return false;
  }
  return true;
}

}  // namespace

std::vector<ConfigDigest> make_digests(const Trained& trained, const std::vector<BenchRow>& rows,
                                       const FactBook& facts,
                                       const std::function<bool(const BenchRow&)>& wanted) {
  std::vector<ConfigDigest> out;
  if (trained.process() == nullptr) return out;
  Reach all;
  std::map<std::string, Range> ratios;  // by hardware and framework
  const auto engine = [](const BenchRow& row) {
    return GroupNames::keys_of(row)[static_cast<size_t>(KernelGroup::kHardwareFramework)];
  };
  for (const size_t i : trained.table.rows) {
    all.add(rows[i]);
    ratios[engine(rows[i])].add(ratio_of(rows[i]));
  }
  std::set<std::string> seen;
  for (const size_t i : trained.table.rows) {
    if (!seen.insert(config_name(rows[i])).second || !wanted(rows[i])) continue;
    const std::vector<Shape> shapes = candidates(all, ratios.at(engine(rows[i])));
    const std::vector<KernelPoint> points = points_of(rows[i], shapes, trained, facts);
    std::optional<GpDigest> made = trained.process()->digest(points);
    if (!made) continue;
    ConfigDigest digest{i, trained.physics, {}, *std::move(made)};
    std::vector<KernelPoint> pivots;
    for (const size_t pivot : digest.gp.pivots) {
      digest.pivots.push_back(shapes[pivot]);
      pivots.push_back(points[pivot]);
    }
    if (holds(digest.gp, pivots, trained, points_of(rows[i], between(shapes), trained, facts)))
      out.push_back(std::move(digest));
  }
  return out;
}

void DigestBook::add(const Trained& process, const std::vector<BenchRow>& rows,
                     const FactBook& facts, const PredictorOptions& options) {
  const auto beyond = [&](size_t row) { return row >= process.table.points.size(); };
  if (process.physics && options.frameworks &&
      options.frameworks->weights.size() == process.table.points.size() &&
      std::none_of(options.frameworks->pivots.begin(), options.frameworks->pivots.end(), beyond)) {
    frameworks_[&process] = *options.frameworks;
  }
  for (const ConfigDigest& digest : options.digests) {
    if (digest.physics != process.physics) continue;
    std::vector<KernelPoint> pivots = points_of(rows[digest.row], digest.pivots, process, facts);
    const bool whole = !pivots.empty() && pivots.size() == digest.pivots.size() &&
                       std::none_of(digest.gp.columns.begin(), digest.gp.columns.end(), beyond);
    if (!whole) continue;  // of rows that the process does not have: it answers itself
    const uint32_t config = pivots.front().id[static_cast<size_t>(KernelGroup::kConfig)];
    entries_[{&process, config}] = {digest.gp, std::move(pivots)};
  }
}

namespace {

uint32_t config_of(const KernelPoint& point) {
  return point.id[static_cast<size_t>(KernelGroup::kConfig)];
}

}  // namespace

void DigestBook::by_framework(const Trained& process, const std::vector<KernelPoint>& points,
                              std::vector<size_t>& rest, std::vector<GpAnswer>& out) const {
  const auto summary = frameworks_.find(&process);
  if (summary == frameworks_.end()) return;
  std::set<uint32_t> measured;
  for (const KernelPoint& row : process.table.points) measured.insert(config_of(row));
  const auto middle = std::stable_partition(rest.begin(), rest.end(), [&](size_t i) {
    return measured.count(config_of(points[i])) != 0;
  });
  const std::vector<size_t> unmeasured(middle, rest.end());
  if (unmeasured.empty()) return;
  const auto answers = predict_by_framework(process.spec(), process.parameters,
                                            process.table.points, median(process.table.residual),
                                            summary->second, pick(points, unmeasured));
  if (!answers) return;
  for (size_t k = 0; k < unmeasured.size(); ++k) out[unmeasured[k]] = (*answers)[k];
  rest.erase(middle, rest.end());
}

std::vector<GpAnswer> DigestBook::answers(const Trained& process,
                                          const std::vector<KernelPoint>& points) const {
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<GpAnswer> out(points.size(), GpAnswer{none, none});
  std::map<uint32_t, std::vector<size_t>> by_config;
  for (size_t i = 0; i < points.size(); ++i) by_config[config_of(points[i])].push_back(i);
  std::vector<size_t> rest;
  const double centre = median(process.table.residual);
  for (const auto& [config, which] : by_config) {
    const auto at = entries_.find({&process, config});
    if (at == entries_.end()) {
      rest.insert(rest.end(), which.begin(), which.end());
      continue;
    }
    const DigestReader reader(process.spec(), process.parameters, process.table.points, centre,
                              at->second.digest, at->second.pivots);
    const auto some = reader.predict(pick(points, which));
    for (size_t k = 0; k < which.size(); ++k) {
      if (some[k]) out[which[k]] = *some[k];
      if (!some[k]) rest.push_back(which[k]);
    }
  }
  std::sort(rest.begin(), rest.end());
  by_framework(process, points, rest, out);
  if (rest.empty() || process.process() == nullptr) return out;
  const std::vector<GpAnswer> exact = process.process()->predict(pick(points, rest));
  for (size_t k = 0; k < rest.size(); ++k) out[rest[k]] = exact[k];
  return out;
}

}  // namespace assay
