#include "trace/unread.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace assay {
namespace {

// Lists the two most frequent names, shortened: kernel names can fill pages.
std::string most_frequent(const std::map<std::string_view, uint64_t>& counts) {
  constexpr size_t kTold = 2;
  constexpr size_t kLongest = 40;
  std::vector<std::pair<std::string_view, uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string words;
  for (size_t i = 0; i < std::min(kTold, sorted.size()); ++i) {
    const std::string_view name = sorted[i].first;
    if (i > 0) words += ", ";
    words += name.size() > kLongest ? std::string(name.substr(0, kLongest)) + "\u2026"
                                    : std::string(name);
  }
  if (sorted.size() > kTold) words += " and others";
  return words;
}

}  // namespace

std::string unread_rows_words(const Trace& trace) {
  const OtherEventTable& rows = trace.other_events;
  if (rows.empty()) return "";
  std::map<std::string_view, uint64_t> categories;
  std::map<std::string_view, uint64_t> names;  // for rows without a category
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool told = rows.category[i] != StringId(0);
    ++(told ? categories : names)[trace.text(told ? rows.category[i] : rows.name[i])];
  }
  if (categories.empty()) return "without a category (" + most_frequent(names) + ")";
  return "of categories Assay has no table for (" + most_frequent(categories) + ")";
}

}  // namespace assay
