#include "report/writers/grid_layout.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>

namespace assay {
namespace {

constexpr size_t kGap = 2;

// Levels of shortening, tried in order. Titles of more than three lines and names of less than 24
// columns are hard to read; names of less than 8 columns are useless.
struct Squeeze {
  size_t title_lines;
  size_t narrowest_text;
};
// The column that identifies a row stays readable: number columns are dropped from the end first.
constexpr size_t kNarrowestName = 20;
constexpr Squeeze kSqueezes[] = {{2, 24}, {3, 24}, {3, 8}, {SIZE_MAX, 8}};

struct Fit {
  size_t index;    // into Grid::columns
  size_t title;    // width of the unwrapped title
  size_t content;  // widest cell
  size_t width;    // as laid out
  bool shrinks;
};

// The minimum width at which the title needs at most `lines` lines without splitting a word.
size_t title_width(const std::string& title, size_t lines) {
  size_t width = 1;
  for (size_t i = 0; i < title.size();) {
    const size_t end = std::min(title.find(' ', i), title.size());
    width = std::max(width, display_width(std::string_view(title).substr(i, end - i)));
    i = end + 1;
  }
  while (wrap_text(title, width).size() > lines) ++width;
  return width;
}

size_t total_width(const std::vector<Fit>& fits) {
  return std::accumulate(fits.begin(), fits.end(), fits.empty() ? 0 : (fits.size() - 1) * kGap,
                         [](size_t sum, const Fit& fit) { return sum + fit.width; });
}

// Distributes spare width: repeatedly widens the narrowest chosen column by one, up to its needed
// width, until all fit or nothing is left.
template <typename Wanted>
void share_out(size_t& spare, std::vector<Fit>& fits, const Wanted& wanted) {
  while (spare > 0) {
    Fit* narrowest = nullptr;
    for (Fit& fit : fits) {
      if (fit.width >= wanted(fit)) continue;
      if (narrowest == nullptr || fit.width < narrowest->width) narrowest = &fit;
    }
    if (narrowest == nullptr) return;
    ++narrowest->width;
    --spare;
  }
}

std::vector<Fit> measure(const Grid& grid) {
  std::vector<Fit> fits;
  for (size_t i = 0; i < grid.columns.size(); ++i) {
    const GridColumn& column = grid.columns[i];
    Fit fit{.index = i,
            .title = display_width(column.title),
            .content = 0,
            .width = 0,
            // Right-aligned text is a number with its unit; shortening its middle would falsify it.
            .shrinks = column.elastic || (column.text && !column.right)};
    for (const auto& row : grid.rows) fit.content = std::max(fit.content, display_width(row[i]));
    fit.width = std::max(fit.title, fit.content);
    fits.push_back(fit);
  }
  return fits;
}

std::vector<Fit> fit_columns(const Grid& grid, size_t width) {
  std::vector<Fit> fits = measure(grid);
  if (total_width(fits) <= width) return fits;
  for (const Squeeze& squeeze : kSqueezes) {
    for (Fit& fit : fits) {
      const bool names_row = grid.columns[fit.index].keep;
      const size_t narrowest =
          names_row ? std::max(squeeze.narrowest_text, kNarrowestName) : squeeze.narrowest_text;
      const size_t content = fit.shrinks ? std::min(fit.content, narrowest) : fit.content;
      fit.width =
          std::max(title_width(grid.columns[fit.index].title, squeeze.title_lines), content);
    }
    if (total_width(fits) <= width) break;
  }
  const auto may_go = [&](const Fit& fit) { return !grid.columns[fit.index].keep; };
  while (total_width(fits) > width) {
    const auto last = std::find_if(fits.rbegin(), fits.rend(), may_go);
    if (last == fits.rend()) break;
    fits.erase(std::next(last).base());
  }
  if (total_width(fits) > width) {
    for (Fit& fit : fits) fit.width = fit.shrinks ? std::min(fit.width, width) : fit.content;
    return fits;
  }
  size_t spare = width - total_width(fits);
  share_out(spare, fits, [&](const Fit& fit) {
    const GridColumn& column = grid.columns[fit.index];
    return column.text && !column.elastic ? fit.content : 0;
  });
  share_out(spare, fits, [](const Fit& fit) { return fit.content; });
  share_out(spare, fits, [](const Fit& fit) { return std::max(fit.title, fit.content); });
  return fits;
}

// Shortens the indentation of a tree only if it would take more than half of the width.
std::string shorten_cell(const std::string& cell, size_t width, Charset charset) {
  if (display_width(cell) <= width) return cell;
  const size_t spaces = std::min(cell.find_first_not_of(' '), cell.size());
  const size_t indent = std::min(spaces, width / 2);
  return std::string(indent, ' ') +
         shorten_middle(std::string_view(cell).substr(spaces), width - indent, charset);
}

// The cells of a line, without trailing spaces.
std::string join_cells(const Grid& grid, const std::vector<Fit>& fits,
                       const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < fits.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    line += pad_text(cells[i], fits[i].width, grid.columns[fits[i].index].right);
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

GridLines layout_grid(const Grid& grid, size_t width, Charset charset) {
  const std::vector<Fit> fits = fit_columns(grid, width);
  GridLines lines;
  std::vector<std::vector<std::string>> titles;
  size_t title_lines = 0;
  std::vector<std::string> rule;
  for (const Fit& fit : fits) {
    titles.push_back(wrap_text(grid.columns[fit.index].title, fit.width, charset));
    title_lines = std::max(title_lines, titles.back().size());
    std::string dashes;
    for (size_t i = 0; i < fit.width; ++i) dashes += charset == Charset::kUtf8 ? "\u2500" : "-";
    rule.push_back(std::move(dashes));
  }
  for (size_t line = 0; line < title_lines; ++line) {
    std::vector<std::string> cells;
    cells.reserve(fits.size());
    for (const auto& title : titles) {
      const size_t above = title_lines - title.size();
      cells.push_back(line < above ? std::string() : title[line - above]);
    }
    lines.header.push_back(join_cells(grid, fits, cells));
  }
  lines.header.push_back(join_cells(grid, fits, rule));
  for (const auto& row : grid.rows) {
    std::vector<std::string> cells;
    cells.reserve(fits.size());
    for (const Fit& fit : fits) {
      cells.push_back(fit.shrinks ? shorten_cell(row[fit.index], fit.width, charset)
                                  : row[fit.index]);
    }
    lines.rows.push_back(join_cells(grid, fits, cells));
  }
  for (size_t i = 0; i < grid.columns.size(); ++i) {
    const bool shown =
        std::any_of(fits.begin(), fits.end(), [&](const Fit& fit) { return fit.index == i; });
    if (!shown) lines.hidden_columns.push_back(grid.columns[i].title);
  }
  return lines;
}

std::string hidden_columns_note(const GridLines& lines, const Grid& grid) {
  if (lines.hidden_columns.empty()) return {};
  std::string note = "not shown at this width: ";
  for (const std::string& title : lines.hidden_columns) {
    if (&title != lines.hidden_columns.data()) note += ", ";
    note += title;
  }
  if (grid.in_data) note += " (--format csv shows all)";
  return note;
}

}  // namespace assay
