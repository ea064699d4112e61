#include "flow/host_pace.h"

#include <algorithm>

namespace assay {
namespace {

// PyTorch's profiler takes so much host time for each operator and call. The median and the ends
// are of recordings with a measured step without a profiler
// (docs/measured/2026-11-26-nvidia-h200.md).
constexpr double kLeastRowNs = 300;
constexpr double kRowNs = 2'300;
constexpr double kMostRowNs = 6'300;
// The least that is left of the host's time.
constexpr double kLeastPace = 0.05;
// The paces of two equal hosts differ so much from one recording to the next.
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
  }
  return "";
}

HostPace host_pace(const FlowReport& report, int64_t own_ns, bool as_recorded, double cpu_speed) {
  HostPace pace;
  const auto rows = static_cast<double>(report.evidence.host_rows);
  if (!as_recorded && report.evidence.ops && rows > 0 && own_ns > 0) {
    const auto left = [&](double row_ns) {
      return std::max(kLeastPace, 1 - rows * row_ns / static_cast<double>(own_ns));
    };
    pace = {HostPaceSource::kUntraced, left(kMostRowNs), left(kRowNs), left(kLeastRowNs)};
  }
  if (cpu_speed == 1) return pace;
  pace.source = HostPaceSource::kSpeed;
  pace.low *= (1 - kSpeedSpread) / cpu_speed;
  pace.middle /= cpu_speed;
  pace.high *= (1 + kSpeedSpread) / cpu_speed;
  return pace;
}

}  // namespace assay
