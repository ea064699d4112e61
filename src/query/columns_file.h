#pragma once

// Writes a relation as a file that is memory-mapped without parsing: Arrow buffers, each aligned to
// 64 bytes, followed by their description (docs/formats/columns.md). Python's `import assay` maps
// it and passes it to any library with Arrow's C interface.

#include <string>

#include "base/result.h"
#include "query/relation.h"

namespace assay {

// Writes the rows of one part. Memory: at most two bits per row, and the distinct texts of one
// column. The file is written in place, so pass a temporary name.
Status write_columns_file(const Relation& relation, const RelationPart& part,
                          const std::string& path);

}  // namespace assay
