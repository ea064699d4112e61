// The words a report opens with. Every sentence is a rule over measured numbers; a lever's gain is
// an upper bound ("at most") that names the number which bounds it.

#include <algorithm>
#include <cmath>

#include "kernels/name.h"
#include "report/document/units.h"
#include "report/run/results.h"
#include "report/run/section.h"

namespace assay {
namespace {

double share_of(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

std::string idle_text(const LaunchMetrics& m) {
  return "the GPU is idle " + format_share(share_of(m.gpu_idle_union_ns, m.il_ns)) + " of " +
         format_ns(m.il_ns) + " (IL)";
}

std::string launches_text(const LaunchMetrics& m) {
  std::string text = format_counted(m.launches, "launch", "launches");
  if (m.launch_time.n == 0) return text;
  text += ", " + format_ns(std::llround(m.launch_time.p50_ns)) +
          (m.launch_time.n > 1 ? " (median)" : "") + " from call to start";
  if (std::isfinite(m.queue_share)) {
    text += ", of which queueing is " + format_share(m.queue_share);
  }
  return text;
}

std::string graph_text(const LaunchMetrics& m) {
  if (m.graph_kernels == 0) return "";
  return format_counted(m.graph_launches, "graph launch", "graph launches") + " (one call each) " +
         (m.graph_launches == 1 ? "replays " : "replay ") +
         format_counted(m.graph_kernels, "kernel", "kernels") + ", " +
         format_share(share_of(m.graph_kernel_sum_ns, m.kernel_sum_ns)) + " of device time.";
}

std::string answer(const LaunchMetrics& m, const TraceVerdict& verdict) {
  const std::string idle = idle_text(m);
  switch (verdict.bound) {
    case TraceBound::kCpu:
      return "Host-bound: " + idle + " while the host prepares and launches work; " +
             launches_text(m) + ".";
    case TraceBound::kGpu:
      return "GPU-bound: " + idle + "; " + launches_text(m) + ".";
    case TraceBound::kGraph:
      return "Bound by graph replay and what surrounds it: " + idle +
             " although most device time is graph replay; the waits lie between launches.";
    case TraceBound::kSync:
      return "Bound by synchronisation: " + idle +
             ", most of it while the host waited in a "
             "blocking call or had to start over after one; " +
             launches_text(m) + ".";
    case TraceBound::kInput:
      return "Starved: " + idle +
             ", mostly while the host loads input or does something the trace "
             "does not show; " +
             launches_text(m) + ".";
    case TraceBound::kTransition:
      return "Between host- and GPU-bound: " + idle + "; " + launches_text(m) + ".";
    case TraceBound::kUnknown:
      break;
  }
  return "Undecided: " + idle +
         ", but the trace does not show what launched the kernels; record "
         "CPU activity too (ProfilerActivity.CPU).";
}

void add_lever(std::vector<Lever>& levers, const LaunchMetrics& m, const char* key,
               std::string what, int64_t at_most_ns, std::string basis) {
  if (at_most_ns <= 0 || m.il_ns <= 0) return;
  levers.push_back(
      {key, std::move(what), at_most_ns, share_of(at_most_ns, m.il_ns), std::move(basis)});
}

void add_device_lever(std::vector<Lever>& levers, const LaunchReport& launch) {
  const LaunchMetrics& m = launch.whole;
  const auto longest = std::max_element(
      launch.top_kernels.begin(), launch.top_kernels.end(),
      [](const TopKernel& a, const TopKernel& b) { return a.dur_in_il_ns < b.dur_in_il_ns; });
  if (longest == launch.top_kernels.end()) return;
  const bool collective = longest->kind == KernelKind::kCommunication;
  const std::string what = collective
                               ? "hide or shrink communication (its time includes waiting for "
                                 "other ranks), first "
                               : "make device work cheaper, first ";
  add_lever(levers, m, collective ? "communication" : "device_work",
            what + describe_kernel(longest->name) + ", " +
                format_share(share_of(longest->dur_sum_ns, m.kernel_sum_ns)) + " of kernel time",
            std::min(longest->dur_in_il_ns, m.busy_in_window_ns),
            "summed duration of that kernel's " + format_counted(longest->count, "run", "runs") +
                (longest->dur_in_il_ns < longest->dur_sum_ns ? ", as far as it lies in IL" : ""));
}

std::vector<Lever> find_levers(const LaunchReport& launch, const FusionReport& fusion) {
  const LaunchMetrics& m = launch.whole;
  std::vector<Lever> levers;
  if (m.cpu_idle_known) {
    levers = host_levers(launch);
    const int64_t host_ns = levers.empty() ? 0 : levers.front().at_most_ns;
    const bool priced = launch.floor.known() && fusion.plan_min.launches_saved > 0;
    if (priced) {
      const double saved = static_cast<double>(fusion.plan_min.launches_saved) *
                           static_cast<double>(launch.floor.floor_ns);
      add_lever(levers, m, "fusion",
                "fuse recurring kernel chains: " +
                    format_counted(fusion.plan_min.launches_saved, "launch", "launches") + " of " +
                    format_count(static_cast<int64_t>(fusion.k_eager)) + " less",
                std::min(static_cast<int64_t>(saved), host_ns),
                "launches saved x launch floor, the launches alone; capped by the idle time above");
    }
    add_lever(
        levers, m, "remove_syncs",
        "remove blocking calls (.item(), .cpu(), copies, synchronize) from the loop",
        std::min(m.gpu_idle_after_sync_ns + m.idle_blame.host_blocked_ns, m.gpu_idle_union_ns),
        "GPU idle during a blocking call, or that began in one");
    add_lever(levers, m, "input",
              "look at what the host does unseen: input loading, logging, other code",
              m.idle_blame.host_input_ns + m.idle_blame.host_gap_long_ns,
              "GPU idle in data loading and in unrecorded gaps of 1 ms and more");
  }
  add_device_lever(levers, launch);
  std::stable_sort(levers.begin(), levers.end(),
                   [](const Lever& a, const Lever& b) { return a.at_most_ns > b.at_most_ns; });
  return levers;
}

std::string levers_text(const std::vector<Lever>& levers) {
  if (levers.empty()) return "";
  constexpr size_t kShown = 3;
  std::string text = levers.size() == 1 ? "The lever: " : "The biggest levers: ";
  for (size_t i = 0; i < levers.size() && i < kShown; ++i) {
    if (i > 0) text += "; ";
    text += levers[i].what + " (at most " + format_upper_share(levers[i].share_of_il) + " of IL)";
  }
  return text + ".";
}

std::string iterations_text(const LaunchReport& launch) {
  const MeanInterval& il = launch.means.il_ns;
  if (launch.window_source == WindowSource::kWholeTrace || il.n < 2) return "";
  return "Inference latency (IL) per iteration: " + format_ns(std::llround(il.mean)) +
         " on average over " + std::to_string(il.n) + ", 95 % interval " +
         format_ns(std::llround(std::max(0.0, il.low))) + " to " +
         format_ns(std::llround(il.high)) + ".";
}

}  // namespace

std::vector<Lever> host_levers(const LaunchReport& launch) {
  const LaunchMetrics& m = launch.whole;
  std::vector<Lever> levers;
  if (!m.cpu_idle_known) return levers;
  add_lever(
      levers, m, "cheaper_host",
      "take the host off the path: CUDA graphs, torch.compile, or a faster CPU core",
      m.idle_blame.host_busy_ns + m.idle_blame.host_gap_short_ns,
      "GPU idle while the launching threads are in operators or calls, or between them in gaps "
      "under 1 ms, as Python leaves them");
  return levers;
}

bool has_kernels(const Trace& trace) {
  const std::vector<ActivityKind>& kinds = trace.activities.kind;
  return std::find(kinds.begin(), kinds.end(), ActivityKind::kKernel) != kinds.end();
}

std::string no_kernels_words(const Trace& trace) {
  if (trace.log.data_lost()) {
    return "No kernels among what could be read: data was lost on import (see the import log), and "
           "the GPU work may lie in what is missing.";
  }
  if (!trace.activities.empty()) {
    return "No kernels: the trace has " +
           format_counted(trace.activities.size(), "device row", "device rows") +
           ", but none is a kernel, so there is no launch to judge.";
  }
  if (!trace.other_events.empty()) {
    return "No GPU work that Assay knows: " +
           format_counted(trace.other_events.size(), "event is", "events are") +
           " of categories it has no table for. It reads PyTorch profiler traces.";
  }
  return "No GPU work in this trace: " + format_counted(trace.ops.size(), "operator", "operators") +
         " on the host and no kernel. Record with ProfilerActivity.CUDA.";
}

VerdictWords verdict_words(const Trace& trace, const LaunchReport& launch,
                           const FusionReport& fusion, const TraceVerdict& verdict) {
  VerdictWords words;
  const LaunchMetrics& m = launch.whole;
  if (m.kernels == 0) {
    words.sentences.push_back(no_kernels_words(trace));
    return words;
  }
  words.sentences.push_back(answer(m, verdict));
  if (m.gpu_idle_bracket.refused) {
    words.sentences.back() = "Undecided: idle time is refused (" + m.gpu_idle_bracket.reasons +
                             "); " + launches_text(m) + ".";
  }
  if (verdict.borderline)
    words.sentences.push_back("Borderline: " + verdict.borderline_reason + ".");
  for (std::string text : {graph_text(m), iterations_text(launch)}) {
    if (!text.empty()) words.sentences.push_back(std::move(text));
  }
  words.levers = find_levers(launch, fusion);
  std::string levers = levers_text(words.levers);
  if (!levers.empty()) words.sentences.push_back(std::move(levers));
  return words;
}

Section verdict_section(const TraceVerdict& verdict, const std::vector<Lever>& levers) {
  TableOf table(levers,
                {.key = "levers", .title = "Levers", .terminal_limit = 0, .show = Show::kDataOnly});
  table.add(keys::key, &Lever::key)
      .add(keys::what, &Lever::what)
      .add(keys::at_most_ns, &Lever::at_most_ns)
      .add(keys::share_of_il, &Lever::share_of_il)
      .add(keys::basis, &Lever::basis);
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  for (const Lever& lever : levers) {
    prose.paragraphs.push_back("at most " + format_ns(lever.at_most_ns) + " (" +
                               format_share(lever.share_of_il) + " of IL): " + lever.what +
                               ". Bound: " + lever.basis + ".");
  }
  Facts numbers{.key = "verdict_numbers",
                .title = "Behind the verdict",
                .items = {data_fact(keys::bound, std::string(trace_bound_name(verdict.bound))),
                          data_fact(keys::borderline, verdict.borderline),
                          fact(keys::gpu_idle_share, verdict.gpu_idle_share),
                          data_fact(keys::gpu_idle_share_low, verdict.gpu_idle_share_low),
                          data_fact(keys::gpu_idle_share_high, verdict.gpu_idle_share_high),
                          fact(keys::queue_share, verdict.queue_share),
                          fact(keys::cpu_idle_share, verdict.cpu_idle_share),
                          fact(keys::graph_share, verdict.graph_share, "",
                               verdict.graph_share > 0 ? Show::kEverywhere : Show::kDataOnly),
                          fact(keys::idle_host_share, verdict.idle_host_share),
                          fact(keys::idle_blocked_share, verdict.idle_blocked_share),
                          fact(keys::idle_after_sync_share, verdict.idle_after_sync_share),
                          fact(keys::idle_input_share, verdict.idle_input_share)}};
  return {.key = "",
          .title = "What would change it (upper bounds; they overlap)",
          .blocks = {std::move(prose), std::move(numbers), std::move(table)}};
}

}  // namespace assay
