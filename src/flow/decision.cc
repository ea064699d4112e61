#include "flow/decision.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay {
namespace {

// Shares of the window unless noted.
constexpr double kClear = 0.02;      // below it, Shapley shares decide instead of gains
constexpr double kStep = 0.1;        // most that each of two in lockstep gains, least that both do
constexpr double kChain = 0.25;      // least gain of the second for kAlternate
constexpr double kIdle = 0.3;        // least gain for the host to rank before the device
constexpr double kRival = 0.8;       // share of the first gain from which the second is close
constexpr double kSum = 0.1;         // tolerance on the sum of two gains
constexpr double kHalf = 0.5;        // share of the host's gain for a NarrowHost
constexpr double kMore = 2;          // least joint gain as a multiple of the sum
constexpr double kFarMore = 3;       // the same to name both although one leads
constexpr int64_t kUnseenTimes = 2;  // multiple of the first gain for unexplained time to lead
constexpr uint64_t kFewPieces = 2;
constexpr uint64_t kRepeats = 3;
constexpr int64_t kBriefNs = 1'000'000;

// Number of labelled steps. Without labels: the least number of runs among the most frequent
// kernels that hold half of the device time.
uint64_t repeats_of(const FlowRun& run, Interval window, const Windows* iterations) {
  const bool labelled =
      iterations != nullptr && (iterations->source == WindowSource::kProfilerStep ||
                                iterations->source == WindowSource::kLabel);
  if (labelled && iterations->windows.size() > 1) {
    return static_cast<uint64_t>(std::count_if(
        iterations->windows.begin(), iterations->windows.end(), [window](const Window& step) {
          return step.start_ns >= window.start_ns && step.start_ns < window.end_ns;
        }));
  }
  struct Sum {
    uint64_t count = 0;
    int64_t ns = 0;
    uint32_t first = 0;
  };
  std::unordered_map<uint32_t, Sum> by_name;
  int64_t all_ns = 0;
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    const FlowWork& work = run.works[w];
    if (work.start_ns < window.start_ns || work.start_ns >= window.end_ns || work.helper) continue;
    const uint32_t name = run.trace->activities.name[work.activity.index()].value;
    Sum& sum = by_name.try_emplace(name, Sum{0, 0, w}).first->second;
    ++sum.count;
    sum.ns += work.end_ns - work.start_ns;
    all_ns += work.end_ns - work.start_ns;
  }
  std::vector<Sum> sums;
  for (const auto& [name, sum] : by_name) sums.push_back(sum);
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
    return a.count != b.count ? a.count > b.count : a.first < b.first;
  });
  int64_t reached_ns = 0;
  for (const Sum& sum : sums) {
    reached_ns += sum.ns;
    if (reached_ns * 2 >= all_ns) return sum.count;
  }
  return 0;
}

NarrowHost narrow_of(const GainTable& table) {
  const auto gain_of = [&table](HostPart part) {
    return static_cast<double>(table.host_gain_ns[static_cast<size_t>(part)]);
  };
  const auto host_ns = static_cast<double>(table.of(GainGroup::kHost).gain_ns);
  const auto window_ns = static_cast<double>(table.window_ns());
  NarrowHost narrow = NarrowHost::kNone;
  double most_ns = 0;
  for (const auto& [part, name] : {std::pair{HostPart::kInput, NarrowHost::kInput},
                                   {HostPart::kAlloc, NarrowHost::kAlloc},
                                   {HostPart::kStartup, NarrowHost::kStartup}}) {
    const double ns = gain_of(part);
    if (ns < kHalf * host_ns || ns <= kClear * window_ns || ns <= most_ns) continue;
    most_ns = ns;
    narrow = name;
  }
  if (narrow != NarrowHost::kNone) return narrow;
  const bool waits =
      table.order_gain_ns > 0 && static_cast<double>(table.order_gain_ns) >= kHalf * host_ns;
  return waits ? NarrowHost::kWaiting : NarrowHost::kNone;
}

// Sets the two leading groups.
void rank(Decision& decision) {
  const GainTable& table = decision.table;
  std::vector<GainGroup> known;
  for (size_t g = 0; g < kGainGroups; ++g) {
    if (static_cast<GainGroup>(g) != GainGroup::kUnseen) known.push_back(static_cast<GainGroup>(g));
  }
  const auto more = [&table](GainGroup a, GainGroup b, bool by_gain) {
    const GroupGain& x = table.of(a);
    const GroupGain& y = table.of(b);
    if (by_gain && x.gain_ns != y.gain_ns) return x.gain_ns > y.gain_ns;
    return x.share_ns > y.share_ns;
  };
  const auto by = [&](bool by_gain) {
    std::stable_sort(known.begin(), known.end(),
                     [&](GainGroup a, GainGroup b) { return more(a, b, by_gain); });
  };
  by(true);
  const auto clear_ns = kClear * static_cast<double>(table.window_ns());
  if (static_cast<double>(table.of(known.front()).gain_ns) < clear_ns) by(false);
  decision.word = known[0];
  decision.second = known[1];
  const GroupGain& first = table.of(known[0]);
  const GroupGain& unseen = table.of(GainGroup::kUnseen);
  const bool clear = static_cast<double>(unseen.gain_ns) >= clear_ns;
  if (clear && unseen.gain_ns > kUnseenTimes * first.gain_ns &&
      unseen.share_ns > first.share_ns) {
    decision.second = decision.word;
    decision.word = GainGroup::kUnseen;
  }
}

