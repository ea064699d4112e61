#include "throughput/packed_numbers.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace assay {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64(const std::vector<uint8_t>& bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < have ? bytes[i + k] : 0U);
    for (size_t k = 0; k < 4; ++k) text += k <= have ? kAlphabet[bits >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

constexpr int8_t kNoDigit = -1;

std::array<int8_t, 256> digits() {
  std::array<int8_t, 256> values{};
  values.fill(kNoDigit);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  return values;
}

std::optional<std::vector<uint8_t>> bytes_of(std::string_view text) {
  static const std::array<int8_t, 256> values = digits();
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int8_t digit = values[static_cast<uint8_t>(c)];
    if (digit == kNoDigit) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    held += 6;
    if (held >= 8) bytes.push_back(static_cast<uint8_t>(bits >> (held -= 8)));
  }
  return bytes;
}

}  // namespace

std::string packed(const std::vector<double>& numbers) {
  std::vector<uint8_t> bytes;
  bytes.reserve(numbers.size() * 8);
  for (const double number : numbers) {
    uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    for (int k = 0; k < 64; k += 8) bytes.push_back(static_cast<uint8_t>(bits >> k));
  }
  return base64(bytes);
}

std::optional<std::vector<double>> unpacked(std::string_view text) {
  const auto bytes = bytes_of(text);
  if (!bytes || bytes->size() % 8 != 0) return std::nullopt;
  std::vector<double> numbers(bytes->size() / 8);
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint64_t bits = 0;
    for (size_t k = 8; k-- > 0;) bits = bits << 8 | (*bytes)[8 * i + k];
    std::memcpy(&numbers[i], &bits, sizeof(bits));
    if (!std::isfinite(numbers[i])) return std::nullopt;
  }
  return numbers;
}

}  // namespace assay
