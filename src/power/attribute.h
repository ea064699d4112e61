#pragma once

// Joules per anything: a power log laid over a trace. Every reading is a mean over the sensor's
// window, so it is a sum over kernel classes of (share of the window) x (power of the class) plus
// what the device draws anyway. Powers, clock offset, window and ramp are fitted together
// (power/joint/fit.h), so that what is not known of the sensor is in every interval. What the
// readings cannot tell apart is merged and said so, and what the model does not explain stays
// unattributed: the parts sum to the measured energy.

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

// One more way to cut the device work: the layer or the phase that another room found for it.
struct WorkGrouping {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::string key = {};    // of the table: "layers"
  std::string title = {};  // "By layer"
  std::vector<std::string> names = {};
  std::vector<uint32_t> of_activity =
      {};  // into names, per activity of the trace; kNone = in no group
};

// What is known of the sensor and its clock before the readings are asked. An end of -1 is not
// told.
struct SensorPrior {
  int64_t offset_ns = 0;          // added to the log's times to give the trace's
  int64_t offset_within_ns = -1;  // how far that may be off, either way
  int64_t delay_ns = 0;           // a reading describes the window that ended this long before it
  int64_t window_low_ns = -1;     // of what a reading averages over
  int64_t window_high_ns = -1;
  int64_t ramp_low_ns = -1;  // time constant of sensor or device
  int64_t ramp_high_ns = -1;
  bool means = false;       // each reading is a mean over the time since the one before
  bool local_time = false;  // the log's times are of an unknown zone: quarter hours may be missing
  bool hold = false;        // nothing is fitted but powers: offset, delay and window as given
  std::string usual = {};   // where window and ramp are from, if from cards of the same model

  // Whether the response is given, in part or whole.
  bool told() const { return window_low_ns > 0 || window_high_ns > 0 || ramp_low_ns >= 0 || hold; }
};

// Watts that a sensor shows for one that is drawn. A log cannot tell it: it is known of a model of
// card, measured against a meter, or it is what such measurements of other cards spread over.
struct SensorGain {
  double value = 0.97;
  double low = 0.90;
  double high = 1.07;
  std::string source;  // empty: of other cards
};

// Time with a name: in which the device ran nothing for one reason.
struct NamedTime {
  std::string name = {};
  std::vector<Interval> merged = {};
};

struct AttributeOptions {
  SensorGain gain = {};
  SensorPrior sensor = {};
  int64_t device = -1;  // only this device's kernels; -1 = all
  size_t classes = 16;  // kernel names with a power of their own, at most
  uint64_t tokens = 0;  // made during the covered time; 0 = not told
  bool one_gpu = true;  // the log is of a GPU, not of a socket, a node or several GPUs together
  uint64_t seed = 1;
  std::vector<WorkGrouping> groupings = {};
  std::vector<NamedTime> idle = {};  // apart from each other: their part of the base is told
  std::vector<std::vector<Interval>> stretches = {};  // of time, merged: what was drawn in each
};

// A value of the fit with its 95 % interval, and what it was allowed to be.
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
  bool others = false;             // the pool of names too short to stand alone
  double above_idle_w = 0;
  double low_w = 0;  // 95 %
  double high_w = 0;
  double window_share = 0;  // mean over the readings: concurrent kernels count once each
  std::string why;          // the interval is wide; empty where it is not
};

// Energy above what the device draws anyway. Whole microjoules, so that parts sum exactly.
struct EnergyPart {
  std::string name;
  int64_t energy_uj = 0;
  double low_j = 0;  // 95 %
  double high_j = 0;
  int64_t busy_ns = 0;  // summed duration inside the covered time
  uint64_t count = 0;
  bool alone = true;  // its class is its own; else its share of the class is by duration
  std::string why;    // of kernels: why the interval is wide; empty where it is not
};

