#pragma once

// Results as columns and facts. A key is declared once, with title and unit, in the results.h of
// its room (document/results.h for keys of several rooms); here it gets its values. A column is a
// key and what gives its cell for a row, so no list of cells can slip against a list of columns.

#include <concepts>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "report/document/document.h"
#include "report/document/units.h"

namespace assay {

// One result: its key in JSON, CSV and SQL, its title on screen, its unit. What it means stands
// beside it in results.h, from where tools/gen_metrics_docs.py takes it to docs/metrics.md.
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

// Columns that say something only where there is something to say.
inline Show shown_if(bool any) { return any ? Show::kEverywhere : Show::kDataOnly; }

Column column_of(const ResultKey& key, const Look& look = {});
Item fact(const ResultKey& key, Value value, std::string note = {}, Show show = Show::kEverywhere);
// For JSON and CSV only.
Item data_fact(const ResultKey& key, Value value);

// A table with one row per element of `from`, which must outlive it. Columns come in the order in
// which they are added.
template <typename R>
class TableOf : public Table {
 public:
  TableOf(const std::vector<R>& from, Table head) : Table(std::move(head)), from_(from) {
    rows.resize(from.size());
    for (Row& row : rows) row.reserve(kUsualColumns);
  }
  TableOf(std::vector<R>&& from, Table head) = delete;

  // cell: a function of the row, or one of its fields.
  template <typename F>
    requires std::invocable<const F&, const R&>
  TableOf& add(const ResultKey& result, const F& cell, const Look& look = {}) {
    return add_named(column_of(result, look), cell);
  }
  // Times kept as doubles, published as whole nanoseconds.
  template <typename B>
  TableOf& add_ns(const ResultKey& result, double B::* field, const Look& look = {}) {
    return add(result, [field](const R& row) { return whole_ns(row.*field); }, look);
  }
  // A column whose name is the user's or comes from the data: a configuration, a sensor.
  template <typename F>
  TableOf& add_named(Column column, const F& cell) {
    columns.push_back(std::move(column));
    for (size_t i = 0; i < rows.size(); ++i) {
      if constexpr (std::is_member_object_pointer_v<F>) {
        rows[i].emplace_back(from_[i].*cell);
      } else {
        rows[i].emplace_back(cell(from_[i]));
      }
    }
    return *this;
  }

 private:
  static constexpr size_t kUsualColumns = 12;
  std::span<const R> from_;
};

}  // namespace assay
