#pragma once

// The clocks of a recording: the tracer's, CLOCK_MONOTONIC and CLOCK_REALTIME, sampled together
// several times. A Trace uses tracer time; other times are converted to it.

#include <cstdint>
#include <vector>

#include "collect/wire.h"
#include "trace/import_log.h"

namespace assay {

class RecordingClock {
 public:
  void add(const wire::Clock& clock) { clocks_.push_back(clock); }
  // Call once, after the last add(). kind: the tracer's clock. header: its pair of CLOCK_REALTIME
  // and CLOCK_MONOTONIC is used if there are no Clock records; may be null.
  void settle(wire::ClockKind kind, const wire::FileHeader* header);

  // Converts CLOCK_MONOTONIC to tracer time, interpolating between the samples.
  int64_t tracer_time(uint64_t monotonic_ns) const;
  // Offset from tracer time to the time since the epoch, from the first sample. It is constant, so
  // that durations stay as measured.
  int64_t base_ns() const { return base_ns_; }
  // drift_ns: drift of the tracer's clock against CLOCK_MONOTONIC from the first sample to the
  // last; 0 if it is that clock, or if a clock was set in between. told_ns: time between these
  // samples.
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
