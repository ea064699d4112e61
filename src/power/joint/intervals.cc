#include "power/joint/intervals.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

constexpr double kOfResponse = 4;     // lag, window, ramp, drift
constexpr double kOneInEffect = 0.9;  // correlation above which two powers are inseparable

// a' M a of a symmetric matrix.
double quadratic(const std::vector<double>& matrix, const std::vector<double>& a) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < a.size(); ++k) sum += a[i] * matrix[i * a.size() + k] * a[k];
  }
  return sum;
}

// Rows and columns `in` of a matrix of terms x terms.
std::vector<double> part_of_matrix(const std::vector<double>& matrix, size_t terms,
                                   const std::vector<size_t>& in) {
  std::vector<double> part;
  for (const size_t i : in) {
    for (const size_t k : in) part.push_back(matrix[i * terms + k]);
  }
  return part;
}

// Ratio of the variance of a sum of powers to that under even, independent noise. At least
// `repeated`, because autocorrelated noise affects smooth shares. Noise proportional to power is
// uneven. Its autocorrelations from few samples are too often negative, so the value without them
// counts as well.
double spread(const AllowedFits& allowed, const std::vector<double>& a) {
  const AllowedFit& best = allowed.fits.front();
  std::vector<size_t> in;
  for (size_t i = 0; i < a.size(); ++i) {
    if (best.powers[i] > 0 || a[i] != 0) in.push_back(i);
  }
  const std::vector<double> inverse =
      pseudo_inverse(part_of_matrix(best.normal.gram, a.size(), in), in.size());
  std::vector<double> moved(in.size(), 0);
  double even = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    for (size_t k = 0; k < in.size(); ++k) moved[i] += inverse[i * in.size() + k] * a[in[k]];
    even += a[in[i]] * moved[i];
  }
  const auto n = static_cast<double>(allowed.readings);
  const double freedom = std::max(n - kOfResponse, 1.0);  // leverage covers the powers
  const double noisy =
      std::max(quadratic(part_of_matrix(allowed.noisy_gram, a.size(), in), moved),
               quadratic(part_of_matrix(allowed.uneven_gram, a.size(), in), moved));
  const double uneven = noisy / std::max(allowed.variance * even, 1e-300) * n / freedom;
  return std::max({1.0, allowed.repeated, uneven});
}

Span95 interval_at(const AllowedFit& fit, const std::vector<double>& a, double room) {
  if (!fit.all_above_zero) {
    const SumRange range = sum_range(fit.normal, fit.powers, a, room);
    return {range.low, range.high};
  }
  double at = 0;  // a parabola
  for (size_t i = 0; i < a.size(); ++i) at += a[i] * fit.powers[i];
  const double reach = std::sqrt(std::max(0.0, room * quadratic(fit.inverse, a)));
  return {std::max(0.0, at - reach), at + reach};
}

double correlation(const AllowedFit& fit, size_t i, size_t k) {
  const size_t terms = fit.powers.size();
  const double scale = std::sqrt(fit.inverse[i * terms + i] * fit.inverse[k * terms + k]);
  return std::fabs(fit.inverse[i * terms + k]) / (scale + 1e-300);
}

// The power most correlated with k; k itself if it is the only one.
size_t most_alike(const AllowedFit& fit, size_t k) {
  size_t best = k;
  for (size_t i = 0; i < fit.powers.size(); ++i) {
    if (i == k) continue;
    if (best == k || correlation(fit, k, i) > correlation(fit, k, best)) best = i;
  }
  return best;
}

WhyWide why_wide(const JointFit& fit, size_t k, const std::vector<double>& unit) {
  const Span95& range = fit.powers_95[k];
  if (range.low > 0.5 * range.high) return WhyWide::kNone;
  if (!fit.follows) return WhyWide::kDoesNotFollow;
  const AllowedFits& allowed = *fit.allowed;
  const double room = allowed.critical * allowed.variance * spread(allowed, unit);
  const Span95 held = interval_at(allowed.fits.front(), unit, room);
  if (range.high - range.low > 2 * (held.high - held.low)) return WhyWide::kLagWindowOrRamp;
  const bool alike =
      fit.alike[k] != k && correlation(allowed.fits.front(), k, fit.alike[k]) > kOneInEffect;
  return alike ? WhyWide::kRunsAlike : WhyWide::kBelowNoise;
}

}  // namespace

const char* why_wide_name(WhyWide why) {
  switch (why) {
    case WhyWide::kDoesNotFollow:
      return "does_not_follow";
    case WhyWide::kLagWindowOrRamp:
      return "lag_window_or_ramp";
    case WhyWide::kRunsAlike:
      return "runs_alike";
    case WhyWide::kBelowNoise:
      return "below_noise";
    case WhyWide::kNone:
      break;
  }
  return "";
}

