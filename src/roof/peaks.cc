#include "roof/peaks.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "records/setting_lines.h"

namespace assay {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr double kMega = 1e6;
// Vendors write GB of memory and mean GiB: an "80 GB" card has 80 GiB minus a reserve.
constexpr double kGibi = 1024.0 * 1024 * 1024;

using Values = std::map<std::string, Fact>;

double value_of(const Values& values, const char* name) {
  const auto found = values.find(name);
  return found == values.end() ? 0 : found->second.value;
}

// Attributes with the peak of a type; the first known one is used. Only FP64 uses vector units.
std::vector<const char*> attributes_for(const OpWork& work) {
  if (!work.matrix) return {"fp64_vector_tflops", "fp64_tflops"};
  switch (work.math) {
    case ElementType::kFloat64:
      return {"fp64_tflops"};
    case ElementType::kTf32:
      return {"tf32_tflops"};
    case ElementType::kFloat32:
      return {"fp32_matrix_tflops", "fp32_tflops"};
    case ElementType::kBFloat16:
      return {"bf16_tflops", "tflops"};
    case ElementType::kFloat16:
      return {"tflops"};
    case ElementType::kFloat8:
      return {"fp8_tflops"};
    case ElementType::kFloat4Pair:
      return {"fp4_tflops"};
    case ElementType::kInt8:
      return {"int8_tops"};
    default:
      return {};
  }
}

// A device with at least this share of the card's memory is the whole card: reserve and rounding.
constexpr double kWhole = 0.8;
// Cards without named partitions (AMD's dies, DPX to CPX) split into at most this many equal parts.
constexpr double kMostParts = 8;
constexpr double kEqualPart = 0.02;

// True if the size of the trace's GPU applies to the specified card. If the user names another
// card, that is used as a whole. A GPU without a name is the card that the user names; it is a
// partition if its compute units are an equal part of the card's.
bool sized_by_trace(const FactBook& facts, const Values& values, const DeviceProperties& device,
                    const std::string& asked) {
  if (asked.empty() || asked == device.name) return true;
  if (!device.name.empty()) {
    const HardwareFacts* card = facts.hardware(asked);
    return card != nullptr && card == facts.hardware(device.name);
  }
  const double parts =
      value_of(values, "compute_units") / static_cast<double>(device.multiprocessors);
  const double whole = std::round(parts);
  return std::isfinite(parts) && whole >= 2 && whole <= kMostParts &&
         std::abs(parts - whole) <= kEqualPart * whole;
}

// Share of the card that the device has, by recorded memory and compute units.
struct CardPart {
  double memory = 1;
  double compute = 1;
};
CardPart part_of(const Values& values, const DeviceProperties& device) {
  CardPart part;
  const double memory = value_of(values, "memory_gb") * kGibi;
  const double units = value_of(values, "compute_units");
  if (memory > 0 && device.total_memory_bytes > 0) {
    const double share = static_cast<double>(device.total_memory_bytes) / memory;
    if (share < kWhole) part.memory = share;
  }
  part.compute = part.memory;
  if (units > 0 && device.multiprocessors > 0) {
    const double share = static_cast<double>(device.multiprocessors) / units;
    part.compute = share < kWhole ? share : 1;
  }
  return part;
}

std::string percent_words(double share) {
  return std::to_string(static_cast<int>(std::lround(share * 100))) + " %";
}

std::string no_roof(const std::string& name, bool known) {
  if (name.empty()) {
    return "The trace does not name its GPU: there is no roofline to compare with. --peaks NAME "
           "names it.";
  }
  if (known) {
    return "No memory bandwidth or matrix throughput of \"" + name +
           "\" is known: there is no roofline to compare with. --specs FILE can add it.";
  }
  return "No published figures of \"" + name +
         "\" are known: there is no roofline to compare with. --specs FILE can add them, --peaks "
         "NAME gives another name.";
}

}  // namespace

// Rates besides FLOP/s with reported sources.
const std::set<std::string> kOtherRates = {"bandwidth_tb_s", "cache_mb",  "cache_front_mb",
                                           "cache_tb_s",     "link_gb_s", "nic_gb_s"};

