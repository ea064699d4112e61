#include "flow/causes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>

#include "flow/names.h"
#include "flow/pieces.h"
#include "flow/timed.h"

namespace assay {
namespace {

// Works with a property that ends at a known time, ordered by a key. Works that have lost it are
// dropped.
class WorkHeap {
 public:
  void push(int64_t key_ns, uint32_t work) { heap_.push({key_ns, work}); }
  // The top work that still has the property at time_ns; kNoFlowRow if there is none. until(work):
  // when the property ends.
  template <typename Until>
  uint32_t top(int64_t time_ns, Until until) {
    while (!heap_.empty() && until(heap_.top().second) <= time_ns) heap_.pop();
    return heap_.empty() ? kNoFlowRow : heap_.top().second;
  }

 private:
  using Entry = std::pair<int64_t, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> heap_;
};

// Works by the time at which a property begins.
class Arrivals {
 public:
  void add(int64_t time_ns, uint32_t work) { rows_.push_back({time_ns, work}); }
  void sort() { sort_runs(rows_); }
  // visit(work) once for each that is due by time_ns.
  template <typename Visit>
  void take(int64_t time_ns, Visit visit) {
    while (next_ < rows_.size() && rows_[next_].time_ns <= time_ns) visit(rows_[next_++].row);
  }
  int64_t next_ns() const { return next_ < rows_.size() ? rows_[next_].time_ns : INT64_MAX; }

 private:
  std::vector<Timed> rows_;
  size_t next_ = 0;
};

// Walks through the gaps of one device or stream.
class IdleSweep {
 public:
  // works: of one device or stream, ascending. busy: intervals of other activity that it may wait
  // for: its device for a stream, the other devices of its process for a device. Null if none.
  IdleSweep(const FlowRun& run, std::vector<uint32_t> works, const std::vector<Interval>* busy)
      : run_(run), works_(std::move(works)), busy_(busy), cursor_(run.threads.size()) {
    for (const HostThread& thread : run.threads) host_known_ |= !thread.pieces.empty();
    for (const uint32_t w : works_)
      one_device_ &= run.works[w].device == run.works[works_[0]].device;
    for (const uint32_t w : works_) add_work(w);
    ready_.sort();
    late_.sort();
    held_.sort();
    sort_runs(submits_);
  }

  std::vector<FlowSlice> sweep() {
    int64_t now_ns = run_.start_ns;
    for (const uint32_t w : works_) {
      if (run_.works[w].start_ns > now_ns) gap({now_ns, run_.works[w].start_ns}, w);
      begun_ = true;
      now_ns = std::max(now_ns, run_.works[w].end_ns);
    }
    if (now_ns < run_.work_end_ns) gap({now_ns, run_.work_end_ns}, kNoFlowRow);
    return std::move(slices_);
  }

 private:
  void add_work(uint32_t w) {
    const FlowWork& work = run_.works[w];
    if (work.submit_ns == kUnknownNs) return;
    first_linked_ns_ = std::min(first_linked_ns_, work.start_ns);
    const int64_t arrived_ns = arrival_ns(run_, work);
    submits_.push_back({arrived_ns, w});
    if (work.ready_by != ReadyBy::kLaunch && arrived_ns < work.ready_ns) {
      held_.add(arrived_ns, w);
    }
    if (work.ready_ns >= work.start_ns) return;
    ready_.add(work.ready_ns, w);
    const int64_t late_ns = work.ready_ns + run_.floors.of(work.ready_by).limit_ns;
    if (late_ns < work.start_ns) late_.add(late_ns, w);
  }

  // Unrecorded time in the gap is marked kNothingAsked.
  void gap(Interval span, uint32_t next) {
    const std::vector<Interval> holes = clip(run_.unrecorded, span);
    for (const Interval& hole : holes) {
      recorded_gap({span.start_ns, hole.start_ns}, next);
      opened_by_ = OpenedBy::kUnknown;
      add(hole, FlowCause::kNothingAsked, CauseEvidence::kAbsent);
      ++gap_;
      span.start_ns = hole.end_ns;
    }
    recorded_gap(span, next);
  }

