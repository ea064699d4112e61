#include "ingest/bench/date.h"

#include "base/ascii.h"

namespace assay {

std::string date_of(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-dd";
  if (text.size() < kShape.size()) return {};
  for (size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == 'd' ? !is_digit(text[i]) : text[i] != kShape[i]) return {};
  }
  const bool goes_on = text.size() > kShape.size() && is_digit(text[kShape.size()]);
  return goes_on ? std::string() : std::string(text.substr(0, kShape.size()));
}

}  // namespace assay
