#pragma once

// The eight Insights of Chopper's evaluation (arXiv 2512.08242, section V) as rules on the figures
// of any configurations. Each is reported to hold, not to hold, or as unknown, with its numbers.
// The compared samples are iterations in order of time, which may be correlated (shift_of_rows of
// base/shift.h, mean_interval_in_order of base/memory.h). If the most striking of several
// operations or collectives is reported, its interval is widened accordingly.

#include <cstdint>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "breakdown/figures.h"

namespace assay {

enum class InsightState : uint8_t { kHolds, kNot, kUnknown };
std::string_view insight_state_name(InsightState state);  // "holds", "not", "unknown"

struct Insight {
  static constexpr double kNone = kNan;

  int number = 0;           // of the paper
  std::string figure = {};  // of the paper: "5"
  InsightState state = InsightState::kUnknown;
  std::string why = {};     // where it does not hold, or what lacks
  std::string config = {};  // that it is about; empty = none
  std::string other = {};   // the configuration compared with, which has more work; empty = none
  std::string of = {};      // operation or kind of collective
  double from = kNone;      // in `config` (where nothing is compared: what holds)
  double to = kNone;        // in `other`
  double low = kNone;       // 95 % interval of to - from; else of what the rule says
  double high = kNone;
  uint64_t n = 0;  // iterations, GPUs, samples or operations of `config`
  uint64_t other_n = 0;
  // Related numbers; each rule defines them.
  double beside_from = kNone;
  double beside_to = kNone;
  double share = kNone;
  int64_t gpu_from = 0;
  int64_t gpu_to = 0;
};

// 1: an operation takes less time with more work (Figure 5). from, to: its duration in ns;
//    beside_to: ratio of the durations of matrix products; share: ratio of the tokens.
// 2: a collective's median grows with the iteration, and its minimum does not (Figure 6). from, to:
//    its duration in ns; beside_*: the minimum; share: growth of the iteration.
// 3: GPUs with more overlap with collectives take longer (Figure 7). from, to: overlap ratio of the
//    GPUs with the least and the most; beside_*: their duration in ns; share: the correlation, with
//    its interval low to high; n: GPUs.
// 4: with more work, a smaller share of the kernel time overlaps collectives (Figure 9). from, to:
//    shares.
// 5: the time between kernels is at the ends of an iteration, in waits for collectives (Figure 11).
//    from: share of it at the ends, with its interval; share: of that, waits for collectives.
// 6: with more work, launch overhead is a smaller part (Figure 4). from, to: launch overhead over
//    kernel time.
// 7: far fewer cores would be enough, and most are never used (Figure 13). from: active, to:
//    needed; low, high: of their ratio; share: physical cores ever used; n: samples.
// 8: frequency is the largest overhead (Figure 15). from: ns of it, to: ns of all overheads, share:
//    operations in which it is the largest, of n. With another configuration, the overhead that
//    fell most; from, to: ns per execution in each; share: of the whole decrease.
// Every number has an entry. Rules on one configuration have an entry for each configuration.
std::vector<Insight> find_insights(const std::vector<ConfigFigures>& configs);

// Launch overhead over kernel time, the median over blocks of iterations; NaN without any.
double usual_launch_share(const ConfigFigures& config);

}  // namespace assay
