#include "flow/graph.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "flow/host_order.h"
#include "flow/pieces.h"
#include "flow/timed.h"
#include "flow/usual_lags.h"

namespace assay {
namespace {

struct Edge {
  uint32_t source;  // item; kNoPoint = begin of the run
  int64_t lag_ns;
  EdgeKind kind;
};

// Pairs of threads that run a forward pass and its backward pass.
class JoinedThreads {
 public:
  explicit JoinedThreads(const Trace& trace) {
    std::unordered_map<uint64_t, ThreadId> starts;
    const auto& flows = trace.forward_backward_flows;
    for (size_t i = 0; i < flows.size(); ++i) {
      if (flows.is_end[i] == 0) starts[flows.flow_id[i]] = flows.thread[i];
    }
    for (size_t i = 0; i < flows.size(); ++i) {
      const auto start = starts.find(flows.flow_id[i]);
      if (flows.is_end[i] != 0 && start != starts.end()) join(start->second, flows.thread[i]);
    }
    std::unordered_map<int64_t, ThreadId> sequences;
    const auto& rows = trace.op_sequences;
    for (size_t i = 0; i < rows.size(); ++i) {
      const ThreadId thread = trace.ops.thread[rows.op[i].index()];
      if (rows.forward_thread[i] == 0) sequences[rows.sequence[i]] = thread;
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto forward = sequences.find(rows.sequence[i]);
      if (rows.forward_thread[i] == 0 || forward == sequences.end()) continue;
      join(forward->second, trace.ops.thread[rows.op[i].index()]);
    }
  }
  bool has(ThreadId a, ThreadId b) const { return pairs_.count({std::min(a, b), std::max(a, b)}); }

 private:
  void join(ThreadId a, ThreadId b) {
    if (a != b) pairs_.insert({std::min(a, b), std::max(a, b)});
  }
  std::set<std::pair<ThreadId, ThreadId>> pairs_;
};

// Assumed own time of a thread before an unrecorded wait: how much it really was is unknown.
int64_t own_before_wait_ns(const FlowCall& call, int64_t from_ns) {
  return std::min<int64_t>(kFlowMarginNs, call.start_ns - from_ns);
}

class GraphMaker {
 public:
  GraphMaker(const FlowRun& run, const FlowFloors& floors)
      : run_(run),
        usual_(run, floors),
        joined_(*run.trace),
        cursor_(run.threads.size()),
        calls_(static_cast<uint32_t>(run.calls.size())),
        ordered_(host_order(run)) {
    graph_.start_ns = run.start_ns;
    graph_.calls = calls_;
  }

  FlowGraph make() {
    const size_t items = 2 * (run_.calls.size() + run_.works.size());
    graph_.time_ns.reserve(items);
    graph_.residual_ns.reserve(items);
    graph_.first_edge.reserve(items + 1);
    graph_.item.reserve(items);
    graph_.point_of.assign(items, kNoPoint);
    const size_t edges = items + items / 2 + run_.targets.size() + run_.waits.size();
    graph_.source.reserve(edges);
    graph_.lag_ns.reserve(edges);
    graph_.kind.reserve(edges);
    on_stack_.assign(items, false);
    for (const Timed& at : items_by_time()) place(at.row);
    graph_.first_edge.push_back(static_cast<uint32_t>(graph_.source.size()));
    graph_.first_part.push_back(static_cast<uint32_t>(graph_.part_ns.size()));
    return std::move(graph_);
  }

 private:
  // ---- order ------------------------------------------------------------------------------------

  std::vector<Timed> items_by_time() const {
    std::vector<Timed> order;
    order.reserve(2 * (run_.calls.size() + run_.works.size()));
    for (uint32_t c = 0; c < calls_; ++c) {
      order.push_back({run_.calls[c].start_ns, 2 * c});
      order.push_back({run_.calls[c].end_ns, 2 * c + 1});
    }
    for (uint32_t w = 0; w < run_.works.size(); ++w) {
      order.push_back({run_.works[w].start_ns, 2 * (calls_ + w)});
    }
    // Ends are nearly sorted per stream, but not overall.
    std::vector<std::vector<Timed>> ends(run_.trace->streams.size());
    for (uint32_t w = 0; w < run_.works.size(); ++w) {
      ends[run_.works[w].stream].push_back({run_.works[w].end_ns, 2 * (calls_ + w) + 1});
    }
    for (auto& stream : ends) order.insert(order.end(), stream.begin(), stream.end());
    sort_runs(order);
    return order;
  }

