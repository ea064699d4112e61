#pragma once

// Writes files of launch-overhead floors (docs/formats/floor.md), and reads the output of the
// null-kernel program without a tracer.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/replay.h"

namespace assay {

struct MeasuredFloor {
  GpuFloor floor;
  std::string architecture = {};  // "gfx90a:sramecc+:xnack-"; empty = unknown
  std::optional<SampleStats> call = {};
  std::optional<SampleStats> round_trip = {};
};

// Fails if `floors` is empty, or if the GPUs are of two models.
Result<std::string> floor_file_json(const MeasurementHead& head,
                                    const std::vector<MeasuredFloor>& floors);

// Output of the null-kernel program for HIP (collect/null_kernel/hip.cc).
struct HipFloors {
  int runtime_version = 0;  // 60443484 is 6.4.43484
  std::vector<MeasuredFloor> floors;
};
Result<HipFloors> read_hip_floors(const std::string& path);

// Output of the null-kernel program for CUDA (collect/null_kernel/cuda.cc): the GPU clock before
// and after the counted launches.
struct CudaClocks {
  int64_t device = 0;
  LaunchPath path = LaunchPath::kUnknown;
  uint32_t sm_mhz_before = 0;  // 0 = unknown
  uint32_t sm_mhz_after = 0;
};
Result<std::vector<CudaClocks>> read_cuda_clocks(const std::string& path);

}  // namespace assay
