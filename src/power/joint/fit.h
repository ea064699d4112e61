#pragma once

// One model of a power log over a trace (FinGraV has no counterpart; there the sensor is known):
//
//   reading_i = base + sum over k of p_k s_k(i) + noise,   base, p_k >= 0
//   s_k(i)    = mean over [u_i - lag_i - w, u_i - lag_i] of class k after a ramp tau
//   lag_i     = lag + drift (u_i - middle)
//
// If the samples require it, each keeps a part of the previous one, like firmware that smooths:
// reading_i = kept reading_(i-1) + (1 - kept) (base + ...). A ramp in its place changed the power
// of the largest kernel by up to 15 % in 120 jobs (docs/measured/meter.md).
//
// Clock offset and sensor delay are one lag, because a log cannot separate them. Boxcar and
// exponential are the two ends of one family. Each unknown property of the sensor is a parameter
// with a prior, so every interval includes its error. With a fixed window and offset, energies were
// 0 (0 to 0) J where a meter measured 505, and 14 of 200 intervals contained the truth with a clock
// error of 50 ms. With the joint fit, 186 to 194 of 200 contain it.

#include <cstdint>
#include <memory>
#include <vector>

#include "power/joint/activity.h"
#include "power/joint/carried_over.h"
#include "power/joint/update_grid.h"

namespace assay {

struct Span95 {
  double low = 0;
  double high = 0;
};

// Maximum weight of the previous update. With more, a sensor shows seconds instead of updates.
constexpr double kMostKept = 0.85;

// Flat inside the range, zero outside; low == high fixes a value.
struct ResponsePrior {
  Span95 lag_s = {-0.15, 0.25};
  // The window may be short: some sensors do not average. With a minimum of 5 ms, 8 of 200 energies
  // were outside their intervals.
  Span95 window_s = {0.0005, 1.2};
  Span95 ramp_s = {0, 0.25};
  double drift = 200e-6;   // either way
  bool two_ramps = false;  // sensor and device may each have a ramp
  double most_kept = 0;    // maximum weight of the previous sample; 0 = not fitted
};

struct Response {
  double lag_s = 0;
  double window_s = 0;
  size_t ramp = 0;  // into ramp_list_s()
  double drift = 0;
  size_t second = 0;  // a shorter ramp after the first; 0 if none
  double kept = 0;    // weight of the previous update in each, from firmware that smooths

  bool operator==(const Response&) const = default;
};
// Mean delay between an event and the samples that show it: lag + w/2 + both ramps. If updates keep
// a part of the previous one, kept / (1 - kept) of their period is added.
double centre_s(const Response& response, double period_s);
// Age of the oldest update that contributes 2 % or more to a sample.
double kept_reach_s(double kept, double period_s);
// Range of the ramp if the responses allow the entries of ramp_list_s() in `ramp_s`. No value was
// tried between them and their neighbours in the list, so the range extends to the neighbours,
// within the prior.
Span95 up_to_neighbours(Span95 ramp_s, const Span95& prior);

// Why an interval is wide, that is, its lower end is at most half of its upper end.
enum class WhyWide : uint8_t {
  kNone,
  kDoesNotFollow,    // a constant explains the samples equally well
  kLagWindowOrRamp,  // the sensor's response is not known well enough
  kRunsAlike,        // runs at the same times as another class or the base
  kBelowNoise,
};
const char* why_wide_name(WhyWide why);

// Above the power of any GPU. Boards are limited to 1,400 W at most (B300, MI355X). One exceeded
// its limit by a factor of 1.35 for a tenth of a second (docs/measured/2026-11-26-nvidia-h200.md).
inline constexpr double kMostKernelWatts = 3000;

struct JointProblem {
  std::vector<std::vector<BusySpan>> classes;  // intervals in which each class runs
  std::vector<TimedPower> updates;             // in order of time; windows inside the covered time
  ResponsePrior prior;
  // Maximum power that any class adds; infinite if unknown. Powers have a prior around 0 with this
  // deviation (ridge regression; Hoerl and Kennard, 1970). It does not change a power that a sample
  // shows. It bounds a power that hardly any sample shows, which would otherwise reach 440 kW
  // (docs/measured/2026-11-27-nvidia-h100.md).
  double most_w = kMostKernelWatts;
  bool base_shown = false;  // the updates include idle before or after the work
  uint64_t seed = 1;
};

struct AllowedFits;

struct JointFit {
  Response response;
  std::vector<double> powers_w;  // base first
  std::vector<Span95> powers_95;
  std::vector<WhyWide> why;   // parallel to powers_w; kNone for the base
  std::vector<size_t> alike;  // most correlated other power, its own index if none
  Span95 lag_s, window_s, ramp_s, drift, kept;
  // Age in seconds of the oldest content of a sample, over all allowed responses: lag, window,
  // ramps down to 2 %, and updates kept.
  double reach_s = 0;
  // false: `kept` is not determined. Either the samples show a single load, and a part kept, a ramp
  // and a slow GPU explain its tail equally well. Or there are so few samples that no part kept
  // fits about as well as some. `kept` then ranges from 0 to the maximum that fits, and intervals
  // cover the whole range.
  bool kept_told = true;
  bool one_load = false;  // the load steps up and down at most once
  struct Mode {
    Response response;
    double worse = 0;
  };
  std::vector<Mode> modes;  // local optima, best first
  bool follows = false;     // the samples follow the trace and separate the base
  bool tracks = false;      // the samples follow the trace, even if they do not separate the base
  bool separates = false;   // the samples vary enough to separate base and kernels
  double explained = 0;     // share of their variance
  double noise_w = 0;       // standard deviation of a sample
  double repeated = 1;      // variance inflation by autocorrelated noise
  double squares = 0;
  size_t readings = 0;
  std::vector<double> modelled_w;  // per update
  CarriedOver carried;

  // 95 % interval in watts of sum of a_i p_i, a >= 0, base first: the union of the profile
  // intervals over all responses that the samples allow.
  Span95 interval(const std::vector<double>& a) const;
  // Weighted sum of the powers' own intervals. Contains interval(a) and costs nothing.
  Span95 outer_interval(const std::vector<double>& a) const;
  // True if interval() takes microseconds; otherwise milliseconds.
  bool is_quick() const;
  double critical = 0;                         // maximum `worse` of an allowed response
  std::shared_ptr<const AllowedFits> allowed;  // allowed responses
};

// Energy between two values of a counter, and the seconds that base and classes ran in between.
struct EnergyRow {
  std::vector<double> seconds;  // base first
  double joules = 0;
  double sigma_j = 0;
};
// The fit with powers and intervals under both samples and counter. Only the samples weigh the
// responses, because a counter over seconds says nothing about the sensor's milliseconds.
JointFit with_counter(const JointFit& fit, const EnergyRow& row);

// The fit with intervals that also cover the fits with the base fixed at each of these levels.
JointFit with_base_levels(const JointFit& fit, const std::vector<double>& levels_w);

// The same fit, marked as one that does not separate the base.
JointFit without_separation(JointFit fit);

// The best fit for each fixed lag over the range of the prior, by lag, for plots. Empty if the
// prior fixes the lag. `fit` is of the same problem.
std::vector<JointFit::Mode> profile_over_lag(JointProblem problem, const JointFit& fit);

// Needs at least 8 updates more than classes. Deterministic for a given seed.
JointFit fit_jointly(JointProblem problem);

}  // namespace assay
