#include "breakdown/token_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace assay {
namespace {

using GroupName = std::tuple<std::string_view, std::string_view>;  // name, ranks

bool reduces(const CollectiveGroup& group) {
  return group.kind == "all_reduce" || group.kind == "reduce_scatter";
}

bool in_forward(LevelPhase phase) {
  return phase != LevelPhase::kBackward && phase != LevelPhase::kRecompute &&
         phase != LevelPhase::kOptimizer;
}

// The process groups in which a rank reduces at least once per layer.
std::set<GroupName> reducing_groups(const BreakdownReport& report) {
  std::map<GroupName, std::map<int32_t, uint64_t>> per_iteration;
  for (const CollectiveEvent& event : report.collectives) {
    const CollectiveGroup& group = report.groups[event.group];
    if (reduces(group) && in_forward(event.phase))
      ++per_iteration[{group.name, group.ranks}][event.iter];
  }
  const uint64_t least = std::max(
      kLeastReductions, static_cast<uint64_t>(std::max<int64_t>(report.placement.layers, 0)));
  std::set<GroupName> groups;
  for (const auto& [name, counts] : per_iteration) {
    std::vector<uint64_t> sorted;
    for (const auto& [iter, count] : counts) sorted.push_back(count);
    std::sort(sorted.begin(), sorted.end());
    if (sorted[sorted.size() / 2] >= least) groups.insert(name);
  }
  return groups;
}

std::map<int32_t, int64_t> tokens_of(const BreakdownReport& report) {
  std::map<int32_t, int64_t> tokens;
  for (const LevelSpan& span : report.spans) {
    if (span.iter != kNoIteration && span.tokens) tokens[span.iter] = *span.tokens;
  }
  return tokens;
}

bool differ(const std::map<int32_t, int64_t>& a, const std::map<int32_t, int64_t>& b) {
  return std::any_of(a.begin(), a.end(), [&b](const auto& entry) {
    const auto other = b.find(entry.first);
    return other != b.end() && other->second != entry.second;
  });
}

bool share_any(const std::set<GroupName>& a, const std::set<GroupName>& b) {
  return std::any_of(a.begin(), a.end(), [&b](const GroupName& name) { return b.count(name) > 0; });
}

}  // namespace

std::vector<size_t> token_groups(const std::vector<RankLevels>& ranks) {
  std::vector<std::set<GroupName>> groups;
  std::vector<std::map<int32_t, int64_t>> tokens;
  for (const RankLevels& rank : ranks) {
    groups.push_back(reducing_groups(rank.report));
    tokens.push_back(tokens_of(rank.report));
  }
  std::vector<size_t> first(ranks.size());
  for (size_t r = 0; r < ranks.size(); ++r) {
    first[r] = r;
    for (size_t other = 0; other < r && first[r] == r; ++other) {
      if (share_any(groups[r], groups[other]) && !differ(tokens[r], tokens[other]))
        first[r] = first[other];
    }
  }
  return first;
}

std::vector<JobIteration> job_iterations(const std::vector<LevelSpan>& spans,
                                         const std::vector<JobGpu>& gpus) {
  std::map<int64_t, int64_t> group_of;
  for (const JobGpu& gpu : gpus) group_of[gpu.gpu] = gpu.token_group;
  struct Found {
    JobIteration sum;
    std::map<int64_t, std::optional<int64_t>> tokens;  // by token group: from any of its GPUs
  };
  std::map<int32_t, Found> found;
  for (const LevelSpan& span : spans) {
    if (span.iter == kNoIteration) continue;
    Found& one = found[span.iter];
    one.sum.iter = span.iter;
    one.sum.longest_span_ns = std::max(one.sum.longest_span_ns, span.span_ns);
    std::optional<int64_t>& tokens = one.tokens[group_of[span.gpu]];
    if (span.tokens) tokens = std::max(tokens.value_or(0), *span.tokens);
  }
  std::vector<JobIteration> iterations;
  for (auto& [iter, one] : found) {
    int64_t total = 0;
    bool all = true;
    for (const auto& [group, tokens] : one.tokens) {
      all = all && tokens.has_value();
      total += tokens.value_or(0);
    }
    if (all) one.sum.tokens = total;
    if (all && one.sum.longest_span_ns > 0) {
      one.sum.tokens_per_s =
          static_cast<double>(total) * 1e9 / static_cast<double>(one.sum.longest_span_ns);
    }
    iterations.push_back(one.sum);
  }
  return iterations;
}

}  // namespace assay
