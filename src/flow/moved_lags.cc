#include "flow/moved_lags.h"

#include <algorithm>

#include "flow/replay.h"
#include "flow/usual_lags.h"

namespace assay {
namespace {

class Mover {
 public:
  Mover(const EditSlots& slots, const FlowFloors& floors)
      : slots_(slots), run_(slots.run()), graph_(slots.graph()), usual_(run_, floors) {}

  MovedLags make() {
    lags_ns_ = graph_.lag_ns;
    MovedLags moved;
    moved.shift_ns.resize(lags_ns_.size());
    for (uint32_t p = 0; p < graph_.points(); ++p) {
      set_lags(p);
      const uint32_t binding = binding_edge(p);
      moved.shift_ns[binding] = graph_.time_ns[p] - reached_ns(binding);
    }
    for (uint32_t slot = 0; slot < slots_.count(); ++slot) {
      const uint32_t edge = slots_.edge_of(slot);
      if (lags_ns_[edge] == graph_.lag_ns[edge]) continue;
      moved.own.push_back({slot, lags_ns_[edge], moved.shift_ns[edge]});
    }
    for (size_t e = 0; e < lags_ns_.size(); ++e) {
      moved.shift_ns[e] += lags_ns_[e] - graph_.lag_ns[e];
    }
    return moved;
  }

 private:
  void set_lags(uint32_t p) {
    const Point point = graph_.point(p);
    if (point.kind == PointKind::kCallEnd) set_call(p, run_.calls[point.row]);
    if (point.kind == PointKind::kWorkBegin) set_work(p, run_.works[point.row]);
  }

  void set_call(uint32_t p, const FlowCall& call) {
    const int64_t waited_ns = usual_.waited_ns(call);
    for (uint32_t e = graph_.first_edge[p]; e < graph_.first_edge[p + 1]; ++e) {
      if (graph_.kind[e] == EdgeKind::kCall) lags_ns_[e] = usual_.own_call(call, waited_ns);
      if (graph_.kind[e] == EdgeKind::kReturn) {
        lags_ns_[e] = usual_.returns(call, work_at(graph_.source[e]), waited_ns);
      }
    }
  }

  void set_work(uint32_t p, const FlowWork& work) {
    for (uint32_t e = graph_.first_edge[p]; e < graph_.first_edge[p + 1]; ++e) {
      const EdgeKind kind = graph_.kind[e];
      if (kind == EdgeKind::kStream || kind == EdgeKind::kEvent) {
        lags_ns_[e] = usual_.after(kind, work_at(graph_.source[e]), work);
      }
      // Work that began within its call was submitted then: its lag is recorded, not typical.
      if (kind == EdgeKind::kLaunch && run_.calls[work.call].end_ns <= work.start_ns) {
        lags_ns_[e] = usual_.launch(work);
      }
    }
  }

  const FlowWork& work_at(uint32_t point) const { return run_.works[graph_.point(point).row]; }

  int64_t reached_ns(uint32_t e) const {
    const uint32_t source = graph_.source[e];
    return (source == kNoPoint ? graph_.start_ns : graph_.time_ns[source]) + lags_ns_[e];
  }

  uint32_t binding_edge(uint32_t p) const {
    uint32_t best = graph_.first_edge[p];
    for (uint32_t e = best + 1; e < graph_.first_edge[p + 1]; ++e) {
      if (reached_ns(e) > reached_ns(best)) best = e;
    }
    return best;
  }

  const EditSlots& slots_;
  const FlowRun& run_;
  const FlowGraph& graph_;
  const UsualLags usual_;
  std::vector<int64_t> lags_ns_;  // per edge
};

int64_t longer(int64_t lag_ns, int64_t by_ns) {
  return lag_ns == kCutLag ? lag_ns : lag_ns + by_ns;
}

}  // namespace

MovedLags moved_lags(const EditSlots& slots, const FlowFloors& floors) {
  return Mover(slots, floors).make();
}

void move_lags(LagEditor& editor, const StrongestEdits& edits, const EditedLags& lags,
               const MovedLags& moved, std::vector<int64_t>& moved_ns) {
  moved_ns.resize(lags.lag_ns.size());
  for (size_t e = 0; e < moved_ns.size(); ++e) {
    moved_ns[e] = longer(lags.lag_ns[e], moved.shift_ns[e]);
  }
  editor.begin(edits);
  for (const MovedLags::Own& own : moved.own) {
    moved_ns[editor.slots().edge_of(own.slot)] =
        longer(editor.edited(own.slot, own.lag_ns), own.residual_ns);
  }
}

}  // namespace assay
