#include "trace/device_names.h"

#include <algorithm>
#include <map>
#include <set>

namespace assay {
namespace {

// The name that all devices share, else empty: the header and the rows may number devices
// differently, as on ROCm.
std::string only_device_name(const Trace& trace) {
  std::set<std::string> names;
  for (const DeviceProperties& device : trace.devices) names.insert(device.name);
  return names.size() == 1 ? *names.begin() : "";
}

}  // namespace

std::string gpu_of_trace(const Trace& trace) {
  std::map<int64_t, uint64_t> per_device;
  for (size_t i = 0; i < trace.activities.size(); ++i) {
    if (trace.activities.kind[i] != ActivityKind::kKernel) continue;
    ++per_device[trace.streams[trace.activities.stream[i].index()].device];
  }
  std::string best;
  uint64_t most = 0;
  for (const auto& [device, count] : per_device) {
    const auto named =
        std::find_if(trace.devices.begin(), trace.devices.end(),
                     [id = device](const DeviceProperties& d) { return d.id == id; });
    if (count <= most || named == trace.devices.end()) continue;
    best = named->name;
    most = count;
  }
  return best.empty() ? only_device_name(trace) : best;
}

std::string device_name(const Trace& trace, int64_t device) {
  for (const DeviceProperties& one : trace.devices) {
    if (device < 0 || one.id == device) return one.name;
  }
  return {};
}

}  // namespace assay
