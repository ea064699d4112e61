#pragma once

// Predicts the duration of a kernel on another GPU.
//
// Problem: a kernel with f FLOP and q bytes takes t on one GPU. How long does it take on another
// one? Method: t' = t * (r' + f/F' + q/B') / (r + f/F + q/B). F is the peak of the kernel's type, B
// the memory bandwidth, r a fixed part per kernel. The rule uses the sum instead of the maximum,
// because kernels overlap arithmetic and memory access poorly, and because a small error of a peak
// cannot flip the bottleneck. Effect: for 3,000 matrix products measured on 13 pairs of GPUs, the
// median error is 14 %; with the maximum it is 23 %.
//
// Kernels of one family (products, attention, ...) share an error on a pair of GPUs; the errors of
// different families are independent. Their standard deviations depend on what changes between the
// GPUs and come from the specifications ([change ...] in data/facts.ini).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "records/facts.h"
#include "roof/peaks.h"
#include "roof/work.h"

namespace assay {

// Kind of difference between two GPUs, the smallest first.
enum class GpuChange : uint8_t {
  kNone,        // the same card
  kDie,         // same architecture; different memory, clocks, units
  kGeneration,  // same vendor and segment
  kSegment,     // data center to workstation, or vice versa
  kMaker,       // different vendor, or an unknown architecture
};
std::string_view gpu_change_name(GpuChange change);  // "none", "die", ...
GpuChange change_between(const DeviceRoof& from, const DeviceRoof& to);

// Kernel families that share an error.
enum class ScaleFamily : uint8_t {
  kProduct,
  kAttention,
  kConvolution,
  kNorm,
  kLookup,
  kStream,  // elementwise, moves, reductions: every byte once
  kSmall,   // a stream kernel dominated by its fixed part
  kCollective,
  kUnknown,  // kernels without known work
};
inline constexpr size_t kScaleFamilies = 9;
std::string_view scale_family_name(ScaleFamily family);  // "gemm", "attention", ...

// Factor on a kernel's duration. low and high come from the bounds of the work, without the error
// of the family.
struct KernelScale {
  double low = 1;
  double middle = 1;
  double high = 1;
  // Shares of the predicted time on the recorded GPU; 0 if the work is unknown.
  double ramp = 0;
  double compute = 0;
  double memory = 0;
};

// Scales durations from one GPU to another. `facts` is used only in the constructor.
class GpuScaling {
 public:
  // ramp_s: duration of the shortest elementwise kernels of the recording, 0 = as specified.
  GpuScaling(const FactBook& facts, DeviceRoof from, DeviceRoof to, double ramp_s = 0);

  // Readable list of the attributes that scaling needs and the card lacks; empty = none.
  static std::string missing(const DeviceRoof& roof);

  const DeviceRoof& from() const { return from_; }
  const DeviceRoof& to() const { return to_; }
  GpuChange change() const { return change_; }

  ScaleFamily family(const OpWork& work) const;
  // True if both GPUs have a peak for the work's type, or for a wider type if it has no units.
  bool covers(const OpWork& work) const;
  // Name of the work's type ("fp8") if the other GPU has no units for it; otherwise empty.
  std::string_view lacking(const OpWork& work) const;
  // Requires covers(work).
  KernelScale known(const OpWork& work) const;
  // For work known only within bounds.
  KernelScale between(const OpWork& least, const OpWork& most) const;
  // From the smallest to the largest factor of any single resource; `middle` is their geometric
  // mean.
  KernelScale unknown() const;
  // Factor of a collective's transfer time. bus_bytes: bus traffic of a rank (0 = unknown).
  // link_bytes_per_s: user-supplied link rate of the other GPU (0 = as specified). `middle` is
  // unreliable if the fabric changes or the bytes are unknown.
  KernelScale transfer(double bus_bytes, double link_bytes_per_s = 0) const;
  // Modelled duration of such a transfer on the recorded GPU, in seconds; 0 = unknown.
  double transfer_s(double bus_bytes) const;
  bool fabric_changes() const { return change_ != GpuChange::kNone && from_.fabric != to_.fabric; }

  // Standard deviation of the logarithm of a family's error.
  double spread(ScaleFamily family) const { return spread_[static_cast<size_t>(family)]; }
  // Half-width of the 90 % interval of the logarithm of a total time. times: total per family.
  double half_width(const std::array<double, kScaleFamilies>& times) const;

 private:
  double time_s(const DeviceRoof& roof, const OpWork& work) const;

  DeviceRoof from_;
  DeviceRoof to_;
  GpuChange change_;
  std::array<double, kScaleFamilies> spread_{};
  double attention_times_ = 1;  // factor for attention software of another vendor
};

// Peak of the work's type, or of the next wider type if the device has no units for it; NaN if the
// specifications lack both.
double usable_flop_per_s(const DeviceRoof& roof, const OpWork& work);

}  // namespace assay
