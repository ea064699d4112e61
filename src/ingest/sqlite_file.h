#pragma once

// A SQLite file as its rows, for readers that know the tables by name. The file is somebody else's:
// it is opened read-only and never written beside, only plain tables are read (no views, no virtual
// tables, whose SQL would run), every table and column may be missing, and every value may be of
// any type.

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

// What stands in one cell.
enum class CellRead : uint8_t {
  kValue,
  kAbsent,     // NULL, or the table has no such column
  kWrongType,  // not what was asked for
};

// One pass over the rows of a table. Cells are numbered as the columns were asked for.
class SqliteRows {
 public:
  SqliteRows() = default;
  SqliteRows(SqliteRows&&) noexcept = default;
  SqliteRows& operator=(SqliteRows&&) noexcept = default;

  // Steps to the next row; false at the end, or when the file is damaged (then status() says so).
  bool next();
  Status status() const;

  CellRead integer(int cell, int64_t& value) const;  // numbers without fraction, also as text
  CellRead number(int cell, double& value) const;
  CellRead text(int cell, std::string_view& value) const;  // valid until next()
  // The integer, or `missing` when there is none.
  int64_t integer_or(int cell, int64_t missing) const;

 private:
  friend class SqliteFile;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;  // null: a table that is not there
  int64_t expected_ = 0;  // rows that the table's numbers tell of; 0: they tell nothing
  int64_t seen_ = 0;
  int last_ = 0;  // what SQLite answered last
};

// Whether the pages of the file hold together: none that is damaged, used twice or not at all, and
// rows in their order, which reading alone does not see. A pass over the file; `stop` ends it, with
// Ok. Errors: kFormat, which says what is wrong where.
Status check_sqlite_pages(const std::string& path, const std::atomic<bool>& stop);

class SqliteFile {
 public:
  // Errors: kIo (cannot be opened), kTruncated (shorter than its header says), kUnsupported
  // (changes that were never merged lie beside it), kFormat (damaged or encrypted).
  static Result<SqliteFile> open(const std::string& path);

  // Names of its plain tables, sorted.
  std::vector<std::string> table_names() const;
  bool has_table(const std::string& table) const { return columns_.count(table) != 0; }
  bool has_column(const std::string& table, std::string_view column) const;
  // Whether the column is the table's integer key, so that look-ups by it are fast.
  bool is_key(const std::string& table, std::string_view column) const;
  // Largest row number: close to the number of rows; 0 when there is none.
  uint64_t last_row(const std::string& table) const;
  uint64_t bytes() const { return bytes_; }

  // All rows, in the order of the file; none when there is no such table.
  Result<SqliteRows> rows(const std::string& table,
                          std::initializer_list<std::string_view> columns) const;
  // The text of `wanted` in the row whose integer key `key` is `value`; false when there is none.
  // The statement is kept between calls.
  class Lookup {
   public:
    Lookup() = default;
    // Valid until the next call.
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
  // How many rows there must be by the numbers that SQLite gave them; 0 where it gave none.
  int64_t rows_told(const std::string& table) const;

  std::unique_ptr<sqlite3, Closer> connection_;
  std::map<std::string, std::vector<Column>, std::less<>> columns_;  // by table
  uint64_t bytes_ = 0;
};

}  // namespace assay
