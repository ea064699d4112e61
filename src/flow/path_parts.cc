#include "flow/path_parts.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "flow/names.h"
#include "flow/pieces.h"

namespace assay {
namespace {

// Walks back along the path and collects its slices, latest first.
class PathCutter {
 public:
  PathCutter(const FlowRun& run, const FlowGraph& graph)
      : run_(run), graph_(graph), trace_(*run.trace), cursor_(run.threads.size()) {}

  std::vector<PathSlice> cut(const CriticalPath& path) {
    if (path.steps.empty()) return {};
    reached_ns_ = graph_.time_ns[path.steps.front().point];
    for (const PathStep& step : path.steps) add(step);
    std::reverse(slices_.begin(), slices_.end());
    return std::move(slices_);
  }

 private:
  int64_t source_ns(const PathStep& step) const {
    const uint32_t source = graph_.source[step.edge];
    return source == kNoPoint ? graph_.start_ns : graph_.time_ns[source];
  }

  void add(const PathStep& step) {
    const int64_t from_ns = source_ns(step);
    const bool segment = step.kind == EdgeKind::kSegment || step.kind == EdgeKind::kHandOver;
    if (segment) add_segment(step);
    if (!segment && step.residual_ns > 0) emit(from_ns + step.lag_ns, residual_slice(step));
    emit(from_ns, segment ? residual_slice(step) : lag_slice(step));
  }

  // Adds a slice from start_ns to the begin of the covered time.
  void emit(int64_t start_ns, PathSlice slice) {
    if (start_ns >= reached_ns_) return;
    slice.span = {start_ns, reached_ns_};
    slices_.push_back(slice);
    reached_ns_ = start_ns;
  }

  void name_point(uint32_t p, PathSlice& slice) const {
    const Point point = graph_.point(p);
    if (point.kind == PointKind::kWorkBegin || point.kind == PointKind::kWorkEnd) {
      const ActivityId activity = run_.works[point.row].activity;
      slice.source = RowSource::kActivity;
      slice.activity = activity;
      slice.name = trace_.activities.name[activity.index()];
      slice.op = run_.links->activity_op[activity.index()];
      slice.work = run_.works[point.row].kind;
    } else {
      const ApiCallId call = run_.calls[point.row].row;
      slice.source = RowSource::kCall;
      slice.name = trace_.api_calls.name[call.index()];
      slice.op = run_.links->call_op[call.index()];
    }
  }

  PathSlice residual_slice(const PathStep& step) const {
    const bool unseen = step.residual_ns > kFlowMarginNs;
    PathSlice slice{.kind = unseen ? PathPartKind::kUnseen : PathPartKind::kLatency,
                    .edge = step.kind,
                    .cause = residual_cause(run_, step.residual_ns)};
    name_point(step.point, slice);
    if (!unseen) unname(slice);
    return slice;
  }

  // Latencies are summed regardless of what follows them.
  static void unname(PathSlice& slice) {
    slice.source = RowSource::kNone;
    slice.name = {};
  }

  // Time within a call until it submits work belongs to the call.
  void name_hand_over(const FlowWork& work, PathSlice& slice) const {
    slice.kind = PathPartKind::kLatency;
    slice.cause = hand_over_cause(run_, work);
    unname(slice);
    if (slice.cause == FlowCause::kLatency) return;
    slice.kind = PathPartKind::kCall;
    name_point(graph_.call_point(work.call, false), slice);
  }

