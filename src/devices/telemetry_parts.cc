#include "devices/telemetry_parts.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "records/power_recording.h"

namespace assay {
namespace {

template <typename Number>
Number number_at(const unsigned char* bytes, size_t offset) {
  Number number = 0;
  std::memcpy(&number, bytes + offset, sizeof(number));
  return number;
}

}  // namespace

SampledGpu& ListedTelemetry::add_gpu(const char* vendor, const char* source, uint32_t index) {
  SampledGpu& gpu = gpus_.emplace_back();
  gpu.vendor = vendor;
  gpu.source = source;
  gpu.index = index;
  return gpu;
}

Status telemetry_status(int code, const std::string& doing, const char* text,
                        const std::string& hint) {
  if (code == 0) return Ok{};
  return Error{ErrorCode::kIo,
               doing + " failed: " + (text != nullptr ? text : std::to_string(code)) +
                   (hint.empty() ? "" : "; " + hint),
               "", -1};
}

Status amd_smi_status(const amdsmi::Api& api, int code, const std::string& doing) {
  const char* text = nullptr;
  if (code != 0) api.error_text(code, &text);
  return telemetry_status(code, doing, text,
                          code == amdsmi::kNoPermission ? kAmdPermissionHint : "");
}

std::string bus_text(unsigned domain, unsigned bus, unsigned device, unsigned function) {
  std::array<char, 32> text = {};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", domain & 0xffff, bus & 0xff,
                device & 0x1f, function & 7);
  return text.data();
}

// ROCm 6 added a flag at the front: {num, current, hz[]} before, {has_deep_sleep, num, current,
// hz[]} since. In the wrong layout, the current level is not in the list, so the values identify
// the layout.
double current_clock_mhz(const unsigned char* bytes) {
  constexpr uint32_t kMostLevels = 33;
  for (const size_t front : {size_t{0}, size_t{4}}) {
    const auto levels = number_at<uint32_t>(bytes, front);
    const auto current = number_at<uint32_t>(bytes, front + 4);
    if (levels == 0 || levels > kMostLevels || current >= levels) continue;
    const auto hz = number_at<uint64_t>(bytes, 2 * front + 8 + current * sizeof(uint64_t));
    if (hz >= 1'000'000 && hz <= 100'000'000'000) return static_cast<double>(hz) * 1e-6;
  }
  return GpuReading::kUnknown;
}

double socket_power_w(const unsigned char* bytes) {
  const auto told = [](uint32_t watts) {  // no voltage in mV is as high either
    return watts > 0 && watts < static_cast<uint32_t>(kMostPackageWatts);
  };
  const auto first_of = [&told](uint32_t a, uint32_t b) {
    return told(a) ? a : told(b) ? b : GpuReading::kUnknown;
  };
  const auto word = [bytes](size_t i) { return number_at<uint32_t>(bytes, 4 * i); };
  if (word(1) != 0) return first_of(word(0), word(1));
  // word(1) is the upper half of a 64-bit value, or an average of 0 W. Only in the 64-bit layout is
  // the power repeated in word(2) or word(3).
  if (word(0) == amdsmi::kNotTold) return first_of(word(2), word(3));
  const bool again = word(0) == word(2) || word(0) == word(3);
  return again && told(word(0)) ? word(0) : GpuReading::kUnknown;
}

Result<std::unique_ptr<GpuTelemetry>> open_amd_telemetry(const AmdTelemetryLibraries& libraries) {
  auto newer = open_amd_smi_telemetry(libraries.amd_smi);
  if (newer) return newer;
  auto older = open_rocm_smi_telemetry(libraries.rocm_smi);
  if (older) return older;
  return Error{ErrorCode::kUnsupported, newer.error().message + "; " + older.error().message, "",
               -1};
}

}  // namespace assay
