#include "query/parquet_file.h"

namespace assay {

Status write_parquet_file(Database& database, const Relation& relation, bool with_rank,
                          const std::string& path) {
  std::string columns = with_rank ? "rank" : "";
  for (const RelationColumn& column : relation.columns) {
    if (!columns.empty()) columns += ", ";
    columns += sql_identifier(column.name);
  }
  return execute(database, "COPY (SELECT " + columns + " FROM " + sql_identifier(relation.name) +
                               ") TO " + sql_text(path) + " (FORMAT parquet, COMPRESSION zstd)");
}

}  // namespace assay
