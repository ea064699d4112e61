#include "launch/fusion_segments.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "launch/facts.h"

namespace assay {
namespace {

// One kernel with its sort keys: stream, then launch order.
struct Step {
  StreamId stream;
  int64_t order_ns = 0;   // start of the launch call; of the kernel when nothing is linked
  int64_t device_ns = 0;  // start of the kernel: orders the kernels of one call
  ActivityId kernel;
  bool graph = false;

  auto key() const { return std::tuple(stream, order_ns, device_ns, kernel); }
};

bool forces_the_host_to_wait(std::string_view op) {
  constexpr std::array<std::string_view, 3> kNames = {"aten::item", "aten::_local_scalar_dense",
                                                      "aten::nonzero"};
  return std::find(kNames.begin(), kNames.end(), op) != kNames.end();
}

// Per thread: starts of waits for the device, ascending.
using CutTimes = std::vector<std::vector<int64_t>>;

CutTimes dependency_times(const Trace& trace, const Links& links) {
  CutTimes cuts(trace.threads.size());
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    const ApiCallId call(c);
    if (!is_blocking(links.role_of(trace, call)) && !copies_to_host(trace, links, call)) continue;
    cuts[trace.api_calls.thread[c].index()].push_back(trace.api_calls.start_ns[c]);
  }
  std::vector<bool> waits(trace.strings.size());
  for (size_t s = 0; s < waits.size(); ++s) {
    waits[s] = forces_the_host_to_wait(trace.text(StringId(s)));
  }
  for (size_t o = 0; o < trace.ops.size(); ++o) {
    if (!waits[trace.ops.name[o].index()]) continue;
    cuts[trace.ops.thread[o].index()].push_back(trace.ops.start_ns[o]);
  }
  for (std::vector<int64_t>& times : cuts) std::sort(times.begin(), times.end());
  return cuts;
}

bool any_between(const std::vector<int64_t>& times, int64_t after_ns, int64_t before_ns) {
  const auto next = std::upper_bound(times.begin(), times.end(), after_ns);
  return next != times.end() && *next < before_ns;
}

// Iterations and the stretches between them, numbered alternately: 2w + 1 inside window w, 2w + 2
// after it and before the next.
int64_t stretch_of(const Windows& windows, int64_t time_ns) {
  const auto after =
      std::upper_bound(windows.windows.begin(), windows.windows.end(), time_ns,
                       [](int64_t time, const Window& window) { return time < window.start_ns; });
  const int64_t started = after - windows.windows.begin();
  if (started == 0) return 0;
  return time_ns < (after - 1)->end_ns ? 2 * started - 1 : 2 * started;
}

class Cutter {
 public:
  Cutter(const Trace& trace, const Links& links, const Windows& windows,
         const std::vector<OpId>& roots, SegmentRule rule)
      : trace_(trace), links_(links), windows_(windows), roots_(roots), rule_(rule) {
    if (rule == SegmentRule::kSync) cuts_ = dependency_times(trace, links);
  }

  bool cut_between(const Step& a, const Step& b) const {
    if (a.stream != b.stream || a.graph || b.graph) return true;
    if (stretch_of(windows_, a.order_ns) != stretch_of(windows_, b.order_ns)) return true;
    if (rule_ == SegmentRule::kRootOp) return root_of(a) != root_of(b);
    if (rule_ == SegmentRule::kSync) return depends_between(a, b);
    return false;
  }

 private:
  OpId root_of(const Step& step) const {
    const OpId op = links_.activity_op[step.kernel.index()];
    return op ? roots_[op.index()] : OpId();
  }

  // A wait orders only the launches of its own thread. If two threads launch on the stream, waits
  // of either thread count.
  bool depends_between(const Step& a, const Step& b) const {
    const ApiCallId call_a = links_.activity_call[a.kernel.index()];
    const ApiCallId call_b = links_.activity_call[b.kernel.index()];
    if (!call_a || !call_b) return false;
    for (ApiCallId call : {call_a, call_b}) {
      const ThreadId thread = trace_.api_calls.thread[call.index()];
      if (any_between(cuts_[thread.index()], a.order_ns, b.order_ns)) return true;
    }
    return false;
  }

