#pragma once

// What calibration found out about one GPU's power sensor (spec/power 4.1), kept per GPU and
// driver.

#include <cstdint>
#include <limits>
#include <string>

#include "records/power_recording.h"

namespace assay {

struct SensorCalibration {
  std::string device;
  std::string driver;
  std::string uuid;
  SensorModel sensor;
  double share_sampled = 0;  // window over period, at most 1: the part of the time that is seen
  double idle_w = 0;         // of the fit
  double load_w = 0;
  double residual_w = 0;  // standard deviation of readings around boxcar(load)
  // Windows and ramps that, together, fit clearly better than any window without a ramp: `sensor`
  // keeps that window, which is as long as both. 0: a window alone fits as well.
  int64_t window_low_ns = 0;
  int64_t window_high_ns = 0;
  int64_t ramp_low_ns = 0;
  int64_t ramp_high_ns = 0;
  double ramped_residual_w = std::numeric_limits<double>::quiet_NaN();
  uint32_t updates = 0;  // readings fitted
  uint32_t steps = 0;    // of the load
  // Mean reading over mean power by the energy counter; NaN where there is no such counter.
  double linearity_idle = std::numeric_limits<double>::quiet_NaN();
  double linearity_load = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace assay
