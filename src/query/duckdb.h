#pragma once

// DuckDB, loaded at run time if available (docs/decisions/0008-duckdb.md). It reads relations in
// place: every relation is a view, scanned by column when a query needs it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "query/relation.h"
#include "report/document/document.h"

namespace assay {

struct DatabaseOptions {
  std::string memory_limit = {};  // in DuckDB's syntax, "4GB"; empty = its default, 80 % of memory
  unsigned threads = 1;           // above 1, rows without ORDER BY may come in any order
  double timeout_s = 0;           // of one statement, including fetching its rows; 0 = none
  bool allow_files = false;  // true: SQL may read and write files; false: only the relations
};

// The rows of one statement, in chunks, in base units. Integers beyond 64 bits and types that a
// Value cannot hold are text.
class QueryRows {
 public:
  virtual ~QueryRows() = default;
  virtual const std::vector<Column>& columns() const = 0;
  // The next chunk of rows; empty at the end.
  virtual Result<std::vector<Row>> next() = 0;
};

class Database {
 public:
  // catalog must outlive the database and must not change.
  static Result<std::unique_ptr<Database>> open(const Catalog& catalog,
                                                const DatabaseOptions& options);
  virtual ~Database() = default;
  // One statement, without a semicolon inside. Errors carry DuckDB's own message.
  virtual Result<std::unique_ptr<QueryRows>> query(const std::string& sql) = 0;
  virtual std::string version() const = 0;
};

// Runs a statement and discards its rows.
Status execute(Database& database, const std::string& sql);

// Quoted for SQL: 'text' and "name".
std::string sql_text(std::string_view text);
std::string sql_identifier(std::string_view name);

// The statements of a text, split at semicolons outside quotes, comments and dollar quotes; empty
// ones are dropped. rest: the text after the last semicolon; empty if it is only white space.
struct Statements {
  std::vector<std::string> complete;
  std::string rest;
};
Statements split_statements(std::string_view text);

}  // namespace assay
