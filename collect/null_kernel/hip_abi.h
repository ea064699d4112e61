#pragma once

// The part of the HIP and hiprtc binary interface that the null kernel uses, ROCm 5 to 7.
// tests/abi/amd_headers.cc compares it with AMD's headers if they are installed.

#include <cstddef>
#include <cstdint>

namespace assay::hip {

constexpr unsigned kMappedCoherent = 0x40000002;  // hipHostMallocMapped | hipHostMallocCoherent
constexpr unsigned kNonBlocking = 1;              // hipStreamNonBlocking
constexpr int kNoDevice = 100;                    // hipErrorNoDevice
constexpr int kInvalidDevice = 101;               // hipErrorInvalidDevice: ROCm 5 returns this one
constexpr size_t kUuidBytes = 16;                 // hipUUID: characters, not terminated

// Offset of "gfx90a:sramecc+:xnack-" in hipDeviceProp_t, and a buffer size for the whole structure.
// ROCm 6 changed the layout and renamed the getter. The old name fills the old layout in every
// version, ROCm 7 included.
constexpr const char* kPropertiesName = "hipGetDevicePropertiesR0600";
constexpr size_t kArchitectureAt = 1160;
constexpr const char* kOldPropertiesName = "hipGetDeviceProperties";
constexpr size_t kOldArchitectureAt = 396;
constexpr size_t kPropertiesBytes = 8192;
constexpr size_t kArchitectureBytes = 256;

// A C++ function in ROCm 5, a C function in later versions.
constexpr const char* kTimedLaunchName = "hipExtModuleLaunchKernel";
constexpr const char* kOldTimedLaunchName =
    "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_"
    "j";

struct Uuid {
  char text[kUuidBytes];
};

struct Api {
  int (*init)(unsigned flags);
  int (*runtime_version)(int* version);
  int (*device_count)(int* count);
  int (*set_device)(int device);
  int (*device_name)(char* name, int length, int device);
  int (*device_bus_id)(char* id, int length, int device);
  int (*device_uuid)(Uuid* uuid, int device);
  int (*properties)(void* properties, int device);
  int (*stream_create)(void** stream, unsigned flags);
  int (*stream_synchronize)(void* stream);
  int (*event_create)(void** event);
  int (*event_elapsed)(float* ms, void* start, void* end);
  int (*host_allocate)(void** address, size_t bytes, unsigned flags);
  int (*host_device_pointer)(void** device, void* host, unsigned flags);
  int (*module_load)(void** module, const void* image);
  int (*module_function)(void** function, void* module, const char* name);
  int (*launch)(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                unsigned bz, unsigned shared, void* stream, void** arguments, void** extra);
  // Sizes are in threads, not blocks. The events receive the kernel's own start and end.
  int (*timed_launch)(void* function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                      uint32_t by, uint32_t bz, size_t shared, void* stream, void** arguments,
                      void** extra, void* start, void* stop, uint32_t flags);
  const char* (*error_name)(int code);
  const char* (*error_text)(int code);
};

struct CompilerApi {
  int (*create)(void** program, const char* source, const char* name, int headers,
                const char* const* header_texts, const char* const* header_names);
  int (*compile)(void* program, int options, const char* const* texts);
  int (*log_size)(void* program, size_t* bytes);
  int (*log)(void* program, char* text);
  int (*code_size)(void* program, size_t* bytes);
  int (*code)(void* program, char* code);
  const char* (*error_text)(int code);
};

}  // namespace assay::hip
