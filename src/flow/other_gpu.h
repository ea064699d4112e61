#pragma once

// The run on other GPUs. Every kernel takes the time that its work needs there (roof/scaling.h),
// and the graph is replayed. A stretch in which the GPU waits for the host keeps its length.
// Definitions: docs/metrics.md, On other GPUs.

#include <cstdint>
#include <string>
#include <vector>

#include "flow/edits.h"
#include "flow/flow.h"
#include "flow/host_pace.h"
#include "flow/work_scales.h"
#include "trace/iterations.h"

namespace assay {

struct OtherGpuOptions {
  std::vector<OtherGpu> gpus;
  bool as_recorded = false;  // the host keeps what the profiler took of it
  OtherHost host = {};       // in place of the recorded one
  RoofSources roof = {};
};

// A time or a ratio with the ends of its 90 % interval.
struct Ends90 {
  double low = 0;
  double middle = 0;
  double high = 0;
};

struct RunOnGpu {
  OtherGpu gpu;
  DeviceRoof roof;
  std::string missing;  // attributes of the card that the rule needs; if any, nothing below
  GpuChange change = GpuChange::kNone;
  bool fits = true;        // the reserved memory; true where it was not recorded
  bool has_middle = true;  // half of the kernel time has known work
  double known_share = 0;  // of the kernel time
  Ends90 kernels;          // factor of the summed time of kernels and collectives
  Ends90 run_ns;
  Ends90 gain;              // the run now / the run there, both with the same host
  bool host_binds = false;  // less than half of a further gain of the kernels reaches the run
  bool binds_sure = false;  // at both ends, too
  bool fabric_changes = false;
  std::vector<FamilyScale> families;
  std::map<std::string, int64_t> lacking_ns;
  int64_t kernel_ns = 0;

  bool has_time() const { return gain.high > 0; }
};

struct OtherGpus {
  // The reason why no replay is made. It is never a missing launch call, because intervals hold
  // what those may hide.
  EditRefusal refusal = EditRefusal::kNone;
  DeviceRoof recorded;
  uint32_t gpu_count = 1;        // GPUs of the run
  std::string recorded_missing;  // as RunOnGpu::missing, of the recorded GPU
  HostPace host;
  int64_t recorded_ns = 0;  // the run as recorded
  Ends90 now_ns;            // with this host, on the recorded GPU
  Ends90 bound_gain;        // with kernels and collectives that take no time
  Ends90 host_ns;           // what the run takes then
  int64_t kernel_ns = 0;    // summed durations of kernels and collectives
  double knee = 0;          // factor of the kernels below which the host binds; 0 = at none
  double slack_5_percent =
      0;                      // factor of the kernels at which the run is 5 % longer; 0 = beyond 64
  double known_share = 0;     // of the kernel time, with known work
  double unlinked_share = 0;  // of the device time, without a launch call
  int64_t reserved_bytes = -1;  // at most, of the device; -1 = not recorded
  std::vector<RunOnGpu> gpus;   // as asked

  // At least half of the device time has a launch call. Otherwise the host's part of the run is not
  // known, and bound, knee and slack are 0.
  bool host_known() const { return unlinked_share <= 0.5; }
};

// iterations, report: of the same run.
OtherGpus explore_gpus(const FlowModel& model, const Windows& iterations, const FlowReport& report,
                       const OtherGpuOptions& options);

}  // namespace assay
