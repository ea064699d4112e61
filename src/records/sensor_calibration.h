#pragma once

// Calibration of one GPU's power sensor (spec/power 4.1), stored per GPU and driver.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "records/power_recording.h"

namespace assay {

// How samples average, inferred from their response to pulses.
enum class ResponseKind : uint8_t { kNotTold, kBoxcar, kExponential };
std::string_view response_kind_name(ResponseKind kind);

struct ResponseTime {
  int64_t ns = 0;
  int64_t low_ns = 0;  // 95 % interval
  int64_t high_ns = 0;
};

// Response of a sensor to a switched load. For kExponential, `window` is its time constant, and
// `ramp` that of a second lag, the shorter of the two; samples do not show which of the two is the
// sensor's and which the device's. For kNotTold, all times are those of a boxcar.
struct SensorResponse {
  ResponseKind kind = ResponseKind::kNotTold;
  ResponseTime window;
  ResponseTime ramp;
  ResponseTime delay;
  double residual_w = 0;
  // Samples scatter more around the response than at steady load: the device's power does not rise
  // as modelled. The intervals then include all values with at most a quarter more scatter.
  bool misfit = false;

  // A boxcar with no ramp or one of less than a fifth of the window, which a curve inside a kernel
  // does not show.
  bool is_boxcar_alone() const {
    return kind == ResponseKind::kBoxcar && 5 * ramp.high_ns < window.ns;
  }
  // Sum of the time constants of a response that is not a pure boxcar. If the ramp may be 0, its
  // upper bound.
  int64_t lag_ns() const {
    const int64_t behind = ramp.low_ns > 0 ? ramp.ns : ramp.high_ns;
    return kind == ResponseKind::kExponential ? window.ns + ramp.ns : behind;
  }
  // True if the intervals of window and of 2 x ramp are each narrower than half of window + 2 x
  // ramp.
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
  double share_sampled = 0;  // window / period, at most 1: the share of time that is measured
  double idle_w = 0;         // fitted
  double load_w = 0;
  double residual_w = 0;  // standard deviation of samples around boxcar(load)
  SensorResponse response;
  uint32_t updates = 0;  // fitted samples
  uint32_t steps = 0;    // steps of the load
  // Mean sample over mean power of the energy counter; NaN if there is no such counter.
  double linearity_idle = std::numeric_limits<double>::quiet_NaN();
  double linearity_load = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace assay
