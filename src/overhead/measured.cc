#include "overhead/measured.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/ascii.h"
#include "base/stats.h"
#include "kernels/name.h"
#include "records/measured_on.h"

namespace assay {
namespace {

bool is_told(const Dim3& dims) { return dims != Dim3{0, 0, 0}; }

// Compares the launch signature in the parts that both sides have. If a grid is missing, there is
// nothing to compare.
bool same_signature(const LaunchShape& target, const ReplayCandidate& candidate) {
  if (!is_told(target.grid) || !is_told(candidate.grid)) return false;
  if (target.grid != candidate.grid) return false;
  if (is_told(target.block) && is_told(candidate.block) && target.block != candidate.block) {
    return false;
  }
  if (target.shared_memory_bytes != candidate.shared_memory_bytes) return false;
  const bool registers_told = target.registers != 0 && candidate.registers != 0;
  return !registers_told || target.registers == candidate.registers;
}

bool names_in(std::string_view text, std::string_view name) {
  return !name.empty() && contains(text, name);
}

struct Cleaned {
  std::vector<std::string> names;
  explicit Cleaned(const std::vector<ReplayCandidate>& candidates) {
    for (const ReplayCandidate& candidate : candidates) {
      names.push_back(clean_kernel_name(candidate.name));
    }
  }
};

// The most launched candidate that passes; SIZE_MAX when none does.
template <typename Passes>
size_t most_frequent(const std::vector<ReplayCandidate>& candidates, Passes&& passes) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!passes(i)) continue;
    if (best == SIZE_MAX || candidates[i].count > candidates[best].count) best = i;
  }
  return best;
}

