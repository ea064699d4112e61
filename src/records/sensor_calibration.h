#pragma once

// What calibration found out about one GPU's power sensor (spec/power 4.1), kept per GPU and
// driver.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "records/power_recording.h"

namespace assay {

// What kind of mean a reading is, as far as its answers to pulses tell.
enum class ResponseKind : uint8_t { kNotTold, kBoxcar, kExponential };
std::string_view response_kind_name(ResponseKind kind);

struct ResponseTime {
  int64_t ns = 0;
  int64_t low_ns = 0;  // 95 %
  int64_t high_ns = 0;
};

// A sensor's answer to a load that is switched. Of an exponential mean `window` is its time
// constant, and `ramp` that of another lag, the shorter of the two: whose is whose, the sensor's or
// the device's, no single reading tells. Where the kind is not told, all times are those of a
// boxcar.
struct SensorResponse {
  ResponseKind kind = ResponseKind::kNotTold;
  ResponseTime window;
  ResponseTime ramp;
  ResponseTime delay;
  double residual_w = 0;
  // Readings scatter more around the answer than where the load is steady: the device's power is no
  // step behind a ramp. Intervals then are all that scatters by at most a quarter more.
  bool misfit = false;

  // A boxcar without a ramp, or with one that a curve inside a kernel does not show: a fifth of the
  // window at most.
  bool is_boxcar_alone() const {
    return kind == ResponseKind::kBoxcar && 5 * ramp.high_ns < window.ns;
  }
  // How slow that is which is no boxcar: time constants, where they may be 0 the most they may be.
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
  double residual_w = 0;  // standard deviation of readings around boxcar(load)
  SensorResponse response;
  uint32_t updates = 0;  // readings fitted
  uint32_t steps = 0;    // of the load
  // Mean reading over mean power by the energy counter; NaN where there is no such counter.
  double linearity_idle = std::numeric_limits<double>::quiet_NaN();
  double linearity_load = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace assay
