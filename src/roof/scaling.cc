#include "roof/scaling.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

// Fixed part of products, convolutions, attention, norms and lookups; about the same on all GPUs.
constexpr double kFixedS = 3e-6;
// Fixed part of a collective.
constexpr double kLinkFixedS = 20e-6;
constexpr double kHalfWidth90 = 1.645;
// Measured shares of the specified rate. For PCIe they depend on the switches between the cards.
constexpr double kLeastOfFabric = 0.4;
constexpr double kLeastOfPcie = 0.04;
constexpr double kMostOfPcie = 0.7;

bool is_stream(OpWorkKind kind) {
  switch (kind) {
    case OpWorkKind::kElementwise:
    case OpWorkKind::kMove:
    case OpWorkKind::kReduction:
    case OpWorkKind::kLoss:
    case OpWorkKind::kOptimizer:
    case OpWorkKind::kGenerated:
      return true;
    default:
      return false;
  }
}

OpWork matrix_work(ElementType math) { return {.matrix = true, .math = math, .flop = 1}; }

// Type used by hardware that has no units for `math`; kUntold = none.
ElementType wider(ElementType math) {
  switch (math) {
    case ElementType::kFloat4Pair:
      return ElementType::kFloat8;
    case ElementType::kFloat8:
      return ElementType::kBFloat16;
    case ElementType::kInt8:
      return ElementType::kFloat16;
    case ElementType::kBFloat16:
    case ElementType::kTf32:
      return ElementType::kFloat32;
    default:
      return ElementType::kUntold;
  }
}

bool lacks(const DeviceRoof& roof, const OpWork& work) {
  const std::string_view type = matrix_type(work);
  return !type.empty() &&
         std::find(roof.no_units.begin(), roof.no_units.end(), type) != roof.no_units.end();
}

double value_of(const std::map<std::string, Fact>& values, const std::string& name,
                double otherwise) {
  const auto found = values.find(name);
  return found == values.end() ? otherwise : found->second.value;
}

// Attribute in section [change ...]; "other" for families without their own.
std::string attribute_of(ScaleFamily family) {
  switch (family) {
    case ScaleFamily::kProduct:
    case ScaleFamily::kAttention:
    case ScaleFamily::kConvolution:
    case ScaleFamily::kLookup:
    case ScaleFamily::kSmall:
    case ScaleFamily::kCollective:
      return std::string(scale_family_name(family));
    default:
      return "other";
  }
}

}  // namespace

std::string_view gpu_change_name(GpuChange change) {
  constexpr std::array<std::string_view, 5> kNames = {"none", "die", "generation", "segment",
                                                      "maker"};
  return kNames[static_cast<size_t>(change)];
}

std::string_view scale_family_name(ScaleFamily family) {
  switch (family) {
    case ScaleFamily::kProduct:
      return work_kind_name(OpWorkKind::kProduct);
    case ScaleFamily::kAttention:
      return work_kind_name(OpWorkKind::kAttention);
    case ScaleFamily::kConvolution:
      return work_kind_name(OpWorkKind::kConvolution);
    case ScaleFamily::kNorm:
      return work_kind_name(OpWorkKind::kNorm);
    case ScaleFamily::kLookup:
      return work_kind_name(OpWorkKind::kLookup);
    case ScaleFamily::kStream:
      return "stream";
    case ScaleFamily::kSmall:
      return "small";
    case ScaleFamily::kCollective:
      return "collective";
    case ScaleFamily::kUnknown:
      return "unknown";
  }
  return "";
}

GpuChange change_between(const DeviceRoof& from, const DeviceRoof& to) {
  if (from.maker.empty() || from.maker != to.maker) return GpuChange::kMaker;
  if (from.segment != to.segment) return GpuChange::kSegment;
  if (from.architecture != to.architecture) return GpuChange::kGeneration;
  return from.card == to.card && from.part == to.part ? GpuChange::kNone : GpuChange::kDie;
}

