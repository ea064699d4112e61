#include "throughput/config_digest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "base/stats.h"
#include "throughput/dataset.h"
#include "throughput/reach.h"

namespace assay {
namespace {

// Factors by which a digest extends beyond the range of all rows.
constexpr double kLengthsBeyond = 2;
constexpr double kBatchesBeyond = 4;
// Spacing of candidate points in doublings. Lengths that differ between input and output add a
// dimension, so their spacing is wider.
constexpr double kEqualLengthsStep = 0.25;
constexpr double kLengthsStep = 0.5;
constexpr size_t kChecks = 4;
// Limit on pairs of candidates and distinct shapes of rows for all digests, about ten seconds.
// Tables with hundreds of batches, or of lengths that differ between input and output, exceed it;
// the remaining configurations are answered exactly.
constexpr size_t kMostPairs = 100000000;

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

// Points between neighbouring candidates, spread over all of them.
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

// Kernel points of the row at these shapes. names: of the process.
std::vector<KernelPoint> points_of(const BenchRow& row, const std::vector<Shape>& shapes,
                                   bool physics, GroupNames& names, const FactBook& facts) {
  std::vector<BenchRow> rows;
  for (const Shape& shape : shapes) {
    rows.push_back(row);
    std::tie(rows.back().in_len, rows.back().out_len, rows.back().batch) =
        std::tie(shape.in_len, shape.out_len, shape.batch);
  }
  return kernel_table(rows, facts, physics, names).points;
}

size_t distinct_shapes(const std::vector<KernelPoint>& points) {
  std::set<std::tuple<double, double, double>> seen;
  for (const KernelPoint& p : points)
    seen.emplace(p.in_len, p.out_len, p.x[static_cast<size_t>(KernelDim::kBatch)]);
  return seen.size();
}

bool holds(const GpDigest& digest, const std::vector<KernelPoint>& pivots, const Trained& trained,
           const std::vector<KernelPoint>& asked) {
  const DigestReader reader(trained.spec(), trained.parameters, trained.table.points,
                            median(trained.table.residual), digest, pivots);
  const auto answers = reader.predict(asked);
  const std::vector<GpAnswer> exact = trained.process()->predict_exactly(asked);
  for (size_t k = 0; k < asked.size(); ++k) {
    if (!answers[k]) continue;  // the digest does not cover this point
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
  size_t pairs = 0;
  const size_t row_shapes = distinct_shapes(trained.table.points);
  GroupNames names = trained.names;
  const auto placed = [&](const BenchRow& row, const std::vector<Shape>& shapes) {
    return points_of(row, shapes, trained.physics, names, facts);
  };
  for (const size_t i : trained.table.rows) {
    if (!seen.insert(config_name(rows[i])).second || !wanted(rows[i])) continue;
    const std::vector<Shape> shapes = candidates(all, ratios.at(engine(rows[i])));
    if ((pairs += shapes.size() * row_shapes) > kMostPairs) break;
    const std::vector<KernelPoint> points = placed(rows[i], shapes);
    std::optional<GpDigest> made = trained.process()->digest(points);
    if (!made) continue;
    ConfigDigest digest{i, trained.physics, {}, *std::move(made)};
    std::vector<KernelPoint> pivots;
    for (const size_t pivot : digest.gp.pivots) {
      digest.pivots.push_back(shapes[pivot]);
      pivots.push_back(points[pivot]);
    }
    if (holds(digest.gp, pivots, trained, placed(rows[i], between(shapes))))
      out.push_back(std::move(digest));
  }
  return out;
}

namespace {

uint32_t config_of(const KernelPoint& point) {
  return point.id[static_cast<size_t>(KernelGroup::kConfig)];
}

std::map<uint32_t, std::vector<size_t>> by_config_of(const std::vector<KernelPoint>& points) {
  std::map<uint32_t, std::vector<size_t>> of;
  for (size_t i = 0; i < points.size(); ++i) of[config_of(points[i])].push_back(i);
  return of;
}

}  // namespace

void DigestBook::add(const Trained& process, const std::vector<BenchRow>& rows,
                     const FactBook& facts, const PredictorOptions& options) {
  Shelf& shelf = shelves_[&process];
  shelf.rows = &rows;
  shelf.facts = &facts;
  const size_t learnt = process.table.points.size();
  const auto beyond = [learnt](size_t row) { return row >= learnt; };
  if (process.physics && options.frameworks && options.frameworks->weights.size() == learnt &&
      std::none_of(options.frameworks->pivots.begin(), options.frameworks->pivots.end(), beyond)) {
    shelf.frameworks = options.frameworks;
  }
  for (const KeptDigest& digest : options.digests) {
    const auto& learnt_rows = process.table.rows;
    const auto at = std::lower_bound(learnt_rows.begin(), learnt_rows.end(), digest.row);
    if (digest.physics != process.physics || at == learnt_rows.end() || *at != digest.row) continue;
    const auto k = static_cast<size_t>(at - learnt_rows.begin());
    shelf.digests[config_of(process.table.points[k])] = &digest;
  }
}

void DigestBook::by_config(const Shelf& shelf, const Trained& process,
                           const std::vector<KernelPoint>& points, std::vector<size_t>& rest,
                           std::vector<GpAnswer>& out) {
  const double centre = median(process.table.residual);
  const size_t learnt = process.table.points.size();
  GroupNames names = process.names;
  rest.clear();
  for (const auto& [config, which] : by_config_of(points)) {
    const auto at = shelf.digests.find(config);
    const std::optional<ConfigDigest> digest =
        at == shelf.digests.end() ? std::nullopt : at->second->read();
    std::vector<KernelPoint> pivots;
    if (digest) {
      pivots = points_of((*shelf.rows)[at->second->row], digest->pivots, process.physics, names,
                         *shelf.facts);
    }
    const bool whole = digest && pivots.size() == digest->pivots.size() &&
                       std::all_of(digest->gp.columns.begin(), digest->gp.columns.end(),
                                   [learnt](size_t row) { return row < learnt; });
    if (!whole) {
      rest.insert(rest.end(), which.begin(), which.end());
      continue;
    }
    const DigestReader reader(process.spec(), process.parameters, process.table.points, centre,
                              digest->gp, pivots);
    const auto some = reader.predict(pick(points, which));
    for (size_t k = 0; k < which.size(); ++k) {
      if (some[k]) out[which[k]] = *some[k];
      if (!some[k]) rest.push_back(which[k]);
    }
  }
  std::sort(rest.begin(), rest.end());
}

void DigestBook::by_framework(const Shelf& shelf, const Trained& process,
                              const std::vector<KernelPoint>& points, std::vector<size_t>& rest,
                              std::vector<GpAnswer>& out) {
  if (shelf.frameworks == nullptr) return;
  std::set<uint32_t> measured;
  for (const KernelPoint& row : process.table.points) measured.insert(config_of(row));
  const auto middle = std::stable_partition(rest.begin(), rest.end(), [&](size_t i) {
    return measured.count(config_of(points[i])) != 0;
  });
  const std::vector<size_t> unmeasured(middle, rest.end());
  if (unmeasured.empty()) return;
  const auto answers = predict_by_framework(process.spec(), process.parameters,
                                            process.table.points, median(process.table.residual),
                                            *shelf.frameworks, pick(points, unmeasured));
  if (!answers) return;
  for (size_t k = 0; k < unmeasured.size(); ++k) out[unmeasured[k]] = (*answers)[k];
  rest.erase(middle, rest.end());
}

std::vector<GpAnswer> DigestBook::answers(const Trained& process,
                                          const std::vector<KernelPoint>& points) const {
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<GpAnswer> out(points.size(), GpAnswer{none, none});
  std::vector<size_t> rest(points.size());
  std::iota(rest.begin(), rest.end(), 0);
  const auto shelf = shelves_.find(&process);
  if (shelf != shelves_.end()) {
    by_config(shelf->second, process, points, rest, out);
    by_framework(shelf->second, process, points, rest, out);
  }
  if (rest.empty() || process.process() == nullptr) return out;
  const std::vector<GpAnswer> exact = process.process()->predict(pick(points, rest));
  for (size_t k = 0; k < rest.size(); ++k) out[rest[k]] = exact[k];
  return out;
}

}  // namespace assay
