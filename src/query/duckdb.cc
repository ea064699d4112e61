#include "query/duckdb.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/decimal.h"
#include "base/dynamic_library.h"
#include "base/files.h"
#include "base/try_thread.h"
#include "query/duckdb_abi.h"

namespace assay {
namespace {

using duck::Functions;
using duck::Handle;
using duck::Size;

constexpr const char* kScan = "assay_scan";
constexpr const char* kFileName = "libduckdb.so";

// ---- finding it ---------------------------------------------------------------------------------

// Candidate library paths, in order: DUCKDB_ROOT, the program's folder, the system's search path.
std::vector<std::string> places() {
  std::vector<std::string> names;
  if (const char* root = std::getenv("DUCKDB_ROOT"); root != nullptr && *root != '\0') {
    for (const char* below : {"", "lib", "build/release/src"}) {
      names.push_back(joined(joined(root, below), kFileName));
    }
    return names;  // chosen by the user: try no other
  }
  return libraries_beside_program(kFileName);
}

bool (*is_null_value)(Handle) = nullptr;  // of DuckDB 1.2 and later

Result<Functions> load_functions() {
  ASSAY_TRY_ASSIGN(const DynamicLibrary library,
                   DynamicLibrary::open(
                       places(),
                       "DuckDB is not here. SQL and Parquet need it: run tools/install_deps.sh "
                       "query, or put libduckdb.so next to assay or in DUCKDB_ROOT"));
  Functions functions;
#define ASSAY_BIND(name, result, parameters) \
  ASSAY_TRY(library.bind("duckdb_" #name, functions.name));
  ASSAY_DUCKDB_FUNCTIONS(ASSAY_BIND)
#undef ASSAY_BIND
  library.bind_if_there("duckdb_is_null_value", is_null_value);
  return functions;
}

// Global, because the callbacks below receive no pointer to it. Bound once; the library stays open.
Functions api;

Status bind_api() {
  static std::mutex once;
  const std::lock_guard lock(once);
  if (api.close != nullptr) return Ok{};
  ASSAY_TRY_ASSIGN(api, load_functions());
  return Ok{};
}

// ---- the table function -------------------------------------------------------------------------

int type_of(CellType type) {
  switch (type) {
    case CellType::kInteger:
      return duck::kBigInt;
    case CellType::kUnsigned:
      return duck::kUBigInt;
    case CellType::kReal:
      return duck::kDouble;
    case CellType::kText:
      return duck::kVarchar;
    case CellType::kBool:
      return duck::kBoolean;
  }
  return duck::kVarchar;
}

struct ScanState {
  const Relation* relation = nullptr;
  std::vector<Size> columns = {};  // 0 = rank, then those of the relation
  size_t part = 0;
  size_t row = 0;
  Cells cells = {};
};

void add_column(Handle info, const char* name, CellType type) {
  Handle logical = api.create_logical_type(type_of(type));
  api.bind_add_result_column(info, name, logical);
  api.destroy_logical_type(&logical);
}

void bind_scan(Handle info) {
  const auto* catalog = static_cast<const Catalog*>(api.bind_get_extra_info(info));
  Handle parameter = api.bind_get_parameter(info, 0);
  // Check for NULL first: reading its text is an internal error in DuckDB.
  const bool is_null = is_null_value != nullptr && is_null_value(parameter);
  char* name = is_null ? nullptr : api.get_varchar(parameter);
  const Relation* relation = name != nullptr ? catalog->find(name) : nullptr;
  api.free(name);
  api.destroy_value(&parameter);
  if (relation == nullptr) {
    api.bind_set_error(info, "assay_scan: no table of that name");
    return;
  }
  add_column(info, "rank", CellType::kInteger);
  for (const RelationColumn& column : relation->columns) {
    add_column(info, column.name.c_str(), column.type);
  }
  api.bind_set_cardinality(info, relation->rows(), true);
  api.bind_set_bind_data(info, const_cast<Relation*>(relation), nullptr);
}

void init_scan(Handle info) {
  auto* state = new ScanState;
  state->relation = static_cast<const Relation*>(api.init_get_bind_data(info));
  const Size count = api.init_get_column_count(info);
  for (Size i = 0; i < count; ++i) state->columns.push_back(api.init_get_column_index(info, i));
  api.init_set_max_threads(info, 1);
  api.init_set_init_data(info, state, [](void* data) { delete static_cast<ScanState*>(data); });
}

void mark_missing(Handle vector, const std::vector<uint8_t>& missing) {
  api.vector_ensure_validity_writable(vector);
  uint64_t* validity = api.vector_get_validity(vector);
  for (size_t i = 0; i < missing.size(); ++i) {
    if (missing[i] != 0) validity[i / 64] &= ~(uint64_t{1} << (i % 64));
  }
}

template <typename T>
void copy_cells(Handle vector, const std::vector<T>& cells) {
  std::memcpy(api.vector_get_data(vector), cells.data(), cells.size() * sizeof(T));
}

void put_cells(Handle vector, CellType type, const Cells& cells) {
  switch (type) {
    case CellType::kInteger:
      copy_cells(vector, cells.integers);
      break;
    case CellType::kUnsigned:
      copy_cells(vector, cells.unsigneds);
      break;
    case CellType::kReal:
      copy_cells(vector, cells.reals);
      break;
    case CellType::kBool:
      copy_cells(vector, cells.bools);
      break;
    case CellType::kText:
      for (size_t i = 0; i < cells.texts.size(); ++i) {
        api.vector_assign_string_element_len(vector, i, cells.texts[i].data(),
                                             cells.texts[i].size());
      }
      break;
  }
  if (!cells.missing.empty()) mark_missing(vector, cells.missing);
}

void scan(Handle info, Handle chunk) {
  auto& state = *static_cast<ScanState*>(api.function_get_init_data(info));
  const auto& parts = state.relation->parts;
  while (state.part < parts.size() && state.row == parts[state.part].rows) {
    ++state.part;
    state.row = 0;
  }
  if (state.part == parts.size()) {
    api.data_chunk_set_size(chunk, 0);
    return;
  }
  const RelationPart& part = parts[state.part];
  const size_t count = std::min<size_t>(api.vector_size(), part.rows - state.row);
  for (Size i = 0; i < state.columns.size(); ++i) {
    const Size column = state.columns[i];
    // An index past the columns: DuckDB needs only the number of rows, as for count(*).
    if (column > part.columns.size()) continue;
    Handle vector = api.data_chunk_get_vector(chunk, i);
    state.cells.clear();
    if (column == 0) {
      state.cells.integers.assign(count, part.rank);
      put_cells(vector, CellType::kInteger, state.cells);
      continue;
    }
    part.columns[column - 1](state.row, count, state.cells);
    put_cells(vector, state.relation->columns[column - 1].type, state.cells);
  }
  state.row += count;
  api.data_chunk_set_size(chunk, count);
}

// ---- results ------------------------------------------------------------------------------------

Error sql_error(const char* message) {
  return Error{ErrorCode::kInvalidArgument, message != nullptr ? message : "DuckDB gave no reason",
               "", -1};
}

std::string_view text_at(const duck::Text& text) {
  const uint32_t length = text.inlined.length;
  return {length <= duck::kInlined ? text.inlined.data : text.pointer.data, length};
}

Value huge_value(const duck::HugeInt& huge) {
  const auto low = static_cast<int64_t>(huge.lower);
  if ((huge.upper == 0 && low >= 0) || (huge.upper == -1 && low < 0)) return low;
  return std::ldexp(static_cast<double>(huge.upper), 64) + static_cast<double>(huge.lower);
}

template <typename T>
T element(const void* data, Size row) {
  return static_cast<const T*>(data)[row];
}

Value value_at(int type, const void* data, Size row) {
  switch (type) {
    case duck::kBoolean:
      return element<bool>(data, row);
    case duck::kTinyInt:
      return element<int8_t>(data, row);
    case duck::kSmallInt:
      return element<int16_t>(data, row);
    case duck::kInteger:
      return element<int32_t>(data, row);
    case duck::kBigInt:
      return element<int64_t>(data, row);
    case duck::kUTinyInt:
      return element<uint8_t>(data, row);
    case duck::kUSmallInt:
      return element<uint16_t>(data, row);
    case duck::kUInteger:
      return element<uint32_t>(data, row);
    case duck::kUBigInt: {
      const auto value = element<uint64_t>(data, row);
      if (value > static_cast<uint64_t>(INT64_MAX)) return std::to_string(value);
      return value;
    }
    case duck::kFloat:
      return element<float>(data, row);
    case duck::kDouble:
      return element<double>(data, row);
    case duck::kHugeInt:
      return huge_value(element<duck::HugeInt>(data, row));
    default:
      return text_at(static_cast<const duck::Text*>(data)[row]);
  }
}

bool is_direct(int type) {
  return (type >= duck::kBoolean && type <= duck::kDouble) || type == duck::kHugeInt ||
         type == duck::kVarchar;
}

// Interrupts a connection's statement after a time limit. 0 = no limit.
class StatementLimit {
 public:
  StatementLimit(Handle connection, double seconds) : seconds_(seconds) {
    if (seconds <= 0) return;
    watch_ = try_thread([this, connection] {
      std::unique_lock lock(mutex_);
      const auto limit = std::chrono::duration<double>(seconds_);
      // DuckDB ignores an interrupt before the statement has started, so repeat until it ends.
      while (!ended_.wait_for(lock, is_over_ ? std::chrono::duration<double>(0.1) : limit,
                              [this] { return done_; })) {
        is_over_ = true;
        api.interrupt(connection);
      }
    });
  }
  ~StatementLimit() {
    if (!watch_) return;
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    ended_.notify_all();
    watch_->join();
  }
  StatementLimit(const StatementLimit&) = delete;
  StatementLimit& operator=(const StatementLimit&) = delete;

  // DuckDB's error, or a timeout error if the limit was exceeded.
  Error error(const char* message) {
    const std::lock_guard lock(mutex_);
    if (!is_over_) return sql_error(message);
    return Error{ErrorCode::kInvalidArgument,
                 "the statement took longer than --timeout " + shortest_text(seconds_) +
                     " s: ask for less, or allow more",
                 "", -1};
  }

 private:
  double seconds_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  bool is_over_ = false;
  std::optional<std::thread> watch_;
};

class DuckRows final : public QueryRows {
 public:
  DuckRows(duck::QueryResult result, std::unique_ptr<StatementLimit> limit)
      : result_(result), limit_(std::move(limit)) {
    const Size count = api.column_count(&result_);
    for (Size i = 0; i < count; ++i) {
      types_.push_back(api.column_type(&result_, i));
      const std::string name = api.column_name(&result_, i);
      columns_.push_back({.key = name,
                          .title = name,
                          .unit = types_.back() == duck::kVarchar ? Unit::kText : Unit::kNone,
                          .elastic = types_.back() == duck::kVarchar});
    }
  }
  ~DuckRows() override {
    limit_.reset();
    api.destroy_result(&result_);
  }
  DuckRows(const DuckRows&) = delete;
  DuckRows& operator=(const DuckRows&) = delete;

  const std::vector<Column>& columns() const override { return columns_; }
  // True if all columns can be read without conversion to text by DuckDB.
  bool all_direct() const {
    for (const int type : types_) {
      if (!is_direct(type)) return false;
    }
    return true;
  }
  std::vector<bool> direct() const {
    std::vector<bool> flags;
    for (const int type : types_) flags.push_back(is_direct(type));
    return flags;
  }

  Result<std::vector<Row>> next() override {
    std::vector<Row> rows;
    Handle chunk = api.fetch_chunk(result_);
    if (chunk == nullptr) {
      const char* error = api.result_error(&result_);
      if (error != nullptr && *error != '\0') return limit_->error(error);
      return rows;
    }
    rows.resize(api.data_chunk_get_size(chunk), Row(columns_.size()));
    for (Size c = 0; c < columns_.size(); ++c) {
      Handle vector = api.data_chunk_get_vector(chunk, c);
      const void* data = api.vector_get_data(vector);
      const uint64_t* validity = api.vector_get_validity(vector);
      for (Size r = 0; r < rows.size(); ++r) {
        if (validity != nullptr && (validity[r / 64] >> (r % 64) & 1) == 0) continue;
        rows[r][c] = value_at(types_[c], data, r);
      }
    }
    api.destroy_data_chunk(&chunk);
    return rows;
  }

 private:
  duck::QueryResult result_;
  std::unique_ptr<StatementLimit> limit_;
  std::vector<int> types_;
  std::vector<Column> columns_;
};

// ---- the database -------------------------------------------------------------------------------

bool has_relation(const Catalog& catalog, std::string_view name) {
  return std::any_of(catalog.relations.begin(), catalog.relations.end(),
                     [name](const Relation& relation) { return relation.name == name; });
}

class DuckDatabase final : public Database {
 public:
  static Result<std::unique_ptr<Database>> make(const Catalog& catalog,
                                                const DatabaseOptions& options) {
    auto database = std::unique_ptr<DuckDatabase>(new DuckDatabase);
    ASSAY_TRY(database->start(options));
    ASSAY_TRY(database->add_scan(catalog));
    for (const Relation& relation : catalog.relations) {
      ASSAY_TRY(execute(*database, "CREATE VIEW " + sql_identifier(relation.name) +
                                       " AS SELECT * FROM " + kScan + "(" +
                                       sql_text(relation.name) + ")"));
    }
    if (has_relation(catalog, "activities") && !has_relation(catalog, "kernels")) {
      ASSAY_TRY(execute(*database,
                        "CREATE VIEW kernels AS SELECT * FROM activities "
                        "WHERE kind = 'kernel'"));
    }
    ASSAY_TRY(execute(*database, "SET lock_configuration = true"));
    return std::unique_ptr<Database>(std::move(database));
  }

  ~DuckDatabase() override {
    if (connection_ != nullptr) api.disconnect(&connection_);
    if (database_ != nullptr) api.close(&database_);
  }
  DuckDatabase(const DuckDatabase&) = delete;
  DuckDatabase& operator=(const DuckDatabase&) = delete;

  Result<std::unique_ptr<QueryRows>> query(const std::string& sql) override {
    ASSAY_TRY_ASSIGN(std::unique_ptr<DuckRows> rows, run(sql));
    if (!rows->all_direct()) {
      // Run again with dates, decimals, lists, ... converted to text by DuckDB. Only a query can be
      // run twice.
      ASSAY_TRY_ASSIGN(rows, run(with_texts(sql, *rows)));
    }
    return std::unique_ptr<QueryRows>(std::move(rows));
  }

  std::string version() const override { return api.library_version(); }

 private:
  DuckDatabase() = default;

  Status start(const DatabaseOptions& options) {
    timeout_s_ = options.timeout_s;
    Handle config = nullptr;
    if (api.create_config(&config) != duck::kSuccess) return sql_error("no configuration");
    std::string refused;
    const auto set = [&](const char* key, const std::string& value) {
      if (api.set_config(config, key, value.c_str()) != duck::kSuccess) refused = key;
    };
    set("threads", std::to_string(std::max(1u, options.threads)));
    set("autoinstall_known_extensions", "false");
    set("autoload_known_extensions", "false");
    set("temp_directory", "");  // no files in the user's folders
    // After temp_directory, which cannot be set once external access is off.
    set("enable_external_access", options.allow_files ? "true" : "false");
    if (!options.memory_limit.empty()) set("memory_limit", options.memory_limit);
    if (!refused.empty()) {
      api.destroy_config(&config);
      if (refused == "memory_limit") {
        return Error{ErrorCode::kInvalidArgument,
                     "--memory " + options.memory_limit + ": write a size such as 500MB or 4GB", "",
                     -1};
      }
      return Error{ErrorCode::kUnsupported, "this DuckDB does not know the setting " + refused, "",
                   -1};
    }
    char* reason = nullptr;
    const bool opened = api.open_ext(nullptr, &database_, config, &reason) == duck::kSuccess;
    const std::string why = reason != nullptr ? reason : "no reason given";
    api.free(reason);
    api.destroy_config(&config);
    if (!opened) return Error{ErrorCode::kUnsupported, "DuckDB does not start: " + why, "", -1};
    if (api.connect(database_, &connection_) != duck::kSuccess) return sql_error("no connection");
    return Ok{};
  }

  Status add_scan(const Catalog& catalog) {
    Handle function = api.create_table_function();
    api.table_function_set_name(function, kScan);
    Handle varchar = api.create_logical_type(duck::kVarchar);
    api.table_function_add_parameter(function, varchar);
    api.destroy_logical_type(&varchar);
    api.table_function_set_extra_info(function, const_cast<Catalog*>(&catalog), nullptr);
    api.table_function_set_bind(function, bind_scan);
    api.table_function_set_init(function, init_scan);
    api.table_function_set_function(function, scan);
    api.table_function_supports_projection_pushdown(function, true);
    const int state = api.register_table_function(connection_, function);
    api.destroy_table_function(&function);
    if (state != duck::kSuccess) return sql_error("the scan function was not taken");
    return Ok{};
  }

  Result<std::unique_ptr<DuckRows>> run(const std::string& sql) {
    auto limit = std::make_unique<StatementLimit>(connection_, timeout_s_);
    Handle statement = nullptr;
    if (api.prepare(connection_, sql.c_str(), &statement) != duck::kSuccess) {
      Error error = limit->error(api.prepare_error(statement));
      api.destroy_prepare(&statement);
      return error;
    }
    duck::QueryResult result;
    const int state = api.execute_prepared_streaming(statement, &result);
    api.destroy_prepare(&statement);
    if (state != duck::kSuccess) {
      Error error = limit->error(api.result_error(&result));
      api.destroy_result(&result);
      return error;
    }
    return std::make_unique<DuckRows>(result, std::move(limit));
  }

  // The same query with the other columns cast to text, under the same names.
  static std::string with_texts(const std::string& sql, const DuckRows& rows) {
    const std::vector<bool> direct = rows.direct();
    std::string chosen;
    std::string names;
    for (size_t i = 0; i < direct.size(); ++i) {
      const std::string number = "c" + std::to_string(i);
      const std::string value = direct[i] ? number : "CAST(" + number + " AS VARCHAR)";
      chosen += (i > 0 ? ", " : "") + value + " AS " + sql_identifier(rows.columns()[i].key);
      names += (i > 0 ? ", " : "") + number;
    }
    return "SELECT " + chosen + " FROM (" + sql + "\n) AS q(" + names + ")";
  }

  Handle database_ = nullptr;
  Handle connection_ = nullptr;
  double timeout_s_ = 0;
};

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const Catalog& catalog,
                                                 const DatabaseOptions& options) {
  ASSAY_TRY(bind_api());
  return DuckDatabase::make(catalog, options);
}

Status execute(Database& database, const std::string& sql) {
  ASSAY_TRY_ASSIGN(const std::unique_ptr<QueryRows> rows, database.query(sql));
  for (;;) {
    ASSAY_TRY_ASSIGN(const std::vector<Row> some, rows->next());
    if (some.empty()) return Ok{};
  }
}

}  // namespace assay
