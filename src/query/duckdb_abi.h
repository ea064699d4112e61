#pragma once

// The part of DuckDB's C interface that Assay uses (duckdb.h of 1.1 and later; handles are opaque
// pointers). tests/abi checks it against the header where that is installed.

#include <cstdint>

namespace assay::duck {

using Handle = void*;
using Size = uint64_t;  // idx_t

struct QueryResult {  // duckdb_result
  Size deprecated_column_count = 0;
  Size deprecated_row_count = 0;
  Size deprecated_rows_changed = 0;
  void* deprecated_columns = nullptr;
  char* deprecated_error_message = nullptr;
  void* internal_data = nullptr;
};

union Text {  // duckdb_string_t: up to 12 bytes inline, longer texts by pointer
  struct {
    uint32_t length;
    char prefix[4];
    char* data;
  } pointer;
  struct {
    uint32_t length;
    char data[12];
  } inlined;
};
static_assert(sizeof(Text) == 16);
constexpr uint32_t kInlined = 12;

struct HugeInt {  // duckdb_hugeint
  uint64_t lower;
  int64_t upper;
};

constexpr int kSuccess = 0;  // duckdb_state

enum Type : int {  // duckdb_type: the types that are read or written without conversion to text
  kBoolean = 1,
  kTinyInt = 2,
  kSmallInt = 3,
  kInteger = 4,
  kBigInt = 5,
  kUTinyInt = 6,
  kUSmallInt = 7,
  kUInteger = 8,
  kUBigInt = 9,
  kFloat = 10,
  kDouble = 11,
  kHugeInt = 16,
  kVarchar = 17,
};

using BindOrInit = void(Handle info);
using Scan = void(Handle info, Handle chunk);
using Delete = void(void* data);

// F(name, result, parameters): duckdb_<name>
#define ASSAY_DUCKDB_FUNCTIONS(F)                                              \
  F(library_version, const char*, ())                                          \
  F(create_config, int, (Handle*))                                             \
  F(set_config, int, (Handle, const char*, const char*))                       \
  F(destroy_config, void, (Handle*))                                           \
  F(open_ext, int, (const char*, Handle*, Handle, char**))                     \
  F(close, void, (Handle*))                                                    \
  F(connect, int, (Handle, Handle*))                                           \
  F(disconnect, void, (Handle*))                                               \
  F(interrupt, void, (Handle))                                                 \
  F(free, void, (void*))                                                       \
  F(prepare, int, (Handle, const char*, Handle*))                              \
  F(prepare_error, const char*, (Handle))                                      \
  F(destroy_prepare, void, (Handle*))                                          \
  F(execute_prepared_streaming, int, (Handle, QueryResult*))                   \
  F(destroy_result, void, (QueryResult*))                                      \
  F(result_error, const char*, (QueryResult*))                                 \
  F(column_count, Size, (QueryResult*))                                        \
  F(column_name, const char*, (QueryResult*, Size))                            \
  F(column_type, int, (QueryResult*, Size))                                    \
  F(fetch_chunk, Handle, (QueryResult))                                        \
  F(destroy_data_chunk, void, (Handle*))                                       \
  F(data_chunk_get_size, Size, (Handle))                                       \
  F(data_chunk_set_size, void, (Handle, Size))                                 \
  F(data_chunk_get_vector, Handle, (Handle, Size))                             \
  F(vector_size, Size, ())                                                     \
  F(vector_get_data, void*, (Handle))                                          \
  F(vector_get_validity, uint64_t*, (Handle))                                  \
  F(vector_ensure_validity_writable, void, (Handle))                           \
  F(vector_assign_string_element_len, void, (Handle, Size, const char*, Size)) \
  F(create_logical_type, Handle, (int))                                        \
  F(destroy_logical_type, void, (Handle*))                                     \
  F(get_varchar, char*, (Handle))                                              \
  F(destroy_value, void, (Handle*))                                            \
  F(create_table_function, Handle, ())                                         \
  F(destroy_table_function, void, (Handle*))                                   \
  F(table_function_set_name, void, (Handle, const char*))                      \
  F(table_function_add_parameter, void, (Handle, Handle))                      \
  F(table_function_set_extra_info, void, (Handle, void*, Delete*))             \
  F(table_function_set_bind, void, (Handle, BindOrInit*))                      \
  F(table_function_set_init, void, (Handle, BindOrInit*))                      \
  F(table_function_set_function, void, (Handle, Scan*))                        \
  F(table_function_supports_projection_pushdown, void, (Handle, bool))         \
  F(register_table_function, int, (Handle, Handle))                            \
  F(bind_get_extra_info, void*, (Handle))                                      \
  F(bind_get_parameter, Handle, (Handle, Size))                                \
  F(bind_add_result_column, void, (Handle, const char*, Handle))               \
  F(bind_set_bind_data, void, (Handle, void*, Delete*))                        \
  F(bind_set_cardinality, void, (Handle, Size, bool))                          \
  F(bind_set_error, void, (Handle, const char*))                               \
  F(init_get_bind_data, void*, (Handle))                                       \
  F(init_get_column_count, Size, (Handle))                                     \
  F(init_get_column_index, Size, (Handle, Size))                               \
  F(init_set_init_data, void, (Handle, void*, Delete*))                        \
  F(init_set_max_threads, void, (Handle, Size))                                \
  F(function_get_extra_info, void*, (Handle))                                  \
  F(function_get_init_data, void*, (Handle))

struct Functions {
#define ASSAY_FIELD(name, result, parameters) result(*name) parameters = nullptr;
  ASSAY_DUCKDB_FUNCTIONS(ASSAY_FIELD)
#undef ASSAY_FIELD
};

}  // namespace assay::duck