std::string plural(uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

using EntriesByKey = std::unordered_map<std::string, const ReplayEntry*>;

MeasuredRow match_row(const KernelDbEntry& target, size_t index, const EntriesByKey& by_key) {
  MeasuredRow row;
  row.entry = index;
  row.cost = trace_cost(target);
  const auto found = by_key.find(target.key);
  if (found == by_key.end()) return row;
  const ReplayEntry& replayed = *found->second;
  row.in_file = true;
  row.status = replayed.status;
  if (replayed.status != ReplayStatus::kOk) return row;
  const KernelMatch match = match_kernel(target, replayed.candidates);
  row.tier = match.tier;
  if (match.tier == MatchTier::kNone) return row;
  const ReplayCandidate& candidate = replayed.candidates[match.candidate];
  row.candidate = candidate.name;
  row.candidate_index = match.candidate;
  row.variant_mismatch = match.tier == MatchTier::kMostFrequent;
  row.match_ratio = static_cast<double>(candidate.launch.n) / static_cast<double>(replayed.ranges);
  row.replay_launch_ns = std::llround(candidate.launch.mean_ns);
  row.replay_dispatch_ns = std::llround(candidate.dispatch.mean_ns);
  row.cost.t_dispatch_ns = row.replay_dispatch_ns;
  return row;
}

// If there is no replay, T_launch is the launch-overhead floor and T_dispatch the trace's
// (spec/overhead 4.3). Kernels without a launch of their own have no launch time to replace.
void settle_launch(const KernelDbEntry& target, const ReplayEntry* replayed, int64_t floor_ns,
                   MeasuredRow& row) {
  if (row.cost.invocations == row.cost.unpaid) {
    row.cost.t_launch_ns = std::nullopt;
    return;
  }
  row.cost.t_launch_ns = row.tier == MatchTier::kNone ? floor_ns : row.replay_launch_ns;
  if (row.tier == MatchTier::kNone || target.library || replayed == nullptr) return;
  const ReplayCandidate& matched = replayed->candidates[row.candidate_index];
  GuardInput input;
  input.launch_ns = static_cast<double>(row.replay_launch_ns);
  input.launch_std_ns = matched.launch.std_ns;
  input.duration_ns = matched.duration.mean_ns;
  input.floor_ns = static_cast<double>(floor_ns);
  input.candidates = replayed->candidates.size();
  input.variant_mismatch = row.variant_mismatch;
  input.match_ratio = row.match_ratio;
  row.guard = contamination(input);
  if (!row.guard.empty()) row.cost.t_launch_ns = floor_ns;
}

// Eq. 7 over the native entries: replayed values where there are any, the trace's elsewhere, and
// those only of operators that launch nothing else.
std::optional<int64_t> measured_base(const KernelDatabase& database,
                                     const std::vector<MeasuredRow>& rows,
                                     BaseWeighting weighting) {
  std::vector<KernelCost> population;
  for (const MeasuredRow& row : rows) {
    const bool replayed = row.tier != MatchTier::kNone;
    if (replayed || database.entries[row.entry].single_launch) population.push_back(row.cost);
  }
  return dispatch_base(population, weighting);
}

// Caps the dispatch time of a rejected replay, which is unreliable too. The cap is above the base,
// so it does not change the base, a median.
void clamp_dispatch(int64_t base_ns, int64_t floor_ns, MeasuredRow& row) {
  if (row.guard.empty()) return;
  row.cost.t_dispatch_ns = std::min(row.cost.t_dispatch_ns, std::max(4 * base_ns, 10 * floor_ns));
}

struct FamilyRows {
  FamilyDifference family;
  std::vector<KernelCost> costs;
  uint64_t paid = 0;
  std::vector<double> launches;
};

std::vector<FamilyDifference> family_differences(const KernelDatabase& database,
                                                 const std::vector<MeasuredRow>& rows,
                                                 const HostOverheadReport& trace_only,
                                                 const MeasuredOptions& options, int64_t base_ns) {
  std::map<std::string, FamilyRows> by_name;
  for (const MeasuredRow& row : rows) {
    FamilyRows& family = by_name[database.entries[row.entry].family];
    family.family.kernels += row.cost.invocations;
    family.paid += row.cost.invocations - row.cost.unpaid;
    family.costs.push_back(row.cost);
    if (row.tier == MatchTier::kNone) continue;
    family.family.measured_kernels += row.cost.invocations;
    if (row.cost.t_launch_ns) {
      family.launches.push_back(static_cast<double>(*row.cost.t_launch_ns));
    }
  }
  std::vector<FamilyDifference> families;
  for (auto& [name, one] : by_name) {
    one.family.name = name;
    one.family.measured_t_orch_ns =
        sum_overhead(one.costs, options.mode, base_ns, options.floor.floor_ns, one.paid).t_orch_ns;
    one.family.measured_launch_p50_ns =
        one.launches.empty() ? std::numeric_limits<double>::quiet_NaN() : median(one.launches);
    one.family.trace_launch_p50_ns = std::numeric_limits<double>::quiet_NaN();
    for (const FamilyOverhead& traced : trace_only.families) {
      if (traced.name != name) continue;
      one.family.trace_t_orch_ns = traced.t_orch_ns;
      one.family.trace_launch_p50_ns = traced.launch_p50_ns;
    }
    families.push_back(std::move(one.family));
  }
  std::stable_sort(families.begin(), families.end(),
                   [](const FamilyDifference& a, const FamilyDifference& b) {
                     return a.measured_t_orch_ns > b.measured_t_orch_ns;
                   });
  return families;
}

void count_row(const MeasuredRow& row, MeasuredReport& report) {
  const auto tier = static_cast<size_t>(row.tier);
  ++report.tier_entries[tier];
  report.tier_invocations[tier] += row.cost.invocations;
  if (!row.in_file) return;
  ++report.entries_found;
  report.invocations_found += row.cost.invocations;
}

Status check_coverage(const KernelDatabase& database, const ReplayFile& replay,
                      const MeasuredReport& report) {
  if (database.invocations == 0) {
    return Error{ErrorCode::kInvalidArgument, "the trace has no kernels to compare a replay with",
                 replay.source, -1};
  }
  const double share =
      static_cast<double>(report.invocations_found) / static_cast<double>(database.invocations);
  if (share >= kLeastCoverage) return Ok{};
  return Error{
      ErrorCode::kInvalidArgument,
      "has the keys of " + std::to_string(report.invocations_found) + " of " +
          plural(database.invocations, "kernel invocation", "kernel invocations") +
          " of the trace, less than half: the replay is of another model, shapes or database. "
          "Replay one exported from this trace with --export-kernel-db",
      replay.source, -1};
}

void add_note(TrustNotes& notes, const char* what, uint64_t count, const char* affects,
              std::string effect) {
  if (count > 0) notes.push_back({what, count, 0, affects, std::move(effect)});
}

TrustNotes measured_trust(const KernelDatabase& database, const ReplayFile& replay,
                          const MeasuredReport& report, const MeasuredOptions& options) {
  TrustNotes notes;
  if (database.gpu.empty()) {
    add_note(notes, "replay_gpu_unchecked", 1, "measured",
             "the trace does not name its GPU: that the replay (" + replay.gpu.name +
                 ") is of the same one is taken on trust");
  }
  if (!same_tracer(replay.head.tracer, database.tracer)) {
    add_note(notes, "replay_tracer", 1, "measured",
             "T_Py is from " + tracer_words(database.tracer) +
                 ", T_dispatch and T_launch from a replay under " +
                 std::string(tracer_name(replay.head.tracer)) +
                 ": each includes its own tracer's cost");
  }
  if (replay.through == ReplayThrough::kCpp) {
    add_note(notes, "replay_through", 1, "measured.ft_dispatch_ns, measured.dispatch_base_ns",
             "the operators were called from C++: T_dispatch is below TaxBreak's, which calls "
             "operators from Python (assay replay --dispatch-through python)");
  } else {
    add_note(notes, "replay_through", 1, "measured.ft_dispatch_ns, measured.dispatch_base_ns",
             "the operators were called from Python, as TaxBreak does: T_dispatch holds Python's "
             "binding, of which T_Py of the trace holds a part as well");
  }
  if (options.floor.tracer == CollectorTracer::kUnknown) {
    add_note(notes, "replay_floor_unmeasured", 1, "measured.kt_ns, measured.kt_fw_ns",
             "the launch-overhead floor was not measured with the replay: give --floor floor.json "
             "of the same machine and tracer");
  }
  uint64_t missing = database.entries.size() - report.entries_found;
  add_note(
      notes, "replay_missing_keys", missing, "measured",
      plural(database.invocations - report.invocations_found, "invocation", "invocations") +
          " of kernels that the replay lacks: T_dispatch from the trace, T_launch taken as the "
          "launch-overhead floor");
  add_note(notes, "replay_unknown_keys", report.entries_unknown, "measured",
           "entries of the replay that this trace has no kernel for: not used");
  const auto none = static_cast<size_t>(MatchTier::kNone);
  add_note(notes, "replay_not_run", report.tier_entries[none] - missing, "measured",
           "kernels of operators that were not replayed (dynamic, missing, failed, or no launch): "
           "T_dispatch from the trace, T_launch taken as the launch-overhead floor");
  const auto variant = static_cast<size_t>(MatchTier::kMostFrequent);
  add_note(notes, "variant_mismatch", report.tier_entries[variant], "measured",
           "kernels with another variant in the replay than in the trace: that variant's times are "
           "used");
  add_note(notes, "contaminated_replays", report.guarded.size(), "measured",
           "native kernels with an invalid launch time in the replay: the launch-overhead floor is "
           "used, and their dispatch is bounded");
  if (!report.base_ns) {
    add_note(notes, "no_dispatch_base", 1, "measured.ct_ns",
             "no native kernel to take the dispatch base from: it is taken as 0, and the split "
             "between framework and library means nothing");
  }
  return notes;
}

}  // namespace

