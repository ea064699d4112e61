#include "findings/utilisation.h"

#include <cmath>

#include "base/decimal.h"

namespace assay::findings {
namespace {

constexpr double kTera = 1e12;
// MFU is one number where products without known work change it by less, and none where they change
// it by more than the second share of itself.
constexpr double kExact = 0.02;
constexpr double kMeansLittle = 0.5;
constexpr double kComputedAgain = 0.01;  // of HFU

}  // namespace

std::optional<Finding> utilisation_finding(const Utilisation& use) {
  const double width = use.mfu_high - use.mfu_low;
  if (!(use.mfu > 0) || !(width <= kMeansLittle * use.mfu)) return std::nullopt;
  const bool exact = width <= kExact * use.mfu;
  Finding out{.code = exact ? Code::kUseMfu : Code::kUseMfuRange};
  if (exact) {
    out.fraction("mfu", use.mfu);
    if (use.hfu - use.mfu > kComputedAgain * use.hfu) out.fraction("hfu", use.hfu);
  } else {
    out.fraction("low", use.mfu_low).fraction("high", use.mfu_high);
  }
  std::string type(use.peak_type);
  for (char& c : type) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  out.text("peak", shortest_text(std::round(use.peak_flop_per_s / kTera)));
  out.text("type", std::move(type));
  return out;
}

}  // namespace assay::findings
