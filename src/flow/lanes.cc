#include "flow/lanes.h"

#include <algorithm>

#include "flow/pieces.h"

namespace assay {
namespace {

constexpr int64_t kCutNs = -(int64_t{1} << 60);  // before any time, without overflow

using Parts = std::array<int64_t, kGainClasses>;

GainClass class_of(FlowCause cause) {
  switch (cause) {
    case FlowCause::kInput:
      return GainClass::kInput;
    case FlowCause::kCold:
      return GainClass::kStartup;
    case FlowCause::kAlloc:
      return GainClass::kAlloc;
    case FlowCause::kLatency:
    case FlowCause::kCall:
    case FlowCause::kSync:
      return GainClass::kLaunch;
    case FlowCause::kUnseen:
    case FlowCause::kNoEvidence:
    case FlowCause::kWaitOther:
      return GainClass::kUnseen;
    case FlowCause::kDispatch:
    case FlowCause::kPython:
    case FlowCause::kHostGap:
    case FlowCause::kNothingAsked:
      return GainClass::kWork;
  }
  return GainClass::kWork;
}

GainClass class_of(const FlowWork& work) {
  switch (work.kind) {
    case WorkKind::kCompute:
      return GainClass::kDevice;
    case WorkKind::kCollective:
      return GainClass::kComm;
    case WorkKind::kFill:
      return GainClass::kCopy;
    case WorkKind::kCopy:
      return work.migration ? GainClass::kMigration : GainClass::kCopy;
  }
  return GainClass::kDevice;
}

class LaneGraphMaker {
 public:
  LaneGraphMaker(const FlowRun& run, const FlowGraph& graph, Interval window,
                 std::span<const Interval> pulls)
      : run_(run),
        graph_(graph),
        from_ns_(std::max(window.start_ns, graph.start_ns)),
        to_ns_(window.end_ns),
        pulls_(pulls.begin(), pulls.end()),
        cursor_(run.threads.size()) {
    for (const FlowWork& work : run.works) {
      if (moves_pages(work) && work.start_ns >= from_ns_) moves_.push_back(span_of(work));
    }
    moves_ = merge_intervals(std::move(moves_));
  }

  LaneGraph make() {
    const size_t points = graph_.points();
    lanes_.time_ns.reserve(points + 1);
    lanes_.first_edge.reserve(points + 2);
    lanes_.source.reserve(graph_.source.size() + 1);
    lanes_.first_part.reserve(graph_.source.size() + 2);
    lanes_.part_class.reserve(graph_.source.size() + points / 2);
    lanes_.part_ns.reserve(graph_.source.size() + points / 2);
    lanes_.from_ns = from_ns_ - graph_.start_ns;
    for (uint32_t p = 0; p < points; ++p) add_point(p);
    for (uint32_t w = 0; w < run_.works.size(); ++w) {
      const bool ends = !run_.works[w].helper && run_.works[w].end_ns <= to_ns_;
      if (ends) lanes_.ends.push_back(graph_.work_point(w, true));
    }
    for (const uint32_t p : lanes_.ends) lanes_.end_ns = std::max(lanes_.end_ns, lanes_.time_ns[p]);
    add_tail();
    lanes_.end_ns = std::max(lanes_.end_ns, lanes_.from_ns);
    lanes_.first_edge.push_back(static_cast<uint32_t>(lanes_.source.size()));
    lanes_.first_part.push_back(static_cast<uint32_t>(lanes_.part_ns.size()));
    const int64_t pinned_ns = std::max(kFlowMarginNs, lanes_.window_ns() / 100);
    for (const auto& [point, residual_ns] : residuals_) {
      if (residual_ns >= pinned_ns) lanes_.pinned.push_back(point);
    }
    return std::move(lanes_);
  }

 private:
  static bool moves_pages(const FlowWork& work) {
    return work.migration;
  }
  static Interval span_of(const FlowWork& work) { return {work.start_ns, work.end_ns}; }

  bool is_page(const Point& point) const {
    const bool device = point.kind == PointKind::kWorkBegin || point.kind == PointKind::kWorkEnd;
    return device && moves_pages(run_.works[point.row]);
  }

  // Page migrations overlap the stream's work and order nothing, although their event names a
  // stream.
  bool follows_pages(uint32_t source, const Point& point) const {
    if (source == kNoPoint) return false;
    const Point from = graph_.point(source);
    if (!is_page(from)) return false;
    const bool own = point.kind == PointKind::kWorkEnd && point.row == from.row;
    return !own;
  }

  int64_t source_ns(uint32_t source) const {
    return source == kNoPoint ? graph_.start_ns : graph_.time_ns[source];
  }

