#pragma once

// The first execution after which time and power of a kernel do not change (spec/power 2 step 4:
// rise, then fall, when the device throttles during warm-up). Pure.

#include <cstdint>
#include <vector>

#include "records/power_recording.h"

namespace assay {

// Long runs of one kernel, all with as many executions.
struct SettlingRecord {
  std::vector<std::vector<PowerExecution>> runs;
  std::vector<PowerSample> samples;
  std::vector<ClockProbe> probes;
  SensorModel sensor;
  double tick_hz = 1e9;
  bool samples_on_cpu_clock = false;
};

struct Settling {
  bool settled = false;         // the last two quarters agree, in power within 1 %
  uint32_t from_execution = 0;  // this execution and later ones agree with them; at least
                                // `warm_ups`
  int64_t t_exec_ns = 0;        // median in the last quarter
};

// Times count starting at execution `warm_ups`. Power counts starting at `power_from`, so that the
// sensor's window contains nothing of the warm-ups.
Settling find_settling(const SettlingRecord& record, uint32_t warm_ups, uint32_t power_from);

// The part of one long run after the length of other runs: heat and power limits act within
// seconds.
struct LateSettling {
  int64_t watched_ns = 0;   // 0: nothing was watched, and nothing below is known
  bool changes = false;     // time or power by more than 1 %
  int64_t after_ns = 0;     // run time after which nothing changes, except in the early part
  bool goes_on = false;     // it changes, and still does in the last quarter: after_ns is 0
  double time_change = 0;   // of an execution, share of the early one
  double power_change = 0;  // likewise; NaN where no reading lies in the early part
  double late_w = 0;        // power in the last quarter; NaN without samples
};

// `record`: one run. Its executions from `from` to `until` are the early part, and are settled.
LateSettling find_late_settling(const SettlingRecord& record, uint32_t from, uint32_t until);

}  // namespace assay
