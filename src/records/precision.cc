#include "records/precision.h"

#include <array>
#include <cctype>
#include <string_view>

namespace assay {
namespace {

// How a word determines the bits: an explicit number below 16 overrides the bits of a method.
enum class Says : uint8_t { kMethod, kBits };

struct Format {
  std::string_view word;
  double bytes;
  MatrixUnits units;
  Says says = Says::kBits;
};

// Bytes per weight include scales: a 16-bit scale and a 4-bit zero point per 128 weights (AWQ,
// GPTQ: 4.16 bits); 8 bits per 32 values (OCP Microscaling Formats 1.0: 4.25 bits); 8 bits per 16
// values (NVFP4: 4.5 bits); 16 bits per 32 values (llama.cpp's Q4_0 and Q8_0: 4.5 and 8.5 bits).
// Scales of 8-bit formats, one per channel or per block of 128 x 128, are neglected. 4-bit weights
// without 4-bit activations compute in 16 bits.
constexpr std::array<Format, 37> kFormats = {
    {{"fp32", 4, MatrixUnits::kFp32},
     {"float32", 4, MatrixUnits::kFp32},
     {"tf32", 4, MatrixUnits::kFp32},
     {"fp16", 2, MatrixUnits::k16Bit},
     {"float16", 2, MatrixUnits::k16Bit},
     {"f16", 2, MatrixUnits::k16Bit},
     {"half", 2, MatrixUnits::k16Bit},
     {"bf16", 2, MatrixUnits::k16Bit},
     {"bfloat16", 2, MatrixUnits::k16Bit},
     {"fp8", 1, MatrixUnits::kFp8},
     {"float8", 1, MatrixUnits::kFp8},
     {"e4m3", 1, MatrixUnits::kFp8},
     {"e4m3fn", 1, MatrixUnits::kFp8},
     {"e4m3fnuz", 1, MatrixUnits::kFp8},
     {"e5m2", 1, MatrixUnits::kFp8},
     {"mxfp8", 8.25 / 8, MatrixUnits::kFp8},
     {"int8", 1, MatrixUnits::kInt8},
     {"w8a8", 1, MatrixUnits::kInt8},
     {"smoothquant", 1, MatrixUnits::kInt8, Says::kMethod},
     {"w8a16", 1, MatrixUnits::k16Bit},
     {"8bit", 1, MatrixUnits::k16Bit},
     {"q8", 8.5 / 8, MatrixUnits::k16Bit},
     {"int4", 4.16 / 8, MatrixUnits::k16Bit},
     {"uint4", 4.16 / 8, MatrixUnits::k16Bit},
     {"w4a16", 4.16 / 8, MatrixUnits::k16Bit},
     {"w4a8", 4.16 / 8, MatrixUnits::kFp8},
     {"4bit", 4.16 / 8, MatrixUnits::k16Bit},
     {"nf4", 4.5 / 8, MatrixUnits::k16Bit},
     {"q4", 4.5 / 8, MatrixUnits::k16Bit},
     {"awq", 4.16 / 8, MatrixUnits::k16Bit, Says::kMethod},
     {"gptq", 4.16 / 8, MatrixUnits::k16Bit, Says::kMethod},
     {"marlin", 4.16 / 8, MatrixUnits::k16Bit, Says::kMethod},
     {"mxfp4", 4.25 / 8, MatrixUnits::kFp4},
     {"nvfp4", 4.5 / 8, MatrixUnits::kFp4},
     {"fp4", 4.5 / 8, MatrixUnits::kFp4},
     {"float4", 4.5 / 8, MatrixUnits::kFp4},
     {"w4a4", 4.5 / 8, MatrixUnits::kFp4}}};

const Format* format_of(std::string_view word) {
  for (const Format& format : kFormats) {
    if (format.word == word) return &format;
  }
  return nullptr;
}

// True if `one` overrides `other` as the format of the weights: explicit bits below 16 first, then
// fewer bytes. A quantised model also names the 16-bit type of its computation.
bool rules(const Format& one, const Format& other) {
  const auto sure = [](const Format& format) {
    return format.says == Says::kBits && format.bytes < 2;
  };
  if (sure(one) != sure(other)) return sure(one);
  return one.bytes < other.bytes;
}

}  // namespace

Precision precision_of(std::string_view words) {
  const Format* weights = nullptr;
  const Format* kv = nullptr;
  bool of_kv = false;               // the next words describe the cache, up to a comma or semicolon
  std::array<char, 16> lower = {};  // longer words are no formats
  size_t length = 0;
  for (size_t i = 0; i <= words.size(); ++i) {
    const char c = i < words.size() ? words[i] : ';';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      if (length < lower.size())
        lower[length] = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      ++length;
      continue;
    }
    const std::string_view word(lower.data(), length <= lower.size() ? length : 0);
    length = 0;
    if (word == "kv" || word == "kvcache") of_kv = true;
    const Format* format = format_of(word);
    const Format*& known = of_kv ? kv : weights;
    if (format != nullptr && (known == nullptr || rules(*format, *known))) known = format;
    if (c == ',' || c == ';') of_kv = false;
  }
  Precision precision;
  if (weights != nullptr) {
    // Without its own type, the cache has the type of the activations.
    const double activations = weights->bytes > 2 ? weights->bytes : 2;
    precision = {weights->bytes, activations, weights->units, true};
  }
  if (kv != nullptr) {
    precision.kv_bytes = kv->bytes;
    precision.kv_told = true;
  }
  return precision;
}

Precision precision_of(std::string_view variant, std::string_view model) {
  const Precision told = precision_of(variant);
  if (told.told) return told;
  Precision named = precision_of(model);
  if (!told.kv_told) return named;
  named.kv_bytes = told.kv_bytes;
  named.kv_told = true;
  return named;
}

}  // namespace assay
