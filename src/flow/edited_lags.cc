#include "flow/edited_lags.h"

#include <algorithm>

#include "flow/causes.h"
#include "flow/replay.h"

namespace assay {
namespace {

constexpr auto kSilent = static_cast<size_t>(FlowCause::kHostGap);

int64_t scaled_ns(int64_t ns, double factor) {
  return factor >= 1 ? ns : static_cast<int64_t>(static_cast<double>(ns) * factor);
}

bool has(const Edit::Marks& marks, uint32_t row) { return !marks.empty() && marks[row]; }

double left_in(const std::vector<double>& left, uint32_t row) {
  return left.empty() ? 1 : left[row];
}

// What is left of marked rows.
void add_left(const Edit::Marks& marks, double marked, std::vector<double>& left) {
  if (marks.empty()) return;
  if (left.empty()) left.assign(marks.size(), 1);
  for (size_t row = 0; row < marks.size(); ++row) {
    if (marks[row]) left[row] = std::min(left[row], marked);
  }
}

void add_marks(const Edit::Marks& marks, Edit::Marks& sum) {
  if (marks.empty()) return;
  if (sum.empty()) {
    sum = marks;
    return;
  }
  for (size_t row = 0; row < marks.size(); ++row) {
    if (marks[row]) sum[row] = true;
  }
}

void add_works_left(const std::vector<float>& works_left, std::vector<double>& left) {
  if (works_left.empty()) return;
  if (left.empty()) left.assign(works_left.size(), 1);
  for (size_t w = 0; w < works_left.size(); ++w) {
    left[w] = std::min<double>(left[w], works_left[w]);
  }
}

void add_joined(const Edit& edit, std::vector<int64_t>& joined_ns) {
  if (edit.joined.empty()) return;
  if (joined_ns.empty()) joined_ns.assign(edit.joined.size(), INT64_MAX);
  for (size_t w = 0; w < edit.joined.size(); ++w) {
    if (edit.joined[w]) joined_ns[w] = std::min(joined_ns[w], edit.joined_ns);
  }
}

// Of host time before a launch that is no more: what prepares it goes with it, a pause stays.
int64_t left_of_free(int64_t ns) { return ns >= kPauseNs ? ns : 0; }

bool is_segment(EdgeKind kind) { return kind == EdgeKind::kSegment || kind == EdgeKind::kHandOver; }

}  // namespace

void add_edit(const Edit& edit, StrongestEdits& sum) {
  for (size_t c = 0; c < kFlowCauses; ++c) sum.cause[c] = std::min(sum.cause[c], edit.cause[c]);
  for (size_t k = 0; k < sum.work.size(); ++k) sum.work[k] = std::min(sum.work[k], edit.work[k]);
  if (!edit.keeps_silence) sum.silence = std::min(sum.silence, edit.cause[kSilent]);
  sum.keeps_silence |= edit.keeps_silence;
  sum.no_pauses |= edit.no_pauses;
  add_left(edit.calls, edit.marked, sum.calls);
  add_left(edit.works, edit.marked, sum.works);
  add_left(edit.ops, edit.marked, sum.ops);
  add_left(edit.frame_names, edit.marked, sum.frame_names);
  add_works_left(edit.works_left, sum.works);
  add_marks(edit.unwaited, sum.unwaited);
  add_marks(edit.free_calls, sum.free_calls);
  add_marks(edit.short_calls, sum.short_calls);
  add_joined(edit, sum.joined_ns);
}

StrongestEdits sum_of(std::span<const Edit* const> edits) {
  StrongestEdits sum;
  for (const Edit* edit : edits) add_edit(*edit, sum);
  return sum;
}

LagEditor::LagEditor(const FlowRun& run, const FlowGraph& graph, int64_t from_ns)
    : run_(run),
      graph_(graph),
      from_ns_(from_ns),
      cursor_(run.threads.size()),
      names_(*run.trace) {}

void LagEditor::begin(const StrongestEdits& edits) {
  edits_ = &edits;
  walks_ = !edits.ops.empty() || !edits.frame_names.empty() || edits.no_pauses ||
           (edits.keeps_silence && run_.has_frames);
  const auto is_less = [](double left) { return left < 1; };
  changes_host_ = walks_ || is_less(edits.silence) ||
                  std::any_of(edits.cause.begin(), edits.cause.end(), is_less);
}

// segment: the first one into the point, if there is one.
void LagEditor::edit_point(uint32_t p, size_t segment, EditedLags& lags) {
  if (graph_.time_ns[p] <= from_ns_) return;
  const uint32_t row = graph_.point(p).row;
  for (uint32_t e = graph_.first_edge[p]; e < graph_.first_edge[p + 1]; ++e) {
    const EdgeKind kind = graph_.kind[e];
    if (is_segment(kind)) {
      edit_segment(p, e, segment++, lags);
    } else {
      lags.lag_ns[e] = edited(kind, row, graph_.lag_ns[e]);
    }
  }
}

EditedLags LagEditor::lags(const StrongestEdits& edits) {
  EditedLags edited;
  lags(edits, edited);
  return edited;
}

void LagEditor::lags(const StrongestEdits& edits, EditedLags& lags) {
  begin(edits);
  lags.lag_ns = graph_.lag_ns;
  lags.part_ns = graph_.part_ns;
  lags.by_pieces = walks_;
  size_t segment = 0;
  for (uint32_t p = 0; p < graph_.points(); ++p) {
    edit_point(p, segment, lags);
    const uint32_t end = graph_.first_edge[p + 1];
    while (segment < graph_.segment_edge.size() && graph_.segment_edge[segment] < end) ++segment;
  }
}

std::vector<uint32_t> LagEditor::touched(const EditedLags& of) const {
  std::vector<uint32_t> points;
  for (uint32_t p = 0; p < graph_.points(); ++p) {
    const auto first = static_cast<std::ptrdiff_t>(graph_.first_edge[p]);
    const auto end = static_cast<std::ptrdiff_t>(graph_.first_edge[p + 1]);
    const bool same = std::equal(of.lag_ns.begin() + first, of.lag_ns.begin() + end,
                                 graph_.lag_ns.begin() + first);
    if (!same) points.push_back(p);
  }
  return points;
}

void LagEditor::lags_with(const StrongestEdits& edits, const std::vector<uint32_t>& points,
                          const EditedLags& before, EditedLags& lags) {
  begin(edits);
  if (walks_ != before.by_pieces) {
    this->lags(edits, lags);
    return;
  }
  lags = before;
  for (const uint32_t p : points) edit_point(p, graph_.segment_of(graph_.first_edge[p]), lags);
}

// The same of a stretch of `ns` that a thread spends with one thing.
double LagEditor::left_of(FlowCause cause, int64_t ns) const {
  return cause == FlowCause::kHostGap && ns >= kPauseNs ? edits_->silence : left_of(cause);
}

int64_t LagEditor::edited(EdgeKind kind, uint32_t row, int64_t lag_ns) const {
  switch (kind) {
    case EdgeKind::kCall:
      return edited_call(row, lag_ns);
    case EdgeKind::kReturn:
      return edited_return(row, lag_ns);
    case EdgeKind::kQueue:
      return has(edits_->free_calls, row) ? kCutLag : lag_ns;
    case EdgeKind::kStream:
      return edits_->joined_ns.empty() ? lag_ns : std::min(lag_ns, edits_->joined_ns[row]);
    case EdgeKind::kWork: {
      const double of_kind = edits_->work[static_cast<size_t>(run_.works[row].kind)];
      return scaled_ns(lag_ns, std::min(of_kind, left_in(edits_->works, row)));
    }
    default:
      return lag_ns;
  }
}

// A call that does not release memory does not wait before it, either.
int64_t LagEditor::edited_return(uint32_t c, int64_t lag_ns) const {
  const FlowCause cause = return_cause(run_.calls[c]);
  if (has(edits_->unwaited, c)) return kCutLag;
  if (cause == FlowCause::kSync) return lag_ns;
  const double left = left_of(cause);
  return left == 0 ? kCutLag : scaled_ns(lag_ns, left);
}

int64_t LagEditor::edited_call(uint32_t c, int64_t lag_ns) const {
  const FlowCall& call = run_.calls[c];
  if (has(edits_->unwaited, c)) return 0;
  const bool makes_room = call.slot_work != kNoFlowRow;
  const bool is_free = has(edits_->free_calls, c);
  // What makes room in the launch queue, or is no launch at all, is not gone with the launches.
  if (is_free && makes_room) return 0;
  if (edits_->no_pauses && is_host_work(call.kind) && lag_ns >= kPauseNs) return 0;
  double left = std::min(left_of(call.kind), left_in(edits_->calls, c));
  const OpId op = run_.links->call_op[call.row.index()];
  if (op && call.kind != FlowCause::kSync) left = std::min(left, left_in(edits_->ops, op.value));
  const int64_t edited_ns = scaled_ns(lag_ns, left);
  if (is_free) return std::min(edited_ns, left_of_free(lag_ns));
  const bool is_short = has(edits_->short_calls, c);
  if (is_short && !makes_room && left_of_free(edited_ns) > 0) return edited_ns;
  return is_short ? std::min(edited_ns, kGraphLaunchNs) : edited_ns;
}

void LagEditor::edit_segment(uint32_t point, uint32_t edge, size_t segment, EditedLags& lags) {
  const bool is_free = has(edits_->free_calls, graph_.point(point).row);
  if (!is_free && !changes_host_) return;
  const auto spans = segment_spans(run_, graph_, point, graph_.kind[edge]);
  const bool reaches_back = spans[0].span.start_ns < from_ns_ || spans[1].span.start_ns < from_ns_;
  const bool walks = walks_ || reaches_back;
  std::array<int64_t, kFlowCauses> saved_ns{};
  if (walks) saved_ns = walked_savings(spans, is_free && reaches_back);
  int64_t sum_ns = 0;
  for (uint32_t part = graph_.first_part[segment]; part < graph_.first_part[segment + 1]; ++part) {
    const FlowCause cause = graph_.part_cause[part];
    const int64_t ns = graph_.part_ns[part];
    int64_t left_ns =
        walks ? ns - saved_ns[static_cast<size_t>(cause)] : scaled_ns(ns, left_of(cause, ns));
    if (is_free && !reaches_back) left_ns = std::min(left_ns, left_of_free(ns));
    lags.part_ns[part] = left_ns;
    sum_ns += left_ns;
  }
  lags.lag_ns[edge] = sum_ns;
}

// What edits take off a segment, by cause, piece by piece; nothing of what lies before from_ns_.
std::array<int64_t, kFlowCauses> LagEditor::walked_savings(const std::array<SegmentSpan, 2>& spans,
                                                           bool is_free) {
  std::array<int64_t, kFlowCauses> saved_ns{};
  for (const SegmentSpan& part : spans) {
    const HostThread& thread = run_.threads[part.thread.index()];
    const Interval later{std::max(part.span.start_ns, from_ns_), part.span.end_ns};
    for_each_piece(run_, thread, later, cursor_, [&](const PieceSpan& span) {
      const FlowCause cause = span.piece == nullptr ? FlowCause::kHostGap : span.piece->cause;
      const int64_t ns = span.end_ns - span.start_ns;
      int64_t left_ns = scaled_ns(ns, left_of_piece(span.piece, cause, ns));
      if (is_free) left_ns = std::min(left_ns, left_of_free(ns));
      saved_ns[static_cast<size_t>(cause)] += ns - left_ns;
    });
  }
  return saved_ns;
}

double LagEditor::left_of_piece(const HostPiece* piece, FlowCause cause, int64_t ns) {
  if (edits_->no_pauses && is_host_work(cause) && ns >= kPauseNs) return 0;
  double left = left_of(cause, ns);
  if (piece == nullptr) return left;
  if (left < edits_->silence && stands_still(*piece, ns)) left = edits_->silence;
  if (cause == FlowCause::kSync || cause == FlowCause::kNothingAsked) return left;
  if (piece->op != kNoFlowRow) left = std::min(left, left_in(edits_->ops, piece->op));
  if (piece->frame != kNoFlowRow && !edits_->frame_names.empty()) {
    const StringId name = run_.trace->frames.name[piece->frame];
    left = std::min(left, edits_->frame_names[name.index()]);
  }
  return left;
}

// Whether a frame waits for another thread or for the outside, or the thread is in a call of the
// operating system, which no faster core shortens.
bool LagEditor::stands_still(const HostPiece& piece, int64_t ns) {
  if (piece.source == RowSource::kSystem) return true;
  if (piece.source != RowSource::kFrame || ns < kPauseNs) return false;
  const HostName name = names_.of(run_.trace->frames.name[piece.row]);
  return name.lock || name.outside;
}

EditedLags edited_lags(const FlowRun& run, const FlowGraph& graph,
                       std::span<const Edit* const> edits, int64_t from_ns) {
  return LagEditor(run, graph, from_ns).lags(sum_of(edits));
}

}  // namespace assay
