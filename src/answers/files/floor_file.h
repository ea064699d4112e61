#pragma once

// Writes launch floors (docs/formats/floor.md), and reads what the null-kernel program leaves where
// no tracer stands beside it.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/replay.h"

namespace assay {

struct MeasuredFloor {
  GpuFloor floor;
  std::string architecture = {};  // "gfx90a:sramecc+:xnack-"; empty = not told
  std::optional<SampleStats> call = {};
  std::optional<SampleStats> round_trip = {};
};

// Fails when there is none, or their GPUs are of two kinds.
Result<std::string> floor_file_json(const MeasurementHead& head,
                                    const std::vector<MeasuredFloor>& floors);

// The lines that the null-kernel program writes for HIP (collect/null_kernel/hip.cc).
struct HipFloors {
  int runtime_version = 0;  // 60443484 is 6.4.43484
  std::vector<MeasuredFloor> floors;
};
Result<HipFloors> read_hip_floors(const std::string& path);

}  // namespace assay
