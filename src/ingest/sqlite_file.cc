#include "ingest/sqlite_file.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "base/byte_source.h"
#include "base/decimal.h"
#include "base/files.h"

namespace assay {
namespace {

// Limit of a value's size, enforced by SQLite. No name or text of a trace is near it.
constexpr int kLongestValueBytes = 64 << 20;

Error damaged(int code, const char* what) {
  if (code == SQLITE_NOTADB) {
    return Error{ErrorCode::kFormat, "damaged or encrypted: SQLite does not know it as its own", "",
                 -1};
  }
  if (code == SQLITE_CANTOPEN || code == SQLITE_IOERR || code == SQLITE_PERM ||
      code == SQLITE_NOMEM) {
    return Error{ErrorCode::kIo, std::string("cannot read: ") + what, "", -1};
  }
  return Error{ErrorCode::kFormat,
               std::string("damaged SQLite file (") + what +
                   "): what it still gives cannot be trusted; export it again",
               "", -1};
}

std::string identifier(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    text += c;
    if (c == '"') text += '"';
  }
  return text + '"';
}

// A path as a file: URI.
std::string uri_of(const std::string& path) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : absolute_path(path)) {
    if (c == '%' || c == '?' || c == '#') {
      const auto byte = static_cast<unsigned char>(c);
      uri += '%';
      uri += kHex[byte >> 4];
      uri += kHex[byte & 15];
    } else {
      uri += c;
    }
  }
  return uri + "?mode=ro&immutable=1";
}

uint32_t big_endian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

// Compares the file's size with the number of pages in the header (SQLite file format, section
// 1.3).
Status check_length(const unsigned char (&header)[100], uint64_t bytes) {
  const uint32_t stored_page = uint32_t{header[16]} << 8 | header[17];
  const uint64_t page = stored_page == 1 ? 65536 : stored_page;
  const bool count_is_valid = big_endian(header + 24) == big_endian(header + 92);
  const uint64_t expected = page * big_endian(header + 28);
  if (!count_is_valid || bytes >= expected) return Ok{};
  return Error{ErrorCode::kTruncated,
               "truncated: the SQLite file holds " + std::to_string(bytes) + " of " +
                   std::to_string(expected) +
                   " bytes, and what is left of it cannot be trusted; copy or export it again",
               "", static_cast<int64_t>(bytes)};
}

// Fails if a write-ahead log or journal exists: the database file alone is then incomplete.
Status check_companions(const std::string& path) {
  for (const char* suffix : {"-wal", "-journal"}) {
    const auto facts = file_facts(path + suffix);
    if (!facts || facts->bytes == 0) continue;
    return Error{ErrorCode::kUnsupported,
                 std::string("unfinished: changes to this SQLite file are in a second file (its "
                             "name + ") +
                     suffix +
                     "); let the export finish, or merge them with: sqlite3 FILE "
                     "'PRAGMA wal_checkpoint(TRUNCATE)'",
                 "", -1};
  }
  return Ok{};
}

Result<uint64_t> check_file(const std::string& path) {
  ASSAY_TRY_ASSIGN(const ByteSource source, ByteSource::open(path));
  const uint64_t bytes = source.stored_bytes();
  unsigned char header[100] = {};
  const ReadFn read = source.range(0, bytes);
  for (size_t filled = 0; filled < sizeof(header);) {
    ASSAY_TRY_ASSIGN(const size_t got,
                     read(reinterpret_cast<char*>(header) + filled, sizeof(header) - filled));
    if (got == 0) {
      return Error{ErrorCode::kTruncated, "truncated: the SQLite file ends within its header", "",
                   static_cast<int64_t>(bytes)};
    }
    filled += got;
  }
  ASSAY_TRY(check_length(header, bytes));
  ASSAY_TRY(check_companions(path));
  return bytes;
}

// Returns SQLite's code. The caller closes the connection, even after an error.
int open_to_read(const std::string& path, sqlite3*& connection) {
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(uri_of(path).c_str(), &connection, flags, nullptr);
  if (code != SQLITE_OK) return code;
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, kLongestValueBytes);
  return code;
}

}  // namespace

void SqliteRows::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqliteFile::Closer::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

bool SqliteRows::next() {
  if (!statement_) return false;
  last_ = sqlite3_step(statement_.get());
  if (last_ == SQLITE_ROW) ++seen_;
  return last_ == SQLITE_ROW;
}

