#pragma once

// Peak rates of a device from its data sheet. They determine if a kernel is compute-bound or
// memory-bound, and how much power head-room is left.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/views.h"
#include "records/facts.h"

namespace assay {

// From the kernel's name, as in traces or as `power run` writes it ("gemm:2048:fp32"); BF16 if the
// name does not tell.
MathType math_type_of(std::string_view kernel);

// NaN if not in the specifications.
struct DeviceRoofline {
  double bf16_flops = std::numeric_limits<double>::quiet_NaN();   // dense, matrix units, FLOP/s
  double fp32_flops = std::numeric_limits<double>::quiet_NaN();   // vector units
  double fp64_flops = std::numeric_limits<double>::quiet_NaN();   // matrix units where it has them
  double bytes_per_s = std::numeric_limits<double>::quiet_NaN();  // device memory
  // Board power as specified; the enforced limit may be lower.
  double power_limit_w = std::numeric_limits<double>::quiet_NaN();
  std::string source;  // of the values, each source once

  double flops(MathType type) const;
  // FLOP per byte above which a kernel is bound by compute.
  double ridge(MathType type) const { return flops(type) / bytes_per_s; }
};

// `device` as reported by the driver; nullopt if the specifications do not have it.
std::optional<DeviceRoofline> find_roofline(const FactBook& facts, std::string_view device);

}  // namespace assay