double usable_flop_per_s(const DeviceRoof& roof, const OpWork& work) {
  OpWork usable = work;
  double peak = peak_flop_per_s(roof, usable);
  while (std::isnan(peak) && lacks(roof, usable) && wider(usable.math) != ElementType::kUntold) {
    usable.math = wider(usable.math);
    peak = peak_flop_per_s(roof, usable);
  }
  return peak;
}

std::string GpuScaling::missing(const DeviceRoof& roof) {
  if (!roof.exists()) return "tflops, bandwidth_tb_s";
  std::string missing;
  const auto add = [&missing](bool known, const char* attribute) {
    if (!known) missing += (missing.empty() ? "" : ", ") + std::string(attribute);
  };
  add(!roof.architecture.empty() && !roof.maker.empty(), "architecture");
  add(!roof.fabric.empty(), "fabric");
  add(roof.link_bytes_per_s > 0, "link_gb_s");
  add(roof.memory_bytes > 0, "memory_gb");
  add(roof.flop_per_s.count("fp32_tflops") > 0, "fp32_tflops");
  return missing;
}

GpuScaling::GpuScaling(const FactBook& facts, DeviceRoof from, DeviceRoof to, double ramp_s)
    : from_(std::move(from)), to_(std::move(to)), change_(change_between(from_, to_)) {
  if (ramp_s > 0) from_.ramp_s = ramp_s;
  if (change_ == GpuChange::kNone) return;
  const auto values = facts.values("change", gpu_change_name(change_));
  // Default for a user's file without this section: wide enough for anything.
  const double other = value_of(values, "other", 1);
  for (size_t f = 0; f < kScaleFamilies; ++f) {
    spread_[f] = value_of(values, attribute_of(static_cast<ScaleFamily>(f)), other);
  }
  const double times = value_of(values, "attention_times", 1);
  if (from_.maker == "nvidia" && to_.maker == "amd") attention_times_ = times;
  if (from_.maker == "amd" && to_.maker == "nvidia") attention_times_ = 1 / times;
}

ScaleFamily GpuScaling::family(const OpWork& work) const {
  switch (work.kind) {
    case OpWorkKind::kProduct:
    case OpWorkKind::kExperts:
      return ScaleFamily::kProduct;
    case OpWorkKind::kConvolution:
      return ScaleFamily::kConvolution;
    case OpWorkKind::kAttention:
      return ScaleFamily::kAttention;
    case OpWorkKind::kNorm:
    case OpWorkKind::kSoftmax:
      return ScaleFamily::kNorm;
    case OpWorkKind::kLookup:
      return ScaleFamily::kLookup;
    default:
      return work.bytes() / from_.memory_bytes_per_s < from_.ramp_s ? ScaleFamily::kSmall
                                                                    : ScaleFamily::kStream;
  }
}

bool GpuScaling::covers(const OpWork& work) const {
  return !std::isnan(usable_flop_per_s(from_, work)) && !std::isnan(usable_flop_per_s(to_, work));
}

std::string_view GpuScaling::lacking(const OpWork& work) const {
  return change_ != GpuChange::kNone && lacks(to_, work) && !lacks(from_, work)
             ? matrix_type(work)
             : std::string_view();
}

double GpuScaling::time_s(const DeviceRoof& roof, const OpWork& work) const {
  return (is_stream(work.kind) ? roof.ramp_s : kFixedS) +
         work.flop / usable_flop_per_s(roof, work) + work.bytes() / roof.memory_bytes_per_s;
}

