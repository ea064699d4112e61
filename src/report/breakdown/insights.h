#pragma once

// Chopper's Insights where the numbers support them, as sentences and as a table.

#include <string>
#include <vector>

#include "breakdown/insights.h"
#include "report/document/document.h"

namespace assay {

// One sentence for each that holds; configurations after the first for which it holds are named.
std::vector<std::string> insight_words(const std::vector<Insight>& insights);
// "insights": all of them.
Table insights_table(const std::vector<Insight>& insights);
// Why nothing is said of the others, for readers.
Prose insight_reasons(const std::vector<Insight>& insights);

}  // namespace assay
