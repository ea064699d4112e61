#pragma once

#include <string>

namespace assay {

inline constexpr const char* kVersion = ASSAY_VERSION;  // project(VERSION) in CMakeLists.txt

// What --version prints: with the commit where it is known.
std::string version_text();

}  // namespace assay
