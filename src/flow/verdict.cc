#include "flow/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/numbers.h"
#include "flow/cold_again.h"
#include "flow/names.h"
#include "kernels/name.h"

namespace assay {
namespace {

// The group of lost time that an idle cause belongs to.
BoundBy group_of(FlowCause cause, bool host_recorded) {
  switch (cause) {
    case FlowCause::kNoEvidence:
      return host_recorded ? BoundBy::kUnseenWork : BoundBy::kNoHost;
    case FlowCause::kUnseen:
      return BoundBy::kUnseenWork;
    case FlowCause::kWaitOther:
      return BoundBy::kGpu;
    case FlowCause::kSync:
      return BoundBy::kSync;
    case FlowCause::kCold:
      return BoundBy::kColdStart;
    case FlowCause::kAlloc:
      return BoundBy::kAlloc;
    case FlowCause::kInput:
      return BoundBy::kInput;
    case FlowCause::kNothingAsked:
      return BoundBy::kNotLoaded;
    case FlowCause::kLatency:
    case FlowCause::kCall:
    case FlowCause::kDispatch:
    case FlowCause::kPython:
    case FlowCause::kHostGap:
      break;
  }
  return BoundBy::kHost;
}

bool rests_on_launches(BoundBy bound) {
  return bound == BoundBy::kHost || bound == BoundBy::kInput || bound == BoundBy::kSync ||
         bound == BoundBy::kAlloc || bound == BoundBy::kNotLoaded;
}

using Groups = std::array<int64_t, kBounds>;

class Judge {
 public:
  Judge(const FlowReport& report, const FlowVerdictOptions& options)
      : report_(report), options_(options), total_(report.total) {}

  FlowVerdict judge() {
    verdict_.device_idle_share = share(total_.idle_ns, total_.window_ns);
    verdict_.linked_share = share(report_.evidence.linked_ns, report_.evidence.work_ns);
    verdict_.cold_ns = total_[FlowCause::kCold];
    verdict_.pauses = leading_pauses(report_);
    // There is no graph to replay without runtime calls.
    const bool fits = misfit_of(report_.fit) == Misfit::kNone;
    if (report_.evidence.calls && fits && !report_.decision.table.players.empty()) {
      by_gains_ = bound_by_gains();
    }
    const Groups groups = sum_groups(true);
    list_groups(groups);
    if (report_.evidence.works == 0) {
      verdict_.bound = BoundBy::kNoGpu;
      return verdict_;
    }
    if (find_too_little(report_.evidence.works, total_.window_ns)) {
      verdict_.bound = BoundBy::kTooLittle;
      name_leading(verdict_.lost.empty() ? BoundBy::kGpu : verdict_.lost.front().bound);
      return verdict_;
    }
    decide(groups);
    return verdict_;
  }

 private:
  // Lost time by bottleneck. with_cold = false leaves out initialization, for the steady state.
  Groups sum_groups(bool with_cold) const {
    Groups groups{};
    for (size_t c = 0; c < kFlowCauses; ++c) {
      const auto cause = static_cast<FlowCause>(c);
      if (cause == FlowCause::kCold && !with_cold) continue;
      groups[static_cast<size_t>(group_of(cause, report_.evidence.calls))] += total_.cause_ns[c];
    }
    groups[static_cast<size_t>(BoundBy::kHost)] -= total_.device_gaps_ns();
    groups[static_cast<size_t>(BoundBy::kGpu)] += total_.device_gaps_ns();
    // Host time after a wait is lost by waiting, if synchronization is the bottleneck.
    auto& host_ns = groups[static_cast<size_t>(BoundBy::kHost)];
    if (by_gains_ == BoundBy::kSync) {
      const int64_t after_sync_ns = std::min(host_ns, host_after_sync_ns());
      groups[static_cast<size_t>(BoundBy::kSync)] += after_sync_ns;
      host_ns -= after_sync_ns;
    }
    groups[static_cast<size_t>(BoundBy::kCollectiveWait)] += total_.collective_ns;
    groups[static_cast<size_t>(BoundBy::kCopy)] += total_.copy_ns;
    return groups;
  }

  int64_t host_after_sync_ns() const {
    int64_t sum_ns = 0;
    for (size_t c = 0; c < kFlowCauses; ++c) {
      if (group_of(static_cast<FlowCause>(c), true) != BoundBy::kHost) continue;
      sum_ns += total_.opened_ns[c][static_cast<size_t>(OpenedBy::kSync)];
    }
    return sum_ns;
  }

