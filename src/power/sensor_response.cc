// Problem: long pulses show only a sensor's window/2 + ramp, and a boxcar after a ramp looks like
// an exponential mean. A window that is too long makes every curve inside a kernel wrong.
//
// Method: least squares over window, ramp and delay for both kinds of mean, from several points of
// the ridge that window and ramp share. Profile intervals are widened by the ratio of the
// residuals' variance along a parameter to even variance (sandwich). If samples scatter more than
// under steady load, no such model is valid, and all fits within a quarter of the scatter are
// reported.
//
// Effect: docs/measured/calibration.md.

#include "power/sensor_response.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "power/joint/intervals.h"
#include "power/joint/normal_equations.h"

namespace assay {
namespace {

constexpr size_t kTimes = 3;      // window or first time constant, ramp, delay
constexpr double kSingle = 0.25;  // window over ramp
// Maximum number of samples fitted; of more, every n-th. The time of a fit is proportional to it.
constexpr size_t kMostReadings = 6000;
using Times = std::array<double, kTimes>;

struct Fitted {
  Times at = {};
  double squares = std::numeric_limits<double>::infinity();
};

struct Left {
  double squares = 0;
  std::vector<double> residuals;
};

// The samples, and the share of the load in each of them under a response. Times are in ns;
// scale_ns is their typical size.
class PulseModel {
 public:
  PulseModel(const std::vector<PulseTrain>& trains, double scale_ns) : scale_ns_(scale_ns) {
    for (const PulseTrain& train : trains) {
      busy_.insert(busy_.end(), train.busy.begin(), train.busy.end());
    }
    origin_ns_ = busy_.front().first;
    size_t updates = 0;
    for (const PulseTrain& train : trains) updates += train.updates.size();
    const size_t every = (updates + kMostReadings - 1) / kMostReadings;
    for (const PulseTrain& train : trains) {
      for (size_t i = 0; i < train.updates.size(); i += every) {
        const SensorUpdate& update = train.updates[i];
        t_.push_back(static_cast<double>(update.t_ns - origin_ns_));
        watts_.push_back(update.power_w);
      }
      ends_.push_back(t_.size());
    }
  }
  size_t size() const { return t_.size(); }
  double scale_ns() const { return scale_ns_; }
  // Squared rounding error of a sample.
  double rounding_squares() const {
    double most_w = 0;
    for (const double watts : watts_) most_w = std::max(most_w, std::fabs(watts));
    return 1e-18 * most_w * most_w;
  }
  size_t trains() const { return ends_.size(); }
  // Residuals of the samples under the least-squares fit of idle + swing * share in each train.
  Left left_by(const std::vector<double>& shares) const {
    Left left;
    left.residuals.reserve(size());
    size_t from = 0;
    for (const size_t end : ends_) {
      add_left(shares, from, end, left);
      from = end;
    }
    return left;
  }

  // State of the load at the time of sample i, and the time in ns since it switched.
  std::pair<bool, double> since_switch(size_t i, double delay_ns) const {
    const double t = t_[i] - delay_ns;
    const auto after =
        std::upper_bound(busy_.begin(), busy_.end(), t, [this](double time, const auto& span) {
          return time < static_cast<double>(span.first - origin_ns_);
        });
    if (after == busy_.begin()) return {false, 1e3 * scale_ns_};
    const double start = t - static_cast<double>(std::prev(after)->first - origin_ns_);
    const double end = t - static_cast<double>(std::prev(after)->second - origin_ns_);
    return end > 0 ? std::pair{false, end} : std::pair{true, start};
  }

  std::vector<double> shares(bool boxcar, const Times& times) const {
    return boxcar ? boxcar_shares(times) : exponential_shares(times);
  }

