#pragma once

// The GPU of the replay, from the driver's own library, so that the build needs no CUDA headers.

#include <string>

namespace assay::replay {

struct DeviceFacts {
  std::string name;    // empty: no NVIDIA driver here
  std::string uuid;    // "GPU-…"
  std::string driver;  // supported CUDA version, "13.0"
};

DeviceFacts device_facts();

}  // namespace assay::replay
