#pragma once

// The energy accumulator of one AMD GPU, by AMD SMI (which replaces ROCm-SMI since ROCm 6.1) or by
// ROCm-SMI.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

struct EnergyUnits {
  uint64_t units = 0;
  double microjoules_each = 0;
  uint64_t t_ns = 0;  // when the driver read it, on CLOCK_BOOTTIME
};

// What the library says of the GPU; empty and 0 where it does not.
struct EnergySource {
  std::string library;  // "AMD SMI"
  std::string driver;
  std::string uuid;
  double power_limit_w = 0;
};

class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  EnergyCounter() = default;
  EnergyCounter(const EnergyCounter&) = delete;
  EnergyCounter& operator=(const EnergyCounter&) = delete;
  virtual Result<EnergyUnits> read() = 0;
  virtual EnergySource source() const = 0;
};

// bus_id: as HIP tells it, "0000:c1:00.0". Fail where the library, the GPU in it, or its
// accumulator is missing.
Result<std::unique_ptr<EnergyCounter>> open_amd_smi_energy(
    const std::vector<std::string>& libraries, const std::string& bus_id);
Result<std::unique_ptr<EnergyCounter>> open_rocm_smi_energy(
    const std::vector<std::string>& libraries, const std::string& bus_id);

}  // namespace assay
