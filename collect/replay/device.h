#pragma once

// The GPU that the replay runs on, as its driver names it: asked through the driver's own library,
// so that no CUDA headers are needed to compile.

#include <string>

namespace assay::replay {

struct DeviceFacts {
  std::string name;    // empty: no NVIDIA driver here
  std::string uuid;    // "GPU-…"
  std::string driver;  // CUDA version that it supports, "13.0"
};

DeviceFacts device_facts();

}  // namespace assay::replay
