#pragma once

namespace assay {

inline constexpr const char* kVersion = ASSAY_VERSION;  // project(VERSION) in CMakeLists.txt

}  // namespace assay
