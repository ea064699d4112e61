#pragma once

// The pace of the host without the profiler that recorded the run.

#include <cstdint>
#include <string>
#include <string_view>

#include "flow/flow.h"

namespace assay {

enum class HostPaceSource : uint8_t {
  kUntraced,  // without what the profiler took of each row
  kRecorded,  // as recorded
  kSpeed,     // a host so many times as fast, without the profiler or with it
  kLike,      // the host of another recording, without the profiler or with it
};
std::string_view host_pace_name(HostPaceSource source);  // "untraced", ...

// Another host: factors of its time over the recorded one's, with the ends of a 90 % interval.
struct OtherHost {
  HostPaceSource source = HostPaceSource::kRecorded;  // kSpeed, kLike, or the same host
  double low = 1;
  double middle = 1;
  double high = 1;
  std::string recording = {};  // that shows this host
  uint64_t names = 0;          // operators and launch calls that both recordings have as often
};
OtherHost faster_host(double cpu_speed);
// low to high: of single operators and calls.
OtherHost host_of_recording(std::string recording, uint64_t names, double low, double middle,
                            double high);

// Factors of the host's own time; `low` is the fastest host.
struct HostPace {
  HostPaceSource source = HostPaceSource::kRecorded;
  double low = 1;
  double middle = 1;
  double high = 1;
  bool untraced = false;  // without what the profiler took
  OtherHost other = {};
};

// own_ns: the host's own time on the critical path of the run with kernels that take no time.
HostPace host_pace(const FlowReport& report, int64_t own_ns, bool as_recorded,
                   const OtherHost& other);

}  // namespace assay
