#pragma once

// The content of a Document as relations: one per Table, Tree, Facts, Elements and keyed Prose,
// named after its keys in JSON (docs/sql.md), for example launch_top_kernels. Generic: independent
// of the modules.
//
//   Facts     one row, one column per item; Facts of the same object are one table
//   Table     one row per row
//   Tree      one row per node: `node`, `parent` (row of the parent; missing at a root), `depth`,
//             the label, the columns
//   Prose     `position`, `text`
//   Elements  the tables of their sections, with a leading column `element`
//
// `rank` is the input's rank in every table. A document column of that name becomes rank_told.
//
// Types follow the values. If a numeric column also contains words ("refused"), the words go to
// another column with the suffix _note.

#include <string_view>

#include "query/relation.h"
#include "report/document/document.h"

namespace assay {

// The tables of a part; their data is copied. taken: catalog of the trace tables; a table with the
// name of one of them becomes report_NAME.
Catalog part_catalog(const Part& part, int64_t rank, const Catalog& taken);

// Tables of a document for all inputs together (document_catalog), and for each part
// (parts_catalog). A part's number is its rank if ranks are distinct, else its position.
Catalog document_catalog(const Document& document);
Catalog parts_catalog(const Document& document);

// "ns", "share", "1/s"; empty if there is no unit.
std::string_view relation_unit(Unit unit);

}  // namespace assay