  void recorded_gap(Interval span, uint32_t next) {
    if (span.end_ns <= span.start_ns) return;
    opened_by_ = begun_ ? OpenedBy::kUnknown : OpenedBy::kFirst;
    ends_with_ = next;
    const bool told = !submits_.empty() && host_known_;
    if (!told) {
      add(span, FlowCause::kNoEvidence, CauseEvidence::kAbsent);
    } else if (next != kNoFlowRow && run_.works[next].submit_ns == kUnknownNs &&
               !run_.works[next].helper) {
      unlinked_gap(span, next);
    } else {
      linked_gap(span);
    }
    ++gap_;
  }

  // The next work has no launch record: it was queued before the trace, or the record is missing.
  void unlinked_gap(Interval span, uint32_t next) {
    const FlowWork& work = run_.works[next];
    if (work.start_ns >= first_linked_ns_)
      return add(span, FlowCause::kNoEvidence, CauseEvidence::kAbsent);
    if (begun_) opened_by_ = OpenedBy::kQueued;
    int64_t late_ns = span.start_ns;
    if (work.stream_prev != kNoFlowRow) {
      late_ns = std::min(span.end_ns, late_ns + run_.floors.stream.limit_ns);
    }
    add_work_slice({span.start_ns, late_ns}, FlowCause::kLatency, CauseEvidence::kInferred, next);
    add_work_slice({late_ns, span.end_ns}, FlowCause::kUnseen, CauseEvidence::kInferred, next);
  }

  void linked_gap(Interval span) {
    const auto start_of = [this](uint32_t w) { return run_.works[w].start_ns; };
    const auto ready_of = [this](uint32_t w) { return run_.works[w].ready_ns; };
    for (int64_t now_ns = span.start_ns; now_ns < span.end_ns;) {
      ready_.take(now_ns, [&](uint32_t w) { ready_now_.push(start_of(w), w); });
      late_.take(now_ns, [&](uint32_t w) { late_now_.push(ready_of(w), w); });
      held_.take(now_ns, [&](uint32_t w) { held_now_.push(start_of(w), w); });
      int64_t until_ns =
          std::min({span.end_ns, ready_.next_ns(), late_.next_ns(), held_.next_ns()});
      const uint32_t late = late_now_.top(now_ns, start_of);
      const uint32_t held = held_now_.top(now_ns, ready_of);
      const uint32_t ready = ready_now_.top(now_ns, start_of);
      if (now_ns == span.start_ns && begun_) find_opening(now_ns, late, held, ready);
      if (late != kNoFlowRow) {
        late_slice({now_ns, until_ns}, late);
      } else if (ready != kNoFlowRow) {
        add_work_slice({now_ns, until_ns}, FlowCause::kLatency, CauseEvidence::kRecorded, ready);
      } else if (held != kNoFlowRow) {
        // `held` waits for another stream or device: the first work submitted to this one is ready.
        wait_slice({now_ns, until_ns}, held);
      } else {
        until_ns = host_slices({now_ns, until_ns});
      }
      now_ns = until_ns;
    }
  }

  // ---- submitted work ---------------------------------------------------------------------------

  void add_work_slice(Interval span, FlowCause cause, CauseEvidence evidence, uint32_t w) {
    FlowSlice slice;
    slice.row = run_.works[w].activity.value;
    slice.source = RowSource::kActivity;
    slice.ready_by = run_.works[w].ready_by;
    add(span, cause, evidence, slice);
  }

  // Late work may lack space on the device while other streams keep it busy.
  void late_slice(Interval span, uint32_t w) {
    if (busy_ == nullptr) {
      return add_work_slice(span, FlowCause::kUnseen, CauseEvidence::kRecorded, w);
    }
    int64_t now_ns = span.start_ns;
    auto at = std::partition_point(busy_->begin(), busy_->end(),
                                   [now_ns](const Interval& b) { return b.end_ns <= now_ns; });
    for (; at != busy_->end() && at->start_ns < span.end_ns; ++at) {
      const int64_t begin_ns = std::max(now_ns, at->start_ns);
      const int64_t end_ns = std::min(span.end_ns, at->end_ns);
      add_work_slice({now_ns, begin_ns}, FlowCause::kUnseen, CauseEvidence::kRecorded, w);
      add_work_slice({begin_ns, end_ns}, FlowCause::kWaitOther, CauseEvidence::kInferred, w);
      now_ns = end_ns;
    }
    add_work_slice({now_ns, span.end_ns}, FlowCause::kUnseen, CauseEvidence::kRecorded, w);
  }