  void add_point(uint32_t p) {
    const Point point = graph_.point(p);
    const int64_t time_ns = graph_.time_ns[p];
    edges_.clear();
    bool dropped = false;
    for (uint32_t e = graph_.first_edge[p]; e < graph_.first_edge[p + 1]; ++e) {
      if (follows_pages(graph_.source[e], point)) {
        dropped = true;
        continue;
      }
      edges_.push_back({graph_.source[e], graph_.lag_ns[e], false, {}});
      fill_parts(p, point, e, edges_.back());
    }
    if (edges_.empty() && dropped) {
      edges_.push_back({kNoPoint, 0, false, {}});
    }
    push_point(p, point, time_ns);
  }

  struct LaneEdge {
    uint32_t source;
    int64_t lag_ns;
    bool waits;
    Parts parts;

    int64_t& of(GainClass what) { return parts[static_cast<size_t>(what)]; }
  };

  void push_point(uint32_t p, const Point& point, int64_t time_ns) {
    size_t binding = 0;
    int64_t reached_ns = INT64_MIN;
    for (size_t k = 0; k < edges_.size(); ++k) {
      const int64_t each_ns = source_ns(edges_[k].source) + edges_[k].lag_ns;
      if (each_ns <= reached_ns) continue;
      reached_ns = each_ns;
      binding = k;
    }
    const int64_t residual_ns = time_ns - reached_ns;
    if (is_page(point)) {
      edges_[binding].of(GainClass::kStands) += residual_ns;
    } else if (residual_ns != 0) {
      LaneEdge& edge = edges_[binding];
      const int64_t before_ns =
          std::clamp<int64_t>(from_ns_ - reached_ns, 0, std::max<int64_t>(residual_ns, 0));
      edge.of(GainClass::kStands) += residual_ns < 0 ? residual_ns : before_ns;
      const int64_t late_ns = residual_ns < 0 ? 0 : residual_ns - before_ns;
      // Delay at the end of a call belongs to the host.
      const bool unseen = late_ns > kFlowMarginNs && point.kind != PointKind::kCallEnd;
      edge.of(unseen ? GainClass::kUnseen : GainClass::kLate) += late_ns;
      if (unseen) residuals_.push_back({p, late_ns});
    }
    lanes_.time_ns.push_back(time_ns - graph_.start_ns);
    lanes_.first_edge.push_back(static_cast<uint32_t>(lanes_.source.size()));
    for (const LaneEdge& edge : edges_) push(edge);
  }

  void push(const LaneEdge& edge) {
    lanes_.source.push_back(edge.source);
    lanes_.first_part.push_back(static_cast<uint32_t>(lanes_.part_ns.size()));
    for (size_t c = 0; c < kGainClasses; ++c) {
      if (edge.parts[c] == 0) continue;
      lanes_.part_class.push_back(static_cast<GainClass>(c));
      lanes_.part_ns.push_back(edge.parts[c]);
    }
    if (edge.waits) {
      lanes_.part_class.push_back(GainClass::kCut);
      lanes_.part_ns.push_back(kCutNs);
    }
  }

  void fill_parts(uint32_t p, const Point& point, uint32_t e, LaneEdge& edge) {
    const EdgeKind kind = graph_.kind[e];
    int64_t lag_ns = edge.lag_ns;
    const int64_t from_ns = source_ns(edge.source);
    // A page migration takes time of the host or the kernel that waits for it; its own event delays
    // nothing. Time before the window and negative lags (clocks that differ) are fixed.
    if (lag_ns <= 0 || graph_.time_ns[p] <= from_ns_ || is_page(point)) {
      edge.of(GainClass::kStands) = lag_ns;
      return;
    }
    const bool crosses = from_ns < from_ns_;
    if (kind == EdgeKind::kSegment || kind == EdgeKind::kHandOver) {
      return fill_segment(p, point, e, crosses, edge);
    }
    if (crosses) {
      const int64_t before_ns = std::min(lag_ns, from_ns_ - from_ns);
      edge.of(GainClass::kStands) = before_ns;
      lag_ns -= before_ns;
    }
    fill_other(point, kind, edge, lag_ns);
  }

