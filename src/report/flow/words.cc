// The words a report opens with: what bounds the run, who does it, and what would change it. Every
// sentence follows from FlowVerdict; a lever's gain is that of a replay without what it removes.

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "flow/names.h"
#include "kernels/kernel.h"
#include "kernels/name.h"
#include "report/document/units.h"
#include "report/flow/answer.h"
#include "report/flow/section.h"

namespace assay {

std::string_view cause_words(FlowCause cause) {
  switch (cause) {
    case FlowCause::kNoEvidence:
      return "no evidence";
    case FlowCause::kUnseen:
      return "unseen device work";
    case FlowCause::kWaitOther:
      return "waits for other work";
    case FlowCause::kLatency:
      return "launch latency";
    case FlowCause::kSync:
      return "synchronisation";
    case FlowCause::kCold:
      return "one-off costs";
    case FlowCause::kAlloc:
      return "allocation";
    case FlowCause::kInput:
      return "input";
    case FlowCause::kCall:
      return "runtime calls";
    case FlowCause::kDispatch:
      return "operators";
    case FlowCause::kPython:
      return "Python";
    case FlowCause::kHostGap:
      return "host code that was not recorded";
    case FlowCause::kNothingAsked:
      return "nothing asked for";
  }
  return "";
}

namespace {

class Words {
 public:
  explicit Words(const FlowAnswer& answer)
      : trace_(answer.trace),
        report_(answer.report),
        verdict_(answer.verdict),
        total_(answer.report.total) {}

  // Of the window times devices, which all shares are of.
  std::string of_window(int64_t ns) const { return format_share(share(ns, total_.window_ns)); }
  std::string window() const {
    std::string text = format_ns(report_.window.end_ns - report_.window.start_ns);
    if (report_.devices.size() > 1) {
      text += " on " + format_count(static_cast<int64_t>(report_.devices.size())) + " devices";
    }
    return text;
  }
  std::string idle() const { return of_window(total_.idle_ns) + " of " + window(); }

  // The first `most` that stand behind the leading cause, with their times.
  std::string named(size_t most) const {
    std::string text;
    for (size_t i = 0; i < verdict_.leading.size() && i < most; ++i) {
      const Contributor& contributor = verdict_.leading[i];
      const std::string name = name_of(contributor);
      if (name.empty()) continue;
      text += (text.empty() ? "" : ", ") + name + " " + format_ns(contributor.ns);
    }
    return text;
  }

  std::string name_of(const Contributor& contributor) const {
    return contributor_name(trace_, contributor);
  }

  std::string loader() const {
    if (verdict_.leading.empty()) return "";
    const std::string name = loader_around(trace_, verdict_.leading.front().longest);
    return name.empty() || name == name_of(verdict_.leading.front()) ? "" : " under " + name;
  }

  // The parts of the host's time, largest first: "operators 41.0 %, Python 29.2 %".
  std::string host_parts() const {
    std::vector<FlowCause> parts = {FlowCause::kDispatch, FlowCause::kPython, FlowCause::kCall,
                                    FlowCause::kHostGap, FlowCause::kLatency};
    std::stable_sort(parts.begin(), parts.end(),
                     [this](FlowCause a, FlowCause b) { return total_[a] > total_[b]; });
    std::string text;
    constexpr size_t kShown = 3;
    for (size_t i = 0; i < kShown; ++i) {
      if (total_[parts[i]] == 0) continue;
      text += (text.empty() ? "" : ", ") + std::string(cause_words(parts[i])) + " " +
              of_window(total_[parts[i]]);
    }
    return text;
  }

