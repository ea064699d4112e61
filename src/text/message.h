#pragma once

// Renders findings as sentences. Nothing else turns a report's statements into text.

#include <cstddef>
#include <string>
#include <vector>

#include "findings/finding.h"

namespace assay::text {

// Maximum columns of a headline and the sentence after it, together.
constexpr size_t kLongestHeadline = 160;

// Renders the finding in at most `columns` columns if possible. Optional parts with a missing value
// are dropped. If the text is still too long, optional parts are dropped from last to first, then
// the longest name is shortened, to no less than 24 columns. If a required value is missing,
// returns the code.
std::string message(const findings::Finding& finding, size_t columns = kLongestHeadline);
// The whole text of each, however long.
std::vector<std::string> texts_of(const std::vector<findings::Finding>& findings);

}  // namespace assay::text
