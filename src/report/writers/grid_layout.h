#pragma once

// A Grid as lines of monospaced text that fit a width.
//
// Numbers are never cut. What gives way, in this order: titles wrap at spaces, elastic columns are
// shortened in the middle, then other text columns, and at last whole columns are left out from the
// right, except the one that identifies the row. Only when that one column of numbers is wider than
// the screen do lines exceed it.

#include <cstddef>
#include <string>
#include <vector>

#include "report/writers/grid.h"

namespace assay {

struct GridLines {
  std::vector<std::string> header;          // titles, bottom-aligned, then a rule
  std::vector<std::string> rows;            // one line per row
  std::vector<std::string> hidden_columns;  // titles of columns that found no room
};

GridLines layout_grid(const Grid& grid, size_t width, Charset charset);

// "not shown at this width: a, b (--format csv shows all)", or empty.
std::string hidden_columns_note(const GridLines& lines, const Grid& grid);

}  // namespace assay
