#include "flow/replay.h"

#include <algorithm>

namespace assay {
namespace {

// The begin of the call that ends at point p; INT64_MIN if there is none.
int64_t called_ns(const FlowGraph& graph, const std::vector<int64_t>& times, size_t p) {
  for (uint32_t e = graph.first_edge[p]; e < graph.first_edge[p + 1]; ++e) {
    if (graph.kind[e] == EdgeKind::kCall && graph.source[e] != kNoPoint) {
      return times[graph.source[e]];
    }
  }
  return INT64_MIN;
}

}  // namespace

std::vector<int64_t> replay(const FlowGraph& graph, const ReplayOptions& options) {
  std::vector<int64_t> times;
  replay(graph, options, times);
  return times;
}

void replay(const FlowGraph& graph, const ReplayOptions& options, std::vector<int64_t>& times) {
  const std::vector<int64_t>& lags = options.lags_ns != nullptr ? *options.lags_ns : graph.lag_ns;
  const bool keeps = options.residuals != Residuals::kDrop;
  const int64_t pinned_ns = options.residuals == Residuals::kPin ? options.pinned_ns : INT64_MAX;
  times.resize(graph.points());
  const auto begin_of = [&](uint32_t edge) {
    return graph.source[edge] == kNoPoint ? graph.start_ns : times[graph.source[edge]];
  };
  for (size_t p = 0; p < times.size(); ++p) {
    const uint32_t first = graph.first_edge[p];
    int64_t latest_ns = INT64_MIN;
    for (uint32_t e = first; e < graph.first_edge[p + 1]; ++e) {
      if (lags[e] == kCutLag) continue;
      if (options.skips_ended && graph.kind[e] == EdgeKind::kReturn &&
          begin_of(e) <= called_ns(graph, times, p)) {
        continue;
      }
      int64_t reached_ns = begin_of(e) + lags[e];
      if (e == first && keeps) {
        const int64_t residual_ns = graph.residual_ns[p];
        reached_ns = residual_ns < pinned_ns ? reached_ns + residual_ns
                                             : std::max(reached_ns, graph.time_ns[p]);
      }
      latest_ns = std::max(latest_ns, reached_ns);
    }
    times[p] = latest_ns == INT64_MIN ? begin_of(first) : latest_ns;
  }
}

int64_t makespan_ns(const FlowRun& run, const FlowGraph& graph, const std::vector<int64_t>& times) {
  int64_t end_ns = graph.start_ns;
  for (uint32_t p = 0; p < times.size(); ++p) {
    if (times[p] > end_ns && may_end(run, graph, p)) end_ns = times[p];
  }
  return end_ns - graph.start_ns;
}

uint64_t identity_errors(const FlowGraph& graph) {
  const std::vector<int64_t> times = replay(graph, {});
  uint64_t wrong = 0;
  for (size_t p = 0; p < times.size(); ++p) wrong += times[p] != graph.time_ns[p];
  return wrong;
}

uint32_t last_work(const FlowRun& run, const FlowGraph& graph, const std::vector<int64_t>& times) {
  uint32_t last = kNoPoint;
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    if (!counts_work(run, graph, w)) continue;
    const uint32_t p = graph.work_point(w, true);
    if (last == kNoPoint || times[p] > times[last]) last = p;
  }
  return last;
}

std::vector<int64_t> model_times(const FlowRun& run, const FlowGraph& graph) {
  std::vector<int64_t> lags = graph.lag_ns;
  for (uint32_t p = 0; p < graph.points(); ++p) {
    for (uint32_t e = graph.first_edge[p]; e < graph.first_edge[p + 1]; ++e) {
      const bool returns = graph.kind[e] == EdgeKind::kReturn &&
                           return_cause(run.calls[graph.point(p).row]) == FlowCause::kSync;
      if (returns) lags[e] = std::min(lags[e], run.floors.returns.typical_ns);
    }
  }
  return replay(graph, {.residuals = Residuals::kDrop, .lags_ns = &lags});
}

}  // namespace assay
