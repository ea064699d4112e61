// AMD GPUs through AMD SMI, which replaces ROCm-SMI since ROCm 6.

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/dynamic_library.h"
#include "devices/amdsmi_abi.h"
#include "devices/telemetry_parts.h"

namespace assay {
namespace {

constexpr const char* kSource = "AMD SMI";
constexpr uint32_t kMostHandles = 256;

Status bind(const DynamicLibrary& library, amdsmi::Api& api) {
  ASSAY_TRY(library.bind("amdsmi_init", api.init));
  ASSAY_TRY(library.bind("amdsmi_status_code_to_string", api.error_text));
  ASSAY_TRY(library.bind("amdsmi_get_socket_handles", api.sockets));
  ASSAY_TRY(library.bind("amdsmi_get_processor_handles", api.processors));
  ASSAY_TRY(library.bind("amdsmi_get_lib_version", api.version));
  library.bind_if_there("amdsmi_get_gpu_device_bdf", api.bus);
  library.bind_if_there("amdsmi_get_gpu_device_uuid", api.uuid);
  library.bind_if_there("amdsmi_get_gpu_asic_info", api.asic);
  library.bind_if_there("amdsmi_get_energy_count", api.energy);
  library.bind_if_there("amdsmi_get_power_info", api.power);
  library.bind_if_there("amdsmi_get_clk_freq", api.clock);
  library.bind_if_there("amdsmi_get_gpu_activity", api.activity);
  library.bind_if_there("amdsmi_get_gpu_memory_usage", api.memory_used);
  library.bind_if_there("amdsmi_get_temp_metric", api.temperature);
  return Ok{};
}

// Zeroed buffer for a structure of any version.
struct Structure {
  alignas(8) std::array<unsigned char, amdsmi::kMostStructureBytes> bytes = {};
};

class AmdSmiTelemetry final : public ListedTelemetry {
 public:
  Status open(const std::vector<std::string>& libraries) {
    ASSAY_TRY_ASSIGN(const DynamicLibrary library,
                     DynamicLibrary::open(libraries, "AMD SMI is not installed here"));
    ASSAY_TRY(bind(library, api_));
    ASSAY_TRY(check(api_.init(amdsmi::kInitGpus), "starting AMD SMI"));
    ASSAY_TRY(check_version());
    uint32_t count = kMostHandles;
    std::array<void*, kMostHandles> sockets = {};
    ASSAY_TRY(check(api_.sockets(&count, sockets.data()), "listing the sockets"));
    for (uint32_t i = 0; i < std::min(count, kMostHandles); ++i) {
      uint32_t found = kMostHandles;
      std::array<void*, kMostHandles> processors = {};
      ASSAY_TRY(check(api_.processors(sockets[i], &found, processors.data()), "listing the GPUs"));
      for (uint32_t k = 0; k < std::min(found, kMostHandles); ++k) add(processors[k]);
    }
    if (!gpus_.empty()) return Ok{};
    return Error{ErrorCode::kUnsupported, "AMD SMI shows no GPU", "", -1};
  }

  GpuReading read(size_t place) override {
    void* const gpu = processors_[place];
    GpuReading reading;
    Count count;
    if (energy(gpu, count)) reading.energy_j = count.joules;
    reading.power_w = power(place, count);
    reading.sm_clock_mhz = clock(gpu, amdsmi::kSystemClock);
    reading.memory_clock_mhz = clock(gpu, amdsmi::kMemoryClock);
    Structure usage;
    if (api_.activity != nullptr && api_.activity(gpu, usage.bytes.data()) == 0) {
      amdsmi::Activity load = {};
      std::memcpy(&load, usage.bytes.data(), sizeof(load));
      reading.gpu_util_percent = percent(load.gfx_percent);
      reading.memory_util_percent = percent(load.memory_percent);
    }
    uint64_t bytes = 0;
    if (api_.memory_used != nullptr && api_.memory_used(gpu, amdsmi::kMemoryVram, &bytes) == 0) {
      reading.memory_used_bytes = static_cast<double>(bytes);
    }
    reading.temperature_c = temperature(gpu);
    return reading;
  }

 private:
  struct Count {
    double joules = 0;
    uint64_t t_ns = 0;  // 0 = unknown
  };

  Status check(int code, const std::string& doing) const {
    return amd_smi_status(api_, code, doing);
  }

