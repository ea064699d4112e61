#pragma once

// Relations by hand, for tests of what reads them.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "query/relation.h"

namespace assay::testing {

// Whole numbers, some of them missing.
inline ReadCells integers(std::vector<std::optional<int64_t>> values) {
  return [values = std::move(values)](size_t first, size_t count, Cells& out) {
    for (size_t i = first; i < first + count; ++i) {
      out.integers.push_back(values[i].value_or(0));
      out.missing.push_back(!values[i].has_value());
    }
  };
}

inline ReadCells reals(std::vector<double> values) {
  return [values = std::move(values)](size_t first, size_t count, Cells& out) {
    for (size_t i = first; i < first + count; ++i) out.reals.push_back(values[i]);
  };
}

inline ReadCells unsigneds(std::vector<uint64_t> values) {
  return [values = std::move(values)](size_t first, size_t count, Cells& out) {
    for (size_t i = first; i < first + count; ++i) out.unsigneds.push_back(values[i]);
  };
}

inline ReadCells bools(std::vector<bool> values) {
  return [values = std::move(values)](size_t first, size_t count, Cells& out) {
    for (size_t i = first; i < first + count; ++i) out.bools.push_back(values[i]);
  };
}

inline ReadCells texts(std::vector<std::string> values) {
  return [values = std::move(values)](size_t first, size_t count, Cells& out) {
    for (size_t i = first; i < first + count; ++i) out.texts.push_back(values[i]);
  };
}

// All cells of a column of the first part.
inline Cells cells_of(const Relation& relation, const std::string& column, size_t part = 0) {
  Cells cells;
  for (size_t c = 0; c < relation.columns.size(); ++c) {
    if (relation.columns[c].name != column) continue;
    relation.parts[part].columns[c](0, relation.parts[part].rows, cells);
  }
  return cells;
}

}  // namespace assay::testing