  int64_t time_of(uint32_t item) const {
    const uint32_t row = item / 2;
    const bool end = item % 2 != 0;
    if (row < calls_) return end ? run_.calls[row].end_ns : run_.calls[row].start_ns;
    const FlowWork& work = run_.works[row - calls_];
    return end ? work.end_ns : work.start_ns;
  }

  // Emits a point after everything it depends on. Usually that was emitted already, because edges
  // lead forward in time; with equal times, or work that begins before its call, it may not be. An
  // edge that would close a cycle is dropped.
  void place(uint32_t item) {
    if (graph_.point_of[item] != kNoPoint) return;
    std::vector<uint32_t>& stack = stack_;
    stack.assign(1, item);
    on_stack_[item] = true;
    while (!stack.empty()) {
      const uint32_t top = stack.back();
      const uint32_t missing = missing_source(top);
      if (missing != kNoPoint) {
        stack.push_back(missing);
        on_stack_[missing] = true;
        continue;
      }
      emit(top);
      on_stack_[top] = false;
      stack.pop_back();
    }
  }

  // Fills edges_. Returns a source that must be emitted first, or kNoPoint. Sources on the stack
  // would close a cycle.
  uint32_t missing_source(uint32_t item) {
    edges_of(item);
    for (const Edge& edge : edges_) {
      if (edge.source == kNoPoint || graph_.point_of[edge.source] != kNoPoint) continue;
      if (!on_stack_[edge.source]) return edge.source;
    }
    return kNoPoint;
  }

  // ---- edges ------------------------------------------------------------------------------------

  // Fills edges_ with the edges into an item, the preferred ones first; for the begin of a call
  // also parts_ and hand_parts_.
  void edges_of(uint32_t item) {
    edges_.clear();
    const uint32_t row = item / 2;
    const bool end = item % 2 != 0;
    if (row < calls_) {
      end ? edges_of_call_end(row) : edges_of_call_begin(row);
    } else {
      end ? edges_of_work_end(row - calls_) : edges_of_work_begin(row - calls_);
    }
    if (edges_.empty())
      edges_.push_back({kNoPoint, time_of(item) - run_.start_ns, EdgeKind::kStart});
  }

  struct HandOver {
    int64_t from_ns = INT64_MIN;  // end of the other thread's last call
    int64_t silent_ns = 0;        // begin of the silence
    int64_t until_ns = 0;         // its end: this thread resumes
    uint32_t call = kNoFlowRow;   // the other thread's last call
  };

  // True for pieces in which a thread may be waiting for another one.
  static bool may_wait(const PieceSpan& piece) {
    if (piece.end_ns - piece.start_ns <= kSilenceNs) return false;
    if (piece.piece == nullptr || piece.piece->source == RowSource::kNone) return true;
    return may_stand_still(piece.piece->source) && piece.piece->cause != FlowCause::kInput &&
           piece.piece->cause != FlowCause::kCold;
  }

  HandOver find_hand_over(const HostThread& thread, int64_t from_ns, int64_t to_ns) {
    HandOver found;
    if (thread.colleagues.empty() || to_ns - from_ns <= kSilenceNs) return found;
    for_each_piece(run_, thread, {from_ns, to_ns}, cursor_, [&](const PieceSpan& piece) {
      if (!may_wait(piece)) return;
      for (const uint32_t other : thread.colleagues) {
        const uint32_t call = last_call_until(run_.threads[other], piece.end_ns);
        if (call == kNoFlowRow || run_.calls[call].end_ns <= piece.start_ns) continue;
        if (run_.calls[call].end_ns <= found.from_ns) continue;
        found = {run_.calls[call].end_ns, piece.start_ns, piece.end_ns, call};
      }
    });
    return found;
  }

  // The thread's last call that ended by time_ns; kNoFlowRow if none.
  uint32_t last_call_until(const HostThread& thread, int64_t time_ns) const {
    const auto first = run_.calls.begin() + thread.first_call;
    const auto after =
        std::partition_point(first, first + thread.call_count,
                             [time_ns](const FlowCall& call) { return call.end_ns <= time_ns; });
    return after == first ? kNoFlowRow : static_cast<uint32_t>(after - run_.calls.begin() - 1);
  }

