#pragma once

// One relation as a Parquet file, written by DuckDB: docs/formats/export.md.

#include <string>

#include "base/result.h"
#include "query/duckdb.h"
#include "query/relation.h"

namespace assay {

// database: opened over the relation's catalog, with file access. with_rank: adds a column `rank`
// at the front; otherwise a folder "rank=N" has it.
Status write_parquet_file(Database& database, const Relation& relation, bool with_rank,
                          const std::string& path);

}  // namespace assay
