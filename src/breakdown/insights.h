#pragma once

// The eight Insights of Chopper's evaluation (arXiv 2512.08242, section V) as rules on the figures
// of any configurations. Each rule reports whether the Insight holds, does not hold, or is unknown,
// with its numbers. The samples are iterations in time order, which may be autocorrelated
// (shift_of_rows in base/shift.h, mean_interval_in_order in base/memory.h). If the largest of
// several effects is reported, its interval is widened accordingly.

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

  int number = 0;           // number in the paper
  std::string figure = {};  // figure in the paper: "5"
  InsightState state = InsightState::kUnknown;
  std::string why = {};     // why it does not hold, or what data is missing
  std::string config = {};  // the configuration; empty = none
  std::string other = {};   // the configuration compared with, which has more work; empty = none
  std::string of = {};      // operation or kind of collective
  double from = kNone;      // value in `config` (without a comparison: the value that the rule
                            // tests)
  double to = kNone;        // value in `other`
  double low = kNone;       // 95 % interval of to - from; without a comparison, of the tested value
  double high = kNone;
  uint64_t n = 0;  // iterations, GPUs, samples or operations of `config`
  uint64_t other_n = 0;
  // Additional numbers; see the list of rules below.
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
//    GPUs with the smallest and largest; beside_*: their duration in ns; share: the correlation,
//    with its interval low to high; n: GPUs.
// 4: with more work, a smaller share of the kernel time overlaps collectives (Figure 9). from, to:
//    shares.
// 5: the time between kernels is at the ends of an iteration, in waits for collectives (Figure
//    11). from: share of it at the ends, with its interval; share: the part of that in such waits.
// 6: with more work, launch overhead is a smaller share (Figure 4). from, to: launch overhead /
//    kernel time.
// 7: far fewer cores would be enough, and most are never used (Figure 13). from: active, to:
//    needed; low, high: of their ratio; share: physical cores ever used; n: samples.
// 8: frequency is the largest overhead (Figure 15). from: its ns, to: ns of all overheads, share:
//    operations in which it is the largest, out of n. With a second configuration, the overhead
//    that fell most; from, to: ns per execution in each; share: its part of the whole decrease.
// The result has an entry for every rule; rules on one configuration have one per configuration.
std::vector<Insight> find_insights(const std::vector<ConfigFigures>& configs);

// Launch overhead / kernel time, median over blocks of iterations; NaN if unknown.
double usual_launch_share(const ConfigFigures& config);

}  // namespace assay
