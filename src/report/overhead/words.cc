// Sentences of the overhead module. HDBI is a ratio without classes (spec/overhead 2). T_Orch is
// never given as a share of wall time.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "report/overhead/section.h"
#include "text/units.h"

namespace assay {
namespace {

// Minimum share of unattributed kernels that the answer mentions.
constexpr double kManyOrphans = 0.05;

std::string ratio_text(double ratio) { return format_value(Value(ratio), Unit::kRatio); }

// Keys of the run's actions with the same change; the first that exists is used.
struct SameActions {
  std::string_view key;
  std::string_view actions[2];
};

constexpr SameActions kSameActions[] = {
    {"compile", {"cheaper_host", "cuda_graph"}},
    {"library_path", {"cheaper_host"}},
    {"cuda_graphs", {"cuda_graph", "cheaper_host"}},
    {"fusion", {"cheaper_host"}},
    {"faster_core", {"faster_cpu"}},
    {"device_work", {"device_work"}},
    {"communication", {"communication"}},
};

std::string layer_words(HostOverheadLayer layer) {
  switch (layer) {
    case HostOverheadLayer::kPython:
      return "Python, before the operator is reached";
    case HostOverheadLayer::kDispatch:
      return "framework dispatch";
    case HostOverheadLayer::kLibrary:
      return "the vendor libraries' front end";
    case HostOverheadLayer::kLaunch:
      return "launching itself, which only fewer launches make smaller";
    case HostOverheadLayer::kNone:
      break;
  }
  return "nothing";
}

// True if at least half of the launches have no operator: their Python, dispatch and library time
// is missing, so that the layers cannot be compared.
bool layers_untold(const HostOverheadReport& report) {
  const uint64_t launches = report.whole.sums.n_launch;
  return launches > 0 && 2 * report.whole.orphans.without_op >= launches;
}

// The headline. In the mode as printed, the launch itself costs nothing if the launch-overhead
// floor is unknown. The time before the call is zero without operators. Either makes the sum a
// lower bound.
std::string answer(const HostOverheadReport& report) {
  const HostOverheadSums& s = report.whole.sums;
  const bool no_floor = is_literal(report.mode) && !report.floor.known();
  const bool bound = no_floor || layers_untold(report);
  const std::string work =
      format_counted(s.n, "kernel", "kernels") +
      (s.n == 1 ? " that keeps the GPU busy for " : " that keep the GPU busy for ") +
      format_ns(s.t_device_ns) + " (T_DeviceActive)";
  if (!s.charged()) {
    return "The host cost (T_Orch) of " + work + " is not known from this trace: " +
           (s.n_launch == 0
                ? "no launch call of theirs is in it; record the runtime's calls with their "
                  "correlation ids."
                : "it has no operators around its launches, and the launch-overhead floor is " +
                      report.floor.text + "; give one (--floor).");
  }
  std::string text = "The host is charged " + std::string(bound ? "at least " : "") +
                     format_ns(s.t_orch_ns) + " (T_Orch" +
                     (is_literal(report.mode) ? ", " + std::string(kAsPrinted) : "") + ") for " +
                     work;
  if (s.hdbi) text += std::string(bound ? ": HDBI at most " : ": HDBI ") + hdbi_text(*s.hdbi);
  if (s.n_launch > 0) {
    text += ", " + format_ns(s.t_orch_ns / static_cast<int64_t>(s.n_launch)) + " per launch";
  }
  return text + (no_floor ? "; the launch-overhead floor is not known (--floor)." : ".");
}

std::string layers_text(const HostOverheadReport& report, const HostOverheadDiagnosis& diagnosis) {
  if (!report.whole.sums.split_known && report.whole.sums.charged()) {
    return "How T_Orch splits into dispatch and the libraries' front end is not known: this trace "
           "has no native kernel to compare with.";
  }
  if (diagnosis.largest == HostOverheadLayer::kNone) return "";
  if (layers_untold(report)) {
    return "Most launches have no operator around them in this trace, so Python, dispatch and "
           "library time are not known. Little but launching itself is charged for them.";
  }
  std::string text = "The largest layer is " + layer_words(diagnosis.largest) + ": " +
                     format_share(diagnosis.largest_share) + " of T_Orch.";
  if (report.with_stack && diagnosis.largest == HostOverheadLayer::kPython) {
    text += " Recording Python stacks inflates it; a run without them shows by how much.";
  }
  return text;
}

// A graph launch costs the host time only once.
std::string graph_text(const HostOverheadReport& report) {
  const uint64_t followers = report.whole.orphans.graph_followers;
  const uint64_t n = report.whole.sums.n;
  if (followers == 0) return "";
  return format_counted(followers, "kernel", "kernels") + " of " +
         format_count(static_cast<int64_t>(n)) +
         " ran inside graph launches, for which the host pays once.";
}

std::string wall_text(const HostOverheadReport& report, const HostOverheadDiagnosis& diagnosis) {
  const HostOverheadWindow& w = report.whole;
  if (w.t_e2e_ns <= 0) return "";
  std::string text = "By the clock the GPU ran no kernel for " + format_ns(diagnosis.gpu_idle_ns) +
                     " of " + format_ns(w.t_e2e_ns) + " (T_e2e)";
  if (w.exclusive.waiting_ns > 0) {
    text += ", and the host threads waited, allocated or were blocked in launch calls for " +
            format_ns(w.exclusive.waiting_ns);
  }
  return text + ".";
}

// One-time costs, if they are at least a tenth of the time.
std::string start_text(const HostOverheadReport& report, int64_t cold_ns, size_t devices) {
  const auto all_ns = report.whole.t_e2e_ns * static_cast<int64_t>(devices);
  if (cold_ns <= 0 || cold_ns * 10 < all_ns) return "";
  return "One-time initialization delays the " +
         (devices == 1 ? "GPU by " + format_ns(cold_ns)
                       : "GPUs by " + format_ns(cold_ns) + " in sum") +
         ": a run past its start does not pay it.";
}

// The numbers as defined in the paper, for comparison with others, and their limits.
std::string literal_text(const HostOverheadReport& report) {
  const HostOverheadWindow& w = report.whole;
  const double times = w.additivity;
  if (is_literal(report.mode)) {
    if (!(times > 1)) return "";
    return "T_Orch charges an operator again for every kernel it launches; each moment of a thread "
           "charged once, it is " +
           format_ns(w.exclusive.total_ns) +
           (w.hdbi_exclusive ? " (HDBI " + hdbi_text(*w.hdbi_exclusive) + ")" : "") + ".";
  }
  if (!w.literal.hdbi) return "";
  return "Literally by the paper's sums T_Orch is " + format_ns(w.literal.t_orch_ns) + ", HDBI " +
         hdbi_text(*w.literal.hdbi) + " (" + kAsPrinted + ").";
}

std::string orphan_text(const HostOverheadReport& report) {
  const HostOverheadOrphans& o = report.whole.orphans;
  const uint64_t lost = o.without_call + o.without_op;
  const uint64_t n = report.whole.sums.n;
  if (layers_untold(report) || !report.whole.sums.charged()) return "";
  if (n == 0 || static_cast<double>(lost) < kManyOrphans * static_cast<double>(n)) return "";
  const double share = static_cast<double>(lost) / static_cast<double>(n);
  return format_share(share) +
         " of the kernels have no launch call or no operator in the trace: what they cost the host "
         "is not in T_Orch.";
}

std::string phase_text(const HostOverheadReport& report) {
  std::string text;
  for (const HostOverheadWindow& phase : report.phases) {
    if (!phase.sums.hdbi) continue;
    text += text.empty() ? "" : "; ";
    text += std::string(overhead_phase_name(phase.phase)) + ": HDBI " + hdbi_text(*phase.sums.hdbi);
    if (phase.kernels_per_token) {
      text += ", " + ratio_text(*phase.kernels_per_token) + " kernels per token";
    }
  }
  if (text.empty()) return "";
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

// The run's action with the same change; null if there is none.
const Lever* same_lever(std::string_view overhead_lever, const std::vector<Lever>& levers) {
  for (const SameActions& same : kSameActions) {
    if (same.key != overhead_lever) continue;
    for (const std::string_view key : same.actions) {
      for (const Lever& lever : levers) {
        if (lever.key == key) return &lever;
      }
    }
  }
  return nullptr;
}

}  // namespace

LayerNames layer_names(HostOverheadMode mode) {
  switch (mode) {
    case HostOverheadMode::kExclusive:
      return {"dispatch", "launch calls, ΔKT"};
    case HostOverheadMode::kPaper:
      return {"dispatch base", "launch floor, ΔKT"};
    case HostOverheadMode::kCode:
      return {"dispatch, own", "launch floor, ΔKT"};
  }
  return {};
}

std::string hdbi_text(double hdbi) {
  if (hdbi > 0 && hdbi < 0.005) return "<0.01";
  if (hdbi < 1 && hdbi > 0.995) return ">0.99";
  return fmt::format("{:.2f}", hdbi);
}

std::vector<Lever> recommended(const std::vector<HostOverheadAdvice>& advice) {
  std::vector<Lever> levers;
  for (const HostOverheadAdvice& a : advice) {
    const auto is_same = [&](const Lever& lever) { return lever.key == a.replayed.key; };
    if (std::none_of(levers.begin(), levers.end(), is_same)) levers.push_back(a.replayed);
  }
  return levers;
}

std::vector<HostOverheadAdvice> overhead_advice(const HostOverheadDiagnosis& diagnosis,
                                                const std::vector<Lever>& levers) {
  std::vector<std::pair<size_t, HostOverheadAdvice>> ranked;
  for (const HostOverheadLever& lever : diagnosis.levers) {
    const Lever* same = same_lever(lever.key, levers);
    if (same == nullptr) continue;
    ranked.emplace_back(static_cast<size_t>(same - levers.data()),
                        HostOverheadAdvice{lever, *same});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return a.second.lever.at_most_ns > b.second.lever.at_most_ns;
  });
  std::vector<HostOverheadAdvice> advice;
  for (auto& [rank, one] : ranked) advice.push_back(std::move(one));
  return advice;
}

std::vector<std::string> overhead_verdict_words(const Trace& trace,
                                                const HostOverheadReport& report,
                                                const HostOverheadDiagnosis& diagnosis,
                                                const std::vector<HostOverheadAdvice>& advice,
                                                int64_t cold_ns, size_t devices) {
  if (report.whole.sums.n == 0) {
    return {no_kernels_words(trace)};
  }
  std::vector<std::string> words = {answer(report)};
  for (std::string text :
       {layers_text(report, diagnosis), graph_text(report), phase_text(report),
        wall_text(report, diagnosis), start_text(report, cold_ns, devices), literal_text(report),
        orphan_text(report), levers_text(recommended(advice))}) {
    if (!text.empty()) words.push_back(std::move(text));
  }
  return words;
}

std::string overhead_measured_words(const HostOverheadReport& report,
                                    const MeasuredReport& measured) {
  const HostOverheadSums& s = measured.sums;
  if (measured.tier_invocations[static_cast<size_t>(MatchTier::kNone)] == s.n) {
    return "Nothing was measured: none of the kernels has a replay, and the sums below that call "
           "themselves measured are the trace's own.";
  }
  std::string text = "Measured by replay through " +
                     std::string(replay_through_words(measured.through)) + ", T_Orch is " +
                     format_ns(s.t_orch_ns);
  if (report.whole.sums.t_orch_ns > 0) {
    const double change = static_cast<double>(s.t_orch_ns - report.whole.sums.t_orch_ns) /
                          static_cast<double>(report.whole.sums.t_orch_ns);
    text += " (" + std::string(change < 0 ? "-" : "+") + format_share(std::abs(change)) +
            " against the trace alone)";
  }
  if (s.hdbi) text += ", HDBI " + hdbi_text(*s.hdbi);
  const auto none = static_cast<size_t>(MatchTier::kNone);
  text += ": " + format_count(static_cast<int64_t>(s.n - measured.tier_invocations[none])) +
          " of " + format_counted(s.n, "kernel has", "kernels have") + " a replay";
  if (!measured.guarded.empty()) {
    text += ", of which the launch time of " +
            format_counted(measured.guarded.size(), "unique kernel", "unique kernels") +
            " was rejected as contaminated";
  }
  return text + ".";
}

std::vector<std::string> overhead_report_words(const HostOverheadReport& report,
                                               const HostOverheadDiagnosis& diagnosis) {
  if (report.whole.sums.n == 0 || diagnosis.largest == HostOverheadLayer::kNone) return {};
  if (layers_untold(report)) return {};
  const HostOverheadSums& s = report.whole.sums;
  std::string text = "Host cost by layer: largest is " + layer_words(diagnosis.largest) + ", " +
                     format_share(diagnosis.largest_share) + " of T_Orch (" +
                     format_ns(s.t_orch_ns) + " for " + format_ns(s.t_device_ns) +
                     " of device work";
  if (s.hdbi) text += ", HDBI " + hdbi_text(*s.hdbi);
  text += ")";
  return {text + "."};
}

}  // namespace assay