  Status check_version() const {
    Structure version;
    ASSAY_TRY(check(api_.version(version.bytes.data()), "asking for AMD SMI's version"));
    uint32_t number = 0;
    std::memcpy(&number, version.bytes.data(), sizeof(number));
    if (number >= amdsmi::kOldestVersion) return Ok{};
    return Error{ErrorCode::kUnsupported,
                 "AMD SMI " + std::to_string(number) + " is not read: ROCm 6.1 and newer have " +
                     std::to_string(amdsmi::kOldestVersion) + " or later",
                 "", -1};
  }

  void add(void* processor) {
    SampledGpu& gpu = add_gpu("amd", kSource, static_cast<uint32_t>(gpus_.size()));
    processors_.push_back(processor);
    last_.emplace_back();
    Structure asic;
    if (api_.asic != nullptr && api_.asic(processor, asic.bytes.data()) == 0) {
      constexpr size_t kNameBytes = 64;  // of the shortest version
      const auto* name = reinterpret_cast<const char*>(asic.bytes.data());
      gpu.name.assign(name, ::strnlen(name, kNameBytes));
    }
    std::array<char, 256> text = {};
    unsigned length = text.size() - 1;
    if (api_.uuid != nullptr && api_.uuid(processor, &length, text.data()) == 0) {
      gpu.uuid = text.data();
    }
    uint64_t bdf = 0;
    if (api_.bus != nullptr && api_.bus(processor, &bdf) == 0) {
      gpu.bus_id = bus_text(static_cast<unsigned>(bdf >> 16), static_cast<unsigned>(bdf >> 8),
                            static_cast<unsigned>(bdf >> 3), static_cast<unsigned>(bdf));
    }
    Count count;
    gpu.power_reading = energy(processor, count) && count.t_ns != 0 ? "energy counter" : "average";
  }

  bool energy(void* gpu, Count& count) const {
    uint64_t units = 0;
    float microjoules = 0;
    if (api_.energy == nullptr || api_.energy(gpu, &units, &microjoules, &count.t_ns) != 0) {
      return false;
    }
    count.joules = static_cast<double>(units) * static_cast<double>(microjoules) * 1e-6;
    return true;
  }

  // Mean power since the previous sample, on the energy counter's clock; without a counter, the
  // driver's value.
  double power(size_t place, const Count& count) {
    if (gpus_[place].power_reading != "energy counter") return told_power(processors_[place]);
    const Count before = std::exchange(last_[place], count);
    if (before.t_ns == 0 || count.t_ns <= before.t_ns || count.joules < before.joules) {
      return GpuReading::kUnknown;
    }
    return (count.joules - before.joules) / static_cast<double>(count.t_ns - before.t_ns) * 1e9;
  }

  double told_power(void* gpu) const {
    Structure info;
    if (api_.power == nullptr || api_.power(gpu, info.bytes.data()) != 0) {
      return GpuReading::kUnknown;
    }
    return socket_power_w(info.bytes.data());
  }

  double clock(void* gpu, int type) const {
    Structure frequencies;
    if (api_.clock == nullptr || api_.clock(gpu, type, frequencies.bytes.data()) != 0) {
      return GpuReading::kUnknown;
    }
    return current_clock_mhz(frequencies.bytes.data());
  }

  static double percent(uint32_t value) { return value <= 100 ? value : GpuReading::kUnknown; }

  // Whole degrees since ROCm 6.0, thousandths of one before.
  double temperature(void* gpu) const {
    constexpr int64_t kHottest = 1000;
    if (api_.temperature == nullptr) return GpuReading::kUnknown;
    for (const int sensor : {amdsmi::kTemperatureHotspot, amdsmi::kTemperatureEdge}) {
      int64_t value = 0;
      if (api_.temperature(gpu, sensor, amdsmi::kTemperatureCurrent, &value) != 0) continue;
      if (value <= 0) continue;
      return value < kHottest ? static_cast<double>(value) : static_cast<double>(value) * 1e-3;
    }
    return GpuReading::kUnknown;
  }

  amdsmi::Api api_ = {};
  std::vector<void*> processors_;
  std::vector<Count> last_;
};

}  // namespace

Result<std::unique_ptr<GpuTelemetry>> open_amd_smi_telemetry(
    const std::vector<std::string>& libraries) {
  auto telemetry = std::make_unique<AmdSmiTelemetry>();
  ASSAY_TRY(telemetry->open(libraries));
  return std::unique_ptr<GpuTelemetry>(std::move(telemetry));
}

}  // namespace assay
