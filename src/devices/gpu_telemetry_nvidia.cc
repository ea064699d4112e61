#include <array>
#include <utility>

#include "base/dynamic_library.h"
#include "devices/nvml_abi.h"
#include "devices/telemetry_parts.h"

namespace assay {
namespace {

constexpr unsigned kTextLength = 96;

// Binds the functions. Fails only without those that every driver has; others may stay null.
Status bind(const DynamicLibrary& library, nvml::TelemetryApi& api) {
  ASSAY_TRY(library.bind("nvmlInit_v2", api.init));
  ASSAY_TRY(library.bind("nvmlErrorString", api.error_text));
  ASSAY_TRY(library.bind("nvmlDeviceGetCount_v2", api.count));
  ASSAY_TRY(library.bind("nvmlDeviceGetHandleByIndex_v2", api.by_index));
  library.bind_if_there("nvmlDeviceGetName", api.name);
  library.bind_if_there("nvmlDeviceGetUUID", api.uuid);
  library.bind_if_there("nvmlDeviceGetPciInfo_v3", api.pci_info);
  library.bind_if_there("nvmlDeviceGetPowerUsage", api.power_usage);
  library.bind_if_there("nvmlDeviceGetFieldValues", api.field_values);
  library.bind_if_there("nvmlDeviceGetTotalEnergyConsumption", api.energy);
  library.bind_if_there("nvmlDeviceGetClockInfo", api.clock);
  library.bind_if_there("nvmlDeviceGetUtilizationRates", api.utilization);
  library.bind_if_there("nvmlDeviceGetMemoryInfo", api.memory);
  library.bind_if_there("nvmlDeviceGetTemperature", api.temperature);
  library.bind_if_there("nvmlDeviceGetCurrentClocksThrottleReasons", api.throttle_reasons);
  return Ok{};
}

// Calls `function` to fill `out`. False if it is missing or fails.
template <typename Function, typename Out, typename... Arguments>
bool ask(Function* function, void* device, Out& out, Arguments... arguments) {
  return function != nullptr && function(device, arguments..., &out) == nvml::kSuccess;
}

class NvidiaTelemetry final : public ListedTelemetry {
 public:
  Status open(const std::vector<std::string>& libraries) {
    ASSAY_TRY_ASSIGN(
        const DynamicLibrary library,
        DynamicLibrary::open(libraries, "NVML, which comes with the NVIDIA driver, is missing"));
    ASSAY_TRY(bind(library, api_));
    ASSAY_TRY(check(api_.init(), "starting NVML"));
    unsigned count = 0;
    ASSAY_TRY(check(api_.count(&count), "counting GPUs"));
    for (unsigned i = 0; i < count; ++i) {
      void* device = nullptr;
      // Skip a GPU that is not permitted or fell off the bus, and keep the others.
      if (api_.by_index(i, &device) != nvml::kSuccess) continue;
      devices_.push_back(device);
      identify(add_gpu("nvidia", "NVML", i), device);
    }
    return Ok{};
  }

  GpuReading read(size_t place) override {
    void* device = devices_[place];
    GpuReading reading;
    reading.power_w = power(place);
    unsigned number = 0;
    unsigned long long wide = 0;
    nvml::Utilization load = {};
    nvml::Memory memory = {};
    if (ask(api_.energy, device, wide)) reading.energy_j = static_cast<double>(wide) * 1e-3;
    if (ask(api_.clock, device, number, nvml::kClockSm)) reading.sm_clock_mhz = number;
    if (ask(api_.clock, device, number, nvml::kClockMemory)) reading.memory_clock_mhz = number;
    if (ask(api_.utilization, device, load)) {
      reading.gpu_util_percent = load.gpu;
      reading.memory_util_percent = load.memory;
    }
    if (ask(api_.memory, device, memory)) {
      reading.memory_used_bytes = static_cast<double>(memory.used);
    }
    if (ask(api_.temperature, device, number, nvml::kTemperatureGpu)) {
      reading.temperature_c = number;
    }
    if (ask(api_.throttle_reasons, device, wide)) reading.throttle_reasons = wide;
    return reading;
  }

 private:
  Status check(int code, const std::string& doing) const {
    return telemetry_status(code, doing, code != 0 ? api_.error_text(code) : nullptr);
  }

  void identify(SampledGpu& gpu, void* device) const {
    std::array<char, kTextLength> text = {};
    if (api_.name != nullptr && api_.name(device, text.data(), kTextLength - 1) == 0) {
      gpu.name = text.data();
    }
    text = {};
    if (api_.uuid != nullptr && api_.uuid(device, text.data(), kTextLength - 1) == 0) {
      gpu.uuid = text.data();
    }
    nvml::PciInfo pci = {};
    if (ask(api_.pci_info, device, pci)) {
      pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
      gpu.bus_id = pci.bus_id;
    }
    gpu.power_reading = "usage";
    for (const auto& [field, reading] : {std::pair{nvml::kFieldPowerInstant, "instant"},
                                         std::pair{nvml::kFieldPowerAverage, "average"}}) {
      if (gpu.power_reading == "usage" && field_power(device, field)) gpu.power_reading = reading;
    }
  }

  std::optional<double> field_power(void* device, unsigned field) const {
    nvml::FieldValue value = {};
    value.field = field;
    if (api_.field_values == nullptr || api_.field_values(device, 1, &value) != nvml::kSuccess ||
        value.result != nvml::kSuccess) {
      return std::nullopt;
    }
    return value.value.u * 1e-3;
  }

  double power(size_t place) const {
    void* device = devices_[place];
    const std::string& reading = gpus_[place].power_reading;
    if (reading != "usage") {
      const unsigned field =
          reading == "instant" ? nvml::kFieldPowerInstant : nvml::kFieldPowerAverage;
      return field_power(device, field).value_or(GpuReading::kUnknown);
    }
    unsigned mw = 0;
    return ask(api_.power_usage, device, mw) ? mw * 1e-3 : GpuReading::kUnknown;
  }

  nvml::TelemetryApi api_ = {};
  std::vector<void*> devices_;
};

}  // namespace

Result<std::unique_ptr<GpuTelemetry>> open_nvidia_telemetry(
    const std::vector<std::string>& libraries) {
  auto telemetry = std::make_unique<NvidiaTelemetry>();
  ASSAY_TRY(telemetry->open(libraries));
  return std::unique_ptr<GpuTelemetry>(std::move(telemetry));
}

}  // namespace assay
