#pragma once

// The part of NVML's binary interface that Assay uses (nvml.h, stable since R450; field numbers
// 185 and 186 exist since R530). If a structure changes, NVML gives its function a new name.

#include <cstdint>

namespace assay::nvml {

constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kNoPermission = 4;
constexpr int kNotFound = 6;  // no sample since the time given
constexpr int kDriverNotLoaded = 9;

constexpr unsigned kFieldPowerAverage = 185;  // NVML_FI_DEV_POWER_AVERAGE, mW
constexpr unsigned kFieldPowerInstant = 186;  // NVML_FI_DEV_POWER_INSTANT, mW

constexpr int kTotalPowerSamples = 0;  // NVML_TOTAL_POWER_SAMPLES, mW

union Value {
  double d;
  int i;
  unsigned u;
  unsigned long ul;
  unsigned long long ull;
};
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp_us;  // CPU, since 1970
  long long latency_us;
  int value_type;
  int result;
  Value value;
};
static_assert(sizeof(Value) == 8 && sizeof(FieldValue) == 40);

struct Sample {
  unsigned long long timestamp_us;  // CPU, since 1970
  Value value;
};
static_assert(sizeof(Sample) == 16);

constexpr int kClockSm = 1;         // NVML_CLOCK_SM
constexpr int kClockMemory = 2;     // NVML_CLOCK_MEM
constexpr int kTemperatureGpu = 0;  // NVML_TEMPERATURE_GPU

struct PciInfo {  // nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

struct Memory {  // nvmlMemory_t of nvmlDeviceGetMemoryInfo
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

// nvmlValueType_t
enum ValueType : int { kDouble = 0, kUnsigned = 1, kUnsignedLong = 2, kUnsignedLongLong = 3 };

struct Api {
  int (*init)();
  const char* (*error_text)(int code);
  int (*by_bus_id)(const char* bus_id, void** device);
  int (*driver_version)(char* text, unsigned length);
  int (*uuid)(void* device, char* text, unsigned length);
  int (*power_usage)(void* device, unsigned* mw);
  int (*field_values)(void* device, int count, FieldValue* values);
  int (*samples)(void* device, int type, unsigned long long since_us, int* value_type,
                 unsigned* count, Sample* samples);
  int (*energy)(void* device, unsigned long long* mj);
  int (*enforced_limit)(void* device, unsigned* mw);
  int (*mig_mode)(void* device, unsigned* current, unsigned* pending);
};

// Functions for telemetry. Null if an older driver lacks one.
struct TelemetryApi {
  int (*init)();
  const char* (*error_text)(int code);
  int (*count)(unsigned* devices);
  int (*by_index)(unsigned index, void** device);
  int (*name)(void* device, char* text, unsigned length);
  int (*uuid)(void* device, char* text, unsigned length);
  int (*pci_info)(void* device, PciInfo* info);
  int (*power_usage)(void* device, unsigned* mw);
  int (*field_values)(void* device, int count, FieldValue* values);
  int (*energy)(void* device, unsigned long long* mj);
  int (*clock)(void* device, int type, unsigned* mhz);
  int (*utilization)(void* device, Utilization* percent);
  int (*memory)(void* device, Memory* bytes);
  int (*temperature)(void* device, int sensor, unsigned* celsius);
  int (*throttle_reasons)(void* device, unsigned long long* reasons);
};

}  // namespace assay::nvml