  // Submitted work that waits for other work. The dependency that ends last names the slice.
  void wait_slice(Interval span, uint32_t w) {
    const FlowWork& work = run_.works[w];
    const bool event = work.ready_by == ReadyBy::kEvent;
    uint32_t last = event ? run_.waits[work.first_wait] : work.graph_prev;
    if (work.ready_by == ReadyBy::kStream || last == kNoFlowRow) last = work.stream_prev;
    for (uint32_t k = 1; event && k < work.wait_count; ++k) {
      const uint32_t target = run_.waits[work.first_wait + k];
      if (run_.works[target].end_ns > run_.works[last].end_ns) last = target;
    }
    const bool recorded = event && run_.recorded_waits > 0 && !work.wait_inferred;
    FlowSlice slice;
    slice.row = run_.works[last].activity.value;
    slice.source = RowSource::kActivity;
    slice.ready_by = work.ready_by;
    add(span, FlowCause::kWaitOther, recorded ? CauseEvidence::kRecorded : CauseEvidence::kInferred,
        slice);
  }

  // ---- no submitted work ------------------------------------------------------------------------

  // The first work to arrive after time_ns.
  uint32_t next_submitted(int64_t time_ns) {
    while (next_submit_ < submits_.size() && submits_[next_submit_].time_ns <= time_ns) {
      ++next_submit_;
    }
    return next_submit_ < submits_.size() ? submits_[next_submit_].row : kNoFlowRow;
  }

  const HostThread& thread_of(uint32_t w) const {
    return run_.threads[run_.calls[run_.works[w].call].thread.index()];
  }

  // No work is submitted at span.start_ns. Adds what the thread that submits the next work did,
  // until it does or the span ends. Returns that time.
  int64_t host_slices(Interval span) {
    const uint32_t next = next_submitted(span.start_ns);
    // Activity without launch calls follows, e.g. page migrations.
    const bool goes_on = ends_with_ != kNoFlowRow && run_.works[ends_with_].helper;
    if (next == kNoFlowRow && !goes_on) {
      add(span, FlowCause::kNothingAsked, CauseEvidence::kRecorded);
      return span.end_ns;
    }
    if (next != kNoFlowRow) {
      span.end_ns = std::min(span.end_ns, arrival_ns(run_, run_.works[next]));
    }
    const HostThread& thread = thread_of(next != kNoFlowRow ? next : submits_.back().row);
    // A launch takes way_ns to arrive, so the host was late that long before.
    later_ns_ = run_.floors.way_ns;
    for_each_piece(run_, thread, {span.start_ns - later_ns_, span.end_ns - later_ns_}, cursor_,
                   [&](const PieceSpan& piece) { host_slice(thread, piece); });
    later_ns_ = 0;
    return span.end_ns;
  }

  // Which time of a colleague may explain a thread's silence: all of its time, or only time in
  // which it cannot be blocked.
  enum class Silence : uint8_t { kNone, kInFrame, kFull };
  static Silence silence_of(const HostThread& thread, const HostPiece* piece) {
    if (piece == nullptr || piece->source == RowSource::kNone) return Silence::kFull;
    if (!may_stand_still(piece->source)) return Silence::kNone;
    const bool waits = piece->cause == FlowCause::kPython ||
                       piece->cause == FlowCause::kNothingAsked ||
                       piece->cause == FlowCause::kHostGap;
    const int64_t end_ns = piece == &thread.pieces.back() ? thread.end_ns : (piece + 1)->start_ns;
    return waits && end_ns - piece->start_ns > kSilenceNs ? Silence::kInFrame : Silence::kNone;
  }

  void host_slice(const HostThread& thread, const PieceSpan& own) {
    const Silence silence = silence_of(thread, own.piece);
    if (silence == Silence::kNone || thread.colleagues.empty()) {
      return add_host({own.start_ns, own.end_ns}, own.piece, thread, false);
    }
    sorted_ = slices_.size();
    std::vector<Interval> rest{{own.start_ns, own.end_ns}};
    for (const uint32_t other : thread.colleagues) {
      if (rest.empty()) break;
      rest = explain(run_.threads[other], silence, rest);
    }
    for (const Interval& span : rest) add_host(span, own.piece, thread, false);
    sort_tail();
  }

