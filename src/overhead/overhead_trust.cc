#include "overhead/overhead_trust.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/intervals.h"

namespace assay {
namespace {

// In a trace with this many launches, no single operator call should have this share of T_Orch.
constexpr uint64_t kManyLaunches = 20;
constexpr double kOneCallShare = 0.25;
// A median over fewer kernels depends on every single one.
constexpr uint64_t kFewBaseKernels = 5;

// Part of T_Device in which another row's kernel was already running.
int64_t overlap_ns(const Trace& trace, const HostOverheadReport& report) {
  std::vector<Interval> intervals;
  intervals.reserve(report.rows.size());
  for (const HostOverheadRow& row : report.rows) {
    const int64_t start_ns = trace.activities.start_ns[row.kernel.index()];
    intervals.push_back({start_ns, start_ns + row.cost.dur_ns});
  }
  return report.whole.sums.t_device_ns - union_ns(std::move(intervals));
}

uint64_t devices_used(const Trace& trace, const std::vector<HostOverheadRow>& rows) {
  std::set<int64_t> devices;
  for (const HostOverheadRow& row : rows) {
    devices.insert(trace.streams[trace.activities.stream[row.kernel.index()].index()].device);
  }
  return devices.size();
}

// The operator call that is charged most, summed over its kernels: Python, dispatch, library.
struct CostliestCall {
  uint64_t kernels = 0;
  int64_t ns = 0;
};
CostliestCall costliest_call(const HostOverheadReport& report) {
  std::unordered_map<OpId, CostliestCall> calls;
  CostliestCall most;
  for (const HostOverheadRow& row : report.rows) {
    if (!row.op || !row.owns_call()) continue;
    CostliestCall& call = calls[row.op];
    ++call.kernels;
    if (is_literal(report.mode)) {
      const bool own = row.cost.library || report.mode == HostOverheadMode::kCode;
      call.ns += row.cost.t_py_ns;
      call.ns += own ? row.cost.t_dispatch_ns : report.base_ns.value_or(0);
    } else {
      call.ns += row.exclusive.py_ns + row.exclusive.dispatch_ns;
    }
    if (call.ns > most.ns) most = call;
  }
  return most;
}

int64_t times(uint64_t count, int64_t each_ns) { return static_cast<int64_t>(count) * each_ns; }

void note_rows(const HostOverheadReport& report, NoteList& notes) {
  const HostOverheadOrphans& orphans = report.whole.orphans;
  const int64_t base_ns = report.base_ns.value_or(0);
  const int64_t host_ns = base_ns + report.floor.floor_ns;
  notes.add("kernels_without_call", orphans.without_call, times(orphans.without_call, host_ns),
            "t_orch_ns,n_launch,hdbi",
            "kernels without a launch call in the trace: in N and T_DeviceActive, but not charged. "
            "With their launches T_Orch would be larger by at least this time");
  notes.add(
      "kernels_without_op", orphans.without_op, times(orphans.without_op, base_ns),
      "t_py_ns,ft_ns,ct_ns",
      report.mode == HostOverheadMode::kExclusive
          ? "kernels launched outside all operators (Triton, custom launchers): their T_Py "
            "and dispatch are unknown, and nothing but their launch calls is charged"
      : report.mode == HostOverheadMode::kPaper
          ? "kernels launched outside all operators (Triton, custom launchers): their T_Py is "
            "charged as 0 and their dispatch as the base, in all this time"
          : "kernels launched outside all operators (Triton, custom launchers): their T_Py and "
            "dispatch are unknown. Library kernels are charged the base, others nothing");
  notes.add("ops_without_py", orphans.without_py, 0, "t_py_ns,ft_ns",
            "kernels of operators outside Python frames and other operators: T_Py is taken as 0, "
            "so T_Orch lacks the Python time before them. with_stack=True records it");
  notes.add("graph_followers", orphans.graph_followers, times(orphans.graph_followers, host_ns),
            "t_orch_ns,n_launch,kt_ns",
            "kernels of a graph launch but its first: not charged, because the host pays once per "
            "graph. Launched one by one, they would cost at least this time");
  notes.add("shared_calls", orphans.shared_followers, times(orphans.shared_followers, host_ns),
            "t_orch_ns,n_launch",
            "kernels that share their call with an earlier one: charged once, to the first");
  notes.add("launch_clamped", orphans.negative_launch_clamped, 0, "kt_fw_ns,families",
            "kernels that start up to 10 us before their call (clock noise): T_launch is taken as "
            "0. T_Orch does not contain T_launch and is not changed");
  notes.add("launch_dropped", orphans.negative_launch_dropped, 0, "kt_fw_ns,families",
            "kernels that start 10 us or more before their call: they have no T_launch; T_Orch "
            "does not contain T_launch and is not moved");
}

void note_method(const Trace& trace, const HostOverheadReport& report, NoteList& notes) {
  const HostOverheadWindow& whole = report.whole;
  const bool any = whole.sums.n > 0;
  const uint64_t frames = std::max<uint64_t>(1, trace.frames.size());
  notes.add("with_stack", report.with_stack && any ? frames : 0, whole.sums.t_py_ns,
            "t_py_ns,ft_ns,t_orch_ns",
            "Python stacks were recorded, and recording them takes time on the host: T_Py, this "
            "time in all, is inflated");
  notes.add("ranges_as_ops", report.ranges_as_ops && any ? trace.annotations.size() : 0, 0,
            "t_py_ns,ft_ns,ct_ns",
            "no operators in this trace: labelled ranges count as operators. T_dispatch starts "
            "with the innermost range around the launch, whatever else it contains");
  const bool untold = !whole.sums.charged();
  notes.add("host_cost_untold", untold ? whole.sums.n : 0, whole.sums.t_device_ns,
            "t_orch_ns,ft_ns,ct_ns,kt_ns,hdbi",
            whole.sums.n_launch == 0
                ? "kernels without any launch call in the trace: the host cost is unknown, not 0. "
                  "Record the runtime's calls and their correlation ids"
                : "kernels with launch calls outside operators, without a launch-overhead floor: "
                  "the host cost is unknown, not 0. Give one (--floor)");
  const bool no_base = !report.base_ns && whole.sums.n_launch > 0;
  notes.add("no_dispatch_base", no_base ? whole.sums.n_launch : 0, 0, "ft_ns,ct_ns,t_orch_ns",
            is_literal(report.mode)
                ? "no framework-native kernel with an operator: the dispatch base is taken as 0, "
                  "and the split into framework and library time means nothing"
                : "no framework-native kernel with an operator to compare with: how host time "
                  "splits into dispatch and the libraries' front end is not known; T_Orch stands");
  const auto by_call =
      std::count_if(report.rows.begin(), report.rows.end(),
                    [](const HostOverheadRow& row) { return row.library_by_call; });
  notes.add("library_by_call", static_cast<uint64_t>(by_call), 0, "ft_ns,ct_ns",
            "kernels that no name explains, launched inside operators of ATen by a call that "
            "libraries use: counted as a library's");
  notes.add("base_multi_launch", report.base_single_launch ? 0 : report.base_samples, 0,
            "dispatch_base_ns,ft_ns,ct_ns",
            "no native kernel is the only launch of its operator: the dispatch base is a median "
            "over operators with several launches and too large");
  const bool few_base = report.base_ns && report.base_samples < kFewBaseKernels;
  notes.add("base_samples", few_base ? report.base_samples : 0, 0, "dispatch_base_ns,ft_ns,ct_ns",
            "the dispatch base is a median over very few kernels");
  notes.add("copies_left_out", any ? report.copies_left_out : 0, 0, "n,t_device_ns,t_orch_ns",
            "copies and fills are not counted as kernels, as in the paper's program; count them "
            "with --include-copies");
}

void note_time(const Trace& trace, const HostOverheadReport& report, NoteList& notes) {
  const HostOverheadWindow& whole = report.whole;
  const int64_t overlap = overlap_ns(trace, report);
  notes.add("overlapping_kernels", overlap > 0 ? 1 : 0, overlap,
            "t_device_ns,hdbi,gpu_utilisation,idle_fraction",
            "kernels ran side by side: T_DeviceActive is a sum and counts this time more than "
            "once. Utilisation can exceed 1, and the idle fraction be negative");
  const int64_t waiting_ns = communication_ns(report);
  notes.add("communication", waiting_ns > 0 ? 1 : 0, waiting_ns, "t_device_ns,hdbi,gpu_utilisation",
            "time of collective kernels counts as device work, though a device may only wait for "
            "other ranks. HDBI and utilisation would be lower without it");
  const CostliestCall call = costliest_call(report);
  const bool one_call =
      whole.sums.n_launch >= kManyLaunches &&
      static_cast<double>(call.ns) > kOneCallShare * static_cast<double>(whole.sums.t_orch_ns);
  notes.add("one_call", one_call ? call.kernels : 0, call.ns, "t_orch_ns,ft_ns,ct_ns,hdbi",
            "kernels of a single operator call have this much of T_Orch. A first call that loads "
            "or tunes libraries is not a steady cost: record after warm-up");
  const uint64_t devices = devices_used(trace, report.rows);
  notes.add("several_devices", devices > 1 ? devices : 0, 0,
            "t_device_ns,gpu_utilisation,idle_fraction",
            "devices ran kernels in this process: T_DeviceActive sums over all of them");
  const bool literal = is_literal(report.mode);
  uint64_t above = literal && whole.orch_over_e2e > 1 ? 1 : 0;
  int64_t above_ns = above != 0 ? whole.sums.t_orch_ns - whole.t_e2e_ns : 0;
  if (literal && report.window_source != WindowSource::kWholeTrace) {
    for (const HostOverheadWindow& window : report.windows) {
      if (!(window.orch_over_e2e > 1)) continue;
      ++above;
      above_ns = std::max(above_ns, window.sums.t_orch_ns - window.t_e2e_ns);
    }
  }
  notes.add("orch_above_wall", above, above_ns, "t_orch_ns,orch_over_e2e,hdbi",
            "T_Orch exceeds the wall time by up to this: it charges an operator per kernel "
            "launched, and is not a share of latency. --mode exclusive charges each moment once");
}

void note_windows(const Windows& windows, const HostOverheadReport& report, NoteList& notes) {
  if (report.window_source == WindowSource::kWholeTrace) return;
  uint64_t inside = 0;
  int64_t inside_ns = 0;
  for (const HostOverheadWindow& window : report.windows) {
    inside += window.sums.n;
    inside_ns += window.sums.t_device_ns;
  }
  notes.add("kernels_outside_windows", report.whole.sums.n - inside,
            report.whole.sums.t_device_ns - inside_ns, "windows,means",
            "kernels launched outside every window: in the whole-trace numbers only");
  notes.add("windows_cut", windows.overlaps_cut, 0, "windows,means",
            "windows that reached into the next one and were cut at its start");
}

}  // namespace

TrustNotes overhead_trust(const Trace& trace, const Windows& windows,
                          const HostOverheadReport& report) {
  NoteList notes;
  note_rows(report, notes);
  note_method(trace, report, notes);
  note_time(trace, report, notes);
  note_windows(windows, report, notes);
  return notes.take();
}

}  // namespace assay
