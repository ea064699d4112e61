#include "devices/amd_parts.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "devices/telemetry_parts.h"

namespace assay {
namespace {

constexpr double kUnitMicrojoules = 1e6 / 65536;  // of the table, and of the GPU's counter

// Status of the call, and the table if it is 0. The buffer fits every version of the structure.
std::pair<int, amdsmi::HsmpMetrics> metrics_of(const amdsmi::Api& api, void* cpu) {
  std::vector<unsigned char> bytes(amdsmi::kMostStructureBytes);
  amdsmi::HsmpMetrics table = {};
  const int code = api.hsmp_metrics(cpu, bytes.data());
  std::memcpy(&table, bytes.data(), sizeof(table));
  return {code, table};
}

std::vector<void*> cpu_sockets(const amdsmi::Api& api) {
  constexpr uint32_t kMost = 256;
  std::vector<void*> cpus;
  std::array<void*, kMost> sockets = {};
  uint32_t count = kMost;
  if (api.sockets(&count, sockets.data()) != 0) return cpus;
  for (uint32_t i = 0; i < std::min(count, kMost); ++i) {
    std::array<void*, kMost> found = {};
    uint32_t of_it = kMost;
    if (api.of_type(sockets[i], amdsmi::kCpuSocket, found.data(), &of_it) != 0) continue;
    cpus.insert(cpus.end(), found.begin(), found.begin() + std::min(of_it, kMost));
  }
  return cpus;
}

std::string failure(const amdsmi::Api& api, int code, const char* doing) {
  return amd_smi_status(api, code, doing).error().message;
}

// Reason why the socket's table cannot be read as protocol 6; empty if it can.
std::string unreadable(const amdsmi::Api& api, void* cpu) {
  uint32_t protocol = 0;
  if (const int code = api.hsmp_protocol(cpu, &protocol); code != 0) {
    return failure(api, code, "asking for the protocol of HSMP");
  }
  if (protocol != amdsmi::kHsmpProtocol) {
    return "HSMP's protocol is " + std::to_string(protocol) + " here, and only " +
           std::to_string(amdsmi::kHsmpProtocol) + " (MI300A) has energies of the dies";
  }
  const int code = metrics_of(api, cpu).first;
  return code == 0 ? "" : failure(api, code, "reading HSMP's metrics table");
}

struct GpuCount {
  bool told = false;
  uint64_t units = 0;
};
GpuCount gpu_count(const amdsmi::Api& api, void* gpu) {
  GpuCount count;
  float microjoules = 0;
  uint64_t t_ns = 0;
  // Older libraries round the unit to 15.3 uJ.
  count.told = api.energy(gpu, &count.units, &microjoules, &t_ns) == 0 &&
               std::fabs(static_cast<double>(microjoules) - kUnitMicrojoules) < 0.1;
  return count;
}

// True if the socket's energy lies between two samples of the GPU's energy. The GPU driver caches a sample for 1 ms, so the second one waits longer.
bool same_package(const amdsmi::Api& api, void* gpu, void* cpu) {
  const GpuCount before = gpu_count(api, gpu);
  const auto [code, table] = metrics_of(api, cpu);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  const GpuCount after = gpu_count(api, gpu);
  return code == 0 && before.told && after.told && before.units <= table.socket_energy_acc &&
         table.socket_energy_acc <= after.units;
}

}  // namespace

AmdParts find_amd_parts(const amdsmi::Api& api, void* gpu, bool hsmp) {
  const auto none = [](std::string why) { return AmdParts{nullptr, std::move(why)}; };
  if (!hsmp) {
    return none(
        "AMD SMI reports the power of a GPU's whole package only. This kernel lacks the HSMP "
        "driver (amd_hsmp), by which an MI300A reports that of its dies");
  }
  if (api.hsmp_metrics == nullptr || api.hsmp_protocol == nullptr || api.of_type == nullptr) {
    return none("this AMD SMI has no amdsmi_get_hsmp_metrics_table");
  }
  const std::vector<void*> cpus = cpu_sockets(api);
  if (cpus.empty()) return none("AMD SMI lists no CPU here with an HSMP to read");
  std::vector<size_t> same;
  for (size_t i = 0; i < cpus.size(); ++i) {
    if (std::string why = unreadable(api, cpus[i]); !why.empty()) return none(std::move(why));
    if (same_package(api, gpu, cpus[i])) same.push_back(i);
  }
  if (same.size() != 1) {
    return none(std::string(same.empty() ? "no socket's" : "more than one socket's") +
                " energy in HSMP's metrics table is the GPU's, so that its dies are not known");
  }
  return {cpus[same[0]],
          "HSMP metrics table of socket " + std::to_string(same[0]) +
              ", with the GPU's energy; the rest includes what the CPU's cores draw"};
}

std::optional<PartUnits> read_amd_parts(const amdsmi::Api& api, void* cpu) {
  if (cpu == nullptr) return std::nullopt;
  const auto [code, table] = metrics_of(api, cpu);
  if (code != 0) return std::nullopt;
  return PartUnits{table.timestamp,
                   {table.xcd_energy_acc, table.aid_energy_acc, table.hbm_energy_acc}};
}

PartPowers part_powers_w(const PartUnits& before, const PartUnits& now) {
  PartPowers powers = kNoParts;
  if (now.t_10ns <= before.t_10ns) return powers;
  const double seconds = static_cast<double>(now.t_10ns - before.t_10ns) * 1e-8;
  for (size_t i = 0; i < powers.size(); ++i) {
    // Unsigned: a decrease becomes a huge number, which the limit rejects.
    const double joules =
        static_cast<double>(now.units[i] - before.units[i]) * kUnitMicrojoules * 1e-6;
    if (joules <= kMostPackageWatts * seconds) powers[i] = joules / seconds;
  }
  return powers;
}

}  // namespace assay