  PathSlice lag_slice(const PathStep& step) const {
    PathSlice slice{.edge = step.kind};
    name_point(step.point, slice);
    switch (step.kind) {
      case EdgeKind::kCall:
        slice.kind = PathPartKind::kCall;
        slice.cause = own_cause(run_.calls[graph_.point(step.point).row], step.lag_ns);
        break;
      case EdgeKind::kReturn:
        slice.kind = PathPartKind::kReturn;
        slice.cause = return_cause(run_.calls[graph_.point(step.point).row]);
        break;
      case EdgeKind::kAwait:
        slice.kind = PathPartKind::kReturn;
        slice.cause = await_cause(run_.calls[graph_.point(step.point).row]);
        if (slice.cause != FlowCause::kSync) unname(slice);
        break;
      case EdgeKind::kQueue:
        slice.kind = PathPartKind::kQueue;
        break;
      case EdgeKind::kStaged:
        name_point(graph_.source[step.edge], slice);
        break;
      case EdgeKind::kLaunch:
        name_hand_over(run_.works[graph_.point(step.point).row], slice);
        break;
      case EdgeKind::kStream:
      case EdgeKind::kEvent:
        slice.kind = PathPartKind::kLatency;
        slice.cause = follow_cause(run_);
        unname(slice);
        break;
      case EdgeKind::kStart:
        slice.kind = PathPartKind::kStart;
        unname(slice);
        break;
      default:
        break;
    }
    return slice;
  }

  // Host pieces, latest first. Time between the two intervals of a segment is not host time.
  void add_segment(const PathStep& step) {
    const auto spans = segment_spans(run_, graph_, step.point, step.kind);
    for (size_t k = spans.size(); k-- > 0;) {
      const SegmentSpan& part = spans[k];
      if (part.span.start_ns >= part.span.end_ns) continue;
      emit(part.span.end_ns, residual_slice(step));
      pieces_.clear();
      for_each_piece(run_, run_.threads[part.thread.index()], part.span, cursor_,
                     [this](const PieceSpan& piece) { pieces_.push_back(piece); });
      for (size_t i = pieces_.size(); i-- > 0;) emit(pieces_[i].start_ns, host_slice(pieces_[i]));
    }
  }

  PathSlice host_slice(const PieceSpan& span) const {
    PathSlice slice{.kind = PathPartKind::kHost, .edge = EdgeKind::kSegment};
    if (span.piece == nullptr) return slice;
    const HostPiece& piece = *span.piece;
    slice.cause = piece.cause;
    slice.source = piece.source;
    if (piece.op != kNoFlowRow) slice.op = OpId(piece.op);
    slice.name = row_name(trace_, piece.source, piece.row);
    return slice;
  }