  void fill_other(const Point& point, EdgeKind kind, LaneEdge& edge, int64_t lag_ns) {
    switch (kind) {
      case EdgeKind::kCall: {
        const FlowCall& call = run_.calls[point.row];
        const int64_t pulled_ns = call.target_count > 0 || !launches(call.thread)
                                      ? 0
                                      : pulled({call.start_ns, call.end_ns}, lag_ns);
        edge.of(GainClass::kMigration) = pulled_ns;
        edge.of(class_of(own_cause(call, edge.lag_ns))) += lag_ns - pulled_ns;
        break;
      }
      case EdgeKind::kReturn: {
        const FlowCall& call = run_.calls[point.row];
        edge.of(class_of(return_cause(call))) += lag_ns;
        edge.waits = call.kind == FlowCause::kSync;
        break;
      }
      case EdgeKind::kAwait: {
        const FlowCall& call = run_.calls[point.row];
        const FlowWork& work = run_.works[call.after_work];
        if (call.after_unrecorded) {
          edge.of(GainClass::kStands) += lag_ns;
        } else {
          // The host waited for memory that the work wrote before its end.
          const bool within = work.end_ns > call.start_ns;
          edge.of(within ? class_of(work) : GainClass::kLaunch) += lag_ns;
        }
        break;
      }
      case EdgeKind::kQueue:
        edge.of(GainClass::kLaunch) += lag_ns;
        break;
      case EdgeKind::kStaged:
        edge.of(GainClass::kCopy) += lag_ns;
        break;
      case EdgeKind::kLaunch:
        edge.of(class_of(hand_over_cause(run_, run_.works[point.row]))) += lag_ns;
        break;
      case EdgeKind::kStream:
      case EdgeKind::kEvent: {
        const FlowWork& work = run_.works[point.row];
        const uint32_t before = graph_.point(edge.source).row;
        const bool nodes = work.in_graph && run_.works[before].call == work.call;
        const FlowFloor& usual = kind == EdgeKind::kStream ? run_.floors.stream : run_.floors.event;
        // The device needs this gap between queued work, if the run has enough of them to measure.
        const GainClass way = usual.assumed ? GainClass::kLaunch : GainClass::kDevice;
        edge.of(nodes ? GainClass::kStands : way) += lag_ns;
        break;
      }
      case EdgeKind::kWork: {
        const FlowWork& work = run_.works[point.row];
        const int64_t moved_ns = work.kind == WorkKind::kCompute && !moves_.empty()
                                     ? std::min(lag_ns, length_in(moves_, span_of(work)))
                                     : 0;
        edge.of(GainClass::kMigration) += moved_ns;
        edge.of(class_of(work)) += lag_ns - moved_ns;
        break;
      }
      case EdgeKind::kStart:
        edge.of(GainClass::kUnseen) += lag_ns;
        break;
      case EdgeKind::kOrder:
        break;  // no time of its own
      case EdgeKind::kSegment:
      case EdgeKind::kHandOver:
        break;  // fill_segment
    }
  }

  bool launches(ThreadId thread) const { return run_.threads[thread.index()].launches > 0; }

  int64_t pulled(Interval span, int64_t most_ns) const {
    if (pulls_.empty()) return 0;
    span.start_ns = std::max(span.start_ns, from_ns_);
    return span.start_ns >= span.end_ns ? 0 : std::min(most_ns, length_in(pulls_, span));
  }

  void fill_segment(uint32_t p, const Point& point, uint32_t e, bool crosses, LaneEdge& edge) {
    while (graph_.segment_edge[segment_] < e) ++segment_;
    bool walks = crosses || !pulls_.empty();
    for (uint32_t k = graph_.first_part[segment_]; k < graph_.first_part[segment_ + 1]; ++k) {
      walks = walks || graph_.part_cause[k] == FlowCause::kNothingAsked;
    }
    if (walks) return walk_segment(p, point, e, edge);
    for (uint32_t k = graph_.first_part[segment_]; k < graph_.first_part[segment_ + 1]; ++k) {
      edge.of(class_of(graph_.part_cause[k])) += graph_.part_ns[k];
    }
  }

  void walk_segment(uint32_t p, const Point& point, uint32_t e, LaneEdge& edge) {
    int64_t sum_ns = 0;
    const bool launching = launches(run_.calls[point.row].thread);
    for (const SegmentSpan& stretch : segment_spans(run_, graph_, p, graph_.kind[e])) {
      for_each_piece(run_, run_.threads[stretch.thread.index()], stretch.span, cursor_,
                     [&](const PieceSpan& piece) {
                       const int64_t ns = piece.end_ns - piece.start_ns;
                       const int64_t before_ns =
                           std::clamp<int64_t>(from_ns_ - piece.start_ns, 0, ns);
                       sum_ns += ns;
                       edge.of(GainClass::kStands) += before_ns;
                       add_piece(piece, ns - before_ns, launching, edge);
                     });
    }
    edge.of(GainClass::kStands) += edge.lag_ns - sum_ns;  // 0, unless clocks contradict
  }

  void add_piece(const PieceSpan& piece, int64_t ns, bool launching, LaneEdge& edge) {
    if (ns <= 0) return;
    if (piece.piece != nullptr && piece.piece->cause == FlowCause::kNothingAsked) {
      const bool shown = piece.piece->evidence == CauseEvidence::kRecorded;
      edge.of(shown ? GainClass::kOutside : GainClass::kStands) += ns;
      return;
    }
    const FlowCause cause = piece.piece == nullptr ? FlowCause::kHostGap : piece.piece->cause;
    const int64_t pulled_ns = launching ? pulled({piece.end_ns - ns, piece.end_ns}, ns) : 0;
    edge.of(GainClass::kMigration) += pulled_ns;
    edge.of(class_of(cause)) += ns - pulled_ns;
  }

