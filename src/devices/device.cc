#include "devices/device.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "devices/amd.h"
#include "devices/nvidia.h"
#include "devices/simulated.h"

namespace assay {
namespace {

std::optional<int> ordinal_of(const std::string& text) {
  if (text.empty()) return 0;
  int ordinal = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
  if (code != std::errc{} || end != text.data() + text.size() || ordinal < 0) return std::nullopt;
  return ordinal;
}

Result<std::unique_ptr<PowerDevice>> open_any(SensorChoice sensor) {
  auto nvidia = open_nvidia_device(0, {}, sensor);
  if (nvidia) return nvidia;
  auto amd = open_amd_device(0);
  if (amd) return amd;
  return Error{ErrorCode::kUnsupported,
               "there is no GPU to measure here: nvidia: " + nvidia.error().message + "; amd: " +
                   amd.error().message + ". --device simulated runs everything without one",
               "", -1};
}

// Adds the requested GPU and the alternatives to the error, if `device` failed.
Result<std::unique_ptr<PowerDevice>> named(Result<std::unique_ptr<PowerDevice>> device,
                                           const std::string& text) {
  if (device) return device;
  Error error = device.take_error();
  error.message = "--device " + text + ": " + error.message;
  if (error.code == ErrorCode::kUnsupported) {
    error.message += ". --device simulated runs everything without a GPU";
  }
  return error;
}

}  // namespace

Result<std::unique_ptr<PowerDevice>> open_device(const std::string& text, uint64_t seed,
                                                 SensorChoice sensor) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon < text.size() ? text.substr(colon + 1) : "";
  if (sensor != SensorChoice::kAuto && (kind == "simulated" || kind == "amd")) {
    return Error{ErrorCode::kInvalidArgument,
                 "--sensor chooses among NVML's power values; device " + kind + " has one only", "",
                 -1};
  }
  if (kind == "simulated") {
    ASSAY_TRY_ASSIGN(const SimulatedKnobs knobs, parse_simulated_knobs(rest));
    return std::unique_ptr<PowerDevice>(make_simulated_device(seed, knobs));
  }
  if (text == "auto") return open_any(sensor);
  const auto ordinal = ordinal_of(rest);
  if (ordinal && kind == "nvidia") return named(open_nvidia_device(*ordinal, {}, sensor), text);
  if (ordinal && kind == "amd") return named(open_amd_device(*ordinal), text);
  return Error{ErrorCode::kInvalidArgument,
               "no device '" + text + "': write auto, nvidia:0, amd:0 or simulated", "", -1};
}

PowerRecording recording_head(const DeviceFacts& facts) {
  PowerRecording head;
  head.device = facts.name;
  head.driver = facts.driver;
  head.uuid = facts.uuid;
  head.parts = facts.parts;
  head.tick_hz = facts.tick_hz;
  head.samples_on_cpu_clock = facts.samples_on_cpu_clock;
  head.sensor = facts.documented;
  return head;
}

}  // namespace assay
