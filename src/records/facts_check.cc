#include "records/facts_check.h"

#include <array>
#include <cmath>

#include "base/decimal.h"

namespace assay {
namespace {

using Values = std::map<std::string, Fact>;

// FLOP per byte of memory traffic: chips that keep models in on-chip memory have a few, the others
// a hundred to six hundred. Beyond, one of the two is in another unit.
constexpr double kFewestFlopPerByte = 0.5;
constexpr double kMostFlopPerByte = 5000;
// On-chip memories at one end, racks that are counted as one device at the other.
constexpr double kLeastMemoryGb = 0.1;
constexpr double kMostMemoryGb = 100000;

// NaN where it is not told; a comparison with it is false.
double value_of(const Values& values, const char* name) {
  const auto at = values.find(name);
  return at == values.end() ? std::nan("") : at->second.value;
}

std::string told(const Values& values, const char* name) {
  return std::string(name) + " " + shortest_text(value_of(values, name));
}

bool exceeds(const Values& values, const char* part, const char* whole) {
  return value_of(values, part) > value_of(values, whole);
}

bool is_whole(double value) { return value == std::floor(value); }

std::optional<FactProblem> of_model(const Values& values) {
  if (exceeds(values, "active_b", "parameters_b")) {
    return FactProblem{"active_b", told(values, "active_b") + " is above " +
                                       told(values, "parameters_b") +
                                       ": no more weights can work on a token than there are"};
  }
  if (exceeds(values, "experts_used", "experts")) {
    return FactProblem{"experts_used", told(values, "experts_used") + " is above " +
                                           told(values, "experts") +
                                           ": no token can use more experts than there are"};
  }
  const double heads = value_of(values, "heads");
  const double kv_heads = value_of(values, "kv_heads");
  if (std::isnan(heads) || std::isnan(kv_heads)) return std::nullopt;
  if (!is_whole(heads) || kv_heads > heads ||
      (is_whole(kv_heads) && std::fmod(heads, kv_heads) != 0)) {
    return FactProblem{"heads", told(values, "heads") + " and " + told(values, "kv_heads") +
                                    " do not go together: each head of keys and values serves a "
                                    "whole number of query heads"};
  }
  return std::nullopt;
}

// Fewer bits are never slower. INT8 is left out: newer devices have given it up.
std::optional<FactProblem> of_formats(const Values& values) {
  constexpr std::array<const char*, 3> kRising = {"tflops", "fp8_tflops", "fp4_tflops"};
  for (size_t few = 0; few < kRising.size(); ++few) {
    for (size_t more = few + 1; more < kRising.size(); ++more) {
      if (!exceeds(values, kRising[few], kRising[more])) continue;
      return FactProblem{kRising[more], told(values, kRising[more]) + " is below " +
                                            told(values, kRising[few]) +
                                            ": fewer bits are never slower"};
    }
  }
  return std::nullopt;
}

std::optional<FactProblem> of_hardware(const Values& values) {
  if (auto problem = of_formats(values)) return problem;
  const double flop_per_byte = value_of(values, "tflops") / value_of(values, "bandwidth_tb_s");
  if (flop_per_byte < kFewestFlopPerByte || flop_per_byte > kMostFlopPerByte) {
    return FactProblem{"bandwidth_tb_s",
                       told(values, "tflops") + " and " + told(values, "bandwidth_tb_s") + " are " +
                           rounded_text(flop_per_byte, 3) +
                           " FLOP per byte, which no device has: one is in another unit"};
  }
  const double memory = value_of(values, "memory_gb");
  if (memory < kLeastMemoryGb || memory > kMostMemoryGb) {
    return FactProblem{"memory_gb",
                       told(values, "memory_gb") + " is no memory of a device: is it in GB?"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<FactProblem> contradiction(std::string_view kind, const Values& values) {
  return kind == "model" ? of_model(values) : of_hardware(values);
}

}  // namespace assay