 private:
  std::vector<double> boxcar_shares(const Times& times) const {
    const auto [window, ramp, delay] = times;
    const LoadIntegral load(busy_, origin_ns_, ramp);
    const bool instant = window < 1e-4 * scale_ns_;
    std::vector<double> shares;
    for (const double t : t_) {
      const double end = t - delay;
      shares.push_back(instant ? load.reached(end)
                               : (load.until(end) - load.until(end - window)) / window);
    }
    return shares;
  }
  // Two ramps in series are a weighted difference of two single ones.
  std::vector<double> exponential_shares(const Times& times) const {
    const double least = 1e-4 * scale_ns_;
    const double slow = std::max(times[0], least);
    double fast = std::max(times[1], least);
    if (std::fabs(slow - fast) < 1e-3 * slow) fast = slow * (1 - 1e-3);
    const LoadIntegral behind_slow(busy_, origin_ns_, slow);
    const LoadIntegral behind_fast(busy_, origin_ns_, fast);
    std::vector<double> shares;
    for (const double t : t_) {
      const double end = t - times[2];
      shares.push_back((slow * behind_slow.reached(end) - fast * behind_fast.reached(end)) /
                       (slow - fast));
    }
    return shares;
  }

  void add_left(const std::vector<double>& shares, size_t from, size_t end, Left& left) const {
    const auto n = static_cast<double>(end - from);
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = from; i < end; ++i) {
      sx += shares[i];
      sy += watts_[i];
      sxx += shares[i] * shares[i];
      sxy += shares[i] * watts_[i];
    }
    const double vxx = sxx - sx * sx / n;
    const double swing_w = vxx > 1e-12 * n ? (sxy - sx * sy / n) / vxx : 0;
    const double idle_w = (sy - swing_w * sx) / n;
    for (size_t i = from; i < end; ++i) {
      const double r = watts_[i] - idle_w - swing_w * shares[i];
      left.residuals.push_back(r);
      left.squares += r * r;
    }
  }

  BusyTimes busy_;
  int64_t origin_ns_ = 0;
  double scale_ns_;
  std::vector<double> t_;
  std::vector<double> watts_;
  std::vector<size_t> ends_;  // of trains, as indices of samples
};

class ResponseSearch {
 public:
  ResponseSearch(const PulseModel& model, bool boxcar) : model_(model), boxcar_(boxcar) {
    const double scale = model.scale_ns();
    low_ = {0, 0, -0.1 * scale};
    high_ = {4 * scale, 4 * scale, 4 * scale};
  }

  Left left_at(const Times& at) const { return model_.left_by(model_.shares(boxcar_, at)); }

  // The best result of several starts along the ridge that window and ramp share.
  Fitted best(double window_ns, double delay_ns) const {
    Fitted best;
    const double middle = delay_ns + window_ns / 2;
    for (const double part : {1.0, 0.6, 0.25}) {
      const double window = boxcar_ ? part * window_ns : (0.3 + 0.3 * part) * window_ns;
      const double ramp = boxcar_ ? (1 - part) * window_ns / 2 : 0.2 * window_ns * (1 - part);
      const double centre = boxcar_ ? window / 2 + ramp : window + ramp;
      const Fitted found =
          refine({window, ramp, std::max(low_[2], middle - centre)}, {true, true, true});
      if (found.squares < best.squares) best = found;
    }
    return best;
  }

  // Levenberg-Marquardt within the bounds. Times that are not free stay fixed.
  Fitted refine(Times at, const std::array<bool, kTimes>& free) const {
    Left now = left_at(at);
    double damping = 1e-3;
    for (int round = 0; round < 40 && damping < 1e8; ++round) {
      const auto columns = slopes(at, now);
      bool moved = false;
      double gained = 0;
      for (; !moved && damping < 1e8; damping *= 6) {
        const Times to = step(at, columns, now, free, damping);
        Left tried = left_at(to);
        if (!(tried.squares < now.squares)) continue;
        gained = (now.squares - tried.squares) / now.squares;
        at = to;
        now = std::move(tried);
        moved = true;
        damping /= 60;
      }
      if (!moved || gained < 1e-7) break;
    }
    return {at, now.squares};
  }

  // Derivative of the residuals by each time: kTimes columns of n.
  std::array<std::vector<double>, kTimes> slopes(const Times& at, const Left& now) const {
    std::array<std::vector<double>, kTimes> columns;
    for (size_t k = 0; k < kTimes; ++k) {
      Times beside = at;
      const double by = 1e-3 * model_.scale_ns();
      beside[k] += by;
      columns[k] = left_at(beside).residuals;
      for (size_t i = 0; i < columns[k].size(); ++i) {
        columns[k][i] = (columns[k][i] - now.residuals[i]) / by;
      }
    }
    return columns;
  }

