#include "power/roofline.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/book.h"

namespace assay {
namespace {

constexpr double kTera = 1e12;

}  // namespace

MathType math_type_of(std::string_view kernel) {
  return math_type(KernelBook::built_in()->classify(kernel));
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

std::optional<DeviceRoofline> find_roofline(const FactBook& facts, std::string_view device) {
  const auto values = facts.values("hardware", device);
  if (values.empty()) return std::nullopt;
  DeviceRoofline roofline;
  std::vector<std::string> sources;
  const auto take = [&](const char* attribute, double unit, double& value) {
    const auto found = values.find(attribute);
    if (found == values.end()) return;
    value = found->second.value * unit;
    const std::string& source = found->second.source;
    if (std::find(sources.begin(), sources.end(), source) == sources.end()) {
      sources.push_back(source);
    }
  };
  take("tflops", kTera, roofline.bf16_flops);
  take("fp32_tflops", kTera, roofline.fp32_flops);
  take("fp64_tflops", kTera, roofline.fp64_flops);
  take("bandwidth_tb_s", kTera, roofline.bytes_per_s);
  take("power_w", 1, roofline.power_limit_w);
  for (const std::string& source : sources) {
    roofline.source += (roofline.source.empty() ? "" : " | ") + source;
  }
  return roofline;
}

}  // namespace assay
