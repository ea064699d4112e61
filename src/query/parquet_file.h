#pragma once

// Writes a relation as a Parquet file through DuckDB (docs/formats/export.md).

#include <string>

#include "base/result.h"
#include "query/duckdb.h"
#include "query/relation.h"

namespace assay {

// database: opened over the relation's catalog, with file access. with_rank: writes a leading
// column `rank`; false if the folder name "rank=N" has it.
Status write_parquet_file(Database& database, const Relation& relation, bool with_rank,
                          const std::string& path);

}  // namespace assay
