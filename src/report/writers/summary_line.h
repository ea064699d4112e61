#pragma once

#include <string>

#include "report/document/short_answer.h"

namespace assay {

// Maximum length of a GitHub commit status.
constexpr size_t kSummaryColumns = 140;

// The headline, then the confidence and the first action with its gain if they fit, on one line of
// at most kSummaryColumns columns of cleaned text.
std::string summary_line(const ShortAnswer& answer);

}  // namespace assay
