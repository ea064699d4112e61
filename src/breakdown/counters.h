#pragma once

// Hardware counters for the kernels of a trace. A counter run serialises kernels, so its own times
// do not apply to the traced run. The model is deterministic, so both runs issue the same kernels
// in the same order. The two sequences are aligned per GPU and iteration (longest common
// subsequence of name, grid and block). Each traced kernel gets the values of its partner (spec:
// Chopper section III-C).

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
  // Kernel names that the counter run lacks do not count in the match rate. For runs restricted to
  // some kernels on purpose.
  bool partial = false;
  // Kernel kinds; null = use the built-in table.
  std::shared_ptr<const KernelBook> kernels = {};
};

// One counter run against one GPU of the trace.
struct PassAlignment {
  std::string pass;           // file or folder
  std::string format;         // in words
  int64_t gpu = 0;            // of the trace
  int64_t device = 0;         // of the counter run
  uint64_t iterations = 0;    // of the trace
  uint64_t kernels = 0;       // compute kernels of the trace, with `partial` those with such names
  uint64_t pass_kernels = 0;  // compute kernels of the counter run in the iterations used
  uint64_t unused_kernels = 0;  // of the counter run, in further iterations
  uint64_t absent_kernels = 0;  // with `partial`: of the trace, names the counter run lacks
  uint64_t matched = 0;
  double match_rate = 0;    // matched / the larger of kernels and pass_kernels
  bool base_names = false;  // names without namespaces, template arguments and parameters
  bool shapes = false;      // grid and block were compared, because both sides have them
  bool per_thread = false;  // aligned per launching thread
  bool split = false;       // the counter run was cut into iterations first
  bool at_most = false;     // match_rate is an upper bound: the two were too different to go on
  std::vector<std::string> counters;
};

// A counter that several passes measured.
struct CounterRepeat {
  std::string counter = {};
  uint64_t kernels = 0;      // measured more than once
  double spread_median = 0;  // (largest - smallest) / mean per kernel
  double spread_max = 0;
  uint64_t above_limit = 0;  // kernels with a spread above kRepeatLimit
};
constexpr double kRepeatLimit = 0.05;

// One execution of an operation, as LevelCell has it: same keys, with what was counted in it.
struct CounterCell {
  int64_t gpu = 0;
  int32_t iter = kNoIteration;
  LevelPhase phase = LevelPhase::kNone;
  int32_t layer = kNoLayer;
  uint32_t op = 0;
  OpType op_type = OpType::kOther;
  uint64_t kernels = 0;    // compute kernels in it
  uint64_t measured = 0;   // of those, with a partner in every pass that covers the GPU
  int64_t dur_ns = 0;      // of all its kernels, in the trace
  int64_t overlap_ns = 0;  // of that, overlapped with a collective
  double flop = std::numeric_limits<double>::quiet_NaN();  // from shapes; NaN = unknown
  // Per CounterJoin::counters, summed over its kernels, a ratio times the weight of its kernel
  // (cycles, else duration); NaN = not measured for all of them.
  std::vector<double> values;
  double weight = 0;  // of its kernels together

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

// True if a metric is a ratio (percent, rate, average) by its name, as Nsight Compute builds it.
// Ratios are never summed; their mean over kernels is weighted by cycles.
bool is_ratio_counter(std::string_view name);

// Fails, naming the pass, its match rate and what to do, when a pass does not fit the trace.
// Independent of the order of `passes`.
Result<CounterJoin> join_counters(const Trace& trace, const Links& links, const Windows& windows,
                                  const BreakdownReport& report,
                                  const std::vector<CounterPass>& passes,
                                  const CounterOptions& options);

}  // namespace assay
