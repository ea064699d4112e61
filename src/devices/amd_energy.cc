#include "devices/amd_energy.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "base/dynamic_library.h"
#include "base/files.h"
#include "devices/amd_parts.h"
#include "devices/amdsmi_abi.h"
#include "devices/rsmi_abi.h"
#include "devices/telemetry_parts.h"

namespace assay {
namespace {

// A bus id such as "0000:c1:00.0", parsed.
struct BusAddress {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
};
std::optional<BusAddress> bus_address(const std::string& bus_id) {
  BusAddress at;
  const int parts =
      std::sscanf(bus_id.c_str(), "%x:%x:%x.%x", &at.domain, &at.bus, &at.device, &at.function);
  if (parts < 3) return std::nullopt;
  return at;
}

Error unknown_gpu(const char* library, const std::string& bus_id) {
  return Error{ErrorCode::kUnsupported,
               std::string(library) + " does not know the GPU at " + bus_id, "", -1};
}

constexpr const char* kReadCounter = "reading the energy accumulator";
constexpr const char* kNoCounterHint = "this GPU has no such counter (Instinct GPUs have it)";

// Reads the accumulator, which both libraries return in the same way. Returns the status code.
template <typename Call, typename Gpu>
int read_units(Call* energy, Gpu gpu, EnergyUnits& now) {
  float microjoules = 0;
  const int code = energy(gpu, &now.units, &microjoules, &now.t_ns);
  now.microjoules_each = static_cast<double>(microjoules);
  return code;
}

class RocmSmiEnergy final : public EnergyCounter {
 public:
  Status open(const std::vector<std::string>& libraries, const std::string& bus_id) {
    ASSAY_TRY_ASSIGN(const DynamicLibrary library,
                     DynamicLibrary::open(libraries, "ROCm-SMI is not installed here"));
    ASSAY_TRY(library.bind("rsmi_init", api_.init));
    ASSAY_TRY(library.bind("rsmi_status_string", api_.error_text));
    ASSAY_TRY(library.bind("rsmi_num_monitor_devices", api_.device_count));
    ASSAY_TRY(library.bind("rsmi_dev_pci_id_get", api_.pci_id));
    ASSAY_TRY(library.bind("rsmi_dev_unique_id_get", api_.unique_id));
    ASSAY_TRY(library.bind("rsmi_dev_energy_count_get", api_.energy));
    ASSAY_TRY(library.bind("rsmi_dev_power_cap_get", api_.power_cap));
    ASSAY_TRY(library.bind("rsmi_version_str_get", api_.driver_version));
    ASSAY_TRY(check(api_.init(0), "starting ROCm-SMI"));
    ASSAY_TRY(find(bus_id));
    look_around();
    auto first = read();
    return first ? Status(Ok{}) : Status(first.take_error());
  }

  Result<EnergyUnits> read() override {
    EnergyUnits now;
    ASSAY_TRY(check(read_units(api_.energy, device_, now), kReadCounter));
    return now;
  }
  EnergySource source() const override { return source_; }

 private:
  Status check(int code, const std::string& doing) const {
    const char* text = nullptr;
    if (code != 0) api_.error_text(code, &text);
    const char* hint = code == rsmi::kPermission     ? kAmdPermissionHint
                       : code == rsmi::kNotSupported ? kNoCounterHint
                                                     : "";
    return telemetry_status(code, doing, text, hint);
  }

  Status find(const std::string& bus_id) {
    const auto wanted = bus_address(bus_id);
    uint32_t devices = 0;
    ASSAY_TRY(check(api_.device_count(&devices), "counting GPUs"));
    // ROCm-SMI's number is domain, bus, device, function (rocm_smi.h, BDFID); its upper bits may
    // hold a partition.
    constexpr uint64_t kAddress = 0xffff'0000'ffff;
    for (uint32_t i = 0; i < devices && wanted; ++i) {
      const uint64_t number = uint64_t{wanted->domain} << 32 | uint64_t{wanted->bus} << 8 |
                              uint64_t{wanted->device} << 3 | wanted->function;
      uint64_t bdf = 0;
      if (api_.pci_id(i, &bdf) != 0 || (bdf & kAddress) != (number & kAddress)) continue;
      device_ = i;
      return Ok{};
    }
    return unknown_gpu("ROCm-SMI", bus_id);
  }

