#pragma once

// How this machine's power sensor averages and reports, measured (spec/power 4.1, after Yang,
// Adamek and Armour, "Part-time Power Measurements", SC24): the period from the times at which its
// value changes, window and delay from square waves of load of random lengths, linearity against
// the energy counter.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "devices/device.h"
#include "power/procedure.h"
#include "records/sensor_calibration.h"

namespace assay {

// A new value of the sensor and when it was first seen, on the CPU's clock.
struct SensorUpdate {
  int64_t t_ns = 0;
  double power_w = 0;
};

// The first sighting of every value, half a poll earlier: on average when it appeared.
std::vector<SensorUpdate> find_updates(const std::vector<PowerSample>& polls);
// Mean time between updates; updates that repeated a value and so went unseen are allowed for. 0
// when there are fewer than three.
int64_t update_period_ns(const std::vector<SensorUpdate>& updates);

struct BoxcarFit {
  int64_t window_ns = 0;
  int64_t delay_ns = 0;
  double idle_w = 0;
  double load_w = 0;
  double residual_w = 0;
  double explained = 0;  // share of the readings' variance
};
// Window and delay for which boxcar(load) is closest to the readings in least squares. `busy`: when
// the load ran, in order.
BoxcarFit fit_boxcar(const std::vector<SensorUpdate>& updates,
                     const std::vector<std::pair<int64_t, int64_t>>& busy, int64_t longest_ns);

// Windows behind a first-order rise, of the device's power or of the sensor.
struct RampedFit {
  int64_t ramp_ns = 0;  // time constant of the best; 0: a window alone is as good
  int64_t ramp_low_ns = 0;
  int64_t ramp_high_ns = 0;
  int64_t window_low_ns = 0;
  int64_t window_high_ns = 0;
  double residual_w = 0;
};
// All (window, ramp) whose scatter is at most a quarter above the least: readings scatter by what
// no such model has, so that the usual test would take any small gain for certain. A ramp is told
// only where no window alone is among them.
RampedFit fit_ramp(const std::vector<SensorUpdate>& updates,
                   const std::vector<std::pair<int64_t, int64_t>>& busy, const BoxcarFit& alone);

struct CalibrationOptions {
  uint64_t seed = 1;
  std::function<void(const ProcedureProgress&)> progress;
  // The first sighting of every value, and when the load ran, for who wants to look at the fit.
  std::function<Status(const PowerRunRecord&)> recorded;
};

// Fails where readings do not follow the load: the result says how.
Result<SensorCalibration> calibrate_sensor(PowerDevice& device, const CalibrationOptions& options);

}  // namespace assay
