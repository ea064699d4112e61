#pragma once

// One relation as a file that is mapped, not parsed: Arrow's buffers one after the other, each at a
// multiple of 64 bytes, and at the end what they are (docs/formats/columns.md). `import assay`
// opens it in the time of one mapping, and hands it to any library that takes Arrow's C interface.

#include <string>

#include "base/result.h"
#include "query/relation.h"

namespace assay {

// The rows of one part. Memory: a bit per cell of the widest column, and the different texts of one
// column. The file is written in place: whoever calls gives a name that nobody reads yet.
Status write_columns_file(const Relation& relation, const RelationPart& part,
                          const std::string& path);

}  // namespace assay
