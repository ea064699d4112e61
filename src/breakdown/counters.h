#pragma once

// Joins hardware counters to the kernels of a trace. A counter run serializes kernels, so its own
// times do not apply to the traced run. The model is deterministic, so both runs launch the same
// kernels in the same order. Both sequences are aligned per GPU and iteration (longest common
// subsequence of name, grid and block), and each traced kernel gets the counters of its partner
// (spec: Chopper section III-C).

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "breakdown/breakdown.h"
#include "kernels/book.h"
#include "records/counters.h"

namespace assay {

struct CounterOptions {
  double refuse_below = 0.90;
  double warn_below = 0.99;
  // Exclude kernel names that the counter run lacks from the match rate. For runs that measure only
  // some kernels on purpose.
  bool partial = false;
  // Kernel classifier; null = the built-in table.
  std::shared_ptr<const KernelBook> kernels = {};
};

// Alignment of one counter run with one GPU of the trace.
struct PassAlignment {
  std::string pass;             // file or folder
  std::string format;           // human-readable
  int64_t gpu = 0;              // of the trace
  int64_t device = 0;           // of the counter run
  uint64_t iterations = 0;      // of the trace
  uint64_t kernels = 0;         // compute kernels of the trace; with `partial`, only names that the
                                // counter run has
  uint64_t pass_kernels = 0;    // compute kernels of the counter run in the iterations used
  uint64_t unused_kernels = 0;  // of the counter run, in other iterations
  uint64_t absent_kernels = 0;  // with `partial`: kernels of the trace not named in the counter run
  uint64_t matched = 0;
  double match_rate = 0;    // matched / max(kernels, pass_kernels)
  bool base_names = false;  // compared names without namespaces, template arguments and parameters
  bool shapes = false;      // compared grid and block, because both sides have them
  bool per_thread = false;  // aligned per launching thread
  bool split = false;       // the counter run had to be split into iterations
  bool at_most = false;     // match_rate is an upper bound: the alignment was stopped early
  std::vector<std::string> counters;
};

// A counter that several passes measured.
struct CounterRepeat {
  std::string counter = {};
  uint64_t kernels = 0;      // kernels measured more than once
  double spread_median = 0;  // (largest - smallest) / mean per kernel
  double spread_max = 0;
  uint64_t above_limit = 0;  // kernels with a spread above kRepeatLimit
};
constexpr double kRepeatLimit = 0.05;

// One execution of an operation: a LevelCell with its counters.
struct CounterCell {
  int64_t gpu = 0;
  int32_t iter = kNoIteration;
  LevelPhase phase = LevelPhase::kNone;
  int32_t layer = kNoLayer;
  uint32_t op = 0;
  OpType op_type = OpType::kOther;
  uint64_t kernels = 0;    // compute kernels in it
  uint64_t measured = 0;   // of those, kernels with a partner in every pass for this GPU
  int64_t dur_ns = 0;      // of all its kernels, in the trace
  int64_t overlap_ns = 0;  // of that, overlapped with a collective
  double flop = std::numeric_limits<double>::quiet_NaN();  // from shapes; NaN = unknown
  // Per entry of CounterJoin::counters, the sum over its kernels; ratios are multiplied by the
  // kernel's weight (cycles, or duration if unknown). NaN = not measured for all kernels.
  std::vector<double> values;
  double weight = 0;  // total weight of its kernels

  bool complete() const { return kernels > 0 && measured == kernels; }
};

// One rank's trace joined with its counter runs.
struct CounterJoin {
  std::vector<std::string> counters;  // names, sorted
  std::vector<PassAlignment> passes;
  std::vector<CounterRepeat> repeats;  // by name
  std::vector<CounterCell> cells;      // sorted by gpu, iter, phase, layer, op and op_type
  std::vector<CounterDevice> devices;
  TrustNotes trust;

  bool empty() const { return passes.empty(); }
};

// True if a counter is a ratio (percent, rate, average), judged by Nsight Compute's naming scheme.
// Ratios are never summed; their mean over kernels is weighted by cycles.
bool is_ratio_counter(std::string_view name);

// Joins counter runs to the trace. Fails if a pass does not fit the trace; the error names the
// pass, its match rate and a remedy. The result does not depend on the order of `passes`.
Result<CounterJoin> join_counters(const Trace& trace, const Links& links, const Windows& windows,
                                  const BreakdownReport& report,
                                  const std::vector<CounterPass>& passes,
                                  const CounterOptions& options);

}  // namespace assay
