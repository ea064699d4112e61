#pragma once

// Shared by the text formats (terminal, Markdown): a Table or Tree as cleaned, scaled text, cut to
// its row limit, and a few phrases.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "report/document/document.h"
#include "text/plain_text.h"

namespace assay {

struct GridColumn {
  std::string title;     // with the unit: "mean (µs)"
  bool right = false;    // right-aligned, for numbers
  bool text = false;     // may be shortened as a last resort
  bool elastic = false;  // may be shortened first
  bool keep = false;     // identifies the row: never dropped
};

struct Grid {
  std::string title;
  std::vector<GridColumn> columns;
  std::vector<std::vector<std::string>> rows;  // one cell per column
  size_t hidden_rows = 0;
  bool in_data = false;  // CSV and JSON have it, with all rows
};

Grid make_grid(const Table& table, Charset charset);
// The label of a node is its last cell, indented by depth, after the values.
Grid make_grid(const Tree& tree, Charset charset);

// Note under a truncated table, or empty: "… and 37 more rows (--format csv shows all)".
std::string hidden_rows_note(const Grid& grid, Charset charset);

// "negative_duration (repaired, 12 times): events with ...", not cleaned.
std::string describe(const ImportNote& note);
// "rank 3 (size 12.3 MiB, kernels 850)", not cleaned.
std::string describe(const std::string& name, const std::vector<Item>& items);

// The sections that readers see below the short answer.
std::vector<Section> sections_with_answer(const Document& document);

inline bool for_readers(Show show) {
  return show == Show::kEverywhere || show == Show::kReadersOnly || show == Show::kTextOnly;
}
// True if a block has content for text formats. Charts are only on the page.
template <typename B>
bool has_text(const B& block) {
  return for_readers(block.show);
}
inline bool has_text(const Chart&) { return false; }
inline bool has_text(const Facts& facts) {
  return for_readers(facts.show) &&
         std::any_of(facts.items.begin(), facts.items.end(),
                     [](const Item& item) { return for_readers(item.show); });
}
inline bool for_data(Show show) { return show == Show::kEverywhere || show == Show::kDataOnly; }

}  // namespace assay
