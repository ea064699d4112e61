#include "floor/published.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace assay {
namespace {

constexpr std::string_view kSkip = "SKIP Table V: null kernel, PyTorch 2.4.1 profiler, CUDA 12.6";
constexpr std::string_view kTaxBreak = "TaxBreak Table III: null kernel, Nsight Systems, mean";
constexpr Tracer kProfiler = Tracer::kPyTorchProfiler;
constexpr Tracer kNsys = Tracer::kNsightSystems;

// Boards: SKIP Table IV and TaxBreak section IV-A.
constexpr std::array<PublishedFloor, 3> kProfilerFloors = {{
    {kProfiler, "GH200", "GH200", "GH200", 2771.6, 1171.2, kSkip},
    {kProfiler, "Intel+H100", "H100", "H100 PCIe", 2374.6, 1235.2, kSkip},
    {kProfiler, "AMD+A100", "A100", "A100-SXM4-80GB", 2260.5, 1440.0, kSkip},
}};
constexpr std::array<PublishedFloor, 2> kNsysFloors = {{
    {kNsys, "DGX-H100", "H100", "H100 80GB HBM3", 4707, 0, kTaxBreak},
    {kNsys, "Intel+H200-NVL", "H200", "H200 NVL", 4503, 0, kTaxBreak},
}};

bool same_letter(char a, char b) {
  return std::toupper(static_cast<unsigned char>(a)) == std::toupper(static_cast<unsigned char>(b));
}

bool contains_in_any_case(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same_letter) != text.end();
}

bool equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && contains_in_any_case(a, b);
}

}  // namespace

std::string published_words(const PublishedFloor& floor) {
  return "published for " + std::string(floor.platform) + ": " + std::string(floor.source);
}

std::span<const PublishedFloor> published_floors(Tracer tracer) {
  switch (tracer) {
    case Tracer::kPyTorchProfiler:
      return kProfilerFloors;
    case Tracer::kNsightSystems:
      return kNsysFloors;
    case Tracer::kAssay:
    case Tracer::kOther:
      return {};
  }
  return {};
}

const PublishedFloor* find_published_floor(std::string_view text, Tracer tracer) {
  for (const PublishedFloor& floor : published_floors(tracer)) {
    if (equal(text, floor.platform) || contains_in_any_case(text, floor.gpu)) return &floor;
  }
  return nullptr;
}

const PublishedFloor* floor_of_platform(std::string_view platform, Tracer tracer) {
  for (const PublishedFloor& floor : published_floors(tracer)) {
    if (equal(platform, floor.platform)) return &floor;
  }
  return nullptr;
}

bool taken_on(const PublishedFloor& floor, std::string_view device_name) {
  return contains_in_any_case(device_name, floor.gpu);
}

const PublishedFloor* floor_of_board(std::string_view device_name, Tracer tracer) {
  for (const PublishedFloor& floor : published_floors(tracer)) {
    if (contains_in_any_case(device_name, floor.device)) return &floor;
  }
  return nullptr;
}

}  // namespace assay
