#include "flow/host_pace.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

// Relative difference between recordings of equal hosts.
constexpr double kSpeedSpread = 0.1;

}  // namespace

std::string_view host_pace_name(HostPaceSource source) {
  switch (source) {
    case HostPaceSource::kUntraced:
      return "untraced";
    case HostPaceSource::kRecorded:
      return "recorded";
    case HostPaceSource::kSpeed:
      return "speed";
    case HostPaceSource::kLike:
      return "like";
  }
  return "";
}

OtherHost faster_host(double cpu_speed) {
  if (cpu_speed == 1) return {};
  return {.source = HostPaceSource::kSpeed,
          .low = (1 - kSpeedSpread) / cpu_speed,
          .middle = 1 / cpu_speed,
          .high = (1 + kSpeedSpread) / cpu_speed};
}

OtherHost host_of_recording(std::string recording, uint64_t names, double low, double middle,
                            double high) {
  return {.source = HostPaceSource::kLike,
          .low = std::min(low, (1 - kSpeedSpread) * middle),
          .middle = middle,
          .high = std::max(high, (1 + kSpeedSpread) * middle),
          .recording = std::move(recording),
          .names = names};
}

}  // namespace assay
