// Problem: a power log has an unknown delay and drift. Its samples are means over an unknown window
// after an unknown ramp, and their noise is not white. Each of these moves energy from one kernel
// to the next.
//
// Method: for given values of these five, the powers of the kernels are a linear fit. The values
// are searched on a grid and refined from every mode. A random walk finds the range that the
// likelihood allows. The intervals cover that range, with autocorrelated residuals.
//
// Effect: every energy within 5 % of a physical meter, 11 of 12 intervals contain it
// (docs/measured/meter.md).

#include "power/joint/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "base/random.h"
#include "power/joint/intervals.h"
#include "power/joint/normal_equations.h"
#include "power/joint/valley.h"

namespace assay {
namespace {

constexpr double kChiSquare1 = 3.841;   // 95 % of one degree of freedom
constexpr double kWorthOneMore = 6.63;  // 99 %: improvement that an additional parameter needs
constexpr double kGridStepS = 5e-4;     // step of the activity grid
constexpr double kRampsBack = 8;        // time constants after which a ramp has forgotten
constexpr double kLeastNoiseW = 0.3;    // lower bound of any sensor
constexpr double kSearchNoise = 0.01;   // share of the samples' deviation, before noise is known
constexpr size_t kMostAtOnce = 2000;    // updates that the search uses, and of one piece
constexpr double kMostAtOnceS = 400;    // likewise in time: grids of slow sensors are long
constexpr size_t kFewestAtOnce = 200;
constexpr size_t kSearchPieces = 20;
constexpr int kWalkSteps = 500;
constexpr size_t kMostAllowed = 120;
constexpr size_t kMostModes = 6;
constexpr int kLagSteps = 60;
// First and last step of the lag in a search; the steps of other parameters scale with it.
constexpr double kFirstStepS = 8e-3;
constexpr double kFinestS = 1e-4;
// A pattern search down to this step finds the valley, Newton's method its bottom.
constexpr double kPatternS = 1e-3;
constexpr double kLeastKept = 1e-4;
// In units of the noise. Allowed points that are not better than the best sort after it, so that
// the best one is reported.
constexpr double kNoBetter = 1e-9;
constexpr double kHardlyAny = 0.002;   // part kept that counts as none, as profiles end above 0
constexpr double kAsGoodAsNone = 0.1;  // a smaller part kept delays by less than 1/9 update
constexpr double kKeptStep = 0.004;    // step of a walk

// Consecutive updates, with the activity around them.
struct Piece {
  std::vector<TimedPower> updates;
  std::unique_ptr<Activity> activity;
};

std::vector<BusySpan> clipped(const std::vector<BusySpan>& spans, double begin_s, double end_s) {
  std::vector<BusySpan> inside;
  for (const BusySpan& span : spans) {
    if (span.end_s <= begin_s || span.start_s >= end_s) continue;
    inside.push_back({std::max(span.start_s, begin_s), std::min(span.end_s, end_s)});
  }
  return inside;
}

// `unseen_s`: time before the first update from which earlier updates still contribute.
Piece piece_of(const JointProblem& problem, size_t from, size_t to, double slack_s,
               double unseen_s) {
  Piece piece;
  piece.updates.assign(problem.updates.begin() + static_cast<std::ptrdiff_t>(from),
                       problem.updates.begin() + static_cast<std::ptrdiff_t>(to));
  const ResponsePrior& prior = problem.prior;
  const double back_s = prior.window_s.high + kRampsBack * prior.ramp_s.high + slack_s + unseen_s;
  const double begin_s = piece.updates.front().t_s - prior.lag_s.high - back_s;
  const double end_s = piece.updates.back().t_s - prior.lag_s.low + slack_s;
  std::vector<std::vector<BusySpan>> spans;
  for (const auto& one : problem.classes) spans.push_back(clipped(one, begin_s, end_s));
  const double step_s = std::min(kGridStepS, prior.window_s.high / 10);
  piece.activity = std::make_unique<Activity>(spans, begin_s, end_s, step_s);
  return piece;
}

bool within(const Span95& range, double value) {
  const double rounding = 1e-9 * (std::fabs(range.low) + std::fabs(range.high));
  return value >= range.low - rounding && value <= range.high + rounding;
}

double ramp_s(const Response& response) { return ramp_list_s()[response.ramp]; }
double second_s(const Response& response) { return ramp_list_s()[response.second]; }

// Step of the part kept for a step `lag_s` of the lag. It shrinks faster, because the part kept is
// resolved more finely.
double kept_step(double lag_s) { return 0.1 * std::pow(lag_s / kFirstStepS, 1.5); }

// Mean delay in seconds from keeping a part of the previous update.
double kept_delay_s(double kept, double period_s) { return period_s * kept / (1 - kept); }

// Number of updates after which less than a thousandth of one is left.
double updates_to_forget(double kept) { return std::ceil(std::log(1e-3) / std::log(kept)); }

// Upper 1 % point of chi-square (Wilson and Hilferty).
double chi_square_99(double freedom) {
  const double part = 2 / (9 * freedom);
  return freedom * std::pow(1 - part + 2.326 * std::sqrt(part), 3);
}

struct Scored {
  double squares = INFINITY;
  Response response;
};
bool better(const Scored& a, const Scored& b) { return a.squares < b.squares; }

struct Noise {
  double variance = 0;  // of a sample
  double repeated = 1;
  double uneven = 1;  // of the parameters of the response
  double critical = 0;
  // scale(): unit of the improvement that an additional parameter needs. reach(): unit of the range
  // of allowed responses.
  double scale() const { return variance * repeated; }
  double reach() const { return variance * std::max(repeated, uneven); }
};

double autocorrelation(const std::vector<double>& left, size_t lag) {
  double product = 0;
  double squares = 1e-300;
  for (size_t i = 0; i < left.size(); ++i) {
    squares += left[i] * left[i];
    if (i + lag < left.size()) product += left[i] * left[i + lag];
  }
  return product / squares;
}

// Lower triangle of a positive definite matrix (Cholesky).
using Step = std::array<double, 4>;  // lag (s), log window, ramp (s), drift
using Shape = std::array<Step, 4>;
Shape lower_triangle(const Shape& covariance) {
  Shape lower = {};
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double left = covariance[i][j];
      for (size_t k = 0; k < j; ++k) left -= lower[i][k] * lower[j][k];
      lower[i][j] = i == j ? std::sqrt(std::max(left, 0.0)) : left / std::max(lower[j][j], 1e-300);
    }
  }
  return lower;
}

Shape diagonal(const Step& values) {
  Shape shape = {};
  for (size_t i = 0; i < 4; ++i) shape[i][i] = values[i];
  return shape;
}

// Covariance of the positions of a walk without its first third; variances are at least `least`
// squared.
Shape covariance_of(const std::vector<Step>& been, const Step& least) {
  const size_t from = been.size() / 3;
  const auto n = static_cast<double>(been.size() - from);
  Step mean = {};
  for (size_t j = from; j < been.size(); ++j) {
    for (size_t i = 0; i < 4; ++i) mean[i] += been[j][i] / n;
  }
  Shape covariance = {};
  for (size_t i = 0; i < 4; ++i) {
    covariance[i][i] = least[i] * least[i];
    for (size_t k = 0; k < 4; ++k) {
      for (size_t j = from; j < been.size(); ++j) {
        covariance[i][k] += (been[j][i] - mean[i]) * (been[j][k] - mean[k]) / (n - 1);
      }
    }
  }
  return covariance;
}

double squares_around_mean(const std::vector<double>& y) {
  const double mean = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
  double total = 0;
  for (const double watts : y) total += (watts - mean) * (watts - mean);
  return total;
}

double variance_of(const std::vector<TimedPower>& updates) {
  std::vector<double> watts;
  for (const TimedPower& update : updates) watts.push_back(update.power_w);
  return squares_around_mean(watts) / static_cast<double>(watts.size());
}

// Adds the ridge to every power except the base.
void hold_powers(double ridge, NormalEquations& normal) {
  for (size_t i = 1; i < normal.terms(); ++i) normal.gram[i * normal.terms() + i] += ridge;
}

// Residuals of the samples y under the fit's powers over the rows x. Stores the modelled samples,
// squares and explained share in `fit`.
std::vector<double> take_residuals(const std::vector<double>& x, const std::vector<double>& y,
                                   JointFit& fit) {
  std::vector<double> left = residuals(x, y, fit.powers_w);
  fit.modelled_w.clear();
  for (size_t i = 0; i < y.size(); ++i) fit.modelled_w.push_back(y[i] - left[i]);
  fit.squares = std::inner_product(left.begin(), left.end(), left.begin(), 0.0);
  const double total = squares_around_mean(y);
  fit.explained = total > 0 ? 1 - fit.squares / total : 0;
  return left;
}

