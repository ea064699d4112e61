#pragma once

// The pace of the host without the profiler that recorded the run.

#include <cstdint>
#include <string_view>

#include "flow/flow.h"

namespace assay {

enum class HostPaceSource : uint8_t {
  kUntraced,  // without what the profiler took of each row
  kRecorded,  // as recorded
  kSpeed,     // a host so many times as fast, without the profiler or with it
};
std::string_view host_pace_name(HostPaceSource source);  // "untraced", ...

// Factors of the host's own time; `low` is the fastest host.
struct HostPace {
  HostPaceSource source = HostPaceSource::kRecorded;
  double low = 1;
  double middle = 1;
  double high = 1;
};

// own_ns: the host's own time on the critical path of the run with kernels that take no time.
HostPace host_pace(const FlowReport& report, int64_t own_ns, bool as_recorded, double cpu_speed);

}  // namespace assay
