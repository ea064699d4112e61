#pragma once

// Energy per kernel, phase, iteration or token, from a power log aligned with a trace. Every sample
// is a mean over the sensor's window. It is the sum over kernel classes of (share of the window) x
// (power of the class), plus the base power of the device. Powers, clock offset, window and ramp
// are fitted together (power/joint/fit.h), so every interval includes the uncertainty of the
// sensor. Classes that the samples cannot separate are merged and reported as merged. Energy that
// the model does not explain stays unattributed. The parts sum to the measured energy.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "base/result.h"
#include "records/power_log.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/phases.h"
#include "trace/trace.h"
#include "trace/trust.h"

namespace assay {

// Another partition of the GPU activities: the layer or phase that another module found for each.
struct WorkGrouping {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::string key = {};    // of the table: "layers"
  std::string title = {};  // "By layer"
  std::vector<std::string> names = {};
  std::vector<uint32_t> of_activity =
      {};  // into names, per activity of the trace; kNone = in no group
};

// Prior knowledge of the sensor and its clock, before the fit. -1 = this end is unknown.
struct SensorPrior {
  int64_t offset_ns = 0;          // added to the log's times to give the trace's
  int64_t offset_within_ns = -1;  // largest deviation from it, either way
  int64_t delay_ns = 0;           // a sample describes the window that ended this long before it
  int64_t window_low_ns = -1;     // of the averaging window
  int64_t window_high_ns = -1;
  int64_t ramp_low_ns = -1;  // time constant of sensor or device
  int64_t ramp_high_ns = -1;
  bool means = false;       // each sample is a mean over the time since the previous one
  bool local_time = false;  // the log's times are of an unknown zone: quarter hours may be missing
  bool hold = false;        // only powers are fitted; offset, delay and window are as given
  std::string usual = {};   // source of window and ramp, if from cards of the same model

  // True if any part of the response is given.
  bool told() const { return window_low_ns > 0 || window_high_ns > 0 || ramp_low_ns >= 0 || hold; }
};

// Watts that a sensor shows per watt drawn. A log cannot show it. It is measured against a meter
// for a GPU model, or it is the spread of such measurements of other models.
struct SensorGain {
  double value = 0.97;
  double low = 0.90;
  double high = 1.07;
  std::string source;  // empty: measured on other models
};

// Idle time of the device with one cause: disjoint intervals in order of time.
struct NamedTime {
  std::string name = {};
  std::vector<Interval> merged = {};
};

struct AttributeOptions {
  SensorGain gain = {};
  SensorPrior sensor = {};
  int64_t device = -1;  // only this device's kernels; -1 = all
  size_t classes = 16;  // kernel names with a power of their own, at most
  uint64_t tokens = 0;  // generated during the covered time; 0 = unknown
  // Upper bound of the token count, if the tokens were counted over the whole trace; `tokens` is
  // then the lower bound. 0 = `tokens` is exact and of the covered time.
  uint64_t most_tokens = 0;
  // Prompt tokens (0 = unknown), and the merged intervals of the engine steps that process nothing
  // else.
  uint64_t prompt_tokens = 0;
  std::vector<Interval> prefill = {};
  bool one_gpu = true;  // the log is of a GPU, not of a socket, a node or several GPUs together
  uint64_t seed = 1;
  std::vector<WorkGrouping> groupings = {};
  std::vector<NamedTime> idle = {};  // disjoint; each gets its share of the base energy
  std::vector<std::vector<Interval>> stretches = {};  // merged; mean power of each is reported
};

// A fitted value, its 95 % interval, and the range of its prior.
struct Fitted {
  double value = 0;
  double low = 0;
  double high = 0;
  double prior_low = 0;
  double prior_high = 0;
};

// Kernel names that share one power: one name, or several that always ran alike.
struct PowerClass {
  std::vector<std::string> names;  // most time first
  bool others = false;             // the pool of names with too little time for their own power
  double above_idle_w = 0;
  double low_w = 0;  // 95 %
  double high_w = 0;
  double window_share = 0;  // mean over the samples; each concurrent kernel counts
  std::string why;          // why the interval is wide; empty if it is not
};

// Energy above what the device draws anyway. Whole microjoules, so that parts sum exactly.
struct EnergyPart {
  std::string name;
  int64_t energy_uj = 0;
  double low_j = 0;  // 95 %
  double high_j = 0;
  int64_t busy_ns = 0;  // summed duration inside the covered time
  uint64_t count = 0;
  bool alone = true;  // its class has no other name; else its share is by duration
  std::string why;    // of kernels: reason of a wide interval; empty if it is narrow
};

// Mean power in a set of intervals, base included, without the transients of the sensor at their
// ends. NaN if covered_ns is 0.
struct StretchPower {
  int64_t covered_ns = 0;  // time of the intervals that the log covers
  uint64_t readings = 0;   // samples with their window inside
  int64_t busy_ns = 0;     // summed duration of the activities inside
  uint64_t count = 0;
  double mean_w = std::numeric_limits<double>::quiet_NaN();
  double low_w = std::numeric_limits<double>::quiet_NaN();  // 95 %
  double high_w = std::numeric_limits<double>::quiet_NaN();
};

struct EnergyGrouping {
  std::string key;
  std::string title;
  std::vector<EnergyPart> parts;  // most first; sums to EnergyReport::kernels_uj
};

// Findings from the clock and P-state columns of a log; NaN if it has none.
struct LogClocks {
  static constexpr double kUntold = std::numeric_limits<double>::quiet_NaN();

