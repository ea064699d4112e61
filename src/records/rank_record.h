#pragma once

// What a file of rank records begins with (docs/formats/ranks.md).

#include <string_view>

namespace assay {

inline constexpr std::string_view kRankRecordMagic = "ASYRANK1";

}  // namespace assay
