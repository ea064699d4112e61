#include "flow/work_scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "kernels/kernel.h"
#include "roof/calls.h"
#include "roof/collective.h"
#include "roof/peaks.h"
#include "trace/label_windows.h"

namespace assay {
namespace {

constexpr double kNanosPerSecond = 1e9;

// Operator calls that launch, and captured ones, once per graph replay.
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

  // Index for op() and work(); kNoCallWork if unknown.
  uint32_t call_of(ActivityId activity) const {
    const ReplayedActivity* one = replayed_[activity.index()];
    if (one == nullptr) return found_.call[activity.index()];
    const auto place = again_.find({one->launch, replays_->nodes[one->node].call});
    return place == again_.end() ? kNoCallWork : place->second;
  }
  // Bounds of an activity's work, if only bounds are known; else null.
  const CallBounds* bounds_of(ActivityId activity) const {
    const uint32_t at = found_.bound.empty() ? kNoCallWork : found_.bound[activity.index()];
    return at == kNoCallWork ? nullptr : &found_.bounds[at];
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
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> again_;  // by graph launch and captured call
  std::vector<CapturedCall> recorded_;                       // indexed after found_.calls
};

// The share of each call; NaN if unknown.
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
  std::vector<float> left(calls.size(), std::numeric_limits<float>::quiet_NaN());
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
  shares.known.assign(run.works.size(), false);
  for (size_t w = 0; w < run.works.size(); ++w) {
    const uint32_t call = calls.call_of(run.works[w].activity);
    if (call == kNoCallWork || std::isnan(left[call])) continue;
    shares.left[w] = left[call];
    shares.known[w] = true;
    if (left[call] < 1) ++shares.works;
  }
  return shares;
}

void add_roof(const FlowRun& run, Interval window, const RoofSources& sources, KindShare& kind) {
  const RoofShares shares = roof_shares(run, "", sources);
  for (size_t w = 0; w < run.works.size(); ++w) {
    const FlowWork& work = run.works[w];
    const bool inside = work.start_ns >= window.start_ns && work.start_ns < window.end_ns;
    if (!shares.known[w] || !inside || work.kind != WorkKind::kCompute) continue;
    if (run.kernels->of(run.trace->activities.name[work.activity.index()]).kind != kind.kind) continue;
    const int64_t ns = work.end_ns - work.start_ns;
    kind.roofed_ns += ns;
    kind.roof_ns += std::llround(static_cast<double>(ns) * shares.left[w]);
  }
}

// ---- another GPU

namespace {

// Fewer calls do not show how long the shortest kernels take.
constexpr size_t kFewestShort = 4;
constexpr double kShortBytes = 1e5;

// Lower quartile of the durations of short elementwise calls, in seconds; 0 = too few.
double shortest_s(const Calls& calls, const std::vector<double>& spent_s) {
  std::vector<double> spent;
  for (uint32_t i = 0; i < calls.size(); ++i) {
    const OpWork& work = calls.work(i);
    const bool is_short = work.kind == OpWorkKind::kElementwise && work.bytes() < kShortBytes;
    if (is_short && spent_s[i] > 0) spent.push_back(spent_s[i]);
  }
  if (spent.size() < kFewestShort) return 0;
  const auto quartile = spent.begin() + static_cast<std::ptrdiff_t>(spent.size() / 4);
  std::nth_element(spent.begin(), quartile, spent.end());
  return *quartile;
}

std::vector<double> spent_by_call(const FlowRun& run, const Calls& calls) {
  std::vector<double> spent_s(calls.size(), 0);
  for (const FlowWork& work : run.works) {
    const uint32_t call = calls.call_of(work.activity);
    if (call == kNoCallWork) continue;
    spent_s[call] += static_cast<double>(work.end_ns - work.start_ns) / kNanosPerSecond;
  }
  return spent_s;
}

// Bus bytes of each collective, per activity; 0 = unknown, or several machines.
std::vector<double> bus_bytes_by_activity(const FlowRun& run) {
  const Trace& trace = *run.trace;
  const CollectiveTable& table = trace.collectives;
  const auto listed = static_cast<int64_t>(trace.devices.size());
  const int64_t here = listed > 1 ? listed : kMachineGpus;
  std::vector<double> bytes(trace.activities.size(), 0);
  for (size_t i = 0; i < table.size(); ++i) {
    const int64_t group = table.group_size[i];
    if (place_of_group(trace.text(table.ranks[i]), group, here).machines > 1) continue;
    const MessageSize message = message_size(
        run.kernels->book().collective_of(trace.text(table.collective[i])),
        trace.text(table.dtype[i]), table.in_elements[i], table.out_elements[i], group);
    bytes[table.activity[i].index()] = message.bytes * message.factor;
  }
  return bytes;
}

// The factor of one activity, with the family that shares its error.
struct ScaledWork {
  ScaleFamily family = ScaleFamily::kUnknown;
  KernelScale scale = {};
};

// Sums over kernels of one kind: kernels with known work determine the factor of the others if they
// are most of the time.
struct KindScale {
  double known_ns = 0;
  double scaled_ns = 0;
  double all_ns = 0;
  bool tells() const { return known_ns * 2 > all_ns; }
};

class WorkScaler {
 public:
  WorkScaler(const FlowRun& run, const OtherGpu& other, const RoofSources& sources)
      : run_(run),
        other_(other),
        calls_(run, sources),
        spent_s_(spent_by_call(run, calls_)),
        scaling_(facts_of(sources), recorded_gpu(run, sources),
                 device_roof(facts_of(sources), {}, other.name), shortest_s(calls_, spent_s_)),
        bus_bytes_(bus_bytes_by_activity(run)) {}