  std::string sentence() const {
    switch (verdict_.bound) {
      case BoundBy::kGpu:
        return gpu();
      case BoundBy::kHost:
        return "Host-bound: the GPU is idle " + idle() +
               " while the host prepares and launches work (" + host_parts() + ").";
      case BoundBy::kInput:
        return "Starved for input: the GPU is idle " + idle() + ", " + lost(BoundBy::kInput) +
               " while the host loads data" + loader() + first_of(2) + ".";
      case BoundBy::kSync:
        return "Bound by synchronisation: the GPU is idle " + idle() + ", " + lost(BoundBy::kSync) +
               " because the host waits for the device and only then goes on" + first_of(2) + ".";
      case BoundBy::kAlloc:
        return "Allocation-bound: the GPU is idle " + idle() + ", " + lost(BoundBy::kAlloc) +
               " while the host allocates or frees memory" + first_of(2) + ".";
      case BoundBy::kColdStart:
        return "Cold start: " + of_window(verdict_.cold_ns) + " of " + window() +
               " are one-off costs" + first_of(2) + cold_note() + ".";
      case BoundBy::kUnseenWork:
        return unseen();
      case BoundBy::kCollectiveWait:
        return "Bound by communication: for " + of_window(total_.collective_ns) + " of " +
               window() + " nothing runs but collectives" + longest(WorkKind::kCollective) +
               "; one rank does not tell waiting for other ranks from transfer.";
      case BoundBy::kCommunication:
        return "Bound by communication: for " + of_window(total_.collective_ns) + " of " +
               window() + " nothing runs but transfers" + longest(WorkKind::kCollective) + ".";
      case BoundBy::kCopy:
        return "Copy-bound: for " + of_window(total_.copy_ns) + " of " + window() +
               " only copies run and no kernel beside them" + longest(WorkKind::kCopy) + ".";
      case BoundBy::kNotLoaded:
        return "Not loaded: the GPU is idle " + idle() + ", " + lost(BoundBy::kNotLoaded) +
               " with nobody asking for work.";
      case BoundBy::kTooLittle:
        return too_little();
      case BoundBy::kNoGpu:
        return no_kernels_words(trace_);
      case BoundBy::kNoHost:
        return "Undecided: the GPU is idle " + idle() +
               ", and the trace has no host row that says why; record the host's launch calls too.";
    }
    return "";
  }

  std::string doubt() const {
    if (verdict_.mixed && verdict_.lost.size() > 1) {
      return "Mixed: no single cause has half of the lost time; " + group_text(verdict_.lost[0]) +
             " and " + group_text(verdict_.lost[1]) + " lead.";
    }
    if (verdict_.borderline == Borderline::kAtBound) {
      return "Borderline: a share is within 5 points of the bound that decides.";
    }
    if (verdict_.borderline == Borderline::kInferred) {
      return "Borderline: more than half of that time rests on inference, not on recorded rows.";
    }
    return "";
  }

  // What to do about it, where no lever says so.
  std::string next_step() const {
    if (verdict_.bound == BoundBy::kUnseenWork) {
      return report_.evidence.recorded_waits == 0
                 ? "Record from an earlier start, with all processes and the rows of waits."
                 : "Record from an earlier start, with all processes.";
    }
    if (verdict_.bound == BoundBy::kTooLittle && verdict_.cold_ns * 2 > total_.idle_ns) {
      return "Most of that time (" + format_ns(verdict_.cold_ns) + ") are one-off costs" +
             cold_names() + cold_note() + ".";
    }
    return "";
  }

  std::string after_start() const {
    if (!verdict_.cold_start) return "";
    if (!verdict_.steady_judged) {
      return "Too little is left besides to say what bounds the steady state: record after the "
             "warm-up.";
    }
    return "The rest is bound by " + group_name(verdict_.steady_bound) +
           "; record after the warm-up to judge it.";
  }

 private:
  static std::string group_name(BoundBy bound) {
    constexpr std::array<std::string_view, kBounds> kNames = {
        "the GPU",       "the host",      "input",          "synchronisation",
        "allocation",    "one-off costs", "unseen work",    "waiting in collectives",
        "communication", "copies",        "missing demand", "too few rows",
        "no GPU work",   "no host rows"};
    return std::string(kNames[static_cast<size_t>(bound)]);
  }
  std::string group_text(const LostGroup& group) const {
    return group_name(group.bound) + " (" + format_share(group.of_window) + " of the window)";
  }

  std::string lost(BoundBy bound) const {
    for (const LostGroup& group : verdict_.lost) {
      if (group.bound == bound) return format_ns(group.ns) + " of it";
    }
    return "part of it";
  }

  std::string first_of(size_t most) const {
    const std::string names = named(most);
    return names.empty() ? "" : ", first " + names;
  }

  std::string cold_names() const {
    for (const Contributor& contributor : report_.contributors) {
      if (contributor.cause != FlowCause::kCold) continue;
      const std::string name = name_of(contributor);
      return name.empty() ? "" : ", first " + name + " " + format_ns(contributor.ns);
    }
    return "";
  }