AllowedFit allowed_fit(const Response& response, double worse, bool exact, NormalEquations normal) {
  AllowedFit fit{.response = response, .worse = worse, .normal = std::move(normal), .exact = exact};
  fit.powers = non_negative(fit.normal);
  fit.inverse = pseudo_inverse(fit.normal.gram, fit.normal.terms());
  fit.all_above_zero =
      std::all_of(fit.powers.begin(), fit.powers.end(), [](double p) { return p > 0; });
  return fit;
}

std::vector<double> residuals(const std::vector<double>& x, const std::vector<double>& y,
                              const std::vector<double>& p) {
  std::vector<double> left = y;
  for (size_t i = 0; i < y.size(); ++i) {
    for (size_t k = 0; k < p.size(); ++k) left[i] -= x[i * p.size() + k] * p[k];
  }
  return left;
}

std::vector<double> undone_residuals(const std::vector<double>& x, std::vector<double> left,
                                     const AllowedFit& fit) {
  constexpr double kMostLeverage = 0.9;  // of a sample that alone determines a power
  std::vector<size_t> in;
  for (size_t k = 0; k < fit.powers.size(); ++k) {
    if (fit.powers[k] > 0) in.push_back(k);
  }
  const size_t terms = fit.powers.size();
  const std::vector<double> inverse =
      pseudo_inverse(part_of_matrix(fit.normal.gram, terms, in), in.size());
  std::vector<double> row(in.size());
  for (size_t i = 0; i < left.size(); ++i) {
    for (size_t k = 0; k < in.size(); ++k) row[k] = x[i * terms + in[k]];
    left[i] /= 1 - std::min(quadratic(inverse, row), kMostLeverage);
  }
  return left;
}

std::vector<double> noisy_gram(const std::vector<double>& x, const std::vector<double>& left,
                               size_t reach) {
  const size_t terms = x.size() / left.size();
  std::vector<double> moved = x;
  for (size_t i = 0; i < left.size(); ++i) {
    for (size_t k = 0; k < terms; ++k) moved[i * terms + k] *= left[i];
  }
  std::vector<double> sum(terms * terms, 0);
  for (size_t lag = 0; lag <= reach; ++lag) {
    const double weight =
        (1 - static_cast<double>(lag) / static_cast<double>(reach + 1)) * (lag == 0 ? 0.5 : 1);
    for (size_t i = 0; i + lag < left.size(); ++i) {
      for (size_t a = 0; a < terms; ++a) {
        for (size_t b = 0; b < terms; ++b) {
          const double cross = weight * moved[i * terms + a] * moved[(i + lag) * terms + b];
          sum[a * terms + b] += cross;
          sum[b * terms + a] += cross;
        }
      }
    }
  }
  return sum;
}

void add_intervals(JointFit& fit) {
  const size_t terms = fit.powers_w.size();
  fit.powers_95.clear();
  fit.alike.clear();
  fit.why.clear();
  for (size_t k = 0; k < terms; ++k) {
    std::vector<double> unit(terms, 0);
    unit[k] = 1;
    fit.powers_95.push_back(fit.interval(unit));
    fit.alike.push_back(most_alike(fit.allowed->fits.front(), k));
    fit.why.push_back(k == 0 ? WhyWide::kNone : why_wide(fit, k, unit));
  }
}

Span95 JointFit::interval(const std::vector<double>& a) const {
  const double room = allowed->critical * allowed->variance * spread(*allowed, a);
  Span95 all{INFINITY, -INFINITY};
  for (const AllowedFit& fit : allowed->fits) {
    const double left = room * (1 - fit.worse / allowed->critical);
    if (left < 0 || !(fit.exact || fit.all_above_zero)) continue;
    const Span95 one = interval_at(fit, a, left);
    all.low = std::min(all.low, one.low);
    all.high = std::max(all.high, one.high);
  }
  // Samples that do not follow the trace give only an upper bound for kernels.
  const bool kernels = std::any_of(a.begin() + 1, a.end(), [](double s) { return s > 0; });
  if (!follows && kernels) {
    all.low = a[0] > 0 ? std::min(all.low, a[0] * powers_95.front().low) : 0;
  }
  return all;
}

Span95 JointFit::outer_interval(const std::vector<double>& a) const {
  Span95 sum;
  for (size_t i = 0; i < a.size(); ++i) {
    sum.low += a[i] * powers_95[i].low;
    sum.high += a[i] * powers_95[i].high;
  }
  return sum;
}

bool JointFit::is_quick() const {
  return std::all_of(allowed->fits.begin(), allowed->fits.end(),
                     [](const AllowedFit& fit) { return !fit.exact || fit.all_above_zero; });
}

}  // namespace assay