std::string_view match_tier_name(MatchTier tier) {
  switch (tier) {
    case MatchTier::kSignature:
      return "signature";
    case MatchTier::kExactName:
      return "exact_name";
    case MatchTier::kSubstring:
      return "substring";
    case MatchTier::kMostFrequent:
      return "most_frequent";
    case MatchTier::kNone:
      return "none";
  }
  return "";
}

KernelMatch match_kernel(const KernelDbEntry& target,
                         const std::vector<ReplayCandidate>& candidates) {
  const Cleaned cleaned(candidates);
  const auto signed_like = [&](size_t i) { return same_signature(target.shape, candidates[i]); };
  const auto same_name = [&](size_t i) { return cleaned.names[i] == target.name; };
  const auto part_of_name = [&](size_t i) {
    return names_in(cleaned.names[i], target.name) || names_in(target.name, cleaned.names[i]);
  };
  const auto any = [](size_t) { return true; };
  size_t found =
      most_frequent(candidates, [&](size_t i) { return signed_like(i) && same_name(i); });
  if (found == SIZE_MAX) found = most_frequent(candidates, signed_like);
  if (found != SIZE_MAX) return {MatchTier::kSignature, found};
  found = most_frequent(candidates, same_name);
  if (found != SIZE_MAX) return {MatchTier::kExactName, found};
  found = most_frequent(candidates, part_of_name);
  if (found != SIZE_MAX) return {MatchTier::kSubstring, found};
  found = most_frequent(candidates, any);
  if (found != SIZE_MAX) return {MatchTier::kMostFrequent, found};
  return {MatchTier::kNone, 0};
}