Status SqliteRows::status() const {
  // SQLite does not detect a page that was overwritten with another valid one.
  if (last_ == SQLITE_DONE && seen_ < expected_) {
    return Error{ErrorCode::kFormat,
                 "damaged: " + std::to_string(seen_) + " of " + std::to_string(expected_) +
                     " rows of a table can be read; export it again",
                 "", -1};
  }
  if (!statement_ || last_ == SQLITE_ROW || last_ == SQLITE_DONE || last_ == SQLITE_OK) return Ok{};
  return damaged(last_ & 0xFF, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
}

CellRead SqliteRows::integer(int cell, int64_t& value) const {
  sqlite3_stmt* row = statement_.get();
  switch (sqlite3_column_type(row, cell)) {
    case SQLITE_INTEGER:
      value = sqlite3_column_int64(row, cell);
      return CellRead::kValue;
    case SQLITE_NULL:
      return CellRead::kAbsent;
    case SQLITE_FLOAT: {
      constexpr double kExact = 9007199254740992;  // 2^53: every integer up to here is a double
      const double real = sqlite3_column_double(row, cell);
      if (!(std::fabs(real) <= kExact) || real != std::floor(real)) return CellRead::kWrongType;
      value = static_cast<int64_t>(real);
      return CellRead::kValue;
    }
    case SQLITE_TEXT: {
      std::string_view digits;
      const bool read = text(cell, digits) == CellRead::kValue && parse_int64(digits, value);
      return read ? CellRead::kValue : CellRead::kWrongType;
    }
    default:
      return CellRead::kWrongType;
  }
}

CellRead SqliteRows::number(int cell, double& value) const {
  switch (sqlite3_column_type(statement_.get(), cell)) {
    case SQLITE_INTEGER:
    case SQLITE_FLOAT:
      value = sqlite3_column_double(statement_.get(), cell);
      return std::isfinite(value) ? CellRead::kValue : CellRead::kWrongType;
    case SQLITE_NULL:
      return CellRead::kAbsent;
    default:
      return CellRead::kWrongType;
  }
}

CellRead SqliteRows::text(int cell, std::string_view& value) const {
  sqlite3_stmt* row = statement_.get();
  const int type = sqlite3_column_type(row, cell);
  if (type == SQLITE_NULL) return CellRead::kAbsent;
  if (type != SQLITE_TEXT) return CellRead::kWrongType;
  const unsigned char* bytes = sqlite3_column_text(row, cell);
  if (bytes == nullptr) return CellRead::kWrongType;
  value = {reinterpret_cast<const char*>(bytes),
           static_cast<size_t>(sqlite3_column_bytes(row, cell))};
  return CellRead::kValue;
}

int64_t SqliteRows::integer_or(int cell, int64_t missing) const {
  int64_t value = 0;
  return integer(cell, value) == CellRead::kValue ? value : missing;
}

Status check_sqlite_pages(const std::string& path, const std::atomic<bool>& stop) {
  constexpr int kStepsBetweenLooks = 10'000;
  sqlite3* connection = nullptr;
  const int opened = open_to_read(path, connection);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> held(connection, &sqlite3_close_v2);
  if (opened != SQLITE_OK) return damaged(opened & 0xFF, sqlite3_errstr(opened));
  sqlite3_exec(connection, "PRAGMA ignore_check_constraints=ON", nullptr, nullptr, nullptr);
  sqlite3_progress_handler(
      connection, kStepsBetweenLooks,
      [](void* told) { return static_cast<const std::atomic<bool>*>(told)->load() ? 1 : 0; },
      const_cast<std::atomic<bool>*>(&stop));
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(connection, "PRAGMA quick_check(1)", -1, &statement, nullptr);
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> check(statement,
                                                                         &sqlite3_finalize);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_INTERRUPT || code == SQLITE_DONE) return Ok{};
  if (code != SQLITE_ROW) return damaged(code & 0xFF, sqlite3_errmsg(connection));
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  const std::string_view told = text == nullptr ? "" : text;
  if (told == "ok") return Ok{};
  const size_t head = told.starts_with("*** in database") ? told.find('\n') + 1 : 0;
  const std::string_view first = told.substr(head, told.find('\n', head) - head);
  return damaged(SQLITE_CORRUPT, std::string(first).c_str());
}

Result<SqliteFile> SqliteFile::open(const std::string& path) {
  SqliteFile file;
  ASSAY_TRY_ASSIGN(file.bytes_, check_file(path));
  sqlite3* connection = nullptr;
  const int opened = open_to_read(path, connection);
  file.connection_.reset(connection);
  if (opened != SQLITE_OK) return damaged(opened & 0xFF, sqlite3_errstr(opened));
  // Checking every page that is read costs little and detects damage early.
  sqlite3_exec(connection, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", nullptr, nullptr,
               nullptr);
  ASSAY_TRY(file.read_schema());
  return file;
}

