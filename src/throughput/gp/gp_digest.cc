#include "throughput/gp/gp_digest.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace assay {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr size_t kDigestPointsAtOnce = 1024;
constexpr size_t kDigestProbes = 16;
// Accepted error of a single covariance. Digests are made with a smaller error over all rows
// together.
constexpr double kProbeTolerance = 1e-9;

}  // namespace

struct DigestReader::State {
  const KernelSpec& spec;
  const std::vector<double>& parameters;
  double centre = 0;
  const GpDigest& digest;
  std::vector<KernelPoint> asked;  // the digest's columns, then the probes
  Matrix upper;                    // k(pivots, columns) is a lower triangular matrix times this
  Matrix probes;                   // right side of the product, per pivot and probe

  Matrix covariances(const std::vector<KernelPoint>& a, const std::vector<KernelPoint>& b) const {
    Matrix k(std::ssize(a), std::ssize(b));
    kernel_matrix(spec, parameters, a, b, k.data());
    return k;
  }
  void answer(const std::vector<KernelPoint>& points,
              std::vector<std::optional<GpAnswer>>& answers) const;
};

DigestReader::DigestReader(const KernelSpec& spec, const std::vector<double>& parameters,
                           const std::vector<KernelPoint>& data, double centre,
                           const GpDigest& digest, const std::vector<KernelPoint>& pivots)
    : state_(new State{spec, parameters, centre, digest, {}, {}, {}}) {
  State& s = *state_;
  for (const size_t column : digest.columns) s.asked.push_back(data[column]);
  for (size_t k = 0; k < kDigestProbes; ++k)
    s.asked.push_back(data[(2 * k + 1) * data.size() / (2 * kDigestProbes)]);
  Matrix right = s.covariances(pivots, s.asked);
  const Index rank = std::ssize(pivots);
  // Elimination without row exchanges: the pivots are in the order of the approximation.
  for (Index k = 0; k < rank; ++k) {
    const Index left = rank - k - 1;
    const Vector factors = right.col(k).tail(left) / right(k, k);
    right.bottomRows(left).noalias() -= factors * right.row(k);
  }
  s.upper = right.leftCols(rank);
  s.probes = right.rightCols(kDigestProbes);
}

DigestReader::~DigestReader() = default;

void DigestReader::State::answer(const std::vector<KernelPoint>& points,
                                 std::vector<std::optional<GpAnswer>>& answers) const {
  const auto rank = static_cast<Index>(digest.columns.size());
  Matrix k = covariances(asked, points);
  Matrix left = k.topRows(rank);
  upper.transpose().triangularView<Eigen::Lower>().solveInPlace(left);
  const Vector off =
      (k.bottomRows(kDigestProbes) - probes.transpose() * left).cwiseAbs().colwise().maxCoeff();
  const Vector mean = left.transpose() * Eigen::Map<const Vector>(digest.mean.data(), rank);
  const Matrix known = Eigen::Map<const Matrix>(digest.known.data(), rank, rank) * left;
  const double noise = parameters.back() * parameters.back() + kGpJitter;
  for (size_t i = 0; i < points.size(); ++i) {
    const auto at = static_cast<Index>(i);
    const double prior = kernel_variance(spec, parameters, points[i]);
    const double left_over = prior - known.col(at).dot(left.col(at));
    if (!(off(at) <= kProbeTolerance)) {
      answers.emplace_back();
    } else {
      answers.push_back(GpAnswer{centre + mean(at), std::sqrt(std::max(left_over, 1e-10) + noise)});
    }
  }
}

std::vector<std::optional<GpAnswer>> DigestReader::predict(
    const std::vector<KernelPoint>& points) const {
  std::vector<std::optional<GpAnswer>> answers;
  answers.reserve(points.size());
  for (size_t begin = 0; begin < points.size(); begin += kDigestPointsAtOnce) {
    const size_t end = std::min(begin + kDigestPointsAtOnce, points.size());
    state_->answer({points.begin() + static_cast<ptrdiff_t>(begin),
                    points.begin() + static_cast<ptrdiff_t>(end)},
                   answers);
  }
  return answers;
}

}  // namespace assay
