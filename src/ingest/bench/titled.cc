#include "ingest/bench/titled.h"

#include <algorithm>
#include <cmath>

#include "base/decimal.h"
#include "base/numbers.h"

namespace assay {
namespace {

std::vector<CsvRecord>::const_iterator head_of(const std::vector<CsvRecord>& records) {
  return std::find_if(records.begin(), records.end(),
                      [](const CsvRecord& record) { return !record.cells.empty(); });
}

}  // namespace

double number_at(const BenchField& field, const char* name) {
  double value = 0;
  return parse_double(field(name), value) && std::isfinite(value) ? value : kNan;
}

bool has_titles(const std::vector<CsvRecord>& records, std::initializer_list<const char*> titles) {
  const auto head = head_of(records);
  return head != records.end() &&
         std::all_of(titles.begin(), titles.end(), [&head](const char* title) {
           return std::find(head->cells.begin(), head->cells.end(), title) != head->cells.end();
         });
}

void for_each_titled(const std::vector<CsvRecord>& records,
                     const std::function<void(const BenchField& field, int64_t line)>& visit) {
  const auto head = head_of(records);
  for (auto record = head + 1; record != records.end(); ++record) {
    if (record->cells.empty() || record->cells == head->cells) continue;
    const auto field = [&](const char* name) {
      const auto at = std::find(head->cells.begin(), head->cells.end(), name);
      const auto place = static_cast<size_t>(at - head->cells.begin());
      return place < record->cells.size() ? record->cells[place] : std::string();
    };
    visit(field, record->line);
  }
}

}  // namespace assay
