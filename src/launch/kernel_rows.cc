// The uncollapsed operator -> call -> kernel graph, one row per kernel.

#include <algorithm>

#include "launch/facts.h"
#include "launch/tree.h"

namespace assay {

std::vector<KernelRow> list_kernels(const Trace& trace, const Links& links,
                                    const Windows& windows) {
  const std::vector<int64_t> raw = raw_launch_times(trace, links);
  const std::vector<OpId> roots = root_ops(trace, links);
  const std::vector<int32_t> iterations = activity_windows(trace, links, windows);
  std::vector<KernelRow> rows;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    const ActivityId kernel(a);
    if (!is_kernel(trace, kernel)) continue;
    KernelRow row;
    row.kernel = kernel;
    row.kernel_name = trace.activities.name[a];
    row.kernel_start_ns = trace.activities.start_ns[a];
    row.dur_ns = trace.activities.dur_ns[a];
    row.stream = trace.activities.stream[a];
    row.iteration = iterations[a];
    if (has_launch_time(raw[a])) row.launch_queue_ns = launch_time(raw[a]);
    if (const ApiCallId call = links.activity_call[a]) {
      row.call_name = trace.api_calls.name[call.index()];
      row.call_start_ns = trace.api_calls.start_ns[call.index()];
    }
    if (const OpId op = links.activity_op[a]) {
      row.parent_op = trace.ops.name[op.index()];
      const OpId root = roots[op.index()];
      if (root) row.root_op = trace.ops.name[root.index()];
    }
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
    return a.kernel_start_ns < b.kernel_start_ns;
  });
  return rows;
}

}  // namespace assay