// The best starts with different parts kept, at most `most`. Starts with nearly the same part count
// as one.
std::vector<Scored> best_apart(std::vector<Scored> starts, size_t most) {
  constexpr double kApart = 0.03;
  std::vector<Scored> apart;
  std::sort(starts.begin(), starts.end(), better);
  for (const Scored& one : starts) {
    const bool known = std::any_of(apart.begin(), apart.end(), [&](const Scored& other) {
      return std::fabs(one.response.kept - other.response.kept) < kApart;
    });
    if (!known && apart.size() < most) apart.push_back(one);
  }
  return apart;
}

// The smooth parameters: lag, logarithm of the window, drift, part kept.
constexpr size_t kSmooth = 4;
using Smooth = std::array<double, kSmooth>;

Response moved(const Response& r, const Smooth& by) {
  constexpr double kMostLog = 1;
  Response other = r;
  other.lag_s += by[0];
  other.window_s *= std::exp(std::clamp(by[1], -kMostLog, kMostLog));
  other.drift += by[2];
  if (r.kept > 0) other.kept = std::max(kLeastKept, r.kept + by[3]);
  return other;
}

}  // namespace

// Scans a grid, refines every local optimum, and explores the responses that the samples allow by a
// random walk.
class JointSearch {
 public:
  explicit JointSearch(JointProblem problem)
      : problem_(std::move(problem)),
        terms_(problem_.classes.size() + 1),
        random_(problem_.seed),
        row_(terms_) {
    const std::vector<TimedPower>& updates = problem_.updates;
    for (const TimedPower& u : updates) {
      middle_s_ += u.t_s / static_cast<double>(updates.size());
    }
    span_s_ = std::max(updates.back().t_s - updates.front().t_s, 1e-3);
    slack_s_ = 0.01 + problem_.prior.drift * span_s_;
    std::vector<double> gaps;
    for (size_t i = 1; i < updates.size(); ++i) gaps.push_back(updates[i].t_s - updates[i - 1].t_s);
    std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2),
                     gaps.end());
    period_s_ = std::max(gaps[gaps.size() / 2], 1e-6);
    search_ridge_ = ridge(kSearchNoise * kSearchNoise * variance_of(updates));
    if (problem_.prior.most_kept > 0) {
      unseen_s_ = period_s_ * updates_to_forget(problem_.prior.most_kept);
    }
    most_at_once_ =
        static_cast<size_t>(std::clamp(kMostAtOnceS / period_s_, static_cast<double>(kFewestAtOnce),
                                       static_cast<double>(kMostAtOnce)));
    if (updates.size() <= most_at_once_) {
      pieces_.push_back(piece_of(problem_, 0, updates.size(), slack_s_, unseen_s_));
      return;
    }
    const size_t length = most_at_once_ / kSearchPieces;
    for (size_t i = 0; i < kSearchPieces; ++i) {
      const size_t from = i * (updates.size() - length) / (kSearchPieces - 1);
      pieces_.push_back(piece_of(problem_, from, from + length, slack_s_, unseen_s_));
    }
  }

  JointFit run();
  std::vector<JointFit::Mode> lag_profile_of(const JointFit& fit);

 private:
  bool allowed_by_prior(const Response& r) const {
    const ResponsePrior& prior = problem_.prior;
    return within(prior.lag_s, r.lag_s) && within(prior.window_s, r.window_s) &&
           within(prior.ramp_s, ramp_s(r)) && std::fabs(r.drift) <= prior.drift &&
           (!held_kept_ || r.kept == *held_kept_) && (!held_second_ || r.second == *held_second_) &&
           (r.second == 0 || (prior.two_ramps && r.second < r.ramp)) && r.kept >= 0 &&
           r.kept <= prior.most_kept;
  }
  // Row i of the model: 1, then the mean activity of every class in the window of the update.
  void fill_row(const Activity::Ramped& activity, const Response& r, double t_s) {
    const double end_s = t_s - r.lag_s - r.drift * (t_s - middle_s_);
    row_[0] = 1;
    activity.means(end_s, r.window_s, row_.data() + 1);
  }
  // The same if each update keeps a part of the previous one. `before`: row of the last update, at
  // `last_s`; empty at the first one, and updated here. Unrecorded updates in between are
  // simulated.
  void fill_smoothed_row(const Activity::Ramped& activity, const Response& r, double t_s,
                         double last_s, std::vector<double>& before);
  // Calls use(update) for each update, with row_ filled.
  template <typename Use>
  void each_row(Piece& piece, const Response& r, Use use);
  void add_rows(Piece& piece, const Response& r, NormalEquations& normal);
  NormalEquations normal_of(std::vector<Piece>& pieces, const Response& r);
  // Ridge that bounds powers to most_w, for samples with this variance of the error.
  double ridge(double variance) const { return variance / (problem_.most_w * problem_.most_w); }
  double squares_of(const Response& r);
  void add_rows_to(std::vector<Piece>& pieces, const Response& r, std::vector<double>& x,
                   std::vector<double>& y);

  std::vector<Scored> scan();
  Scored refine(Scored start, double finest_s = kFinestS, double first_s = kFirstStepS);
  void keep_another_part(double more, Response& r) const;
  void add_kept_moves(const Response& r, double more, std::vector<Response>& tries) const;
  std::vector<Response> neighbours(const Response& r, const Step& step, size_t places) const;
  std::vector<Scored> find_modes();
  void add_other_shares(const std::vector<Scored>& found, std::vector<Scored>& modes);
  std::vector<Scored> windows_of_one_end(const Scored& best);
  void restart_with_same_spread(std::vector<Scored>& modes);
  void restart_with_two_ramps(std::vector<Scored>& modes);
  void restart_with_kept(std::vector<Scored>& modes);
  bool steps_twice(const Response& r);
  Scored start_with_kept(const Response& from, double kept, size_t ramp);
  std::vector<Scored> starts_with_kept(const Response& from);
  void add_exchanged(const Response& r, std::vector<Scored>& starts);
  struct Slopes {
    std::vector<size_t> of;  // indices of the free smooth parameters
    Smooth unit = {};
    Valley valley;
  };
  Slopes slopes_at(const Response& r);
  Response inside_prior(Response r) const;
  bool move_down(Scored& at);
  Scored to_bottom(Scored at);
  Scored to_bottom_by_ramps(Scored at);
  void add_ends(const Scored& at, double room, std::vector<Scored>& places);
  std::vector<Scored> walk(const Scored& start, double scale, int steps);
  Scored best_with_lag(double lag_s, const Scored& next_to_it, const std::vector<Scored>& modes);
  std::vector<Scored> profile_lag(const std::vector<Scored>& modes);
  Scored best_with_ramp(const Response& from, size_t ramp);
  std::vector<Scored> profile_ramp(const Scored& best, double worst);
  Scored best_with_second(const Response& from, size_t second);
  std::vector<Scored> profile_second(const Scored& best, double worst);
  Scored best_with_kept(const Response& from, double kept);
  std::vector<Scored> profile_kept(const Scored& best, double worst);
  Scored kept_end(const Scored& best, const Scored& inside, const Scored& outside, double worst);
  Noise noise_at(const Scored& best);
  std::vector<Scored> choose_allowed(std::vector<Scored> region);
  void add_ends_of_base(const std::vector<Scored>& region, std::vector<Scored>& picked);
  AllowedFits allowed_fits(const std::vector<Scored>& picked, double least, const Noise& noise,
                           std::vector<double>& x, std::vector<double>& y);
  bool follows(const JointFit& fit, double total) const;

  // Responses that the samples allow.
  struct Region {
    std::vector<Scored> places;
    Noise noise;
    double least = 0;  // squares of the best
    bool kept_told = true;
  };
  Region explore(std::vector<Scored>& modes);
  bool add_untold_kept(const Scored& from, const Scored& best, Region& met);
  void add_kept_from(const Scored& from, const Scored& best, const std::vector<Scored>& around_best,
                     Region& met);
  void add_allowed(Region met, JointFit& fit);

  JointProblem problem_;
  size_t terms_;
  SplitMix64 random_;
  std::vector<double> row_;
  std::vector<Piece> pieces_;          // what the search uses: all updates, or blocks of a long log
  std::vector<Scored> kept_starts_;    // optima with and without a part kept
  bool one_load_ = false;              // a single load does not determine a part kept,
                                       // even if one fits best
  std::optional<double> held_kept_;    // if set, the only part kept that is tried
  std::optional<size_t> held_second_;  // likewise
  double middle_s_ = 0;
  double span_s_ = 0;
  double search_ridge_ = 0;
  double slack_s_ = 0;
  double period_s_ = 0;
  double unseen_s_ = 0;
  size_t most_at_once_ = 0;
};

void JointSearch::fill_smoothed_row(const Activity::Ramped& activity, const Response& r, double t_s,
                                    double last_s, std::vector<double>& before) {
  const double forgets = updates_to_forget(r.kept);
  const double unseen = before.empty() ? forgets : std::round((t_s - last_s) / period_s_) - 1;
  for (int back = static_cast<int>(std::clamp(unseen, 0.0, forgets)); back >= 0; --back) {
    fill_row(activity, r, t_s - back * period_s_);
    if (before.empty()) before = row_;
    for (size_t j = 0; j < terms_; ++j) {
      before[j] = row_[j] = r.kept * before[j] + (1 - r.kept) * row_[j];
    }
  }
}