// The group that saves most together with the first.
GainGroup partner_of(const Decision& decision) {
  GainGroup partner = decision.second;
  for (const GainGroup group : decision.table.players) {
    if (group == decision.word || group == GainGroup::kUnseen) continue;
    if (decision.table.together_ns(decision.word, group) >
        decision.table.together_ns(decision.word, partner)) {
      partner = group;
    }
  }
  return partner;
}

// The joint gain as a multiple of the sum of both gains.
double times_alone(const Decision& decision, GainGroup partner) {
  const GainTable& table = decision.table;
  const int64_t alone_ns = table.of(decision.word).gain_ns + table.of(partner).gain_ns;
  return static_cast<double>(table.together_ns(decision.word, partner)) /
         static_cast<double>(std::max<int64_t>(alone_ns, 1));
}

bool is_joint(const Decision& decision, GainGroup partner) {
  const auto both_ns = static_cast<double>(decision.table.together_ns(decision.word, partner));
  return times_alone(decision, partner) > kMore &&
         both_ns >= kStep * static_cast<double>(decision.table.window_ns());
}

GainRelation relation_of(const Decision& decision) {
  const GainTable& table = decision.table;
  const auto window_ns = static_cast<double>(table.window_ns());
  const GroupGain& first = table.of(decision.word);
  const GroupGain& second = table.of(decision.second);
  const auto a_ns = static_cast<double>(first.gain_ns);
  const auto b_ns = static_cast<double>(second.gain_ns);
  const auto both_ns = static_cast<double>(table.together_ns(decision.word, decision.second));
  if (b_ns >= kChain * window_ns && std::abs(both_ns - a_ns - b_ns) < kSum * window_ns) {
    return GainRelation::kAlternate;
  }
  const bool unseen =
      decision.word != GainGroup::kUnseen && table.of(GainGroup::kUnseen).gain_ns > first.gain_ns;
  if (first.low_ns < second.gain_ns || unseen) return GainRelation::kUndecided;
  return GainRelation::kBound;
}

}  // namespace

std::string_view gain_relation_name(GainRelation relation) {
  constexpr std::array<std::string_view, kGainRelations> kNames = {
      "no_gpu", "no_host", "bound", "alternate", "keep_step", "undecided", "one_event"};
  return kNames[static_cast<size_t>(relation)];
}

std::string_view narrow_host_name(NarrowHost narrow) {
  constexpr std::array<std::string_view, 5> kNames = {"", "input", "alloc", "startup", "waiting"};
  return kNames[static_cast<size_t>(narrow)];
}

void decide(Decision& decision, bool has_work, bool has_calls) {
  decision.brief = decision.table.window_ns() < kBriefNs;
  decision.narrow = NarrowHost::kNone;
  rank(decision);
  decision.joint = false;
  decision.together_ns = decision.table.together_ns(decision.word, decision.second);
  if (!has_work) {
    decision.relation = GainRelation::kNoGpu;
    return;
  }
  if (!has_calls) {
    decision.relation = GainRelation::kNoHost;
    return;
  }
  decision.relation = relation_of(decision);
  const GainGroup partner = partner_of(decision);
  if (is_joint(decision, partner)) {
    const int64_t high_ns = std::max(decision.table.of(decision.word).high_ns,
                                     decision.table.of(partner).high_ns);
    const bool little =
        static_cast<double>(high_ns) < kStep * static_cast<double>(decision.table.window_ns());
    if (little) decision.relation = GainRelation::kKeepStep;
    decision.joint = little || (decision.relation == GainRelation::kBound &&
                                times_alone(decision, partner) >= kFarMore);
    if (decision.joint) {
      decision.second = partner;
      decision.together_ns = decision.table.together_ns(decision.word, partner);
    }
  }
  // If host and device alternate or are close, the host leads: the device's idle time is the loss.
  const auto second_ns = static_cast<double>(decision.table.of(decision.second).gain_ns);
  const bool near =
      second_ns >= kRival * static_cast<double>(decision.table.of(decision.word).gain_ns);
  const bool large = second_ns >= kIdle * static_cast<double>(decision.table.window_ns());
  if (decision.word == GainGroup::kDevice && decision.second == GainGroup::kHost && large &&
      (near || decision.relation == GainRelation::kAlternate)) {
    std::swap(decision.word, decision.second);
  }
  if (decision.word == GainGroup::kHost) decision.narrow = narrow_of(decision.table);
  const bool once = decision.word == GainGroup::kHost || decision.word == GainGroup::kUnseen;
  if (once && decision.narrow != NarrowHost::kStartup &&
      decision.table.of(decision.word).pieces.half_in <= kFewPieces &&
      decision.repeats < kRepeats) {
    decision.relation = GainRelation::kOneEvent;
    decision.joint = false;
  }
}

void weigh_waits(int64_t collective_ns, int64_t idle_ns, Decision& decision) {
  const bool pair = decision.word == GainGroup::kHost && decision.second == GainGroup::kComm;
  if (!decision.joint || !pair || collective_ns <= idle_ns) return;
  std::swap(decision.word, decision.second);
  decision.narrow = NarrowHost::kNone;
  decision.relation = GainRelation::kKeepStep;
}

Decision decide_run(const FlowRun& run, const FlowGraph& graph, Interval window,
                    const Windows* iterations) {
  Decision decision;
  if (run.works.empty()) return decision;
  decision.table = find_gains(run, graph, window);
  decision.repeats = repeats_of(run, decision.table.window, iterations);
  decide(decision, decision.table.window_ns() > 0, !run.calls.empty());
  return decision;
}

}  // namespace assay