  // Range of time k in which the squares, with all other times fitted again, stay below
  // most_squares.
  std::pair<double, double> range(const Fitted& best, size_t k, double most_squares,
                                  double likely_ns) const {
    return {end_of(best, k, -1, most_squares, likely_ns),
            end_of(best, k, 1, most_squares, likely_ns)};
  }

  double low(size_t k) const { return low_[k]; }

 private:
  Times step(const Times& at, const std::array<std::vector<double>, kTimes>& columns,
             const Left& now, const std::array<bool, kTimes>& free, double damping) const {
    NormalEquations normal(kTimes);
    const auto gram = [&normal](size_t k, size_t j) -> double& {
      return normal.gram[k * kTimes + j];
    };
    for (size_t k = 0; k < kTimes; ++k) {
      for (size_t i = 0; i < now.residuals.size(); ++i) {
        normal.right[k] -= columns[k][i] * now.residuals[i];
        for (size_t j = 0; j < kTimes; ++j) gram(k, j) += columns[k][i] * columns[j][i];
      }
    }
    for (size_t k = 0; k < kTimes; ++k) {
      const double slope = normal.right[k];
      const bool stuck =
          !free[k] || (at[k] <= low_[k] && slope < 0) || (at[k] >= high_[k] && slope > 0);
      if (stuck) {
        normal.right[k] = 0;
        for (size_t j = 0; j < kTimes; ++j) gram(k, j) = gram(j, k) = 0;
        gram(k, k) = 1;
      } else {
        gram(k, k) = gram(k, k) * (1 + damping) + 1e-300;
      }
    }
    const std::vector<double> by = solution(normal);
    Times to = at;
    for (size_t k = 0; k < kTimes; ++k) to[k] = std::clamp(at[k] + by[k], low_[k], high_[k]);
    return to;
  }

  double end_of(const Fitted& best, size_t k, double side, double most_squares,
                double likely_ns) const {
    std::array<bool, kTimes> free = {true, true, true};
    free[k] = false;
    Times from = best.at;
    const auto held = [&](double value) {
      Times at = from;
      at[k] = value;
      const Fitted found = refine(at, free);
      if (found.squares <= most_squares) from = found.at;
      return found.squares;
    };
    constexpr int kMostRounds = 64;  // the step grows from 1/1000 of the scale to all bounds in 20
    double inside = best.at[k];
    double outside = inside;
    double reach = 1e-3 * model_.scale_ns();
    if (std::isfinite(likely_ns)) reach = std::max(reach, likely_ns);
    for (int round = 0; round < kMostRounds; ++round, reach *= 1.6) {
      outside = std::clamp(best.at[k] + side * reach, low_[k], high_[k]);
      if (held(outside) > most_squares) break;
      inside = outside;
      if (outside == low_[k] || outside == high_[k]) return outside;
    }
    for (int i = 0; i < 7; ++i) {
      const double middle = (inside + outside) / 2;
      (held(middle) > most_squares ? outside : inside) = middle;
    }
    return (inside + outside) / 2;
  }

  const PulseModel& model_;
  bool boxcar_;
  Times low_;
  Times high_;
};

// Variance of each time (at least that from the curvature), and the ratio of the variance from the
// actual residuals to that from even ones.
struct Spread {
  double variance = 0;
  double uneven = 1;
};

std::array<Spread, kTimes> spreads(const ResponseSearch& search, const Fitted& best,
                                   double freedom) {
  const Left left = search.left_at(best.at);
  const auto columns = search.slopes(best.at, left);
  const size_t n = left.residuals.size();
  std::vector<double> rows;
  for (size_t i = 0; i < n; ++i) {
    for (const auto& column : columns) rows.push_back(column[i]);
  }
  std::vector<double> gram(kTimes * kTimes, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t a = 0; a < kTimes; ++a) {
      for (size_t b = 0; b < kTimes; ++b) {
        gram[a * kTimes + b] += rows[i * kTimes + a] * rows[i * kTimes + b];
      }
    }
  }
  const std::vector<double> inverse = pseudo_inverse(gram, kTimes);
  const double variance = left.squares / freedom;
  const std::vector<double> noisy = noisy_gram(rows, left.residuals, 4);
  std::array<Spread, kTimes> spreads;
  for (size_t k = 0; k < kTimes; ++k) {
    double as_they_are = 0;
    for (size_t a = 0; a < kTimes; ++a) {
      for (size_t b = 0; b < kTimes; ++b) {
        as_they_are += inverse[k * kTimes + a] * noisy[a * kTimes + b] * inverse[b * kTimes + k];
      }
    }
    as_they_are *= static_cast<double>(n) / freedom;
    const double even = variance * inverse[k * kTimes + k];
    spreads[k].variance = std::max(even, as_they_are);
    spreads[k].uneven = even > 0 ? std::clamp(as_they_are / even, 0.3, 20.0) : 1;
  }
  return spreads;
}

