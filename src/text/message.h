#pragma once

// Sentences of findings: the only place where a report's statements become text.

#include <cstddef>
#include <string>

#include "findings/finding.h"

namespace assay::text {

// Columns of a headline together with the sentence after it.
constexpr size_t kLongestHeadline = 160;

// The finding as its message says it, in at most `columns` columns where its optional parts and its names allow that:
// optional parts are dropped where a value is missing, then from the last to the first, then the longest name is
// shortened, to 24 columns at least. A message that lacks a required value renders as its code.
std::string message(const findings::Finding& finding, size_t columns = kLongestHeadline);

}  // namespace assay::text
