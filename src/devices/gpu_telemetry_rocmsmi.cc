// AMD GPUs through ROCm-SMI (ROCm 4 to 7), the only library before ROCm 6.

#include <array>
#include <cstdio>
#include <utility>

#include "base/dynamic_library.h"
#include "devices/rsmi_abi.h"
#include "devices/telemetry_parts.h"

namespace assay {
namespace {

Status bind(const DynamicLibrary& library, rsmi::TelemetryApi& api) {
  ASSAY_TRY(library.bind("rsmi_init", api.init));
  ASSAY_TRY(library.bind("rsmi_status_string", api.error_text));
  ASSAY_TRY(library.bind("rsmi_num_monitor_devices", api.device_count));
  library.bind_if_there("rsmi_dev_pci_id_get", api.pci_id);
  library.bind_if_there("rsmi_dev_unique_id_get", api.unique_id);
  library.bind_if_there("rsmi_dev_name_get", api.name);
  library.bind_if_there("rsmi_dev_energy_count_get", api.energy);
  library.bind_if_there("rsmi_dev_power_get", api.power);
  library.bind_if_there("rsmi_dev_power_ave_get", api.average_power);
  library.bind_if_there("rsmi_dev_gpu_clk_freq_get", api.clock);
  library.bind_if_there("rsmi_dev_busy_percent_get", api.busy);
  library.bind_if_there("rsmi_dev_memory_busy_percent_get", api.memory_busy);
  library.bind_if_there("rsmi_dev_memory_usage_get", api.memory_used);
  library.bind_if_there("rsmi_dev_temp_metric_get", api.temperature);
  return Ok{};
}

class RocmSmiTelemetry final : public ListedTelemetry {
 public:
  Status open(const std::vector<std::string>& libraries) {
    ASSAY_TRY_ASSIGN(const DynamicLibrary library,
                     DynamicLibrary::open(libraries, "ROCm-SMI is not installed here"));
    ASSAY_TRY(bind(library, api_));
    ASSAY_TRY(check(api_.init(0), "starting ROCm-SMI"));
    uint32_t count = 0;
    ASSAY_TRY(check(api_.device_count(&count), "counting GPUs"));
    for (uint32_t i = 0; i < count; ++i) identify(add_gpu("amd", "ROCm-SMI", i));
    return Ok{};
  }

  GpuReading read(size_t place) override {
    const uint32_t device = gpus_[place].index;
    GpuReading reading;
    reading.power_w = power(device);
    uint64_t count = 0;
    float microjoules = 0;
    uint64_t t_ns = 0;
    if (api_.energy != nullptr && api_.energy(device, &count, &microjoules, &t_ns) == 0) {
      reading.energy_j = static_cast<double>(count) * static_cast<double>(microjoules) * 1e-6;
    }
    reading.sm_clock_mhz = clock(device, rsmi::kSystemClock);
    reading.memory_clock_mhz = clock(device, rsmi::kMemoryClock);
    uint32_t percent = 0;
    if (api_.busy != nullptr && api_.busy(device, &percent) == 0) {
      reading.gpu_util_percent = percent;
    }
    if (api_.memory_busy != nullptr && api_.memory_busy(device, &percent) == 0) {
      reading.memory_util_percent = percent;
    }
    uint64_t bytes = 0;
    if (api_.memory_used != nullptr && api_.memory_used(device, rsmi::kMemoryVram, &bytes) == 0) {
      reading.memory_used_bytes = static_cast<double>(bytes);
    }
    reading.temperature_c = temperature(device);
    return reading;
  }

 private:
  Status check(int code, const std::string& doing) const {
    const char* text = nullptr;
    if (code != 0) api_.error_text(code, &text);
    return telemetry_status(code, doing, text, code == rsmi::kPermission ? kAmdPermissionHint : "");
  }

  void identify(SampledGpu& gpu) const {
    const uint32_t index = gpu.index;
    std::array<char, 256> text = {};
    if (api_.name != nullptr && api_.name(index, text.data(), text.size() - 1) == 0) {
      gpu.name = text.data();
    }
    uint64_t id = 0;
    if (api_.unique_id != nullptr && api_.unique_id(index, &id) == 0) {
      std::snprintf(text.data(), text.size(), "AMD-%016llx", static_cast<unsigned long long>(id));
      gpu.uuid = text.data();
    }
    if (api_.pci_id != nullptr && api_.pci_id(index, &id) == 0) {
      gpu.bus_id = bus_text(static_cast<unsigned>(id >> 32), static_cast<unsigned>(id >> 8),
                            static_cast<unsigned>(id >> 3), static_cast<unsigned>(id));
    }
    uint64_t microwatts = 0;
    int type = 0;
    const bool current = api_.power != nullptr && api_.power(index, &microwatts, &type) == 0;
    gpu.power_reading = current && type == 1 ? "instant" : "average";
  }

  double power(uint32_t device) const {
    uint64_t microwatts = 0;
    int type = 0;
    const bool read =
        (api_.power != nullptr && api_.power(device, &microwatts, &type) == 0) ||
        (api_.average_power != nullptr && api_.average_power(device, 0, &microwatts) == 0);
    return read ? static_cast<double>(microwatts) * 1e-6 : GpuReading::kUnknown;
  }

  double clock(uint32_t device, int type) const {
    alignas(8) std::array<unsigned char, rsmi::kMostFrequencyBytes> frequencies = {};
    if (api_.clock == nullptr || api_.clock(device, type, frequencies.data()) != 0) {
      return GpuReading::kUnknown;
    }
    return current_clock_mhz(frequencies.data());
  }

  // The junction temperature, which triggers throttling; if it is unknown, the edge temperature.
  double temperature(uint32_t device) const {
    if (api_.temperature == nullptr) return GpuReading::kUnknown;
    for (const uint32_t sensor : {rsmi::kTemperatureJunction, rsmi::kTemperatureEdge}) {
      int64_t milli = 0;
      if (api_.temperature(device, sensor, rsmi::kTemperatureCurrent, &milli) == 0) {
        return static_cast<double>(milli) * 1e-3;
      }
    }
    return GpuReading::kUnknown;
  }

  rsmi::TelemetryApi api_ = {};
};

}  // namespace

Result<std::unique_ptr<GpuTelemetry>> open_rocm_smi_telemetry(
    const std::vector<std::string>& libraries) {
  auto telemetry = std::make_unique<RocmSmiTelemetry>();
  ASSAY_TRY(telemetry->open(libraries));
  return std::unique_ptr<GpuTelemetry>(std::move(telemetry));
}

}  // namespace assay
