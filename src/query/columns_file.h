#pragma once

// One relation as a file for memory mapping, without parsing: Arrow's buffers one after the other,
// each at a multiple of 64 bytes, followed by their description (docs/formats/columns.md). `import
// assay` maps it at once, and passes it to any library with Arrow's C interface.

#include <string>

#include "base/result.h"
#include "query/relation.h"

namespace assay {

// The rows of one part. Memory: a bit per cell of the widest column, and the distinct texts of one
// column. The file is written in place: the caller passes a temporary name.
Status write_columns_file(const Relation& relation, const RelationPart& part,
                          const std::string& path);

}  // namespace assay