  std::string cold_note() const {
    if (report_.evidence.captured_ns * 2 < verdict_.cold_ns) return "";
    return "; " + format_counted(report_.evidence.captures, "graph was", "graphs were") +
           " captured in " + format_ns(report_.evidence.captured_ns) + ", which is no run";
  }

  std::string longest(WorkKind kind) const {
    for (const NamedWork& work : verdict_.work) {
      if (work.kind != kind) continue;
      return ", first " + describe_kernel(trace_.text(work.name)) + " " + format_ns(work.ns);
    }
    return "";
  }

  std::string gpu() const {
    std::string text = "GPU-bound: the GPU works for " +
                       of_window(total_.window_ns - total_.idle_ns) + " of " + window();
    if (verdict_.lever == FirstLever::kOverlapCommunication) {
      return text + ", " + of_window(total_.collective_ns) + " in communication alone" +
             longest(WorkKind::kCollective) + ".";
    }
    if (!verdict_.kinds.empty()) {
      const KindShare& kind = verdict_.kinds.front();
      text += "; " + std::string(kernel_kind_name(kind.kind)) + " kernels are " +
              format_share(share(kind.ns, report_.evidence.kernel_ns)) + " of kernel time";
    }
    return text + longest(WorkKind::kCompute) + ".";
  }

  std::string unseen() const {
    std::string text = "Undecided: the GPU shows no work for " + idle();
    text += ", but work that was handed over was pending in " + lost(BoundBy::kUnseenWork) +
            first_of(1) + ": earlier work, or work that is not recorded, kept it busy.";
    return text;
  }

  std::string too_little() const {
    const std::string seen = format_counted(report_.evidence.works, "piece", "pieces") +
                             " of device work in " + window();
    if (verdict_.too_little == TooLittle::kUnlinked) {
      return "Not enough to say what bounds this: launch calls are recorded for " +
             format_share(verdict_.linked_share) + " of the device time only.";
    }
    return "Not enough to say what bounds this: " + seen +
           "; record some whole iterations after the warm-up.";
  }

  const Trace& trace_;
  const FlowReport& report_;
  const FlowVerdict& verdict_;
  const FlowTotals& total_;
};

class Levers {
 public:
  explicit Levers(const FlowAnswer& answer) : answer_(answer) {}

  std::vector<Lever> find() {
    const FlowVerdict& verdict = answer_.verdict;
    if (undecided(verdict.bound)) return {};
    add_device_work();
    const FlowGains& gains = answer_.report.gains;
    if (gains.told) {
      add(FirstLever::kGraphOrCompile, "cheaper_host", cheaper_host(), gains.host_ns,
          "replay in which the host's own work costs nothing");
      add(FirstLever::kMoreInputWorkers, "input",
          "load data beside the device's work: more workers, or preprocessing ahead",
          gains.input_ns, "replay in which loading data costs nothing");
      add(FirstLever::kRemoveSync, "remove_syncs", remove_syncs(), gains.sync_ns,
          "replay in which no call waits for the device");
      add(FirstLever::kCachingAllocator, "allocation",
          "keep device memory instead of allocating and freeing it: a pool, or the caching "
          "allocator",
          gains.alloc_ns, "replay in which allocation calls cost nothing");
      add(FirstLever::kFewerCopies, "copies", "copy less, from pinned memory, beside kernels",
          gains.copy_ns, "replay in which copies take no time");
      add(FirstLever::kOverlapCommunication, "communication",
          "hide or shrink communication (its time includes waiting for other ranks)",
          gains.collective_ns, "replay in which collectives take no time");
    }
    std::stable_sort(levers_.begin(), levers_.end(), [](const Ranked& a, const Ranked& b) {
      if (a.leads != b.leads) return a.leads;
      return a.lever.at_most_ns > b.lever.at_most_ns;
    });
    std::vector<Lever> levers;
    for (Ranked& ranked : levers_) levers.push_back(std::move(ranked.lever));
    return levers;
  }

 private:
  struct Ranked {
    Lever lever;
    bool leads = false;
  };

  static bool undecided(BoundBy bound) {
    return bound == BoundBy::kUnseenWork || bound == BoundBy::kTooLittle ||
           bound == BoundBy::kNoGpu || bound == BoundBy::kNoHost || bound == BoundBy::kNotLoaded ||
           bound == BoundBy::kColdStart;
  }

