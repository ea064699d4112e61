// Parts of a run's report other than its headline: graphs, iterations, and why there are no
// launches to analyze.

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "kernels/name.h"
#include "text/units.h"
#include "report/run/results.h"
#include "report/run/section.h"
#include "trace/unread.h"

namespace assay {
namespace {

std::string graph_text(const LaunchMetrics& m) {
  if (m.graph_kernels == 0) return "";
  return format_counted(m.graph_launches, "graph launch", "graph launches") + " (one call each) " +
         (m.graph_launches == 1 ? "replays " : "replay ") +
         format_counted(m.graph_kernels, "kernel", "kernels") + ", " +
         format_share(share(m.graph_kernel_sum_ns, std::max<int64_t>(m.kernel_sum_ns, 1))) +
         " of device time.";
}

std::string iterations_text(const LaunchReport& launch) {
  // The host's part is unknown if there are no launches.
  if (launch.window_source == WindowSource::kWholeTrace || launch.whole.launches == 0) return "";
  std::vector<int64_t> latencies;
  for (const LaunchMetrics& one : launch.iterations) {
    if (one.kernels > 0) latencies.push_back(one.il_ns);
  }
  if (latencies.size() < 2) return "";
  std::sort(latencies.begin(), latencies.end());
  const size_t n = latencies.size();
  const int64_t low_ns = latencies[(n - 1) / 2];
  return "Inference latency (IL) is the time from the host's start on an iteration to its last "
         "kernel's end, including queues. It can exceed an iteration. IL: median " +
         format_ns(low_ns + (latencies[n / 2] - low_ns) / 2) + " of " + std::to_string(n) + ", " +
         format_ns(latencies.front()) + " to " + format_ns(latencies.back()) + ".";
}

// Recording instructions for the tool that made the trace.
std::string how_to_record(const Trace& trace) {
  const std::string_view file = trace.source;
  if (trace.tracer == Tracer::kNsightSystems) return "Record with nsys profile -t cuda.";
  if (file.ends_with(".db") || file.ends_with(".csv")) return "Record with --kernel-trace.";
  if (!trace.ops.empty()) return "Record with ProfilerActivity.CUDA.";
  return "Record the work of the device, too.";
}

}  // namespace

std::vector<std::string> run_words(const LaunchReport& launch) {
  std::vector<std::string> sentences;
  for (std::string text : {graph_text(launch.whole), iterations_text(launch)}) {
    if (!text.empty()) sentences.push_back(std::move(text));
  }
  return sentences;
}

std::string lever_gain_words(const Lever& lever) {
  return (lever.predicted ? "" : "up to ") + format_ns(lever.gain_ns) + ", " +
         (lever.predicted ? format_share(lever.share_of_window)
                          : format_upper_share(lever.share_of_window)) +
         " of the window";
}

std::string levers_text(const std::vector<Lever>& levers) {
  if (levers.empty()) return "";
  constexpr size_t kShown = 3;
  std::string text = levers.size() == 1 ? "The largest gain: " : "The largest gains: ";
  for (size_t i = 0; i < levers.size() && i < kShown; ++i) {
    if (i > 0) text += "; ";
    text += levers[i].what + " (" + lever_gain_words(levers[i]) + ")";
  }
  return text + ".";
}

bool has_kernels(const Trace& trace) {
  const std::vector<ActivityKind>& kinds = trace.activities.kind;
  return std::find(kinds.begin(), kinds.end(), ActivityKind::kKernel) != kinds.end();
}

std::string no_known_work_words(const Trace& trace) {
  return "No GPU work that Assay knows, and " +
         format_counted(trace.other_events.size(), "event", "events") + " " +
         unread_rows_words(trace);
}

std::string no_kernels_words(const Trace& trace) {
  if (trace.activities.empty() && trace.other_events.size() > trace.ops.size()) {
    return no_known_work_words(trace) + "." +
           (trace.log.data_lost() ? " Data was lost on import, too." : "");
  }
  if (trace.log.data_lost()) {
    return "No kernels could be read: data was lost on import (see the import log), and the GPU "
           "work may be in the missing part.";
  }
  if (!trace.activities.empty()) {
    return "No kernels: the trace has " +
           format_counted(trace.activities.size(), "device row", "device rows") +
           ", but none is a kernel, so there is no launch to analyze.";
  }
  return "No GPU work in this trace: " + format_counted(trace.ops.size(), "operator", "operators") +
         " on the host and no kernel. " + how_to_record(trace);
}

Section shares_section(const LaunchShares& shares) {
  const auto shown_unless_zero = [](double value) {
    return value > 0 ? Show::kEverywhere : Show::kDataOnly;
  };
  Facts numbers{.key = "launch_shares",
                .title = "Numbers of the diagnosis",
                .items = {fact(keys::gpu_idle_share, shares.gpu_idle_share),
                          data_fact(keys::gpu_idle_share_low, shares.gpu_idle_share_low),
                          data_fact(keys::gpu_idle_share_high, shares.gpu_idle_share_high),
                          fact(keys::queue_share, shares.queue_share),
                          fact(keys::cpu_idle_share, shares.cpu_idle_share),
                          fact(keys::graph_share, shares.graph_share, "",
                               shown_unless_zero(shares.graph_share)),
                          fact(keys::idle_host_share, shares.idle_host_share),
                          fact(keys::idle_blocked_share, shares.idle_blocked_share),
                          fact(keys::idle_after_sync_share, shares.idle_after_sync_share),
                          fact(keys::idle_input_share, shares.idle_input_share),
                          fact(keys::idle_queued_share, shares.idle_unseen_share, "",
                               shown_unless_zero(shares.idle_unseen_share))}};
  return {.key = "", .title = "Launch and idle shares", .blocks = {std::move(numbers)}};
}

}  // namespace assay
