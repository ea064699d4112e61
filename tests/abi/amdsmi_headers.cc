// Holds Assay's own declarations of AMD SMI against the vendor's header, where that is installed
// (Debian 13: libamd-smi-dev). Nothing here runs: it compiles or it does not.

// What is of CPUs is declared under this name in some versions.
#define ENABLE_ESMI_LIB
#include <amd_smi/amdsmi.h>

#include <cstddef>

#include "abi/same_shape.h"
#include "devices/amdsmi_abi.h"

namespace {

using assay::amdsmi::Activity;
using assay::amdsmi::Api;

ASSAY_SAME(amdsmi_init, Api, init);
ASSAY_SAME(amdsmi_status_code_to_string, Api, error_text);
ASSAY_SAME(amdsmi_get_socket_handles, Api, sockets);
ASSAY_SAME(amdsmi_get_processor_handles, Api, processors);
ASSAY_SAME(amdsmi_get_lib_version, Api, version);
ASSAY_SAME(amdsmi_get_gpu_device_bdf, Api, bus);
ASSAY_SAME(amdsmi_get_gpu_device_uuid, Api, uuid);
ASSAY_SAME(amdsmi_get_gpu_asic_info, Api, asic);
ASSAY_SAME(amdsmi_get_energy_count, Api, energy);
ASSAY_SAME(amdsmi_get_power_info, Api, power);
ASSAY_SAME(amdsmi_get_clk_freq, Api, clock);
ASSAY_SAME(amdsmi_get_gpu_activity, Api, activity);
ASSAY_SAME(amdsmi_get_gpu_memory_usage, Api, memory_used);
ASSAY_SAME(amdsmi_get_temp_metric, Api, temperature);

ASSAY_SAME(amdsmi_get_gpu_driver_info, Api, driver);
ASSAY_SAME(amdsmi_get_power_cap_info, Api, power_cap);
ASSAY_SAME(amdsmi_get_processor_handles_by_type, Api, of_type);
ASSAY_SAME(amdsmi_get_cpu_hsmp_proto_ver, Api, hsmp_protocol);
ASSAY_SAME(amdsmi_get_hsmp_metrics_table, Api, hsmp_metrics);
static_assert(AMDSMI_INIT_AMD_CPUS == assay::amdsmi::kInitCpus);
static_assert(offsetof(amdsmi_hsmp_metrics_table_t, timestamp) ==
              offsetof(assay::amdsmi::HsmpMetrics, timestamp));
static_assert(offsetof(amdsmi_hsmp_metrics_table_t, socket_energy_acc) ==
              offsetof(assay::amdsmi::HsmpMetrics, socket_energy_acc));
static_assert(offsetof(amdsmi_hsmp_metrics_table_t, hbm_energy_acc) ==
              offsetof(assay::amdsmi::HsmpMetrics, hbm_energy_acc));
static_assert(sizeof(amdsmi_hsmp_metrics_table_t) <= assay::amdsmi::kMostStructureBytes);

static_assert(offsetof(amdsmi_driver_info_t, driver_version) == 0);
static_assert(sizeof(amdsmi_driver_info_t::driver_version) >= 64);
static_assert(offsetof(amdsmi_power_cap_info_t, power_cap) == 0);
static_assert(sizeof(amdsmi_power_cap_info_t::power_cap) == 8);

static_assert(AMDSMI_INIT_AMD_GPUS == assay::amdsmi::kInitGpus);
static_assert(AMDSMI_STATUS_SUCCESS == 0);
static_assert(AMDSMI_STATUS_NO_PERM == assay::amdsmi::kNoPermission);
static_assert(AMDSMI_MEM_TYPE_VRAM == assay::amdsmi::kMemoryVram);
static_assert(AMDSMI_TEMP_CURRENT == assay::amdsmi::kTemperatureCurrent);
// The names have their prefix since 24.6.
#if defined(AMDSMI_LIB_VERSION_YEAR) && AMDSMI_LIB_VERSION_YEAR == 24 && \
    AMDSMI_LIB_VERSION_MAJOR < 6
#define ASSAY_NAMED(name) name
#else
#define ASSAY_NAMED(name) AMDSMI_##name
#endif
static_assert(ASSAY_NAMED(CLK_TYPE_SYS) == assay::amdsmi::kSystemClock);
static_assert(ASSAY_NAMED(CLK_TYPE_MEM) == assay::amdsmi::kMemoryClock);
static_assert(ASSAY_NAMED(TEMPERATURE_TYPE_EDGE) == assay::amdsmi::kTemperatureEdge);
static_assert(ASSAY_NAMED(TEMPERATURE_TYPE_HOTSPOT) == assay::amdsmi::kTemperatureHotspot);

// The version's first number, by whichever of its two names.
#ifdef AMDSMI_LIB_VERSION_YEAR
static_assert(offsetof(amdsmi_version_t, year) == 0 && sizeof(amdsmi_version_t::year) == 4);
static_assert(AMDSMI_LIB_VERSION_YEAR >= assay::amdsmi::kOldestVersion);
#else
static_assert(offsetof(amdsmi_version_t, major) == 0 && sizeof(amdsmi_version_t::major) == 4);
static_assert(AMDSMI_LIB_VERSION_MAJOR >= assay::amdsmi::kOldestVersion);
#endif

// {current, average, gfx voltage, ...} in 32 bits each, or 64 bits of the socket's power before
// these two. A layout beside these must be told by the values first (socket_power_w).
template <typename Power>
constexpr bool power_is_known() {
  const size_t current = offsetof(Power, current_socket_power);
  const bool in_pair = offsetof(Power, average_socket_power) == current + 4 &&
                       sizeof(Power::current_socket_power) == 4;
  const size_t voltage = offsetof(Power, gfx_voltage);
  if constexpr (requires(Power power) { power.socket_power; }) {
    return in_pair && current == 8 && voltage == 16 && offsetof(Power, socket_power) == 0 &&
           sizeof(Power::socket_power) == 8;
  } else {
    return in_pair && current == 0 && voltage == 8 && sizeof(Power::gfx_voltage) == 4;
  }
}
static_assert(power_is_known<amdsmi_power_info_t>());

static_assert(sizeof(amdsmi_bdf_t) == sizeof(uint64_t));
static_assert(offsetof(amdsmi_asic_info_t, market_name) == 0);
static_assert(sizeof(amdsmi_asic_info_t::market_name) >= 64);
static_assert(offsetof(amdsmi_engine_usage_t, gfx_activity) == offsetof(Activity, gfx_percent));
static_assert(offsetof(amdsmi_engine_usage_t, umc_activity) == offsetof(Activity, memory_percent));
static_assert(offsetof(amdsmi_frequencies_t, num_supported) == 4);
static_assert(offsetof(amdsmi_frequencies_t, current) == 8);
static_assert(offsetof(amdsmi_frequencies_t, frequency) == 16);

constexpr size_t kMost = assay::amdsmi::kMostStructureBytes;
static_assert(sizeof(amdsmi_version_t) <= kMost && sizeof(amdsmi_asic_info_t) <= kMost);
static_assert(sizeof(amdsmi_power_info_t) <= kMost && sizeof(amdsmi_frequencies_t) <= kMost);
static_assert(sizeof(amdsmi_engine_usage_t) <= kMost);

}  // namespace