  int64_t host_idle_ns() const {
    int64_t sum_ns = -total_.device_gaps_ns();
    for (size_t c = 0; c < kFlowCauses; ++c) {
      if (group_of(static_cast<FlowCause>(c), true) == BoundBy::kHost) sum_ns += total_.cause_ns[c];
    }
    return sum_ns;
  }

  static int64_t sum_of(const Groups& groups) {
    int64_t sum_ns = 0;
    for (const int64_t ns : groups) sum_ns += ns;
    return sum_ns;
  }

  void list_groups(const Groups& groups) {
    const int64_t lost_ns = sum_of(groups);
    for (size_t g = 0; g < kBounds; ++g) {
      if (groups[g] == 0) continue;
      verdict_.lost.push_back({static_cast<BoundBy>(g), groups[g], share(groups[g], lost_ns),
                               share(groups[g], total_.window_ns)});
    }
    std::stable_sort(verdict_.lost.begin(), verdict_.lost.end(),
                     [](const LostGroup& a, const LostGroup& b) { return a.ns > b.ns; });
  }

  // Few but long kernels that fill the window suffice.
  bool find_too_little(uint64_t works, int64_t window_ns) {
    if (window_ns < options_.least_window_ns) verdict_.too_little = TooLittle::kShortWindow;
    const int64_t busy_ns = total_.window_ns - total_.idle_ns;
    const bool filled = busy_ns >= options_.least_window_ns && busy_ns * 2 >= total_.window_ns;
    const bool graphs = report_.evidence.whole_graphs >= options_.least_graphs;
    if (works < options_.least_works && !filled && !graphs && !repeats())
      verdict_.too_little = TooLittle::kFewWorks;
    return verdict_.too_little != TooLittle::kEnough;
  }

  // True if the bottleneck occurs in several steps.
  bool repeats() const {
    const Decision& decision = report_.decision;
    return decision.repeats >= 3 && decision.table.of(decision.word).pieces.half_in >= 3;
  }

  void decide(const Groups& groups) {
    verdict_.device_bound = is_device_bound(groups, total_.window_ns);
    verdict_.turns = !verdict_.device_bound && takes_turns();
    if (verdict_.turns) {
      verdict_.bound = BoundBy::kGpu;
      verdict_.leading_share = share(total_[FlowCause::kWaitOther], sum_of(groups));
    } else {
      verdict_.bound = by_gains_ ? *by_gains_ : bound_by_occupancy(groups);
      verdict_.leading_share = share_of_lost(verdict_.bound);
    }
    if (verdict_.bound == BoundBy::kColdStart) judge_steady();
    name_leading(verdict_.bound);
    if (rests_on_launches(verdict_.bound) && verdict_.linked_share < options_.least_linked) {
      verdict_.bound = BoundBy::kTooLittle;
      verdict_.too_little = TooLittle::kUnlinked;
    }
    mark_borderline();
  }

  double share_of_lost(BoundBy bound) const {
    const auto found = std::find_if(verdict_.lost.begin(), verdict_.lost.end(),
                                    [bound](const LostGroup& g) { return g.bound == bound; });
    return found == verdict_.lost.end() ? kNan : found->of_lost;
  }

  // The bottleneck from the table of gains.
  BoundBy bound_by_gains() const {
    const Decision& decision = report_.decision;
    const GroupGain& gain = decision.table.of(decision.word);
    const bool keeps_step = decision.relation == GainRelation::kKeepStep;
    // Unrecorded delay and absent submissions are bounded by the idle time that they fill.
    const int64_t unseen_ns =
        per_device(total_[FlowCause::kUnseen] + total_[FlowCause::kNoEvidence]);
    const bool on_host =
        decision.word == GainGroup::kHost || decision.word == GainGroup::kOutside;
    const int64_t least_ns = keeps_step ? decision.together_ns
                             : on_host  ? gain.low_ns
                                        : gain.gain_ns;
    if (decision.word == GainGroup::kUnseen ||
        (is_clear(unseen_ns) && unseen_ns * 5 > least_ns * 4)) {
      return BoundBy::kUnseenWork;
    }
    int64_t most_ns = keeps_step ? decision.together_ns : 0;
    for (const GroupGain& group : decision.table.groups) {
      most_ns = std::max(most_ns, group.gain_ns);
    }
    const int64_t no_work_ns = per_device(total_[FlowCause::kNothingAsked]);
    // If gains are about equal, waiting for external input leads if it fills more of the idle time.
    const bool ties = decision.word == GainGroup::kHost && no_work_ns > per_device(host_idle_ns()) &&
                      decision.table.of(GainGroup::kOutside).gain_ns * 10 >= most_ns * 9;
    if (is_clear(no_work_ns) && (ties || no_work_ns > most_ns)) return BoundBy::kNotLoaded;
    // Neither saves much alone: name the device, which is nearly always busy.
    GainGroup word = decision.word;
    if (keeps_step && !is_device_work(word) && is_device_work(decision.second)) {
      word = decision.second;
    }
    return bound_of(word, decision.narrow);
  }

