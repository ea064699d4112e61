#pragma once

// What a device can do at most, from its data sheet: decides whether a kernel is bound by compute
// or by memory, and how much power head-room is left.

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay {

enum class MathType : uint8_t { kBf16, kFp32, kFp64 };
std::string_view math_type_name(MathType type);
// By the kernel's name as `power run` writes it ("gemm:2048:fp32"); BF16 where it does not say.
MathType math_type_of(std::string_view kernel);

struct DeviceRoofline {
  std::string_view device;   // what the device's name contains, letter case ignored
  double bf16_flops = 0;     // dense, matrix units, FLOP/s
  double fp32_flops = 0;     // vector units
  double fp64_flops = 0;     // matrix units where it has them
  double bytes_per_s = 0;    // device memory
  double power_limit_w = 0;  // board power as specified; the enforced limit may be lower
  std::string_view source;

  double flops(MathType type) const;
  // FLOP per byte above which a kernel is bound by compute.
  double ridge(MathType type) const { return flops(type) / bytes_per_s; }
};

const std::vector<DeviceRoofline>& known_rooflines();
// The first entry whose name the device's contains; nullptr when none does.
const DeviceRoofline* find_roofline(std::string_view device);

}  // namespace assay