  void edges_of_call_begin(uint32_t c) {
    parts_.clear();
    hand_parts_.clear();
    silence_ = {};
    const FlowCall& call = run_.calls[c];
    const HostThread& thread = run_.threads[call.thread.index()];
    const bool has_prev = c > thread.first_call;
    const int64_t from_ns = has_prev ? run_.calls[c - 1].end_ns : run_.start_ns;
    const uint32_t prev = has_prev ? 2 * (c - 1) + 1 : kNoPoint;
    if (call.after_work != kNoFlowRow) return edges_of_waiting(call, prev, from_ns);
    const HandOver hand = find_hand_over(thread, from_ns, call.start_ns);
    if (hand.call == kNoFlowRow) {
      add_parts(thread, from_ns, call.start_ns, parts_);
      edges_.push_back({prev, call.start_ns - from_ns, EdgeKind::kSegment});
      return;
    }
    // The other thread's activity until this one resumes, then this one's own.
    silence_ = {kNoPoint, hand.call, hand.silent_ns, hand.until_ns};
    const HostThread& other = run_.threads[run_.calls[hand.call].thread.index()];
    add_parts(other, hand.from_ns, hand.until_ns, hand_parts_);
    add_parts(thread, hand.until_ns, call.start_ns, hand_parts_);
    edges_.push_back({2 * hand.call + 1, call.start_ns - hand.from_ns, EdgeKind::kHandOver});
    add_parts(thread, from_ns, hand.silent_ns, parts_);
    add_parts(thread, hand.until_ns, call.start_ns, parts_);
    edges_.push_back(
        {prev, hand.silent_ns - from_ns + call.start_ns - hand.until_ns, EdgeKind::kSegment});
  }

  // The thread waited for the end of work, or for memory that the work wrote before its end.
  void edges_of_waiting(const FlowCall& call, uint32_t prev, int64_t from_ns) {
    const FlowWork& work = run_.works[call.after_work];
    const bool ended = work.end_ns <= call.start_ns;
    const uint32_t source = ended ? end_item(call.after_work) : begin_item(call.after_work);
    edges_.push_back(
        {source, call.start_ns - (ended ? work.end_ns : work.start_ns), EdgeKind::kAwait});
    const int64_t own_ns = own_before_wait_ns(call, from_ns);
    add_parts(run_.threads[call.thread.index()], from_ns, from_ns + own_ns, parts_);
    edges_.push_back({prev, own_ns, EdgeKind::kSegment});
  }

  void add_parts(const HostThread& thread, int64_t from_ns, int64_t to_ns,
                 std::vector<SegmentPart>& parts) {
    for_each_piece(run_, thread, {from_ns, to_ns}, cursor_, [&parts](const PieceSpan& piece) {
      const int64_t ns = piece.end_ns - piece.start_ns;
      const FlowCause cause = piece.piece == nullptr ? FlowCause::kHostGap : piece.piece->cause;
      for (SegmentPart& part : parts) {
        if (part.cause != cause) continue;
        part.ns += ns;
        return;
      }
      parts.push_back({cause, ns});
    });
  }

  void edges_of_call_end(uint32_t c) {
    const FlowCall& call = run_.calls[c];
    const int64_t waited_ns = usual_.waited_ns(call);
    edges_.push_back({2 * c, usual_.own_call(call, waited_ns), EdgeKind::kCall});
    for (uint32_t k = 0; k < call.target_count; ++k) {
      const uint32_t work = run_.targets[call.first_target + k];
      edges_.push_back(
          {end_item(work), usual_.returns(call, run_.works[work], waited_ns), EdgeKind::kReturn});
    }
    const uint32_t staged = usual_.staged_copy(call);
    if (staged != kNoFlowRow) {
      edges_.push_back(
          {begin_item(staged), call.end_ns - run_.works[staged].start_ns, EdgeKind::kStaged});
    }
    if (call.slot_work != kNoFlowRow) {
      edges_.push_back({begin_item(call.slot_work),
                        call.end_ns - run_.works[call.slot_work].start_ns, EdgeKind::kQueue});
    }
  }

  uint32_t begin_item(uint32_t work) const { return 2 * (calls_ + work); }
  uint32_t end_item(uint32_t work) const { return 2 * (calls_ + work) + 1; }

  // True if the call stages the bytes of several copies, one after another, and this is not the
  // first.
  bool follows_in_call(const FlowWork& work) const {
    if (!work.host_stages || work.stream_prev == kNoFlowRow) return false;
    const FlowWork& prev = run_.works[work.stream_prev];
    return prev.call == work.call && prev.host_stages && prev.end_ns <= work.submit_ns;
  }

