#pragma once

// Compiled-in tables: tab-separated columns, `#` comments, column names in the first line.

#include <cstddef>
#include <string_view>
#include <vector>

namespace assay {

// The cells of each row after the header, `columns` per row; missing cells are empty. They point
// into `text`.
std::vector<std::vector<std::string_view>> tab_rows(std::string_view text, size_t columns);

// The non-empty items of `list`, trimmed.
std::vector<std::string_view> list_parts(std::string_view list, char separator);

}  // namespace assay