  // Adds the colleague's activity in the intervals; returns the rest.
  std::vector<Interval> explain(const HostThread& other, Silence silence,
                                const std::vector<Interval>& spans) {
    std::vector<Interval> rest;
    for (const Interval& span : spans) {
      for_each_piece(run_, other, span, cursor_, [&](const PieceSpan& piece) {
        const bool works = piece.piece != nullptr && piece.piece->source != RowSource::kNone &&
                           piece.piece->cause != FlowCause::kNothingAsked;
        const bool sure = works && !may_stand_still(piece.piece->source);
        if (silence == Silence::kFull ? works : sure) {
          add_host({piece.start_ns, piece.end_ns}, piece.piece, other, true);
        } else {
          rest.push_back({piece.start_ns, piece.end_ns});
        }
      });
    }
    return rest;
  }

  void add_host(Interval span, const HostPiece* piece, const HostThread& thread, bool inferred) {
    if (piece == nullptr || piece->source == RowSource::kNone)
      return add_silence(span, piece, thread);
    FlowSlice slice;
    slice.row = piece->row;
    slice.source = piece->source;
    slice.op = piece->op;
    slice.frame = piece->frame;
    if (!inferred && piece->cause == FlowCause::kSync && piece->source == RowSource::kCall) {
      span.start_ns = wait_elsewhere(span, run_.outer_call[piece->row]);
    }
    add(span, piece->cause, inferred ? CauseEvidence::kInferred : piece->evidence, slice);
  }

  // The host waits for work of another device: so does this device. Returns until when.
  int64_t wait_elsewhere(Interval span, uint32_t c) {
    if (busy_ == nullptr || !one_device_ || c == kNoFlowRow) return span.start_ns;
    const FlowCall& call = run_.calls[c];
    uint32_t last = kNoFlowRow;
    for (uint32_t k = 0; k < call.target_count; ++k) {
      const uint32_t target = run_.targets[call.first_target + k];
      const FlowWork& work = run_.works[target];
      if (work.device == run_.works[works_[0]].device || work.end_ns <= span.start_ns) continue;
      if (last == kNoFlowRow || work.end_ns > run_.works[last].end_ns) last = target;
    }
    if (last == kNoFlowRow) return span.start_ns;
    const int64_t until_ns = std::min(span.end_ns, run_.works[last].end_ns);
    add_work_slice({span.start_ns, until_ns}, FlowCause::kWaitOther, CauseEvidence::kInferred,
                   last);
    return until_ns;
  }

  // Pages of managed memory that move without a call.
  bool moves_pages(uint32_t w) const {
    return w != kNoFlowRow && run_.works[w].migration;
  }

  // No event shows what the thread did. Before the first event of its process, no work was
  // requested.
  void add_silence(Interval span, const HostPiece* piece, const HostThread& thread) {
    const bool silent = piece == nullptr || piece->cause == FlowCause::kHostGap;
    if (silent && moves_pages(ends_with_)) {
      // The host moves them by touching pages that are on the device.
      return add_work_slice(span, FlowCause::kHostGap, CauseEvidence::kInferred, ends_with_);
    }
    if (piece != nullptr) return add(span, piece->cause, piece->evidence);
    const int64_t begin_ns =
        std::clamp(run_.process_start_ns[thread.process], span.start_ns, span.end_ns);
    add({span.start_ns, begin_ns}, FlowCause::kNothingAsked, CauseEvidence::kAbsent);
    add({begin_ns, span.end_ns}, FlowCause::kHostGap, CauseEvidence::kAbsent);
  }

  void find_opening(int64_t now_ns, uint32_t late, uint32_t held, uint32_t ready) {
    if (late != kNoFlowRow || held != kNoFlowRow || ready != kNoFlowRow) {
      opened_by_ = OpenedBy::kQueued;
      return;
    }
    opened_by_ = OpenedBy::kHost;
    const uint32_t next = next_submitted(now_ns);
    if (next == kNoFlowRow) return;
    const HostThread& thread = thread_of(next);
    now_ns -= run_.floors.way_ns;
    const auto waits = [now_ns](const HostThread& of) {
      const size_t at = piece_at(of, now_ns);
      return at < of.pieces.size() && of.pieces[at].cause == FlowCause::kSync;
    };
    bool sync = waits(thread);
    const size_t at = piece_at(thread, now_ns);
    const HostPiece* piece = at < thread.pieces.size() ? &thread.pieces[at] : nullptr;
    if (!sync && silence_of(thread, piece) != Silence::kNone) {
      for (const uint32_t other : thread.colleagues) sync |= waits(run_.threads[other]);
    }
    if (sync) opened_by_ = OpenedBy::kSync;
  }

