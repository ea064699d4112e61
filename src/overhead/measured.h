#pragma once

// TaxBreak's phase 2: the equations over the kernel database, with T_dispatch and T_launch from
// isolated replays instead of the trace (spec/overhead 4). Reported together with the trace-only
// estimate.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "overhead/kernel_db.h"
#include "overhead/overhead.h"
#include "records/replay.h"

namespace assay {

// How the target kernel of an entry was found among those that its operator launched in the replay
// (spec/overhead 4.3); the first tier that finds one decides.
enum class MatchTier : uint8_t {
  kSignature,     // 0: same launch signature, with a preference for the same cleaned name
  kExactName,     // 1: same cleaned name
  kSubstring,     // 2: one cleaned name contains the other
  kMostFrequent,  // 3: the most launched kernel, a different variant from the trace's
  kNone,          // no replay of this entry, or it launched nothing
};
std::string_view match_tier_name(MatchTier tier);

struct KernelMatch {
  MatchTier tier = MatchTier::kNone;
  size_t candidate = 0;  // into ReplayEntry::candidates, unless kNone
};

// Ties within a tier go to the most launches, then to the first in the file. A candidate signature
// is compared in the parts that both sides have; a grid of zeros is unknown.
KernelMatch match_kernel(const KernelDbEntry& target,
                         const std::vector<ReplayCandidate>& candidates);

// Input of contamination(): one replayed launch time.
struct GuardInput {
  double launch_ns = 0;
  double launch_std_ns = 0;
  double duration_ns = 0;
  double floor_ns = 0;
  size_t candidates = 1;
  bool variant_mismatch = false;
  double match_ratio = 1;  // measured ranges in which the matched kernel ran, of all
};
// Reason why the launch time of a native kernel contains more than its launch (spec/overhead 4.4);
// empty if it does not. F is the launch-overhead floor. The first rule that applies:
//   "several_kernels"   launch > 20 F, and several candidates or another variant
//   "unsteady"          launch > 50 F, and its std > 10 F
//   "beyond_duration"   launch > max(100 F, 0.75 duration)
//   "seldom_matched"    match ratio < 0.8, and launch > 10 F
std::string_view contamination(const GuardInput& input);

// One entry of the database with its measurements.
struct MeasuredRow {
  size_t entry = 0;  // into KernelDatabase::entries
  KernelCost cost;   // as used in the equations
  MatchTier tier = MatchTier::kNone;
  bool in_file = false;  // the replay has the key
  ReplayStatus status = ReplayStatus::kOk;
  std::string candidate;       // name of the matched kernel
  size_t candidate_index = 0;  // into ReplayEntry::candidates
  bool variant_mismatch = false;
  double match_ratio = 0;
  std::string guard;  // rule that rejected the launch time; empty = none
  int64_t replay_launch_ns = 0;
  int64_t replay_dispatch_ns = 0;  // before a guard clamped it
};

struct FamilyDifference {
  std::string name;
  uint64_t kernels = 0;
  uint64_t measured_kernels = 0;  // of those, with a replay
  int64_t measured_t_orch_ns = 0;
  int64_t trace_t_orch_ns = 0;
  double measured_launch_p50_ns = 0;  // over entries with a replay; NaN without one
  double trace_launch_p50_ns = 0;
};

struct MeasuredReport {
  LaunchFloor floor;
  ReplayThrough through = ReplayThrough::kCpp;  // dispatch path of T_dispatch and the base
  std::optional<int64_t> base_ns;
  HostOverheadSums sums;
  std::vector<MeasuredRow> rows;           // one per entry of the database
  std::vector<FamilyDifference> families;  // largest measured t_orch_ns first
  uint64_t entries_found = 0;              // keys of the database that the replay has
  uint64_t invocations_found = 0;
  uint64_t tier_entries[5] = {0, 0, 0, 0, 0};  // by MatchTier
  uint64_t tier_invocations[5] = {0, 0, 0, 0, 0};
  uint64_t entries_unknown = 0;  // keys of the replay that the database lacks
  std::vector<size_t> guarded;   // rows with a rejected launch time, largest first
  TrustNotes trust;
};

// Minimum share of the invocations that the replay must have by key; below it, the replay is of
// another run.
constexpr double kLeastCoverage = 0.5;

struct MeasuredOptions {
  HostOverheadMode mode = HostOverheadMode::kPaper;
  BaseWeighting base_weighting = BaseWeighting::kKernel;
  LaunchFloor floor;  // T_floor^sys and, where it was measured, by which tracer
};

// Fails if the replay is of another GPU or model, or used a different tracer from the
// launch-overhead floor. trace_only: the estimate to compare with, made with the same
// launch-overhead floor and mode.
Result<MeasuredReport> measure_overhead(const KernelDatabase& database, const ReplayFile& replay,
                                        const HostOverheadReport& trace_only,
                                        const MeasuredOptions& options);

}  // namespace assay
