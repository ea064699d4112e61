#include "roof/utilisation.h"

#include <algorithm>
#include <cmath>

namespace assay {

void ProductSums::add(const OpWork& work, bool recomputed, const DeviceRoof& roof) {
  bytes += work.bytes();
  const double own_peak = peak_flop_per_s(roof, work);
  if (std::isfinite(work.flop / own_peak)) peak_s += work.flop / own_peak;
  const bool reads_weights = work.kind == OpWorkKind::kProduct ||
                             work.kind == OpWorkKind::kExperts ||
                             work.kind == OpWorkKind::kAttention;
  if (reads_weights) weight_bytes += work.bytes();
  if (!reads_weights && work.kind != OpWorkKind::kConvolution) return;
  flop += work.flop;
  if (work.math == ElementType::kFloat8) fp8_flop += work.flop;
  if (recomputed) return;
  const double once = work.flop - std::min(work.flop, work.repeated_flop);
  model_flop += once;
  // The mask excludes the same share of the repeated part.
  all_pairs_flop += work.flop > 0 ? once * (1 + work.masked_flop / work.flop) : 0;
  if (std::isfinite(once / own_peak)) typed_s += once / own_peak;
}

void ProductSums::add(const ProductSums& other) {
  flop += other.flop;
  model_flop += other.model_flop;
  all_pairs_flop += other.all_pairs_flop;
  fp8_flop += other.fp8_flop;
  typed_s += other.typed_s;
  peak_s += other.peak_s;
  bytes += other.bytes;
  weight_bytes += other.weight_bytes;
}

Utilisation utilisation_of(const ProductSums& sums, const DeviceRoof& roof, double wall_s,
                           double unknown_s) {
  Utilisation use;
  if (!(wall_s > 0) || !roof.exists()) return use;
  const bool fp8 = sums.fp8_flop * 2 > sums.flop;
  const bool bf16 =
      std::find(roof.no_units.begin(), roof.no_units.end(), "bf16") == roof.no_units.end();
  const ElementType type = fp8    ? ElementType::kFloat8
                           : bf16 ? ElementType::kBFloat16
                                  : ElementType::kFloat16;
  const double peak = peak_flop_per_s(roof, {.matrix = true, .math = type, .flop = 1});
  if (roof.memory_bytes_per_s > 0) use.mbu = sums.bytes / (wall_s * roof.memory_bytes_per_s);
  if (!std::isfinite(peak)) return use;
  use.peak_flop_per_s = peak;
  use.peak_type = element_type_name(type);
  use.peak_source = roof.peak_source;
  const double offered = wall_s * peak;
  use.mfu = sums.model_flop / offered;
  use.mfu_low = use.mfu;
  use.mfu_high = use.mfu + unknown_s / wall_s;
  use.hfu = sums.flop / offered;
  use.mfu_palm = sums.all_pairs_flop / offered;
  use.mfu_by_type = sums.typed_s / wall_s;
  return use;
}

}  // namespace assay