template <typename Use>
void JointSearch::each_row(Piece& piece, const Response& r, Use use) {
  const Activity::Ramped activity = piece.activity->ramped(r.ramp, r.second);
  std::vector<double> before;
  double last_s = 0;
  for (const TimedPower& update : piece.updates) {
    if (r.kept > 0) {
      fill_smoothed_row(activity, r, update.t_s, last_s, before);
      last_s = update.t_s;
    } else {
      fill_row(activity, r, update.t_s);
    }
    use(update);
  }
}

void JointSearch::add_rows(Piece& piece, const Response& r, NormalEquations& normal) {
  each_row(piece, r, [&](const TimedPower& update) {
    for (size_t j = 0; j < terms_; ++j) {
      normal.right[j] += row_[j] * update.power_w;
      for (size_t i = j; i < terms_; ++i) normal.gram[j * terms_ + i] += row_[j] * row_[i];
    }
    normal.squares += update.power_w * update.power_w;
  });
}

NormalEquations JointSearch::normal_of(std::vector<Piece>& pieces, const Response& r) {
  NormalEquations normal(terms_);
  for (Piece& piece : pieces) add_rows(piece, r, normal);
  for (size_t j = 0; j < terms_; ++j) {
    for (size_t i = j + 1; i < terms_; ++i) {
      normal.gram[i * terms_ + j] = normal.gram[j * terms_ + i];
    }
  }
  hold_powers(search_ridge_, normal);
  return normal;
}

double JointSearch::squares_of(const Response& r) {
  if (!allowed_by_prior(r)) return INFINITY;
  const NormalEquations normal = normal_of(pieces_, r);
  return squares_left(normal, non_negative(normal));
}

// Appends the rows of the model to x, and the samples to y.
void JointSearch::add_rows_to(std::vector<Piece>& pieces, const Response& r, std::vector<double>& x,
                              std::vector<double>& y) {
  for (Piece& piece : pieces) {
    each_row(piece, r, [&](const TimedPower& update) {
      x.insert(x.end(), row_.begin(), row_.end());
      y.push_back(update.power_w);
    });
  }
}

std::vector<Scored> JointSearch::scan() {
  const ResponsePrior& prior = problem_.prior;
  std::vector<double> windows;
  for (const double w : {.01, .025, .05, .1, .2, .5, 1.0}) {
    if (within(prior.window_s, w)) windows.push_back(w);
  }
  if (windows.empty()) windows.push_back((prior.window_s.low + prior.window_s.high) / 2);
  std::vector<size_t> ramps;
  for (const double tau : {0.0, 0.02, 0.08}) {
    if (within(prior.ramp_s, tau)) ramps.push_back(nearest_ramp(tau));
  }
  if (ramps.empty()) ramps.push_back(nearest_ramp((prior.ramp_s.low + prior.ramp_s.high) / 2));
  std::vector<Scored> found;
  for (const double window : windows) {
    const double step = std::clamp(window / 5, 0.004, 0.02);
    for (const size_t ramp : ramps) {
      std::vector<Scored> row;
      for (double lag = prior.lag_s.low; lag <= prior.lag_s.high + 1e-12; lag += step) {
        const Response r{lag, window, ramp, 0};
        row.push_back({squares_of(r), r});
      }
      for (size_t i = 0; i < row.size(); ++i) {
        const bool lowest = row[i].squares <= row[i > 0 ? i - 1 : 0].squares &&
                            row[i].squares <= row[std::min(i + 1, row.size() - 1)].squares;
        if (lowest) found.push_back(row[i]);
      }
    }
  }
  std::sort(found.begin(), found.end(), better);
  return found;
}

// Moves of the second ramp by one search step, with the centre held by the lag, by the window, or
// by lag and the first ramp at `ramp`.
void add_second_moves(const Response& r, size_t ramp, std::ptrdiff_t side,
                      std::vector<Response>& tries) {
  const size_t second = static_cast<size_t>(static_cast<std::ptrdiff_t>(r.second) - side);
  if (second == 0 || second >= r.ramp) return;
  const double more = ramp_list_s()[second] - second_s(r);
  tries.push_back({r.lag_s - more, r.window_s, r.ramp, r.drift, second, r.kept});
  tries.push_back(
      {r.lag_s, std::max(r.window_s - 2 * more, 1e-3), r.ramp, r.drift, second, r.kept});
  const double other = ramp_list_s()[ramp] - ramp_s(r);
  tries.push_back({r.lag_s - more - other, r.window_s, ramp, r.drift, second, r.kept});
}

// Changes the part kept by `more` and the lag so that the mean delay stays.
void JointSearch::keep_another_part(double more, Response& r) const {
  const double kept = std::clamp(r.kept + more, kLeastKept, problem_.prior.most_kept);
  r.lag_s -= kept_delay_s(kept, period_s_) - kept_delay_s(r.kept, period_s_);
  r.kept = kept;
}

// Moves of the part kept by `more`: alone, and with the mean delay held by the lag, the ramp or the
// window.
void JointSearch::add_kept_moves(const Response& r, double more,
                                 std::vector<Response>& tries) const {
  Response other = r;
  keep_another_part(more, other);
  tries.push_back(other);
  const double later = r.lag_s - other.lag_s;
  other.lag_s = r.lag_s;
  tries.push_back(other);
  other.ramp = nearest_ramp(std::max(0.0, ramp_s(r) - later));
  tries.push_back(other);
  other.ramp = r.ramp;
  other.window_s = std::max(r.window_s - 2 * later, 1e-3);
  tries.push_back(other);
}

// Moves of one parameter, and of window and ramp with the centre of the response (lag + w/2 + tau)
// fixed. Without the latter, the search stalls on the ridge that they share.
std::vector<Response> JointSearch::neighbours(const Response& r, const Step& step,
                                              size_t places) const {
  std::vector<Response> tries;
  const double tau = ramp_s(r);
  for (const double side : {1.0, -1.0}) {
    const auto add = [&](double lag, double w, size_t ramp, double drift) {
      tries.push_back({lag, w, ramp, drift, r.second, r.kept});
    };
    if (r.kept > 0) add_kept_moves(r, side * kept_step(step[0]), tries);
    add(r.lag_s + side * step[0], r.window_s, r.ramp, r.drift);
    add(r.lag_s, r.window_s, r.ramp, r.drift + side * step[3]);
    const double window = r.window_s * std::exp(side * step[1]);
    const auto moved = static_cast<std::ptrdiff_t>(r.ramp) +
                       static_cast<std::ptrdiff_t>(side) * static_cast<std::ptrdiff_t>(places);
    const auto last = static_cast<std::ptrdiff_t>(ramp_list_s().size()) - 1;
    const auto ramp = static_cast<size_t>(std::clamp<std::ptrdiff_t>(moved, 0, last));
    const double other = ramp_list_s()[ramp];
    const double wider = (r.window_s - window) / 2;
    add(r.lag_s, window, r.ramp, r.drift);
    add(r.lag_s + wider, window, r.ramp, r.drift);
    add(r.lag_s, r.window_s, ramp, r.drift);
    add(r.lag_s + tau - other, r.window_s, ramp, r.drift);
    add(r.lag_s + tau - other + wider, window, ramp, r.drift);
    const double traded = std::max(r.window_s + 2 * (tau - other), 1e-3);
    add(r.lag_s, traded, ramp, r.drift);
    if (r.second > 0) add_second_moves(r, ramp, static_cast<std::ptrdiff_t>(side), tries);
  }
  return tries;
}

Scored JointSearch::refine(Scored start, double finest_s, double first_s) {
  Step step = {first_s, 0.3 * first_s / kFirstStepS, 0, first_s / span_s_};
  auto places = std::max<size_t>(1, static_cast<size_t>(4 * first_s / kFirstStepS));
  const double least_s = std::max(finest_s, kPatternS);
  for (int round = 0; round < 80 && step[0] >= least_s; ++round) {
    Scored best;
    for (const Response& r : neighbours(start.response, step, places)) {
      const Scored tried{squares_of(r), r};
      if (better(tried, best)) best = tried;
    }
    if (best.squares < start.squares * (1 - 1e-9)) {
      start = best;
      continue;
    }
    for (double& one : step) one /= 2;
    places = std::max<size_t>(1, places / 2);
  }
  return finest_s < kPatternS && std::isfinite(start.squares) ? to_bottom_by_ramps(start) : start;
}

