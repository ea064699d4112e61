#pragma once

// Chopper's Insights as sentences and as a table, where the numbers support them.

#include <string>
#include <vector>

#include "breakdown/insights.h"
#include "report/document/document.h"

namespace assay {

// One sentence for each insight that holds; names further configurations for which it holds.
std::vector<std::string> insight_words(const std::vector<Insight>& insights);
// "insights": all insights, whether they hold or not.
Table insights_table(const std::vector<Insight>& insights);
// Why the others are not reported, for readers.
Prose insight_reasons(const std::vector<Insight>& insights);

}  // namespace assay