  const Trace& trace_;
  const Links& links_;
  const Windows& windows_;
  const std::vector<OpId>& roots_;
  const SegmentRule rule_;
  CutTimes cuts_;
};

bool any_linked(const Trace& trace, const Links& links) {
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    if (is_kernel(trace, ActivityId(a)) && links.activity_call[a]) return true;
  }
  return false;
}

std::vector<Step> order_kernels(const Trace& trace, const Links& links, const Windows& windows,
                                SegmentRule rule, KernelSegments& segments) {
  segments.device_order = !any_linked(trace, links);
  std::vector<Step> steps;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    const ActivityId kernel(a);
    if (!is_kernel(trace, kernel)) continue;
    const ApiCallId call = links.activity_call[a];
    if (!call && !segments.device_order) {
      ++segments.unlinked_kernels;
      continue;
    }
    Step step;
    step.stream = trace.activities.stream[a];
    step.device_ns = trace.activities.start_ns[a];
    step.order_ns = call ? trace.api_calls.start_ns[call.index()] : step.device_ns;
    step.kernel = kernel;
    step.graph = is_graph_kernel(trace, links, kernel);
    if (!step.graph && rule == SegmentRule::kIteration && window_at(windows, step.order_ns) < 0) {
      ++segments.outside_kernels;
      continue;
    }
    steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.key() < b.key(); });
  return steps;
}

// Dense ids for kernels by name, or by name and launch shape.
class KernelIds {
 public:
  KernelIds(const Trace& trace, KernelIdentity identity) : trace_(trace), identity_(identity) {}

  uint32_t id_of(ActivityId kernel) {
    const Key key{trace_.activities.name[kernel.index()], shape_of(kernel)};
    return ids_.emplace(key, static_cast<uint32_t>(ids_.size())).first->second;
  }
  uint32_t size() const { return static_cast<uint32_t>(ids_.size()); }

 private:
  using Shape = std::array<uint32_t, 6>;
  using Key = std::pair<StringId, Shape>;

  Shape shape_of(ActivityId kernel) const {
    if (identity_ == KernelIdentity::kName) return {};
    const KernelShapeTable& shapes = trace_.kernel_shapes;
    const auto row = std::lower_bound(shapes.activity.begin(), shapes.activity.end(), kernel);
    if (row == shapes.activity.end() || *row != kernel) return {};
    const size_t i = row - shapes.activity.begin();
    return {shapes.grid_x[i],  shapes.grid_y[i],  shapes.grid_z[i],
            shapes.block_x[i], shapes.block_y[i], shapes.block_z[i]};
  }

  const Trace& trace_;
  const KernelIdentity identity_;
  std::map<Key, uint32_t> ids_;
};

}  // namespace

KernelSegments cut_segments(const Trace& trace, const Links& links, const Windows& windows,
                            const std::vector<OpId>& roots, SegmentRule rule,
                            KernelIdentity identity) {
  KernelSegments segments;
  const std::vector<Step> steps = order_kernels(trace, links, windows, rule, segments);
  const Cutter cutter(trace, links, windows, roots, rule);
  KernelIds ids(trace, identity);
  KernelSequences& sequences = segments.sequences;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const bool open = sequences.ids.size() > sequences.offsets.back();
    if (open && cutter.cut_between(steps[i - 1], step)) {
      sequences.offsets.push_back(static_cast<uint32_t>(sequences.ids.size()));
    }
    if (step.graph) {
      ++segments.graph_kernels;
      continue;
    }
    sequences.ids.push_back(ids.id_of(step.kernel));
    segments.kernels.push_back(step.kernel);
  }
  if (sequences.ids.size() > sequences.offsets.back()) {
    sequences.offsets.push_back(static_cast<uint32_t>(sequences.ids.size()));
  }
  sequences.distinct = ids.size();
  return segments;
}

}  // namespace assay
