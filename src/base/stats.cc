#include "base/stats.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/numbers.h"

namespace assay {
namespace {

double gap(double low, double high) { return high - low; }
// Nanosecond times are near 2^61, so subtract as integers to stay exact.
double gap(int64_t low, int64_t high) {
  return static_cast<double>(static_cast<uint64_t>(high) - static_cast<uint64_t>(low));
}

template <typename T>
double interpolate(const std::vector<T>& sorted, double q) {
  if (sorted.empty()) return kNan;
  assert(q >= 0 && q <= 1);
  const double place = static_cast<double>(sorted.size() - 1) * q;
  const size_t below = static_cast<size_t>(place);
  if (below + 1 >= sorted.size()) return static_cast<double>(sorted.back());
  const double share = place - static_cast<double>(below);
  return static_cast<double>(sorted[below]) + share * gap(sorted[below], sorted[below + 1]);
}

constexpr size_t kExactDegrees = 40;

// The last digits of atan, exp and erfc differ between C libraries; IEEE 754 fixes only + - * / and
// sqrt. The functions below use only these, so that intervals are identical on every machine.

// atan(x) for x >= 0: halves the angle five times, then uses the series.
double arc_tangent(double x) {
  double y = x;
  for (int i = 0; i < 5; ++i) y = y / (1 + std::sqrt(1 + y * y));
  double sum = 0;
  double power = y;
  for (int k = 0; k < 14; ++k) {
    sum += (k % 2 == 1 ? -power : power) / (2 * k + 1);
    power *= y * y;
  }
  return 32 * sum;
}

// Probability that a standard normal variable exceeds z >= 0: Laplace's continued fraction for
// large z. For small z, the series 1/2 - phi(z) (z + z^3/3 + z^5/15 + ...), with terms of one sign.
double normal_share_above(double z) {
  // exp(-z^2/2): the series at 1/1024 of the argument, then squared ten times.
  const double x = z * z / 2048;
  double term = 1;
  double exponential = 1;
  for (int k = 1; k < 24; ++k) {
    term *= x / k;
    exponential += term;
  }
  for (int i = 0; i < 10; ++i) exponential *= exponential;
  const double density = 1 / (exponential * std::sqrt(2 * std::numbers::pi));
  if (z > 2) {
    double fraction = z;
    for (int k = 64; k > 0; --k) fraction = z + k / fraction;
    return density / fraction;
  }
  double sum = 0;
  double part = z;
  for (int k = 1; sum + part > sum; ++k) {
    sum += part;
    part *= z * z / (2 * k + 1);
  }
  return 0.5 - density * sum;
}

// Probability that Student's t exceeds t > 0: a finite sum for integer degrees of freedom.
double share_above(double t, size_t df) {
  const double degrees = static_cast<double>(df);
  const double length = std::sqrt(degrees + t * t);
  const double angle = arc_tangent(t / std::sqrt(degrees));
  const double cosine = std::sqrt(degrees) / length;
  const bool odd = df % 2 == 1;
  double sum = 0;
  double term = odd ? cosine : 1;
  for (size_t k = odd ? 1 : 0; k < df - 1; k += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(k + 1) / static_cast<double>(k + 2);
  }
  const double within = t / length * sum;
  return (1 - (odd ? 2 / std::numbers::pi * (angle + within) : within)) / 2;
}

// Bisects for x with share(x) == tail; share decreases.
template <typename Share>
double where_falls_to(double tail, Share share) {
  double low = 0;
  double high = 40;
  while (share(high) > tail) high *= 2;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (share(middle) > tail ? low : high) = middle;
  }
  return low;
}

// Cornish-Fisher expansion in 1/df around the normal quantile z.
double student_by_normal(double z, size_t df) {
  const double z2 = z * z;
  const double inverse = 1.0 / static_cast<double>(df);
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + inverse * (g1 + inverse * (g2 + inverse * (g3 + inverse * g4)));
}

// Cached quantiles for one tail.
class StudentTail {
 public:
  explicit StudentTail(double tail) : normal_(normal_above(tail)) {
    for (size_t df = 1; df <= kExactDegrees; ++df) exact_[df] = student_t_above(df, tail);
  }
  double above(size_t df) const {
    assert(df >= 1);
    return df <= kExactDegrees ? exact_[df] : student_by_normal(normal_, df);
  }

 private:
  double normal_;
  std::array<double, kExactDegrees + 1> exact_{};
};

}  // namespace

double quantile_sorted(const std::vector<int64_t>& sorted, double q) {
  return interpolate(sorted, q);
}

double quantile_sorted(const std::vector<double>& sorted, double q) {
  return interpolate(sorted, q);
}

size_t nearest_rank_place(size_t count, double q) {
  const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(count)));
  return std::min(std::max<size_t>(rank, 1), count) - 1;
}

int64_t nearest_rank(const std::vector<int64_t>& sorted, double q) {
  return sorted[nearest_rank_place(sorted.size(), q)];
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile_sorted(values, 0.5);
}

int64_t median_ns(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return std::llround(quantile_sorted(values, 0.5));
}

bool DurationSpread::mean_is_typical() const {
  return std::abs(mean_ns - median_ns) * 2 <= median_ns;
}

DurationSpread duration_spread(const std::vector<int64_t>& durations_ns) {
  if (durations_ns.empty()) return {};
  const int64_t sum_ns = std::reduce(durations_ns.begin(), durations_ns.end());
  return {.count = durations_ns.size(),
          .mean_ns = sum_ns / static_cast<int64_t>(durations_ns.size()),
          .median_ns = median_ns(durations_ns),
          .longest_ns = *std::max_element(durations_ns.begin(), durations_ns.end())};
}

double median_abs_deviation(const std::vector<double>& values) {
  const double center = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (double value : values) deviations.push_back(std::fabs(value - center));
  return median(std::move(deviations));
}

MeanInterval mean_interval95(const std::vector<double>& values) {
  MeanInterval result{.mean = kNan, .low = kNan, .high = kNan, .n = values.size()};
  if (values.empty()) return result;
  const double n = static_cast<double>(values.size());
  double sum = 0;
  for (double value : values) sum += value;
  result.mean = sum / n;
  if (values.size() < 2) return result;
  double squares = 0;
  for (double value : values) squares += (value - result.mean) * (value - result.mean);
  const double half = student_t95(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
  result.low = result.mean - half;
  result.high = result.mean + half;
  return result;
}

double student_t_above(size_t df, double tail) {
  assert(df >= 1);
  if (df > kExactDegrees) return student_by_normal(normal_above(tail), df);
  return where_falls_to(tail, [df](double t) { return share_above(t, df); });
}

double student_t95(size_t df) {
  static const StudentTail two_sided(0.025);
  return two_sided.above(df);
}

double student_t95_one_sided(size_t df) {
  static const StudentTail one_sided(0.05);
  return one_sided.above(df);
}

double normal_above(double tail) {
  return where_falls_to(tail, normal_share_above);
}

}  // namespace assay
