#pragma once

// What calibration found out about one GPU's power sensor (spec/power 4.1), kept per GPU and
// driver.

#include <cstdint>
#include <limits>
#include <string>

#include "records/power_recording.h"

namespace assay {

// A length of time with its 95 % interval.
struct LengthBetween {
  int64_t value_ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
};

// What the same pulses say where the sensor need not be a mean over a window: that behind a
// first-order ramp, of the sensor or of the device. Not known: the readings do not follow it.
struct SensorResponse {
  bool known = false;
  LengthBetween window;
  LengthBetween ramp;
  LengthBetween delay;
  double explained = 0;  // share of the readings' variance
  // A ramp of a quarter of the window or more: a mean over a window is another sensor.
  bool is_boxcar() const { return 4 * ramp.low_ns <= window.value_ns; }
};

struct SensorCalibration {
  std::string device;
  std::string driver;
  std::string uuid;
  SensorModel sensor;
  SensorResponse response = {};
  double share_sampled = 0;  // window over period, at most 1: the part of the time that is seen
  double idle_w = 0;         // of the fit
  double load_w = 0;
  double residual_w = 0;  // standard deviation of readings around boxcar(load)
  uint32_t updates = 0;   // readings fitted
  uint32_t steps = 0;     // of the load
  // Mean reading over mean power by the energy counter; NaN where there is no such counter.
  double linearity_idle = std::numeric_limits<double>::quiet_NaN();
  double linearity_load = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace assay
