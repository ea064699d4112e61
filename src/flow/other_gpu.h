#pragma once

// The run on other GPUs. Every kernel takes the time that its work needs there (roof/scaling.h),
// and the graph is replayed. A stretch in which the GPU waits for the host keeps its length.
// Definitions: docs/metrics.md, On other GPUs.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/edits.h"
#include "flow/flow.h"
#include "flow/host_pace.h"
#include "flow/work_scales.h"
#include "trace/iterations.h"

namespace assay {

struct OtherGpuOptions {
  std::vector<OtherGpu> gpus = {};
  // The profiler's overhead per operator and call, which is removed: high, middle, low.
  std::optional<std::array<double, 3>> row_cost_ns = {};
  OtherHost host = {};  // replaces the recorded one
  RoofSources roof = {};
};

// A time in ns or a ratio, with its 90 % interval.
struct Ends90 {
  double low = 0;
  double middle = 0;
  double high = 0;
};

struct RunOnGpu {
  OtherGpu gpu;
  DeviceRoof roof;
  // Specifications of the card that the rule needs; if any is missing, no field below is set.
  std::string missing;
  GpuChange change = GpuChange::kNone;
  bool fits = true;        // the reserved memory fits; true if it was not recorded
  bool has_middle = true;  // `middle` is meaningful: half of the kernel time has known work
  double known_share = 0;  // share of the kernel time with known work
  Ends90 kernels;          // factor of the summed time of kernels and collectives
  Ends90 run_ns;
  Ends90 gain;              // time on the recorded GPU / time here, both with the same host
  bool host_binds = false;  // less than half of a further kernel speedup reaches the run
  bool binds_sure = false;  // host_binds is the same at both ends of the interval
  bool fabric_changes = false;
  std::vector<FamilyScale> families;
  std::map<std::string, int64_t> lacking_ns;
  int64_t kernel_ns = 0;

  bool has_time() const { return gain.high > 0; }
};

struct OtherGpus {
  // Why there is no replay. Never kUnlinked: the intervals cover what missing launch calls may
  // hide.
  EditRefusal refusal = EditRefusal::kNone;
  DeviceRoof recorded;
  uint32_t gpu_count = 1;        // GPUs of the run
  std::string recorded_missing;  // as RunOnGpu::missing, for the recorded GPU
  HostPace host;
  int64_t recorded_ns = 0;     // the run as recorded
  Ends90 now_ns;               // on the recorded GPU with `host`
  Ends90 bound_gain;           // speedup if kernels and collectives took no time
  Ends90 host_ns;              // time of the run in that case
  int64_t kernel_ns = 0;       // summed durations of kernels and collectives
  double knee = 0;             // kernel time factor below which the host binds; 0 = none
  double slack_5_percent = 0;  // kernel time factor at which the run is 5 % longer; 0 = beyond 64
  double known_share = 0;     // share of the kernel time with known work, over all GPUs the largest
  double unlinked_share = 0;  // share of the device time without a launch call
  int64_t reserved_bytes = -1;  // maximum; -1 = not recorded
  std::vector<RunOnGpu> gpus;   // in the order of OtherGpuOptions::gpus

  // At least half of the device time has a launch call. Otherwise the host's part of the run is not
  // known, and bound, knee and slack are 0.
  bool host_known() const { return unlinked_share <= 0.5; }
};

// iterations and report must be of the same run.
OtherGpus explore_gpus(const FlowModel& model, const Windows& iterations, const FlowReport& report,
                       const OtherGpuOptions& options);

}  // namespace assay
