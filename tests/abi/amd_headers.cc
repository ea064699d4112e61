// Holds Assay's own declarations of HIP, hiprtc and ROCm-SMI against the vendor's headers, where
// they are installed (Debian: libamdhip64-dev, librocm-smi-dev). Nothing here runs: it compiles or
// it does not.

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <rocm_smi/rocm_smi.h>

#include <cstddef>

#include "abi/same_shape.h"
#include "collect/null_kernel/hip_abi.h"
#include "devices/gpu_runtime.h"
#include "devices/rsmi_abi.h"

namespace {

using assay::abi::same_shape;

using assay::GpuApi;
using assay::GpuCompilerApi;
using Smi = assay::rsmi::Api;

ASSAY_SAME(hipInit, GpuApi, init);
ASSAY_SAME(hipGetDeviceCount, GpuApi, device_count);
ASSAY_SAME(hipDeviceGet, GpuApi, device_get);
ASSAY_SAME(hipDeviceGetName, GpuApi, device_name);
ASSAY_SAME(hipDeviceGetPCIBusId, GpuApi, device_bus_id);
ASSAY_SAME(hipStreamCreateWithFlags, GpuApi, stream_create);
ASSAY_SAME(hipStreamSynchronize, GpuApi, stream_synchronize);
ASSAY_SAME(hipEventCreateWithFlags, GpuApi, event_create);
ASSAY_SAME(hipEventDestroy, GpuApi, event_destroy);
ASSAY_SAME(hipEventSynchronize, GpuApi, event_synchronize);
ASSAY_SAME(hipEventElapsedTime, GpuApi, event_elapsed);
ASSAY_SAME(hipFree, GpuApi, release);
ASSAY_SAME(hipMemcpyDtoDAsync, GpuApi, copy);
ASSAY_SAME(hipHostFree, GpuApi, host_release);
ASSAY_SAME(hipHostGetDevicePointer, GpuApi, host_device_pointer);
ASSAY_SAME(hipModuleLoadData, GpuApi, module_load);
ASSAY_SAME(hipModuleGetFunction, GpuApi, module_function);
ASSAY_SAME(hipModuleLaunchKernel, GpuApi, launch);
static_assert(same_shape(static_cast<hipError_t (*)(void**, size_t)>(&hipMalloc),
                         decltype(GpuApi::allocate){}));
static_assert(same_shape(static_cast<hipError_t (*)(void**, size_t, unsigned)>(&hipHostMalloc),
                         decltype(GpuApi::host_allocate){}));
static_assert(same_shape(static_cast<hipError_t (*)(hipEvent_t, hipStream_t)>(&hipEventRecord),
                         decltype(GpuApi::event_record){}));
static_assert(hipStreamNonBlocking == 1 && hipHostMallocMapped == 2);

ASSAY_SAME(hiprtcCreateProgram, GpuCompilerApi, create);
ASSAY_SAME(hiprtcCompileProgram, GpuCompilerApi, compile);
ASSAY_SAME(hiprtcGetProgramLogSize, GpuCompilerApi, log_size);
ASSAY_SAME(hiprtcGetProgramLog, GpuCompilerApi, log);
ASSAY_SAME(hiprtcGetCodeSize, GpuCompilerApi, code_size);
ASSAY_SAME(hiprtcGetCode, GpuCompilerApi, code);
ASSAY_SAME(hiprtcDestroyProgram, GpuCompilerApi, destroy);

// The null kernel's own table. hip_ext.h, which declares hipExtModuleLaunchKernel, is for AMD's
// compiler only.
using Null = assay::hip::Api;
using NullCompiler = assay::hip::CompilerApi;
ASSAY_SAME(hipInit, Null, init);
ASSAY_SAME(hipRuntimeGetVersion, Null, runtime_version);
ASSAY_SAME(hipGetDeviceCount, Null, device_count);
ASSAY_SAME(hipSetDevice, Null, set_device);
ASSAY_SAME(hipDeviceGetName, Null, device_name);
ASSAY_SAME(hipDeviceGetPCIBusId, Null, device_bus_id);
ASSAY_SAME(hipDeviceGetUuid, Null, device_uuid);
ASSAY_SAME(hipStreamCreateWithFlags, Null, stream_create);
ASSAY_SAME(hipStreamSynchronize, Null, stream_synchronize);
ASSAY_SAME(hipEventCreate, Null, event_create);
ASSAY_SAME(hipEventElapsedTime, Null, event_elapsed);
ASSAY_SAME(hipHostGetDevicePointer, Null, host_device_pointer);
ASSAY_SAME(hipModuleLoadData, Null, module_load);
ASSAY_SAME(hipModuleGetFunction, Null, module_function);
ASSAY_SAME(hipModuleLaunchKernel, Null, launch);
ASSAY_SAME(hipGetErrorName, Null, error_name);
ASSAY_SAME(hipGetErrorString, Null, error_text);
static_assert(same_shape(static_cast<hipError_t (*)(void**, size_t, unsigned)>(&hipHostMalloc),
                         decltype(Null::host_allocate){}));
static_assert(sizeof(hipUUID) == assay::hip::kUuidBytes);
static_assert((hipHostMallocMapped | hipHostMallocCoherent) == assay::hip::kMappedCoherent);
static_assert(hipStreamNonBlocking == assay::hip::kNonBlocking);
static_assert(hipErrorNoDevice == assay::hip::kNoDevice);
static_assert(hipErrorInvalidDevice == assay::hip::kInvalidDevice);
static_assert(offsetof(hipDeviceProp_t, gcnArchName) == (HIP_VERSION_MAJOR >= 6
                                                             ? assay::hip::kArchitectureAt
                                                             : assay::hip::kOldArchitectureAt));
static_assert(sizeof(hipDeviceProp_t) <= assay::hip::kPropertiesBytes);
ASSAY_SAME(hiprtcCreateProgram, NullCompiler, create);
ASSAY_SAME(hiprtcCompileProgram, NullCompiler, compile);
ASSAY_SAME(hiprtcGetProgramLogSize, NullCompiler, log_size);
ASSAY_SAME(hiprtcGetProgramLog, NullCompiler, log);
ASSAY_SAME(hiprtcGetCodeSize, NullCompiler, code_size);
ASSAY_SAME(hiprtcGetCode, NullCompiler, code);
ASSAY_SAME(hiprtcGetErrorString, NullCompiler, error_text);

ASSAY_SAME(rsmi_init, Smi, init);
ASSAY_SAME(rsmi_status_string, Smi, error_text);
ASSAY_SAME(rsmi_num_monitor_devices, Smi, device_count);
ASSAY_SAME(rsmi_dev_pci_id_get, Smi, pci_id);
ASSAY_SAME(rsmi_dev_unique_id_get, Smi, unique_id);
ASSAY_SAME(rsmi_dev_energy_count_get, Smi, energy);
ASSAY_SAME(rsmi_dev_power_cap_get, Smi, power_cap);
ASSAY_SAME(rsmi_version_str_get, Smi, driver_version);
using Telemetry = assay::rsmi::TelemetryApi;
ASSAY_SAME(rsmi_init, Telemetry, init);
ASSAY_SAME(rsmi_status_string, Telemetry, error_text);
ASSAY_SAME(rsmi_num_monitor_devices, Telemetry, device_count);
ASSAY_SAME(rsmi_dev_pci_id_get, Telemetry, pci_id);
ASSAY_SAME(rsmi_dev_unique_id_get, Telemetry, unique_id);
ASSAY_SAME(rsmi_dev_name_get, Telemetry, name);
ASSAY_SAME(rsmi_dev_energy_count_get, Telemetry, energy);
ASSAY_SAME(rsmi_dev_power_ave_get, Telemetry, average_power);
ASSAY_SAME(rsmi_dev_gpu_clk_freq_get, Telemetry, clock);
ASSAY_SAME(rsmi_dev_busy_percent_get, Telemetry, busy);
ASSAY_SAME(rsmi_dev_memory_busy_percent_get, Telemetry, memory_busy);
ASSAY_SAME(rsmi_dev_memory_usage_get, Telemetry, memory_used);
ASSAY_SAME(rsmi_dev_temp_metric_get, Telemetry, temperature);
static_assert(RSMI_CLK_TYPE_SYS == assay::rsmi::kSystemClock);
static_assert(RSMI_CLK_TYPE_MEM == assay::rsmi::kMemoryClock);
static_assert(RSMI_MEM_TYPE_VRAM == assay::rsmi::kMemoryVram);
static_assert(RSMI_TEMP_TYPE_EDGE == assay::rsmi::kTemperatureEdge);
static_assert(RSMI_TEMP_TYPE_JUNCTION == assay::rsmi::kTemperatureJunction);
static_assert(RSMI_TEMP_CURRENT == assay::rsmi::kTemperatureCurrent);
static_assert(sizeof(rsmi_frequencies_t) <= assay::rsmi::kMostFrequencyBytes);
// {num_supported, current, frequency}, with a flag at the front since ROCm 6.
static_assert(offsetof(rsmi_frequencies_t, current) ==
              offsetof(rsmi_frequencies_t, num_supported) + 4);
static_assert(offsetof(rsmi_frequencies_t, frequency) ==
              2 * offsetof(rsmi_frequencies_t, num_supported) + 8);
static_assert(offsetof(rsmi_frequencies_t, num_supported) <= 4);
static_assert(RSMI_STATUS_NOT_SUPPORTED == assay::rsmi::kNotSupported);
static_assert(RSMI_STATUS_PERMISSION == assay::rsmi::kPermission);
static_assert(RSMI_SW_COMP_DRIVER == assay::rsmi::kDriverComponent);

}  // namespace