  double idle_mhz = kUntold;    // median in the idle stretches around the work
  double idle_state = kUntold;  // likewise, of the P-state: 0 is the highest
  // True if the clock in idle is at least half of that under load, or without a clock the P-state
  // is 2 or lower. The base is then not that of deep idle.
  bool idle_clocks_up = false;
  // While the GPU worked: the 95th percentile, the 5th after that was first reached, and the share
  // of the samples below 90 % of it.
  double high_mhz = kUntold;
  double low_mhz = kUntold;
  double below_share = kUntold;
  size_t samples = 0;
  bool falls = false;  // below_share is at least a tenth
};

struct EnergyReport {
  // Reason why the log supports only the total; empty if it supports more. If set, all model
  // results are empty.
  std::string total_only;
  int64_t trace_begin_ns = 0;
  int64_t begin_ns = 0;  // where the trace and the log overlap
  int64_t end_ns = 0;
  int64_t covered_ns = 0;  // of that, represented by samples: without gaps in the log
  // Measured: samples times the time since the previous sample. Includes energy that the sensor
  // shows in idle time around the trace. If the log has no idle next to the work, the model
  // replaces the energy of the first and last samples, which are partly of other times.
  int64_t total_uj = 0;
  double total_low_j = 0;  // covers measured and model total, or any delay of the sensor
  double total_high_j = 0;
  int64_t base_uj = 0;          // of the base power
  int64_t kernels_uj = 0;       // sum of `kernels`
  int64_t unattributed_uj = 0;  // total - base - kernels; may be negative
  double kernels_low_j = 0;     // 95 %
  double kernels_high_j = 0;
  double kernels_true_j = 0;  // divided by the gain; its error is in the interval
  double kernels_true_low_j = 0;
  double kernels_true_high_j = 0;
  SensorGain gain = {};
  double model_total_j = 0;  // base and kernels by the model
  double model_low_j = 0;
  double model_high_j = 0;
  bool aliased = false;  // measured and modelled total contradict each other
  double counter_j = std::numeric_limits<double>::quiet_NaN();           // by the log's counter
  double counter_modelled_j = std::numeric_limits<double>::quiet_NaN();  // by the fitted powers
  bool counter_used = false;  // it agrees with the powers and is part of the fit
  double base_w = 0;
  double base_low_w = 0;
  double base_high_w = 0;
  double mean_w = 0;
  bool follows = false;      // true if the samples follow the trace, and separate the base. If
                             // not, parts have only an interval, from nothing to all
  bool separates = true;     // the samples separate the base from the kernels
  bool smoothed = false;     // samples keep more of earlier ones than modelled
  double explained = 0;      // share of the samples' variance
  double residual_w = 0;     // standard deviation of a sample around the model
  uint64_t readings = 0;     // updates of the sensor used
  double period_ns = 0;      // of its updates
  std::string grid;          // grid_source_name()
  std::string usual_sensor;  // SensorPrior::usual, where that was used
  // The samples contradict the typical sensor of this GPU model. attribute_energy() then fills
  // nothing after the fit; the caller repeats it without SensorPrior::usual.
  bool sensor_unlike = false;
  Fitted lag_ns;  // delay of the log against the trace: clock offset plus sensor delay
  Fitted window_ns;
  Fitted ramp_ns;
  Fitted drift_ppm;
  Fitted kept;                // weight of the previous update in each; all 0 if none
  bool kept_told = true;      // false: not distinguishable from 0, and `kept` ranges from 0 to the
                              // maximum
  bool lag_searched = false;  // nothing fitted in the typical range, so the search went beyond it
  int64_t zone_ns = 0;        // time-zone shift added to the log's times
  struct Mode {
    double lag_ns = 0;
    double worse = 0;  // excess sum of squares over the best; 1 = the maximum allowed
  };
  std::vector<Mode> modes;   // local optima that the samples allow, best first
  std::vector<Mode> by_lag;  // best fit for each fixed lag
  struct FitPoint {
    int64_t t_ns = 0;  // on the trace's clock: end of the sample's window
    double power_w = 0;
    double model_w = 0;
  };
  std::vector<FitPoint> fit;  // per update
  std::vector<PowerClass> classes;
  std::vector<EnergyPart> kernels;        // by name, most first; sums to kernels_uj
  std::vector<EnergyPart> operators;      // by the operator that caused the work; same sum
  std::vector<EnergyGrouping> groupings;  // one per AttributeOptions::groupings
  std::vector<EnergyPart> iterations;     // base included; other time is not listed
  std::vector<EnergyPart> phases;         // prefill and decode, likewise; empty if not separable
  std::vector<EnergyPart> idle;           // of the base, by cause; sums to base_uj
  double energy_per_token_j = std::numeric_limits<double>::quiet_NaN();
  double energy_per_token_low_j = std::numeric_limits<double>::quiet_NaN();
  double energy_per_token_high_j = std::numeric_limits<double>::quiet_NaN();
  double energy_per_prompt_token_j = std::numeric_limits<double>::quiet_NaN();  // in `prefill`
  double energy_per_prompt_token_low_j = std::numeric_limits<double>::quiet_NaN();
  double energy_per_prompt_token_high_j = std::numeric_limits<double>::quiet_NaN();
  LogClocks clocks;
  std::vector<StretchPower> stretches;  // one per AttributeOptions::stretches
  TrustNotes trust;
};

// Fails if log and trace do not overlap, or overlap in fewer than 20 samples; the message contains
// both ranges. A log with a sample every 5 s or less often gives only the total.
Result<EnergyReport> attribute_energy(const Trace& trace, const Links& links,
                                      const Windows& windows, const Phases& phases,
                                      const PowerSeries& series, const AttributeOptions& options);

}  // namespace assay