  // A run may end with the host reading pages after the last work.
  void add_tail() {
    if (pulls_.empty()) return;
    const int64_t tail_ns = pulls_.back().end_ns;
    if (tail_ns - graph_.start_ns <= lanes_.end_ns || tail_ns <= from_ns_ || tail_ns > to_ns_) {
      return;
    }
    uint32_t from = kNoPoint;
    for (uint32_t c = 0; c < run_.calls.size(); ++c) {
      if (!launches(run_.calls[c].thread) || run_.calls[c].end_ns > tail_ns) continue;
      const uint32_t p = graph_.call_point(c, true);
      if (from == kNoPoint || graph_.time_ns[p] > graph_.time_ns[from]) from = p;
    }
    const int64_t since_ns = source_ns(from);
    LaneEdge edge{from, tail_ns - since_ns, false, {}};
    const int64_t before_ns = std::clamp<int64_t>(from_ns_ - since_ns, 0, edge.lag_ns);
    const int64_t pulled_ns = pulled({since_ns, tail_ns}, edge.lag_ns - before_ns);
    edge.of(GainClass::kStands) = before_ns;
    edge.of(GainClass::kMigration) = pulled_ns;
    edge.of(GainClass::kWork) = edge.lag_ns - before_ns - pulled_ns;
    lanes_.ends.push_back(static_cast<uint32_t>(lanes_.time_ns.size()));
    lanes_.time_ns.push_back(tail_ns - graph_.start_ns);
    lanes_.first_edge.push_back(static_cast<uint32_t>(lanes_.source.size()));
    push(edge);
    lanes_.end_ns = lanes_.time_ns.back();
  }

  struct Residual {
    uint32_t point;
    int64_t ns;
  };

  const FlowRun& run_;
  const FlowGraph& graph_;
  const int64_t from_ns_;
  const int64_t to_ns_;
  const std::vector<Interval> pulls_;
  std::vector<Interval> moves_;  // pages
  PieceCursor cursor_;
  LaneGraph lanes_;
  std::vector<LaneEdge> edges_;  // of the current point
  std::vector<Residual> residuals_;
  size_t segment_ = 0;
};

}  // namespace

LaneGraph make_lane_graph(const FlowRun& run, const FlowGraph& graph, Interval window,
                          std::span<const Interval> pulls) {
  return LaneGraphMaker(run, graph, window, pulls).make();
}

LaneMasks::LaneMasks() {
  for (LaneTimes& each : left) each.fill(-1);
  left[static_cast<size_t>(GainClass::kCut)].fill(0);
}

LaneTimes replay_lanes(const LaneGraph& graph, const LaneMasks& masks, bool pins,
                       std::vector<LaneTimes>& times) {
  times.resize(graph.points());
  const LaneTimes begin{};
  const LaneTimes& unseen = masks.left[static_cast<size_t>(GainClass::kUnseen)];
  auto pinned = graph.pinned.begin();
  for (uint32_t p = 0; p < graph.points(); ++p) {
    LaneTimes best;
    best.fill(INT64_MIN);
    for (uint32_t e = graph.first_edge[p]; e < graph.first_edge[p + 1]; ++e) {
      const uint32_t source = graph.source[e];
      LaneTimes reached = source == kNoPoint ? begin : times[source];
      for (uint32_t k = graph.first_part[e]; k < graph.first_part[e + 1]; ++k) {
        const LaneTimes& left = masks.left[static_cast<size_t>(graph.part_class[k])];
        const int64_t ns = graph.part_ns[k];
        for (size_t l = 0; l < kReplayLanes; ++l) reached[l] += ns & left[l];
      }
      for (size_t l = 0; l < kReplayLanes; ++l) best[l] = std::max(best[l], reached[l]);
    }
    if (pins && pinned != graph.pinned.end() && *pinned == p) {
      for (size_t l = 0; l < kReplayLanes; ++l)
        best[l] = std::max(best[l], graph.time_ns[p] & unseen[l]);
      ++pinned;
    }
    times[p] = best;
  }
  LaneTimes ends;
  ends.fill(graph.from_ns);
  for (const uint32_t p : graph.ends) {
    for (size_t l = 0; l < kReplayLanes; ++l) ends[l] = std::max(ends[l], times[p][l]);
  }
  for (int64_t& end_ns : ends) end_ns -= graph.from_ns;
  return ends;
}

}  // namespace assay
