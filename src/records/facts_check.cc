#include "records/facts_check.h"

#include <array>
#include <cmath>

#include "base/decimal.h"

namespace assay {
namespace {

using Values = std::map<std::string, Fact>;

// Range of peak FLOP/s per byte/s of memory bandwidth. CPUs, and chips with models in on-chip
// memory, have a few; other built-in devices have 26 (MI50) to 350 in 16 bits. Outside the range,
// one of the two values has another unit, or includes sparsity or fewer bits.
constexpr double kFewestFlopPerByte = 0.5;
constexpr double kMostFlopPerByte = 1500;
// The smallest are on-chip memories; the largest GPU has 0.3 TB.
constexpr double kLeastMemoryGb = 0.1;
constexpr double kMostMemoryGb = 1000;
// Maximum ratio of the given parameters to those computed from layers and hidden size, and to those
// of all experts. For the 38 built-in models, all or the active weights are 0.85 to 2 times the
// former, and all weights at most 1.1 times the latter.
constexpr double kMostTimesLayers = 10;
constexpr double kMostTimesExperts = 3;

// NaN if unknown, so that comparisons are false.
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

std::string too_far(const Values& values, const char* name, double expected) {
  return told(values, name) + " and " + told(values, "layers") + " of " + told(values, "hidden") +
         ", which suggest " + rounded_text(expected, 2) +
         " x 10^9 weights, do not go together: one is mistyped";
}

std::optional<FactProblem> of_size(const Values& values) {
  const double expected = parameters_by_layers(values);
  const bool has_active = !std::isnan(value_of(values, "active_b"));
  const char* working = has_active ? "active_b" : "parameters_b";
  const double experts = value_of(values, "experts") > 1 ? value_of(values, "experts") : 1;
  const double most_of_all = std::max(kMostTimesLayers, kMostTimesExperts * experts);
  const double most = has_active || experts == 1 ? kMostTimesLayers : most_of_all;
  const double ratio = value_of(values, working) / expected;
  if (ratio > most || ratio < 1 / kMostTimesLayers)
    return FactProblem{working, too_far(values, working, expected)};
  if (value_of(values, "parameters_b") / expected > most_of_all)
    return FactProblem{"parameters_b", too_far(values, "parameters_b", expected * experts)};
  return std::nullopt;
}

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
  if (auto problem = of_size(values)) return problem;
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

// Checks that fewer bits are never slower. Not for INT8, which newer devices accelerate less.
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
                           rounded_text(flop_per_byte, 4) +
                           " FLOP per byte, which no device has: one is in another unit"};
  }
  const double memory = value_of(values, "memory_gb");
  if (memory < kLeastMemoryGb || memory > kMostMemoryGb) {
    return FactProblem{
        "memory_gb", told(values, "memory_gb") + " is not the memory of one device: is it in GB?"};
  }
  return std::nullopt;
}

}  // namespace

double parameters_by_layers(const Values& values) {
  constexpr double kPerLayer = 12;
  const double hidden = value_of(values, "hidden");
  return kPerLayer * value_of(values, "layers") * hidden * hidden / 1e9;
}

std::optional<FactProblem> contradiction(std::string_view kind, const Values& values) {
  return kind == "model" ? of_model(values) : of_hardware(values);
}

}  // namespace assay
