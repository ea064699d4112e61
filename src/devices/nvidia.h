#pragma once

// NVIDIA GPUs: the CUDA driver API, NVML for power, cuBLAS, NCCL and NVRTC where a workload needs
// them, all opened at run time. Reads only; no clock, limit or mode is ever set.

#include <memory>
#include <string>
#include <vector>

#include "devices/device.h"

namespace assay {

struct NvidiaLibraries {
  std::vector<std::string> driver = {"libcuda.so.1"};
  std::vector<std::string> nvml = {"libnvidia-ml.so.1"};
  std::vector<std::string> blas = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
  std::vector<std::string> collectives = {"libnccl.so.2"};
  std::vector<std::string> compiler = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
};
// Fails if the driver, NVML, the GPU or the requested kind of power sample is missing.
Result<std::unique_ptr<PowerDevice>> open_nvidia_device(int ordinal,
                                                        const NvidiaLibraries& libraries = {},
                                                        SensorChoice sensor = SensorChoice::kAuto);

}  // namespace assay