  const FlowRun& run_;
  const FlowGraph& graph_;
  const Trace& trace_;
  PieceCursor cursor_;
  int64_t reached_ns_ = 0;  // begin of the covered time
  std::vector<PathSlice> slices_;
  std::vector<PieceSpan> pieces_;
};

}  // namespace

std::string_view path_part_kind_name(PathPartKind kind) {
  constexpr std::array<std::string_view, kPathPartKinds> kNames = {
      "work", "call", "host", "latency", "return", "queue", "unseen", "start"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view path_slice_state(const PathSlice& slice) {
  switch (slice.kind) {
    case PathPartKind::kWork:
      return slice.work == WorkKind::kCompute      ? "compute"
             : slice.work == WorkKind::kCollective ? "collective"
                                                   : "copy";
    case PathPartKind::kQueue:
      return "queue";
    case PathPartKind::kStart:
      return "start";
    default:
      return flow_cause_name(slice.cause);
  }
}

std::vector<PathSlice> path_slices(const FlowRun& run, const FlowGraph& graph,
                                   const CriticalPath& path) {
  std::vector<PathSlice> slices = PathCutter(run, graph).cut(path);
  if (run.unrecorded.empty()) return slices;
  std::vector<PathSlice> recorded;
  for (PathSlice& slice : slices) {
    if (slice.cause != FlowCause::kNothingAsked) {
      recorded.push_back(slice);
      continue;
    }
    for (const Interval& part : subtract({slice.span}, run.unrecorded)) {
      slice.span = part;
      recorded.push_back(slice);
    }
  }
  return recorded;
}

std::vector<PathPart> path_parts(const std::vector<PathSlice>& slices) {
  using Key = std::tuple<PathPartKind, EdgeKind, FlowCause, WorkKind, RowSource, uint32_t>;
  std::map<Key, PathPart> by_name;
  for (const PathSlice& slice : slices) {
    const bool work = slice.kind == PathPartKind::kWork;
    const bool latency = slice.kind == PathPartKind::kLatency;
    PathPart& part =
        by_name[{slice.kind, latency ? slice.edge : EdgeKind::kStart, slice.cause,
                 work ? slice.work : WorkKind::kCompute, slice.source, slice.name.value}];
    const int64_t ns = slice.span.end_ns - slice.span.start_ns;
    if (part.slices == 0 || ns > part.of.span.end_ns - part.of.span.start_ns) part.of = slice;
    part.ns += ns;
    ++part.slices;
  }
  std::vector<PathPart> parts;
  for (const auto& [key, part] : by_name) parts.push_back(part);
  std::stable_sort(parts.begin(), parts.end(),
                   [](const PathPart& a, const PathPart& b) { return a.ns > b.ns; });
  return parts;
}

std::vector<PathOp> path_ops(const FlowRun& run, const std::vector<PathSlice>& slices) {
  const Trace& trace = *run.trace;
  std::map<uint32_t, PathOp> by_name;
  for (const PathSlice& slice : slices) {
    OpId root = slice.op;
    while (root) {
      const OpId parent = run.links->op_parent[root.index()];
      if (!parent || trace.text(trace.ops.name[parent.index()]).starts_with("ProfilerStep")) break;
      root = parent;
    }
    const StringId name = root ? trace.ops.name[root.index()] : StringId();
    PathOp& op = by_name[name.value];
    const int64_t ns = slice.span.end_ns - slice.span.start_ns;
    op.name = name;
    op.ns += ns;
    if (slice.kind == PathPartKind::kWork) op.device_ns += ns;
  }
  std::vector<PathOp> ops;
  for (const auto& [name, op] : by_name) ops.push_back(op);
  std::stable_sort(ops.begin(), ops.end(),
                   [](const PathOp& a, const PathOp& b) { return a.ns > b.ns; });
  return ops;
}

std::vector<PathLayer> sum_by_layer(const std::vector<PathSlice>& slices, const LayerOfRows& of) {
  const size_t n = slices.size();
  std::vector<int32_t> told(n, kPathLayerNotTold);
  for (size_t i = 0; i < n; ++i) {
    const PathSlice& slice = slices[i];
    const bool work = slice.kind == PathPartKind::kWork && slice.activity;
    if (work) told[i] = of.activity[slice.activity.index()];
    if (!work && slice.op) told[i] = of.op[slice.op.index()];
    if (told[i] == kPathLayerMixed) told[i] = kPathLayerNotTold;
  }
  // Per slice: the next known layer at or after it.
  std::vector<int32_t> next(n, kPathLayerNotTold);
  for (size_t i = n; i-- > 0;) {
    const bool last = i + 1 == n;
    next[i] = told[i] != kPathLayerNotTold ? told[i] : last ? kPathLayerNotTold : next[i + 1];
  }
  std::map<int32_t, PathLayer> by_layer;
  int32_t before = kPathLayerNotTold;
  for (size_t i = 0; i < n; ++i) {
    if (told[i] != kPathLayerNotTold) before = told[i];
    const int32_t number = before == next[i] ? before : kPathLayerNotTold;
    PathLayer& layer = by_layer[number];
    const int64_t ns = slices[i].span.end_ns - slices[i].span.start_ns;
    layer.layer = number;
    layer.ns += ns;
    if (slices[i].kind == PathPartKind::kWork) layer.device_ns += ns;
  }
  std::vector<PathLayer> layers;
  for (const auto& [number, layer] : by_layer) layers.push_back(layer);
  std::stable_sort(layers.begin(), layers.end(),
                   [](const PathLayer& a, const PathLayer& b) { return a.ns > b.ns; });
  return layers;
}

}  // namespace assay
