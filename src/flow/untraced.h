#pragma once

// A recorded run without its recorder. Recording takes time of the host at each border (start or end) of a recorded row,
// half of it on either side of the border. A stretch between two neighbouring borders of a thread is longer by half of both
// costs. The run without the recorder is a replay of the same graph with shorter stretches. Gaps between kernels that follow
// each other at once are shorter as well. Waits stay waits.
// Definitions: docs/metrics.md, Untraced.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/flow.h"
#include "flow/verdict.h"
#include "records/untraced_time.h"
#include "trace/iterations.h"

namespace assay {

// Time that recording takes; each at least 0.
struct RecordingCost {
  double op_ns = 0;    // at a border of an operator, a range or a frame
  double call_ns = 0;  // at a border of an API call
  double gap_ns = 0;   // between kernels that follow each other at once
  double pace = 0;     // share of all host time, in place of a time a border; below 1
};

// The part of the host that the recorder slowed. An iteration time alone does not show which it was.
enum class CostShape : uint8_t { kRows, kOps, kCalls, kPace };
constexpr size_t kCostShapes = 4;
// strength: ns a border, of kPace the share.
RecordingCost recording_cost(CostShape shape, double strength);

// The constants of the estimate, fitted to pairs of a recording and of the same program without one.
struct CostFit {
  size_t pairs = 0;     // with rows that cost enough for a fit
  double slope = 0;     // cost of a border per ns of the witness
  double offset_ns = 0;
  double spread = 0;    // half of the interval, as a share of the cost and kFewNs
  double plain_ns = 0;  // cost of a border without a witness
  double plain_high_ns = 0;

  // The cost of a border, with its ends. witness_ns: NaN = none. Needs pairs.
  struct Cost {
    double ns = 0;
    double low_ns = 0;
    double high_ns = 0;
  };
  Cost cost(double witness_ns) const;
};
// table: as data/tables/tracer_cost.tsv. Pairs of the program left_out do not count.
CostFit fit_recording_cost(std::string_view table, std::string_view recorder,
                           std::string_view left_out = {});
std::string_view tracer_cost_text();

enum class UntracedSource : uint8_t {
  kNone,      // not requested
  kAnchor,    // a measured iteration
  kEstimate,  // from the recording alone
  kRefused,   // no estimate: UntracedRefusal says why
};
std::string_view untraced_source_name(UntracedSource source);  // "anchor", ...

enum class UntracedRefusal : uint8_t {
  kNone,
  kNoIterations,
  kNoPairs,     // the table has no pairs of this recorder
  kFrames,      // Python frames were recorded, and the table has no pairs with them
  kSlower,      // the measured iteration is longer than the recorded one
  kOtherWork,   // no cost of rows explains the measured iteration
  kOutOfOrder,  // rows of one thread or stream would change places
};
std::string_view untraced_refusal_name(UntracedRefusal refusal);  // empty for none

struct Untraced {
  UntracedSource source = UntracedSource::kNone;
  UntracedRefusal refusal = UntracedRefusal::kNone;
  std::string from = {};  // file or option of the anchor
  // Median of an iteration. low and high: the measurements of an anchor, 90 % of an estimate.
  int64_t iteration_ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
  int64_t recorded_iteration_ns = 0;
  // Cost of a row, with its two borders. 0 for the sources none and refused.
  int64_t row_cost_ns = 0;
  int64_t row_cost_low_ns = 0;
  int64_t row_cost_high_ns = 0;
  std::optional<int64_t> witness_ns = {};
  // Another bottleneck than the recorded one: by an anchor that of the run without its recorder, by an estimate one that
  // it may have.
  std::optional<BoundBy> turned = {};
  BoundBy recorded = BoundBy::kNoGpu;  // the recorded bottleneck, for readers of `turned`
  double rows_per_iteration = 0;  // operators, ranges, frames and calls of threads that launch work

  bool told() const {
    return source == UntracedSource::kAnchor || source == UntracedSource::kEstimate;
  }
};

// A trace with other times, and its iterations.
struct RetimedTrace {
  Trace trace;
  Windows iterations;
};

// Replays of one run with the time of its recorder taken off. Cost of one: linear in rows.
class UntracedReplay {
 public:
  // model: with the graph of the whole run. Both must outlive it.
  UntracedReplay(const FlowModel& model, const Windows& iterations);

  const Windows& iterations() const { return iterations_; }
  bool has_iterations() const { return iterations_.source != WindowSource::kWholeTrace; }
  // Lags of the graph, ns per edge: of host time and of gaps between kernels.
  std::vector<int64_t> lags(const RecordingCost& cost) const;
  // Median length of an iteration, in ns; 0 without iterations.
  int64_t iteration_ns(const RecordingCost& cost) const;
  double rows_per_iteration() const;
  // Lower quartile of the time from an operator's start to its first child's start on threads that launch work; NaN for
  // fewer than 20 of them.
  double witness_ns() const { return witness_ns_; }
  // The strength with which an iteration takes that long: 0 if none is needed, none if no strength is enough.
  std::optional<double> solve(CostShape shape, int64_t iteration_ns) const;
  // The trace as it would be: rows keep their order and their ids. None if that is not possible.
  std::optional<RetimedTrace> retimed(const RecordingCost& cost) const;

 private:
  struct Border {
    int64_t time_ns = 0;
    bool is_call = false;
  };
  struct HostLine {  // borders of one thread with calls, by time
    std::vector<Border> borders;
  };
  // The stretch of host time of an edge, with the borders around it as positions on the line.
  struct EdgePart {
    uint32_t edge = 0;
    uint32_t line = 0;  // ThreadId
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    size_t first = 0;  // the border at or after the start
    size_t last = 0;   // the border at or after the end
  };
  using HostTimes = std::vector<std::vector<int64_t>>;  // per thread and border: host time up to it
  struct Clock;

  void find_lines();
  void find_parts();
  void add_part(uint32_t edge, const SegmentSpan& span);
  HostTimes host_times(const RecordingCost& cost) const;
  int64_t host_ns(const HostTimes& times, uint32_t line, size_t at, int64_t time_ns) const;
  Clock thread_clock(uint32_t thread, const HostTimes& host,
                     const std::vector<int64_t>& points) const;
  Clock stream_clock(const std::vector<uint32_t>& works, const std::vector<int64_t>& points) const;

  const FlowModel& model_;
  const Windows& iterations_;
  std::vector<HostLine> lines_;  // per ThreadId; empty for threads without calls
  std::vector<EdgePart> parts_;  // by edge
  uint32_t main_ = UINT32_MAX;   // thread that launches most
  double witness_ns_ = 0;
  uint64_t rows_ = 0;
};

// True if rows cost enough of an iteration for a fit: more than a tenth at 3 us a border.
bool rows_tell(const UntracedReplay& replay);

// The run's own iteration: by the anchor if there is one, else estimated.
// The recorder of a trace as the table of costs names it; empty = it has no pairs there.
std::string_view recorder_of(const Trace& trace);

Untraced find_untraced(const FlowModel& model, const UntracedReplay& replay,
                       const std::optional<UntracedTime>& anchor, const CostFit& fit);

}  // namespace assay
