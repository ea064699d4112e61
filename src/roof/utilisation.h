#pragma once

// Utilization of a GPU by the products of a run: MFU, HFU, MBU. Definitions: docs/metrics.md.
//
// HFU = FLOP of products, convolutions and attention / (time * peak). MFU leaves out what was
// computed again: recomputation, and the scores that a fused backward of attention repeats. The
// time is wall time. The peak is that of dense BF16 at boost clock, or of FP8 if more than half of
// the FLOP is FP8. A device without BF16 units has that of FP16.

#include <limits>
#include <string>
#include <string_view>

#include "roof/peaks.h"
#include "roof/work.h"

namespace assay {

// Sums over calls with known work.
struct ProductSums {
  double flop = 0;            // of products, convolutions and attention
  double model_flop = 0;      // the same without what was computed again
  double all_pairs_flop = 0;  // model_flop, with the pairs that a mask leaves out
  double fp8_flop = 0;        // of flop
  double typed_s = 0;         // model_flop at the peak of each call's own type, in seconds
  double peak_s = 0;          // all FLOP, also of other calls, at the peak of their type
  double bytes = 0;           // the least bytes of all calls
  double weight_bytes = 0;    // of these, of products, experts and attention

  void add(const OpWork& work, bool recomputed, const DeviceRoof& roof);
  void add(const ProductSums& other);
};

// NaN = unknown.
struct Utilisation {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  double mfu = kUnknown;
  double mfu_low = kUnknown;   // kernels without known work multiply nothing
  double mfu_high = kUnknown;  // or run at the peak
  double hfu = kUnknown;
  double mfu_palm = kUnknown;     // all pairs of query and key count, as in 6N + 12LHQT
  double mfu_by_type = kUnknown;  // by the peak of each call's own type
  double mbu = kUnknown;          // least bytes / (time * bandwidth)
  double known_share = kUnknown;  // of the kernel time, with known work; filled by the caller
  double peak_flop_per_s = kUnknown;
  std::string_view peak_type = {};  // "bf16", "fp8", or "fp16" for a device without BF16 units
  std::string peak_source = {};

  // MFU within such a share of itself: products without known work have as much time. False where
  // it is not known or 0.
  bool within(double share) const { return mfu > 0 && mfu_high - mfu_low <= share * mfu; }
  // So narrow that one number is enough.
  bool is_exact() const { return within(0.02); }
  // Nearly all work is known, and no cache carries what memory is said to.
  bool tells_mbu() const { return known_share >= 0.98 && mbu > 0 && mbu <= 1; }
};

// wall_s: of all GPUs together. unknown_s: time of kernels that multiply, without known work.
Utilisation utilisation_of(const ProductSums& sums, const DeviceRoof& roof, double wall_s,
                           double unknown_s);

}  // namespace assay
