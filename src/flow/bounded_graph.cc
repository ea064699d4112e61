#include <algorithm>

#include "flow/graph.h"

namespace assay {
namespace {

// True if an edge from before the window keeps its kind: device work and calls may span the
// window's begin. Other edges become kStart with the same target time.
bool keeps_kind(EdgeKind kind) { return kind == EdgeKind::kWork || kind == EdgeKind::kCall; }

class Bounder {
 public:
  Bounder(const FlowGraph& graph, Interval window) : graph_(graph), window_(window) {}

  FlowGraph make() {
    out_.start_ns = window_.start_ns;
    out_.end_ns = window_.end_ns;
    out_.bounded = true;
    out_.time_ns = graph_.time_ns;
    out_.item = graph_.item;
    out_.point_of = graph_.point_of;
    out_.calls = graph_.calls;
    out_.cut_edges = graph_.cut_edges;
    out_.hand_overs = graph_.hand_overs;
    out_.confirmed_hand_overs = graph_.confirmed_hand_overs;
    out_.residual_ns.assign(graph_.points(), 0);
    out_.first_edge.reserve(graph_.first_edge.size());
    for (uint32_t p = 0; p < graph_.points(); ++p) {
      out_.first_edge.push_back(static_cast<uint32_t>(out_.source.size()));
      if (is_before(p)) {
        add(kNoPoint, graph_.time_ns[p] - out_.start_ns, EdgeKind::kStart);
      } else {
        add_edges(p);
      }
    }
    out_.first_edge.push_back(static_cast<uint32_t>(out_.source.size()));
    out_.first_part.push_back(static_cast<uint32_t>(out_.part_ns.size()));
    for (const HandOverSilence& silence : graph_.silences) {
      if (!is_before(silence.point)) out_.silences.push_back(silence);
    }
    return std::move(out_);
  }

 private:
  bool is_before(uint32_t p) const { return graph_.time_ns[p] < window_.start_ns; }

  void add(uint32_t source, int64_t lag_ns, EdgeKind kind) {
    out_.source.push_back(source);
    out_.lag_ns.push_back(lag_ns);
    out_.kind.push_back(kind);
  }

  void add_edges(uint32_t p) {
    const uint32_t first = graph_.first_edge[p];
    out_.residual_ns[p] = graph_.residual_ns[p];
    for (uint32_t e = first; e < graph_.first_edge[p + 1]; ++e) {
      const uint32_t source = graph_.source[e];
      if (source != kNoPoint && !is_before(source)) {
        copy_edge(e);
        continue;
      }
      const int64_t from_ns = source == kNoPoint ? graph_.start_ns : graph_.time_ns[source];
      const int64_t lag_ns =
          std::max<int64_t>(0, from_ns + graph_.lag_ns[e] - window_.start_ns);
      add(kNoPoint, lag_ns, keeps_kind(graph_.kind[e]) ? graph_.kind[e] : EdgeKind::kStart);
      // The binding edge must still give the recorded time.
      if (e == first) out_.residual_ns[p] = graph_.time_ns[p] - window_.start_ns - lag_ns;
    }
  }

  void copy_edge(uint32_t e) {
    const EdgeKind kind = graph_.kind[e];
    if (kind == EdgeKind::kSegment || kind == EdgeKind::kHandOver) {
      const size_t s = graph_.segment_of(e);
      out_.segment_edge.push_back(static_cast<uint32_t>(out_.source.size()));
      out_.first_part.push_back(static_cast<uint32_t>(out_.part_ns.size()));
      for (uint32_t k = graph_.first_part[s]; k < graph_.first_part[s + 1]; ++k) {
        out_.part_cause.push_back(graph_.part_cause[k]);
        out_.part_ns.push_back(graph_.part_ns[k]);
      }
    }
    add(graph_.source[e], graph_.lag_ns[e], kind);
  }

  const FlowGraph& graph_;
  Interval window_;
  FlowGraph out_;
};

}  // namespace

FlowGraph bounded_graph(const FlowGraph& graph, Interval window) {
  return Bounder(graph, window).make();
}

}  // namespace assay