// Sum of squares of the residuals' common part at equal times after a switch of the load, which no
// response of this kind explains. 0 if chance explains as much. Samples long after the last switch
// are separate from those shortly after it.
double systematic_squares(const PulseModel& model, const Left& left, const Fitted& best) {
  constexpr size_t kPlaces = 8;
  constexpr double kSurely = 39.3;  // 99.9 % of chi-square with 16 degrees of freedom
  struct Place {
    double sum = 0;
    double squares = 0;
    double count = 0;
  };
  std::array<Place, 2 * kPlaces> places = {};
  const double memory = std::max(best.at[0] + best.at[1], 1e-4 * model.scale_ns());
  const double rounding = model.rounding_squares();
  for (size_t i = 0; i < left.residuals.size(); ++i) {
    const auto [on, since_ns] = model.since_switch(i, best.at[2]);
    const double at = std::clamp(4 + 1.5 * std::log2(since_ns / memory + 1e-9), 0.0, kPlaces - 1.0);
    Place& place = places[(on ? kPlaces : 0) + static_cast<size_t>(at)];
    place.sum += left.residuals[i];
    place.squares += left.residuals[i] * left.residuals[i];
    place.count += 1;
  }
  double chi = 0;
  double squares = 0;
  for (const Place& place : places) {
    if (place.count < 6) continue;
    const double common = place.sum * place.sum / place.count;
    const double variance = (place.squares - common) / (place.count - 1);
    chi += common / std::max(variance, rounding);
    squares += common;
  }
  return chi > kSurely ? squares : 0;
}

ResponseTime told(double value, const std::pair<double, double>& range) {
  const auto whole = [](double ns) { return std::llround(std::max(0.0, ns)); };
  return {whole(value), whole(std::min(value, range.first)), whole(std::max(value, range.second))};
}

}  // namespace

LoadIntegral::LoadIntegral(const BusyTimes& busy, int64_t origin_ns, double ramp_ns)
    : ramp_ns_(ramp_ns) {
  spans_.reserve(busy.size());
  for (const auto& [start_ns, end_ns] : busy) {
    Span span{static_cast<double>(start_ns - origin_ns), static_cast<double>(end_ns - origin_ns)};
    if (!spans_.empty()) {
      const Span& last = spans_.back();
      span.before = last.before + last.end - last.start;
      span.reached = reached_in(last, span.start);
    }
    spans_.push_back(span);
  }
}

const LoadIntegral::Span* LoadIntegral::span_at(double t) const {
  const auto after =
      std::upper_bound(spans_.begin(), spans_.end(), t,
                       [](double time, const Span& span) { return time < span.start; });
  return after == spans_.begin() ? nullptr : &*std::prev(after);
}

double LoadIntegral::reached_in(const Span& span, double t) const {
  const double end = std::min(t, span.end);
  if (ramp_ns_ <= 0) return t <= span.end ? 1 : 0;
  const double risen = 1 - (1 - span.reached) * std::exp((span.start - end) / ramp_ns_);
  return t <= span.end ? risen : risen * std::exp((span.end - t) / ramp_ns_);
}

double LoadIntegral::reached(double t) const {
  const Span* span = span_at(t);
  return span == nullptr ? 0 : reached_in(*span, t);
}

double LoadIntegral::until(double t) const {
  const Span* span = span_at(t);
  if (span == nullptr) return 0;
  const double load = span->before + std::min(t, span->end) - span->start;
  return ramp_ns_ > 0 ? load - ramp_ns_ * reached_in(*span, t) : load;
}

