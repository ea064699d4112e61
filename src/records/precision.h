#pragma once

// Cost of a run's precision: bytes per weight and per value in the KV cache, and the matrix units
// used. Inferred from the words of a run's variant ("fp8, kv fp8"), else from the model's name
// ("...-AWQ").

#include <cstdint>
#include <string_view>

namespace assay {

enum class MatrixUnits : uint8_t { kFp32, k16Bit, kFp8, kInt8, kFp4 };

struct Precision {
  double weight_bytes = 2;  // per weight, with its share of the scales
  double kv_bytes = 2;      // per value of the KV cache
  MatrixUnits units = MatrixUnits::k16Bit;
  bool told = false;  // false: unknown, assumed to be 16 bits
  bool kv_told = false;  // false: kv_bytes is that of the activations
};

// Lower bound of the mean bytes per weight of any format in use.
inline constexpr double kFewestWeightBytes = 0.5;

Precision precision_of(std::string_view words);
Precision precision_of(std::string_view variant, std::string_view model);

}  // namespace assay