Response JointSearch::inside_prior(Response r) const {
  const ResponsePrior& prior = problem_.prior;
  r.lag_s = std::clamp(r.lag_s, prior.lag_s.low, prior.lag_s.high);
  r.window_s = std::clamp(r.window_s, prior.window_s.low, prior.window_s.high);
  r.drift = std::clamp(r.drift, -prior.drift, prior.drift);
  r.kept = std::min(r.kept, prior.most_kept);
  return r;
}

// Derivative of the modelled samples by each free smooth parameter, by finite differences.
JointSearch::Slopes JointSearch::slopes_at(const Response& r) {
  const ResponsePrior& prior = problem_.prior;
  const std::array<bool, kSmooth> free = {prior.lag_s.high > prior.lag_s.low,
                                          prior.window_s.high > prior.window_s.low, prior.drift > 0,
                                          r.kept > 0 && !held_kept_};
  Slopes found;
  found.unit = {2e-4, 1e-2, 1e-4 / span_s_, 1e-4};
  std::vector<double> x;
  std::vector<double> y;
  add_rows_to(pieces_, r, x, y);
  const std::vector<double> p = non_negative(normal_of(pieces_, r));
  const std::vector<double> left = residuals(x, y, p);
  std::vector<std::vector<double>> slopes;
  for (size_t i = 0; i < kSmooth; ++i) {
    if (!free[i]) continue;
    Smooth by = {};
    by[i] = found.unit[i];
    std::vector<double> x_moved;
    std::vector<double> same;
    add_rows_to(pieces_, moved(r, by), x_moved, same);
    std::vector<double> slope = residuals(x_moved, y, p);
    for (size_t k = 0; k < slope.size(); ++k) slope[k] = left[k] - slope[k];
    slopes.push_back(std::move(slope));
    found.of.push_back(i);
  }
  if (!slopes.empty()) found.valley = valley_at(x, left, p, slopes);
  return found;
}

// One Newton step, or a part of it. Returns true if the fit improves enough for another step.
bool JointSearch::move_down(Scored& at) {
  constexpr double kWorthwhile = 1e-5;
  const Slopes slopes = slopes_at(at.response);
  for (const double part : {1.0, 0.4, 0.1}) {
    Smooth by = {};
    for (size_t i = 0; i < slopes.of.size(); ++i) {
      by[slopes.of[i]] = part * slopes.valley.move[i] * slopes.unit[slopes.of[i]];
    }
    const Response next = inside_prior(moved(at.response, by));
    const Scored tried{squares_of(next), next};
    if (tried.squares >= at.squares) continue;
    const bool worthwhile = tried.squares < at.squares * (1 - kWorthwhile);
    at = tried;
    return worthwhile;
  }
  return false;
}

Scored JointSearch::to_bottom(Scored at) {
  constexpr int kMoves = 8;
  for (int i = 0; i < kMoves && move_down(at); ++i) {
  }
  return at;
}

// The ramps are a list: to the bottom with each of them, as long as the next one's is lower.
Scored JointSearch::to_bottom_by_ramps(Scored at) {
  const auto last = static_cast<std::ptrdiff_t>(ramp_list_s().size()) - 1;
  at = to_bottom(at);
  for (const bool second : {false, true}) {
    for (const std::ptrdiff_t side : {-1, 1}) {
      while (!second || at.response.second > 0) {
        Response r = at.response;
        size_t& ramp = second ? r.second : r.ramp;
        const std::ptrdiff_t to = static_cast<std::ptrdiff_t>(ramp) + side;
        if (to < 0 || to > last) break;
        ramp = static_cast<size_t>(to);
        r.lag_s += centre_s(at.response, period_s_) - centre_s(r, period_s_);
        r = inside_prior(r);
        Scored tried{squares_of(r), r};
        if (!std::isfinite(tried.squares)) break;
        tried = to_bottom(tried);
        if (tried.squares >= at.squares * (1 - 1e-7)) break;
        at = tried;
      }
    }
  }
  return at;
}

// The limits of each smooth parameter under the samples, with the others moved along.
void JointSearch::add_ends(const Scored& at, double room, std::vector<Scored>& places) {
  const Slopes slopes = slopes_at(at.response);
  const size_t n = slopes.of.size();
  for (size_t i = 0; i < n; ++i) {
    const double variance = slopes.valley.covariance[i * n + i];
    if (variance <= 0) continue;
    for (const double side : {-1.0, 1.0}) {
      for (const double part : {1.0, 0.7}) {
        Smooth by = {};
        for (size_t k = 0; k < n; ++k) {
          const double share = slopes.valley.covariance[i * n + k] / std::sqrt(variance);
          by[slopes.of[k]] = part * side * std::sqrt(room) * share * slopes.unit[slopes.of[k]];
        }
        const Response end = inside_prior(moved(at.response, by));
        const Scored tried{squares_of(end), end};
        if (std::isfinite(tried.squares)) places.push_back(tried);
      }
    }
  }
}

// Restarts with the same spread w + 2 tau as boxcar, as both and as exponential, because a search
// that starts in one does not reach the others.
void JointSearch::restart_with_same_spread(std::vector<Scored>& modes) {
  for (const auto& [as_window, as_ramp] : {std::pair(1.0, 0.0), {0.5, 0.25}, {0.02, 0.5}}) {
    const Response r = modes.front().response;
    const double spread = r.window_s + 2 * ramp_s(r);
    const Response other{
        r.lag_s + (r.window_s - as_window * spread) / 2 + ramp_s(r) - as_ramp * spread,
        as_window * spread, nearest_ramp(as_ramp * spread), r.drift};
    const double squares = squares_of(other);
    if (!std::isfinite(squares)) continue;
    modes.push_back(refine({squares, other}));
    std::sort(modes.begin(), modes.end(), better);
  }
  if (problem_.prior.two_ramps) restart_with_two_ramps(modes);
  if (problem_.prior.most_kept > 0) restart_with_kept(modes);
}

// Restarts with the window replaced by a second ramp of the same mean. Accepted only if the samples
// require it, because a single step fits both.
void JointSearch::restart_with_two_ramps(std::vector<Scored>& modes) {
  const Response r = modes.front().response;
  Response other = r;
  other.window_s = std::max(problem_.prior.window_s.low, r.window_s / 10);
  other.second = nearest_ramp((r.window_s - other.window_s) / 2);
  other.second = std::clamp<size_t>(other.second, 1, std::max<size_t>(r.ramp, 2) - 1);
  other.lag_s += centre_s(r, period_s_) - centre_s(other, period_s_);
  const Scored two = refine({squares_of(other), other});
  if (!std::isfinite(two.squares)) return;
  const double worth = kWorthOneMore * noise_at(two).scale();
  if (modes.front().squares - two.squares < worth) return;
  modes.insert(modes.begin(), two);
}

// Starts in which each update keeps a part of the previous one, instead of the ramp or with a
// shorter one. The lag is reduced by its delay.
std::vector<Scored> JointSearch::starts_with_kept(const Response& from) {
  constexpr size_t kRamps = 2;  // of each part
  std::vector<Scored> starts;
  for (const double kept : {0.15, 0.4, 0.7}) {
    std::vector<Scored> of_part;
    for (const double ramp : {0.0, 0.02, 0.06, 0.2, ramp_s(from)}) {
      const Scored start = start_with_kept(from, kept, nearest_ramp(ramp));
      if (std::isfinite(start.squares)) of_part.push_back(start);
    }
    std::sort(of_part.begin(), of_part.end(), better);
    of_part.resize(std::min(of_part.size(), kRamps));
    starts.insert(starts.end(), of_part.begin(), of_part.end());
  }
  return starts;
}

// Restarts with a part kept of the previous update; accepted only if the samples require it. Starts
// that are unrefined or roughly refined do not show which is best, so they are eliminated step by
// step.
void JointSearch::restart_with_kept(std::vector<Scored>& modes) {
  constexpr double kRoughS = 4e-3;
  constexpr size_t kRefined = 3;
  constexpr size_t kMostApart = 5;
  const Response from = modes.front().response;
  std::vector<Scored> starts = starts_with_kept(from);
  for (Scored& start : starts) start = refine(start, kRoughS);
  starts = best_apart(std::move(starts), 2 * kRefined);
  for (Scored& start : starts) start = refine(start, kPatternS, kRoughS / 2);
  starts = best_apart(std::move(starts), kRefined);
  for (Scored& start : starts) start = refine(start, kFinestS, kPatternS / 2);
  std::vector<Scored> others;
  for (const Scored& one : starts) add_exchanged(one.response, others);
  add_exchanged(from, others);
  for (const Scored& one : others) starts.push_back(refine(one));
  starts = best_apart(std::move(starts), kMostApart);
  if (starts.empty()) return;
  const Scored best = starts.front();
  one_load_ = !steps_twice(from);
  kept_starts_ = {modes.front()};
  kept_starts_.insert(kept_starts_.end(), starts.begin(), starts.end());
  const double worth = kWorthOneMore * noise_at(best).scale();
  if (modes.front().squares - best.squares >= worth) modes.insert(modes.begin(), best);
}

