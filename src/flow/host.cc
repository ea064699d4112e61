// Timelines of host threads: nested frames, operators, loader labels, system calls and API calls,
// cut into disjoint pieces with one cause each.

#include <algorithm>
#include <unordered_map>

#include "base/intervals.h"
#include "flow/build.h"
#include "flow/names.h"
#include "flow/timed.h"
#include "trace/system_calls.h"

namespace assay {
namespace {

// A first operator instance this slow counts as initialization if it is also many times slower than
// later ones. Below that, other threads and the system cause as much noise.
constexpr int64_t kColdOpNs = 10'000'000;
constexpr int64_t kColdOpFactor = 20;

// An event that may contain others.
struct Span {
  int64_t start_ns;
  int64_t end_ns;
  uint32_t row;
  RowSource source;
  // Inherited by nested events.
  uint32_t op = kNoFlowRow;
  uint32_t frame = kNoFlowRow;
  bool input = false;
  bool cold = false;
  bool queue = false;
  // Outermost frame that takes from a queue: around it, or itself.
  uint32_t queue_frame = kNoFlowRow;
};

// Rows [first, last) of a table that is sorted by thread.
struct Rows {
  size_t first = 0;
  size_t last = 0;
};
Rows rows_of(const std::vector<ThreadId>& threads, ThreadId thread) {
  const auto range = std::equal_range(threads.begin(), threads.end(), thread);
  return {static_cast<size_t>(range.first - threads.begin()),
          static_cast<size_t>(range.second - threads.begin())};
}

// Cuts the spans of one thread into pieces. Spans must come by start, longer first. A span that
// extends beyond its parent is clipped. If more of it is outside than inside (rounded times), it
// ends the parent and follows it instead.
class Cutter {
 public:
  Cutter(const Trace& trace, HostNames& names, std::vector<HostPiece>& out)
      : trace_(trace), names_(names), out_(out) {}

  void add(Span span) {
    close_until(span.start_ns);
    while (!open_.empty() && follows(open_.back(), span)) {
      piece_until(span.start_ns);
      open_.pop_back();
    }
    if (!open_.empty()) {
      piece_until(span.start_ns);
      inherit(open_.back(), span);
    } else if (!out_.empty() && now_ns_ < span.start_ns) {
      gap();
    }
    now_ns_ = std::max(now_ns_, span.start_ns);
    if (span.end_ns > span.start_ns) open_.push_back(span);
  }

  int64_t finish() {
    close_until(INT64_MAX);
    return now_ns_;
  }

 private:
  static bool follows(const Span& before, const Span& span) {
    return span.end_ns - before.end_ns > before.end_ns - span.start_ns;
  }

  void inherit(const Span& around, Span& span) const {
    span.end_ns = std::min(span.end_ns, around.end_ns);
    span.input |= around.input;
    span.cold |= around.cold;
    span.queue |= around.queue;
    if (around.queue_frame != kNoFlowRow) span.queue_frame = around.queue_frame;
    if (span.op == kNoFlowRow) span.op = around.op;
    if (span.frame == kNoFlowRow) span.frame = around.frame;
  }

  void close_until(int64_t time_ns) {
    while (!open_.empty() && open_.back().end_ns <= time_ns) {
      piece_until(open_.back().end_ns);
      open_.pop_back();
    }
  }

  // Starts an empty piece at now_ns_.
  void gap() {
    if (out_.back().source == RowSource::kNone) return;
    HostPiece piece;
    piece.start_ns = now_ns_;
    out_.push_back(piece);
  }

  // Adds the piece of the innermost open span, from now_ns_ to end_ns.
  void piece_until(int64_t end_ns) {
    if (end_ns <= now_ns_) return;
    const Span& top = open_.back();
    HostPiece piece;
    piece.start_ns = now_ns_;
    piece.row = top.row;
    piece.op = top.op;
    piece.frame = top.frame;
    piece.source = top.source;
    piece.evidence = CauseEvidence::kRecorded;
    piece.cause = cause_of(top);
    // The frame that takes from the queue says more than the call inside it.
    const bool taken = piece.cause == FlowCause::kNothingAsked && top.source == RowSource::kFrame;
    if (taken && top.queue_frame != kNoFlowRow) piece.row = top.queue_frame;
    out_.push_back(piece);
    now_ns_ = end_ns;
  }

