#pragma once

// Tables with one row per step. For long runs a Document has rows for the first steps only, and the
// sums over all others.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/document/columns.h"
#include "report/document/document.h"

namespace assay {

constexpr size_t kMostStepRows = 1000;

// Sums per column over the rows that a table omits.
class StepsLeftOut {
 public:
  // summed: integer columns that are additive over steps.
  StepsLeftOut(const Table& table, std::initializer_list<ResultKey> summed);
  // `rows` must have the columns of the table.
  void add(const Table& rows);
  // Facts "KEY_left_out": the number of rows and each sum. A sum is missing if a row has no number.
  Facts facts() const;

 private:
  struct Sum {
    ResultKey key;
    size_t column;
    std::optional<int64_t> total;
  };
  std::string key_;
  std::vector<Sum> sums_;
  size_t rows_ = 0;
};

// " (the first 1,000 of 200,000; assay sql and assay export have all)"
std::string first_steps_words(size_t shown, size_t all);

// Appends a table of steps to the section. make: creates the Table of a vector of T. The first
// `most` steps get a row each (0 = all). The sums over the others follow. Returns the index of the
// table's block.
template <typename T, typename Make>
size_t push_step_rows(Section& section, const std::vector<T>& steps, size_t most,
                      std::initializer_list<ResultKey> summed, const Make& make) {
  const size_t at = section.blocks.size();
  if (most == 0 || steps.size() <= most) {
    section.blocks.push_back(make(steps));
    return at;
  }
  const auto part = [&steps](size_t begin, size_t count) {
    const size_t end = std::min(begin + count, steps.size());
    return std::vector<T>(steps.begin() + static_cast<std::ptrdiff_t>(begin),
                          steps.begin() + static_cast<std::ptrdiff_t>(end));
  };
  Table table = make(part(0, most));
  StepsLeftOut left_out(table, summed);
  for (size_t i = most; i < steps.size(); i += most) left_out.add(make(part(i, most)));
  table.title += first_steps_words(most, steps.size());
  section.blocks.push_back(std::move(table));
  section.blocks.push_back(left_out.facts());
  return at;
}

}  // namespace assay
