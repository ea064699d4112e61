#pragma once

// The same work under several power caps or clocks: time, energy and their changes per setting,
// with intervals from the sensor and the scatter of the iterations.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

// One recording of the work.
struct SettingRun {
  std::string name;                 // "300 W"
  std::string gpu;                  // GPU model; empty if unknown
  std::vector<double> iteration_s;  // duration of each iteration
  std::vector<double> iteration_j;  // energy of each iteration; parallel to iteration_s
  double power_w = 0;               // mean over all of them
  double power_low_w = 0;           // 95 %, of the sensor alone
  double power_high_w = 0;
  std::map<std::string, double> launches;  // of each kernel per iteration
};

struct Between95 {
  double value = 0;
  double low = 0;  // 95 %
  double high = 0;
};

// Change relative to the first setting: -0.1 is 10 % less. `told`: significant, as the interval
// excludes 0.
struct SettingChange {
  Between95 share;
  bool told = false;
};

struct SettingResult {
  std::string name;
  size_t iterations = 0;
  Between95 time_s;    // per iteration
  Between95 power_w;   // mean
  Between95 energy_j;  // per iteration
  Between95 edp_js;    // energy times delay, per iteration
  SettingChange time_change;
  SettingChange energy_change;
  SettingChange edp_change;
};

struct SettingsReport {
  std::string gpu;
  std::vector<SettingResult> settings;  // as given; the others are compared with the first
  // Indices into settings; SIZE_MAX if no setting is significantly lower than the first.
  size_t least_energy = SIZE_MAX;
  size_t least_edp = SIZE_MAX;
};

// Fails with fewer than two runs, fewer than three iterations in one, or different GPUs. Fails also
// if more than 2 % of an iteration's launches have no counterpart in the first run; the message
// names the largest difference. No interval includes the gain of the sensor, because the card is
// the same and shares do not depend on it.
Result<SettingsReport> compare_settings(const std::vector<SettingRun>& runs);

}  // namespace assay
