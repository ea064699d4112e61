#pragma once

// When to sample, and how the clocks changed in between.

#include <cstdint>
#include <optional>

namespace assay::sample {

// One moment on both clocks.
struct Moment {
  int64_t realtime_ns = 0;   // CLOCK_REALTIME, since 1970
  int64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
};
// Takes the tightest of several reads. A read during which the process was preempted would look
// like a clock step.
Moment now();

// Ticks at start, start + period, ... A tick is missed if the next one is due before its sample can
// be taken; the sampler then continues with the next future tick.
class Ticker {
 public:
  Ticker(int64_t start_ns, int64_t period_ns) : start_ns_(start_ns), period_ns_(period_ns) {}
  // The next tick after `now_ns`. Counts the ticks that it skips.
  int64_t next_ns(int64_t now_ns);
  // Call with the time of the final sample. That sample takes the place of the last issued tick;
  // later ticks due by then were missed.
  void end(int64_t now_ns);
  uint64_t missed() const { return missed_; }

 private:
  int64_t start_ns_;
  int64_t period_ns_;
  int64_t tick_ = 0;  // the last one issued; the start is tick 0
  uint64_t missed_ = 0;
};

// Detects that CLOCK_REALTIME was set while CLOCK_MONOTONIC continued.
class StepWatch {
 public:
  // The movement of the realtime clock relative to the monotonic clock since the last moment, if
  // rate adjustment (adjtimex: at most 500 ppm) explains all but more than a millisecond of it.
  std::optional<int64_t> step_ns(const Moment& moment);

 private:
  std::optional<Moment> last_;
};

}  // namespace assay::sample
