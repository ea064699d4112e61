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
  std::string told;     // which socket it is, or why there is none
};

// Finds the GPU's socket. hsmp: the kernel has an HSMP driver. Takes 3 ms per socket.
AmdParts find_amd_parts(const amdsmi::Api& api, void* gpu, bool hsmp);

// nullopt if cpu is null or its table cannot be read.
std::optional<PartUnits> read_amd_parts(const amdsmi::Api& api, void* cpu);

// Mean powers in W between two reads. NaN for a counter that went backwards (a restart) or implies
// an implausible power, and for all if the table's time did not advance.
PartPowers part_powers_w(const PartUnits& before, const PartUnits& now);

}  // namespace assay
