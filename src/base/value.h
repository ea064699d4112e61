#pragma once

// A number, a text or a list with the unit that a reader sees it in.

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay {

// Unit of a number. Stored with the column or the item, never per cell.
enum class Unit : uint8_t {
  kNone,         // a number as it is: ids, batch sizes, chain lengths
  kText,         // strings
  kState,        // what a device does or why it is idle: a key in the data, read as its word
  kNanoseconds,  // shown in ns, us, ms or s
  kCount,        // shown with thousands separators
  kShare,        // 0..1 in the data, shown in %
  kRatio,        // speedups, coefficients: three significant digits
  kBytes,        // shown in B, KiB, MiB, ...
  kPerSecond,
  kBytesPerSecond,  // shown in B/s, kB/s, MB/s, GB/s
  kWatts,
  kJoules,
};

// One cell: missing, bool, integer, double, string, or a list of strings. Missing and non-finite
// doubles are null in JSON, "-" on screen and empty in CSV. Strings may be hostile, so every writer
// cleans them. A string in a numeric column is allowed ("refused") and shown unchanged.
class Value {
 public:
  using List = std::vector<std::string>;
  using Storage = std::variant<std::monostate, bool, int64_t, double, std::string, List>;

  Value() = default;
  Value(std::same_as<bool> auto value) : storage_(value) {}
  // Unsigned values beyond int64_t saturate: no count of ours gets there.
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Value(T value)
      : storage_(std::in_place_type<int64_t>, std::in_range<int64_t>(value)
                                                  ? static_cast<int64_t>(value)
                                                  : std::numeric_limits<int64_t>::max()) {}
  Value(std::floating_point auto value) : storage_(static_cast<double>(value)) {}
  Value(std::string value) : storage_(std::move(value)) {}
  Value(std::string_view value) : storage_(std::string(value)) {}
  Value(const char* value) : storage_(std::string(value)) {}
  Value(List value) : storage_(std::move(value)) {}
  template <typename T>
  Value(const std::optional<T>& value) {
    if (value) *this = Value(*value);
  }

  const Storage& storage() const { return storage_; }
  // The alternative T, or nullptr when the value is something else.
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&storage_);
  }
  bool missing() const { return std::holds_alternative<std::monostate>(storage_); }
  // The value as double when it is a finite number.
  std::optional<double> number() const;

  friend bool operator==(const Value&, const Value&) = default;

 private:
  Storage storage_;
};

}  // namespace assay
