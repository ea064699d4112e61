#pragma once

// Energies of the dies of an MI300A, by AMD SMI's HSMP metrics table (host system management port,
// protocol 6). The table is one of a CPU socket, and an MI300A is a socket with a GPU in it: its
// socket_energy_acc is the count that the driver of the GPU tells as the GPU's own
// (SocketEnergyAcc of drivers/gpu/drm/amd/pm/swsmu/inc/pmfw_if/smu_v13_0_6_pmfw.h), by which the
// GPU's socket is found. Other GPUs have no such table: that of MI300X holds the same counters, and
// the driver tells the package's alone.

#include <optional>
#include <string>

#include "devices/amd_energy.h"
#include "devices/amdsmi_abi.h"
#include "devices/gpu_device.h"

namespace assay {

struct AmdParts {
  void* cpu = nullptr;  // the socket whose table is read; null: none
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
