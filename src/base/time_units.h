#pragma once

// Units of time that a person types.

#include <array>
#include <string_view>
#include <utility>

namespace assay {

// Name and length in ns.
constexpr std::array<std::pair<std::string_view, double>, 5> kTimeUnits = {
    {{"ns", 1}, {"us", 1e3}, {"\xc2\xb5s", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

// Its length in ns; 0 for anything that is not in the table.
constexpr double time_unit_ns(std::string_view unit) {
  for (const auto& [name, ns] : kTimeUnits) {
    if (name == unit) return ns;
  }
  return 0;
}

}  // namespace assay