  void look_around() {
    source_.library = "ROCm-SMI";
    source_.parts = "ROCm-SMI reports only the power of the whole package";
    std::array<char, 96> text = {};
    if (api_.driver_version(rsmi::kDriverComponent, text.data(), text.size() - 1) == 0)
      source_.driver = text.data();
    uint64_t id = 0;
    if (api_.unique_id(device_, &id) == 0) {
      std::snprintf(text.data(), text.size(), "AMD-%016llx", static_cast<unsigned long long>(id));
      source_.uuid = text.data();
    }
    uint64_t microwatts = 0;
    if (api_.power_cap(device_, 0, &microwatts) == 0) {
      source_.power_limit_w = static_cast<double>(microwatts) * 1e-6;
    }
  }

  rsmi::Api api_ = {};
  uint32_t device_ = 0;
  EnergySource source_;
};

class AmdSmiEnergy final : public EnergyCounter {
 public:
  Status open(const std::vector<std::string>& libraries, const std::string& bus_id,
              const std::string& hsmp_device) {
    ASSAY_TRY_ASSIGN(const DynamicLibrary library,
                     DynamicLibrary::open(libraries, "AMD SMI is not installed here"));
    ASSAY_TRY(library.bind("amdsmi_init", api_.init));
    ASSAY_TRY(library.bind("amdsmi_status_code_to_string", api_.error_text));
    ASSAY_TRY(library.bind("amdsmi_get_socket_handles", api_.sockets));
    ASSAY_TRY(library.bind("amdsmi_get_processor_handles", api_.processors));
    ASSAY_TRY(library.bind("amdsmi_get_gpu_device_bdf", api_.bus));
    ASSAY_TRY(library.bind("amdsmi_get_energy_count", api_.energy));
    library.bind_if_there("amdsmi_get_gpu_device_uuid", api_.uuid);
    library.bind_if_there("amdsmi_get_gpu_driver_info", api_.driver);
    library.bind_if_there("amdsmi_get_power_cap_info", api_.power_cap);
    library.bind_if_there("amdsmi_get_processor_handles_by_type", api_.of_type);
    library.bind_if_there("amdsmi_get_cpu_hsmp_proto_ver", api_.hsmp_protocol);
    library.bind_if_there("amdsmi_get_hsmp_metrics_table", api_.hsmp_metrics);
    const bool hsmp = file_exists(hsmp_device);
    ASSAY_TRY(start(hsmp));
    ASSAY_TRY(find(bus_id));
    look_around();
    ASSAY_TRY_ASSIGN(const EnergyUnits first, read());
    if (first.t_ns == 0 || first.microjoules_each <= 0) {
      return Error{ErrorCode::kUnsupported,
                   "AMD SMI's energy accumulator has no unit or no time of its own", "", -1};
    }
    parts_ = find_amd_parts(api_, gpu_, hsmp);
    source_.parts = parts_.told;
    return Ok{};
  }

  Result<EnergyUnits> read() override {
    EnergyUnits now;
    ASSAY_TRY(check(read_units(api_.energy, gpu_, now), kReadCounter));
    return now;
  }
  std::optional<PartUnits> read_parts() override { return read_amd_parts(api_, parts_.cpu); }
  EnergySource source() const override { return source_; }

 private:
  Status check(int code, const std::string& doing) const {
    return amd_smi_status(api_, code, doing);
  }

