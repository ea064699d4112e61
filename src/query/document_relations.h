#pragma once

// What a Document says, as relations: one per Table, Tree, Facts, Elements and keyed Prose, named
// after its keys in JSON (docs/sql.md), for example launch_top_kernels. Generic: no room is known
// here.
//
//   Facts     one row, one column per item; Facts of the same object are one table
//   Table     one row per row
//   Tree      `node`, `parent` (row of the parent; missing at a root), `depth`, the label, the
//             columns
//   Prose     `position`, `text`
//   Elements  the tables of their sections with a column `element` before them
//
// A column `rank` of theirs is called rank_told: `rank` is the input's, in every table.
//
// Types follow the values. A column of numbers that also holds words ("refused") keeps its numbers,
// and the words are in a column of the same name with _note behind it.

#include <string_view>

#include "query/relation.h"
#include "report/document/document.h"

namespace assay {

// The tables keep what they need of the part. taken: names that trace tables have; a table of that
// name becomes report_NAME.
Catalog part_catalog(const Part& part, int64_t rank, const Catalog& taken);

// What a document says of all its inputs together, and of its parts one by one; a part is called
// by its rank where each tells another, else by its place.
Catalog document_catalog(const Document& document);
Catalog parts_catalog(const Document& document);

// "ns", "share", "1/s"; empty for what has no unit.
std::string_view relation_unit(Unit unit);

}  // namespace assay
