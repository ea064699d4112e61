#pragma once

// Time units accepted in user input.

#include <array>
#include <string_view>
#include <utility>

namespace assay {

// Name and length in ns.
constexpr std::array<std::pair<std::string_view, double>, 5> kTimeUnits = {
    {{"ns", 1}, {"us", 1e3}, {"\xc2\xb5s", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

// Length of the unit in ns; 0 if it is not in the table.
constexpr double time_unit_ns(std::string_view unit) {
  for (const auto& [name, ns] : kTimeUnits) {
    if (name == unit) return ns;
  }
  return 0;
}

}  // namespace assay
