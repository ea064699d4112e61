#pragma once

#include <string>

namespace assay {

inline constexpr const char* kVersion = ASSAY_VERSION;  // project(VERSION) in CMakeLists.txt

// Output of --version, with the commit if known.
std::string version_text();

}  // namespace assay