  bool is_clear(int64_t ns) const { return ns * 50 > report_.decision.table.window_ns(); }

  int64_t per_device(int64_t ns) const {
    return ns / static_cast<int64_t>(std::max<size_t>(report_.devices.size(), 1));
  }

  static bool is_device_work(GainGroup group) {
    return group == GainGroup::kDevice || group == GainGroup::kCopy || group == GainGroup::kComm;
  }

  BoundBy bound_of(GainGroup group, NarrowHost narrow) const {
    switch (group) {
      case GainGroup::kHost:
        break;
      case GainGroup::kDevice:
        return BoundBy::kGpu;
      case GainGroup::kCopy:
        return BoundBy::kCopy;
      case GainGroup::kMigration:
        return BoundBy::kMigration;
      case GainGroup::kComm:
        return BoundBy::kCollectiveWait;
      case GainGroup::kUnseen:
        return BoundBy::kUnseenWork;
      case GainGroup::kOutside:
        return BoundBy::kNotLoaded;
    }
    switch (narrow) {
      case NarrowHost::kInput:
        return BoundBy::kInput;
      case NarrowHost::kAlloc:
        return BoundBy::kAlloc;
      case NarrowHost::kStartup:
        return BoundBy::kColdStart;
      case NarrowHost::kWaiting:
      case NarrowHost::kNone:
        break;
    }
    // Host stalls have a cause of their own, even after a wait.
    const bool after_waits =
        narrow == NarrowHost::kWaiting && host_after_sync_ns() * 2 >= host_idle_ns();
    const bool waits = after_waits || total_[FlowCause::kSync] * 2 >= total_.idle_ns;
    return waits && verdict_.pauses.ns == 0 ? BoundBy::kSync : BoundBy::kHost;
  }

  BoundBy bound_by_occupancy(const Groups& groups) {
    const BoundBy bound = bound_of(groups, total_.window_ns, verdict_.mixed);
    return bound == BoundBy::kGpu && copies_bind() ? BoundBy::kCopy : bound;
  }

  void judge_steady() {
    const int64_t steady_ns = total_.window_ns - verdict_.cold_ns;
    verdict_.steady_judged = steady_ns >= options_.least_window_ns;
    if (!verdict_.steady_judged) return;
    bool mixed = false;
    verdict_.steady_bound = bound_of(sum_groups(false), steady_ns, mixed);
  }

  // Share of lost time without communication, which for one rank may be pure transfer.
  double waiting_share(const Groups& groups, int64_t window_ns) const {
    return share(sum_of(groups) - groups[static_cast<size_t>(BoundBy::kCollectiveWait)], window_ns);
  }
  bool is_device_bound(const Groups& groups, int64_t window_ns) const {
    return waiting_share(groups, window_ns) <= options_.device_bound;
  }

  // True if copies are most of the critical path, with kernels overlapped.
  bool copies_bind() const {
    const CriticalPath& path = report_.path;
    const int64_t copies_ns = path.work_ns[static_cast<size_t>(WorkKind::kCopy)] +
                              path.work_ns[static_cast<size_t>(WorkKind::kFill)];
    return misfit_of(report_.fit) == Misfit::kNone && copies_ns * 2 > path.makespan_ns;
  }

