#pragma once

// Telemetry of this machine's GPUs while other programs use them: clocks, power, load, temperature.
// Uses NVML, AMD SMI and ROCm-SMI, loaded at run time. Creates no context on any GPU, and sets
// nothing.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

struct SampledGpu {
  std::string vendor;  // "nvidia", "amd"
  std::string source;  // library that is queried: "NVML", "AMD SMI", "ROCm-SMI"
  uint32_t index = 0;  // in the vendor library's order, which hides no GPU
  std::string name;
  std::string uuid;
  std::string bus_id;
  std::string power_reading;  // what power_w is: "instant", "average", "usage", "energy counter"
};

// NaN and nullopt: not available on this GPU or its driver.
struct GpuReading {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double power_w = kUnknown;
  double energy_j = kUnknown;  // counter with an arbitrary origin
  double sm_clock_mhz = kUnknown;
  double memory_clock_mhz = kUnknown;
  double gpu_util_percent = kUnknown;     // over the driver's last sampling period
  double memory_util_percent = kUnknown;  // share of that period in which memory was accessed
  double memory_used_bytes = kUnknown;
  double temperature_c = kUnknown;
  std::optional<uint64_t> throttle_reasons;  // NVML's bits
};

// The GPUs of one vendor.
class GpuTelemetry {
 public:
  virtual ~GpuTelemetry() = default;
  GpuTelemetry() = default;
  GpuTelemetry(const GpuTelemetry&) = delete;
  GpuTelemetry& operator=(const GpuTelemetry&) = delete;

  virtual const std::vector<SampledGpu>& gpus() const = 0;
  // place: index into gpus(). Never fails; values that cannot be read are unknown.
  virtual GpuReading read(size_t place) = 0;
};

// Fails if the library is missing or does not start.
Result<std::unique_ptr<GpuTelemetry>> open_nvidia_telemetry(
    const std::vector<std::string>& libraries = {"libnvidia-ml.so.1"});
// Uses AMD SMI if it is installed, starts and shows a GPU; else ROCm-SMI.
struct AmdTelemetryLibraries {
  std::vector<std::string> amd_smi = {"libamd_smi.so.27", "libamd_smi.so.26",
                                      "libamd_smi.so.25", "libamd_smi.so.24",
                                      "libamd_smi.so",    "/opt/rocm/lib/libamd_smi.so"};
  std::vector<std::string> rocm_smi = {"librocm_smi64.so.7", "librocm_smi64.so.6",
                                       "librocm_smi64.so.5", "librocm_smi64.so.1",
                                       "librocm_smi64.so",   "/opt/rocm/lib/librocm_smi64.so"};
};
Result<std::unique_ptr<GpuTelemetry>> open_amd_telemetry(
    const AmdTelemetryLibraries& libraries = {});

}  // namespace assay
