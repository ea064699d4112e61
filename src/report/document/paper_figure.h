#pragma once

// One figure or table of a paper, taken out of a Document. The titles of charts and tables name the
// figure that they make, such as "... (SKIP, Figures 7a, 7b)": no other list exists.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/document/document.h"

namespace assay {

// Key of the section that has the figure's tables.
inline constexpr std::string_view kFigureSection = "figure";

// Names of the figures in a title: "skip7a", "taxbreakT4" for a table, "chopperE9" for an equation.
std::vector<std::string> cited_figures(std::string_view title);

// A document that has only this figure. Its charts come with one long table of their points. A
// figure without charts has its tables. "skip7" includes 7a and 7b, and "list" gives all names.
// on_page: the charts show the points, so the table is only in the page's data.
Result<Document> only_figure(const Document& document, const std::string& name, bool on_page);

}  // namespace assay