  WorkScales scales() {
    scale_kernels();
    scale_unknown();
    scale_collectives();
    return sum();
  }

 private:
  static const FactBook& facts_of(const RoofSources& sources) {
    return sources.facts == nullptr ? FactBook::built_in() : *sources.facts;
  }
  KernelKind kind_of(const FlowWork& work) const {
    return run_.kernels->of(run_.trace->activities.name[work.activity.index()]).kind;
  }

  void scale_kernels() {
    works_.resize(run_.works.size());
    for (size_t w = 0; w < run_.works.size(); ++w) {
      const FlowWork& work = run_.works[w];
      if (work.kind != WorkKind::kCompute) continue;
      const int64_t ns = work.end_ns - work.start_ns;
      result_.kernel_ns += ns;
      KindScale& kind = kinds_[kind_of(work)];
      kind.all_ns += static_cast<double>(ns);
      const uint32_t call = calls_.call_of(work.activity);
      if (call == kNoCallWork || !scaling_.covers(calls_.work(call))) continue;
      const OpWork& asked = calls_.work(call);
      works_[w] = {scaling_.family(asked), scaling_.known(asked)};
      result_.known_ns += ns;
      kind.known_ns += static_cast<double>(ns);
      kind.scaled_ns += static_cast<double>(ns) * works_[w].scale.middle;
      const std::string_view lacking = scaling_.lacking(asked);
      if (!lacking.empty()) result_.lacking_ns[std::string(lacking)] += ns;
    }
  }

  void scale_unknown() {
    const KernelScale ends = scaling_.unknown();
    for (size_t w = 0; w < run_.works.size(); ++w) {
      const FlowWork& work = run_.works[w];
      if (work.kind != WorkKind::kCompute || works_[w].family != ScaleFamily::kUnknown) continue;
      KernelScale& scale = works_[w].scale;
      const CallBounds* bounds = calls_.bounds_of(work.activity);
      if (bounds != nullptr && scaling_.covers(bounds->least) && scaling_.covers(bounds->most)) {
        scale = scaling_.between(bounds->least, bounds->most);
        continue;
      }
      scale = ends;
      const KindScale& kind = kinds_[kind_of(work)];
      if (kind.tells()) {
        scale.middle = std::clamp(kind.scaled_ns / kind.known_ns, ends.low, ends.high);
      }
    }
  }

  // A collective is a transfer plus a wait for other ranks; their kernels scale like this one's.
  void scale_collectives() {
    double was_ns = 0;
    double is_ns = 0;
    for (size_t w = 0; w < run_.works.size(); ++w) {
      if (run_.works[w].kind != WorkKind::kCompute) continue;
      const auto ns = static_cast<double>(run_.works[w].end_ns - run_.works[w].start_ns);
      was_ns += ns;
      is_ns += ns * works_[w].scale.middle;
    }
    const double rest = was_ns > 0 ? is_ns / was_ns : 1;
    for (size_t w = 0; w < run_.works.size(); ++w) {
      const FlowWork& work = run_.works[w];
      if (work.kind != WorkKind::kCollective) continue;
      const int64_t ns = work.end_ns - work.start_ns;
      result_.collective_ns += ns;
      result_.fabric_changes |= scaling_.fabric_changes() && other_.link_bytes_per_s <= 0;
      const double bytes = bus_bytes_[work.activity.index()];
      KernelScale scale = scaling_.transfer(bytes, other_.link_bytes_per_s);
      const double transfer_s = scaling_.transfer_s(bytes);
      const double duration_s = std::max(static_cast<double>(ns) / kNanosPerSecond, 1e-9);
      const double part = transfer_s > 0 ? std::min(1.0, transfer_s / duration_s) : 1;
      for (double KernelScale::*end :
           {&KernelScale::low, &KernelScale::middle, &KernelScale::high}) {
        scale.*end = part * scale.*end + (1 - part) * rest;
      }
      works_[w] = {ScaleFamily::kCollective, scale};
    }
  }

