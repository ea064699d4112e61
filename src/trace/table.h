#pragma once

// Storage generated from trace/schema.h: a struct of columns (std::vector each) per table, and a
// plain row struct for appending. Columns, because a pass over one field then touches only its
// bytes.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/schema.h"

namespace assay {

#define ASSAY_FIELD(type, name, unit, doc) type name{};
#define ASSAY_COLUMN(type, name, unit, doc) std::vector<type> name;
#define ASSAY_VISIT(type, name, unit, doc) \
  visit(std::string_view(#name), std::string_view(unit), std::string_view(doc), name);
#define ASSAY_FIRST_SIZE(type, name, unit, doc) \
  if (rows == SIZE_MAX) rows = name.size();

// Member functions that touch all columns are defined in trace/table.cc, so that they are compiled
// once.
#define ASSAY_DEFINE_TABLE(member, Name, COLUMNS, doc)                       \
  struct Name##Row {                                                         \
    COLUMNS(ASSAY_FIELD)                                                     \
  };                                                                         \
  struct Name##Table {                                                       \
    COLUMNS(ASSAY_COLUMN)                                                    \
    size_t size() const {                                                    \
      size_t rows = SIZE_MAX;                                                \
      COLUMNS(ASSAY_FIRST_SIZE)                                              \
      return rows;                                                           \
    }                                                                        \
    bool empty() const { return size() == 0; }                               \
    void push_back(const Name##Row& row);                                    \
    void reserve(size_t rows);                                               \
    void append(const Name##Table& other);                                   \
    void release();                                                          \
    Name##Row row(size_t i) const;                                           \
    /* visit(name, unit, doc, std::vector<T>&) for every column, in order */ \
    template <typename Visitor>                                              \
    void for_each_column(Visitor&& visit) {                                  \
      COLUMNS(ASSAY_VISIT)                                                   \
    }                                                                        \
    template <typename Visitor>                                              \
    void for_each_column(Visitor&& visit) const {                            \
      COLUMNS(ASSAY_VISIT)                                                   \
    }                                                                        \
  };

ASSAY_TABLES(ASSAY_DEFINE_TABLE)

#undef ASSAY_DEFINE_TABLE
#undef ASSAY_FIELD
#undef ASSAY_COLUMN
#undef ASSAY_VISIT
#undef ASSAY_FIRST_SIZE

}  // namespace assay
