#include "cli/tax_flags.h"

#include <cmath>

namespace assay {

TaxOptions tax_setup(const TaxFlags& flags) {
  TaxOptions setup;
  setup.mode = flags.mode == "code" ? TaxMode::kCode : TaxMode::kPaper;
  setup.base_weighting =
      flags.base_weighting == "invocation" ? BaseWeighting::kInvocation : BaseWeighting::kKernel;
  setup.count_copies = flags.count_copies;
  return setup;
}

std::optional<TaxFloor> tax_floor(const FloorChoice& choice) {
  if (!choice.floor_ns) return std::nullopt;
  TaxFloor floor;
  floor.source = choice.kind;
  floor.floor_ns = std::llround(*choice.floor_ns);
  floor.text = choice.source;
  floor.samples = choice.samples;
  return floor;
}

TaxOptions tax_options(TaxOptions setup, const FloorChoice& floor, const LoadedTrace& loaded) {
  setup.floor = tax_floor(floor);
  setup.kernels = loaded.kernels;
  return setup;
}

}  // namespace assay