  // Families with known work share one interval, since their errors are independent; unknown work
  // has its own.
  WorkScales sum() {
    std::array<double, kScaleFamilies> times{};
    std::array<FamilyScale, kScaleFamilies> families{};
    for (size_t w = 0; w < run_.works.size(); ++w) {
      const auto f = static_cast<size_t>(works_[w].family);
      const double ns = duration_ns(w) * works_[w].scale.middle;
      if (works_[w].family != ScaleFamily::kUnknown) times[f] += ns;
    }
    const double width = std::exp(scaling_.half_width(times));
    const auto size = run_.works.size();
    result_.low.assign(size, 1);
    result_.middle.assign(size, 1);
    result_.high.assign(size, 1);
    for (size_t w = 0; w < size; ++w) {
      if (duration_ns(w) <= 0) continue;
      const auto& [family, scale] = works_[w];
      const bool known = family != ScaleFamily::kUnknown;
      result_.low[w] = static_cast<float>(scale.low / (known ? width : 1));
      result_.middle[w] = static_cast<float>(scale.middle);
      result_.high[w] = static_cast<float>(scale.high * (known ? width : 1));
      FamilyScale& of = families[static_cast<size_t>(family)];
      const double ns = duration_ns(w);
      of.family = family;
      of.was_ns += static_cast<int64_t>(ns);
      of.ns += ns * scale.middle;
      of.ramp += ns * scale.ramp;
      of.compute += ns * scale.compute;
      of.memory += ns * scale.memory;
      if (!known) {
        of.low_ns += ns * scale.low;
        of.high_ns += ns * scale.high;
      }
    }
    for (FamilyScale& of : families) {
      if (of.was_ns == 0) continue;
      if (of.family != ScaleFamily::kUnknown) {
        std::array<double, kScaleFamilies> alone{};
        alone[static_cast<size_t>(of.family)] = of.ns;
        const double own = std::exp(scaling_.half_width(alone));
        of.low_ns = of.ns / own;
        of.high_ns = of.ns * own;
      }
      for (double FamilyScale::*part :
           {&FamilyScale::ramp, &FamilyScale::compute, &FamilyScale::memory}) {
        of.*part /= static_cast<double>(of.was_ns);
      }
      result_.families.push_back(of);
    }
    std::stable_sort(
        result_.families.begin(), result_.families.end(),
        [](const FamilyScale& a, const FamilyScale& b) { return a.was_ns > b.was_ns; });
    return std::move(result_);
  }

  // Duration of kernels and collectives; 0 for copies and fills.
  double duration_ns(size_t w) const {
    const FlowWork& work = run_.works[w];
    const bool scales = work.kind == WorkKind::kCompute || work.kind == WorkKind::kCollective;
    return scales ? static_cast<double>(work.end_ns - work.start_ns) : 0;
  }

  const FlowRun& run_;
  const OtherGpu& other_;
  const Calls calls_;
  const std::vector<double> spent_s_;
  const GpuScaling scaling_;
  const std::vector<double> bus_bytes_;
  std::vector<ScaledWork> works_;
  std::map<KernelKind, KindScale> kinds_;
  WorkScales result_;
};

}  // namespace

double WorkScales::was_ns() const {
  double sum = 0;
  for (const FamilyScale& of : families) sum += static_cast<double>(of.was_ns);
  return sum;
}

double WorkScales::sum_ns(double FamilyScale::*field) const {
  double sum = 0;
  for (const FamilyScale& of : families) sum += of.*field;
  return sum;
}

DeviceRoof recorded_gpu(const FlowRun& run, const RoofSources& sources) {
  const FactBook& facts = sources.facts == nullptr ? FactBook::built_in() : *sources.facts;
  const int64_t device = run.devices.empty() ? 0 : run.devices.front();
  return trace_roof(facts, *run.trace, device, sources.device);
}

WorkScales work_scales(const FlowRun& run, const OtherGpu& other, const RoofSources& sources) {
  return WorkScaler(run, other, sources).scales();
}

}  // namespace assay
