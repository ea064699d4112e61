#pragma once

// The time of a kernel on another GPU.
//
// Problem: a kernel with f FLOP and q bytes took t on one GPU. How long does it take on another
// one? Method: t' = t * (r' + f/F' + q/B') / (r + f/F + q/B). F is the peak of the kernel's type, B
// the memory bandwidth, r a fixed part. The rule takes the sum, not the longer of the two. Kernels
// overlap arithmetic and memory badly, and a sum has no corner at which a small error of a peak
// changes the answer. Half of 3,000 products, measured on 13 pairs of GPUs, are within 14 % of the
// sum. The longer of the two gives 23 %.
//
// All kernels of one family (products, attention, ...) share an error on one pair of GPUs. The
// errors of two families are independent. Their standard deviations depend on what changes between
// the GPUs, and are in the specifications ([change ...] in data/facts.ini).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "records/facts.h"
#include "roof/peaks.h"
#include "roof/work.h"

namespace assay {

// The difference between two GPUs, the least first.
enum class GpuChange : uint8_t {
  kNone,        // the same card
  kDie,         // the same architecture: memory, clocks, units
  kGeneration,  // the same maker and segment
  kSegment,     // data center to workstation, or back
  kMaker,       // or an architecture that is not known
};
std::string_view gpu_change_name(GpuChange change);  // "none", "die", ...
GpuChange change_between(const DeviceRoof& from, const DeviceRoof& to);

// Kernels with a common error.
enum class ScaleFamily : uint8_t {
  kProduct,
  kAttention,
  kConvolution,
  kNorm,
  kLookup,
  kStream,  // elementwise, moves, reductions: every byte once
  kSmall,   // a stream that is mostly its fixed part
  kCollective,
  kUnknown,  // kernels without known work
};
inline constexpr size_t kScaleFamilies = 9;
std::string_view scale_family_name(ScaleFamily family);  // "gemm", "attention", ...

// Factor of a kernel's time, and where the factor comes from. Ends are those of the work, without
// the error of the family.
struct KernelScale {
  double low = 1;
  double middle = 1;
  double high = 1;
  // Shares of the rule's time on the recorded GPU; 0 without known work.
  double ramp = 0;
  double compute = 0;
  double memory = 0;
};

// From one GPU to another. Facts must outlive nothing.
class GpuScaling {
 public:
  // ramp_s: duration of the shortest elementwise kernels of the recording (0 = as specified).
  GpuScaling(const FactBook& facts, DeviceRoof from, DeviceRoof to, double ramp_s = 0);

  // The attributes that scaling needs and the card lacks, as a list for a reader; empty = none.
  static std::string missing(const DeviceRoof& roof);

  const DeviceRoof& from() const { return from_; }
  const DeviceRoof& to() const { return to_; }
  GpuChange change() const { return change_; }

  ScaleFamily family(const OpWork& work) const;
  // True where both peaks of the work's type are known, of a wider type where its own has no units.
  bool covers(const OpWork& work) const;
  // "fp8" where the other GPU has no units for the work's type; else empty.
  std::string_view lacking(const OpWork& work) const;
  // For work that covers() accepts.
  KernelScale known(const OpWork& work) const;
  // For work between two bounds.
  KernelScale between(const OpWork& least, const OpWork& most) const;
  // Between the least and the greatest that any single resource gives; the middle is geometric.
  KernelScale unknown() const;
  // The factor of a collective's transfer. bus_bytes: on the bus of a rank (0 = unknown).
  // link_bytes_per_s: the user's figure for the other GPU (0 = as specified). The middle means
  // little if the fabric changes or the bytes are not known.
  KernelScale transfer(double bus_bytes, double link_bytes_per_s = 0) const;
  // The time of such a transfer on the recorded GPU, in seconds; 0 = unknown.
  double transfer_s(double bus_bytes) const;
  bool fabric_changes() const { return change_ != GpuChange::kNone && from_.fabric != to_.fabric; }

  // Standard deviation of the logarithm of a family's error.
  double spread(ScaleFamily family) const { return spread_[static_cast<size_t>(family)]; }
  // Half-width of the 90 % interval of the logarithm of a sum of times. times: by family.
  double half_width(const std::array<double, kScaleFamilies>& times) const;

 private:
  double time_s(const DeviceRoof& roof, const OpWork& work) const;

  DeviceRoof from_;
  DeviceRoof to_;
  GpuChange change_;
  std::array<double, kScaleFamilies> spread_{};
  double attention_times_ = 1;  // by the software of another maker
};

// Peak of the work's type, or of the next wider type where the device has no units for it; NaN
// where the specifications do not say.
double usable_flop_per_s(const DeviceRoof& roof, const OpWork& work);

}  // namespace assay
