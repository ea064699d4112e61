#pragma once

// Host overhead by layer, for traces or for a sweep over batch sizes.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "floor/floor.h"
#include "overhead/kernel_db.h"
#include "overhead/overhead.h"

namespace assay {

struct HostOverheadRequest {
  TraceRequest traces = {};
  HostOverheadOptions options = {};  // its `floor` and `kernels` are ignored
  std::string floor = {};            // as LaunchRequest
  std::string replay = {};           // replay file with the measured decomposition of one trace
  std::string untraced = {};         // as untraced_times() (answers/untraced.h)
  size_t top = 10;                   // unique kernels listed; 0 = all
  // Receives the unique kernels of a trace, for replay; absent if not requested.
  std::function<Status(const KernelDatabase&)> kernels = {};
};
Result<Answer> answer_overhead(const HostOverheadRequest& request);

struct HostOverheadSweepPlatform {
  std::string name = {};
  std::string flag = {};                  // flag of its traces in error messages: "--batch"
  std::vector<std::string> batches = {};  // "8=FILE", "4x2048=FILE", or folders (inputs/sweep.h)
};
// platforms: one, or two to compare. The inputs of `overhead` are ignored.
struct HostOverheadSweepRequest {
  HostOverheadRequest overhead = {};
  std::vector<HostOverheadSweepPlatform> platforms = {};
};
Result<Answer> answer_overhead_sweep(const HostOverheadSweepRequest& request);

// The options for one trace.
HostOverheadOptions overhead_options(const HostOverheadRequest& request, const LoadedTrace& loaded,
                                     const LaunchFloor& floor);

}  // namespace assay
