#include "base/value.h"

#include <cmath>

namespace assay {

std::optional<double> Value::number() const {
  if (const auto* integer = get<int64_t>()) return static_cast<double>(*integer);
  const auto* real = get<double>();
  if (real != nullptr && std::isfinite(*real)) return *real;
  return std::nullopt;
}

}  // namespace assay
