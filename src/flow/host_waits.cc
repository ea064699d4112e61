// Hosts that wait for the device without a waiting call.
//
// Problem: a host that polls a flag or count which a kernel writes to host memory (expert-parallel
// dispatch, spinning schedulers) records nothing meanwhile. Its time would count as its own work,
// and no faster kernel would shorten the run. Method: find gaps between calls of a thread that
// contain the same thing (one operator, one frame, or nothing) and end when work of one name ends
// that the thread had launched before, nearly every time and more often than by chance.

#include <algorithm>
#include <map>
#include <tuple>

#include "flow/build.h"
#include "flow/causes.h"
#include "flow/names.h"
#include "flow/pieces.h"
#include "flow/repetition.h"

namespace assay {
namespace {

// The value may arrive before the kernel's end, and the host may read it before its next call.
constexpr int64_t kNearNs = 100'000;
constexpr size_t kMostEnds = 256;

// A place in the program: thread, table and name of the gap's longest piece, names of the calls
// before and after.
using Held = std::tuple<uint32_t, RowSource, uint32_t, uint32_t, uint32_t>;

using Pauses = Repetition<uint32_t>;  // by name of the work that ended: (call, work)

class HostWaits {
 public:
  HostWaits(FlowRun& run, const std::vector<Timed>& ends)
      : run_(run), ends_(ends), cursor_(run.threads.size()) {}

  void find() {
    for (const HostThread& thread : run_.threads) {
      if (thread.launches == 0) continue;
      for (uint32_t k = 1; k < thread.call_count; ++k) look_at(thread, thread.first_call + k);
    }
    for (const auto& [held, pauses] : pauses_) mark(pauses);
  }

 private:
  uint32_t name_of(uint32_t work) const {
    return run_.trace->activities.name[run_.works[work].activity.index()].value;
  }

  void look_at(const HostThread& thread, uint32_t c) {
    const Interval pause{run_.calls[c - 1].end_ns, run_.calls[c].start_ns};
    if (pause.end_ns - pause.start_ns < kPauseNs) return;
    RowSource source = RowSource::kNone;
    uint32_t name = 0;
    int64_t longest_ns = 0;
    bool explained = false;
    for_each_piece(run_, thread, pause, cursor_, [&](const PieceSpan& span) {
      if (span.end_ns - span.start_ns <= longest_ns) return;
      longest_ns = span.end_ns - span.start_ns;
      const HostPiece* piece = span.piece;
      explained = piece != nullptr && !is_host_work(piece->cause);
      const bool named = piece != nullptr && piece->source != RowSource::kNone;
      source = named ? piece->source : RowSource::kNone;
      name = named ? row_name(*run_.trace, piece->source, piece->row).value : 0;
    });
    if (explained) return;
    if (works_of_name_.empty()) count_works();
    const auto call_name = [this](uint32_t call) {
      return run_.trace->api_calls.name[run_.calls[call].row.index()].value;
    };
    Pauses& pauses =
        pauses_[Held{run_.calls[c].thread.value, source, name, call_name(c - 1), call_name(c)}];
    ++pauses.cases;
    note_ends(c, pause, pauses);
  }

  void count_works() {
    for (uint32_t w = 0; w < run_.works.size(); ++w) ++works_of_name_[name_of(w)];
  }

  // Notes works that the thread launched before the gap and that end near its end, one per name.
  void note_ends(uint32_t c, Interval pause, Pauses& pauses) {
    auto at = std::partition_point(ends_.begin(), ends_.end(), [&pause](const Timed& end) {
      return end.time_ns < pause.end_ns - kNearNs;
    });
    for (size_t seen = 0; at != ends_.end() && seen < kMostEnds; ++at, ++seen) {
      if (at->time_ns > pause.end_ns + kNearNs) break;
      const FlowWork& work = run_.works[at->row];
      if (work.call == kNoFlowRow || work.start_ns >= pause.end_ns) continue;
      const FlowCall& from = run_.calls[work.call];
      if (from.thread != run_.calls[c].thread || from.start_ns >= pause.start_ns) continue;
      pauses.note(name_of(at->row), c, at->row);
    }
  }

  void mark(const Pauses& pauses) {
    const FollowedPairs* waits = followed_by(pauses, [this](uint32_t name) {
      return chance_of_end(ends_, works_of_name_.at(name), 2 * kNearNs);
    });
    if (waits == nullptr) return;
    for (const auto& [call, work] : *waits) run_.calls[call].after_work = work;
  }

  FlowRun& run_;
  const std::vector<Timed>& ends_;
  PieceCursor cursor_;
  std::map<uint32_t, uint64_t> works_of_name_;
  std::map<Held, Pauses> pauses_;
};

}  // namespace

void find_host_waits(FlowRun& run, const std::vector<Timed>& ends) { HostWaits(run, ends).find(); }

// Otherwise a replay in which the host runs ahead would process the device's backlog during the
// unrecorded time.
void find_calls_after_unrecorded(FlowRun& run, const std::vector<Timed>& ends) {
  for (const Interval& span : run.unrecorded) {
    const auto end = std::partition_point(
        ends.begin(), ends.end(), [&span](const Timed& at) { return at.time_ns <= span.start_ns; });
    if (end == ends.begin()) continue;
    for (const HostThread& thread : run.threads) {
      const auto first = run.calls.begin() + thread.first_call;
      const auto last = first + thread.call_count;
      const auto call = std::partition_point(
          first, last, [&span](const FlowCall& at) { return at.start_ns < span.end_ns; });
      if (call == last) continue;
      call->after_work = std::prev(end)->row;
      call->after_unrecorded = true;
    }
  }
}

}  // namespace assay