  FlowCause cause_of(const Span& span) const {
    if (span.cold) return FlowCause::kCold;
    if (span.input) return FlowCause::kInput;
    if (span.source == RowSource::kOp) return FlowCause::kDispatch;
    const StringId name = row_name(trace_, span.source, span.row);
    if (span.source == RowSource::kSystem) {
      const bool outside = classify_system_call(trace_.text(name)).outside;
      return outside ? FlowCause::kNothingAsked : FlowCause::kHostGap;
    }
    const HostName kind = names_.of(name);
    if (kind.sync) return FlowCause::kSync;
    const bool outside = kind.outside || ((kind.lock || kind.read) && span.queue);
    return outside ? FlowCause::kNothingAsked : FlowCause::kPython;
  }

  const Trace& trace_;
  HostNames& names_;
  std::vector<HostPiece>& out_;
  std::vector<Span> open_;
  int64_t now_ns_ = INT64_MIN;
};

// Iterates over a thread's frames, operators, loader labels and system calls in the order that
// Cutter needs: by start, longer first. Equal spans nest as frame, label, operator, system call.
class ThreadSpans {
 public:
  ThreadSpans(const Trace& trace, HostNames& names, ThreadId thread)
      : trace_(trace),
        names_(names),
        frames_(rows_of(trace.frames.thread, thread)),
        labels_(rows_of(trace.annotations.thread, thread)),
        ops_(rows_of(trace.ops.thread, thread)),
        system_(rows_of(trace.other_events.thread, thread)) {
    skip_labels();
    skip_steps();
    skip_short();
  }

  size_t left() const {
    return frames_.last - frames_.first + labels_.last - labels_.first + ops_.last - ops_.first +
           system_.last - system_.first;
  }

  bool next(Span& span) {
    RowSource best = RowSource::kNone;
    int64_t start_ns = 0;
    int64_t dur_ns = 0;
    const auto offer = [&](RowSource source, const Rows& rows, const auto& table) {
      if (rows.first == rows.last) return;
      const int64_t start = table.start_ns[rows.first];
      const int64_t dur = table.dur_ns[rows.first];
      if (best != RowSource::kNone && (start > start_ns || (start == start_ns && dur <= dur_ns)))
        return;
      best = source;
      start_ns = start;
      dur_ns = dur;
    };
    offer(RowSource::kFrame, frames_, trace_.frames);
    offer(RowSource::kAnnotation, labels_, trace_.annotations);
    offer(RowSource::kOp, ops_, trace_.ops);
    offer(RowSource::kSystem, system_, trace_.other_events);
    if (best == RowSource::kNone) return false;
    take(best, start_ns, dur_ns, span);
    return true;
  }

 private:
  void take(RowSource source, int64_t start_ns, int64_t dur_ns, Span& span) {
    Rows& rows = rows_of_source(source);
    span = {start_ns, start_ns + dur_ns, static_cast<uint32_t>(rows.first), source};
    ++rows.first;
    if (source == RowSource::kSystem) return skip_short();
    if (source == RowSource::kFrame) span.frame = span.row;
    if (source == RowSource::kOp) span.op = span.row;
    const HostName kind = names_.of(row_name(trace_, source, span.row));
    span.input = kind.input;
    span.cold = kind.cold;
    span.queue = kind.queue;
    if (kind.queue && source == RowSource::kFrame) span.queue_frame = span.row;
    if (source == RowSource::kAnnotation) skip_labels();
    if (source == RowSource::kOp) skip_steps();
  }

  Rows& rows_of_source(RowSource source) {
    if (source == RowSource::kFrame) return frames_;
    if (source == RowSource::kOp) return ops_;
    return source == RowSource::kSystem ? system_ : labels_;
  }