// Keeping a part of each update is an exponential in updates, and a ramp is one in time. Exchanging
// the two gives another optimum, which may be lower. A part kept can also become a second ramp, and
// one of two ramps a part kept.
void JointSearch::add_exchanged(const Response& r, std::vector<Scored>& starts) {
  const double kept_s = r.kept > 0 ? -period_s_ / std::log(r.kept) : 0;
  std::array<double, 3> ramps = {ramp_s(r), second_s(r), kept_s};
  std::sort(ramps.begin(), ramps.end(), std::greater<>());
  for (size_t kept = 0; kept < ramps.size(); ++kept) {
    if (ramps[kept] <= 0) continue;
    Response other = r;
    other.kept = std::exp(-period_s_ / ramps[kept]);
    const bool same = std::fabs(other.kept - r.kept) < kLeastKept;
    if (same || other.kept < kLeastKept) continue;
    other.ramp = nearest_ramp(ramps[kept == 0 ? 1 : 0]);
    other.second = nearest_ramp(ramps[kept == 2 ? 1 : 2]);
    other.second = std::min(other.second, other.ramp > 0 ? other.ramp - 1 : 0);
    other.lag_s += centre_s(r, period_s_) - centre_s(other, period_s_);
    const double squares = squares_of(other);
    if (std::isfinite(squares)) starts.push_back({squares, other});
  }
}

// True if the load steps up or down at least twice, in the mean between two updates. The tail of a
// single load may come from the sensor or the GPU. With more loads, the fit shows if the part kept
// is determined.
bool JointSearch::steps_twice(const Response& r) {
  constexpr double kStep = 0.1;  // of the range of the samples
  const std::vector<double> p = non_negative(normal_of(pieces_, r));
  const Response plain{r.lag_s, period_s_, 0, r.drift};
  std::vector<double> x;
  std::vector<double> y;
  add_rows_to(pieces_, plain, x, y);
  std::vector<double> level;
  for (size_t i = 0; i < y.size(); ++i) {
    level.push_back(std::inner_product(p.begin(), p.end(),
                                       x.begin() + static_cast<std::ptrdiff_t>(i * terms_), 0.0));
  }
  if (level.empty()) return false;
  const auto [low, high] = std::minmax_element(level.begin(), level.end());
  const double least = kStep * (*high - *low);
  int before = 0;
  std::array<size_t, 2> steps = {};  // down, up
  for (size_t i = 1; i < level.size(); ++i) {
    const double change = level[i] - level[i - 1];
    const int way = change > least ? 1 : change < -least ? -1 : 0;
    if (way != 0 && way != before) ++steps[way > 0 ? 1 : 0];
    before = way;
  }
  return std::max(steps[0], steps[1]) >= 2;
}

// The best start with this part kept and ramp, over lags around the one that keeps the mean delay.
Scored JointSearch::start_with_kept(const Response& from, double kept, size_t ramp) {
  constexpr int kSides = 4;
  Response start = from;
  start.kept = kept;
  if (ramp != from.ramp) start.second = 0;
  start.ramp = ramp;
  const double lag_s = from.lag_s + centre_s(from, period_s_) - centre_s(start, period_s_);
  Scored best;
  for (int side = -kSides; side <= kSides; ++side) {
    const Span95& lags = problem_.prior.lag_s;
    start.lag_s = std::clamp(lag_s + side * period_s_ / 2, lags.low, lags.high);
    const Scored tried{squares_of(start), start};
    if (better(tried, best)) best = tried;
  }
  return best;
}

std::vector<Scored> JointSearch::find_modes() {
  const std::vector<Scored> found = scan();
  std::vector<Scored> modes;
  for (size_t i = 0; i < std::min<size_t>(found.size(), 40) && modes.size() < kMostModes; ++i) {
    if (found[i].squares > 4 * found[0].squares + 1 && !modes.empty()) break;
    const Response& r = found[i].response;
    const bool known = std::any_of(modes.begin(), modes.end(), [&](const Scored& mode) {
      return std::fabs(r.lag_s - mode.response.lag_s) < 0.015 &&
             std::fabs(std::log(r.window_s / mode.response.window_s)) < 0.5;
    });
    if (!known) modes.push_back(refine(found[i]));
  }
  std::sort(modes.begin(), modes.end(), better);
  restart_with_same_spread(modes);
  if (modes.size() > kMostModes) modes.resize(kMostModes);
  if (!problem_.base_shown) add_other_shares(found, modes);
  return modes;
}

// Without idle in the log, the base follows from the share of the work's swing that the sensor
// shows. For a periodic load, windows and ramps with different shares fit equally well. The best
// lag of each window and ramp of the scan is therefore another start, even if others fit better. So
// are windows with the same end as the best one: for pulses with period P, windows of w, w + P and
// w + 2 P show the same shape.
void JointSearch::add_other_shares(const std::vector<Scored>& found, std::vector<Scored>& modes) {
  constexpr size_t kMostWindows = 12;
  std::vector<Response> tried;
  for (const Scored& one : found) {
    const Response& r = one.response;
    const bool known = std::any_of(tried.begin(), tried.end(), [&](const Response& other) {
      return other.window_s == r.window_s && other.ramp == r.ramp;
    });
    if (known) continue;
    tried.push_back(r);
    modes.push_back(refine(one, kPatternS));
  }
  std::stable_sort(modes.begin(), modes.end(), better);
  std::vector<Scored> others = windows_of_one_end(modes.front());
  if (others.size() > kMostWindows) others.resize(kMostWindows);
  for (const Scored& one : others) modes.push_back(refine(one, kPatternS));
  std::stable_sort(modes.begin(), modes.end(), better);
}

// Local optima of the window with its end fixed, best first.
std::vector<Scored> JointSearch::windows_of_one_end(const Scored& best) {
  constexpr size_t kMostSteps = 400;
  const Span95& windows = problem_.prior.window_s;
  const double even_s = (windows.high - windows.low) / static_cast<double>(kMostSteps);
  const double step_s = std::max(even_s, std::min(best.response.window_s, period_s_) / 5);
  std::vector<Scored> row;
  for (double window = windows.low; window <= windows.high; window += step_s) {
    Response r = best.response;
    r.window_s = window;
    row.push_back({squares_of(r), r});
  }
  std::vector<Scored> lowest;
  for (size_t i = 0; i < row.size(); ++i) {
    const bool low = row[i].squares <= row[i > 0 ? i - 1 : 0].squares &&
                     row[i].squares <= row[std::min(i + 1, row.size() - 1)].squares;
    if (low && std::isfinite(row[i].squares)) lowest.push_back(row[i]);
  }
  std::sort(lowest.begin(), lowest.end(), better);
  return lowest;
}

// Metropolis walk with the likelihood as its target. The size of proposals adapts to the acceptance
// rate, and their shape to the positions of the walk.
std::vector<Scored> JointSearch::walk(const Scored& start, double scale, int steps) {
  const Step least = {1e-4, 2e-3, 1e-4, 1e-4 / span_s_};
  Shape shape = diagonal({0.003, 0.08, 0.004, 0.003 / span_s_});
  double size = 1;
  Scored at = start;
  std::vector<Scored> met{start};
  std::vector<Step> been;
  for (int i = 0; i < steps; ++i) {
    if (i == 150 || i == 400) {
      shape = lower_triangle(covariance_of(been, least));
      size = 1.4;
    }
    Step z = {};
    for (size_t k = 0; k < 4; ++k) {
      const double drawn = size * random_.normal();
      for (size_t j = k; j < 4; ++j) z[j] += shape[j][k] * drawn;
    }
    const Response& r = at.response;
    Response next{r.lag_s + z[0],
                  r.window_s * std::exp(z[1]),
                  nearest_ramp(std::fabs(ramp_s(r) + z[2])),
                  r.drift + z[3],
                  r.second,
                  r.kept};
    if (r.kept > 0) keep_another_part(size * kKeptStep * random_.normal(), next);
    const Scored tried{squares_of(next), next};
    if (std::isfinite(tried.squares)) met.push_back(tried);
    const bool taken =
        std::log(random_.uniform() + 1e-300) < (at.squares - tried.squares) / (2 * scale);
    if (taken) at = tried;
    size *= taken ? 1.04 : 0.985;
    been.push_back({at.response.lag_s, std::log(at.response.window_s), ramp_s(at.response),
                    at.response.drift});
  }
  return met;
}

// The best fit with the lag fixed, starting at the neighbouring lag's best and at the optima.
// Refined to 1 ms, enough for a plot.
Scored JointSearch::best_with_lag(double lag_s, const Scored& next_to_it,
                                  const std::vector<Scored>& modes) {
  constexpr double kFineS = 1e-3;
  const Span95 all = problem_.prior.lag_s;
  problem_.prior.lag_s = {lag_s, lag_s};
  Scored best;
  const auto try_from = [&](Response r) {
    r.lag_s = lag_s;
    const Scored tried{squares_of(r), r};
    if (better(tried, best)) best = tried;
  };
  try_from(next_to_it.response);
  for (const Scored& mode : modes) try_from(mode.response);
  best = refine(best, kFineS);
  problem_.prior.lag_s = all;
  return best;
}

