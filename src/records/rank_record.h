#pragma once

// First bytes of a file of rank summaries (docs/formats/ranks.md).

#include <string_view>

namespace assay {

inline constexpr std::string_view kRankRecordMagic = "ASYRANK1";

}  // namespace assay
