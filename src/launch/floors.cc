#include "launch/floors.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace assay {
namespace {

constexpr std::string_view kTableFive =
    "SKIP Table V: null kernel, PyTorch 2.4.1 profiler, CUDA 12.6";

constexpr std::array<PublishedFloor, 3> kFloors = {{
    {"GH200", "GH200", 2771.6, 1171.2, kTableFive},
    {"Intel+H100", "H100", 2374.6, 1235.2, kTableFive},
    {"AMD+A100", "A100", 2260.5, 1440.0, kTableFive},
}};

constexpr std::array<PublishedCompileMode, 4> kCompileModes = {{
    {"eager", 0.40644, 1},
    {"default", 6.2844, 1.203},
    {"reduce-overhead", 12.7469, 1.2394},
    {"max-autotune", 387.3, 1.317},
}};

bool same_letter(char a, char b) {
  return std::toupper(static_cast<unsigned char>(a)) == std::toupper(static_cast<unsigned char>(b));
}

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same_letter) != text.end();
}

bool equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && contains(a, b);
}

}  // namespace

std::span<const PublishedFloor> published_floors() { return kFloors; }

const PublishedFloor* find_published_floor(std::string_view text) {
  for (const PublishedFloor& floor : kFloors) {
    if (equal(text, floor.platform) || contains(text, floor.gpu)) return &floor;
  }
  return nullptr;
}

std::span<const PublishedCompileMode> published_compile_modes() { return kCompileModes; }

}  // namespace assay
