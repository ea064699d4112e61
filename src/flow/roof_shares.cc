#include "flow/roof_shares.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "roof/calls.h"
#include "roof/peaks.h"
#include "trace/label_windows.h"

namespace assay {
namespace {

constexpr double kNanosPerSecond = 1e9;

// The share of each call, 1 where it is not known.
std::vector<float> shares_of_calls(const FlowRun& run, const RoofCalls& found,
                                   std::string_view pattern, RoofShares& shares) {
  const Trace& trace = *run.trace;
  std::vector<double> spent_s(found.calls.size(), 0);
  std::vector<int64_t> device(found.calls.size(), 0);
  for (const FlowWork& work : run.works) {
    const uint32_t call = found.call[work.activity.index()];
    if (call == kNoCallWork) continue;
    spent_s[call] += static_cast<double>(work.end_ns - work.start_ns) / kNanosPerSecond;
    device[call] = trace.streams[trace.activities.stream[work.activity.index()].index()].device;
  }
  std::map<int64_t, DeviceRoof> roofs;
  std::vector<float> left(found.calls.size(), 1);
  for (size_t i = 0; i < found.calls.size(); ++i) {
    const CallWork& call = found.calls[i];
    if (!pattern.empty() && !matches_glob(trace.text(trace.ops.name[call.op.index()]), pattern))
      continue;
    shares.any_work = true;
    const auto [place, is_new] = roofs.try_emplace(device[i]);
    if (is_new) place->second = trace_roof(FactBook::built_in(), trace, device[i]);
    if (!place->second.exists()) continue;
    const RoofTime time = roof_time(place->second, call.work);
    if (std::isnan(time.compute_s) || spent_s[i] <= 0) continue;
    shares.any_roof = true;
    left[i] = static_cast<float>(std::min(1.0, time.at_least_s() / spent_s[i]));
  }
  return left;
}

}  // namespace

RoofShares roof_shares(const FlowRun& run, std::string_view pattern) {
  RoofShares shares;
  const RoofCalls found = find_roof_calls(*run.trace, *run.links, *run.kernels);
  const std::vector<float> left = shares_of_calls(run, found, pattern, shares);
  shares.left.assign(run.works.size(), 1);
  for (size_t w = 0; w < run.works.size(); ++w) {
    const uint32_t call = found.call[run.works[w].activity.index()];
    if (call == kNoCallWork) continue;
    shares.left[w] = left[call];
    if (left[call] < 1) ++shares.works;
  }
  return shares;
}

}  // namespace assay