  // ---- slices -----------------------------------------------------------------------------------

  void add(Interval span, FlowCause cause, CauseEvidence evidence, FlowSlice slice = {}) {
    if (span.end_ns <= span.start_ns) return;
    slice.span = {span.start_ns + later_ns_, span.end_ns + later_ns_};
    slice.cause = cause;
    slice.evidence = evidence;
    slice.opened_by = opened_by_;
    slice.gap = gap_;
    slices_.push_back(slice);
  }

  // Pieces that explain one silence were added thread by thread.
  void sort_tail() {
    const auto before = [](const FlowSlice& a, const FlowSlice& b) {
      return a.span.start_ns < b.span.start_ns;
    };
    const auto begin = slices_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    if (!std::is_sorted(begin, slices_.end(), before)) std::sort(begin, slices_.end(), before);
  }

  const FlowRun& run_;
  const std::vector<uint32_t> works_;
  const std::vector<Interval>* const busy_;
  PieceCursor cursor_;
  bool host_known_ = false;
  bool one_device_ = true;
  int64_t first_linked_ns_ = INT64_MAX;
  Arrivals ready_;
  Arrivals late_;
  Arrivals held_;
  WorkHeap ready_now_;  // ready but not begun, earliest begin on top
  WorkHeap late_now_;   // of these, later than usual; earliest ready on top
  WorkHeap held_now_;   // submitted and waiting for other work
  std::vector<Timed> submits_;
  size_t next_submit_ = 0;
  bool begun_ = false;  // some work began before the gap
  OpenedBy opened_by_ = OpenedBy::kFirst;
  uint32_t gap_ = 0;
  uint32_t ends_with_ = kNoFlowRow;  // the work that ends the gap
  int64_t later_ns_ = 0;             // delay from host activity to the slice
  size_t sorted_ = 0;                // number of slices before those of the current silence
  std::vector<FlowSlice> slices_;
};

std::vector<Interval> busy_of(const FlowRun& run, uint32_t device) {
  std::vector<Interval> busy;
  for (const FlowWork& work : run.works) {
    if (work.device == device) busy.push_back({work.start_ns, work.end_ns});
  }
  return merge_intervals(std::move(busy));
}

// visit(slice, its part of the window) for the slices in the window.
template <typename Visit>
void for_each_slice(const std::vector<FlowSlice>& slices, Interval window, Visit visit) {
  const auto first = std::partition_point(
      slices.begin(), slices.end(),
      [window](const FlowSlice& slice) { return slice.span.end_ns <= window.start_ns; });
  for (auto at = first; at != slices.end() && at->span.start_ns < window.end_ns; ++at) {
    const Interval part{std::max(at->span.start_ns, window.start_ns),
                        std::min(at->span.end_ns, window.end_ns)};
    visit(*at, part);
  }
}

void note_longest(const Trace& trace, const FlowSlice& slice, Interval part, Contributor& to) {
  const int64_t ns = part.end_ns - part.start_ns;
  if (ns <= to.longest_ns) return;
  to.longest_ns = ns;
  to.longest = part;
  to.within_op = slice.op == kNoFlowRow || slice.source == RowSource::kOp
                     ? StringId()
                     : trace.ops.name[slice.op];
  to.within_frame = slice.frame == kNoFlowRow || slice.source == RowSource::kFrame
                        ? StringId()
                        : trace.frames.name[slice.frame];
}

// Timeline of a device or stream from its works, ascending. elsewhere: as IdleSweep's busy.
DeviceFlow flow_of(const FlowRun& run, std::vector<uint32_t> works,
                   const std::vector<Interval>* elsewhere) {
  std::array<std::vector<Interval>, 3> busy;
  for (const uint32_t w : works) {
    const FlowWork& work = run.works[w];
    const size_t kind = work.kind == WorkKind::kCompute      ? 0
                        : work.kind == WorkKind::kCollective ? 1
                                                             : 2;
    busy[kind].push_back({work.start_ns, work.end_ns});
  }
  DeviceFlow flow;
  flow.compute = merge_intervals(std::move(busy[0]));
  const auto collective = merge_intervals(std::move(busy[1]));
  flow.collective = subtract(collective, flow.compute);
  const auto copies = merge_intervals(std::move(busy[2]));
  flow.copy = subtract(subtract(copies, flow.compute), collective);
  flow.idle = IdleSweep(run, std::move(works), elsewhere).sweep();
  return flow;
}

// Per device the process that launches most of its work; kNoFlowRow if none does.
std::vector<uint32_t> processes_of_devices(const FlowRun& run) {
  std::vector<std::map<uint32_t, uint64_t>> works(run.devices.size());
  for (const FlowWork& work : run.works) {
    if (work.call == kNoFlowRow) continue;
    ++works[work.device][run.threads[run.calls[work.call].thread.index()].process];
  }
  std::vector<uint32_t> processes;
  for (const auto& counts : works) {
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    processes.push_back(most == counts.end() ? kNoFlowRow : most->first);
  }
  return processes;
}

// Per device, the busy intervals of the other devices of its process, merged.
std::vector<std::vector<Interval>> busy_elsewhere(const FlowRun& run) {
  std::vector<std::vector<Interval>> elsewhere(run.devices.size());
  if (run.devices.size() < 2) return elsewhere;
  const std::vector<uint32_t> process = processes_of_devices(run);
  for (uint32_t d = 0; d < run.devices.size(); ++d) {
    const std::vector<Interval> busy = busy_of(run, d);
    for (uint32_t other = 0; other < run.devices.size(); ++other) {
      if (other == d || process[other] != process[d] || process[d] == kNoFlowRow) continue;
      elsewhere[other].insert(elsewhere[other].end(), busy.begin(), busy.end());
    }
  }
  for (std::vector<Interval>& busy : elsewhere) busy = merge_intervals(std::move(busy));
  return elsewhere;
}

}  // namespace

std::vector<DeviceFlow> device_flows(const FlowRun& run) {
  std::vector<std::vector<uint32_t>> works(run.devices.size());
  for (uint32_t w = 0; w < run.works.size(); ++w) works[run.works[w].device].push_back(w);
  const std::vector<std::vector<Interval>> elsewhere = busy_elsewhere(run);
  std::vector<DeviceFlow> devices;
  for (size_t d = 0; d < works.size(); ++d) {
    const std::vector<Interval>* busy = elsewhere[d].empty() ? nullptr : &elsewhere[d];
    devices.push_back(flow_of(run, std::move(works[d]), busy));
    devices.back().device = run.devices[d];
  }
  return devices;
}

DeviceOverlap overlap_in(const std::vector<DeviceFlow>& devices, Interval window) {
  if (devices.size() < 2) return {};
  std::vector<Timed> changes;  // row: 1 = a device becomes busy, 0 = idle
  for (const DeviceFlow& device : devices) {
    for (const auto* busy : {&device.compute, &device.collective, &device.copy}) {
      for (const Interval& part : clip(*busy, window)) {
        changes.push_back({part.start_ns, 1});
        changes.push_back({part.end_ns, 0});
      }
    }
  }
  std::sort(changes.begin(), changes.end(), [](const Timed& a, const Timed& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.row < b.row;
  });
  DeviceOverlap overlap;
  int64_t working = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    const int64_t ns = i == 0 ? 0 : changes[i].time_ns - changes[i - 1].time_ns;
    if (working > 0) overlap.any_ns += ns;
    if (working > 1) overlap.several_ns += ns;
    working += changes[i].row == 1 ? 1 : -1;
  }
  return overlap;
}

