#include "report/document/columns.h"

#include <cstddef>

namespace assay {
namespace {
constexpr size_t kUsualColumns = 12;
}

Column column_of(const ResultKey& key, const Look& look) {
  return {key.key, key.title, key.unit, look.align, look.elastic, look.show};
}

Table with_rows(Table head, size_t count) {
  head.rows.resize(count);
  for (Row& row : head.rows) row.reserve(kUsualColumns);
  return head;
}

void add_cells(Table& table, Column column, const CellSource& from, const CellMaker& maker) {
  table.columns.push_back(std::move(column));
  const auto* element = static_cast<const std::byte*>(from.first);
  for (Row& row : table.rows) {
    row.push_back(maker.cell(maker.how, element));
    element += from.step;
  }
}

Item fact(const ResultKey& key, Value value, std::string note, Show show) {
  return {key.key, key.title, std::move(value), key.unit, std::move(note), show};
}

Item data_fact(const ResultKey& key, Value value) {
  return fact(key, std::move(value), {}, Show::kDataOnly);
}

}  // namespace assay
