#pragma once

// Tables for SQL and exports: named, with typed columns, read in place by column and range of rows.
// Creating one copies no data.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class CellType : uint8_t { kInteger, kUnsigned, kReal, kText, kBool };
// BIGINT, UBIGINT, DOUBLE, VARCHAR, BOOLEAN.
std::string_view sql_type(CellType type);

struct RelationColumn {
  std::string name;
  CellType type = CellType::kInteger;
  std::string unit = {};
  std::string meaning = {};
};

// Consecutive cells of one column. The vector of its type is filled; the others are not used.
struct Cells {
  std::vector<int64_t> integers = {};
  std::vector<uint64_t> unsigneds = {};
  std::vector<double> reals = {};
  std::vector<std::string_view> texts = {};  // valid as long as their source
  std::vector<uint8_t> bools = {};
  std::vector<uint8_t> missing = {};  // per cell; empty if no cell is missing

  void clear();
  bool is_missing(size_t i) const { return !missing.empty() && missing[i] != 0; }
};

// Reads cells [first, first + count) into `out`, which must be clear.
using ReadCells = std::function<void(size_t first, size_t count, Cells& out)>;

// The rows of one input.
struct RelationPart {
  int64_t rank = 0;
  size_t rows = 0;
  std::vector<ReadCells> columns = {};  // one per column of the relation
};

struct Relation {
  std::string name;
  std::string meaning = {};
  std::vector<RelationColumn> columns = {};
  std::vector<RelationPart> parts = {};
  bool facts =
      false;  // one row per input, of single unrelated numbers

  size_t rows() const;
};

struct Catalog {
  std::vector<Relation> relations;

  const Relation* find(std::string_view name) const;
  // Adds the parts of another input's catalog. Relations of the same name are joined. A column that
  // only some inputs have has missing cells in the others. Meanings are reduced to the common part.
  void merge(Catalog other);
};

}  // namespace assay
