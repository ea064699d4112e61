#include "report/document/step_rows.h"

#include "report/document/results.h"

namespace assay {

StepsLeftOut::StepsLeftOut(const Table& table, std::initializer_list<ResultKey> summed)
    : key_(table.key) {
  for (const ResultKey& key : summed) {
    const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&key](const Column& one) { return one.key == key.key; });
    if (column == table.columns.end()) continue;
    sums_.push_back({key, static_cast<size_t>(column - table.columns.begin()), 0});
  }
}

void StepsLeftOut::add(const Table& rows) {
  rows_ += rows.rows.size();
  for (const Row& row : rows.rows) {
    for (Sum& sum : sums_) {
      const int64_t* value = sum.column < row.size() ? row[sum.column].get<int64_t>() : nullptr;
      if (value == nullptr) {
        sum.total.reset();
      } else if (sum.total) {
        *sum.total += *value;
      }
    }
  }
}

Facts StepsLeftOut::facts() const {
  Facts facts{.key = key_ + "_left_out", .items = {data_fact(keys::rows, rows_)}};
  for (const Sum& sum : sums_) facts.items.push_back(data_fact(sum.key, sum.total));
  return facts;
}

std::string first_steps_words(size_t shown, size_t all) {
  return " (the first " + format_count(static_cast<int64_t>(shown)) + " of " +
         format_count(static_cast<int64_t>(all)) + "; assay sql and assay export have all)";
}

}  // namespace assay
