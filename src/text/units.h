#pragma once

// The one place that scales and rounds. Data holds ns, bytes, W, J and shares of 1; a reader sees
// "12.3 µs", "1.50 MiB" and "61.3 %". All text is UTF-8; clean_text turns µ into u where needed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/stats.h"
#include "base/value.h"

namespace assay {

// Means and quantiles are published as whole nanoseconds, like every other time; missing when not
// finite.
Value whole_ns(double ns);
// The number as it is; missing when not finite.
Value finite_value(double value);
// Null if it is empty.
Value text_or_null(std::string_view text);

std::string format_ns(int64_t ns);        // "999 ns", "12.3 µs", "1.00 ms", "1,234 s"
// "12 × 3.17 ms"; of a heavy tail "130 times, median 412 µs, longest 812 ms".
std::string format_times(const DurationSpread& spread);
std::string format_count(int64_t count);  // "1,234,567"
// "1 kernel", "1,234 kernels".
std::string format_counted(uint64_t count, std::string_view one, std::string_view many);
// One decimal. What rounds to 0 or 100 without being it is told apart: "<0.1 %", ">99.9 %".
std::string format_share(double share);
// Behind "at most": rounded so that it still is ("0.1 %" for less, "100 %" for almost all).
std::string format_upper_share(double share);
std::string format_bytes(int64_t bytes);  // "1.50 MiB"

// A single value with its unit, three significant digits where it is scaled or fractional, exact
// where it is an integer count. Missing and non-finite: "-". Strings come out as they are, not
// cleaned; lists joined by ", ".
std::string format_value(const Value& value, Unit unit);
// A number of no unit, three significant digits.
std::string number_text(double value);

// How all numbers of a column are shown, so that they can be compared down the column.
struct ColumnScale {
  Unit unit = Unit::kNone;
  double factor = 1;        // one shown unit in base units
  std::string_view symbol;  // "ms"; empty = none; belongs in the column's title
  int decimals = 0;
};

// The unit in which the largest number has one to three digits before the point; a finer one while
// the median non-zero number would be below a tenth and the largest stays below 100,000. As many
// decimals (at most two; four for plain ratios) as the smallest number needs for three digits.
// Zeros alone have no unit.
ColumnScale scale_column(Unit unit, const std::vector<const Value*>& cells);
// In the unit of another column, with decimals of its own; that column's own where it had no unit.
ColumnScale scale_like(const ColumnScale& other, const std::vector<const Value*>& cells);

// A cell without its unit. Zero is "0"; what only rounds to zero is "<0.01".
std::string format_cell(const Value& value, const ColumnScale& scale);

}  // namespace assay
