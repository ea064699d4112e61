#pragma once

// The run on other GPUs (flow/other_gpu.h): what a user asks, the files that this needs, and the
// results for one trace.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "answers/host_like.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "flow/judged.h"
#include "flow/other_gpu.h"
#include "flow/run_cost.h"
#include "flow/untraced.h"
#include "records/facts.h"

namespace assay {

struct OtherGpuRequest {
  std::vector<std::string> gpus = {};  // names in the specifications
  bool as_recorded = false;            // keep the profiler's overhead on the host
  double cpu_speed = 1;                // host speedup factor
  std::string like = {};               // without cpu_speed: recording made on the other host
  double link_gb_s = 0;                // bandwidth to peers in GB/s, 0 = as specified
  std::string prices = {};             // price file (answers/throughput/plan_files.h)

  bool is_asked() const { return !gpus.empty(); }
  // True if an option is set that has no effect without GPUs.
  bool lacks_gpus() const;
};

struct OtherGpuInputs {
  RoofSources roof = {};
  std::vector<GpuPrice> prices = {};
  std::optional<HostRecording> like = {};
};
// `facts` must outlive the result. device: the user's name of the recorded GPU, or empty. Errors: a
// name that is not a GPU of the specifications, and files that cannot be read.
Result<OtherGpuInputs> other_gpu_inputs(const OtherGpuRequest& request, const FactBook& facts,
                                        const std::string& device, const TraceRequest& traces);

struct OtherGpuFindings {
  OtherGpus gpus;
  std::vector<RunCost> costs;
};

// OtherGpuOptions::row_cost_ns as in every other answer about the trace; none without operators.
std::optional<std::array<double, 3>> profiler_row_cost(const JudgedRun& judged,
                                                       const Untraced& untraced);

// Everything must be of the loaded trace. Errors: the host recording is of another program.
Result<OtherGpuFindings> find_other_gpus(const OtherGpuRequest& request,
                                         const OtherGpuInputs& inputs, const LoadedTrace& loaded,
                                         const FlowModel& model, const JudgedRun& judged,
                                         const Untraced& untraced);

}  // namespace assay
