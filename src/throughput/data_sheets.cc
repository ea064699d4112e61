#include "throughput/data_sheets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "throughput/physics.h"

namespace assay {
namespace {

std::array<double, 5> sheet_of(const BenchRow& row, const HardwareFacts& hardware) {
  return {hardware.tflops, peak_tflops(row, hardware), hardware.bandwidth_tb_s, hardware.memory_gb,
          hardware.link_gb_s};
}

bool are_siblings(const HardwareFacts& a, const HardwareFacts& b) {
  return &a != &b && vendor_of(a) == vendor_of(b);
}

}  // namespace

std::string vendor_of(const HardwareFacts& hardware) {
  if (hardware.name.find("Gaudi") != std::string::npos) return "Habana";
  return hardware.name.substr(0, hardware.name.find(' '));
}

bool dominates(const BenchRow& row, const HardwareFacts& more, const HardwareFacts& less) {
  if (!are_siblings(more, less)) return false;
  const auto a = sheet_of(row, more);
  const auto b = sheet_of(row, less);
  return a != b && std::equal(a.begin(), a.end(), b.begin(), std::greater_equal<>());
}

double sheet_distance(const HardwareFacts& a, const HardwareFacts& b) {
  return std::hypot(std::log(a.bandwidth_tb_s / b.bandwidth_tb_s), std::log(a.tflops / b.tflops));
}

const MeasuredGpu* nearest_sibling(const HardwareFacts& hardware, const MeasuredGpus& measured) {
  const MeasuredGpu* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const MeasuredGpu& other : measured) {
    if (!are_siblings(hardware, *other.facts)) continue;
    const double far = sheet_distance(hardware, *other.facts);
    if (far >= least) continue;
    least = far;
    nearest = &other;
  }
  return nearest;
}

}  // namespace assay
