#pragma once

// Reads tables of a SQLite file by name. The file belongs to the user: it is opened read-only, and
// no file is written next to it. Reads only plain tables, because views and virtual tables would
// run SQL. Every table and column may be missing, and every value may be of any type.

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace assay {

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

// Result of reading one cell.
enum class CellRead : uint8_t {
  kValue,
  kAbsent,     // NULL, or the table has no such column
  kWrongType,  // not of the requested type
};

// One pass over the rows of a table. Cells are numbered in the order of the requested columns.
class SqliteRows {
 public:
  SqliteRows() = default;
  SqliteRows(SqliteRows&&) noexcept = default;
  SqliteRows& operator=(SqliteRows&&) noexcept = default;

  // Steps to the next row; false at the end, and if the file is damaged (then status() is an
  // error).
  bool next();
  Status status() const;

  CellRead integer(int cell, int64_t& value) const;  // whole numbers, also written as text
  CellRead number(int cell, double& value) const;
  CellRead text(int cell, std::string_view& value) const;  // valid until next()
  // The integer; `missing` if there is none.
  int64_t integer_or(int cell, int64_t missing) const;

 private:
  friend class SqliteFile;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;  // null: no such table
  int64_t expected_ = 0;  // number of rows according to the row numbers; 0 = unknown
  int64_t seen_ = 0;
  int last_ = 0;  // last result code of SQLite
};

// Checks that no page of the file is damaged, used twice or unused, and that rows are in order.
// Reading alone does not detect these faults. Reads the whole file; setting `stop` ends it early,
// with Ok. Errors: kFormat, with the fault and its position.
Status check_sqlite_pages(const std::string& path, const std::atomic<bool>& stop);

class SqliteFile {
 public:
  // Errors: kIo (cannot be opened), kTruncated (shorter than its header says), kUnsupported (it has
  // a journal with changes that were never merged), kFormat (damaged or encrypted).
  static Result<SqliteFile> open(const std::string& path);

  // Names of its plain tables, sorted.
  std::vector<std::string> table_names() const;
  bool has_table(const std::string& table) const { return columns_.count(table) != 0; }
  bool has_column(const std::string& table, std::string_view column) const;
  // True if the column is the table's integer key, which makes look-ups fast.
  bool is_key(const std::string& table, std::string_view column) const;
  // Largest row number, which is close to the number of rows; 0 if there is none.
  uint64_t last_row(const std::string& table) const;
  uint64_t bytes() const { return bytes_; }

  // All rows of a table, in file order; none if there is no such table.
  Result<SqliteRows> rows(const std::string& table,
                          std::initializer_list<std::string_view> columns) const;
  // Finds texts by integer key; the statement is kept between calls.
  class Lookup {
   public:
    Lookup() = default;
    // Sets `text` to the text in the row with key `value`, valid until the next call. kAbsent if
    // there is none.
    CellRead find(int64_t value, std::string_view& text);
    Status status() const { return rows_.status(); }

   private:
    friend class SqliteFile;
    SqliteRows rows_;
  };
  Result<Lookup> lookup(const std::string& table, std::string_view key,
                        std::string_view wanted) const;

 private:
  struct Closer {
    void operator()(sqlite3* connection) const;
  };
  struct Column {
    std::string name;
    bool is_key = false;
  };
  SqliteFile() = default;
  Status read_schema();
  Status read_columns(const std::string& table);
  Result<SqliteRows> prepare(const std::string& sql) const;
  // Number of rows according to SQLite's row numbers; 0 if the writer chose the keys.
  int64_t rows_told(const std::string& table) const;

  std::unique_ptr<sqlite3, Closer> connection_;
  std::map<std::string, std::vector<Column>, std::less<>> columns_;  // by table
  uint64_t bytes_ = 0;
};

}  // namespace assay
