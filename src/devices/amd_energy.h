#pragma once

// The energy accumulator of one AMD GPU, by AMD SMI (which replaces ROCm-SMI since ROCm 6.1) or by
// ROCm-SMI.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

struct EnergyUnits {
  uint64_t units = 0;
  double microjoules_each = 0;
  uint64_t t_ns = 0;  // when the driver read it, on CLOCK_BOOTTIME
};

// Energies of the dies in the GPU's package (XCD, IOD and HBM in FinGraV), from the package's own
// table and clock. In 2^-16 J since an arbitrary origin.
struct PartUnits {
  uint64_t t_10ns = 0;
  std::array<uint64_t, 3> units = {};  // compute dies, I/O dies, memory
};

// The library's data on the GPU; empty and 0 if missing.
struct EnergySource {
  std::string library;  // "AMD SMI"
  std::string driver;
  std::string uuid;
  double power_limit_w = 0;
  std::string parts;  // source of the energies of the dies, or the reason why there is none
};

class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  EnergyCounter() = default;
  EnergyCounter(const EnergyCounter&) = delete;
  EnergyCounter& operator=(const EnergyCounter&) = delete;
  virtual Result<EnergyUnits> read() = 0;
  // nullopt if there is no such table or it cannot be read.
  virtual std::optional<PartUnits> read_parts() { return std::nullopt; }
  virtual EnergySource source() const = 0;
};

// bus_id: from HIP, "0000:c1:00.0". Fails if the library, the GPU in it, or its accumulator is
// missing. hsmp_device: the device file of the kernel's HSMP driver. If it is missing, the library
// is not queried for CPUs.
Result<std::unique_ptr<EnergyCounter>> open_amd_smi_energy(
    const std::vector<std::string>& libraries, const std::string& bus_id,
    const std::string& hsmp_device);
Result<std::unique_ptr<EnergyCounter>> open_rocm_smi_energy(
    const std::vector<std::string>& libraries, const std::string& bus_id);

}  // namespace assay
