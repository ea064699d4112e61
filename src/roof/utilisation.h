#pragma once

// Utilization of a GPU by matrix work: MFU, HFU, MBU. Definitions: docs/metrics.md.
//
// HFU = FLOP of products, convolutions and attention / (wall time * peak). MFU excludes recomputed
// FLOP: activation recomputation, and the scores that a fused attention backward repeats. The peak
// is dense BF16 at boost clock, or FP8 if more than half of the FLOP is FP8, or FP16 on a device
// without BF16 units.

#include <limits>
#include <string>
#include <string_view>

#include "roof/peaks.h"
#include "roof/work.h"

namespace assay {

// Sums over calls with known work.
struct ProductSums {
  double flop = 0;            // of products, convolutions and attention
  double model_flop = 0;      // the same without recomputed FLOP
  double all_pairs_flop = 0;  // model_flop including the pairs that a mask leaves out
  double fp8_flop = 0;        // the FP8 part of flop
  double typed_s = 0;         // model_flop at the peak of each call's own type, in seconds
  double peak_s = 0;          // all FLOP, including other calls, at the peak of their type, in
                              // seconds
  double bytes = 0;           // minimum bytes of all calls
  double weight_bytes = 0;    // the part of products, experts and attention

  void add(const OpWork& work, bool recomputed, const DeviceRoof& roof);
  void add(const ProductSums& other);
};

// NaN = unknown.
struct Utilisation {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  double mfu = kUnknown;
  double mfu_low = kUnknown;   // if kernels without known work have no FLOP
  double mfu_high = kUnknown;  // if they run at the peak
  double hfu = kUnknown;
  double mfu_palm = kUnknown;     // counts all (query, key) pairs, as 6N + 12LHQT does
  double mfu_by_type = kUnknown;  // relative to the peak of each call's own type
  double mbu = kUnknown;          // minimum bytes / (time * bandwidth)
  double known_share = kUnknown;  // share of the kernel time with known work; set by the caller
  double peak_flop_per_s = kUnknown;
  std::string_view peak_type = {};  // "bf16", "fp8", or "fp16" for a device without BF16 units
  std::string peak_source = {};

  // True if the range of MFU is at most `share` of MFU. It is wide if products without known work
  // take much time. False if MFU is unknown or 0.
  bool within(double share) const { return mfu > 0 && mfu_high - mfu_low <= share * mfu; }
  // True if the range is narrow enough to report one number.
  bool is_exact() const { return within(0.02); }
  // True if nearly all work is known and caches do not inflate the value above 1.
  bool tells_mbu() const { return known_share >= 0.98 && mbu > 0 && mbu <= 1; }
};

// wall_s: summed over all GPUs. unknown_s: time of kernels that multiply but have no known work.
Utilisation utilisation_of(const ProductSums& sums, const DeviceRoof& roof, double wall_s,
                           double unknown_s);

}  // namespace assay