// Profile over the whole range in even steps, from the best optimum outwards, and close to each
// optimum, where valleys may be narrower. Sorted by lag.
std::vector<Scored> JointSearch::profile_lag(const std::vector<Scored>& modes) {
  const Span95 all = problem_.prior.lag_s;
  const double step_s = (all.high - all.low) / kLagSteps;
  const auto nearest =
      static_cast<int>(std::lround((modes.front().response.lag_s - all.low) / step_s));
  std::vector<Scored> profile = modes;
  for (const int side : {-1, 1}) {
    Scored last = modes.front();
    for (int i = side < 0 ? nearest : nearest + 1; i >= 0 && i <= kLagSteps; i += side) {
      last = best_with_lag(all.low + step_s * i, last, modes);
      profile.push_back(last);
    }
  }
  for (const Scored& mode : modes) {
    for (const double apart : {-0.004, -0.001, 0.001, 0.004}) {
      const double lag_s = std::clamp(mode.response.lag_s + apart, all.low, all.high);
      profile.push_back(best_with_lag(lag_s, mode, modes));
    }
  }
  std::sort(profile.begin(), profile.end(),
            [](const Scored& a, const Scored& b) { return a.response.lag_s < b.response.lag_s; });
  return profile;
}

std::vector<JointFit::Mode> JointSearch::lag_profile_of(const JointFit& fit) {
  const double scale = fit.noise_w * fit.noise_w * fit.repeated;
  std::vector<Scored> modes;
  for (const JointFit::Mode& mode : fit.modes) {
    modes.push_back({squares_of(mode.response), mode.response});
  }
  const double least = modes.front().squares - fit.modes.front().worse * scale;
  std::vector<JointFit::Mode> profile;
  for (const Scored& held : profile_lag(modes)) {
    profile.push_back({held.response, (held.squares - least) / scale});
  }
  return profile;
}

// The best fit with the ramp fixed, starting from a fit with another ramp with the same centre, or
// with the same centre and spread.
Scored JointSearch::best_with_ramp(const Response& from, size_t ramp) {
  const Span95 all = problem_.prior.ramp_s;
  const double held = ramp_list_s()[ramp];
  const double later = ramp_s(from) - held;
  problem_.prior.ramp_s = {held, held};
  const ResponsePrior& prior = problem_.prior;
  const double traded =
      std::clamp(from.window_s + 2 * later, prior.window_s.low, prior.window_s.high);
  Scored best;
  for (const Response& r :
       {Response{from.lag_s + later, from.window_s, ramp, from.drift, from.second, from.kept},
        Response{from.lag_s + later - (traded - from.window_s) / 2, traded, ramp, from.drift,
                 from.second, from.kept}}) {
    const Scored tried{squares_of(r), r};
    if (better(tried, best)) best = tried;
  }
  if (std::isfinite(best.squares)) best = refine(best);
  problem_.prior.ramp_s = all;
  return best;
}

// The best fit with each ramp fixed, on both sides of the overall best until two in a row are worse
// than `worst`, and without a ramp. A walk does not follow the narrow valley in which ramp, lag and
// window change together.
std::vector<Scored> JointSearch::profile_ramp(const Scored& best, double worst) {
  std::vector<Scored> profile;
  const auto last = static_cast<std::ptrdiff_t>(ramp_list_s().size()) - 1;
  const auto at = static_cast<std::ptrdiff_t>(best.response.ramp);
  for (const std::ptrdiff_t side : {-1, 1}) {
    Response from = best.response;
    int misses = 0;
    for (std::ptrdiff_t ramp = at + side; ramp >= 0 && ramp <= last && misses < 2; ramp += side) {
      const Scored held = best_with_ramp(from, static_cast<size_t>(ramp));
      misses = held.squares > worst ? misses + 1 : 0;
      if (!std::isfinite(held.squares)) continue;
      profile.push_back(held);
      from = held.response;
    }
  }
  if (at > 0) profile.push_back(best_with_ramp(best.response, 0));
  std::erase_if(profile, [](const Scored& one) { return !std::isfinite(one.squares); });
  return profile;
}

// The best fit with the second ramp fixed, starting from a fit with another one; the lag or the
// spread of the window compensates at first.
Scored JointSearch::best_with_second(const Response& from, size_t second) {
  const double later = second_s(from) - ramp_list_s()[second];
  const ResponsePrior& prior = problem_.prior;
  Response lagged = from;
  lagged.second = second;
  lagged.lag_s += later;
  Response spread = from;
  spread.second = second;
  spread.window_s = std::clamp(from.window_s + 2 * later, prior.window_s.low, prior.window_s.high);
  spread.lag_s += later - (spread.window_s - from.window_s) / 2;
  held_second_ = second;
  Scored best;
  for (const Response& r : {lagged, spread}) {
    const Scored tried{squares_of(r), r};
    if (better(tried, best)) best = tried;
  }
  constexpr double kNearS = 2e-3;
  if (std::isfinite(best.squares)) best = refine(best, kFinestS, kNearS);
  held_second_.reset();
  return best;
}

// The best fit with each second ramp fixed, shorter than the first, on both sides of the overall
// best until two in a row are worse than `worst`. Samples hardly distinguish a short one from a
// window of twice its length, but the energies differ.
std::vector<Scored> JointSearch::profile_second(const Scored& best, double worst) {
  std::vector<Scored> profile;
  const auto at = static_cast<std::ptrdiff_t>(best.response.second);
  const auto end = static_cast<std::ptrdiff_t>(best.response.ramp);
  for (const std::ptrdiff_t side : {-1, 1}) {
    Response from = best.response;
    int misses = 0;
    for (std::ptrdiff_t second = at + side; second >= 0 && second < end && misses < 2;
         second += side) {
      const Scored held = best_with_second(from, static_cast<size_t>(second));
      misses = held.squares > worst ? misses + 1 : 0;
      if (!std::isfinite(held.squares)) continue;
      profile.push_back(held);
      from = held.response;
    }
  }
  return profile;
}

// The best fit with the part kept fixed, starting from a fit with another part and the same mean
// delay.
Scored JointSearch::best_with_kept(const Response& from, double kept) {
  constexpr double kNearS = 1e-3;
  Response r = from;
  keep_another_part(kept - from.kept, r);
  held_kept_ = r.kept;
  const Scored held = refine({squares_of(r), r}, kFinestS, kNearS);
  held_kept_.reset();
  return held;
}

// Profile of the part kept, with all else fitted again, until the fit is worse than `worst`:
// outwards in growing steps, then back by halving. A walk does not cover this range, because lag,
// ramp and window must move with it. The last value inside falls short of the limit by a tenth on
// average, so the limit is interpolated by a parabola with the next value outside.
std::vector<Scored> JointSearch::profile_kept(const Scored& best, double worst) {
  constexpr double kFirst = 5e-4;
  // An end between two values is interpolated; at the limit of the prior, one more halving finds
  // it.
  const auto halvings_of = [](const Scored& outside) {
    return std::isfinite(outside.squares) ? 2 : 3;
  };
  std::vector<Scored> profile;
  for (const double side : {-1.0, 1.0}) {
    Scored inside = best;
    Scored outside;
    double step = kFirst;
    int halvings = 0;
    while (halvings < halvings_of(outside)) {
      const double kept = inside.response.kept + side * step;
      const bool possible = kept > 0 && kept < problem_.prior.most_kept;
      const Scored held = possible ? best_with_kept(inside.response, kept) : Scored{};
      const bool allowed = held.squares <= worst;
      if (allowed) {
        profile.push_back(held);
        inside = held;
      } else {
        outside = held;
      }
      if (!allowed || halvings > 0) ++halvings;
      step = halvings > 0 ? step / 2 : step * 2;
    }
    if (std::isfinite(outside.squares)) profile.push_back(kept_end(best, inside, outside, worst));
  }
  return profile;
}

// Fit at the part kept where the squares reach `worst`, between one inside and one outside. The
// root of the excess squares is linear in the part kept.
Scored JointSearch::kept_end(const Scored& best, const Scored& inside, const Scored& outside,
                             double worst) {
  const auto away = [&](double squares) {
    return std::sqrt(std::max(0.0, squares - best.squares));
  };
  const double share = (away(worst) - away(inside.squares)) /
                       std::max(away(outside.squares) - away(inside.squares), 1e-300);
  const double apart = outside.response.kept - inside.response.kept;
  const double kept = inside.response.kept + std::clamp(share, 0.0, 1.0) * apart;
  constexpr double kJustInside = 1 - 1e-6;
  Scored end = best_with_kept(inside.response, kept);
  const double most = best.squares + kJustInside * (worst - best.squares);
  end.squares = std::min(end.squares, most);
  return end;
}

