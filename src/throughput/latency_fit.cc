#include "throughput/latency_fit.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/factorisations.h"
#include "throughput/dataset.h"
#include "throughput/physics.h"

namespace assay {
namespace {

// Share of all squares that a term must explain to be included.
constexpr double kNoBetter = 1e-9;
constexpr int kReweighings = 8;
// Errors below this, in logarithms, have equal weight.
constexpr double kSmallMiss = 0.03;
constexpr double kLeastSum = 1e-6;

double doublings(double value, double of) { return std::log2(value / of); }

bool varies(const Range& range) { return range.high > range.low; }

double share_at(double doublings) {
  return doublings <= 1 ? std::max(doublings, 0.0) : std::exp2(1 - doublings);
}

// 1 if the rows show the effect of this value on latency, falling to 0 at one doubling outside. A
// range that varies also covers larger values.
double told(double value, const Range& range) {
  const double below = doublings(range.low, value);
  const double above = varies(range) ? 0 : doublings(value, range.high);
  return 1 - std::clamp(std::max(below, above), 0.0, 1.0);
}

// The same for the ratio of lengths. If input and output lengths always had the same ratio, their
// separate effects are unknown.
double told_ratio(double ratio, const Range& range) {
  return varies(range) ? 1 : 1 - std::min(std::abs(doublings(ratio, range.high)), 1.0);
}

LatencyTerms terms_by_lengths(const BenchRow& row) {
  const double sequences = sequences_of(row);
  const double tokens = (row.in_len + row.out_len) / 2;
  const double per_sequence = batch_is_chunk(row) ? row.in_len / row.batch : tokens * sequences;
  return {row.out_len, per_sequence, row.out_len * sequences * (row.in_len + row.out_len / 2), 1};
}

LatencyTerms terms_by_physics(const BenchRow& row, const ModelFacts& model,
                              const HardwareFacts& hardware) {
  const PhysicsTerms terms = physics_terms(row, model, hardware);
  const auto at = [&](PhysicsTerm term) {
    return terms[static_cast<size_t>(term)] * fixed_coefficients()[static_cast<size_t>(term)];
  };
  const double steps = at(PhysicsTerm::kWeights) + at(PhysicsTerm::kLayers) +
                       at(PhysicsTerm::kHops) + at(PhysicsTerm::kWaves);
  const double sequences = at(PhysicsTerm::kCompute) + at(PhysicsTerm::kPrefill) +
                           at(PhysicsTerm::kCommunication) + at(PhysicsTerm::kHost);
  const double square = at(PhysicsTerm::kKvCache) + at(PhysicsTerm::kAttention);
  if (batch_is_chunk(row)) return {steps + sequences, at(PhysicsTerm::kChunks), square, 1};
  return {steps, sequences, square, 1};
}

// Per row: the terms over the latency, each scaled to a mean of 1, and 1, the value of their sum.
using Equations = Eigen::Matrix<double, Eigen::Dynamic, kLatencyTerms + 1>;
// Reduced to 5 rows with the same least-squares solutions.
using Reduced = Eigen::Matrix<double, kLatencyTerms + 1, kLatencyTerms + 1>;
using Solution = Eigen::Matrix<double, kLatencyTerms, 1>;

// Least squares with only the terms of a bit mask.
Solution solved(const Reduced& r, unsigned mask) {
  std::vector<Eigen::Index> chosen;
  for (Eigen::Index k = 0; k < r.cols() - 1; ++k) {
    if ((mask >> k & 1) != 0) chosen.push_back(k);
  }
  const Eigen::MatrixXd part = r(Eigen::seqN(0, r.rows()), chosen);
  const Eigen::VectorXd x = least_squares(part, r.rightCols<1>());
  Solution out = Solution::Zero();
  for (size_t k = 0; k < chosen.size(); ++k) out(chosen[k]) = x(static_cast<Eigen::Index>(k));
  return out;
}

// Least squares with non-negative coefficients, by trying all 15 subsets of terms. Among equally
// good fits, the one without the later terms is used: one sequence at two lengths cannot separate a
// quadratic term from a constant.
Solution non_negative(const Equations& weighted) {
  const Reduced r = reduced_rows(weighted);
  const double squares = r.rightCols<1>().squaredNorm();
  Solution best = Solution::Zero();
  double least = squares;
  for (unsigned mask = 1; mask < 1U << kLatencyTerms; ++mask) {
    const Solution x = solved(r, mask);
    if (!(x.minCoeff() >= 0)) continue;
    const double left = (r.leftCols<kLatencyTerms>() * x - r.rightCols<1>()).squaredNorm();
    if (left >= least - kNoBetter * squares) continue;
    least = left;
    best = x;
  }
  return best;
}

// Minimises the absolute log error by reweighted relative least squares, so that an outlier among
// the rows has little weight.
LatencyTerms fitted(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics) {
  Equations relative(static_cast<Eigen::Index>(rows.size()), kLatencyTerms + 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    const LatencyTerms terms = latency_terms(rows[i], facts, physics);
    const auto at = static_cast<Eigen::Index>(i);
    for (size_t k = 0; k < kLatencyTerms; ++k)
      relative(at, static_cast<Eigen::Index>(k)) = terms[k] / equivalent_latency_s(rows[i]);
    relative(at, kLatencyTerms) = 1;
  }
  const Eigen::Array<double, 1, kLatencyTerms> mean =
      relative.leftCols<kLatencyTerms>().colwise().mean();
  relative.leftCols<kLatencyTerms>().array().rowwise() /= mean;
  Eigen::ArrayXd weight = Eigen::ArrayXd::Ones(relative.rows());
  Solution x;
  for (int round = 0; round < kReweighings; ++round) {
    x = non_negative(relative.array().colwise() * weight);
    const Eigen::ArrayXd sum = (relative.leftCols<kLatencyTerms>() * x).array();
    weight = sum.max(kLeastSum).log().abs().max(kSmallMiss).rsqrt();
  }
  LatencyTerms seconds{};
  for (size_t k = 0; k < kLatencyTerms; ++k)
    seconds[k] = x(static_cast<Eigen::Index>(k)) / mean(static_cast<Eigen::Index>(k));
  return seconds;
}

double size_of(const BenchRow& row, HeldOut kind) {
  return kind == HeldOut::kLargerBatch ? row.batch : row.in_len + row.out_len;
}

// Compares each row with the rows of the same name.
WithoutLargest without_largest_of(const std::vector<BenchRow>& rows, HeldOut kind,
                                  const std::function<std::string(const BenchRow&)>& name_of) {
  std::map<std::string, Range> sizes;
  for (const BenchRow& row : rows) sizes[name_of(row)].add(size_of(row, kind));
  WithoutLargest out;
  for (const BenchRow& row : rows) {
    const Range& range = sizes[name_of(row)];
    const bool some_stay = range.low <= range.high / 2;
    const bool large = some_stay && size_of(row, kind) > range.high / 2;
    (large ? out.outer : out.inner).push_back(row);
  }
  return out;
}

double squares(const std::vector<BeyondMiss>& misses, double BeyondMiss::* miss) {
  double sum = 0;
  for (const BeyondMiss& m : misses) sum += m.share > 0 ? m.*miss * (m.*miss) : 0;
  return sum;
}

}  // namespace

LatencyTerms latency_terms(const BenchRow& row, const FactBook& facts, bool physics) {
  const ModelFacts* model = physics ? facts.model(row.model) : nullptr;
  const HardwareFacts* hardware = physics ? facts.hardware(row.hardware) : nullptr;
  if (model == nullptr || hardware == nullptr) return terms_by_lengths(row);
  return terms_by_physics(row, *model, *hardware);
}

FitShares fit_shares(const BenchRow& point, const Reach& own) {
  const bool beyond = point.batch > own.batch.high || point.in_len > own.in_len.high ||
                      point.out_len > own.out_len.high;
  if (!beyond || own.rows < kLatencyFitRows) return {};
  const double all_told =
      std::min({told(point.batch, own.batch), told(point.in_len, own.in_len),
                told(point.out_len, own.out_len), told_ratio(ratio_of(point), own.ratio)});
  const double length = std::max(doublings(point.in_len, own.in_len.high),
                                 doublings(point.out_len, own.out_len.high));
  const bool lengths_vary = varies(own.in_len) || varies(own.out_len);
  const double batch = doublings(point.batch, own.batch.high);
  return {varies(own.batch) ? all_told * share_at(batch) : 0,
          lengths_vary ? all_told * share_at(length) : 0};
}

LatencyFits::LatencyFits(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics)
    : rows_(rows), facts_(facts), physics_(physics) {}

const LatencyFits::Own& LatencyFits::own(const BenchRow& point) {
  const std::string name = config_name(point);
  const auto [at, unknown] = by_config_.try_emplace(name);
  if (!unknown) return at->second;
  auto row = std::lower_bound(
      rows_.begin(), rows_.end(), name,
      [](const BenchRow& a, const std::string& wanted) { return config_name(a) < wanted; });
  std::vector<BenchRow> own_rows;
  for (; row != rows_.end() && config_name(*row) == name; ++row) {
    own_rows.push_back(*row);
    at->second.reach.add(*row);
  }
  if (own_rows.size() >= kLatencyFitRows) at->second.seconds = fitted(own_rows, facts_, physics_);
  return at->second;
}

FitShares LatencyFits::shares(const BenchRow& point) { return fit_shares(point, own(point).reach); }

double LatencyFits::log_throughput(const BenchRow& point) {
  const LatencyTerms& seconds = own(point).seconds;
  const LatencyTerms terms = latency_terms(point, facts_, physics_);
  double latency_s = 0;
  for (size_t k = 0; k < kLatencyTerms; ++k) latency_s += seconds[k] * terms[k];
  return std::log((point.in_len + point.out_len) * sequences_of(point) / latency_s);
}

WithoutLargest without_largest(const std::vector<BenchRow>& rows, HeldOut kind) {
  WithoutLargest out = without_largest_of(rows, kind, config_name);
  if (out.outer.size() >= kFewestMisses) return out;
  return without_largest_of(rows, kind, [](const BenchRow&) { return std::string(); });
}

ConformalScale scale_beyond(const std::vector<BeyondMiss>& misses) {
  std::vector<Miss> alone;
  alone.reserve(misses.size());
  for (const BeyondMiss& m : misses) alone.push_back({std::abs(m.process) / m.sd, ""});
  ConformalScale out = conformal_scale(alone);
  const auto fits = static_cast<size_t>(
      std::count_if(misses.begin(), misses.end(), [](const BeyondMiss& m) { return m.share > 0; }));
  const double process = squares(misses, &BeyondMiss::process);
  const double fit = squares(misses, &BeyondMiss::fit);
  if (!out.measured || fits < kFewestMisses || !(process + fit > 0)) return out;
  out.fit_weight = process / (process + fit);
  std::vector<Miss> blended;
  blended.reserve(misses.size());
  for (const BeyondMiss& m : misses) {
    const double weight = m.share * out.fit_weight;
    blended.push_back({std::abs((1 - weight) * m.process + weight * m.fit) / m.sd, ""});
  }
  out.blended_scale = conformal_scale(blended).scale;
  return out;
}

}  // namespace assay
