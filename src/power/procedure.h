#pragma once

// The nine steps of FinGraV over a device (spec/power 2): time the kernel, look the plan up, deduce
// warm-ups and how many executions fill the sensor's window and outlast throttling, run with seeded
// random delays, discard, align clocks, count samples of interest, run more if there are too few,
// stitch. Every raw record is handed on as it comes, so that an interrupt loses nothing.

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
  std::optional<SensorModel> sensor;  // calibrated; absent: what the device documents
  std::optional<uint32_t> runs;       // absent: Table I
  uint32_t rounds = 5;                // further rounds, when samples of interest are short
  // The paper's max(ceil(w/T), 4) executions, whose window still holds some of what was before;
  // else warm-ups + ceil(w/T) + 1.
  bool paper_counts = false;
  // No further run is begun that would end later than this after the procedure's start, of which
  // timing and planning are a part; 0: however long it takes.
  int64_t budget_ns = 0;
  bool random_delays = true;  // S1; off: every run starts in step with the sensor's period
  ProfileOptions profile;     // kernel, seed are set here
};

// What an earlier, interrupted procedure left.
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
  uint32_t runs_wanted = 0;  // of the plan and of the rounds that were begun
  bool out_of_time = false;  // fewer than wanted, since the budget was used up
  LateSettling late;         // what comes after the time that a run takes
  std::string late_failed;   // what the device said where it failed while that was watched
};

// Refusals (a kernel under 25 us, a sensor nobody knows, clocks too loose) are verdicts of the
// profile; errors are devices that fail and observers that stop.
Result<ProcedureResult> run_procedure(PowerDevice& device, const std::vector<WorkloadStep>& steps,
                                      const ProcedureOptions& options,
                                      const ProcedureObserver& observer,
                                      const ProcedureResume* resume = nullptr);

// Smallest j so that execution j and all later ones are within `margin` of the median from there
// on; the number of executions when none is.
uint32_t deduce_warm_ups(const std::vector<int64_t>& durations_ns, double margin);

}  // namespace assay
