#pragma once

// Calibration of one GPU's power sensor (spec/power 4.1), stored per GPU and driver.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "records/power_recording.h"

namespace assay {

// Kind of mean of a sample, from its response to pulses.
enum class ResponseKind : uint8_t { kNotTold, kBoxcar, kExponential };
std::string_view response_kind_name(ResponseKind kind);

struct ResponseTime {
  int64_t ns = 0;
  int64_t low_ns = 0;  // 95 %
  int64_t high_ns = 0;
};

// Response of a sensor to a switched load. For an exponential mean, `window` is its time constant,
// and `ramp` that of another lag, the shorter of the two. No single sample shows which of the two
// is the sensor's and which the device's. For an unknown kind, all times are those of a boxcar.
struct SensorResponse {
  ResponseKind kind = ResponseKind::kNotTold;
  ResponseTime window;
  ResponseTime ramp;
  ResponseTime delay;
  double residual_w = 0;
  // Samples scatter more around the response than at steady load: the device's power is not a step
  // after a ramp. Intervals then cover all values with at most a quarter more scatter.
  bool misfit = false;

  // A boxcar without a ramp, or with one that a curve inside a kernel does not show: a fifth of the
  // window at most.
  bool is_boxcar_alone() const {
    return kind == ResponseKind::kBoxcar && 5 * ramp.high_ns < window.ns;
  }
  // Delay of a response that is not a boxcar: time constants, or their maximum if they may be 0.
  int64_t lag_ns() const {
    const int64_t behind = ramp.low_ns > 0 ? ramp.ns : ramp.high_ns;
    return kind == ResponseKind::kExponential ? window.ns + ramp.ns : behind;
  }
  // Each is known to less than half of what both are.
  bool told_apart() const {
    const int64_t both = window.ns + 2 * ramp.ns;
    return window.high_ns - window.low_ns < both / 2 && 2 * (ramp.high_ns - ramp.low_ns) < both / 2;
  }
};

struct SensorCalibration {
  std::string device;
  std::string driver;
  std::string uuid;
  SensorModel sensor;
  double share_sampled = 0;  // window over period, at most 1: the part of the time that is seen
  double idle_w = 0;         // of the fit
  double load_w = 0;
  double residual_w = 0;  // standard deviation of samples around boxcar(load)
  SensorResponse response;
  uint32_t updates = 0;  // readings fitted
  uint32_t steps = 0;    // of the load
  // Mean reading over mean power by the energy counter; NaN where there is no such counter.
  double linearity_idle = std::numeric_limits<double>::quiet_NaN();
  double linearity_load = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace assay
