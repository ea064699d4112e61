#include "findings/utilisation.h"

#include <cmath>

#include "base/decimal.h"

namespace assay::findings {
namespace {

constexpr double kTera = 1e12;
constexpr double kMeansLittle = 0.5;    // MFU intervals this wide are not useful
constexpr double kComputedAgain = 0.01;  // share of HFU from which recomputation is mentioned

}  // namespace

void fill_use(const Utilisation& use, Finding& out) {
  if (use.is_exact()) {
    out.fraction("mfu", use.mfu);
    if (use.hfu - use.mfu > kComputedAgain * use.hfu) out.fraction("hfu", use.hfu);
  } else {
    out.fraction("low", use.mfu_low).fraction("high", use.mfu_high);
  }
  std::string type(use.peak_type);
  for (char& c : type) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  out.text("peak", shortest_text(std::round(use.peak_flop_per_s / kTera)));
  out.text("type", std::move(type));
  if (use.tells_mbu()) out.fraction("mbu", use.mbu);
}

std::optional<Finding> utilisation_finding(const Utilisation& use) {
  if (!use.within(kMeansLittle)) return std::nullopt;
  Finding out{.code = use.is_exact() ? Code::kUseMfu : Code::kUseMfuRange};
  fill_use(use, out);
  return out;
}

}  // namespace assay::findings
