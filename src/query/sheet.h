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

// Names of sheets: at most 31 characters, none of []:*?/\', no two alike in any case.
class SheetNames {
 public:
  // part: 0 and 1 are the table itself, n its n-th sheet ("ops (2)").
  std::string take(std::string_view wanted, size_t part = 0);

 private:
  std::set<std::string> taken_ = {"history"};  // which Excel keeps to itself
};

// Text of a cell: cleaned as for a terminal and limited to 32,767 characters (the last is an
// ellipsis then). Escaped so that Excel shows "_x0041_" unchanged.
struct SheetText {
  std::string text;
  bool cut = false;
};
SheetText sheet_text(std::string_view raw);

// How the cells of a column are written.
enum class SheetCells : uint8_t {
  kNumbers,  // as they are
  kSince,    // nanoseconds since the workbook's origin
  kAsText,   // digits: too large for a number of Excel's
};
// For all rows. origin: of the workbook; nullopt if no time is too large.
SheetCells sheet_cells(const Relation& relation, size_t column, std::optional<int64_t> origin);
// The smallest time of these relations that is too large for a number of Excel's; absent where
// there is none.
std::optional<int64_t> sheet_origin(const Catalog& catalog);

// "start_ns (since T0)", "kernels (count)"; a unit that the name ends with is not repeated.
std::string sheet_header(const RelationColumn& column, SheetCells cells);

}  // namespace assay
