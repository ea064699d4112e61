#include "trace/table.h"

namespace assay {

#define ASSAY_PUSH(type, name, unit, doc) name.push_back(row.name);
#define ASSAY_RESERVE(type, name, unit, doc) name.reserve(rows);
#define ASSAY_APPEND(type, name, unit, doc) \
  name.insert(name.end(), other.name.begin(), other.name.end());
#define ASSAY_CLEAR(type, name, unit, doc) std::vector<type>().swap(name);
#define ASSAY_ROW(type, name, unit, doc) row.name = name[i];

#define ASSAY_DEFINE_ROWS(member, Name, COLUMNS, doc)                                            \
  void Name##Table::push_back(const Name##Row& row) { COLUMNS(ASSAY_PUSH) }                      \
  void Name##Table::reserve(size_t rows) { COLUMNS(ASSAY_RESERVE) }                              \
  void Name##Table::append(const Name##Table& other) { COLUMNS(ASSAY_APPEND) }                   \
  void Name##Table::release(){COLUMNS(ASSAY_CLEAR)} Name##Row Name##Table::row(size_t i) const { \
    Name##Row row;                                                                               \
    COLUMNS(ASSAY_ROW)                                                                           \
    return row;                                                                                  \
  }

ASSAY_TABLES(ASSAY_DEFINE_ROWS)

}  // namespace assay
