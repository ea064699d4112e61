#pragma once

// The content of a Document as relations: one per Table, Tree, Facts, Elements and keyed Prose,
// named after its keys in JSON (docs/sql.md), for example launch_top_kernels. Generic: independent
// of the modules.
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
// Types follow the values. A column of numbers that also holds words ("refused") keeps its numbers.
// The words are in another column with the same name and the suffix _note.

#include <string_view>

#include "query/relation.h"
#include "report/document/document.h"

namespace assay {

// The tables copy the required data of the part. taken: names of trace tables; a table of the same
// name becomes report_NAME.
Catalog part_catalog(const Part& part, int64_t rank, const Catalog& taken);

// Content of a document for all its inputs together, and for its parts one by one. The name of a
// part is its rank if ranks are distinct, else its position.
Catalog document_catalog(const Document& document);
Catalog parts_catalog(const Document& document);

// "ns", "share", "1/s"; empty for what has no unit.
std::string_view relation_unit(Unit unit);

}  // namespace assay
