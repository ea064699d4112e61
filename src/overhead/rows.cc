#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

#include "overhead/host_entries.h"
#include "overhead/unique_kernels.h"

namespace assay {
namespace {

// A kernel that starts this long before its call, or longer, is not explained by clock noise
// (spec/overhead 7).
constexpr int64_t kDroppedLaunchNs = -10'000;

bool counts(ActivityKind kind, bool count_copies) {
  return kind == ActivityKind::kKernel ||
         (count_copies && (kind == ActivityKind::kMemcpy || kind == ActivityKind::kMemset));
}

void set_launch(int64_t raw_ns, HostOverheadRow& row) {
  row.launch_dropped = raw_ns <= kDroppedLaunchNs;
  row.launch_clamped = raw_ns > kDroppedLaunchNs && raw_ns < 0;
  if (!row.launch_dropped) row.cost.t_launch_ns = std::max<int64_t>(raw_ns, 0);
}

void set_host(const HostEntry& entry, int64_t call_ns, HostOverheadRow& row) {
  row.op = entry.op;
  row.range = entry.range;
  row.single_launch = entry.single_launch;
  row.entry_ns = entry.found() ? entry.start_ns : call_ns;
  row.root_ns = std::min(entry.root_ns, row.entry_ns);
  row.py_ns = entry.torch_ns ? std::min(std::max(*entry.torch_ns, entry.before_ns), row.entry_ns)
                             : row.entry_ns;
  if (entry.engine) row.entry_ns = row.py_ns;
  if (!entry.found() || row.follower) return;
  row.cost.t_dispatch_ns = call_ns - entry.start_ns;
  row.without_py = !entry.torch_ns;
  if (entry.torch_ns) row.cost.t_py_ns = entry.start_ns - *entry.torch_ns;
}

// The first row of every call owns it: the cost of the call is charged to that row, once.
class CallOwners {
 public:
  CallOwners(const Trace& trace, const Links& links, bool count_copies)
      : trace_(trace), links_(links), count_copies_(count_copies) {}

  bool owns(ApiCallId call, ActivityId activity) const {
    for (ActivityId candidate : links_.activities_of(call)) {
      if (!counts(trace_.activities.kind[candidate.index()], count_copies_)) continue;
      return candidate == activity;
    }
    return false;
  }

 private:
  const Trace& trace_;
  const Links& links_;
  bool count_copies_;
};

void sort_rows(const Trace& trace, std::vector<HostOverheadRow>& rows) {
  const auto key = [&](const HostOverheadRow& row) {
    const int64_t start_ns = trace.activities.start_ns[row.kernel.index()];
    const int64_t launch_ns = row.call ? trace.api_calls.start_ns[row.call.index()] : start_ns;
    return std::tuple(row.window, launch_ns, start_ns, row.kernel);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const HostOverheadRow& a, const HostOverheadRow& b) { return key(a) < key(b); });
}

// True if the operators of the rows are labelled ranges. The readers of Nsight Systems and of
// Assay's own recordings store ranges as operators; those that PyTorch emits have aten:: names.
bool ranges_are_ops(const Trace& trace, const std::vector<HostOverheadRow>& rows) {
  if (trace.tracer != Tracer::kNsightSystems && trace.tracer != Tracer::kAssay) return false;
  bool any = false;
  for (const HostOverheadRow& row : rows) {
    if (!row.op) continue;
    any = true;
    if (trace.text(trace.ops.name[row.op.index()]).starts_with("aten::")) return false;
  }
  return any;
}

// Calls with which libraries launch kernels that they load themselves. at::native uses only
// cudaLaunchKernel and hipLaunchKernel.
bool is_library_call(std::string_view call) {
  return call.starts_with("cuLaunchKernelEx") || call == "hipExtModuleLaunchKernel";
}

// A kernel of unknown name counts as a library kernel if such a call launches it inside an ATen
// operator. Outside ATen operators, compilers use the same calls.
bool library_by_call(const Trace& trace, const KernelFacts& facts, const HostOverheadRow& row) {
  const bool named = !facts.library.empty() || facts.found == FoundBy::kRow || facts.named_native;
  return !named && !facts.vendor_library && row.call && row.op &&
         is_library_call(trace.text(trace.api_calls.name[row.call.index()])) &&
         trace.text(trace.ops.name[row.op.index()]).starts_with("aten::");
}

}  // namespace

HostOverheadRows extract_overhead_rows(const Trace& trace, const Links& links,
                                       const Windows& windows, const HostOverheadOptions& options) {
  const auto names = given_or_built_in(options.kernels, trace.strings, trace.activities.name);
  const HostEntries entries(trace, links);
  const CallOwners owners(trace, links, options.count_copies);
  const ActivityTable& activities = trace.activities;

  HostOverheadRows result;
  result.ranges_as_ops = entries.ranges_as_ops();
  for (size_t a = 0; a < activities.size(); ++a) {
    if (!counts(activities.kind[a], options.count_copies)) {
      result.copies_left_out += counts(activities.kind[a], true) ? 1 : 0;
      continue;
    }
    HostOverheadRow row;
    row.kernel = ActivityId(a);
    row.call = links.activity_call[a];
    row.cost.dur_ns = activities.dur_ns[a];
    const KernelFacts& facts = names->of(activities.name[a]);
    row.family = facts.family;
    row.paper_library = facts.paper_library;
    int64_t time_ns = activities.start_ns[a];
    if (row.call) {
      time_ns = trace.api_calls.start_ns[row.call.index()];
      row.follower = !owners.owns(row.call, row.kernel);
      set_host(entries.of(row.call), time_ns, row);
      if (!row.follower) set_launch(activities.start_ns[a] - time_ns, row);
    } else {
      row.entry_ns = row.root_ns = row.py_ns = time_ns;
    }
    const bool literal = is_literal(options.mode);
    row.library_by_call = !literal && library_by_call(trace, facts, row);
    row.cost.library = literal ? facts.paper_library : facts.vendor_library || row.library_by_call;
    row.cost.unpaid = row.owns_call() ? 0 : 1;
    row.window = static_cast<uint32_t>(window_at(windows, time_ns));  // -1: UINT32_MAX
    result.rows.push_back(row);
  }
  result.ranges_as_ops |= ranges_are_ops(trace, result.rows);
  sort_rows(trace, result.rows);
  return result;
}

}  // namespace assay
