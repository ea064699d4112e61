#include "flow/cold_again.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/intervals.h"

namespace assay {
namespace {

// Per iteration: whether initialization leaves the devices idle for a fifth of the time or more.
std::vector<bool> cold_iterations(const FlowReport& report, const Windows& iterations) {
  std::vector<int64_t> cold_ns(iterations.windows.size(), 0);
  for (const DeviceFlow& device : report.devices) {
    std::vector<Interval> cold;
    for (const FlowSlice& slice : device.idle) {
      if (slice.cause == FlowCause::kCold) cold.push_back(slice.span);
    }
    cold = merge_intervals(std::move(cold));
    for (size_t i = 0; i < cold_ns.size(); ++i) {
      const Window& window = iterations.windows[i];
      cold_ns[i] += length_ns(clip(cold, {window.start_ns, window.end_ns}));
    }
  }
  const auto devices = static_cast<int64_t>(report.devices.size());
  std::vector<bool> held(cold_ns.size());
  for (size_t i = 0; i < cold_ns.size(); ++i) {
    const Window& window = iterations.windows[i];
    const int64_t all_ns = devices * (window.end_ns - window.start_ns);
    held[i] = all_ns > 0 && cold_ns[i] * 5 >= all_ns;
  }
  return held;
}

}  // namespace

uint64_t cold_again(const FlowReport& report, const Windows& iterations) {
  constexpr int64_t kLeastIterations = 4;
  if (iterations.source == WindowSource::kWholeTrace ||
      static_cast<int64_t>(iterations.windows.size()) < kLeastIterations) {
    return 0;
  }
  const std::vector<bool> held = cold_iterations(report, iterations);
  constexpr uint64_t kLeastTimes = 3;
  uint64_t times = held.front() ? 1 : 0;
  for (size_t i = 1; i < held.size(); ++i) times += held[i] && !held[i - 1] ? 1 : 0;
  const auto half = held.begin() + static_cast<std::ptrdiff_t>(held.size() / 2);
  const auto late = std::count(half, held.end(), true);
  const bool to_the_end = held.back() && late * 2 > held.end() - half;
  if (!to_the_end && times < kLeastTimes) return 0;
  return static_cast<uint64_t>(std::count(held.begin(), held.end(), true));
}

}  // namespace assay