namespace {

std::string word_of(const Values& values, const char* name) {
  const auto found = values.find(name);
  return found == values.end() ? "" : found->second.word;
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view word = trim_spaces(list.substr(0, comma));
    if (!word.empty()) words.emplace_back(word);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

void add_architecture(const FactBook& facts, const Values& values, DeviceRoof& roof) {
  const auto section = facts.section("hardware", roof.device);
  if (section) roof.card = section->name;
  roof.architecture = word_of(values, "architecture");
  roof.fabric = word_of(values, "fabric");
  roof.memory_bytes = value_of(values, "memory_gb") * kGibi;
  const Values of = facts.values("architecture", roof.architecture);
  roof.maker = word_of(of, "maker");
  roof.segment = word_of(of, "segment");
  roof.no_units = words_of(word_of(of, "no_units"));
  const double own_us = value_of(values, "ramp_us");
  roof.ramp_s = (own_us > 0 ? own_us : value_of(of, "ramp_us")) / kMega;
}

}  // namespace

DeviceRoof device_roof(const FactBook& facts, const DeviceProperties& device,
                       const std::string& asked) {
  DeviceRoof roof;
  roof.device = asked.empty() ? device.name : asked;
  const Values values = facts.values("hardware", roof.device);
  const bool told = value_of(values, "bandwidth_tb_s") > 0 && value_of(values, "tflops") > 0;
  if (!told) {
    roof.why_none = no_roof(roof.device, !values.empty());
    return roof;
  }
  const CardPart part =
      sized_by_trace(facts, values, device, asked) ? part_of(values, device) : CardPart{};
  if (part.memory < 1 || part.compute < 1) {
    roof.part = percent_words(part.compute) + " of the card's compute units and " +
                percent_words(part.memory) + " of its memory";
  }
  roof.memory_bytes_per_s = value_of(values, "bandwidth_tb_s") * kTera * part.memory;
  roof.cache_bytes = value_of(values, "cache_mb") * kMega * part.memory;
  roof.cache_bytes_per_s = value_of(values, "cache_tb_s") * kTera * part.memory;
  roof.cache_front_bytes = value_of(values, "cache_front_mb") * kMega * part.memory;
  roof.link_bytes_per_s = value_of(values, "link_gb_s") * kGiga;
  roof.nic_bytes_per_s = value_of(values, "nic_gb_s") * kGiga;
  roof.clock_hz = value_of(values, "clock_mhz") * kMega;
  roof.peak_source = values.at("tflops").source;
  add_architecture(facts, values, roof);
  for (const auto& [name, fact] : values) {
    const bool rate = name.ends_with("tflops") || name.ends_with("_tops");
    if (rate) roof.flop_per_s[name] = fact.value * kTera * part.compute;
    const bool used = rate || kOtherRates.contains(name);
    if (used &&
        std::find(roof.sources.begin(), roof.sources.end(), fact.source) == roof.sources.end()) {
      roof.sources.push_back(fact.source);
    }
  }
  return roof;
}

DeviceRoof trace_roof(const FactBook& facts, const Trace& trace, int64_t device,
                      const std::string& asked) {
  DeviceProperties properties;
  for (const DeviceProperties& one : trace.devices) {
    if (one.id == device || properties.name.empty()) properties = one;
    if (one.id == device) break;
  }
  return device_roof(facts, properties, asked);
}

std::string_view matrix_type(const OpWork& work) {
  if (!work.matrix) return {};
  switch (work.math) {
    case ElementType::kFloat64:
      return "fp64";
    case ElementType::kFloat32:
      return "fp32";
    case ElementType::kTf32:
      return "tf32";
    case ElementType::kBFloat16:
      return "bf16";
    case ElementType::kFloat16:
      return "fp16";
    case ElementType::kFloat8:
      return "fp8";
    case ElementType::kFloat4Pair:
      return "fp4";
    case ElementType::kInt8:
      return "int8";
    default:
      return {};
  }
}

double peak_flop_per_s(const DeviceRoof& roof, const OpWork& work) {
  if (work.flop == 0) return std::numeric_limits<double>::infinity();
  if (!work.matrix && work.math != ElementType::kFloat64) {
    // Integer and 16-bit arithmetic is at least as fast as FP32, and memory limits these kernels.
    const auto found = roof.flop_per_s.find("fp32_tflops");
    return found == roof.flop_per_s.end() ? std::numeric_limits<double>::infinity() : found->second;
  }
  for (const char* attribute : attributes_for(work)) {
    const auto found = roof.flop_per_s.find(attribute);
    if (found != roof.flop_per_s.end()) return found->second;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

RoofTime roof_time(const DeviceRoof& roof, const OpWork& work) {
  return {.compute_s = work.flop / peak_flop_per_s(roof, work),
          .memory_s = work.bytes() / roof.memory_bytes_per_s};
}

}  // namespace assay
