#include "base/tab_table.h"

#include <algorithm>
#include <utility>

namespace assay {

std::vector<std::vector<std::string_view>> tab_rows(std::string_view text, size_t columns) {
  std::vector<std::vector<std::string_view>> rows;
  bool is_heading = true;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string_view> cells;
    for (size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
      cells.push_back(line.substr(0, tab));
      line.remove_prefix(tab + 1);
    }
    cells.push_back(line);
    cells.resize(columns);
    if (!is_heading) rows.push_back(std::move(cells));
    is_heading = false;
  }
  return rows;
}

std::vector<std::string_view> list_parts(std::string_view list, char separator) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const size_t end = std::min(list.find(separator), list.size());
    std::string_view part = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

}  // namespace assay
