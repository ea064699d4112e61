#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "flow/replay.h"
#include "flow/run.h"

namespace assay {

// Fraction left of each cause and of each kind of work, 0 to 1. kSync at 0 also cuts the waits.
struct FlowScale {
  std::array<double, kFlowCauses> cause = [] {
    std::array<double, kFlowCauses> all{};
    all.fill(1);
    return all;
  }();
  std::array<double, 4> work = {1, 1, 1, 1};  // by WorkKind
};

inline int64_t scaled(int64_t ns, double factor) {
  return factor == 1 ? ns : static_cast<int64_t>(static_cast<double>(ns) * factor);
}

// Lags per edge with host pieces, calls and work scaled: a sensitivity, not a prediction.
inline std::vector<int64_t> scaled_lags(const FlowRun& run, const FlowGraph& graph,
                                 const FlowScale& scale) {
  const auto factor = [&scale](FlowCause cause) { return scale.cause[static_cast<size_t>(cause)]; };
  std::vector<int64_t> lags = graph.lag_ns;
  for (uint32_t p = 0; p < graph.points(); ++p) {
    const Point point = graph.point(p);
    for (uint32_t e = graph.first_edge[p]; e < graph.first_edge[p + 1]; ++e) {
      switch (graph.kind[e]) {
        case EdgeKind::kCall:
          lags[e] = scaled(lags[e], factor(own_cause(run.calls[point.row], graph.lag_ns[e])));
          break;
        case EdgeKind::kLaunch: {
          const FlowCause cause = hand_over_cause(run, run.works[point.row]);
          if (cause != FlowCause::kLatency) lags[e] = scaled(lags[e], factor(cause));
          break;
        }
        case EdgeKind::kReturn: {
          const bool waits = run.calls[point.row].kind == FlowCause::kSync;
          if (waits && factor(FlowCause::kSync) == 0) lags[e] = kCutLag;
          break;
        }
        case EdgeKind::kWork:
          lags[e] = scaled(lags[e], scale.work[static_cast<size_t>(run.works[point.row].kind)]);
          break;
        default:
          break;
      }
    }
  }
  for (size_t s = 0; s < graph.segment_edge.size(); ++s) {
    int64_t sum_ns = 0;
    for (uint32_t part = graph.first_part[s]; part < graph.first_part[s + 1]; ++part) {
      sum_ns += scaled(graph.part_ns[part], factor(graph.part_cause[part]));
    }
    lags[graph.segment_edge[s]] = sum_ns;
  }
  return lags;
}

}  // namespace assay
