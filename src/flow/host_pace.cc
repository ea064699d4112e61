#include "flow/host_pace.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

// Host time in ns that PyTorch's profiler adds per operator and call: low, median, high over
// recordings with a measured step without a profiler (docs/measured/2026-11-26-nvidia-h200.md).
constexpr double kLeastRowNs = 300;
constexpr double kRowNs = 2'300;
constexpr double kMostRowNs = 6'300;
// Least fraction left of the host's time.
constexpr double kLeastPace = 0.05;
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

HostPace host_pace(const FlowReport& report, int64_t own_ns, bool as_recorded,
                   const OtherHost& other) {
  HostPace pace;
  const auto rows = static_cast<double>(report.evidence.host_rows);
  if (!as_recorded && report.evidence.ops && rows > 0 && own_ns > 0) {
    const auto left = [&](double row_ns) {
      return std::max(kLeastPace, 1 - rows * row_ns / static_cast<double>(own_ns));
    };
    pace = {HostPaceSource::kUntraced, left(kMostRowNs), left(kRowNs), left(kLeastRowNs),
            true};
  }
  if (other.source == HostPaceSource::kRecorded) return pace;
  pace.source = other.source;
  pace.low *= other.low;
  pace.middle *= other.middle;
  pace.high *= other.high;
  pace.other = other;
  return pace;
}

}  // namespace assay
