#pragma once

// Compares two sides: the change, its contributions at every level, and whether it is significant.
// Contributions sum to the change exactly, at every level, in whole nanoseconds. Exchanging the
// sides flips the sign of every change.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shift.h"
#include "diff/match.h"
#include "diff/noise.h"
#include "diff/pace.h"
#include "diff/run.h"
#include "diff/side.h"
#include "diff/waiting.h"

namespace assay {

enum class DiffNoise : uint8_t {
  kNoChange,
  kReal,    // 0 is outside the 95 % interval of the change
  kNoise,   // 0 is inside
  kUnknown  // unknown: one block on a side
};
std::string_view diff_noise_name(DiffNoise noise);  // "no_change", "real", "noise", "unknown"

enum class DiffKind : uint8_t { kBoth, kAppeared, kVanished };
std::string_view diff_kind_name(DiffKind kind);  // "both", "appeared", "vanished"

// One side of a row, per iteration and GPU.
struct DiffRowSide {
  std::string name;  // empty = absent
  std::string shown;
  double calls = 0;
  int64_t time_ns = 0;  // busy_ns + idle_ns
  int64_t busy_ns = 0;
  int64_t idle_ns = 0;
  double dur_mean_ns = 0;  // per call; NaN without calls
};

// change_ns == b.time_ns - a.time_ns == more_calls_ns + slower_ns + idle_change_ns, exactly.
struct DiffRow {
  DiffRowSide a;
  DiffRowSide b;
  DiffMatch match = DiffMatch::kNone;
  DiffKind kind = DiffKind::kBoth;
  bool rest = false;
  int64_t change_ns = 0;
  int64_t more_calls_ns = 0;  // due to the number of calls, at the mean cost per call of both sides
  int64_t slower_ns = 0;      // due to busy time per call, at the mean number of calls
  int64_t idle_change_ns = 0;  // due to idle time per call, at the mean number of calls
  double share_of_change = 0;  // change_ns / total change; NaN when that is 0
  ChangeInterval interval;     // of change_ns
  DiffNoise noise = DiffNoise::kUnknown;
};

struct DiffLevel {
  DiffLevelKind kind = DiffLevelKind::kKernel;
  std::vector<DiffRow> rows;  // largest change first, then names
  // Number of rows, rests included: appeared + vanished + slower + faster + same is all of them.
  uint64_t appeared = 0;
  uint64_t vanished = 0;
  uint64_t renamed = 0;  // matched by anything but the name
  uint64_t slower = 0;   // in both, change above 0
  uint64_t faster = 0;
  uint64_t same = 0;
  uint64_t real = 0;                // changed rows with a significant change
  bool positions_given_up = false;  // as Matching
};

struct DiffMetric {
  std::string key;
  std::string label;
  DiffUnit unit = DiffUnit::kNanoseconds;
  double a = 0;  // mean over iterations; NaN = not defined
  double b = 0;
  uint64_t n_a = 0;
  uint64_t n_b = 0;
  double change = 0;
  double change_share = 0;        // change / |a|; NaN when a is 0
  ChangeInterval interval;        // of the change
  ChangeInterval share_interval;  // of change_share; infinite for a change from 0
  ChangeInterval b_interval;
  DiffNoise noise = DiffNoise::kUnknown;
};

struct DiffSideFacts {
  uint64_t runs = 0;
  uint64_t repeats = 0;
  uint64_t iterations = 0;
  uint64_t samples = 0;
  uint64_t blocks = 0;
  BlockKind block_kind = BlockKind::kIterations;
  // Number of independent iterations with an equally precise mean of the time; all of them if
  // blocks are runs.
  double independent = 0;
  int64_t time_ns = 0;
  // The fastest and the slowest block, time per iteration; 0 without work on a device.
  int64_t fastest_ns = 0;
  int64_t slowest_ns = 0;
};

// Two runs measured under the same conditions; times per iteration.
struct DiffPair {
  std::string a_file;
  std::string b_file;
  int64_t a_ns = 0;
  int64_t b_ns = 0;
};

// The recorded times of a comparison of runs without profiler overhead.
struct DiffRecorded {
  std::string a_from;  // source of the measured iteration: a file or an option
  std::string b_from;
  int64_t a_ns = 0;  // per iteration, as DiffSideFacts::time_ns
  int64_t b_ns = 0;

  double change_share() const {
    return a_ns > 0 ? static_cast<double>(b_ns - a_ns) / static_cast<double>(a_ns) : 0;
  }
};

struct DiffReport {
  DiffSideFacts a;
  DiffSideFacts b;
  DiffMetric time;  // key "time_ns"; a, b and change are whole nanoseconds
  int64_t change_ns = 0;
  Shift typical;                    // of the time per iteration, over blocks
  std::vector<DiffMetric> metrics;  // time_ns first, then in the order of DiffRun::metrics
  std::array<DiffLevel, kDiffLevels> levels;
  // The mean's interval contains 0, but the 99 % interval of the typical change does not: a few
  // outlier iterations hide a change of the others. 99 %, because this is a second test.
  bool hidden_by_few = false;
  // The change of the mean is not significant only because of autocorrelation. With independent
  // iterations it would be.
  bool too_few_independent = false;
  // True for too_few_independent if every block of one side is faster than every block of the
  // other: then the direction is clear, and the interval is not.
  bool apart = false;
  bool whole_traces = false;    // a side has no iterations: every trace is one sample
  std::optional<DiffRecorded> recorded;  // null: all times are as recorded
  std::vector<DiffPair> pairs;  // with Resampling::paired
  DiffRanks ranks;              // for jobs with waits separated from transfers
  PaceChange pace;
  Resampling resampling;
};

// Reason why the runs of the two sides are not pairs; empty if they are.
std::string no_pairs(const DiffSide& a, const DiffSide& b);
// options.paired requires that no_pairs(a, b) is empty.
DiffReport compare_sides(const DiffSide& a, const DiffSide& b, const Resampling& options);

}  // namespace assay