Noise JointSearch::noise_at(const Scored& best) {
  std::vector<double> x;
  std::vector<double> y;
  add_rows_to(pieces_, best.response, x, y);
  const std::vector<double> p = non_negative(normal_of(pieces_, best.response));
  const std::vector<double> left = residuals(x, y, p);
  const auto n = static_cast<double>(y.size());
  const auto above = std::count_if(p.begin(), p.end(), [](double one) { return one > 0; });
  const auto used = static_cast<double>(above + 4);
  Noise noise;
  noise.variance = std::max(best.squares / std::max(n - used, 1.0), kLeastNoiseW * kLeastNoiseW);
  for (size_t lag = 1; lag < std::max<size_t>(2, y.size() / 5); ++lag) {
    const double r = autocorrelation(left, lag);
    if (r < 2 / std::sqrt(n)) break;
    noise.repeated += 2 * r;
  }
  // Noise that enters before the smoothing is smoothed too, which few samples do not show. If it
  // enters after, intervals are wider than needed.
  const double kept = best.response.kept;
  noise.uneven = slopes_at(best.response).valley.uneven;
  noise.repeated = std::max(noise.repeated, (1 + kept) / (1 - kept));
  noise.critical = kChiSquare1 * (1 + 2.5 / std::max(n / noise.repeated - used, 3.0));
  return noise;
}

// Selects the best, a random part of the rest, and the extremes of each parameter.
std::vector<Scored> JointSearch::choose_allowed(std::vector<Scored> region) {
  std::sort(region.begin(), region.end(), better);
  std::vector<Scored> picked{region.front()};
  std::vector<size_t> order(region.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<size_t>(random_.below(static_cast<int64_t>(i)))]);
  }
  for (size_t i = 0; i < std::min(order.size(), kMostAllowed); ++i) {
    picked.push_back(region[order[i]]);
  }
  const std::array<double (*)(const Response&), 5> parameters = {
      [](const Response& r) { return r.lag_s; }, [](const Response& r) { return r.window_s; },
      [](const Response& r) { return ramp_s(r); }, [](const Response& r) { return r.drift; },
      [](const Response& r) { return r.kept; }};
  for (const auto& parameter : parameters) {
    const auto [low, high] =
        std::minmax_element(region.begin(), region.end(), [&](const Scored& a, const Scored& b) {
          return parameter(a.response) < parameter(b.response);
        });
    picked.push_back(*low);
    picked.push_back(*high);
  }
  if (!problem_.base_shown) add_ends_of_base(region, picked);
  return picked;
}

// Adds the responses with the lowest and the highest base of all that the samples allow.
void JointSearch::add_ends_of_base(const std::vector<Scored>& region, std::vector<Scored>& picked) {
  Span95 base{INFINITY, -INFINITY};
  std::array<Scored, 2> ends;
  for (const Scored& one : region) {
    const double base_w = non_negative(normal_of(pieces_, one.response)).front();
    if (base_w < base.low) ends[0] = one;
    if (base_w > base.high) ends[1] = one;
    base = {std::min(base.low, base_w), std::max(base.high, base_w)};
  }
  picked.insert(picked.end(), ends.begin(), ends.end());
}

// The normal equations of all updates at every picked response. Writes the rows of the model at the
// best one, and the samples, to x and y.
AllowedFits JointSearch::allowed_fits(const std::vector<Scored>& picked, double least,
                                      const Noise& noise, std::vector<double>& x,
                                      std::vector<double>& y) {
  std::vector<NormalEquations> normals(picked.size(), NormalEquations(terms_));
  const std::vector<TimedPower>& updates = problem_.updates;
  for (size_t from = 0; from < updates.size(); from += most_at_once_) {
    std::vector<Piece> pieces;
    const size_t to = std::min(updates.size(), from + most_at_once_);
    pieces.push_back(piece_of(problem_, from, to, slack_s_, unseen_s_));
    for (size_t i = 0; i < picked.size(); ++i) {
      normals[i].add(normal_of(pieces, picked[i].response));
    }
    add_rows_to(pieces, picked.front().response, x, y);
  }
  AllowedFits allowed{.variance = noise.variance,
                      .repeated = noise.repeated,
                      .critical = noise.critical,
                      .readings = updates.size()};
  const double room = noise.critical * noise.variance * noise.repeated;
  for (size_t i = 0; i < picked.size(); ++i) {
    hold_powers(ridge(room), normals[i]);
    const double worse = (picked[i].squares - least) / noise.reach();
    const bool exact = i < 4 || i + 12 >= picked.size();
    allowed.fits.push_back(allowed_fit(picked[i].response, worse, exact, std::move(normals[i])));
  }
  return allowed;
}

bool JointSearch::follows(const JointFit& fit, double total) const {
  const ResponsePrior& prior = problem_.prior;
  const double lags = std::max(1.0, (prior.lag_s.high - prior.lag_s.low) / fit.response.window_s);
  const double windows = std::max(1.0, std::log(prior.window_s.high / prior.window_s.low) / 0.5);
  const auto freedom = static_cast<double>(terms_) + 2;
  const double gain = static_cast<double>(fit.readings) / std::max(1.0, fit.repeated) *
                      std::log(std::max(total, 1e-300) / std::max(fit.squares, 1e-300));
  return gain > chi_square_99(freedom) + 2 * std::log(lags * windows);
}

// Adds allowed points for another part kept if there is only a single load, which does not
// determine it. Points of a rejected response count as no better than the best. Returns true if
// there are any.
bool JointSearch::add_untold_kept(const Scored& from, const Scored& best, Region& met) {
  const bool keeps = from.response.kept > 0;
  const double scale = keeps ? met.noise.reach() : noise_at(from).reach();
  const double room = met.noise.critical * scale;
  if (keeps && from.squares > best.squares + room) return false;
  const double worst = (keeps ? best.squares : from.squares) + room;
  std::vector<Scored> places = keeps ? profile_kept(from, worst) : profile_ramp(from, worst);
  const std::vector<Scored> walked = walk(from, scale, kWalkSteps / 2);
  places.insert(places.end(), walked.begin(), walked.end());
  for (Scored one : places) {
    const double worse = std::max(0.0, one.squares - worst + room) / scale;
    one.squares = best.squares + (worse + kNoBetter) * met.noise.reach();
    met.places.push_back(one);
  }
  return true;
}

// Adds the allowed points around an optimum with another part kept, or none. `around_best`: profile
// of the part kept by the best, if it keeps one.
void JointSearch::add_kept_from(const Scored& from, const Scored& best,
                                const std::vector<Scored>& around_best, Region& met) {
  if (one_load_) {
    const bool other = from.response.kept > 0 || best.response.kept > 0;
    if (add_untold_kept(from, best, met) && other) met.kept_told = false;
    return;
  }
  const double room = met.noise.critical * met.noise.reach();
  if (from.squares > best.squares + room) return;
  const bool known = from.response == best.response && best.response.kept > 0;
  std::vector<Scored> places = known ? around_best : profile_kept(from, best.squares + room);
  places.push_back(from);
  for (Scored one : places) {
    one.squares = std::max(one.squares, best.squares + kNoBetter * met.noise.reach());
    met.places.push_back(one);
  }
}

// The points that the samples allow, from walks around all modes and from profiles, and the noise
// of the best. Adds points better than the modes to them.
JointSearch::Region JointSearch::explore(std::vector<Scored>& modes) {
  Region met;
  Scored best = modes.front();
  std::vector<Scored> ramps;
  for (int round = 0; round < 3; ++round) {  // until the walk finds nothing better
    met.noise = noise_at(best);
    met.places.clear();
    for (const Scored& mode : modes) {
      if ((mode.squares - best.squares) / met.noise.reach() > 3 * met.noise.critical + 8) continue;
      const bool first = mode.squares == best.squares;
      const auto walked = walk(mode, met.noise.reach(), first ? kWalkSteps : kWalkSteps / 2);
      met.places.insert(met.places.end(), walked.begin(), walked.end());
    }
    Scored next = refine(*std::min_element(met.places.begin(), met.places.end(), better));
    met.places.push_back(next);
    double worth = 0.5 * met.noise.scale();
    if (next.squares > best.squares - worth) {
      ramps = profile_ramp(best, best.squares + met.noise.critical * met.noise.reach());
      if (ramps.empty()) break;
      next = *std::min_element(ramps.begin(), ramps.end(), better);
      worth = kWorthOneMore * met.noise.scale();
    }
    if (next.squares > best.squares - worth) break;
    best = next;
    modes.insert(modes.begin(), next);
  }
  std::vector<Scored> kept;
  if (best.response.kept > 0) {
    kept = profile_kept(best, best.squares + met.noise.critical * met.noise.reach());
    met.places.insert(met.places.end(), kept.begin(), kept.end());
  }
  for (const Scored& from : kept_starts_) add_kept_from(from, best, kept, met);
  if (problem_.prior.two_ramps) {
    const double worst = best.squares + met.noise.critical * met.noise.reach();
    const std::vector<Scored> second = profile_second(best, worst);
    ramps.insert(ramps.end(), second.begin(), second.end());
  }
  // A different ramp without a clear improvement is allowed, but does not replace the best.
  const double room = met.noise.critical * met.noise.reach();
  const double no_better = best.squares + kNoBetter * met.noise.reach();
  for (Scored one : ramps) {
    one.squares = std::max(one.squares, no_better);
    met.places.push_back(one);
    if (one.squares > best.squares + room || one.response.kept <= 0) continue;
    std::vector<Scored> ends;
    add_ends(one, best.squares + room - one.squares, ends);
    for (Scored& end : ends) end.squares = std::max(end.squares, no_better);
    met.places.insert(met.places.end(), ends.begin(), ends.end());
  }
  met.places.insert(met.places.end(), modes.begin(), modes.end());
  met.least = std::min_element(met.places.begin(), met.places.end(), better)->squares;
  std::erase_if(met.places, [&](const Scored& one) {
    return (one.squares - met.least) / met.noise.reach() > met.noise.critical;
  });
  const auto [least, most] = std::minmax_element(
      met.places.begin(), met.places.end(),
      [](const Scored& a, const Scored& b) { return a.response.kept < b.response.kept; });
  if (least->response.kept < kHardlyAny && most->response.kept > kAsGoodAsNone) {
    met.kept_told = false;
  }
  return met;
}