  bool pytorch() const { return answer_.verdict.program.kind == ProgramKind::kPyTorch; }

  std::string cheaper_host() const {
    const bool in_graphs = answer_.verdict.lever == FirstLever::kLessHostWork;
    if (in_graphs) return "do less on the host between the graphs";
    const std::string graphs = answer_.verdict.program.hip ? "HIP graphs" : "CUDA graphs";
    if (pytorch()) {
      return "take the host off the path: " + graphs + ", torch.compile, or a faster CPU core";
    }
    return "take the host off the path: " + graphs +
           ", larger pieces of work, or a faster CPU core";
  }

  std::string remove_syncs() const {
    return pytorch() ? "do not wait for the device in the loop (.item(), .cpu(), synchronize)"
                     : "do not wait for the device between pieces of work";
  }

  // Gains below 1 % of the window are no levers.
  void add(FirstLever lever, std::string key, std::string what, int64_t at_most_ns,
           std::string basis) {
    const int64_t window_ns = (answer_.report.window.end_ns - answer_.report.window.start_ns);
    if (at_most_ns * 100 < window_ns) return;
    const FirstLever leading =
        answer_.verdict.lever == FirstLever::kLessHostWork   ? FirstLever::kGraphOrCompile
        : answer_.verdict.lever == FirstLever::kBalanceRanks ? FirstLever::kOverlapCommunication
                                                             : answer_.verdict.lever;
    levers_.push_back({{std::move(key), std::move(what), at_most_ns, share(at_most_ns, window_ns),
                        std::move(basis)},
                       lever == leading});
  }

  // No path holds a piece of work twice, so no change to these kernels gives more than they took.
  void add_device_work() {
    const std::vector<KindShare>& kinds = answer_.verdict.kinds;
    if (kinds.empty()) return;
    const KindShare& kind = kinds.front();
    const int64_t bound_ns = std::min(kind.ns, answer_.report.total.compute_ns);
    add(FirstLever::kFasterKernel, "device_work",
        "make " + std::string(kernel_kind_name(kind.kind)) + " kernels cheaper, first " +
            describe_kernel(answer_.trace.text(kind.longest)),
        bound_ns, "summed duration of these kernels: " + format_counted(kind.count, "run", "runs"));
  }

  const FlowAnswer& answer_;
  std::vector<Ranked> levers_;
};

}  // namespace

std::string contributor_name(const Trace& trace, const Contributor& contributor) {
  if (!contributor.name) return "";
  const std::string_view name = trace.text(contributor.name);
  if (contributor.source == RowSource::kActivity) return describe_kernel(name);
  return std::string(name);
}

std::string loader_around(const Trace& trace, Interval span) {
  const auto in_table = [&](const auto& table) -> std::string {
    for (size_t i = 0; i < table.size(); ++i) {
      const bool around = table.start_ns[i] <= span.start_ns &&
                          table.start_ns[i] + table.dur_ns[i] >= span.end_ns;
      if (around && classify_host_name(trace.text(table.name[i])).input) {
        return std::string(trace.text(table.name[i]));
      }
    }
    return "";
  };
  std::string name = in_table(trace.ops);
  if (name.empty()) name = in_table(trace.annotations);
  return name.empty() ? in_table(trace.frames) : name;
}

std::vector<std::string> flow_words(const FlowAnswer& answer) {
  const Words words(answer);
  std::vector<std::string> sentences = {words.sentence()};
  for (std::string text : {words.doubt(), words.after_start(), words.next_step()}) {
    if (!text.empty()) sentences.push_back(std::move(text));
  }
  return sentences;
}

std::vector<Lever> flow_levers(const FlowAnswer& answer) { return Levers(answer).find(); }

std::string levers_text(const std::vector<Lever>& levers) {
  if (levers.empty()) return "";
  constexpr size_t kShown = 3;
  std::string text = levers.size() == 1 ? "The lever: " : "The biggest levers: ";
  for (size_t i = 0; i < levers.size() && i < kShown; ++i) {
    if (i > 0) text += "; ";
    text += levers[i].what + " (at most " + format_ns(levers[i].at_most_ns) + ", " +
            format_upper_share(levers[i].share_of_window) + " of the window)";
  }
  return text + ".";
}

}  // namespace assay