DeviceFlow joint_flow(const FlowRun& run) {
  std::vector<uint32_t> works(run.works.size());
  std::iota(works.begin(), works.end(), 0U);
  DeviceFlow joint = flow_of(run, std::move(works), nullptr);
  joint.device = -1;
  return joint;
}

std::vector<FlowSlice> stream_idle(const FlowRun& run, StreamId stream) {
  std::vector<uint32_t> works;
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    if (run.works[w].stream == stream.value) works.push_back(w);
  }
  if (works.empty()) return {};
  const std::vector<Interval> busy = busy_of(run, run.works[works[0]].device);
  return IdleSweep(run, std::move(works), &busy).sweep();
}

FlowTotals& operator+=(FlowTotals& sum, const FlowTotals& more) {
  sum.window_ns += more.window_ns;
  sum.compute_ns += more.compute_ns;
  sum.collective_ns += more.collective_ns;
  sum.copy_ns += more.copy_ns;
  sum.idle_ns += more.idle_ns;
  for (size_t c = 0; c < kFlowCauses; ++c) {
    sum.cause_ns[c] += more.cause_ns[c];
    for (size_t e = 0; e < kEvidences; ++e) sum.evidence_ns[c][e] += more.evidence_ns[c][e];
    for (size_t o = 0; o < kOpenings; ++o) sum.opened_ns[c][o] += more.opened_ns[c][o];
    sum.pause_ns[c] += more.pause_ns[c];
    sum.pauses[c] += more.pauses[c];
  }
  for (size_t k = 0; k < kReadyKinds; ++k) sum.latency_ns[k] += more.latency_ns[k];
  return sum;
}

