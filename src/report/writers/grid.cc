#include "report/writers/grid.h"

#include <algorithm>

#include "report/document/units.h"

namespace assay {
namespace {

// Deeper nodes are no longer told apart by indentation but by a number: "+12 name".
constexpr uint32_t kMaxIndentLevels = 20;

size_t shown_rows(size_t rows, size_t limit) { return limit == 0 ? rows : std::min(rows, limit); }

bool is_text(const Value& value) {
  return value.get<std::string>() != nullptr || value.get<Value::List>() != nullptr;
}

// Adds one column of the grid. row_values(i) is the Row that holds the i-th visible row's cells.
template <typename RowValues>
void add_column(const Column& column, size_t index, size_t rows, Charset charset,
                const RowValues& row_values, Grid& grid) {
  static const Value kMissing;
  std::vector<const Value*> cells;
  cells.reserve(rows);
  bool any_text = false;
  bool any_other = false;
  for (size_t i = 0; i < rows; ++i) {
    const Row& row = row_values(i);
    const Value& cell = index < row.size() ? row[index] : kMissing;
    cells.push_back(&cell);
    any_text = any_text || is_text(cell);
    any_other = any_other || (!cell.missing() && !is_text(cell));
  }
  const bool text =
      column.unit == Unit::kText || column.unit == Unit::kState || (any_text && !any_other);
  const ColumnScale scale = scale_column(column.unit, cells);
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
  for (size_t i = 0; i < rows; ++i) {
    grid.rows[i].push_back(clean_text(format_cell(*cells[i], scale), charset));
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
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (!for_readers(table.columns[i].show)) continue;
    add_column(
        table.columns[i], i, rows, charset,
        [&](size_t row) -> const Row& { return table.rows[row]; }, grid);
  }
  return grid;
}

Grid make_grid(const Tree& tree, Charset charset) {
  const size_t rows = shown_rows(tree.nodes.size(), tree.terminal_limit);
  Grid grid;
  grid.title = clean_text(tree.title, charset);
  grid.rows.resize(rows);
  grid.hidden_rows = tree.nodes.size() - rows;
  grid.in_data = !tree.key.empty() && for_data(tree.show);
  for (size_t i = 0; i < tree.columns.size(); ++i) {
    if (!for_readers(tree.columns[i].show)) continue;
    add_column(
        tree.columns[i], i, rows, charset,
        [&](size_t row) -> const Row& { return tree.nodes[row].values; }, grid);
    grid.columns.back().keep = false;
  }
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

}  // namespace assay