  // Skips short system calls, which are part of their caller. In long ones a thread is blocked.
  void skip_short() {
    while (system_.first < system_.last && (trace_.other_events.dur_ns[system_.first] < kPauseNs ||
                                            !is_system_call(trace_, system_.first))) {
      ++system_.first;
    }
  }

  // Skips iteration marks, which old profilers and user ranges record as operators.
  void skip_steps() {
    while (ops_.first < ops_.last && names_.of(trace_.ops.name[ops_.first]).step) ++ops_.first;
  }

  // Skips labels other than those of loaders and compilers: they state a purpose, not an activity.
  void skip_labels() {
    while (labels_.first < labels_.last) {
      const HostName kind = names_.of(trace_.annotations.name[labels_.first]);
      if (kind.input || kind.cold) return;
      ++labels_.first;
    }
  }

  const Trace& trace_;
  HostNames& names_;
  Rows frames_;
  Rows labels_;
  Rows ops_;
  Rows system_;
};

// The pieces of a thread without its calls, generated on demand: there are as many as events in the
// trace, and each is read once.
class PiecesBelow {
 public:
  PiecesBelow(const Trace& trace, HostNames& names, ThreadId thread)
      : spans_(trace, names, thread), cutter_(trace, names, cut_) {}

  // Upper bound on the remaining pieces: a span adds one at its begin and one at its end.
  size_t most_left() const { return cut_.size() - next_ + 2 * spans_.left(); }
  // True if there is a piece; it stays valid until pop().
  bool more() {
    while (!finished_ && next_ + 1 >= cut_.size()) cut_next();
    return next_ < cut_.size();
  }
  const HostPiece& piece() const { return cut_[next_]; }
  int64_t end_ns() const { return next_ + 1 < cut_.size() ? cut_[next_ + 1].start_ns : end_ns_; }
  void pop() {
    constexpr size_t kKept = 4096;
    if (++next_ < kKept) return;
    // Keep the last piece: the cutter reads it.
    const size_t gone = std::min(next_, cut_.size() - 1);
    cut_.erase(cut_.begin(), cut_.begin() + static_cast<std::ptrdiff_t>(gone));
    next_ -= gone;
  }

 private:
  void cut_next() {
    Span span;
    if (spans_.next(span)) return cutter_.add(span);
    end_ns_ = cutter_.finish();
    finished_ = true;
  }

  std::vector<HostPiece> cut_;
  size_t next_ = 0;
  ThreadSpans spans_;
  Cutter cutter_;
  bool finished_ = false;
  int64_t end_ns_ = 0;  // of the last piece, once finished
};

// Overlays a thread's calls on its pieces. During a call a thread does nothing else. A call may
// extend beyond its operator because the two use different clocks.
class Overlay {
 public:
  Overlay(const FlowRun& run, const HostThread& thread, PiecesBelow& below)
      : run_(run), thread_(thread), below_(below) {}

  // Returns the end of the last piece.
  int64_t lay(std::vector<HostPiece>& out) {
    // Reserve the upper bound: unused memory is never touched, whereas growing would copy.
    out.reserve(below_.most_left() + size_t{2} * thread_.call_count + 1);
    for (uint32_t k = 0; k < thread_.call_count; ++k) {
      const FlowCall& call = run_.calls[thread_.first_call + k];
      if (call.end_ns <= call.start_ns) continue;
      until(call.start_ns, out);
      add_call(call, out);
    }
    take(INT64_MAX, out);
    return now_ns_;
  }

 private:
  // Copies the underlying pieces from now_ns_ to end_ns.
  void take(int64_t end_ns, std::vector<HostPiece>& out) {
    while (below_.more() && below_.piece().start_ns < end_ns) {
      const int64_t piece_end_ns = below_.end_ns();
      if (piece_end_ns > now_ns_) {
        HostPiece piece = below_.piece();
        if (now_ns_ < piece.start_ns) gap(out);
        piece.start_ns = std::max(now_ns_, piece.start_ns);
        out.push_back(piece);
        now_ns_ = std::min(piece_end_ns, end_ns);
      }
      if (piece_end_ns > end_ns) return;
      below_.pop();
    }
  }