// Mean power while a stretch of time lasts, base included, as the sensor would show a stretch
// without an end. NaN where covered_ns is 0.
struct StretchPower {
  int64_t covered_ns = 0;  // of the stretch, by the log
  uint64_t readings = 0;   // whose window lies inside
  int64_t busy_ns = 0;     // of what ran in it, summed
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

struct EnergyReport {
  // Why the log says nothing below the total; empty: it does. Then all that a model tells is empty.
  std::string total_only;
  int64_t begin_ns = 0;  // where the trace and the log overlap
  int64_t end_ns = 0;
  int64_t covered_ns = 0;       // of that, what readings stand for: without holes in the log
  int64_t total_uj = 0;         // measured: readings times the time since the one before
  int64_t base_uj = 0;          // drawn anyway
  int64_t kernels_uj = 0;       // sum of `kernels`
  int64_t unattributed_uj = 0;  // total - base - kernels; may be negative
  double kernels_low_j = 0;     // 95 %
  double kernels_high_j = 0;
  double kernels_true_j = 0;  // as a meter would have them: by the gain, its error included
  double kernels_true_low_j = 0;
  double kernels_true_high_j = 0;
  SensorGain gain = {};
  double model_total_j = 0;  // base and kernels by the model
  double model_low_j = 0;
  double model_high_j = 0;
  bool aliased = false;  // measured and modelled total contradict each other
  double counter_j = std::numeric_limits<double>::quiet_NaN();           // of the log's own counter
  double counter_modelled_j = std::numeric_limits<double>::quiet_NaN();  // the powers' in that time
  bool counter_used = false;  // it agrees with the powers, and narrows them
  double base_w = 0;
  double base_low_w = 0;
  double base_high_w = 0;
  double mean_w = 0;
  bool follows = false;      // do the readings follow the trace at all
  bool smoothed = false;     // beyond the model they keep a part of those before: JointFit::carried
  double explained = 0;      // share of the readings' variance
  double residual_w = 0;     // standard deviation of a reading around the model
  uint64_t readings = 0;     // updates of the sensor used
  double period_ns = 0;      // of its updates
  std::string grid;          // how the times of updates are known
  std::string usual_sensor;  // SensorPrior::usual, where that was used
  // The readings show a sensor that is not the model's usual one. Of attribute_energy: then
  // nothing behind the fit is filled, to be asked again without SensorPrior::usual.
  bool sensor_unlike = false;
  Fitted lag_ns;  // of the log behind the trace: clock offset and delay together
  Fitted window_ns;
  Fitted ramp_ns;
  Fitted drift_ppm;
  Fitted kept;                // part of the update before that each one keeps; all 0: none
  bool kept_told = true;      // false: not told from none, and `kept` is from 0 to the most
  bool lag_searched = false;  // within the usual range nothing fitted: it was looked for beyond
  int64_t zone_ns = 0;        // added to the log's times, as of another time zone
  struct Mode {
    double lag_ns = 0;
    double worse = 0;  // in sum of squares than the best; 1 = as much as is allowed
  };
  std::vector<Mode> modes;   // local optima that the readings allow, best first
  std::vector<Mode> by_lag;  // best fit with each lag held
  struct FitPoint {
    int64_t t_ns = 0;  // of the trace: where the window of the reading ended
    double power_w = 0;
    double model_w = 0;
  };
  std::vector<FitPoint> fit;  // per update
  std::vector<PowerClass> classes;
  std::vector<EnergyPart> kernels;        // by name, most first; sums to kernels_uj
  std::vector<EnergyPart> operators;      // by the operator that caused the work; same sum
  std::vector<EnergyGrouping> groupings;  // one per AttributeOptions::groupings
  std::vector<EnergyPart> iterations;     // with their share of the base; outside ones not listed
  std::vector<EnergyPart> phases;         // prefill and decode, likewise; empty when not told apart
  std::vector<EnergyPart> idle;           // of the base, by name; with the rest sums to base_uj
  double energy_per_token_j = std::numeric_limits<double>::quiet_NaN();
  double energy_per_token_low_j = std::numeric_limits<double>::quiet_NaN();
  double energy_per_token_high_j = std::numeric_limits<double>::quiet_NaN();
  std::vector<StretchPower> stretches;  // one per AttributeOptions::stretches
  TrustNotes trust;
};

// Fails where the log and the trace do not overlap, or overlap in fewer than 20 readings; the
// message says both ranges. Of a log with a reading every 5 s or less often, the total alone.
Result<EnergyReport> attribute_energy(const Trace& trace, const Links& links,
                                      const Windows& windows, const Phases& phases,
                                      const PowerSeries& series, const AttributeOptions& options);

}  // namespace assay
