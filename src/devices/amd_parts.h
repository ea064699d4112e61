#pragma once

// Energies of the dies of an MI300A, by AMD SMI's HSMP metrics table (host system management port,
// protocol 6). The table is per CPU socket, and an MI300A is a socket with a GPU in it. Its
// socket_energy_acc equals the GPU's own count in the driver (SocketEnergyAcc of
// drivers/gpu/drm/amd/pm/swsmu/inc/pmfw_if/smu_v13_0_6_pmfw.h), which identifies the GPU's socket.
// Other GPUs have no such table. That of MI300X has the same counters, but the driver exposes only
// the package's.

#include <optional>
#include <string>

#include "devices/amd_energy.h"
#include "devices/amdsmi_abi.h"
#include "devices/gpu_device.h"

namespace assay {

struct AmdParts {
  void* cpu = nullptr;  // the socket of the table; null if none
  std::string told;     // which one it is, or why there is none
};

// hsmp: the kernel has a driver of it. Takes some milliseconds.
AmdParts find_amd_parts(const amdsmi::Api& api, void* gpu, bool hsmp);

// nullopt where cpu is null or its table does not answer.
std::optional<PartUnits> read_amd_parts(const amdsmi::Api& api, void* cpu);

// Mean powers between two reads. Not measured: what went back (a restart), or time that stood
// still.
PartPowers part_powers_w(const PartUnits& before, const PartUnits& now);

}  // namespace assay