  // True if some device is busy nearly all the time while each is idle much of it: they wait for
  // each other as recorded, or overlap far less than independent devices would.
  bool takes_turns() const {
    constexpr int64_t kFarLess = 4;
    const int64_t window_ns = report_.window_ns();
    if (report_.devices.size() < 2 || total_.collective_ns * 10 > window_ns ||
        share(window_ns - report_.overlap.any_ns, window_ns) > options_.device_bound) {
      return false;
    }
    if (total_[FlowCause::kWaitOther] * 2 >= total_.idle_ns) return true;
    if (report_.evidence.processes > 1) return false;  // each process has its own devices
    double none = 1;
    double one = 0;
    for (const FlowTotals& device : report_.device_totals) {
      const double busy = share(device.window_ns - device.idle_ns, window_ns);
      one = one * (1 - busy) + none * busy;
      none *= 1 - busy;
    }
    const double by_chance_ns = (1 - none - one) * static_cast<double>(window_ns);
    return static_cast<double>(report_.overlap.several_ns * kFarLess) <= by_chance_ns;
  }

  BoundBy bound_of(const Groups& groups, int64_t window_ns, bool& mixed) const {
    const int64_t busy_ns = total_.compute_ns + total_.collective_ns + total_.copy_ns;
    const bool filled = share(window_ns - busy_ns, window_ns) <= options_.device_bound;
    if (filled && total_.compute_ns >= std::max(total_.collective_ns, total_.copy_ns)) return BoundBy::kGpu;
    if (total_.collective_ns > total_.compute_ns && is_device_bound(groups, window_ns)) {
      return BoundBy::kCollectiveWait;
    }
    const auto largest = std::max_element(groups.begin(), groups.end());
    mixed = share(*largest, sum_of(groups)) < options_.leading;
    return static_cast<BoundBy>(largest - groups.begin());
  }

  // Sets the leading causes, contributors and evidence of a group.
  void name_leading(BoundBy group) {
    const BoundBy causes_of =
        group == BoundBy::kSync && report_.total[FlowCause::kSync] * 2 < host_after_sync_ns()
            ? BoundBy::kHost
            : group;
    int64_t largest_ns = 0;
    int64_t sum_ns = 0;
    std::array<int64_t, kEvidences> evidence{};
    for (size_t c = 0; c < kFlowCauses; ++c) {
      const auto cause = static_cast<FlowCause>(c);
      if (group_of(cause, report_.evidence.calls) != causes_of) continue;
      sum_ns += total_.cause_ns[c];
      for (size_t e = 0; e < kEvidences; ++e) evidence[e] += total_.evidence_ns[c][e];
      if (total_.cause_ns[c] <= largest_ns) continue;
      largest_ns = total_.cause_ns[c];
      verdict_.detail = cause;
    }
    verdict_.recorded_share = share(evidence[0], sum_ns);
    verdict_.inferred_share = share(evidence[1], sum_ns);
    verdict_.absent_share = share(evidence[2], sum_ns);
    const bool gaps = causes_of == BoundBy::kGpu && !verdict_.device_bound && !verdict_.turns &&
                      total_.gaps_lead();
    if (gaps) verdict_.detail = FlowCause::kLatency;
    for (const Contributor& contributor : report_.contributors) {
      const bool gap =
          contributor.cause == FlowCause::kLatency && contributor.ready_by != ReadyBy::kLaunch;
      const BoundBy of = gap ? BoundBy::kGpu : group_of(contributor.cause, report_.evidence.calls);
      if (of == causes_of) verdict_.leading.push_back(contributor);
    }
    std::stable_sort(verdict_.leading.begin(), verdict_.leading.end(),
                     [](const Contributor& a, const Contributor& b) { return a.ns > b.ns; });
    if (verdict_.leading.size() > options_.named) verdict_.leading.resize(options_.named);
  }

  // Marks results that unexplained time or a share near a limit could change.
  void mark_borderline() {
    const bool at_bound =
        by_gains_ ? report_.decision.relation == GainRelation::kUndecided
                  : std::abs(waiting_share(sum_groups(true), total_.window_ns) -
                             options_.device_bound) <= options_.borderline;
    if (at_bound) {
      verdict_.borderline = Borderline::kAtBound;
    } else if (!verdict_.device_bound && verdict_.inferred_share > 0.5) {
      verdict_.borderline = Borderline::kInferred;
    }
  }