// Sets the range of each parameter over the points.
void add_ranges(const std::vector<Scored>& places, double period_s, JointFit& fit) {
  const auto range = [&](auto&& parameter) {
    Span95 ends{INFINITY, -INFINITY};
    for (const Scored& one : places) {
      ends.low = std::min(ends.low, parameter(one.response));
      ends.high = std::max(ends.high, parameter(one.response));
    }
    return ends;
  };
  fit.lag_s = range([](const Response& r) { return r.lag_s; });
  fit.window_s = range([](const Response& r) { return r.window_s; });
  fit.ramp_s = range([](const Response& r) { return ramp_s(r); });
  fit.drift = range([](const Response& r) { return r.drift; });
  fit.kept = range([](const Response& r) { return r.kept; });
  const auto reach_s = [period_s](const Response& r) {
    return r.lag_s + r.window_s + 4 * (ramp_s(r) + second_s(r)) + kept_reach_s(r.kept, period_s);
  };
  fit.reach_s = range(reach_s).high;
}

// True if base and kernels are separable: the standard deviation of the samples exceeds a sensor's
// errors, and the least work in a sample is at most half of the most. Otherwise nearly equal
// samples are extrapolated to zero work, and a window that is too short finds a base by chance: 414
// W for an idle power of 133 W.
bool separates(const JointFit& fit, const std::vector<double>& read_w) {
  constexpr double kLeastSwing = 0.05;  // standard deviation of the samples, of their mean
  constexpr double kMostLeft = 0.5;     // least work in a sample, of the most
  const auto n = static_cast<double>(read_w.size());
  const double mean_w = std::accumulate(read_w.begin(), read_w.end(), 0.0) / n;
  const double swing_w = std::sqrt(squares_around_mean(read_w) / n);
  const auto [least, most] = std::minmax_element(fit.modelled_w.begin(), fit.modelled_w.end());
  const double base_w = fit.powers_w.front();
  return swing_w >= kLeastSwing * mean_w && *least - base_w <= kMostLeft * (*most - base_w);
}

// Sets the allowed fits of the intervals, and the results at the best one.
void JointSearch::add_allowed(Region met, JointFit& fit) {
  std::vector<double> x;
  std::vector<double> y;
  auto allowed = std::make_shared<AllowedFits>(
      allowed_fits(choose_allowed(std::move(met.places)), met.least, met.noise, x, y));
  const AllowedFit& first = allowed->fits.front();
  fit.response = first.response;
  fit.readings = problem_.updates.size();
  fit.noise_w = std::sqrt(met.noise.variance);
  fit.repeated = met.noise.repeated;
  fit.critical = met.noise.critical;
  fit.powers_w = first.powers;
  const std::vector<double> left = take_residuals(x, y, fit);
  fit.carried = carried_over(y, fit.modelled_w);
  const auto n = static_cast<double>(y.size());
  const double reach = std::max(1.5 * std::cbrt(n), 2 * fit.response.window_s / period_s_);
  const std::vector<double> undone = undone_residuals(x, left, first);
  allowed->noisy_gram = noisy_gram(x, undone, static_cast<size_t>(std::min(n / 3, reach)));
  allowed->uneven_gram = noisy_gram(x, undone, 0);
  constexpr double kLeastExplained = 0.5;
  const bool explains = fit.explained >= kLeastExplained;
  fit.separates = separates(fit, y);
  fit.tracks = follows(fit, squares_around_mean(y)) && explains;
  fit.follows = fit.tracks && fit.separates;
  allowed->rows = std::move(x);
  allowed->read_w = std::move(y);
  fit.allowed = std::move(allowed);
}

JointFit JointSearch::run() {
  std::vector<Scored> modes = find_modes();
  Region met = explore(modes);
  JointFit fit;
  for (const Scored& mode : modes) {
    fit.modes.push_back({mode.response, (mode.squares - met.least) / met.noise.scale()});
  }
  add_ranges(met.places, period_s_, fit);
  fit.kept_told = met.kept_told;
  fit.one_load = one_load_;
  if (!fit.kept_told) fit.kept.low = 0;
  add_allowed(std::move(met), fit);
  add_intervals(fit);
  return fit;
}

JointFit with_counter(const JointFit& fit, const EnergyRow& row) {
  auto allowed = std::make_shared<AllowedFits>(*fit.allowed);
  const double weight = allowed->variance / (row.sigma_j * row.sigma_j);
  NormalEquations counted(row.seconds.size());
  for (size_t j = 0; j < counted.terms(); ++j) {
    counted.right[j] = weight * row.seconds[j] * row.joules;
    for (size_t i = 0; i < counted.terms(); ++i) {
      counted.gram[j * counted.terms() + i] = weight * row.seconds[j] * row.seconds[i];
    }
  }
  counted.squares = weight * row.joules * row.joules;
  for (AllowedFit& one : allowed->fits) {
    one.normal.add(counted);
    one = allowed_fit(one.response, one.worse, one.exact, std::move(one.normal));
  }
  JointFit both = fit;
  both.powers_w = allowed->fits.front().powers;
  take_residuals(allowed->rows, allowed->read_w, both);
  both.allowed = std::move(allowed);
  add_intervals(both);
  return both;
}

JointFit with_base_levels(const JointFit& fit, const std::vector<double>& levels_w) {
  constexpr double kHeldW = 0.1;
  auto allowed = std::make_shared<AllowedFits>(*fit.allowed);
  const std::vector<AllowedFit> fits = allowed->fits;
  for (const double level_w : levels_w) {
    for (const AllowedFit& one : fits) {
      NormalEquations held(one.normal.terms());
      const double weight = allowed->variance / (kHeldW * kHeldW);
      held.gram[0] = weight;
      held.right[0] = weight * level_w;
      held.squares = weight * level_w * level_w;
      held.add(one.normal);
      allowed->fits.push_back(allowed_fit(one.response, one.worse, one.exact, std::move(held)));
    }
  }
  JointFit all = fit;
  all.allowed = std::move(allowed);
  add_intervals(all);
  return all;
}

JointFit without_separation(JointFit fit) {
  fit.follows = fit.separates = false;
  add_intervals(fit);
  return fit;
}

Span95 up_to_neighbours(Span95 ramp_s, const Span95& prior) {
  const std::span<const double> list = ramp_list_s();
  const auto first = std::lower_bound(list.begin(), list.end(), ramp_s.low);
  const auto after = std::upper_bound(list.begin(), list.end(), ramp_s.high);
  if (first != list.begin()) ramp_s.low = *(first - 1);
  if (after != list.end()) ramp_s.high = *after;
  return {std::max(ramp_s.low, std::min(prior.low, ramp_s.high)),
          std::min(ramp_s.high, std::max(prior.high, ramp_s.low))};
}

double centre_s(const Response& response, double period_s) {
  return response.lag_s + response.window_s / 2 + ramp_s(response) + second_s(response) +
         kept_delay_s(response.kept, period_s);
}

double kept_reach_s(double kept, double period_s) {
  return kept > 0 ? period_s * std::log(0.02) / std::log(kept) : 0;
}

std::vector<JointFit::Mode> profile_over_lag(JointProblem problem, const JointFit& fit) {
  if (problem.prior.lag_s.high <= problem.prior.lag_s.low) return {};
  return JointSearch(std::move(problem)).lag_profile_of(fit);
}

JointFit fit_jointly(JointProblem problem) { return JointSearch(std::move(problem)).run(); }

}  // namespace assay
