#pragma once

// The part of AMD SMI's binary interface that Assay uses (amdsmi.h, AMD SMI 24 to 27, ROCm 6.1 to 7
// and later). tests/abi/amdsmi_headers.cc checks it against the header where that is installed.
// Only functions with the same arguments in all these versions are declared. Structures that grew
// or were reordered have only their first members here; their values identify the layout.

#include <cstddef>
#include <cstdint>

namespace assay::amdsmi {

// First member of amdsmi_version_t: the year of the release, in later versions the major version,
// which continued that count. 23 is unsupported: its power structure has other members than 24's.
constexpr uint32_t kOldestVersion = 24;
constexpr uint64_t kInitGpus = 2;             // AMDSMI_INIT_AMD_GPUS
constexpr uint64_t kInitCpus = 1;             // AMDSMI_INIT_AMD_CPUS
constexpr int kCpuSocket = 2;                 // AMDSMI_PROCESSOR_TYPE_AMD_CPU
constexpr int kNoPermission = 10;             // AMDSMI_STATUS_NO_PERM
constexpr int kSystemClock = 0;               // AMDSMI_CLK_TYPE_SYS
constexpr int kMemoryClock = 4;               // AMDSMI_CLK_TYPE_MEM
constexpr int kMemoryVram = 0;                // AMDSMI_MEM_TYPE_VRAM
constexpr int kTemperatureEdge = 0;           // AMDSMI_TEMPERATURE_TYPE_EDGE
constexpr int kTemperatureHotspot = 1;        // AMDSMI_TEMPERATURE_TYPE_HOTSPOT
constexpr int kTemperatureCurrent = 0;        // AMDSMI_TEMP_CURRENT
constexpr uint32_t kNotTold = 0xffff'ffff;    // value that this GPU does not report
constexpr size_t kMostStructureBytes = 8192;  // more than any structure of any version

// amdsmi_engine_usage_t begins with these.
struct Activity {
  uint32_t gfx_percent;
  uint32_t memory_percent;
};

// amdsmi_hsmp_metrics_table_t begins with these, without padding (the kernel's hsmp_metric_table,
// in arch/x86/include/uapi/asm/amd_hsmp.h, is packed to 4 bytes): HSMP protocol 6 alone has it.
#pragma pack(push, 4)
struct HsmpMetrics {
  uint32_t accumulation_counter;
  uint32_t temperatures[3];
  uint64_t temperatures_acc[3];
  uint32_t powers[3];
  uint64_t timestamp;  // of the energies, in 10 ns
  // Energies since an arbitrary origin, in 2^-16 J.
  uint64_t socket_energy_acc;
  uint64_t ccd_energy_acc;
  uint64_t xcd_energy_acc;
  uint64_t aid_energy_acc;
  uint64_t hbm_energy_acc;
};
#pragma pack(pop)
static_assert(offsetof(HsmpMetrics, timestamp) == 52);
static_assert(offsetof(HsmpMetrics, hbm_energy_acc) == 92);
constexpr uint32_t kHsmpProtocol = 6;

struct Api {
  int (*init)(uint64_t flags);
  int (*error_text)(int code, const char** text);
  int (*sockets)(uint32_t* count, void** sockets);
  int (*processors)(void* socket, uint32_t* count, void** processors);
  int (*version)(void* version);
  // Null if an older library lacks the function.
  int (*bus)(void* processor, uint64_t* bdf);  // function 3 bits, device 5, bus 8, domain 48
  int (*uuid)(void* processor, unsigned* length, char* text);
  int (*asic)(void* processor, void* info);  // info begins with the name
  int (*energy)(void* processor, uint64_t* count, float* microjoules_each, uint64_t* t_ns);
  int (*power)(void* processor, void* info);
  int (*clock)(void* processor, int type, void* frequencies);
  int (*activity)(void* processor, void* usage);
  int (*memory_used)(void* processor, int type, uint64_t* bytes);
  int (*temperature)(void* processor, int sensor, int metric, int64_t* celsius);
  int (*driver)(void* processor, void* info);                      // info begins with its version
  int (*power_cap)(void* processor, uint32_t sensor, void* info);  // info begins with it, 64 bits
  // Functions for CPUs: null in libraries built without E-SMI.
  int (*of_type)(void* socket, int type, void** processors, uint32_t* count);
  int (*hsmp_protocol)(void* cpu, uint32_t* version);
  int (*hsmp_metrics)(void* cpu, void* table);
};

}  // namespace assay::amdsmi
