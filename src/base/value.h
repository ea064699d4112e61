#pragma once

// A number, a text or a list, and its display unit.

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
  kNone,         // dimensionless: ids, batch sizes, chain lengths
  kText,         // strings
  kState,        // device state or cause of idle time: a key in the data, shown as text
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

// One cell: missing, a bool, a number, a string, or a list of strings. Missing values and
// non-finite doubles are null in JSON, "-" on screen and empty in CSV. Strings may be hostile, so
// every writer sanitizes them. A string in a numeric column is allowed ("refused") and shown
// unchanged.
class Value {
 public:
  using List = std::vector<std::string>;
  using Storage = std::variant<std::monostate, bool, int64_t, double, std::string, List>;

  Value() = default;
  Value(std::same_as<bool> auto value) : storage_(value) {}
  // Unsigned values beyond int64_t saturate; no count reaches that in practice.
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
  // Pointer to the alternative T; nullptr if the value holds another type.
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&storage_);
  }
  bool missing() const { return std::holds_alternative<std::monostate>(storage_); }
  // The value as a double; nullopt unless it is a finite number.
  std::optional<double> number() const;

  friend bool operator==(const Value&, const Value&) = default;

 private:
  Storage storage_;
};

}  // namespace assay
