#pragma once

// The part of ROCm-SMI's binary interface that Assay uses (rocm_smi.h, stable since ROCm 4).
// tests/abi/amd_headers.cc checks it against the header where that is installed.

#include <cstddef>
#include <cstdint>

namespace assay::rsmi {

constexpr int kNotSupported = 2;              // RSMI_STATUS_NOT_SUPPORTED
constexpr int kPermission = 4;                // RSMI_STATUS_PERMISSION
constexpr int kDriverComponent = 0;           // RSMI_SW_COMP_DRIVER
constexpr int kSystemClock = 0;               // RSMI_CLK_TYPE_SYS
constexpr int kMemoryClock = 4;               // RSMI_CLK_TYPE_MEM
constexpr int kMemoryVram = 0;                // RSMI_MEM_TYPE_VRAM
constexpr uint32_t kTemperatureEdge = 0;      // RSMI_TEMP_TYPE_EDGE
constexpr uint32_t kTemperatureJunction = 1;  // RSMI_TEMP_TYPE_JUNCTION
constexpr int kTemperatureCurrent = 0;        // RSMI_TEMP_CURRENT

struct Api {
  int (*init)(uint64_t flags);
  int (*error_text)(int code, const char** text);
  int (*device_count)(uint32_t* count);
  int (*pci_id)(uint32_t device, uint64_t* bdf);
  int (*unique_id)(uint32_t device, uint64_t* id);
  int (*energy)(uint32_t device, uint64_t* count, float* microjoules_each, uint64_t* t_ns);
  int (*power_cap)(uint32_t device, uint32_t sensor, uint64_t* microwatts);
  int (*driver_version)(int component, char* text, uint32_t length);
};

constexpr size_t kMostFrequencyBytes = 1024;  // more than rsmi_frequencies_t of any version

// Functions for telemetry. Null if an older library lacks one.
struct TelemetryApi {
  int (*init)(uint64_t flags);
  int (*error_text)(int code, const char** text);
  int (*device_count)(uint32_t* count);
  int (*pci_id)(uint32_t device, uint64_t* bdf);
  int (*unique_id)(uint32_t device, uint64_t* id);
  int (*name)(uint32_t device, char* text, size_t length);
  int (*energy)(uint32_t device, uint64_t* count, float* microjoules_each, uint64_t* t_ns);
  int (*power)(uint32_t device, uint64_t* microwatts, int* type);  // since ROCm 6
  int (*average_power)(uint32_t device, uint32_t sensor, uint64_t* microwatts);
  int (*clock)(uint32_t device, int type, void* frequencies);
  int (*busy)(uint32_t device, uint32_t* percent);
  int (*memory_busy)(uint32_t device, uint32_t* percent);
  int (*memory_used)(uint32_t device, int type, uint64_t* bytes);
  int (*temperature)(uint32_t device, uint32_t sensor, int metric, int64_t* millicelsius);
};

}  // namespace assay::rsmi
