#pragma once

// The host's pace without the profiler, or of another host.

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

enum class HostPaceSource : uint8_t {
  kUntraced,  // without the profiler's overhead per event
  kRecorded,  // as recorded
  kSpeed,     // a host faster by a factor, with or without the profiler
  kLike,      // the host of another recording, with or without the profiler
};
std::string_view host_pace_name(HostPaceSource source);  // "untraced", ...

// Another host: its time as a factor of the recorded host's, with a 90 % interval.
struct OtherHost {
  HostPaceSource source = HostPaceSource::kRecorded;  // kSpeed, kLike, or the same host
  double low = 1;
  double middle = 1;
  double high = 1;
  std::string recording = {};  // the recording of this host
  uint64_t names = 0;          // operator and launch names with equal counts in both recordings
};
OtherHost faster_host(double cpu_speed);
// low, high: range over single operators and calls; widened to at least 10 % around middle.
OtherHost host_of_recording(std::string recording, uint64_t names, double low, double middle,
                            double high);

// The run without kernels over the same run as recorded; `low` is the fastest host.
struct HostPace {
  HostPaceSource source = HostPaceSource::kRecorded;
  double low = 1;
  double middle = 1;
  double high = 1;
  bool untraced = false;  // without the profiler's overhead
  OtherHost other = {};
};

}  // namespace assay
