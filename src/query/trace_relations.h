#pragma once

// The tables of a Trace (docs/schema.md) and of its Links as relations: texts resolved, enums as
// words, ids of rows as numbers. Every table of the schema begins with `id`, its row number, which
// columns of unit "row", "thread" and "stream" refer to.

#include "query/relation.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// trace and links must outlive the catalog and stay where they are.
Catalog trace_catalog(const Trace& trace, const Links& links, int64_t rank);

}  // namespace assay
