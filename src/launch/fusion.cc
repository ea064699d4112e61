#include "launch/fusion.h"

#include <algorithm>
#include <array>
#include <utility>

#include "launch/facts.h"
#include "launch/fusion_chains.h"
#include "launch/fusion_mining.h"
#include "launch/fusion_runs.h"
#include "launch/fusion_segments.h"

namespace assay {
namespace {

constexpr std::array<std::pair<SegmentRule, std::string_view>, 4> kSegmentRules = {{
    {SegmentRule::kNone, "none"},
    {SegmentRule::kSync, "sync"},
    {SegmentRule::kRootOp, "rootop"},
    {SegmentRule::kIteration, "iteration"},
}};

Status check_options(const FusionOptions& options) {
  if (options.lengths.empty()) {
    return Error{ErrorCode::kInvalidArgument, "no chain lengths given; try 2,4,8,16", {}};
  }
  for (uint32_t length : options.lengths) {
    if (length >= 2) continue;
    return Error{
        ErrorCode::kInvalidArgument,
        "a chain has at least 2 kernels, so length " + std::to_string(length) + " makes no sense",
        {}};
  }
  if (!(options.threshold > 0 && options.threshold <= 1)) {
    return Error{ErrorCode::kInvalidArgument,
                 "the proximity threshold must be above 0 and at most 1 (1 = always together)",
                 {}};
  }
  return Ok{};
}

std::vector<uint32_t> ascending_lengths(std::vector<uint32_t> lengths) {
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

CandidateChain name_candidate(const Trace& trace, const KernelSegments& segments,
                              const WindowGroup& group, uint32_t length) {
  CandidateChain candidate;
  candidate.count = group.count;
  candidate.proximity = group.proximity;
  candidate.first_position = group.position;
  for (uint32_t i = 0; i < length; ++i) {
    const ActivityId kernel = segments.kernels[group.position + i];
    candidate.kernels.emplace_back(trace.text(trace.activities.name[kernel.index()]));
  }
  return candidate;
}

ChainRow mine_length(const Trace& trace, const KernelSegments& segments, const ChainIndex& index,
                     uint32_t length, const FusionOptions& options) {
  const LengthStats stats = count_windows(index, length, options.threshold, options.max_candidates);
  ChainRow row;
  row.length = length;
  row.unique = stats.unique;
  row.total = stats.total;
  row.candidates = stats.candidates;
  row.c_fused = count_fused(index, length, 1);
  row.c_fused_min2 = count_fused(index, length, 2);
  row.k_eager = index.ids.size();
  row.k_fused = fused_launches(row.k_eager, row.c_fused, length);
  row.k_fused_min2 = fused_launches(row.k_eager, row.c_fused_min2, length);
  row.speedup = fusion_speedup(row.k_eager, row.k_fused);
  row.speedup_min2 = fusion_speedup(row.k_eager, row.k_fused_min2);
  for (const WindowGroup& group : stats.top) {
    row.top_candidates.push_back(name_candidate(trace, segments, group, length));
  }
  return row;
}

FusionPlan sum_up(const std::vector<PlannedChain>& chains, uint64_t k_eager) {
  FusionPlan plan;
  plan.chains = chains.size();
  for (const PlannedChain& chain : chains) plan.launches_saved += chain.length - 1;
  plan.k_fused = k_eager - plan.launches_saved;
  plan.speedup = fusion_speedup(k_eager, plan.k_fused);
  return plan;
}

int64_t graph_kernel_time(const Trace& trace, const Links& links) {
  int64_t time_ns = 0;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    if (is_graph_kernel(trace, links, ActivityId(a))) time_ns += trace.activities.dur_ns[a];
  }
  return time_ns;
}

TrustNotes fusion_trust(const Trace& trace, const Links& links, const FusionReport& report) {
  TrustNotes notes;
  if (report.graph_kernels > 0) {
    notes.push_back({"graph_kernels", report.graph_kernels, graph_kernel_time(trace, links),
                     "k_eager,chains",
                     "kernels replayed by a graph: one launch for many already, left out of every "
                     "chain"});
  }
  if (report.unlinked_kernels > 0) {
    notes.push_back({"unlinked_kernels", report.unlinked_kernels, links.stats.kernels_unlinked_ns,
                     "k_eager,chains",
                     "kernels without a launch call: their place in the launch order is unknown, "
                     "left out of every chain"});
  }
  if (report.outside_kernels > 0) {
    notes.push_back({"outside_kernels", report.outside_kernels, 0, "k_eager,chains",
                     "kernels launched outside every iteration, left out as asked"});
  }
  if (report.device_order && report.k_eager > 0) {
    notes.push_back({"device_order", report.k_eager, 0, "chains",
                     "no kernel has a launch call: chains follow the order on the device, and "
                     "where the host waited is unknown"});
  }
  return notes;
}

}  // namespace

std::string_view segment_rule_name(SegmentRule rule) {
  for (const auto& [known, name] : kSegmentRules) {
    if (known == rule) return name;
  }
  return "";
}

std::optional<SegmentRule> parse_segment_rule(std::string_view name) {
  for (const auto& [rule, known] : kSegmentRules) {
    if (known == name) return rule;
  }
  return std::nullopt;
}

Result<FusionReport> analyze_fusion(const Trace& trace, const Links& links, const Windows& windows,
                                    const FusionOptions& options) {
  ASSAY_TRY(check_options(options));
  const std::vector<int64_t> raw = raw_launch_times(trace, links);
  const std::vector<OpId> roots = root_ops(trace, links);
  const KernelSegments segments =
      cut_segments(trace, links, windows, roots, options.segment, options.identity);
  const ChainIndex index = index_chains(segments.sequences);

  FusionReport report;
  ASSAY_TRY_ASSIGN(report.floor, floor_or_found(options.floor, trace, links));
  report.segment = options.segment;
  report.identity = options.identity;
  report.threshold = options.threshold;
  report.segments = segments.sequences.segments();
  for (uint32_t remaining : index.remaining) {
    report.longest_segment = std::max<uint64_t>(report.longest_segment, remaining);
  }
  report.distinct_kernels = segments.sequences.distinct;
  report.k_eager = segments.sequences.ids.size();
  report.device_order = segments.device_order;
  report.graph_kernels = segments.graph_kernels;
  report.unlinked_kernels = segments.unlinked_kernels;
  report.outside_kernels = segments.outside_kernels;

  for (uint32_t length : ascending_lengths(options.lengths)) {
    report.chains.push_back(mine_length(trace, segments, index, length, options));
  }
  report.plan = sum_up(best_plan(index, 1), report.k_eager);
  report.plan_min = sum_up(best_plan(index, options.min_count), report.k_eager);
  const auto names = given_or_built_in(options.kernels, trace.strings, trace.activities.name);
  const std::vector<PlannedChain> runs =
      fusible_runs(trace, links, *names, segments, options.min_count);
  for (const PlannedChain& chain : runs) {
    const auto first = segments.kernels.begin() + chain.position;
    report.planned_kernels.emplace_back(first, first + chain.length);
  }
  report.min_count = options.min_count;
  Recommendations recommended =
      recommend(trace, links, *names, raw, roots, segments, runs, report.floor, options.max_chains);
  report.recommended_total = recommended.distinct;
  report.recommended = std::move(recommended.chains);
  report.trust = fusion_trust(trace, links, report);
  return report;
}

}  // namespace assay