Status SqliteFile::read_schema() {
  ASSAY_TRY_ASSIGN(SqliteRows tables,
                   prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
                           "'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%'"));
  std::vector<std::string> names;
  std::string_view name;
  while (tables.next()) {
    if (tables.text(0, name) == CellRead::kValue) names.emplace_back(name);
  }
  ASSAY_TRY(tables.status());
  for (const std::string& table : names) ASSAY_TRY(read_columns(table));
  return Ok{};
}

Status SqliteFile::read_columns(const std::string& table) {
  ASSAY_TRY_ASSIGN(SqliteRows rows, prepare("PRAGMA table_info(" + identifier(table) + ")"));
  std::vector<Column>& columns = columns_[table];
  std::string_view name;
  std::string_view type;
  while (rows.next()) {
    if (rows.text(1, name) != CellRead::kValue) continue;
    const bool integer = rows.text(2, type) == CellRead::kValue && type == "INTEGER";
    columns.push_back({std::string(name), integer && rows.integer_or(5, 0) == 1});
  }
  return rows.status();
}

std::vector<std::string> SqliteFile::table_names() const {
  std::vector<std::string> names;
  for (const auto& [table, columns] : columns_) names.push_back(table);
  return names;
}

bool SqliteFile::has_column(const std::string& table, std::string_view column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [column](const Column& c) { return c.name == column; });
}

bool SqliteFile::is_key(const std::string& table, std::string_view column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [column](const Column& c) { return c.name == column && c.is_key; });
}

uint64_t SqliteFile::last_row(const std::string& table) const {
  if (!has_table(table)) return 0;
  auto rows = prepare("SELECT max(rowid) FROM " + identifier(table));
  if (!rows || !rows->next()) return 0;
  return static_cast<uint64_t>(std::max<int64_t>(rows->integer_or(0, 0), 0));
}

int64_t SqliteFile::rows_told(const std::string& table) const {
  // Keys chosen by the writer need not be consecutive.
  const auto found = columns_.find(table);
  const bool has_key = std::any_of(found->second.begin(), found->second.end(),
                                   [](const Column& column) { return column.is_key; });
  if (has_key) return 0;
  auto ends = prepare("SELECT min(rowid), max(rowid) FROM " + identifier(table));
  if (!ends || !ends->next()) return 0;
  const int64_t first = ends->integer_or(0, 0);
  const int64_t last = ends->integer_or(1, 0);
  return first < 1 || last < first ? 0 : last - first + 1;
}

Result<SqliteRows> SqliteFile::prepare(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection_.get(), sql.c_str(),
                                      static_cast<int>(sql.size()) + 1, &statement, nullptr);
  SqliteRows rows;
  rows.statement_.reset(statement);
  if (code != SQLITE_OK) return damaged(code & 0xFF, sqlite3_errmsg(connection_.get()));
  return rows;
}

Result<SqliteRows> SqliteFile::rows(const std::string& table,
                                    std::initializer_list<std::string_view> columns) const {
  if (!has_table(table)) return SqliteRows();
  std::string sql = "SELECT ";
  for (const std::string_view column : columns) {
    if (sql.size() > 7) sql += ", ";
    sql += has_column(table, column) ? identifier(column) : "NULL";
  }
  ASSAY_TRY_ASSIGN(SqliteRows rows, prepare(sql + " FROM " + identifier(table) + " NOT INDEXED"));
  rows.expected_ = rows_told(table);
  return rows;
}

Result<SqliteFile::Lookup> SqliteFile::lookup(const std::string& table, std::string_view key,
                                              std::string_view wanted) const {
  Lookup lookup;
  if (!has_column(table, key) || !has_column(table, wanted)) return lookup;
  ASSAY_TRY_ASSIGN(lookup.rows_, prepare("SELECT " + identifier(wanted) + " FROM " +
                                         identifier(table) + " WHERE " + identifier(key) + " = ?"));
  return lookup;
}

CellRead SqliteFile::Lookup::find(int64_t value, std::string_view& text) {
  sqlite3_stmt* statement = rows_.statement_.get();
  if (statement == nullptr) return CellRead::kAbsent;
  sqlite3_reset(statement);
  sqlite3_bind_int64(statement, 1, value);
  return rows_.next() ? rows_.text(0, text) : CellRead::kAbsent;
}

}  // namespace assay