std::vector<SensorUpdate> on_their_grid(std::vector<SensorUpdate> updates, int64_t period_ns,
                                        int64_t poll_ns) {
  if (updates.size() < 3 || period_ns <= 0) return updates;
  const auto period = static_cast<double>(period_ns);
  const int64_t first = updates.front().t_ns;
  double number = 0;
  std::vector<double> numbers;
  double sk = 0, st = 0, skk = 0, skt = 0;
  for (size_t i = 0; i < updates.size(); ++i) {
    if (i > 0)
      number += std::round(static_cast<double>(updates[i].t_ns - updates[i - 1].t_ns) / period);
    const auto t = static_cast<double>(updates[i].t_ns - first);
    numbers.push_back(number);
    sk += number;
    st += t;
    skk += number * number;
    skt += number * t;
  }
  const auto n = static_cast<double>(updates.size());
  const double slope = (skt - sk * st / n) / (skk - sk * sk / n);
  const double start = (st - slope * sk) / n;
  std::vector<SensorUpdate> moved = updates;
  double squares = 0;
  for (size_t i = 0; i < updates.size(); ++i) {
    const double at = start + slope * numbers[i];
    const double off = static_cast<double>(updates[i].t_ns - first) - at;
    squares += off * off;
    moved[i].t_ns = first + std::llround(at);
  }
  return std::sqrt(squares / n) <= 0.5 * static_cast<double>(poll_ns) ? moved : updates;
}

SensorResponse fit_response(const std::vector<PulseTrain>& trains, int64_t alone_ns,
                            int64_t delay_ns) {
  constexpr double kChiSquare = 3.841;  // 95 % of one degree of freedom
  constexpr double kOtherKind = 12;     // in squares of scatter
  const auto alone = static_cast<double>(alone_ns);
  const PulseModel model(trains, alone + static_cast<double>(delay_ns));
  const ResponseSearch boxcar(model, true);
  const ResponseSearch exponential(model, false);
  const Fitted window = boxcar.best(alone, static_cast<double>(delay_ns));
  const Fitted lags = exponential.best(alone, static_cast<double>(delay_ns));
  const auto n = static_cast<double>(model.size());
  const double freedom = n - static_cast<double>(kTimes + 2 * model.trains());
  const double least = std::min(window.squares, lags.squares);
  const double variance = least / freedom;
  // A window far shorter than its ramp is a single exponential for both kinds.
  const bool single = window.at[0] < kSingle * window.at[1] &&
                      lags.squares < window.squares + kOtherKind * variance;
  const bool nearer_boxcar = !single && window.squares <= lags.squares;
  const auto systematic_of = [&model](const ResponseSearch& search, const Fitted& fitted) {
    return systematic_squares(model, search.left_at(fitted.at), fitted);
  };
  const double unexplained =
      nearer_boxcar ? systematic_of(boxcar, window) : systematic_of(exponential, lags);
  const double apart = std::fabs(window.squares - lags.squares);
  const bool told_kind = single || apart > kOtherKind * variance + unexplained;
  // If the kind is unknown, the times are those of a boxcar.
  const bool is_boxcar = nearer_boxcar || !told_kind;
  const Fitted& best = is_boxcar ? window : lags;
  const ResponseSearch& search = is_boxcar ? boxcar : exponential;
  const double systematic = is_boxcar == nearer_boxcar ? unexplained : systematic_of(search, best);

  SensorResponse found;
  found.residual_w = std::sqrt(best.squares / n);
  found.misfit = systematic > 0;
  if (told_kind) found.kind = is_boxcar ? ResponseKind::kBoxcar : ResponseKind::kExponential;
  const auto spread = spreads(search, best, freedom);
  std::array<ResponseTime*, kTimes> times = {&found.window, &found.ramp, &found.delay};
  for (size_t k = 0; k < kTimes; ++k) {
    const double room = kChiSquare * (1 + 2.5 / n) * variance * spread[k].uneven;
    const double likely = std::sqrt(kChiSquare * spread[k].variance);
    *times[k] = told(best.at[k], search.range(best, k, best.squares + room + systematic, likely));
  }
  if (!is_boxcar && found.ramp.ns > found.window.ns) std::swap(found.window, found.ramp);
  return found;
}

}  // namespace assay
