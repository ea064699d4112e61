#pragma once

// The clocks of a recording: the tracer's, CLOCK_MONOTONIC and CLOCK_REALTIME, sampled together
// repeatedly. A Trace uses tracer time; the others are converted to it.

#include <cstdint>
#include <vector>

#include "collect/wire.h"
#include "trace/import_log.h"

namespace assay {

class RecordingClock {
 public:
  void add(const wire::Clock& clock) { clocks_.push_back(clock); }
  // kind: of the process. header: a clock pair used if there is no Clock record.
  void settle(wire::ClockKind kind, const wire::FileHeader* header);

  // Tracer time of a moment on CLOCK_MONOTONIC.
  int64_t tracer_time(uint64_t monotonic_ns) const;
  // To be added to tracer times for the time since the epoch: that of the first pair, so that
  // durations stay what they were measured to be.
  int64_t base_ns() const { return base_ns_; }
  // Drift of the tracer's clock against CLOCK_MONOTONIC between the first pair and the last, and
  // the time between them; 0 if it is that clock.
  int64_t drift_ns() const { return drift_ns_; }
  int64_t told_ns() const { return told_ns_; }
  void report(ImportLog& log) const;

 private:
  int64_t offset(const wire::Clock& clock) const;

  std::vector<wire::Clock> clocks_;
  wire::ClockKind kind_ = wire::ClockKind::kNone;
  int64_t base_ns_ = 0;
  int64_t drift_ns_ = 0;
  int64_t told_ns_ = 0;
  uint64_t wall_steps_ = 0;
  uint64_t tracer_steps_ = 0;
};

}  // namespace assay
