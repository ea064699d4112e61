#pragma once

// The first execution after which time and power of a kernel do not change (spec/power 2 step 4:
// they rise, then fall, when the device throttles during warm-up).

#include <cstdint>
#include <vector>

#include "records/power_recording.h"

namespace assay {

// Long runs of one kernel, all with the same number of executions.
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

// Changes in one long run after the length of normal runs: heat and power limits act within
// seconds.
struct LateSettling {
  int64_t watched_ns = 0;   // 0: not measured, and nothing below is valid
  bool changes = false;     // time or power by more than 1 %
  int64_t after_ns = 0;     // time into the run after which nothing changes
  bool goes_on = false;     // still changing in the last quarter; after_ns is 0
  double time_change = 0;   // late execution time / early execution time - 1
  double power_change = 0;  // likewise; NaN without samples in the early part
  double late_w = 0;        // power in the last quarter; NaN without samples
};

// `record`: one run. Its executions [from, until) are the early part, which must be settled.
LateSettling find_late_settling(const SettlingRecord& record, uint32_t from, uint32_t until);

}  // namespace assay
