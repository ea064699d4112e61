#pragma once

// One relation as one file, streamed: memory does not grow with its rows.

#include <string>

#include "base/result.h"
#include "query/relation.h"

namespace assay {

enum class TableFormat : uint8_t { kCsv, kJsonLines };

// Writes the rows of one part (docs/formats/export.md) in place: the caller passes a temporary
// name.
Status write_table_file(const Relation& relation, const RelationPart& part, TableFormat format,
                        const std::string& path);

}  // namespace assay