  Edge hand_over_of(const FlowWork& work) const {
    if (!begins_within_call(run_, work)) {
      return {2 * work.call + 1, usual_.launch(work), EdgeKind::kLaunch};
    }
    const int64_t handed_ns = std::min(work.submit_ns, work.start_ns);
    if (follows_in_call(work)) {
      return {end_item(work.stream_prev), handed_ns - run_.works[work.stream_prev].end_ns,
              EdgeKind::kLaunch};
    }
    return {2 * work.call, handed_ns - run_.calls[work.call].start_ns, EdgeKind::kLaunch};
  }

  void edges_of_work_begin(uint32_t w) {
    const FlowWork& work = run_.works[w];
    if (work.call != kNoFlowRow) edges_.push_back(hand_over_of(work));
    const auto add_after = [&](uint32_t prev, EdgeKind kind) {
      edges_.push_back({end_item(prev), usual_.after(kind, run_.works[prev], work), kind});
    };
    if (work.stream_prev != kNoFlowRow) add_after(work.stream_prev, EdgeKind::kStream);
    if (work.graph_prev != kNoFlowRow && work.graph_prev != work.stream_prev) {
      add_after(work.graph_prev, EdgeKind::kStream);
    }
    for (uint32_t k = 0; k < work.wait_count; ++k) {
      add_after(run_.waits[work.first_wait + k], EdgeKind::kEvent);
    }
    if (!ordered_.empty() && ordered_[w] != kNoFlowRow) {
      edges_.push_back({end_item(ordered_[w]), 0, EdgeKind::kOrder});
    }
  }

  void edges_of_work_end(uint32_t w) {
    edges_.push_back(
        {begin_item(w), run_.works[w].end_ns - run_.works[w].start_ns, EdgeKind::kWork});
  }

  // ---- points -----------------------------------------------------------------------------------

  // Appends the point of an item; edges_ holds its edges.
  void emit(uint32_t item) {
    const auto p = static_cast<uint32_t>(graph_.time_ns.size());
    const size_t all = edges_.size();
    std::erase_if(edges_, [this](const Edge& edge) {
      return edge.source != kNoPoint && graph_.point_of[edge.source] == kNoPoint;
    });
    graph_.cut_edges += all - edges_.size();
    const int64_t time_ns = time_of(item);
    if (edges_.empty()) edges_.push_back({kNoPoint, time_ns - run_.start_ns, EdgeKind::kStart});
    const size_t binding = find_binding();
    std::swap(edges_[0], edges_[binding]);
    graph_.time_ns.push_back(time_ns);
    graph_.residual_ns.push_back(time_ns - reached_ns(edges_[0]));
    graph_.first_edge.push_back(static_cast<uint32_t>(graph_.source.size()));
    for (const Edge& edge : edges_) push(edge);
    const bool call_begin = item / 2 < calls_ && item % 2 == 0;
    if (call_begin && silence_.from_call != kNoFlowRow) {
      silence_.point = p;
      graph_.silences.push_back(silence_);
    }
    graph_.item.push_back(item);
    graph_.point_of[item] = p;
  }

  int64_t reached_ns(const Edge& edge) const {
    const int64_t from_ns = edge.source == kNoPoint ? run_.start_ns : time_of(edge.source);
    return from_ns + edge.lag_ns;
  }

  size_t find_binding() const {
    size_t best = 0;
    for (size_t i = 1; i < edges_.size(); ++i) {
      if (reached_ns(edges_[i]) > reached_ns(edges_[best])) best = i;
    }
    return best;
  }

  void push(const Edge& edge) {
    const bool segment = edge.kind == EdgeKind::kSegment || edge.kind == EdgeKind::kHandOver;
    if (segment) {
      graph_.segment_edge.push_back(static_cast<uint32_t>(graph_.source.size()));
      graph_.first_part.push_back(static_cast<uint32_t>(graph_.part_ns.size()));
      const auto& parts = edge.kind == EdgeKind::kHandOver ? hand_parts_ : parts_;
      for (const SegmentPart& part : parts) {
        graph_.part_cause.push_back(part.cause);
        graph_.part_ns.push_back(part.ns);
      }
    }
    if (edge.kind == EdgeKind::kHandOver) count_hand_over(edge);
    graph_.source.push_back(edge.source == kNoPoint ? kNoPoint : graph_.point_of[edge.source]);
    graph_.lag_ns.push_back(edge.lag_ns);
    graph_.kind.push_back(edge.kind);
  }