  // The same, with an empty piece after the last one.
  void until(int64_t end_ns, std::vector<HostPiece>& out) {
    take(end_ns, out);
    if (now_ns_ >= end_ns) return;
    gap(out);
    now_ns_ = end_ns;
  }

  void gap(std::vector<HostPiece>& out) const {
    if (out.empty() || out.back().source == RowSource::kNone) return;
    HostPiece piece;
    piece.start_ns = now_ns_;
    out.push_back(piece);
  }

  void add_call(const FlowCall& call, std::vector<HostPiece>& out) {
    HostPiece piece;
    piece.start_ns = call.start_ns;
    piece.row = call.row.value;
    piece.source = RowSource::kCall;
    piece.cause = call.kind;
    piece.evidence = call.cold_by_first ? CauseEvidence::kInferred : CauseEvidence::kRecorded;
    // The piece under its begin is around it.
    if (below_.more() && below_.piece().start_ns <= call.start_ns) {
      const HostPiece& around = below_.piece();
      piece.op = around.op;
      piece.frame = around.frame;
      const bool inherits = call.kind == FlowCause::kCall &&
                            (around.cause == FlowCause::kInput || around.cause == FlowCause::kCold);
      if (inherits) piece.cause = around.cause;
    }
    if (call.cold_ns > 0) {
      out.push_back(piece);
      out.back().cause = FlowCause::kCold;
      out.back().evidence = CauseEvidence::kInferred;
      piece.start_ns += call.cold_ns;
    }
    out.push_back(piece);
    now_ns_ = call.end_ns;
  }

  const FlowRun& run_;
  const HostThread& thread_;
  PiecesBelow& below_;
  int64_t now_ns_ = INT64_MIN;
};

// Marks the own time of an operator's first instance as initialization if it takes many times what
// later instances take.
class ColdOps {
 public:
  explicit ColdOps(FlowRun& run) : run_(run), ops_(run.trace->ops) {}

  void mark() {
    if (ops_.empty()) return;
    own_ns_.assign(ops_.size(), 0);
    each_own([this](HostPiece& piece, int64_t dur_ns) { own_ns_[piece.row] += dur_ns; });
    sum_names();
    find_cold();
    if (cold_.empty()) return;
    each_own([this](HostPiece& piece, int64_t) {
      if (!std::binary_search(cold_.begin(), cold_.end(), piece.row)) return;
      piece.cause = FlowCause::kCold;
      piece.evidence = CauseEvidence::kInferred;
    });
  }

 private:
  struct OfName {
    uint32_t first = kNoFlowRow;
    uint64_t count = 0;
    int64_t sum_ns = 0;
  };

  // visit(piece, ns) for the own time of operators.
  template <typename Visit>
  void each_own(Visit visit) {
    for (HostThread& thread : run_.threads) {
      for (size_t i = 0; i < thread.pieces.size(); ++i) {
        HostPiece& piece = thread.pieces[i];
        if (piece.source != RowSource::kOp || piece.cause != FlowCause::kDispatch) continue;
        const int64_t end_ns =
            i + 1 < thread.pieces.size() ? thread.pieces[i + 1].start_ns : thread.end_ns;
        visit(piece, end_ns - piece.start_ns);
      }
    }
  }

  void sum_names() {
    names_.resize(run_.trace->strings.size());
    for (uint32_t o = 0; o < ops_.size(); ++o) {
      OfName& name = names_[ops_.name[o].index()];
      ++name.count;
      name.sum_ns += own_ns_[o];
      const bool earlier = name.first == kNoFlowRow || ops_.start_ns[o] < ops_.start_ns[name.first];
      if (earlier) name.first = o;
    }
  }

