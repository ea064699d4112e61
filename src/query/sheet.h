#pragma once

// Limits of an Excel sheet, and substitutes for values outside them.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "query/relation.h"

namespace assay {

// Excel's numbers are doubles: integers beyond this are not exact there.
constexpr int64_t kSheetExact = int64_t{1} << 53;

// Sheet names: at most 31 characters, none of []:*?/\', unique regardless of case.
class SheetNames {
 public:
  // Returns an unused legal name. part: number of the table's sheet; from 2 on it is appended
  // ("ops (2)").
  std::string take(std::string_view wanted, size_t part = 0);

 private:
  std::set<std::string> taken_ = {"history"};  // reserved by Excel
};

// Text of a cell: cleaned as for a terminal, and cut to 32,767 UTF-16 units, of which the last is
// an ellipsis. Escaped so that Excel shows "_x0041_" unchanged.
struct SheetText {
  std::string text;
  bool cut = false;
};
SheetText sheet_text(std::string_view raw);

// How the cells of a column are written.
enum class SheetCells : uint8_t {
  kNumbers,  // as they are
  kSince,    // nanoseconds since the workbook's origin
  kAsText,   // digits, because a value is too large for an exact Excel number
};
// Chooses one form for all rows of a column. origin: smallest sheet_origin of the workbook.
SheetCells sheet_cells(const Relation& relation, size_t column, std::optional<int64_t> origin);
// The smallest time in these relations that is too large for an exact Excel number; nullopt if
// there is none.
std::optional<int64_t> sheet_origin(const Catalog& catalog);

// "start_ns (since T0)", "kernels (count)". A unit at the end of the name is not repeated.
std::string sheet_header(const RelationColumn& column, SheetCells cells);

}  // namespace assay
