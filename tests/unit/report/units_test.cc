// Scaling and rounding, single values and columns. Expected strings are worked by hand.

#include "text/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace assay {
namespace {

TEST(ReportUnits, TimesOfAHeavyTailAreGivenByMedianAndLongest) {
  EXPECT_EQ(format_times(duration_spread({3'000'000, 3'500'000})), "2 \u00D7 3.25 ms");
  EXPECT_EQ(format_times(duration_spread({1'000'000, 1'000'000, 1'000'000, 812'000'000})),
            "4 times, median 1.00 ms, longest 812 ms");
}

TEST(ReportUnits, AnUpperBoundOfAShareIsOneWithoutASign) {
  EXPECT_EQ(format_upper_share(0.0000341), "0.1 %");
  EXPECT_EQ(format_upper_share(0.99999), "100 %");
  EXPECT_EQ(format_upper_share(0.256), "25.6 %");
  EXPECT_EQ(format_upper_share(0), "0 %");
}

TEST(ReportUnits, Durations) {
  EXPECT_EQ(format_ns(0), "0 ns");
  EXPECT_EQ(format_ns(1), "1.00 ns");
  EXPECT_EQ(format_ns(999), "999 ns");
  EXPECT_EQ(format_ns(1000), "1.00 \u00B5s");
  EXPECT_EQ(format_ns(12345), "12.3 \u00B5s");
  EXPECT_EQ(format_ns(-12345), "-12.3 \u00B5s");
  EXPECT_EQ(format_ns(9994), "9.99 \u00B5s");
  EXPECT_EQ(format_ns(9996), "10.0 \u00B5s");
  EXPECT_EQ(format_ns(99960), "100 \u00B5s");
  EXPECT_EQ(format_ns(999499), "999 \u00B5s");
  EXPECT_EQ(format_ns(999500), "1.00 ms");
  EXPECT_EQ(format_ns(999999999), "1.00 s");
  EXPECT_EQ(format_ns(1234000000000), "1,234 s");
  EXPECT_EQ(format_ns(std::numeric_limits<int64_t>::max()), "9,223,372,037 s");
  EXPECT_EQ(format_ns(std::numeric_limits<int64_t>::min()), "-9,223,372,037 s");
}

TEST(ReportUnits, CountsAreExact) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
  EXPECT_EQ(format_count(-999), "-999");
  EXPECT_EQ(format_count(std::numeric_limits<int64_t>::max()), "9,223,372,036,854,775,807");
  EXPECT_EQ(format_count(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(ReportUnits, SharesNeverPretendToBeNothingOrAll) {
  EXPECT_EQ(format_share(0), "0 %");
  EXPECT_EQ(format_share(0.613), "61.3 %");
  EXPECT_EQ(format_share(1), "100.0 %");
  EXPECT_EQ(format_share(0.9996), ">99.9 %");
  EXPECT_EQ(format_share(0.0004), "<0.1 %");
  EXPECT_EQ(format_share(-0.0004), "above -0.1 %");
  EXPECT_EQ(format_share(-0.25), "-25.0 %");
  EXPECT_EQ(format_share(12.5), "1,250.0 %");
  EXPECT_EQ(format_share(std::nan("")), "-");
}

TEST(ReportUnits, BytesAreBinary) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1,023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1572864), "1.50 MiB");
  EXPECT_EQ(format_bytes(1048575), "1.00 MiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<int64_t>::max()), "8.00 EiB");
}

TEST(ReportUnits, OtherValues) {
  EXPECT_EQ(format_value(1.534, Unit::kRatio), "1.53");
  EXPECT_EQ(format_value(0.01234, Unit::kRatio), "0.0123");
  EXPECT_EQ(format_value(1234.5, Unit::kRatio), "1,235");
  EXPECT_EQ(format_value(1e300, Unit::kRatio), "1e+300");
  EXPECT_EQ(format_value(2048, Unit::kNone), "2048");
  EXPECT_EQ(format_value(0.5, Unit::kWatts), "500 mW");
  EXPECT_EQ(format_value(700, Unit::kWatts), "700 W");
  EXPECT_EQ(format_value(0, Unit::kWatts), "0 W");
  EXPECT_EQ(format_value(0.0000025, Unit::kJoules), "2.50 \u00B5J");
  EXPECT_EQ(format_value(12.3, Unit::kPerSecond), "12.3/s");
  EXPECT_EQ(format_value(12345, Unit::kPerSecond), "12.3 k/s");
  EXPECT_EQ(format_value(12.34, Unit::kNanoseconds), "12.3 ns");
  EXPECT_EQ(format_value(Value(), Unit::kNanoseconds), "-");
  EXPECT_EQ(format_value(INFINITY, Unit::kCount), "-");
  EXPECT_EQ(format_value("refused", Unit::kNanoseconds), "refused");
  EXPECT_EQ(format_value(true, Unit::kNone), "yes");
  EXPECT_EQ(format_value(Value::List{"a", "b"}, Unit::kText), "a, b");
}

std::vector<std::string> column(Unit unit, const std::vector<Value>& values, std::string* symbol) {
  std::vector<const Value*> cells;
  for (const Value& value : values) cells.push_back(&value);
  const ColumnScale scale = scale_column(unit, cells);
  *symbol = scale.symbol;
  std::vector<std::string> shown;
  for (const Value& value : values) shown.push_back(format_cell(value, scale));
  return shown;
}

using Strings = std::vector<std::string>;

TEST(ReportUnits, AColumnHasOneUnitAndOnePrecision) {
  std::string symbol;
  // Median 1.5 us although one cell is 1.2 ms; the smallest needs two decimals.
  EXPECT_EQ(column(Unit::kNanoseconds, {1500, 1200000, 1300}, &symbol),
            (Strings{"1.50", "1,200.00", "1.30"}));
  EXPECT_EQ(symbol, "\u00B5s");
  EXPECT_EQ(column(Unit::kNanoseconds, {12300, 45600}, &symbol), (Strings{"12.3", "45.6"}));
  EXPECT_EQ(column(Unit::kNanoseconds, {123000, 456000}, &symbol), (Strings{"123", "456"}));
  EXPECT_EQ(column(Unit::kNanoseconds, {1, 999}, &symbol), (Strings{"1", "999"}));
  EXPECT_EQ(symbol, "ns");
}

// Launch times of kernels, most of them above a millisecond; overheads, most of them near nothing.
TEST(ReportUnits, TheLargestOfAColumnIsReadable) {
  std::string symbol;
  EXPECT_EQ(column(Unit::kNanoseconds, {21300, 1407700, 1382700, 712000, 651800}, &symbol),
            (Strings{"0.02", "1.41", "1.38", "0.71", "0.65"}));
  EXPECT_EQ(symbol, "ms");
  EXPECT_EQ(column(Unit::kNanoseconds, {575424910, 180, 120, 60}, &symbol),
            (Strings{"575.42", "<0.01", "<0.01", "<0.01"}));
  EXPECT_EQ(symbol, "ms");
  EXPECT_EQ(column(Unit::kNanoseconds, {20000000000, 3000000, 2000000}, &symbol),
            (Strings{"20,000.00", "3.00", "2.00"}));
  EXPECT_EQ(symbol, "ms");
}

TEST(ReportUnits, ColumnsDistinguishZeroAlmostZeroAndMissing) {
  std::string symbol;
  EXPECT_EQ(column(Unit::kNanoseconds, {0, 3, -3, 5000000, 6000000, 7000000, Value(), "refused"},
                   &symbol),
            (Strings{"0", "<0.01", "above -0.01", "5.00", "6.00", "7.00", "-", "refused"}));
  EXPECT_EQ(symbol, "ms");
  EXPECT_EQ(column(Unit::kNanoseconds, {0, 0}, &symbol), (Strings{"0", "0"}));
  EXPECT_EQ(symbol, "") << "nothing to tell a unit of";
  EXPECT_EQ(column(Unit::kNanoseconds, {}, &symbol), Strings{});
}

TEST(ReportUnits, ColumnsOfCountsRatiosAndShares) {
  std::string symbol;
  EXPECT_EQ(column(Unit::kCount, {1234, std::numeric_limits<int64_t>::max()}, &symbol),
            (Strings{"1,234", "9,223,372,036,854,775,807"}));
  EXPECT_EQ(symbol, "");
  EXPECT_EQ(column(Unit::kCount, {12.5, 3}, &symbol), (Strings{"12.50", "3.00"}));
  EXPECT_EQ(column(Unit::kRatio, {0.0123, 1.5}, &symbol), (Strings{"0.0123", "1.5000"}));
  EXPECT_EQ(column(Unit::kShare, {0.5, 0.99999, 1.0, 0.00001}, &symbol),
            (Strings{"50.0", ">99.9", "100.0", "<0.1"}));
  EXPECT_EQ(symbol, "%");
  EXPECT_EQ(column(Unit::kNanoseconds, {std::numeric_limits<int64_t>::min()}, &symbol),
            (Strings{"-9,223,372,037"}));
  EXPECT_EQ(symbol, "s");
}

}  // namespace
}  // namespace assay
