#include "launch/launch_trust.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "launch/facts.h"

namespace assay {
namespace {

// Number of kernels that start before an earlier kernel of any stream has ended.
uint64_t overlapping_kernels(const Trace& trace) {
  std::vector<Interval> kernels;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    if (is_kernel(trace, ActivityId(a))) kernels.push_back(interval_of(trace, ActivityId(a)));
  }
  std::sort(kernels.begin(), kernels.end(), [](const Interval& a, const Interval& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns < b.end_ns;
  });
  uint64_t overlapping = 0;
  int64_t end_ns = kernels.empty() ? 0 : kernels.front().start_ns;
  for (const Interval& kernel : kernels) {
    overlapping += kernel.start_ns < end_ns ? 1 : 0;
    end_ns = std::max(end_ns, kernel.end_ns);
  }
  return overlapping;
}

uint64_t devices_with_kernels(const Trace& trace) {
  std::set<int64_t> devices;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    if (!is_kernel(trace, ActivityId(a))) continue;
    devices.insert(trace.streams[trace.activities.stream[a].index()].device);
  }
  return devices.size();
}

// Kernels of the whole trace before p_1, entirely or in part, and the affected time.
struct BeforeOrigin {
  uint64_t kernels = 0;
  int64_t time_ns = 0;
};

BeforeOrigin before_origin(const Trace& trace, int64_t origin_ns) {
  BeforeOrigin result;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    const ActivityId activity(a);
    if (!is_kernel(trace, activity) || trace.activities.start_ns[a] >= origin_ns) continue;
    ++result.kernels;
    result.time_ns += std::min(trace.end_ns(activity), origin_ns) - trace.activities.start_ns[a];
  }
  return result;
}

int64_t kernel_time_outside(const Trace& trace, const Links& links, const Windows& windows) {
  const std::vector<int32_t> membership = activity_windows(trace, links, windows);
  int64_t time_ns = 0;
  for (size_t a = 0; a < membership.size(); ++a) {
    if (membership[a] < 0 && is_kernel(trace, ActivityId(a))) time_ns += trace.activities.dur_ns[a];
  }
  return time_ns;
}

void note_links(const Trace& trace, const Links& links, const LaunchMetrics& whole,
                NoteList& notes) {
  const LinkStats& stats = links.stats;
  notes.add(
      "unlinked_kernels", stats.kernels_unlinked - stats.kernels_carried_over,
      stats.kernels_unlinked_ns - stats.kernels_carried_over_ns,
      "tklqt_ns,launches,gpu_idle_union_ns",
      "kernels without a launch call in the trace: TKLQT lacks their launch times. They count as "
      "GPU busy, so idle is larger if they do not belong here");
  notes.add("carried_over_kernels", stats.kernels_carried_over, stats.kernels_carried_over_ns,
            "kernels,kernel_sum_ns,akd_ns,gpu_idle_eq5_ns",
            "kernels queued before the trace started: counted as kernels and, in the inference "
            "window, as GPU busy, not in TKLQT. Equation 5 also subtracts time before it");
  notes.add("clamped_launches", whole.clamped, whole.clamped_ns, "tklqt_ns,queue_share",
            "kernels that start less than 10 \u00B5s before their launch call: launch time taken "
            "as 0, so TKLQT exceeds the plain sum by this time");
  notes.add(
      "dropped_launches", whole.dropped, whole.dropped_ns, "tklqt_ns,launch_time",
      "kernels that start 10 \u00B5s or more before their launch call: clocks or correlation ids "
      "are wrong; TKLQT lacks their launch times");
  if (trace.whole_microseconds && whole.launch_time.n > 0) {
    const auto timed = static_cast<int64_t>(whole.launch_time.n);
    notes.add(
        "whole_microseconds", whole.kernels, static_cast<int64_t>(whole.kernels) * kMicrosecondNs,
        "tklqt_ns,kernel_sum_ns,kernel_union_ns,gpu_idle_union_ns,akd_ns",
        "times are whole microseconds: each launch time and each duration is within 1 \u00B5s, so "
        "TKLQT within " +
            std::to_string(timed) + " \u00B5s and busy time within " +
            std::to_string(whole.kernels) + " \u00B5s");
  }
  notes.add("clock_offset", whole.launch_time.n,
            static_cast<int64_t>(whole.launch_time.n) * kMicrosecondNs,
            "tklqt_ns,queue_share,il_ns",
            "host and device times are compared as recorded: each microsecond between their clocks "
            "moves TKLQT by " +
                std::to_string(whole.launch_time.n) + " \u00B5s and IL by 1 \u00B5s");
  notes.add("graph_kernels", whole.graph_kernels, whole.graph_kernel_sum_ns,
            "tklqt_ns,launches,queue_share",
            "kernels replayed by " + std::to_string(whole.graph_launches) +
                (whole.graph_launches == 1 ? " graph launch" : " graph launches") +
                ": only the first kernel of each has a launch time, so TKLQT and "
                "queue share say little about them; their time is GPU busy time");
  notes.add("shared_correlations", stats.shared_correlations, 0, "tklqt_ns,launches",
            "launch calls with several kernels and no graph: launch time taken for the first "
            "kernel only");
  notes.add("duplicate_calls", stats.duplicate_calls, 0, "launches,tklqt_ns",
            "calls with the correlation id of an earlier one, which counts as the launch. Normal "
            "for runtime and driver calls of one launch, wrong for several processes");
  notes.add("launches_without_kernel", stats.launch_calls_unlinked, 0, "launches,cpu_idle_ns",
            "launch calls without device work in the trace (graph capture, or the trace ended "
            "first): not in the launch count");
}

