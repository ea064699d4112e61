#pragma once

// Writes a relation as a text file, in constant memory.

#include <string>

#include "base/result.h"
#include "query/relation.h"

namespace assay {

enum class TableFormat : uint8_t { kCsv, kJsonLines };

// Writes the rows of one part (docs/formats/export.md). The file is written in place, so pass a
// temporary name.
Status write_table_file(const Relation& relation, const RelationPart& part, TableFormat format,
                        const std::string& path);

}  // namespace assay
