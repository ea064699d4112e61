#pragma once

// Measures how the power sensor of this machine averages and reports (spec/power 4.1, after Yang,
// Adamek and Armour, "Part-time Power Measurements", SC24). The period follows from the times at
// which the value changes. Window and delay follow from square waves of load with random lengths.
// Linearity is checked against the energy counter.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "devices/device.h"
#include "power/procedure.h"
#include "power/sensor_response.h"
#include "records/sensor_calibration.h"

namespace assay {

// Every change of value, at the middle of the two polls around it.
std::vector<SensorUpdate> find_updates(const std::vector<PowerSample>& polls);
// Mean time between updates. Corrects for updates that repeat a value and are therefore not
// visible. 0 with fewer than three updates.
int64_t update_period_ns(const std::vector<SensorUpdate>& updates);

struct BoxcarFit {
  int64_t window_ns = 0;
  int64_t delay_ns = 0;
  double idle_w = 0;
  double load_w = 0;
  double residual_w = 0;
  double explained = 0;  // share of the samples' variance
};
// Window and delay for which boxcar(load) fits the samples best in least squares. `busy`: load
// intervals in order.
BoxcarFit fit_boxcar(const std::vector<SensorUpdate>& updates, const BusyTimes& busy,
                     int64_t longest_ns);

struct CalibrationOptions {
  uint64_t seed = 1;
  std::function<void(const ProcedureProgress&)> progress;
  // Gets the updates of the sensor and the times of the load, to inspect the fit: run 0 has the
  // long pulses, run 1 the short ones.
  std::function<Status(const PowerRunRecord&)> recorded;
};

// Fails if the sensor shows fewer than three values, changes as often as it can be polled, or does
// not follow the load; the message says which.
Result<SensorCalibration> calibrate_sensor(PowerDevice& device, const CalibrationOptions& options);

}  // namespace assay