void note_windows(const Trace& trace, const Links& links, const Windows& windows,
                  const LaunchReport& report, NoteList& notes) {
  const LaunchMetrics& whole = report.whole;
  const int64_t overlap_ns = whole.kernel_sum_ns - whole.kernel_union_ns;
  if (overlap_ns > 0) {
    notes.add("overlapping_kernels", overlapping_kernels(trace), overlap_ns,
              "gpu_idle_eq5_ns,kernel_sum_ns",
              "kernels that run while another does: equation 5 counts that time twice and is too "
              "small by it; idle from the union is not affected");
  }
  const BeforeOrigin before = before_origin(trace, whole.origin_ns);
  notes.add("kernels_before_origin", before.kernels, before.time_ns,
            "gpu_idle_eq5_ns,kernel_union_ns",
            "kernels that start before the first operator: this time is in the kernel sums but not "
            "in the inference window. Equation 5 is too small by it");
  notes.add("inverted_window", whole.kernels > 0 && whole.il_ns == 0 ? 1 : 0, 0,
            "il_ns,gpu_idle_eq5_ns,gpu_idle_union_ns,cpu_idle_ns",
            "the last kernel ends before the first operator begins: the clocks disagree, and "
            "nothing can be said about idle time");
  if (report.window_source != WindowSource::kWholeTrace) {
    notes.add("kernels_outside_iterations", report.kernels_outside_iterations,
              kernel_time_outside(trace, links, windows), "iterations",
              "kernels launched outside every iteration: in the whole-trace numbers only");
  }
}

void note_iterations(const LaunchReport& report, NoteList& notes) {
  uint64_t windows = 0;
  int64_t time_ns = 0;
  for (const LaunchMetrics& metrics : report.iterations) {
    if (metrics.gpu_idle_bracket.reasons.find("neighbour_kernels") == std::string::npos) continue;
    ++windows;
    time_ns += metrics.gpu_idle_union_ns - metrics.gpu_idle_bracket.low_ns;
  }
  notes.add("neighbour_kernels", windows, time_ns, "iterations.gpu_idle_union_ns",
            "iterations with running kernels of another iteration, or of none. The GPU was idle "
            "for less than the iteration's own kernels suggest: see the lower bound");
}

}  // namespace

TrustNotes launch_trust(const Trace& trace, const Links& links, const Windows& windows,
                        const LaunchReport& report) {
  NoteList notes;
  note_links(trace, links, report.whole, notes);
  note_windows(trace, links, windows, report, notes);
  note_iterations(report, notes);
  notes.add("other_thread_launches", report.whole.other_thread_launches, 0, "cpu_idle_ns",
            "launches made by other threads than the one that launches most (backward pass, data "
            "loading): CPU idle is that one thread's");
  const uint64_t devices = devices_with_kernels(trace);
  notes.add("several_devices", devices > 1 ? devices : 0, 0, "gpu_idle_union_ns,kernel_union_ns",
            "devices ran kernels in this process: busy means that at least one of them was");
  return notes.take();
}

}  // namespace assay
