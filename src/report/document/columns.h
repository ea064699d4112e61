#pragma once

// Results as columns and facts. A key is declared once, with title and unit, in the results.h of
// its section (document/results.h for keys of several sections). A column pairs a key with the
// function that computes its cell for a row, so that cells and columns always match.

#include <concepts>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "report/document/document.h"
#include "text/units.h"

namespace assay {

// One result: its key in JSON, CSV and SQL, its title on screen, and its unit. Its meaning is in
// results.h; tools/gen_metrics_docs.py copies it to docs/metrics.md.
struct ResultKey {
  const char* key;
  const char* title;
  Unit unit;
};

// How a column looks in one table.
struct Look {
  Look(Show to = Show::kEverywhere, bool shrinks = false, Align to_side = Align::kAuto)
      : show(to), elastic(shrinks), align(to_side) {}
  Show show;
  bool elastic;  // may be shortened in the middle when the screen is narrow
  Align align;
};
inline Look elastic(Show show = Show::kEverywhere) { return {show, true}; }

// For columns that are shown only if some row has a value.
inline Show shown_if(bool any) { return any ? Show::kEverywhere : Show::kDataOnly; }

Column column_of(const ResultKey& key, const Look& look = {});
Item fact(const ResultKey& key, Value value, std::string note = {}, Show show = Show::kEverywhere);
// For JSON and CSV only.
Item data_fact(const ResultKey& key, Value value);

// A type-erased vector, and a function that computes one cell of an element. Only TableOf knows the
// types. It is instantiated for every column, while the code that fills rows is not a template
// (saves a seventh of report/breakdown).
struct CellSource {
  const void* first;
  size_t step;  // stride in bytes
};
struct CellMaker {
  const void* how;
  Value (*cell)(const void* how, const void* element);
};
Table with_rows(Table head, size_t count);
// Appends the column, and to each row the cell of the element at the same index.
void add_cells(Table& table, Column column, const CellSource& from, const CellMaker& maker);

// A table with one row per element of `from`, which must outlive it. Columns are in the order of
// the add() calls.
template <typename R>
class TableOf : public Table {
 public:
  TableOf(const std::vector<R>& from, Table head)
      : Table(with_rows(std::move(head), from.size())), from_{from.data(), sizeof(R)} {}
  TableOf(std::vector<R>&& from, Table head) = delete;

  // cell: a function of the row, or one of its fields.
  template <typename F>
    requires std::invocable<const F&, const R&>
  TableOf& add(const ResultKey& result, F cell, const Look& look = {}) {
    return add_named(column_of(result, look), cell);
  }
  // Times stored as doubles, published as whole nanoseconds.
  template <typename B>
  TableOf& add_ns(const ResultKey& result, double B::* field, const Look& look = {}) {
    return add(result, [field](const R& row) { return whole_ns(row.*field); }, look);
  }
  // A column named by the user or the data: a configuration, a sensor.
  template <typename F>
  TableOf& add_named(Column column, F cell) {
    add_cells(*this, std::move(column), from_, {&cell, &cell_of<F>});
    return *this;
  }

 private:
  template <typename F>
  static Value cell_of(const void* how, const void* element) {
    return std::invoke(*static_cast<const F*>(how), *static_cast<const R*>(element));
  }
  CellSource from_;
};

}  // namespace assay
