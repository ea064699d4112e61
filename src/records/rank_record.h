#pragma once

// The beginning of a file of rank records (docs/formats/ranks.md).

#include <string_view>

namespace assay {

inline constexpr std::string_view kRankRecordMagic = "ASYRANK1";

}  // namespace assay
