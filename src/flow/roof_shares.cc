#include "flow/roof_shares.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "roof/calls.h"
#include "roof/peaks.h"
#include "trace/label_windows.h"

namespace assay {
namespace {

constexpr double kNanosPerSecond = 1e9;

// Calls of operators, those that launch and those that were recorded and run again in each replay.
class Calls {
 public:
  Calls(const FlowRun& run, const RoofSources& sources)
      : run_(run),
        replays_(sources.replays),
        found_(find_roof_calls(*run.trace, *run.links, *run.kernels)),
        replayed_(run.trace->activities.size(), nullptr) {
    if (replays_ == nullptr) return;
    for (const ReplayedActivity& one : replays_->activities) replayed_[one.activity.index()] = &one;
    for (const FlowWork& work : run.works) add_replayed(work.activity);
  }

  // Into of(); kNoCallWork: none is known.
  uint32_t call_of(ActivityId activity) const {
    const ReplayedActivity* one = replayed_[activity.index()];
    if (one == nullptr) return found_.call[activity.index()];
    const auto place = again_.find({one->launch, replays_->nodes[one->node].call});
    return place == again_.end() ? kNoCallWork : place->second;
  }
  size_t size() const { return found_.calls.size() + recorded_.size(); }
  std::string_view op(uint32_t call) const {
    if (call >= found_.calls.size()) return recorded_[call - found_.calls.size()].op;
    const Trace& trace = *run_.trace;
    return trace.text(trace.ops.name[found_.calls[call].op.index()]);
  }
  const OpWork& work(uint32_t call) const {
    return call < found_.calls.size() ? found_.calls[call].work
                                      : recorded_[call - found_.calls.size()].work;
  }

 private:
  void add_replayed(ActivityId activity) {
    const ReplayedActivity* one = replayed_[activity.index()];
    const CapturedCall* call = one == nullptr ? nullptr : replayed_call(*replays_, *one);
    if (call == nullptr) return;
    const auto next = static_cast<uint32_t>(size());
    const auto [place, is_new] =
        again_.try_emplace({one->launch, replays_->nodes[one->node].call}, next);
    if (is_new) recorded_.push_back(*call);
    const KernelFacts facts = run_.kernels->of(run_.trace->activities.name[activity.index()]);
    recorded_[place->second - found_.calls.size()].work.multiply_as(
        element_type_named(facts.data_type));
  }

  const FlowRun& run_;
  const ReplayReport* replays_;
  RoofCalls found_;
  std::vector<const ReplayedActivity*> replayed_;            // per activity
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> again_;  // launch and recorded call
  std::vector<CapturedCall> recorded_;                       // behind those found
};

// The share of each call, 1 where it is not known.
std::vector<float> shares_of_calls(const FlowRun& run, const Calls& calls, std::string_view pattern,
                                   const RoofSources& sources, RoofShares& shares) {
  const Trace& trace = *run.trace;
  std::vector<double> spent_s(calls.size(), 0);
  std::vector<int64_t> device(calls.size(), 0);
  for (const FlowWork& work : run.works) {
    const uint32_t call = calls.call_of(work.activity);
    if (call == kNoCallWork) continue;
    spent_s[call] += static_cast<double>(work.end_ns - work.start_ns) / kNanosPerSecond;
    device[call] = trace.streams[trace.activities.stream[work.activity.index()].index()].device;
  }
  const FactBook& facts = sources.facts == nullptr ? FactBook::built_in() : *sources.facts;
  std::map<int64_t, DeviceRoof> roofs;
  std::vector<float> left(calls.size(), 1);
  for (uint32_t i = 0; i < calls.size(); ++i) {
    if (!pattern.empty() && !matches_glob(calls.op(i), pattern)) continue;
    shares.any_work = true;
    const auto [place, is_new] = roofs.try_emplace(device[i]);
    if (is_new) place->second = trace_roof(facts, trace, device[i], sources.device);
    if (!place->second.exists()) continue;
    const RoofTime time = roof_time(place->second, calls.work(i));
    if (std::isnan(time.compute_s) || spent_s[i] <= 0) continue;
    shares.any_roof = true;
    left[i] = static_cast<float>(std::min(1.0, time.at_least_s() / spent_s[i]));
  }
  return left;
}

}  // namespace

RoofShares roof_shares(const FlowRun& run, std::string_view pattern, const RoofSources& sources) {
  RoofShares shares;
  const Calls calls(run, sources);
  const std::vector<float> left = shares_of_calls(run, calls, pattern, sources, shares);
  shares.left.assign(run.works.size(), 1);
  for (size_t w = 0; w < run.works.size(); ++w) {
    const uint32_t call = calls.call_of(run.works[w].activity);
    if (call == kNoCallWork) continue;
    shares.left[w] = left[call];
    if (left[call] < 1) ++shares.works;
  }
  return shares;
}

}  // namespace assay
