#pragma once

// Tables that are compiled in: tabs between columns, `#` before comments, the first line names the columns.

#include <cstddef>
#include <string_view>
#include <vector>

namespace assay {

// The cells of each row below the line of names, `columns` of them; missing cells are empty. They point into `text`.
std::vector<std::vector<std::string_view>> tab_rows(std::string_view text, size_t columns);

// The parts of `list` between the character `separator`, without blanks around them; empty parts are left out.
std::vector<std::string_view> list_parts(std::string_view list, char separator);

}  // namespace assay
