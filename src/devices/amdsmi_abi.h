#pragma once

// The part of AMD SMI's binary interface that Assay uses (amdsmi.h, AMD SMI 24 to 27: ROCm 6.1 to
// 7 and later); held against the header by tests/abi/amdsmi_headers.cc where that is installed.
// Only calls whose arguments kept their form over these versions; of the structures that grew or
// were reordered, the first members, and those in a way that tells the layout by its values.

#include <cstddef>
#include <cstdint>

namespace assay::amdsmi {

// amdsmi_version_t begins with the year of the release, later with the major version, which went on
// from it. The power of 23 begins as that of 24 does, with other members.
constexpr uint32_t kOldestVersion = 24;
constexpr uint64_t kInitGpus = 2;             // AMDSMI_INIT_AMD_GPUS
constexpr int kNoPermission = 10;             // AMDSMI_STATUS_NO_PERM
constexpr int kSystemClock = 0;               // AMDSMI_CLK_TYPE_SYS
constexpr int kMemoryClock = 4;               // AMDSMI_CLK_TYPE_MEM
constexpr int kMemoryVram = 0;                // AMDSMI_MEM_TYPE_VRAM
constexpr int kTemperatureEdge = 0;           // AMDSMI_TEMPERATURE_TYPE_EDGE
constexpr int kTemperatureHotspot = 1;        // AMDSMI_TEMPERATURE_TYPE_HOTSPOT
constexpr int kTemperatureCurrent = 0;        // AMDSMI_TEMP_CURRENT
constexpr uint32_t kNotTold = 0xffff'ffff;    // a member that this GPU does not have
constexpr uint32_t kNotToldShort = 0xffff;    // the same, widened from 16 bits
constexpr size_t kMostStructureBytes = 8192;  // more than any structure of any version

// amdsmi_engine_usage_t begins with these.
struct Activity {
  uint32_t gfx_percent;
  uint32_t memory_percent;
};

struct Api {
  int (*init)(uint64_t flags);
  int (*error_text)(int code, const char** text);
  int (*sockets)(uint32_t* count, void** sockets);
  int (*processors)(void* socket, uint32_t* count, void** processors);
  int (*version)(void* version);
  // Older libraries and other devices lack some: null.
  int (*bus)(void* processor, uint64_t* bdf);  // function 3 bits, device 5, bus 8, domain 48
  int (*uuid)(void* processor, unsigned* length, char* text);
  int (*asic)(void* processor, void* info);  // begins with the name
  int (*energy)(void* processor, uint64_t* count, float* microjoules_each, uint64_t* t_ns);
  int (*power)(void* processor, void* info);
  int (*clock)(void* processor, int type, void* frequencies);
  int (*activity)(void* processor, void* usage);
  int (*memory_used)(void* processor, int type, uint64_t* bytes);
  int (*temperature)(void* processor, int sensor, int metric, int64_t* celsius);
  int (*driver)(void* processor, void* info);                      // begins with its version
  int (*power_cap)(void* processor, uint32_t sensor, void* info);  // begins with it, 64 bits
};

}  // namespace assay::amdsmi