KernelScale GpuScaling::known(const OpWork& work) const {
  const double before_s = time_s(from_, work);
  KernelScale scale;
  scale.ramp = (is_stream(work.kind) ? from_.ramp_s : kFixedS) / before_s;
  scale.memory = work.bytes() / from_.memory_bytes_per_s / before_s;
  scale.compute = 1 - scale.ramp - scale.memory;
  if (change_ == GpuChange::kNone) return scale;
  const double times = work.kind == OpWorkKind::kAttention ? attention_times_ : 1;
  const double after_s = time_s(to_, work);
  scale.low = scale.middle = scale.high = after_s / before_s * times;
  // Bytes that fit only in the other GPU's cache may be read from it.
  const bool may_fit = work.bytes() <= to_.cache_bytes && work.bytes() > from_.cache_bytes;
  if (may_fit && to_.cache_bytes_per_s > to_.memory_bytes_per_s) {
    const double saved_s =
        work.bytes() / to_.memory_bytes_per_s - work.bytes() / to_.cache_bytes_per_s;
    scale.low = (after_s - saved_s) / before_s * times;
  }
  return scale;
}

KernelScale GpuScaling::between(const OpWork& least, const OpWork& most) const {
  const KernelScale a = known(least);
  const KernelScale b = known(most);
  KernelScale scale;
  scale.low = std::min(a.low, b.low);
  scale.high = std::max(a.high, b.high);
  scale.middle = std::sqrt(a.middle * b.middle);
  return scale;
}

KernelScale GpuScaling::unknown() const {
  if (change_ == GpuChange::kNone) return {};
  double least = from_.memory_bytes_per_s / to_.memory_bytes_per_s;
  double most = least;
  const auto add = [&](double ratio) {
    if (!std::isfinite(ratio) || ratio <= 0) return;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  };
  add(to_.ramp_s / from_.ramp_s);
  for (const OpWork& work : {matrix_work(ElementType::kBFloat16), OpWork{.flop = 1}}) {
    add(usable_flop_per_s(from_, work) / usable_flop_per_s(to_, work));
  }
  KernelScale scale;
  scale.low = least;
  scale.middle = std::sqrt(least * most);
  scale.high = most;
  return scale;
}

double GpuScaling::transfer_s(double bus_bytes) const {
  return bus_bytes > 0 && from_.link_bytes_per_s > 0
             ? kLinkFixedS + bus_bytes / from_.link_bytes_per_s
             : 0;
}

KernelScale GpuScaling::transfer(double bus_bytes, double link_bytes_per_s) const {
  if (change_ == GpuChange::kNone && link_bytes_per_s <= 0) return {};
  const double after = link_bytes_per_s > 0 ? link_bytes_per_s : to_.link_bytes_per_s;
  const auto scale_at = [&](double from, double to) {
    return bus_bytes > 0 ? (kLinkFixedS + bus_bytes / to) / (kLinkFixedS + bus_bytes / from)
                         : from / to;
  };
  KernelScale scale;
  const double sheet = scale_at(from_.link_bytes_per_s, after);
  if (fabric_changes() && link_bytes_per_s <= 0) {
    const auto least = [](const DeviceRoof& roof) {
      return roof.fabric == "pcie" ? kLeastOfPcie : kLeastOfFabric;
    };
    const auto most = [](const DeviceRoof& roof) {
      return roof.fabric == "pcie" ? kMostOfPcie : 1;
    };
    const double from = from_.link_bytes_per_s;
    scale.low = scale_at(from * least(from_), after * most(to_));
    scale.high = scale_at(from * most(from_), after * least(to_));
    scale.middle = std::sqrt(scale.low * scale.high);
    return scale;
  }
  // If the bytes are unknown, the fixed part may be all of the time.
  scale.low = bus_bytes > 0 ? sheet : std::min(1.0, sheet);
  scale.high = bus_bytes > 0 ? sheet : std::max(1.0, sheet);
  scale.middle = std::sqrt(scale.low * scale.high);
  return scale;
}

double GpuScaling::half_width(const std::array<double, kScaleFamilies>& times) const {
  double sum = 0;
  double variance = 0;
  for (size_t f = 0; f < kScaleFamilies; ++f) {
    sum += times[f];
    variance += times[f] * times[f] * spread_[f] * spread_[f];
  }
  return sum > 0 ? kHalfWidth90 * std::sqrt(variance) / sum : 0;
}

}  // namespace assay