  // The library is started once per process, so CPUs are included then or never. Old versions fail
  // and write to standard output if the CPUs' driver is missing, so it is checked before.
  Status start(bool with_cpus) const {
    const uint64_t both = amdsmi::kInitGpus | amdsmi::kInitCpus;
    if (with_cpus && api_.hsmp_metrics != nullptr && api_.init(both) == 0) return Ok{};
    return check(api_.init(amdsmi::kInitGpus), "starting AMD SMI");
  }

  Status find(const std::string& bus_id) {
    constexpr uint32_t kMost = 256;
    const auto wanted = bus_address(bus_id);
    uint32_t count = kMost;
    std::array<void*, kMost> sockets = {};
    ASSAY_TRY(check(api_.sockets(&count, sockets.data()), "listing the sockets"));
    Status listed = Ok{};
    for (uint32_t i = 0; i < std::min(count, kMost) && wanted; ++i) {
      uint32_t found = kMost;
      std::array<void*, kMost> processors = {};
      // A CPU-only socket may have none.
      const int code = api_.processors(sockets[i], &found, processors.data());
      if (code != 0) listed = check(code, "listing the GPUs");
      if (code != 0) continue;
      for (uint32_t k = 0; k < std::min(found, kMost); ++k) {
        if (!lies_at(processors[k], *wanted)) continue;
        gpu_ = processors[k];
        return Ok{};
      }
    }
    ASSAY_TRY(listed);
    return unknown_gpu("AMD SMI", bus_id);
  }

  // Partitions of one GPU differ in the function alone and share its accumulator.
  bool lies_at(void* processor, const BusAddress& wanted) const {
    uint64_t bdf = 0;
    if (api_.bus(processor, &bdf) != 0) return false;
    return (bdf >> 16) == wanted.domain && (bdf >> 8 & 0xff) == wanted.bus &&
           (bdf >> 3 & 0x1f) == wanted.device;
  }

  void look_around() {
    source_.library = "AMD SMI";
    std::array<char, 256> text = {};
    unsigned length = text.size() - 1;
    if (api_.uuid != nullptr && api_.uuid(gpu_, &length, text.data()) == 0) {
      source_.uuid = text.data();
    }
    std::vector<unsigned char> structure(amdsmi::kMostStructureBytes);
    if (api_.driver != nullptr && api_.driver(gpu_, structure.data()) == 0) {
      constexpr size_t kVersionBytes = 64;  // of the shortest version of the structure
      const auto* version = reinterpret_cast<const char*>(structure.data());
      source_.driver.assign(version, ::strnlen(version, kVersionBytes));
    }
    std::fill(structure.begin(), structure.end(), 0);
    if (api_.power_cap == nullptr || api_.power_cap(gpu_, 0, structure.data()) != 0) return;
    uint64_t cap = 0;
    std::memcpy(&cap, structure.data(), sizeof(cap));
    // In W; in newer versions, in uW.
    const auto told = static_cast<double>(cap);
    source_.power_limit_w = told > kMostPackageWatts ? told * 1e-6 : told;
  }

  amdsmi::Api api_ = {};
  void* gpu_ = nullptr;
  EnergySource source_;
  AmdParts parts_;
};

template <typename Counter, typename... Arguments>
Result<std::unique_ptr<EnergyCounter>> open_counter(const Arguments&... arguments) {
  auto counter = std::make_unique<Counter>();
  ASSAY_TRY(counter->open(arguments...));
  return std::unique_ptr<EnergyCounter>(std::move(counter));
}

}  // namespace

Result<std::unique_ptr<EnergyCounter>> open_amd_smi_energy(
    const std::vector<std::string>& libraries, const std::string& bus_id,
    const std::string& hsmp_device) {
  return open_counter<AmdSmiEnergy>(libraries, bus_id, hsmp_device);
}

Result<std::unique_ptr<EnergyCounter>> open_rocm_smi_energy(
    const std::vector<std::string>& libraries, const std::string& bus_id) {
  return open_counter<RocmSmiEnergy>(libraries, bus_id);
}

}  // namespace assay