  const FlowReport& report_;
  const FlowVerdictOptions& options_;
  const FlowTotals& total_;
  std::optional<BoundBy> by_gains_;  // the bottleneck from the table of gains, if any
  FlowVerdict verdict_;
};

// Kernels other than communication, by kind, largest first.
std::vector<KindShare> work_by_kind(const std::vector<NamedWork>& works,
                                    const KernelNames& kernels) {
  std::array<KindShare, kKernelKinds> by_kind{};
  for (const NamedWork& work : works) {
    if (work.kind != WorkKind::kCompute) continue;
    const KernelKind kind = kernels.of(work.name).kind;
    KindShare& share_of = by_kind[static_cast<size_t>(kind)];
    share_of.kind = kind;
    if (!share_of.longest) share_of.longest = work.name;  // works are sorted longest first
    share_of.ns += work.ns;
    share_of.count += work.count;
  }
  std::vector<KindShare> kinds;
  for (const KindShare& kind : by_kind) {
    if (kind.ns > 0) kinds.push_back(kind);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const KindShare& a, const KindShare& b) { return a.ns > b.ns; });
  return kinds;
}

// Works by described name, longest first: instances for other element types and lambdas of one
// function are joined. Each has the name of its longest member and one kernel kind.
std::vector<NamedWork> work_by_name(const Trace& trace, Interval window,
                                    const KernelNames& kernels) {
  const std::vector<bool> collective = collective_activities(trace, kernels);
  std::unordered_map<uint32_t, NamedWork> by_name;
  const ActivityTable& rows = trace.activities;
  for (size_t a = 0; a < rows.size(); ++a) {
    const bool inside = rows.start_ns[a] >= window.start_ns && rows.start_ns[a] < window.end_ns;
    if (rows.kind[a] == ActivityKind::kSync || !inside) continue;
    NamedWork& work = by_name[rows.name[a].value];
    work.name = rows.name[a];
    work.kind = rows.kind[a] == ActivityKind::kMemcpy   ? WorkKind::kCopy
                : rows.kind[a] == ActivityKind::kMemset ? WorkKind::kFill
                : collective[a]                         ? WorkKind::kCollective
                                                        : WorkKind::kCompute;
    work.ns += rows.dur_ns[a];
    ++work.count;
  }
  const auto longer = [](const NamedWork& a, const NamedWork& b) {
    return a.ns != b.ns ? a.ns > b.ns : a.name < b.name;
  };
  std::vector<NamedWork> each;
  each.reserve(by_name.size());
  for (const auto& [name, work] : by_name) each.push_back(work);
  std::sort(each.begin(), each.end(), longer);
  std::vector<NamedWork> works;
  std::unordered_map<std::string, size_t> told;
  for (const NamedWork& work : each) {
    std::string text = describe_kernel(trace.text(work.name));
    text.push_back(static_cast<char>(work.kind));
    text.push_back(static_cast<char>(kernels.of(work.name).kind));
    const auto [at, first] = told.try_emplace(std::move(text), works.size());
    if (first) {
      works.push_back(work);
      continue;
    }
    works[at->second].ns += work.ns;
    works[at->second].count += work.count;
  }
  std::sort(works.begin(), works.end(), longer);
  return works;
}

FirstLever lever_of(const FlowVerdict& verdict, const FlowReport& report) {
  switch (verdict.bound) {
    case BoundBy::kGpu: {
      // Exposed communication of a tenth of the run is worth more than any one kernel.
      if (verdict.turns) return FirstLever::kDevicesAtOnce;
      if (report.total.gaps_lead() && !verdict.device_bound) return FirstLever::kGraphOrCompile;
      return report.total.exposes_collectives() ? FirstLever::kOverlapCommunication
                                                : FirstLever::kFasterKernel;
    }
    case BoundBy::kHost:
      return verdict.pauses.ns > 0 || report.evidence.graph_work_ns * 2 >= report.evidence.work_ns
                 ? FirstLever::kLessHostWork
                 : FirstLever::kGraphOrCompile;
    case BoundBy::kInput:
      return FirstLever::kMoreInputWorkers;
    case BoundBy::kSync:
      return FirstLever::kRemoveSync;
    case BoundBy::kAlloc:
      return FirstLever::kCachingAllocator;
    case BoundBy::kColdStart:
      return FirstLever::kWarmUpFirst;
    case BoundBy::kUnseenWork:
    case BoundBy::kNoGpu:
    case BoundBy::kNoHost:
      return FirstLever::kRecordMore;
    case BoundBy::kCollectiveWait:
      return FirstLever::kBalanceRanks;
    case BoundBy::kCommunication:
      return FirstLever::kOverlapCommunication;
    case BoundBy::kCopy:
    case BoundBy::kMigration:
      return FirstLever::kFewerCopies;
    case BoundBy::kNotLoaded:
    case BoundBy::kTooLittle:
      break;
  }
  return FirstLever::kNone;
}

}  // namespace

