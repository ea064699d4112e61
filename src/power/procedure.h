#pragma once

// The nine steps of FinGraV on a device (spec/power 2): time the kernel and look the plan up;
// deduce the warm-ups and the number of executions that fill the sensor's window and outlast
// throttling; run with seeded random delays. Then discard, align clocks and count samples of
// interest; run more if there are too few; stitch. The observer gets every raw record at once, so
// an interrupt loses nothing.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "devices/device.h"
#include "devices/workload.h"
#include "power/profile.h"
#include "power/settling.h"
#include "records/power_plan.h"
#include "records/power_recording.h"

namespace assay {

struct PowerRunRecord {
  uint32_t run = 0;
  std::vector<PowerSample> samples;
  std::vector<PowerExecution> executions;
  std::vector<ClockProbe> probes;
};

struct ProcedureProgress {
  const char* stage = "";
  uint32_t done = 0;
  uint32_t total = 0;
};

// All optional. A Status that is an error stops the procedure, which returns that error.
struct ProcedureObserver {
  // Before the first recorded run: the recording without rows, and the plan.
  std::function<Status(const PowerRecording& head, const PowerPlan& plan)> planned;
  std::function<Status(const PowerRunRecord& record)> recorded;
  std::function<void(const ProcedureProgress& progress)> progress;
};

struct ProcedureOptions {
  uint64_t seed = 1;
  std::optional<SensorModel> sensor;  // calibrated; if absent, as documented by the device
  std::optional<uint32_t> runs;       // absent: Table I
  uint32_t rounds = 5;                // further rounds, when samples of interest are short
  // Use the paper's max(ceil(w/T), 4) executions, with which the window also contains time before
  // them; else warm-ups + ceil(w/T) + 1.
  bool paper_counts = false;
  // Time limit from the start of the procedure, including timing and planning. No run begins that
  // would end later. 0 = no limit.
  int64_t budget_ns = 0;
  bool random_delays = true;  // S1; off: every run starts in step with the sensor's period
  ProfileOptions profile;     // kernel, seed are set here
};

// State of an earlier, interrupted procedure.
struct ProcedureResume {
  PowerRecording recording;
  PowerPlan plan;
};

struct ProcedureResult {
  PowerRecording recording;
  PowerPlan plan;
  KernelProfile profile;
  uint32_t rounds = 0;       // further rounds that were needed
  uint32_t runs = 0;         // that were recorded
  uint32_t runs_wanted = 0;  // planned, plus those of the rounds that began
  bool out_of_time = false;  // fewer runs than wanted because the budget ran out
  LateSettling late;         // changes after the length of a run
  std::string late_failed;   // device error while `late` was measured; empty if none
};

// Refusals (a kernel under 25 us, an unknown sensor, imprecise clocks) are results of the profile.
// Errors are device failures and observers that stop.
Result<ProcedureResult> run_procedure(PowerDevice& device, const std::vector<WorkloadStep>& steps,
                                      const ProcedureOptions& options,
                                      const ProcedureObserver& observer,
                                      const ProcedureResume* resume = nullptr);

// Smallest j such that execution j and all later ones are within `margin` of their median; the
// number of executions if there is none.
uint32_t deduce_warm_ups(const std::vector<int64_t>& durations_ns, double margin);

}  // namespace assay
