#pragma once

// Lookup of host activity in an interval.

#include <algorithm>
#include <vector>

#include "base/intervals.h"
#include "flow/run.h"

namespace assay {

struct PieceSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  const HostPiece* piece = nullptr;  // null before the thread's first event and after its last
};

// Index of the piece at time_ns; thread.pieces.size() if there is none. O(log n).
inline size_t piece_at(const HostThread& thread, int64_t time_ns) {
  if (thread.pieces.empty() || time_ns < thread.start_ns || time_ns >= thread.end_ns) {
    return thread.pieces.size();
  }
  const auto after =
      std::partition_point(thread.pieces.begin(), thread.pieces.end(),
                           [time_ns](const HostPiece& piece) { return piece.start_ns <= time_ns; });
  return static_cast<size_t>(after - thread.pieces.begin()) - 1;
}

// The same for mostly increasing times per thread: tries the next 16 pieces before it bisects,
// because a bisection of millions of pieces misses every cache.
class PieceCursor {
 public:
  explicit PieceCursor(size_t threads) : last_(threads, 0) {}
  size_t at(const FlowRun& run, const HostThread& thread, int64_t time_ns) {
    if (thread.pieces.empty() || time_ns < thread.start_ns || time_ns >= thread.end_ns) {
      return thread.pieces.size();
    }
    size_t& at = last_[static_cast<size_t>(&thread - run.threads.data())];
    const std::vector<HostPiece>& pieces = thread.pieces;
    if (pieces[at].start_ns > time_ns) return at = piece_at(thread, time_ns);
    for (int step = 0; step < 16; ++step) {
      if (at + 1 == pieces.size() || pieces[at + 1].start_ns > time_ns) return at;
      ++at;
    }
    return at = piece_at(thread, time_ns);
  }

 private:
  std::vector<size_t> last_;  // per thread
};

// Calls visit(PieceSpan) for the pieces of the interval, in order; together they cover it.
template <typename Visit>
void for_each_piece(const FlowRun& run, const HostThread& thread, Interval interval,
                    PieceCursor& cursor, Visit&& visit) {
  int64_t now_ns = interval.start_ns;
  if (now_ns >= interval.end_ns) return;
  const std::vector<HostPiece>& pieces = thread.pieces;
  if (pieces.empty() || now_ns >= thread.end_ns || interval.end_ns <= thread.start_ns) {
    visit(PieceSpan{now_ns, interval.end_ns, nullptr});
    return;
  }
  if (now_ns < thread.start_ns) {
    visit(PieceSpan{now_ns, thread.start_ns, nullptr});
    now_ns = thread.start_ns;
  }
  for (size_t i = cursor.at(run, thread, now_ns); i < pieces.size() && now_ns < interval.end_ns;
       ++i) {
    const int64_t end_ns = i + 1 < pieces.size() ? pieces[i + 1].start_ns : thread.end_ns;
    const int64_t until_ns = std::min(end_ns, interval.end_ns);
    if (until_ns <= now_ns) continue;
    visit(PieceSpan{now_ns, until_ns, &pieces[i]});
    now_ns = until_ns;
  }
  if (now_ns < interval.end_ns) visit(PieceSpan{now_ns, interval.end_ns, nullptr});
}

}  // namespace assay
