#pragma once

// When to sample, and what the clocks did meanwhile.

#include <cstdint>
#include <optional>

namespace assay::sample {

// One moment on both clocks.
struct Moment {
  int64_t realtime_ns = 0;   // CLOCK_REALTIME, since 1970
  int64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
};
// The tightest of a few readings: one during which the process was put aside would look like a
// clock that was set.
Moment now();

// Ticks at start, start + period, ... A tick whose time is over before its sample can be taken is
// missed: the sampler goes on with the next one that lies ahead, and is never late on purpose.
class Ticker {
 public:
  Ticker(int64_t start_ns, int64_t period_ns) : start_ns_(start_ns), period_ns_(period_ns) {}
  // The next tick after `now_ns`; ticks passed over are counted.
  int64_t next_ns(int64_t now_ns);
  // The last sample is taken, at `now_ns`, while the tick given out last was waited for: it stands
  // for the last one that is due, and what is due before it was missed.
  void end(int64_t now_ns);
  uint64_t missed() const { return missed_; }

 private:
  int64_t start_ns_;
  int64_t period_ns_;
  int64_t tick_ = 0;  // the last one given out; the start is tick 0
  uint64_t missed_ = 0;
};

// Tells when CLOCK_REALTIME was set while CLOCK_MONOTONIC ran on.
class StepWatch {
 public:
  // By how much the realtime clock moved against the monotonic one since the last moment, where
  // that is more than adjusting its rate explains (adjtimex: 500 ppm at most) by over a
  // millisecond.
  std::optional<int64_t> step_ns(const Moment& moment);

 private:
  std::optional<Moment> last_;
};

}  // namespace assay::sample