  void find_cold() {
    for (const OfName& name : names_) {
      if (name.count < 2) continue;
      const int64_t first_ns = own_ns_[name.first];
      const int64_t later_ns = (name.sum_ns - first_ns) / static_cast<int64_t>(name.count - 1);
      if (first_ns >= kColdOpNs && first_ns / kColdOpFactor >= later_ns)
        cold_.push_back(name.first);
    }
    std::sort(cold_.begin(), cold_.end());
  }

  FlowRun& run_;
  const OpTable& ops_;
  std::vector<int64_t> own_ns_;  // per op
  std::vector<OfName> names_;    // per StringId
  std::vector<uint32_t> cold_;   // ops
};

// Sets cause and evidence of the thread's silent time in `span`. Pieces are split at its ends, so
// that the result does not depend on where the silence began.
void mark_silence(HostThread& thread, Interval span, FlowCause cause, CauseEvidence evidence) {
  std::vector<HostPiece> pieces;
  pieces.reserve(thread.pieces.size() + 2);
  for (size_t i = 0; i < thread.pieces.size(); ++i) {
    const HostPiece piece = thread.pieces[i];
    const int64_t end_ns =
        i + 1 < thread.pieces.size() ? thread.pieces[i + 1].start_ns : thread.end_ns;
    const Interval inside{std::max(piece.start_ns, span.start_ns), std::min(end_ns, span.end_ns)};
    if (piece.source != RowSource::kNone || inside.start_ns >= inside.end_ns) {
      pieces.push_back(piece);
      continue;
    }
    const auto add = [&](int64_t start_ns, bool marked) {
      pieces.push_back(piece);
      pieces.back().start_ns = start_ns;
      if (!marked) return;
      pieces.back().cause = cause;
      pieces.back().evidence = evidence;
    };
    if (piece.start_ns < inside.start_ns) add(piece.start_ns, false);
    add(inside.start_ns, true);
    if (inside.end_ns < end_ns) add(inside.end_ns, false);
  }
  thread.pieces = std::move(pieces);
}

// Marks silence between a process's first initialization call and its first kernel as
// initialization.
void mark_start_up(FlowRun& run) {
  uint32_t processes = 0;
  for (const HostThread& thread : run.threads) processes = std::max(processes, thread.process + 1);
  std::vector<int64_t> first_kernel_ns(processes, INT64_MIN);
  std::vector<int64_t> first_cold_ns(processes, INT64_MAX);
  for (const FlowWork& work : run.works) {
    const bool kernel = work.kind == WorkKind::kCompute || work.kind == WorkKind::kCollective;
    if (!kernel || work.call == kNoFlowRow) continue;
    const FlowCall& call = run.calls[work.call];
    int64_t& first_ns = first_kernel_ns[run.threads[call.thread.index()].process];
    if (first_ns == INT64_MIN || call.start_ns < first_ns) first_ns = call.start_ns;
  }
  for (const FlowCall& call : run.calls) {
    if (call.kind != FlowCause::kCold || call.cold_by_first) continue;
    int64_t& first_ns = first_cold_ns[run.threads[call.thread.index()].process];
    first_ns = std::min(first_ns, call.start_ns);
  }
  for (HostThread& thread : run.threads) {
    const Interval start_up{first_cold_ns[thread.process], first_kernel_ns[thread.process]};
    if (start_up.start_ns >= start_up.end_ns) continue;
    mark_silence(thread, start_up, FlowCause::kCold, CauseEvidence::kInferred);
  }
}

// Marks unrecorded time so that no edit shortens it as host work.
void mark_unrecorded(FlowRun& run) {
  for (const Interval& span : run.unrecorded) {
    for (HostThread& thread : run.threads) {
      mark_silence(thread, span, FlowCause::kNothingAsked, CauseEvidence::kAbsent);
    }
  }
}

// Marks graph capture as initialization, except waits and allocations.
void mark_captures(FlowRun& run) {
  for (const Capture& capture : run.captures) {
    std::vector<HostPiece>& pieces = run.threads[capture.thread.index()].pieces;
    auto at = std::partition_point(pieces.begin(), pieces.end(), [&](const HostPiece& piece) {
      return piece.start_ns < capture.start_ns;
    });
    for (; at != pieces.end() && at->start_ns < capture.end_ns; ++at) {
      if (at->cause == FlowCause::kSync || at->cause == FlowCause::kAlloc) continue;
      at->cause = FlowCause::kCold;
      if (at->evidence == CauseEvidence::kAbsent) at->evidence = CauseEvidence::kInferred;
    }
  }
}

void find_bounds(FlowRun& run) {
  int64_t start_ns = INT64_MAX;
  int64_t end_ns = INT64_MIN;
  int64_t work_end_ns = INT64_MIN;
  for (const FlowWork& work : run.works) {
    start_ns = std::min(start_ns, work.start_ns);
    work_end_ns = std::max(work_end_ns, work.end_ns);
  }
  end_ns = work_end_ns;
  uint32_t processes = 0;
  for (const HostThread& thread : run.threads) processes = std::max(processes, thread.process + 1);
  run.process_start_ns.assign(processes, INT64_MAX);
  for (const HostThread& thread : run.threads) {
    if (thread.pieces.empty()) continue;
    int64_t& first_ns = run.process_start_ns[thread.process];
    first_ns = std::min(first_ns, thread.start_ns);
    start_ns = std::min(start_ns, thread.start_ns);
  }
  for (const FlowCall& call : run.calls) {
    start_ns = std::min(start_ns, call.start_ns);
    end_ns = std::max(end_ns, call.end_ns);
  }
  const bool empty = start_ns == INT64_MAX;
  run.start_ns = empty ? 0 : start_ns;
  run.end_ns = empty ? 0 : std::max(end_ns, run.start_ns);
  run.work_end_ns = run.works.empty() ? run.start_ns : work_end_ns;
}

// A call inside data loading or initialization takes that cause, so that the critical path and
// edits agree with the causes of idle time.
void set_kinds_of_calls(FlowRun& run) {
  for (const HostThread& thread : run.threads) {
    for (const HostPiece& piece : thread.pieces) {
      if (piece.source != RowSource::kCall) continue;
      FlowCall& call = run.calls[run.outer_call[piece.row]];
      const bool starts_up = piece.start_ns < call.start_ns + call.cold_ns;
      if (call.kind == FlowCause::kCall && !starts_up) call.kind = piece.cause;
    }
  }
}

}  // namespace

void find_host_pieces(FlowRun& run) {
  const Trace& trace = *run.trace;
  HostNames names(trace);
  for (uint32_t t = 0; t < run.threads.size(); ++t) {
    HostThread& thread = run.threads[t];
    PiecesBelow below(trace, names, ThreadId(t));
    thread.end_ns = Overlay(run, thread, below).lay(thread.pieces);
    if (!thread.pieces.empty()) thread.start_ns = thread.pieces.front().start_ns;
  }
  ColdOps(run).mark();
  mark_start_up(run);
  mark_captures(run);
  mark_unrecorded(run);
  set_kinds_of_calls(run);
  run.has_ops = !trace.ops.empty();
  run.has_frames = !trace.frames.empty();
  find_bounds(run);
}

void mark_unasked(Interval span, FlowRun& run) {
  for (HostThread& thread : run.threads) {
    mark_silence(thread, span, FlowCause::kNothingAsked, CauseEvidence::kRecorded);
  }
}

FlowRun make_flow_run(const Trace& trace, const Links& links,
                      std::shared_ptr<const KernelNames> kernels) {
  FlowRun run;
  run.trace = &trace;
  run.links = &links;
  run.kernels = given_or_built_in(std::move(kernels), trace.strings, trace.activities.name);
  find_calls(run);
  find_works(run);
  classify_calls(run);
  const std::vector<Timed> ends = ends_of_works(run);
  find_waits(run, ends);
  find_targets(run, ends);
  find_ready_times(run);
  run.unrecorded = trace.unrecorded;
  find_host_pieces(run);
  find_host_waits(run, ends);
  find_calls_after_unrecorded(run, ends);
  return run;
}

}  // namespace assay