  void count_hand_over(const Edge& edge) {
    ++graph_.hand_overs;
    const ThreadId from = run_.calls[edge.source / 2].thread;
    for (const uint32_t to : run_.threads[from.index()].colleagues) {
      if (!joined_.has(from, ThreadId(to))) continue;
      ++graph_.confirmed_hand_overs;
      return;
    }
  }

  const FlowRun& run_;
  const UsualLags usual_;
  const JoinedThreads joined_;
  PieceCursor cursor_;
  const uint32_t calls_;
  const std::vector<uint32_t> ordered_;
  FlowGraph graph_;
  std::vector<bool> on_stack_;
  std::vector<uint32_t> stack_;
  std::vector<Edge> edges_;
  std::vector<SegmentPart> parts_;
  std::vector<SegmentPart> hand_parts_;
  HandOverSilence silence_;  // of the call begin with its edges in edges_
};

template <typename T>
uint64_t bytes_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

}  // namespace

Point FlowGraph::point(uint32_t p) const {
  const uint32_t row = item[p] / 2;
  const bool end = item[p] % 2 != 0;
  if (row < calls) return {end ? PointKind::kCallEnd : PointKind::kCallBegin, row};
  return {end ? PointKind::kWorkEnd : PointKind::kWorkBegin, row - calls};
}

size_t FlowGraph::segment_of(uint32_t edge) const {
  const auto at = std::lower_bound(segment_edge.begin(), segment_edge.end(), edge);
  return static_cast<size_t>(at - segment_edge.begin());
}

uint64_t FlowGraph::bytes() const {
  return bytes_of(time_ns) + bytes_of(residual_ns) + bytes_of(first_edge) + bytes_of(source) +
         bytes_of(lag_ns) + bytes_of(kind) + bytes_of(item) + bytes_of(point_of) +
         bytes_of(segment_edge) + bytes_of(first_part) + bytes_of(part_cause) + bytes_of(part_ns) +
         bytes_of(silences);
}

FlowGraph make_flow_graph(const FlowRun& run) { return make_flow_graph(run, run.floors); }

FlowGraph make_flow_graph(const FlowRun& run, const FlowFloors& floors) {
  return GraphMaker(run, floors).make();
}

std::array<SegmentSpan, 2> segment_spans(const FlowRun& run, const FlowGraph& graph, uint32_t point,
                                         EdgeKind kind) {
  const uint32_t c = graph.item[point] / 2;
  const FlowCall& call = run.calls[c];
  const bool has_prev = c > run.threads[call.thread.index()].first_call;
  const int64_t from_ns = has_prev ? run.calls[c - 1].end_ns : run.start_ns;
  if (call.after_work != kNoFlowRow) {
    const int64_t until_ns = from_ns + own_before_wait_ns(call, from_ns);
    return {SegmentSpan{call.thread, {from_ns, until_ns}},
            SegmentSpan{call.thread, {until_ns, until_ns}}};
  }
  const auto silence = std::lower_bound(
      graph.silences.begin(), graph.silences.end(), point,
      [](const HandOverSilence& each, uint32_t wanted) { return each.point < wanted; });
  if (silence == graph.silences.end() || silence->point != point) {
    return {SegmentSpan{call.thread, {from_ns, call.start_ns}},
            SegmentSpan{call.thread, {call.start_ns, call.start_ns}}};
  }
  const SegmentSpan after{call.thread, {silence->end_ns, call.start_ns}};
  if (kind == EdgeKind::kSegment)
    return {SegmentSpan{call.thread, {from_ns, silence->start_ns}}, after};
  const FlowCall& other = run.calls[silence->from_call];
  return {SegmentSpan{other.thread, {other.end_ns, silence->end_ns}}, after};
}

bool is_end_point(const FlowRun& run, Point point) {
  if (point.kind == PointKind::kWorkEnd) return !run.works[point.row].helper;
  if (point.kind != PointKind::kCallEnd) return false;
  return run.works_of_calls.empty() ||
         run.threads[run.calls[point.row].thread.index()].launches > 0;
}

bool may_end(const FlowRun& run, const FlowGraph& graph, uint32_t point) {
  return graph.time_ns[point] <= graph.end_ns && is_end_point(run, graph.point(point));
}

bool counts_work(const FlowRun& run, const FlowGraph& graph, uint32_t work) {
  return !run.works[work].helper && run.works[work].end_ns <= graph.end_ns;
}

}  // namespace assay
