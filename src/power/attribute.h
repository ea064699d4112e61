#pragma once

// Joules per anything: a power log laid over a trace. Every reading is a mean over the sensor's
// window, so it is a sum over kernel classes of (share of the window) x (power of the class) plus
// what the device draws anyway; many readings and least squares give the powers, and the powers
// times the durations give the energies. What the readings cannot tell apart is merged and said so,
// and what no class explains stays unattributed: the parts sum to the measured energy.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

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

struct AttributeOptions {
  int64_t offset_ns = 0;  // added to the log's times to give the trace's
  int64_t window_ns = 0;  // of the sensor; 0 = the log's own, else the interval between new values
  int64_t delay_ns = 0;   // a reading describes the window that ended this long before its stamp
  int64_t device = -1;    // only this device's kernels; -1 = all
  size_t classes = 16;    // kernel names with a power of their own, at most
  uint64_t tokens = 0;    // made during the covered time; 0 = not told
  uint32_t bootstrap = 400;
  uint64_t seed = 1;
  std::vector<WorkGrouping> groupings = {};
};

// Kernel names that share one power: one name, or several that always ran alike.
struct PowerClass {
  std::vector<std::string> names;  // most energy first
  bool others = false;             // the pool of names too short to stand alone
  bool steady = false;  // ran alike in all windows: cannot be told from the power drawn anyway
  double above_idle_w = 0;
  double low_w = std::numeric_limits<double>::quiet_NaN();  // 95 %, block bootstrap
  double high_w = std::numeric_limits<double>::quiet_NaN();
  double window_share = 0;  // mean over the readings: concurrent kernels count once each
};

// Energy above what the device draws anyway. Whole microjoules, so that parts sum exactly.
struct EnergyPart {
  std::string name;
  int64_t energy_uj = 0;
  double low_j = std::numeric_limits<double>::quiet_NaN();
  double high_j = std::numeric_limits<double>::quiet_NaN();
  int64_t busy_ns = 0;  // summed duration inside the covered time
  uint64_t count = 0;
  bool alone = true;  // its class is its own; else its share of the class is by duration
};

struct EnergyGrouping {
  std::string key;
  std::string title;
  std::vector<EnergyPart> parts;  // most first; sums to EnergyReport::kernels_uj
};

struct EnergyReport {
  int64_t begin_ns = 0;  // where the trace and the log overlap
  int64_t end_ns = 0;
  int64_t covered_ns = 0;       // of that, what readings stand for: without holes in the log
  int64_t total_uj = 0;         // measured: readings times the time since the one before
  int64_t base_uj = 0;          // drawn anyway
  int64_t kernels_uj = 0;       // sum of `kernels`
  int64_t unattributed_uj = 0;  // total - base - kernels; may be negative
  double base_w = 0;
  double base_low_w = std::numeric_limits<double>::quiet_NaN();
  double base_high_w = std::numeric_limits<double>::quiet_NaN();
  double mean_w = 0;
  double explained = 0;   // share of the readings' variance
  double residual_w = 0;  // standard deviation around the model
  uint64_t readings = 0;  // independent ones used
  int64_t window_ns = 0;
  int64_t delay_ns = 0;
  std::string window_source;
  std::vector<PowerClass> classes;
  std::vector<EnergyPart> kernels;        // by name, most first; sums to kernels_uj
  std::vector<EnergyPart> operators;      // by the operator that caused the work; same sum
  std::vector<EnergyGrouping> groupings;  // one per AttributeOptions::groupings
  std::vector<EnergyPart> iterations;     // with their share of the base; outside ones not listed
  std::vector<EnergyPart> phases;         // prefill and decode, likewise; empty when not told apart
  double energy_per_token_j = std::numeric_limits<double>::quiet_NaN();
  TrustNotes trust;
};

// Fails where the log and the trace do not overlap, or overlap in fewer than 20 readings; the
// message says both ranges.
Result<EnergyReport> attribute_energy(const Trace& trace, const Links& links,
                                      const Windows& windows, const Phases& phases,
                                      const PowerSeries& series, const AttributeOptions& options);

}  // namespace assay
