#include "text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <span>

#include "findings/causes.h"

namespace assay {
namespace {

struct Step {
  double factor;
  std::string_view symbol;
};

constexpr Step kPlain[] = {{1, ""}};
constexpr Step kTime[] = {{1, "ns"}, {1e3, "\u00B5s"}, {1e6, "ms"}, {1e9, "s"}};
constexpr Step kShares[] = {{0.01, "%"}};
constexpr Step kBinary[] = {{1, "B"},
                            {1024, "KiB"},
                            {1048576, "MiB"},
                            {1073741824, "GiB"},
                            {1099511627776, "TiB"},
                            {1125899906842624, "PiB"},
                            {1152921504606846976, "EiB"}};
constexpr Step kRate[] = {{1, "/s"}, {1e3, "k/s"}, {1e6, "M/s"}, {1e9, "G/s"}};
constexpr Step kByteRate[] = {
    {1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}};
constexpr Step kPower[] = {{1e-3, "mW"}, {1, "W"}, {1e3, "kW"}, {1e6, "MW"}};
constexpr Step kEnergy[] = {{1e-6, "\u00B5J"}, {1e-3, "mJ"}, {1, "J"}, {1e3, "kJ"}, {1e6, "MJ"}};

// Larger numbers use scientific notation; doubles have no more significant digits.
constexpr double kScientificFrom = 1e15;

std::span<const Step> steps_of(Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return kTime;
    case Unit::kShare:
      return kShares;
    case Unit::kBytes:
      return kBinary;
    case Unit::kPerSecond:
      return kRate;
    case Unit::kBytesPerSecond:
      return kByteRate;
    case Unit::kWatts:
      return kPower;
    case Unit::kJoules:
      return kEnergy;
    case Unit::kNone:
    case Unit::kText:
    case Unit::kState:
    case Unit::kCount:
    case Unit::kRatio:
      break;
  }
  return kPlain;
}

std::string group_digits(std::string number) {
  const size_t first = number.starts_with('-') ? 1 : 0;
  const size_t end = std::min(number.find('.'), number.size());
  for (size_t at = end; at > first + 3;) {
    at -= 3;
    number.insert(at, 1, ',');
  }
  return number;
}

// Rounds half away from zero.
double rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

std::string fixed(double value, int decimals) {
  if (std::abs(value) >= kScientificFrom) return fmt::format("{:.3g}", value);
  return group_digits(fmt::format("{:.{}f}", rounded(value, decimals), decimals));
}

// Three significant digits, or more if the integer part has more.
std::string significant(double value) {
  const double magnitude = std::abs(value);
  if (magnitude == 0) return "0";
  if (rounded(magnitude, 3) < 1) return fmt::format("{:.3g}", value);
  if (rounded(magnitude, 2) < 10) return fixed(value, 2);
  if (rounded(magnitude, 1) < 100) return fixed(value, 1);
  return fixed(value, 0);
}

std::string with_symbol(std::string number, std::string_view symbol) {
  if (symbol.empty()) return number;
  // Per-second rates have no space: 12.3/s, but 12.3 k/s.
  if (!symbol.starts_with('/')) number += ' ';
  return number += symbol;
}

// Rounding may carry into the next unit: 999,999 ns is 1.00 ms, not 1000 µs.
bool belongs_in_next_step(double magnitude, const Step& step, const Step& next) {
  return rounded(magnitude / step.factor, 0) * step.factor >= next.factor;
}

std::string format_stepped(double value, std::span<const Step> steps) {
  if (value == 0) {
    const auto base =
        std::find_if(steps.begin(), steps.end(), [](const Step& step) { return step.factor == 1; });
    return with_symbol("0", base->symbol);
  }
  size_t i = 0;
  while (i + 1 < steps.size() && belongs_in_next_step(std::abs(value), steps[i], steps[i + 1])) ++i;
  return with_symbol(significant(value / steps[i].factor), steps[i].symbol);
}

// A number with fixed decimals. Non-zero values are never shown as 0, and "-0.0" does not occur.
std::string honest_fixed(double value, int decimals) {
  if (value == 0) return "0";
  if (rounded(value, decimals) != 0) return fixed(value, decimals);
  const double smallest = std::pow(10.0, -decimals);
  return fmt::format("{}{:.{}f}", value > 0 ? "<" : "above -", smallest, decimals);
}

std::string share_digits(double share) {
  if (share < 1 && rounded(share * 100, 1) >= 100) return ">99.9";
  return honest_fixed(share * 100, 1);
}

std::string join(const Value::List& list) {
  std::string text;
  for (const std::string& entry : list) {
    if (&entry != list.data()) text += ", ";
    text += entry;
  }
  return text;
}

// Values that are not numbers; independent of the unit.
std::string format_other(const Value& value) {
  if (const auto* flag = value.get<bool>()) return *flag ? "yes" : "no";
  if (const auto* text = value.get<std::string>()) return *text;
  if (const auto* list = value.get<Value::List>()) return join(*list);
  return "-";
}

// The displayed name of a cause key; other text is unchanged.
std::string state_word(const Value& value) {
  const auto* key = value.get<std::string>();
  return key == nullptr ? format_other(value) : std::string(findings::cause_legend(*key));
}

int decimals_for(double smallest, int most) {
  int decimals = 0;
  for (double limit = 100; smallest < limit && decimals < most; limit /= 10) ++decimals;
  return decimals;
}

// The unit step for a column with the given median and largest magnitude.
size_t column_step(double median, double largest, std::span<const Step> steps) {
  constexpr double kTooSmall = 0.1;
  constexpr double kTooLarge = 1e5;
  size_t i = 0;
  while (i + 1 < steps.size() && largest >= steps[i + 1].factor) ++i;
  while (i > 0 && median < kTooSmall * steps[i].factor &&
         largest < kTooLarge * steps[i - 1].factor) {
    --i;
  }
  return i;
}

}  // namespace