std::string_view bound_by_word(BoundBy bound) {
  constexpr std::array<std::string_view, kBounds> kWords = {"gpu",
                                                            "host",
                                                            "input",
                                                            "sync",
                                                            "alloc",
                                                            "cold_start",
                                                            "unseen_device_work",
                                                            "collective_wait",
                                                            "communication",
                                                            "copy",
                                                            "not_loaded",
                                                            "too_little",
                                                            "no_gpu",
                                                            "no_host",
                                                            "migration"};
  return kWords[static_cast<size_t>(bound)];
}

bool names_resource(BoundBy bound) {
  return bound != BoundBy::kUnseenWork && bound != BoundBy::kNotLoaded && bound != BoundBy::kTooLittle &&
         bound != BoundBy::kNoGpu && bound != BoundBy::kNoHost;
}

std::string_view first_lever_word(FirstLever lever) {
  constexpr std::array<std::string_view, 13> kWords = {"none",
                                                       "cuda_graph_or_compile",
                                                       "less_host_work",
                                                       "remove_sync",
                                                       "caching_allocator",
                                                       "more_input_workers",
                                                       "faster_kernel",
                                                       "overlap_comm",
                                                       "balance_ranks",
                                                       "pinned_or_fewer_copies",
                                                       "warm_up_first",
                                                       "record_more",
                                                       "devices_at_once"};
  return kWords[static_cast<size_t>(lever)];
}

BoundBy leading_group(const FlowTotals& sum, int64_t comm_wait_ns) {
  Groups groups{};
  for (size_t c = 0; c < kFlowCauses; ++c) {
    groups[static_cast<size_t>(group_of(static_cast<FlowCause>(c), true))] += sum.cause_ns[c];
  }
  groups[static_cast<size_t>(BoundBy::kHost)] -= sum.device_gaps_ns();
  groups[static_cast<size_t>(BoundBy::kGpu)] += sum.device_gaps_ns();
  groups[static_cast<size_t>(BoundBy::kCollectiveWait)] += comm_wait_ns;
  groups[static_cast<size_t>(BoundBy::kCopy)] += sum.copy_ns;
  return static_cast<BoundBy>(std::max_element(groups.begin(), groups.end()) - groups.begin());
}

FlowVerdict judge_flow(const Trace& trace, const FlowReport& report,
                       const FlowVerdictOptions& options) {
  FlowVerdict verdict = Judge(report, options).judge();
  judge_pauses(trace, report, options.iterations, verdict.pauses);
  if (verdict.bound == BoundBy::kTooLittle && !report.evidence.calls)
    verdict.bound = BoundBy::kNoHost;
  verdict.work = work_by_name(trace, report.window, *report.kernels);
  verdict.kinds = work_by_kind(verdict.work, *report.kernels);
  if (verdict.work.size() > options.named) verdict.work.resize(options.named);
  verdict.lever = lever_of(verdict, report);
  verdict.program = program_of(trace);
  // If work reaches the device without recorded calls, a missing call does not show that an
  // operator computes on the CPU.
  const bool calls_tell =
      (verdict.program.cuda || verdict.program.hip) && verdict.linked_share >= options.least_linked;
  if (verdict.bound == BoundBy::kHost && verdict.pauses.ns == 0 && calls_tell) {
    HostCompute computed = host_compute(trace, report.contributors);
    if (computed.ns * 2 >= host_work_ns(report.total.cause_ns))
      verdict.computed = std::move(computed);
  }
  if (verdict.bound == BoundBy::kColdStart && options.iterations != nullptr) {
    verdict.cold_iterations = cold_again(report, *options.iterations);
    if (verdict.cold_iterations > 0) verdict.iterations = options.iterations->windows.size();
  }
  return verdict;
}

}  // namespace assay
