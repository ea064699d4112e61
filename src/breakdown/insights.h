#pragma once

// The eight Insights of Chopper's evaluation (arXiv 2512.08242, section V) as rules on the figures
// of any configurations: each is told to hold, not to hold, or not to be known, with its numbers.
// What is compared are iterations in order of time, which may resemble each other (shift_of_rows of
// base/shift.h, mean_interval_in_order of base/memory.h); where several operations or collectives
// are looked at and the most striking is told, the interval is as much wider.

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
  std::string other = {};   // that it is compared with: one with more work; empty = none
  std::string of = {};      // operation or kind of collective
  double from = kNone;      // in `config` (where nothing is compared: what holds)
  double to = kNone;        // in `other`
  double low = kNone;       // 95 % interval of to - from; else of what the rule says
  double high = kNone;
  uint64_t n = 0;  // iterations, GPUs, samples or operations of `config`
  uint64_t other_n = 0;
  // What goes with it; each rule says what.
  double beside_from = kNone;
  double beside_to = kNone;
  double share = kNone;
  int64_t gpu_from = 0;
  int64_t gpu_to = 0;
};

// 1: an operation takes less time where it has more work (Figure 5). from, to: its duration in ns;
//    beside_to: how many times as long matrix products take; share: times the tokens.
// 2: a collective's middle grows with the iteration while its shortest stays (Figure 6). from, to:
//    its duration in ns; beside_*: the shortest; share: growth of the iteration.
// 3: GPUs that overlap more with collectives take longer (Figure 7). from, to: overlap ratio of the
//    GPUs with the least and the most; beside_*: their duration in ns; share: the correlation, of
//    which low and high are the interval; n: GPUs.
// 4: with more work, less of the kernel time lies beside collectives (Figure 9). from, to: shares.
// 5: the time between kernels lies at the ends of an iteration, in waiting for collectives
//    (Figure 11). from: share of it that lies there, with its interval; share: of that, waiting for
//    collectives.
// 6: with more work, launch overhead is a smaller part (Figure 4). from, to: launch overhead over
//    kernel time.
// 7: far fewer cores would do, and most are never used (Figure 13). from: active, to: needed;
//    low, high: of their ratio; share: physical cores ever used; n: samples.
// 8: frequency is the largest overhead (Figure 15): from: ns of it, to: ns of all overheads,
//    share: operations where it is the largest, of n. With another configuration: the overhead
//    that fell most; from, to: ns per execution in each; share: of the whole fall.
// Every number has an entry; those of one configuration, one for each of them.
std::vector<Insight> find_insights(const std::vector<ConfigFigures>& configs);

// Launch overhead over kernel time, the median over blocks of iterations; NaN without any.
double usual_launch_share(const ConfigFigures& config);

}  // namespace assay