std::string format_ns(int64_t ns) { return format_value(ns, Unit::kNanoseconds); }
std::string format_times(const DurationSpread& spread) {
  const std::string count = format_count(static_cast<int64_t>(spread.count));
  if (spread.mean_is_typical()) return count + " \u00D7 " + format_ns(spread.mean_ns);
  return count + " times, median " + format_ns(spread.median_ns) + ", longest " +
         format_ns(spread.longest_ns);
}
std::string format_count(int64_t count) { return format_value(count, Unit::kCount); }
std::string format_counted(uint64_t count, std::string_view one, std::string_view many) {
  return format_value(Value(count), Unit::kCount) + " " + std::string(count == 1 ? one : many);
}

std::string format_share(double share) { return format_value(share, Unit::kShare); }

std::string format_upper_share(double share) {
  const std::string text = format_share(share);
  if (text.starts_with('<')) return text.substr(1);
  return text == ">99.9 %" ? "100 %" : text;
}

Value whole_ns(double ns) { return std::isfinite(ns) ? Value(std::llround(ns)) : Value(); }

Value text_or_null(std::string_view text) {
  return text.empty() ? Value() : Value(std::string(text));
}

Value finite_value(double value) { return std::isfinite(value) ? Value(value) : Value(); }

std::string format_bytes(int64_t bytes) { return format_value(bytes, Unit::kBytes); }

std::string number_text(double value) { return format_value(Value(value), Unit::kRatio); }

std::string format_value(const Value& value, Unit unit) {
  const std::optional<double> number = value.number();
  if (!number) return unit == Unit::kState ? state_word(value) : format_other(value);
  if (unit == Unit::kShare) return with_symbol(share_digits(*number), "%");
  const std::span<const Step> steps = steps_of(unit);
  if (steps.size() > 1) return format_stepped(*number, steps);
  if (const auto* integer = value.get<int64_t>()) {
    std::string digits = fmt::format("{}", *integer);
    return unit == Unit::kNone ? digits : group_digits(std::move(digits));
  }
  return significant(*number);
}

namespace {

struct Sizes {
  std::vector<double> sizes;  // non-zero magnitudes
  bool whole = true;
};
Sizes sizes_of(const std::vector<const Value*>& cells) {
  Sizes found;
  for (const Value* cell : cells) {
    const std::optional<double> number = cell->number();
    if (!number || *number == 0) continue;
    found.sizes.push_back(std::abs(*number));
    found.whole = found.whole && cell->get<int64_t>() != nullptr;
  }
  return found;
}

int column_decimals(const ColumnScale& scale, double least, bool whole) {
  if (whole && scale.factor == 1) return 0;
  const bool plain = scale.unit == Unit::kNone || scale.unit == Unit::kRatio;
  return decimals_for(least / scale.factor, plain ? 4 : 2);
}

}  // namespace

ColumnScale scale_column(Unit unit, const std::vector<const Value*>& cells) {
  auto [sizes, whole] = sizes_of(cells);
  const std::span<const Step> steps = steps_of(unit);
  ColumnScale scale;
  scale.unit = unit;
  if (unit == Unit::kShare) {
    scale.factor = steps[0].factor;
    scale.symbol = steps[0].symbol;
    scale.decimals = 1;
    return scale;
  }
  if (sizes.empty()) return scale;
  const auto [smallest, largest] = std::minmax_element(sizes.begin(), sizes.end());
  const double least = *smallest;
  const double most = *largest;
  const auto middle = sizes.begin() + static_cast<ptrdiff_t>((sizes.size() - 1) / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const Step& step = steps[column_step(*middle, most, steps)];
  scale.factor = step.factor;
  scale.symbol = step.symbol;
  scale.decimals = column_decimals(scale, least, whole);
  return scale;
}

ColumnScale scale_like(const ColumnScale& other, const std::vector<const Value*>& cells) {
  if (other.symbol.empty()) return scale_column(other.unit, cells);
  ColumnScale scale = other;
  if (scale.unit == Unit::kShare) return scale;
  const auto [sizes, whole] = sizes_of(cells);
  if (sizes.empty()) return scale;
  scale.decimals = column_decimals(scale, *std::min_element(sizes.begin(), sizes.end()), whole);
  return scale;
}

std::string format_cell(const Value& value, const ColumnScale& scale) {
  const std::optional<double> number = value.number();
  if (!number) return scale.unit == Unit::kState ? state_word(value) : format_other(value);
  if (scale.unit == Unit::kShare) return share_digits(*number);
  const auto* integer = value.get<int64_t>();
  if (integer != nullptr && scale.factor == 1 && scale.decimals == 0) {
    std::string digits = fmt::format("{}", *integer);
    return scale.unit == Unit::kNone ? digits : group_digits(std::move(digits));
  }
  return honest_fixed(*number / scale.factor, scale.decimals);
}

}  // namespace assay
