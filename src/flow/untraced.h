#pragma once

// Estimates a recorded run without its recorder. Recording takes host time at each border (start or
// end) of a recorded event, half of it on either side. An interval between two adjacent borders of
// a thread is thus longer by half of both costs. The run without the recorder is a replay of the
// same graph with shorter intervals. Gaps between back-to-back kernels shrink as well; waits stay
// waits. Definitions: docs/metrics.md, Untraced.

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

// Overhead of recording; each at least 0.
struct RecordingCost {
  double op_ns = 0;    // per border of an operator, range or frame
  double call_ns = 0;  // per border of an API call
  double gap_ns = 0;   // per gap between back-to-back kernels
  double pace = 0;     // share of all host time, instead of a time per border; below 1
};

// Which host time the recorder slows. An iteration time alone does not determine it.
enum class CostShape : uint8_t { kRows, kOps, kCalls, kPace };
constexpr size_t kCostShapes = 4;
constexpr double kMostBorderNs = 20'000;
// strength: ns per border; for kPace the share.
RecordingCost recording_cost(CostShape shape, double strength);

// Constants of the estimate, fitted to pairs of runs of one program with and without recorder.
struct CostFit {
  size_t pairs = 0;     // pairs with enough overhead for a fit
  double slope = 0;     // cost per border per ns of the witness
  double offset_ns = 0;
  double spread = 0;    // half width of the interval / (cost + kFewNs)
  double plain_ns = 0;  // cost per border without a witness
  double plain_high_ns = 0;

  // Cost per border with its interval. witness_ns: NaN = none. Needs pairs > 0.
  struct Cost {
    double ns = 0;
    double low_ns = 0;
    double high_ns = 0;
  };
  Cost cost(double witness_ns) const;
};
// table: text like data/tables/tracer_cost.tsv. Pairs of the program left_out are skipped. pairs =
// 0 if fewer than three pairs have a witness.
CostFit fit_recording_cost(std::string_view table, std::string_view recorder,
                           std::string_view left_out = {});
std::string_view tracer_cost_text();

enum class UntracedSource : uint8_t {
  kNone,      // not requested
  kAnchor,    // a measured iteration without recorder
  kEstimate,  // from the recording alone
  kRefused,   // no estimate; see UntracedRefusal
};
std::string_view untraced_source_name(UntracedSource source);  // "anchor", ...

enum class UntracedRefusal : uint8_t {
  kNone,
  kNoIterations,
  kNoPairs,     // the table has no pairs of this recorder
  kFrames,      // Python frames were recorded; the table has no such pairs
  kSlower,      // the measured iteration is longer than the recorded one
  kOtherWork,   // no overhead explains the measured iteration
  kOutOfOrder,  // events of one thread or stream would change order
};
std::string_view untraced_refusal_name(UntracedRefusal refusal);  // empty for none

struct Untraced {
  UntracedSource source = UntracedSource::kNone;
  UntracedRefusal refusal = UntracedRefusal::kNone;
  std::string from = {};  // file or option of the anchor
  // Median iteration. low and high: range of the anchor's measurements, or 90 % interval of an
  // estimate.
  int64_t iteration_ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
  int64_t recorded_iteration_ns = 0;
  // Overhead per event, i.e. two borders. 0 without anchor or estimate.
  int64_t row_cost_ns = 0;
  int64_t row_cost_low_ns = 0;
  int64_t row_cost_high_ns = 0;
  std::optional<int64_t> witness_ns = {};
  // Bottleneck without the recorder if it differs from the recorded one: with an anchor the actual
  // one, with an estimate a possible one.
  std::optional<BoundBy> turned = {};
  BoundBy recorded = BoundBy::kNoGpu;  // bottleneck of the recording, for comparison with `turned`
  double rows_per_iteration = 0;  // operators, ranges, frames and calls on threads that launch work

  bool told() const {
    return source == UntracedSource::kAnchor || source == UntracedSource::kEstimate;
  }
};

// A trace with changed times, and its iterations.
struct RetimedTrace {
  Trace trace;
  Windows iterations;
};

// Replays of one run without the recorder's overhead. Each is linear in events.
class UntracedReplay {
 public:
  // model: with the graph of the whole run. Both arguments must outlive it.
  UntracedReplay(const FlowModel& model, const Windows& iterations);

  const Windows& iterations() const { return iterations_; }
  bool has_iterations() const { return iterations_.source != WindowSource::kWholeTrace; }
  // Lags in ns per edge, with shorter host time and gaps between kernels.
  std::vector<int64_t> lags(const RecordingCost& cost) const;
  // Median iteration in ns; 0 without iterations.
  int64_t iteration_ns(const RecordingCost& cost) const;
  double rows_per_iteration() const;
  // Lower quartile of the time in ns from an operator's start to its first child's start, on
  // threads that launch work; NaN for fewer than 20 samples.
  double witness_ns() const { return witness_ns_; }
  // The strength at which an iteration takes that long: 0 if it already does, none if no strength
  // suffices. most_border_ns limits the cost per border.
  std::optional<double> solve(CostShape shape, int64_t iteration_ns,
                              double most_border_ns = kMostBorderNs) const;
  // The trace without overhead; events keep order and ids. None if the order would change.
  std::optional<RetimedTrace> retimed(const RecordingCost& cost) const;

 private:
  struct Border {
    int64_t time_ns = 0;
    bool is_call = false;
  };
  struct HostLine {  // borders of one thread with calls, ascending
    std::vector<Border> borders;
  };
  // An interval of host time of an edge, with the indices of the borders around it.
  struct EdgePart {
    uint32_t edge = 0;
    uint32_t line = 0;  // ThreadId
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    size_t first = 0;  // first border at or after the start
    size_t last = 0;   // first border at or after the end
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

// True if overhead is large enough for a fit: over a tenth of an iteration at 3 us per border.
bool rows_tell(const UntracedReplay& replay);

// The recorder of a trace, as named in the table of costs; empty if the table has no pairs of it.
std::string_view recorder_of(const Trace& trace);

// The iteration without the recorder: from the anchor if there is one, else estimated.
Untraced find_untraced(const FlowModel& model, const UntracedReplay& replay,
                       const std::optional<UntracedTime>& anchor, const CostFit& fit);

}  // namespace assay
