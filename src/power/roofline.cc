#include "power/roofline.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace assay {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

std::string_view math_type_name(MathType type) {
  switch (type) {
    case MathType::kFp32:
      return "fp32";
    case MathType::kFp64:
      return "fp64";
    case MathType::kBf16:
      break;
  }
  return "bf16";
}

MathType math_type_of(std::string_view kernel) {
  const std::string name = lower(kernel);
  for (const char* word : {"fp64", "f64", "double", "dgemm", "dgemv"}) {
    if (name.find(word) != std::string::npos) return MathType::kFp64;
  }
  for (const char* word : {"fp32", "f32", "float32", "sgemm", "sgemv"}) {
    if (name.find(word) != std::string::npos) return MathType::kFp32;
  }
  return MathType::kBf16;
}

double DeviceRoofline::flops(MathType type) const {
  switch (type) {
    case MathType::kFp32:
      return fp32_flops;
    case MathType::kFp64:
      return fp64_flops;
    case MathType::kBf16:
      break;
  }
  return bf16_flops;
}

// clang-format off: tables read best as tables
const std::vector<DeviceRoofline>& known_rooflines() {
  static const std::vector<DeviceRoofline> kKnown = {
      {"MI325X",      1307.4e12, 163.4e12, 163.4e12, 6.0e12,   1000, "AMD Instinct MI325X data sheet"},
      {"MI300X",      1307.4e12, 163.4e12, 163.4e12, 5.3e12,    750, "AMD Instinct MI300X data sheet; Chopper"},
      {"MI250X",       383.0e12,  47.9e12,  95.7e12, 3.2768e12, 560, "AMD Instinct MI250X data sheet"},
      {"B200",        2250.0e12,  75.0e12,  37.0e12, 7.7e12,   1000, "NVIDIA HGX B200 data sheet"},
      {"GH200",        989.4e12,  66.9e12,  66.9e12, 4.0e12,   1000, "NVIDIA GH200 data sheet, 96 GB HBM3"},
      {"H200",         989.4e12,  66.9e12,  66.9e12, 4.8e12,    700, "NVIDIA H200 SXM data sheet"},
      {"H100 PCIe",    756.0e12,  51.2e12,  51.2e12, 2.0e12,    350, "NVIDIA H100 PCIe data sheet"},
      {"H100",         989.4e12,  66.9e12,  66.9e12, 3.35e12,   700, "NVIDIA H100 SXM data sheet"},
      {"A100-SXM4-40", 312.0e12,  19.5e12,  19.5e12, 1.555e12,  400, "NVIDIA A100 data sheet, 40 GB SXM"},
      {"A100-PCIE-40", 312.0e12,  19.5e12,  19.5e12, 1.555e12,  250, "NVIDIA A100 data sheet, 40 GB PCIe"},
      {"A100 80GB PCIe", 312.0e12, 19.5e12, 19.5e12, 1.935e12,  300, "NVIDIA A100 data sheet, 80 GB PCIe"},
      {"A100",         312.0e12,  19.5e12,  19.5e12, 2.039e12,  400, "NVIDIA A100 data sheet, 80 GB SXM"},
  };
  return kKnown;
}
// clang-format on

const DeviceRoofline* find_roofline(std::string_view device) {
  const std::string name = lower(device);
  for (const DeviceRoofline& known : known_rooflines()) {
    if (name.find(lower(known.device)) != std::string::npos) return &known;
  }
  return nullptr;
}

}  // namespace assay
