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
  const auto busiest =
      std::max_element(per_device.begin(), per_device.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto named =
      std::find_if(trace.devices.begin(), trace.devices.end(), [&](const DeviceProperties& d) {
        return busiest != per_device.end() && d.id == busiest->first;
      });
  return named == trace.devices.end() ? only_device_name(trace) : named->name;
}

std::string device_name(const Trace& trace, int64_t device) {
  for (const DeviceProperties& one : trace.devices) {
    if (device < 0 || one.id == device) return one.name;
  }
  return {};
}

}  // namespace assay
