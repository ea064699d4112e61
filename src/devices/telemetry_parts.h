#pragma once

// Common parts of the telemetry readers.

#include <string>
#include <utility>
#include <vector>

#include "devices/amdsmi_abi.h"
#include "devices/gpu_telemetry.h"

namespace assay {

// Holds the list of GPUs, which every reader fills while it opens.
class ListedTelemetry : public GpuTelemetry {
 public:
  const std::vector<SampledGpu>& gpus() const override { return gpus_; }

 protected:
  SampledGpu& add_gpu(const char* vendor, const char* source, uint32_t index);

  std::vector<SampledGpu> gpus_;
};

// Formats "doing failed: text; hint".
Status telemetry_status(int code, const std::string& doing, const char* text,
                        const std::string& hint = "");

// The same with AMD SMI's error text, and a hint if permission is missing.
Status amd_smi_status(const amdsmi::Api& api, int code, const std::string& doing);

// "0000:c1:00.0".
std::string bus_text(unsigned domain, unsigned bus, unsigned device, unsigned function);

// Current clock of an rsmi_frequencies_t or amdsmi_frequencies_t in either of its two layouts; NaN
// if neither fits.
double current_clock_mhz(const unsigned char* bytes);

// Socket power of an amdsmi_power_info_t. Its values identify the layout: {current, average, gfx
// voltage, ...} in words of 32 bits (ROCm 6.0 and later), or {socket power in 64 bits, current,
// average, ...} (ROCm 6.4 and later), where the socket's equals one of the two. Unknown if they fit
// neither or both.
double socket_power_w(const unsigned char* bytes);

constexpr const char* kAmdPermissionHint = "add yourself to the groups render and video";

Result<std::unique_ptr<GpuTelemetry>> open_amd_smi_telemetry(
    const std::vector<std::string>& libraries);
Result<std::unique_ptr<GpuTelemetry>> open_rocm_smi_telemetry(
    const std::vector<std::string>& libraries);

}  // namespace assay
