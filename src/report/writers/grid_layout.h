#pragma once

// Lays out a Grid as lines of monospaced text that fit a width.
//
// Numbers are never cut. To save space, titles wrap at spaces first. Then elastic columns are
// shortened in the middle, and then other text columns. Finally, whole columns are dropped from the
// right, except the one that identifies the row. Lines exceed the width only if a single column of
// numbers is wider.

#include <cstddef>
#include <string>
#include <vector>

#include "report/writers/grid.h"

namespace assay {

struct GridLines {
  std::vector<std::string> header;          // titles, bottom-aligned, and a rule
  std::vector<std::string> rows;            // one line per row
  std::vector<std::string> hidden_columns;  // titles of columns that did not fit
};

GridLines layout_grid(const Grid& grid, size_t width, Charset charset);

// "not shown at this width: a, b (--format csv shows all)", or empty.
std::string hidden_columns_note(const GridLines& lines, const Grid& grid);

}  // namespace assay
