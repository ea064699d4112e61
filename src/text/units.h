#pragma once

// Scales and rounds all displayed numbers. Data holds ns, bytes, W, J and shares of 1; readers see
// "12.3 µs", "1.50 MiB" and "61.3 %". All text is UTF-8; clean_text turns µ into u if needed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/stats.h"
#include "base/value.h"

namespace assay {

// Rounds to whole nanoseconds, so that means and quantiles are published like every other time.
// Missing if not finite.
Value whole_ns(double ns);
// The unrounded number; missing if not finite.
Value finite_value(double value);
// Null if the text is empty.
Value text_or_null(std::string_view text);

std::string format_ns(int64_t ns);        // "999 ns", "12.3 µs", "1.00 ms", "1,234 s"
// "12 × 3.17 ms"; for a heavy tail "130 times, median 412 µs, longest 812 ms".
std::string format_times(const DurationSpread& spread);
std::string format_count(int64_t count);  // "1,234,567"
// "1 kernel", "1,234 kernels".
std::string format_counted(uint64_t count, std::string_view one, std::string_view many);
// One decimal. Values that round to 0 or 100 without being equal to it are marked: "<0.1 %", ">99.9
// %".
std::string format_share(double share);
// For use after "at most": rounded so that the bound still holds ("0.1 %" for less, "100 %" for
// almost all).
std::string format_upper_share(double share);
std::string format_bytes(int64_t bytes);  // "1.50 MiB"

// A single value with its unit. Scaled and fractional numbers have three significant digits;
// integer counts are exact. Missing and non-finite values are "-". Strings are returned without
// cleaning; lists are joined by ", ".
std::string format_value(const Value& value, Unit unit);
// A number without a unit, with three significant digits.
std::string number_text(double value);

// The common unit and precision of a column, so that its numbers can be compared.
struct ColumnScale {
  Unit unit = Unit::kNone;
  double factor = 1;        // one shown unit in base units
  std::string_view symbol;  // "ms", for the column's title; empty = none
  int decimals = 0;
};

// Chooses the unit in which the largest number has one to three digits before the point. Chooses a
// finer one if the median non-zero number would be below 0.1 and the largest stays below 100,000.
// Decimals: as many as the smallest number needs for three digits, at most two (four for plain
// ratios). Shares are in percent with one decimal. A column of zeros has no unit.
ColumnScale scale_column(Unit unit, const std::vector<const Value*>& cells);
// The scale in the other column's unit, with decimals for these cells; the cells' own scale if the
// other column has no unit.
ColumnScale scale_like(const ColumnScale& other, const std::vector<const Value*>& cells);

// A cell without its unit. Zero is "0"; a non-zero value that rounds to zero is "<0.01".
std::string format_cell(const Value& value, const ColumnScale& scale);

}  // namespace assay