std::string_view contamination(const GuardInput& input) {
  const double launch = input.launch_ns;
  const double floor = input.floor_ns;
  const bool ambiguous = input.candidates > 1 || input.variant_mismatch;
  if (launch > 20 * floor && ambiguous) return "several_kernels";
  if (launch > 50 * floor && input.launch_std_ns > 10 * floor) return "unsteady";
  if (launch > std::max(100 * floor, 0.75 * input.duration_ns)) return "beyond_duration";
  if (input.match_ratio < 0.8 && launch > 10 * floor) return "seldom_matched";
  return "";
}

Result<MeasuredReport> measure_overhead(const KernelDatabase& database, const ReplayFile& replay,
                                        const HostOverheadReport& trace_only,
                                        const MeasuredOptions& options) {
  if (replay.head.tracer == CollectorTracer::kHost) {
    return Error{ErrorCode::kInvalidArgument,
                 "replayed without a GPU: it has times of calls, none of kernels; replay the "
                 "database on the GPU of the trace",
                 replay.source, -1};
  }
  ASSAY_TRY(check_same_gpu(replay.source, replay.gpu.name, database.gpu));
  if (options.floor.tracer != CollectorTracer::kUnknown &&
      options.floor.tracer != replay.head.tracer) {
    return Error{ErrorCode::kInvalidArgument,
                 "replayed under " + std::string(tracer_name(replay.head.tracer)) +
                     ", but the launch-overhead floor was measured under " +
                     std::string(tracer_name(options.floor.tracer)) +
                     ": their difference would be one of tracers; measure both with one",
                 replay.source, -1};
  }
  EntriesByKey by_key;
  for (const ReplayEntry& entry : replay.entries) by_key[entry.key] = &entry;
  MeasuredReport report;
  report.floor = options.floor;
  report.through = replay.through;
  for (size_t i = 0; i < database.entries.size(); ++i) {
    report.rows.push_back(match_row(database.entries[i], i, by_key));
    count_row(report.rows.back(), report);
  }
  ASSAY_TRY(check_coverage(database, replay, report));
  report.entries_unknown = replay.entries.size() - report.entries_found;
  report.base_ns = measured_base(database, report.rows, options.base_weighting);
  const int64_t base_ns = report.base_ns.value_or(0);
  std::vector<KernelCost> costs;
  for (MeasuredRow& row : report.rows) {
    const KernelDbEntry& target = database.entries[row.entry];
    const auto found = by_key.find(target.key);
    settle_launch(target, found == by_key.end() ? nullptr : found->second, options.floor.floor_ns,
                  row);
    clamp_dispatch(base_ns, options.floor.floor_ns, row);
    if (!row.guard.empty())
      report.guarded.push_back(static_cast<size_t>(&row - report.rows.data()));
    costs.push_back(row.cost);
  }
  std::stable_sort(report.guarded.begin(), report.guarded.end(), [&](size_t a, size_t b) {
    return report.rows[a].replay_launch_ns > report.rows[b].replay_launch_ns;
  });
  report.sums =
      sum_overhead(costs, options.mode, base_ns, options.floor.floor_ns, database.launches);
  report.families = family_differences(database, report.rows, trace_only, options, base_ns);
  report.trust = measured_trust(database, replay, report, options);
  return report;
}

}  // namespace assay
