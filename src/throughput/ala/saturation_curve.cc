#include "throughput/ala/saturation_curve.h"

#include <algorithm>
#include <limits>


namespace assay {
namespace {

constexpr size_t kGridPoints = 200;
constexpr int kGoldenSteps = 100;
// Determinants below this share of the product of their diagonal are rounding errors.
constexpr double kSingular = 1e-14;

struct Level {
  double squares = std::numeric_limits<double>::infinity();
  double a = 0;
  double c = 0;
};

// The linear half of the problem: the best A and C for a given B.
class LevelFit {
 public:
  LevelFit(const std::vector<double>& batch, const std::vector<double>& target,
           CurveWeights weights)
      : batch_(batch), target_(target), weight_(batch.size(), 1), decay_(batch.size()) {
    if (weights == CurveWeights::kRelative) {
      for (size_t i = 0; i < target.size(); ++i) weight_[i] = 1 / target[i];
    }
  }

  Level at(double log_rate) {
    const double rate = std::exp(log_rate);
    for (size_t i = 0; i < batch_.size(); ++i) decay_[i] = std::exp(-rate * batch_[i]);
    sum_moments();
    best_ = {};
    // The unconstrained optimum, then the best point on each edge of the box.
    const double determinant = w_ * ee_ - e_ * e_;
    if (determinant > kSingular * std::max(w_ * ee_, std::numeric_limits<double>::min())) {
      consider((e_ * t_ - w_ * et_) / determinant, (t_ * ee_ - e_ * et_) / determinant);
    }
    for (const double a : {0.0, kMaxCurveLevel}) {
      consider(a, std::clamp((t_ + a * e_) / w_, 0.0, kMaxCurveLevel));
    }
    for (const double c : {0.0, kMaxCurveLevel}) {
      if (ee_ > 0) consider(std::clamp((c * e_ - et_) / ee_, 0.0, kMaxCurveLevel), c);
    }
    return best_;
  }

 private:
  void sum_moments() {
    w_ = e_ = ee_ = t_ = et_ = 0;
    for (size_t i = 0; i < batch_.size(); ++i) {
      const double w = weight_[i] * weight_[i];
      w_ += w;
      e_ += w * decay_[i];
      ee_ += w * decay_[i] * decay_[i];
      t_ += w * target_[i];
      et_ += w * decay_[i] * target_[i];
    }
  }

  void consider(double a, double c) {
    const auto inside = [](double level) { return level >= 0 && level <= kMaxCurveLevel; };
    if (!inside(a) || !inside(c)) return;
    double squares = 0;
    for (size_t i = 0; i < batch_.size(); ++i) {
      const double residual = weight_[i] * (c - a * decay_[i] - target_[i]);
      squares += residual * residual;
    }
    if (squares < best_.squares) best_ = {squares, a, c};
  }

  const std::vector<double>& batch_;
  const std::vector<double>& target_;
  std::vector<double> weight_;
  std::vector<double> decay_;
  double w_ = 0, e_ = 0, ee_ = 0, t_ = 0, et_ = 0;
  Level best_;
};

struct Candidate {
  double squares;
  double log_rate;
};

bool better(const Candidate& x, const Candidate& y) {
  return x.squares != y.squares ? x.squares < y.squares : x.log_rate < y.log_rate;
}

// The better end of the bracket [low, high] after kGoldenSteps steps.
Candidate golden_section(LevelFit& fit, double low, double high) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  Candidate left{0, high - ratio * (high - low)};
  Candidate right{0, low + ratio * (high - low)};
  left.squares = fit.at(left.log_rate).squares;
  right.squares = fit.at(right.log_rate).squares;
  for (int step = 0; step < kGoldenSteps; ++step) {
    if (left.squares <= right.squares) {
      high = right.log_rate;
      right = left;
      left.log_rate = high - ratio * (high - low);
      left.squares = fit.at(left.log_rate).squares;
    } else {
      low = left.log_rate;
      left = right;
      right.log_rate = low + ratio * (high - low);
      right.squares = fit.at(right.log_rate).squares;
    }
  }
  return better(left, right) ? left : right;
}

}  // namespace

SaturationCurve fit_saturation(const std::vector<double>& batch,
                               const std::vector<double>& tokens_per_s, CurveWeights weights) {
  LevelFit fit(batch, tokens_per_s, weights);
  const double low = std::log(kMinCurveRate);
  const double high = std::log(kMaxCurveRate);
  const double step = (high - low) / (kGridPoints - 1);
  const auto grid = [&](size_t i) {
    return i + 1 == kGridPoints ? high : low + step * static_cast<double>(i);
  };
  Candidate best{std::numeric_limits<double>::infinity(), low};
  size_t best_at = 0;
  for (size_t i = 0; i < kGridPoints; ++i) {
    const double squares = fit.at(grid(i)).squares;
    if (squares >= best.squares) continue;
    best = {squares, grid(i)};
    best_at = i;
  }
  const Candidate fine = golden_section(fit, grid(best_at == 0 ? 0 : best_at - 1),
                                        grid(std::min(best_at + 1, kGridPoints - 1)));
  if (better(fine, best)) best = fine;
  const Candidate ends[] = {{fit.at(low).squares, low}, {fit.at(high).squares, high}};
  for (const Candidate& end : ends) {
    if (better(end, best)) best = end;
  }
  const Level level = fit.at(best.log_rate);
  return {level.a, std::exp(best.log_rate), level.c};
}

}  // namespace assay
