#pragma once

// Response of a power sensor to a load that is switched on and off: the joint fit of `assay power
// calibrate` (spec/energy 8.5). Samples are means over a window (boxcar) or exponential means,
// after a delay. The power itself follows the load with a first-order ramp. A long pulse shows only
// window/2 + ramp; pulses of about the window's length show each. This fit has one load, ramps of
// any length and a second exponential. The joint model of power/joint has many classes and ramps of
// a list.

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/sensor_calibration.h"

namespace assay {

// A new value of the sensor and when it was first seen, on the CPU's clock.
struct SensorUpdate {
  int64_t t_ns = 0;
  double power_w = 0;
};
// When the load ran, in order.
using BusyTimes = std::vector<std::pair<int64_t, int64_t>>;

// Recording of one sequence of pulses. Each sequence has its own power without and with load,
// because a device that switches often may draw different power from one that rests in between.
struct PulseTrain {
  std::vector<SensorUpdate> updates;
  BusyTimes busy;
};

// Time in ns that the load ran up to t. With a ramp, the integral of a power c that follows the
// load: c' = (load - c) / ramp, so it is the load's integral minus ramp c. t is in ns since
// origin_ns, so that times since 1970 keep their precision.
class LoadIntegral {
 public:
  LoadIntegral(const BusyTimes& busy, int64_t origin_ns, double ramp_ns = 0);
  double until(double t) const;
  // c at t, from 0 (idle) to 1 (long under load).
  double reached(double t) const;

 private:
  struct Span {
    double start = 0;
    double end = 0;
    double before = 0;   // time the load ran before it
    double reached = 0;  // c at its start
  };
  // The last span that begins at t or before it; null when there is none.
  const Span* span_at(double t) const;
  double reached_in(const Span& span, double t) const;

  std::vector<Span> spans_;
  double ramp_ns_;
};

// Moves the updates onto the sensor's grid, a line through time over their number, if they are
// within half a poll of it (RMS). Otherwise returns them unchanged.
std::vector<SensorUpdate> on_their_grid(std::vector<SensorUpdate> updates, int64_t period_ns,
                                        int64_t poll_ns);

// `alone_ns`, `delay_ns`: the best window without a ramp and its delay, where the search starts.
// Trains are in order of time and need 16 updates and one pulse in total.
SensorResponse fit_response(const std::vector<PulseTrain>& trains, int64_t alone_ns,
                            int64_t delay_ns);

}  // namespace assay