FlowTotals slice_totals(const std::vector<FlowSlice>& slices, Interval window) {
  FlowTotals totals;
  totals.window_ns = std::max<int64_t>(window.end_ns - window.start_ns, 0);
  for_each_slice(slices, window, [&totals](const FlowSlice& slice, Interval part) {
    const int64_t ns = part.end_ns - part.start_ns;
    const auto cause = static_cast<size_t>(slice.cause);
    totals.idle_ns += ns;
    totals.cause_ns[cause] += ns;
    totals.evidence_ns[cause][static_cast<size_t>(slice.evidence)] += ns;
    totals.opened_ns[cause][static_cast<size_t>(slice.opened_by)] += ns;
    if (ns >= kPauseNs) {
      totals.pause_ns[cause] += ns;
      ++totals.pauses[cause];
    }
    if (slice.cause == FlowCause::kLatency) {
      totals.latency_ns[static_cast<size_t>(slice.ready_by)] += ns;
    }
  });
  totals.compute_ns = totals.window_ns - totals.idle_ns;
  return totals;
}

FlowTotals totals_in(const DeviceFlow& device, Interval window) {
  FlowTotals totals = slice_totals(device.idle, window);
  totals.compute_ns = length_in(device.compute, window);
  totals.collective_ns = length_in(device.collective, window);
  totals.copy_ns = length_in(device.copy, window);
  return totals;
}

void ContributorSums::add(const std::vector<FlowSlice>& slices, Interval window) {
  for_each_slice(slices, window, [this](const FlowSlice& slice, Interval part) {
    const bool latency = slice.cause == FlowCause::kLatency;
    const RowSource source = latency ? RowSource::kNone : slice.source;
    const StringId name = row_name(trace_, source, slice.row);
    const ReadyBy by = latency ? slice.ready_by : ReadyBy::kLaunch;
    Contributor& to = by_name_[{slice.cause, source, name.value, by}];
    to.cause = slice.cause;
    to.source = source;
    to.name = name;
    to.ready_by = by;
    const int64_t ns = part.end_ns - part.start_ns;
    to.ns += ns;
    ++to.slices;
    if (ns >= kPauseNs) {
      to.pause_ns += ns;
      ++to.pauses;
    }
    note_longest(trace_, slice, part, to);
  });
}

std::vector<Contributor> ContributorSums::top(size_t most) const {
  std::vector<Contributor> all;
  for (const auto& [key, contributor] : by_name_) all.push_back(contributor);
  std::stable_sort(all.begin(), all.end(), [](const Contributor& a, const Contributor& b) {
    return a.cause != b.cause ? a.cause < b.cause : a.ns > b.ns;
  });
  std::vector<Contributor> chosen;
  size_t of_cause = 0;
  for (const Contributor& contributor : all) {
    if (chosen.empty() || chosen.back().cause != contributor.cause) of_cause = 0;
    if (of_cause++ < most) chosen.push_back(contributor);
  }
  return chosen;
}

}  // namespace assay
