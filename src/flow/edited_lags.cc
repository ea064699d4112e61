#include "flow/edited_lags.h"

#include <algorithm>
#include <numeric>

#include "flow/causes.h"
#include "flow/replay.h"

namespace assay {
namespace {

constexpr auto kSilent = static_cast<size_t>(FlowCause::kHostGap);

int64_t scaled_ns(int64_t ns, double factor) {
  return factor == 1 ? ns : static_cast<int64_t>(static_cast<double>(ns) * factor);
}

bool has(const Edit::Marks& marks, uint32_t row) { return !marks.empty() && marks[row]; }

double left_in(const std::vector<double>& left, uint32_t row) {
  return left.empty() ? 1 : left[row];
}

// Lowers the fraction left of marked rows.
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

void add_works_scale(const std::vector<float>& scale, std::vector<double>& sum) {
  if (scale.empty()) return;
  if (sum.empty()) sum.assign(scale.size(), 1);
  for (size_t w = 0; w < scale.size(); ++w) sum[w] *= scale[w];
}

void add_joined(const Edit& edit, std::vector<int64_t>& joined_ns) {
  if (edit.joined.empty()) return;
  if (joined_ns.empty()) joined_ns.assign(edit.joined.size(), INT64_MAX);
  for (size_t w = 0; w < edit.joined.size(); ++w) {
    if (edit.joined[w]) joined_ns[w] = std::min(joined_ns[w], edit.joined_ns);
  }
}

// Host time left before a removed launch: its preparation goes, a stall stays.
int64_t left_of_free(int64_t ns) { return ns >= kPauseNs ? ns : 0; }

void add_strengths(const Edit& edit, EditStrengths& sum) {
  for (size_t c = 0; c < kFlowCauses; ++c) sum.cause[c] = std::min(sum.cause[c], edit.cause[c]);
  for (size_t k = 0; k < sum.work.size(); ++k) sum.work[k] = std::min(sum.work[k], edit.work[k]);
  if (!edit.keeps_silence) sum.silence = std::min(sum.silence, edit.cause[kSilent]);
  sum.host *= edit.host;
  sum.keeps_silence |= edit.keeps_silence;
  sum.no_pauses |= edit.no_pauses;
}

bool is_segment(EdgeKind kind) { return kind == EdgeKind::kSegment || kind == EdgeKind::kHandOver; }

// Other edges that an edit may change. Of kLaunch edges only those that are a call's own time.
bool is_edited(EdgeKind kind) {
  return kind == EdgeKind::kCall || kind == EdgeKind::kLaunch || kind == EdgeKind::kReturn ||
         kind == EdgeKind::kAwait || kind == EdgeKind::kQueue || kind == EdgeKind::kStaged ||
         kind == EdgeKind::kStream || kind == EdgeKind::kWork;
}

// True for a thread that waited for memory written before the work's end: the wait is part of the
// work's own time.
bool waits_within(const FlowRun& run, const FlowGraph& graph, uint32_t point, uint32_t edge) {
  const uint32_t source = graph.source[edge];
  return source != kNoPoint && graph.point(source).kind == PointKind::kWorkBegin &&
         !run.calls[graph.point(point).row].after_unrecorded;
}

bool is_less(double left) { return left < 1; }

bool changes_causes(const EditStrengths& all) {
  return all.host != 1 || std::any_of(all.cause.begin(), all.cause.end(), is_less);
}

bool is_empty(const Interval& span) { return span.start_ns >= span.end_ns; }

}  // namespace

void add_edit(const Edit& edit, StrongestEdits& sum) {
  add_strengths(edit, sum.all);
  add_left(edit.calls, edit.marked, sum.calls);
  add_left(edit.works, edit.marked, sum.works);
  add_left(edit.ops, edit.marked, sum.ops);
  add_left(edit.frame_names, edit.marked, sum.frame_names);
  add_works_left(edit.works_left, sum.works);
  add_works_scale(edit.works_scale, sum.works_scale);
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

EditSlots::EditSlots(const FlowRun& run, const FlowGraph& graph, int64_t from_ns)
    : run_(run), graph_(graph), from_ns_(from_ns) {
  add_entries();
  PieceCursor cursor(run.threads.size());
  segments_.reserve(graph.segment_edge.size());
  for (uint32_t p = 0; p < graph.points(); ++p) {
    for (uint32_t e = graph.first_edge[p]; e < graph.first_edge[p + 1]; ++e) {
      if (is_segment(graph.kind[e])) segments_.push_back(segment_at(p, e, cursor));
    }
  }
}

void EditSlots::add_entries() {
  const auto is_entry = [&](uint32_t p, uint32_t e) {
    if (graph_.time_ns[p] <= from_ns_ || !is_edited(graph_.kind[e])) return false;
    if (graph_.kind[e] == EdgeKind::kAwait) return waits_within(run_, graph_, p, e);
    return graph_.kind[e] != EdgeKind::kLaunch ||
           hand_over_cause(run_, run_.works[graph_.point(p).row]) != FlowCause::kLatency;
  };
  for (uint32_t p = 0; p < graph_.points(); ++p) {
    for (uint32_t e = graph_.first_edge[p]; e < graph_.first_edge[p + 1]; ++e) {
      if (is_entry(p, e)) ++first_entry_[static_cast<size_t>(graph_.kind[e]) + 1];
    }
  }
  std::partial_sum(first_entry_.begin(), first_entry_.end(), first_entry_.begin());
  entries_.resize(first_entry_.back());
  std::array<uint32_t, kEdgeKinds + 1> next = first_entry_;
  for (uint32_t p = 0; p < graph_.points(); ++p) {
    for (uint32_t e = graph_.first_edge[p]; e < graph_.first_edge[p + 1]; ++e) {
      if (!is_entry(p, e)) continue;
      entries_[next[static_cast<size_t>(graph_.kind[e])]++] = entry_of(p, e);
    }
  }
}

EditSlots::Entry EditSlots::entry_of(uint32_t point, uint32_t edge) const {
  const EdgeKind kind = graph_.kind[edge];
  Entry entry{.edge = edge, .row = graph_.point(point).row};
  if (kind == EdgeKind::kWork) entry.kind = static_cast<uint8_t>(run_.works[entry.row].kind);
  if (kind == EdgeKind::kStaged || kind == EdgeKind::kAwait) {
    entry.row = graph_.point(graph_.source[edge]).row;
    entry.kind = static_cast<uint8_t>(run_.works[entry.row].kind);
  }
  if (kind == EdgeKind::kReturn) {
    entry.kind = static_cast<uint8_t>(return_cause(run_.calls[entry.row]));
  }
  if (kind == EdgeKind::kLaunch) {
    const FlowWork& work = run_.works[entry.row];
    entry.row = work.call;
    entry.kind = static_cast<uint8_t>(hand_over_cause(run_, work));
  }
  if (kind != EdgeKind::kCall && kind != EdgeKind::kLaunch) return entry;
  const FlowCall& call = run_.calls[entry.row];
  if (kind == EdgeKind::kCall) {
    entry.kind = static_cast<uint8_t>(own_cause(call, graph_.lag_ns[edge]));
  }
  entry.makes_room = call.slot_work != kNoFlowRow;
  const OpId op = run_.links->call_op[call.row.index()];
  if (op && call.kind != FlowCause::kSync) entry.op = op.value;
  return entry;
}

EditSlots::Segment EditSlots::segment_at(uint32_t point, uint32_t edge, PieceCursor& cursor) const {
  Segment segment;
  if (graph_.time_ns[point] <= from_ns_) return segment;
  segment.call = graph_.point(point).row;
  const auto [first, second] = segment_spans(run_, graph_, point, graph_.kind[edge]);
  if (first.span.start_ns < from_ns_ || second.span.start_ns < from_ns_) {
    segment.piece = kReachesBack;
    return segment;
  }
  const HostThread& thread = run_.threads[first.thread.index()];
  const bool one_thread = graph_.kind[edge] == EdgeKind::kSegment;
  if (!one_thread || !is_empty(second.span) || first.span.end_ns > thread.end_ns) return segment;
  const size_t piece = cursor.at(run_, thread, first.span.start_ns);
  if (piece == thread.pieces.size()) return segment;
  segment.start_ns = first.span.start_ns;
  segment.end_ns = first.span.end_ns;
  segment.piece = static_cast<uint32_t>(piece);
  return segment;
}

LagEditor::LagEditor(const EditSlots& slots)
    : slots_(slots),
      run_(slots.run()),
      graph_(slots.graph()),
      cursor_(run_.threads.size()),
      names_(*run_.trace) {}

template <typename Table>
bool LagEditor::has_any(Table StrongestEdits::* table, Edit::Marks Edit::* marks) const {
  return !(edits_->*table).empty() || (more_ != nullptr && !(more_->*marks).empty());
}

void LagEditor::begin(const StrongestEdits& edits, const Edit* more) {
  edits_ = &edits;
  more_ = more;
  all_ = edits.all;
  if (more != nullptr) add_strengths(*more, all_);
  has_rows_ = has_any(&StrongestEdits::ops, &Edit::ops) ||
              has_any(&StrongestEdits::frame_names, &Edit::frame_names);
  const bool rests = all_.keeps_silence || all_.host != 1;
  const bool by_pieces = has_rows_ || all_.no_pauses || (rests && run_.has_frames);
  changes_host_ = by_pieces || all_.silence < 1 || changes_causes(all_);
  const bool changes_segments =
      changes_host_ || has_any(&StrongestEdits::free_calls, &Edit::free_calls);
  host_ = by_pieces ? HostEdits::kByPieces
                    : (changes_segments ? HostEdits::kByParts : HostEdits::kNone);
}

inline double LagEditor::left_of_row(std::vector<double> StrongestEdits::* table,
                                     Edit::Marks Edit::* marks, uint32_t row) const {
  const double left = left_in(edits_->*table, row);
  return more_ != nullptr && has(more_->*marks, row) ? std::min(left, more_->marked) : left;
}

double LagEditor::left_of_work(uint32_t w) const {
  const double left = left_of_row(&StrongestEdits::works, &Edit::works, w);
  return more_ == nullptr || more_->works_left.empty()
             ? left
             : std::min<double>(left, more_->works_left[w]);
}

double LagEditor::scale_of_work(uint32_t w) const {
  const double scale = left_in(edits_->works_scale, w);
  return more_ == nullptr || more_->works_scale.empty() ? scale : scale * more_->works_scale[w];
}

bool LagEditor::marks(Edit::Marks StrongestEdits::* table, Edit::Marks Edit::* marks,
                      uint32_t c) const {
  return has(edits_->*table, c) || (more_ != nullptr && has(more_->*marks, c));
}

// True if the current edits may change an edge of this kind. Segments: see host_. Ignores more_,
// which edit() applies slot by slot.
bool LagEditor::changes(EdgeKind kind) const {
  switch (kind) {
    case EdgeKind::kCall:
      return !edits_->unwaited.empty() || !edits_->calls.empty() || !edits_->ops.empty() ||
             !edits_->free_calls.empty() || !edits_->short_calls.empty() || all_.no_pauses ||
             changes_causes(all_);
    case EdgeKind::kLaunch:
      return !edits_->calls.empty() || !edits_->ops.empty() || all_.no_pauses ||
             changes_causes(all_);
    case EdgeKind::kReturn:
      return !edits_->unwaited.empty() || changes_causes(all_);
    case EdgeKind::kQueue:
      return !edits_->free_calls.empty();
    case EdgeKind::kStaged:
      return !edits_->unwaited.empty() || changes(EdgeKind::kWork);
    case EdgeKind::kAwait:
      return changes(EdgeKind::kWork);
    case EdgeKind::kStream:
      return !edits_->joined_ns.empty();
    case EdgeKind::kWork:
      return !edits_->works.empty() || !edits_->works_scale.empty() ||
             std::any_of(all_.work.begin(), all_.work.end(), is_less);
    default:
      return false;
  }
}

EditedLags LagEditor::lags(const StrongestEdits& edits) {
  EditedLags edited;
  lags(edits, edited);
  return edited;
}

void LagEditor::lags(const StrongestEdits& edits, EditedLags& lags) {
  begin(edits, nullptr);
  lags.lag_ns = graph_.lag_ns;
  lags.part_ns = graph_.part_ns;
  lags.host = host_;
  for (size_t k = 0; k < kEdgeKinds; ++k) {
    const auto kind = static_cast<EdgeKind>(k);
    if (!changes(kind)) continue;
    for (const Entry& entry : slots_.entries(kind)) {
      lags.lag_ns[entry.edge] = edited(kind, entry, graph_.lag_ns[entry.edge]);
    }
  }
  if (host_ == HostEdits::kNone) return;
  for (size_t s = 0; s < slots_.segments().size(); ++s) edit_segment(s, lags);
}

std::vector<uint32_t> LagEditor::touched(const StrongestEdits& edits, const EditedLags& of) const {
  std::vector<uint32_t> touched;
  for (uint32_t slot = 0; slot < slots_.count(); ++slot) {
    const uint32_t edge = slots_.edge_of(slot);
    // A shortened call keeps its stall under this edit alone, but may lose it with others.
    const bool is_short = slots_.is_entry(slot) && graph_.kind[edge] == EdgeKind::kCall &&
                          has(edits.short_calls, slots_.entry(slot).row);
    if (is_short || of.lag_ns[edge] != graph_.lag_ns[edge]) touched.push_back(slot);
  }
  return touched;
}

bool LagEditor::fits(const StrongestEdits& edits, const Edit& more, const EditedLags& lags) {
  begin(edits, &more);
  return lags.host == HostEdits::kNone || lags.host == host_;
}

bool LagEditor::edit(const StrongestEdits& edits, const Edit& more, std::span<const uint32_t> slots,
                     EditedLags& lags) {
  begin(edits, &more);
  lags.host = host_;
  bool changed = false;
  for (const uint32_t slot : slots) {
    const uint32_t edge = slots_.edge_of(slot);
    const int64_t before_ns = lags.lag_ns[edge];
    if (slots_.is_entry(slot)) {
      lags.lag_ns[edge] = edited(slot, graph_.lag_ns[edge]);
    } else {
      edit_segment(slots_.segment_of(slot), lags);
    }
    changed |= lags.lag_ns[edge] != before_ns;
  }
  return changed;
}

void LagEditor::copy(std::span<const uint32_t> slots, const EditedLags& from,
                     EditedLags& to) const {
  to.host = from.host;
  for (const uint32_t slot : slots) {
    const uint32_t edge = slots_.edge_of(slot);
    to.lag_ns[edge] = from.lag_ns[edge];
    if (slots_.is_entry(slot)) continue;
    const size_t segment = slots_.segment_of(slot);
    const uint32_t first = graph_.first_part[segment];
    std::copy_n(from.part_ns.begin() + first, graph_.first_part[segment + 1] - first,
                to.part_ns.begin() + first);
  }
}

// The fraction left of an interval of `ns` with one activity.
inline double LagEditor::left_of(FlowCause cause, int64_t ns) const {
  return cause == FlowCause::kHostGap && ns >= kPauseNs ? all_.silence : left_of(cause);
}

// The factor for the host's own work. A long interval without events keeps its length: the host may
// sleep in it.
inline double LagEditor::pace_of(FlowCause cause, int64_t ns) const {
  const bool rests = cause == FlowCause::kHostGap && ns >= kPauseNs;
  return is_host_work(cause) && !rests ? all_.host : 1;
}

int64_t LagEditor::edited(uint32_t slot, int64_t lag_ns) const {
  const Entry& entry = slots_.entry(slot);
  return edited(graph_.kind[entry.edge], entry, lag_ns);
}

int64_t LagEditor::edited(EdgeKind kind, const Entry& entry, int64_t lag_ns) const {
  switch (kind) {
    case EdgeKind::kCall:
      return edited_call(entry, lag_ns);
    case EdgeKind::kLaunch:
      return edited_own(entry, lag_ns);
    case EdgeKind::kReturn:
      return edited_return(entry, lag_ns);
    case EdgeKind::kQueue:
      return marks(&StrongestEdits::free_calls, &Edit::free_calls, entry.row) ? kCutLag : lag_ns;
    case EdgeKind::kStream: {
      if (more_ != nullptr && has(more_->joined, entry.row)) {
        lag_ns = std::min(lag_ns, more_->joined_ns);
      }
      return edits_->joined_ns.empty() ? lag_ns : std::min(lag_ns, edits_->joined_ns[entry.row]);
    }
    case EdgeKind::kStaged: {
      const uint32_t call = run_.works[entry.row].call;
      if (marks(&StrongestEdits::unwaited, &Edit::unwaited, call)) return kCutLag;
      return scaled_ns(lag_ns, std::min(all_.work[entry.kind], left_of_work(entry.row)) *
                                   scale_of_work(entry.row));
    }
    case EdgeKind::kAwait:
    case EdgeKind::kWork:
      return scaled_ns(lag_ns, std::min(all_.work[entry.kind], left_of_work(entry.row)) *
                                   scale_of_work(entry.row));
    default:
      return lag_ns;
  }
}

// An allocation call that costs nothing does not wait first, either.
int64_t LagEditor::edited_return(const Entry& entry, int64_t lag_ns) const {
  const auto cause = static_cast<FlowCause>(entry.kind);
  if (marks(&StrongestEdits::unwaited, &Edit::unwaited, entry.row)) return kCutLag;
  if (cause == FlowCause::kSync) return lag_ns;
  const double left = left_of(cause);
  return left == 0 ? kCutLag : scaled_ns(lag_ns, left * pace_of(cause, lag_ns));
}

// Own time of a call, until it submits its work or returns.
int64_t LagEditor::edited_own(const Entry& entry, int64_t lag_ns) const {
  const auto kind = static_cast<FlowCause>(entry.kind);
  if (all_.no_pauses && is_host_work(kind) && lag_ns >= kPauseNs) return 0;
  // Initialization inside a call is not the call's own time, and how much a faster core would save
  // is unknown.
  const bool with_it = kind == FlowCause::kCold && run_.calls[entry.row].cold_ns > 0;
  if (with_it) return left_of(kind) == 0 ? 0 : lag_ns;
  double left =
      std::min(left_of(kind), left_of_row(&StrongestEdits::calls, &Edit::calls, entry.row));
  if (entry.op != kNoFlowRow) {
    left = std::min(left, left_of_row(&StrongestEdits::ops, &Edit::ops, entry.op));
  }
  return scaled_ns(lag_ns, left * pace_of(kind, lag_ns));
}

int64_t LagEditor::edited_call(const Entry& entry, int64_t lag_ns) const {
  const uint32_t c = entry.row;
  // A call without its wait still initializes.
  const bool starts_up = static_cast<FlowCause>(entry.kind) == FlowCause::kCold;
  if (!starts_up && marks(&StrongestEdits::unwaited, &Edit::unwaited, c)) return 0;
  const bool is_free = marks(&StrongestEdits::free_calls, &Edit::free_calls, c);
  // Waiting for space in the launch queue goes away. A stall in the call may stay: see below.
  if (is_free && entry.makes_room) return 0;
  const int64_t edited_ns = edited_own(entry, lag_ns);
  if (edited_ns == 0) return 0;
  if (is_free) return std::min(edited_ns, left_of_free(lag_ns));
  const bool is_short = marks(&StrongestEdits::short_calls, &Edit::short_calls, c);
  if (is_short && !entry.makes_room && left_of_free(edited_ns) > 0) return edited_ns;
  return is_short ? std::min(edited_ns, kGraphLaunchNs) : edited_ns;
}

void LagEditor::edit_segment(size_t segment, EditedLags& lags) {
  const Segment& at = slots_.segments()[segment];
  if (at.call == kNoFlowRow) return;
  const bool is_free = marks(&StrongestEdits::free_calls, &Edit::free_calls, at.call);
  if (!is_free && !changes_host_) return;
  const bool reaches_back = at.piece == EditSlots::kReachesBack;
  const bool walks = host_ == HostEdits::kByPieces || reaches_back;
  if (walks) find_savings(segment, is_free && reaches_back);
  int64_t sum_ns = 0;
  for (uint32_t part = graph_.first_part[segment]; part < graph_.first_part[segment + 1]; ++part) {
    const FlowCause cause = graph_.part_cause[part];
    const int64_t ns = graph_.part_ns[part];
    int64_t left_ns = walks ? ns - saved_ns_[static_cast<size_t>(cause)]
                            : scaled_ns(ns, left_of(cause, ns) * pace_of(cause, ns));
    if (is_free && !reaches_back) left_ns = std::min(left_ns, left_of_free(ns));
    lags.part_ns[part] = left_ns;
    sum_ns += left_ns;
  }
  lags.lag_ns[graph_.segment_edge[segment]] = sum_ns;
}

// piece: null if the thread recorded nothing.
inline void LagEditor::add_saving(const HostPiece* piece, int64_t ns, bool is_free) {
  const FlowCause cause = piece == nullptr ? FlowCause::kHostGap : piece->cause;
  const double left = left_of_piece(piece, cause, ns);
  if (left == 1 && !is_free) return;
  int64_t left_ns = scaled_ns(ns, left);
  if (is_free) left_ns = std::min(left_ns, left_of_free(ns));
  saved_ns_[static_cast<size_t>(cause)] += ns - left_ns;
}

inline double LagEditor::left_of_piece(const HostPiece* piece, FlowCause cause, int64_t ns) {
  if (all_.no_pauses && is_host_work(cause) && ns >= kPauseNs) return 0;
  double left = left_of(cause, ns);
  double pace = pace_of(cause, ns);
  if (piece == nullptr) return left * pace;
  const bool changes = left < all_.silence || pace != 1;
  if (changes && may_stand_still(piece->source) && stands_still(*piece, ns)) {
    left = std::max(left, all_.silence);
    pace = 1;
  }
  if (!has_rows_ || cause == FlowCause::kSync || cause == FlowCause::kNothingAsked)
    return left * pace;
  if (piece->op != kNoFlowRow) {
    left = std::min(left, left_of_row(&StrongestEdits::ops, &Edit::ops, piece->op));
  }
  if (piece->frame != kNoFlowRow && has_any(&StrongestEdits::frame_names, &Edit::frame_names)) {
    const size_t name = run_.trace->frames.name[piece->frame].index();
    left = std::min(left, left_of_row(&StrongestEdits::frame_names, &Edit::frame_names,
                                      static_cast<uint32_t>(name)));
  }
  return left;
}

// Time that the edits remove from a segment, by cause, piece by piece. Time before from_ns is kept.
void LagEditor::find_savings(size_t segment, bool is_free) {
  for (uint32_t part = graph_.first_part[segment]; part < graph_.first_part[segment + 1]; ++part) {
    saved_ns_[static_cast<size_t>(graph_.part_cause[part])] = 0;
  }
  const Segment& at = slots_.segments()[segment];
  const bool known = at.piece != EditSlots::kReachesBack && at.piece != EditSlots::kToLookUp;
  if (!known) {
    look_up_savings(segment, is_free);
    return;
  }
  const std::vector<HostPiece>& pieces = run_.threads[run_.calls[at.call].thread.index()].pieces;
  int64_t now_ns = at.start_ns;
  for (size_t i = at.piece; now_ns < at.end_ns; ++i) {
    const int64_t until_ns =
        i + 1 < pieces.size() ? std::min(pieces[i + 1].start_ns, at.end_ns) : at.end_ns;
    if (until_ns <= now_ns) continue;
    add_saving(&pieces[i], until_ns - now_ns, is_free);
    now_ns = until_ns;
  }
}

void LagEditor::look_up_savings(size_t segment, bool is_free) {
  const uint32_t point = graph_.call_point(slots_.segments()[segment].call, false);
  const EdgeKind kind = graph_.kind[graph_.segment_edge[segment]];
  for (const SegmentSpan& part : segment_spans(run_, graph_, point, kind)) {
    const HostThread& thread = run_.threads[part.thread.index()];
    const Interval later{std::max(part.span.start_ns, slots_.from_ns()), part.span.end_ns};
    for_each_piece(run_, thread, later, cursor_, [&](const PieceSpan& span) {
      add_saving(span.piece, span.end_ns - span.start_ns, is_free);
    });
  }
}

// For pieces of frames and system calls: true if the frame waits for another thread or for external
// input, or if it is a system call. A faster core shortens neither.
bool LagEditor::stands_still(const HostPiece& piece, int64_t ns) {
  if (piece.source == RowSource::kSystem) return true;
  if (ns < kPauseNs) return false;
  const HostName name = names_.of(run_.trace->frames.name[piece.row]);
  return name.lock || name.outside;
}

EditedLags edited_lags(const FlowRun& run, const FlowGraph& graph,
                       std::span<const Edit* const> edits, int64_t from_ns) {
  const EditSlots slots(run, graph, from_ns);
  return LagEditor(slots).lags(sum_of(edits));
}

}  // namespace assay
