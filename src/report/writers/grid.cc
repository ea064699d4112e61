#include "report/writers/grid.h"

#include <algorithm>

#include "text/units.h"

namespace assay {
namespace {

// Deeper nodes show their depth as a number instead of more indentation: "+12 name".
constexpr uint32_t kMaxIndentLevels = 20;

size_t shown_rows(size_t rows, size_t limit) { return limit == 0 ? rows : std::min(rows, limit); }

bool is_text(const Value& value) {
  return value.get<std::string>() != nullptr || value.get<Value::List>() != nullptr;
}

using Cells = std::vector<const Value*>;

template <typename RowValues>
Cells cells_of(size_t index, size_t rows, const RowValues& row_values) {
  static const Value kMissing;
  Cells cells;
  cells.reserve(rows);
  for (size_t i = 0; i < rows; ++i) {
    const Row& row = row_values(i);
    cells.push_back(index < row.size() ? &row[index] : &kMissing);
  }
  return cells;
}

void add_column(const Column& column, const Cells& cells, const ColumnScale& scale, Charset charset,
                Grid& grid) {
  bool any_text = false;
  bool any_other = false;
  for (const Value* cell : cells) {
    any_text = any_text || is_text(*cell);
    any_other = any_other || (!cell->missing() && !is_text(*cell));
  }
  const bool text =
      column.unit == Unit::kText || column.unit == Unit::kState || (any_text && !any_other);
  GridColumn out;
  out.title = clean_text(column.title, charset);
  if (!scale.symbol.empty() && any_other) {
    out.title += clean_text(" (" + std::string(scale.symbol) + ")", charset);
  }
  out.right = column.align == Align::kRight || (column.align == Align::kAuto && !text);
  out.text = text;
  out.elastic = column.elastic;
  out.keep = grid.columns.empty();
  grid.columns.push_back(std::move(out));
  for (size_t i = 0; i < cells.size(); ++i) {
    grid.rows[i].push_back(clean_text(format_cell(*cells[i], scale), charset));
  }
}

bool ends_interval(const Column& column) {
  const std::string& title = column.title;
  return title == "from" || title == "to" || title.ends_with(" from") || title.ends_with(" to");
}

// The ends of an interval follow its value in the same unit (web/src/grid.ts does the same).
template <typename RowValues>
void add_columns(const std::vector<Column>& columns, size_t rows, Charset charset,
                 const RowValues& row_values, Grid& grid) {
  ColumnScale before;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!for_readers(columns[i].show)) continue;
    const Cells cells = cells_of(i, rows, row_values);
    const bool end = columns[i].unit == before.unit && ends_interval(columns[i]);
    before = end ? scale_like(before, cells) : scale_column(columns[i].unit, cells);
    add_column(columns[i], cells, before, charset, grid);
  }
}

}  // namespace

Grid make_grid(const Table& table, Charset charset) {
  const size_t rows = shown_rows(table.reader_rows(), table.terminal_limit);
  Grid grid;
  grid.title = clean_text(table.title, charset);
  grid.rows.resize(rows);
  grid.hidden_rows = table.reader_rows() - rows;
  grid.in_data = !table.key.empty() && for_data(table.show);
  add_columns(
      table.columns, rows, charset, [&](size_t row) -> const Row& { return table.rows[row]; },
      grid);
  return grid;
}

Grid make_grid(const Tree& tree, Charset charset) {
  const size_t rows = shown_rows(tree.nodes.size(), tree.terminal_limit);
  Grid grid;
  grid.title = clean_text(tree.title, charset);
  grid.rows.resize(rows);
  grid.hidden_rows = tree.nodes.size() - rows;
  grid.in_data = !tree.key.empty() && for_data(tree.show);
  add_columns(
      tree.columns, rows, charset, [&](size_t row) -> const Row& { return tree.nodes[row].values; },
      grid);
  for (GridColumn& column : grid.columns) column.keep = false;
  grid.columns.push_back({.title = clean_text(tree.label_title, charset),
                          .text = true,
                          .elastic = true,
                          .keep = true});
  for (size_t i = 0; i < rows; ++i) {
    const TreeNode& node = tree.nodes[i];
    const uint32_t levels = std::min(node.depth, kMaxIndentLevels);
    std::string label(size_t{levels} * 2, ' ');
    if (node.depth > levels) label += "+" + std::to_string(node.depth - levels) + " ";
    grid.rows[i].push_back(label + clean_text(node.label, charset));
  }
  return grid;
}

std::string hidden_rows_note(const Grid& grid, Charset charset) {
  if (grid.hidden_rows == 0) return {};
  std::string note = "\u2026 and " + format_count(static_cast<int64_t>(grid.hidden_rows)) +
                     (grid.hidden_rows == 1 ? " more row" : " more rows");
  if (grid.in_data) note += " (--format csv shows all)";
  return clean_text(note, charset);
}

std::string describe(const ImportNote& note) {
  const std::string count =
      note.count == 1 ? std::string("once") : format_value(note.count, Unit::kCount) + " times";
  return note.code + " (" + note.severity + ", " + count + "): " + note.meaning;
}

std::string describe(const std::string& name, const std::vector<Item>& items) {
  std::string details;
  for (const Item& item : items) {
    if (!for_readers(item.show)) continue;
    if (!details.empty()) details += ", ";
    details += item.label + " " + format_value(item.value, item.unit);
  }
  return details.empty() ? name : name + " (" + details + ")";
}

std::vector<Section> sections_with_answer(const Document& document) {
  std::vector<Section> shown;
  std::copy_if(document.sections.begin(), document.sections.end(), std::back_inserter(shown),
               [](const Section& section) { return section.with_answer; });
  return shown;
}

}  // namespace assay
