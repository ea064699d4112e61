#pragma once

// Storage generated from trace/schema.h: for every table a struct of columns (std::vector each)
// and a plain row struct for appending. Columns, not objects: a pass over one field touches only
// that field's bytes.

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

// Code for all columns of a row is in trace/table.cc, compiled once and not in every file that
// reads one.
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
