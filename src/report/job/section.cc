#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/numbers.h"
#include "base/random.h"
#include "report/document/columns.h"
#include "report/job/heat.h"
#include "report/job/job.h"
#include "report/job/results.h"
#include "report/job/rows.h"
#include "text/units.h"

namespace assay {
namespace {

constexpr size_t kWorstRanks = 200;
constexpr size_t kBestRanks = 5;
constexpr size_t kChanceRanks = 20;
constexpr size_t kUnusedListed = 200;
constexpr size_t kRanksOfRow = 64;

const char* source_word(SetSource source) {
  switch (source) {
    case SetSource::kFile:
      return "file";
    case SetSource::kRecords:
      return "records";
    case SetSource::kGuess:
      return "guess";
    case SetSource::kNone:
      return "none";
  }
  return "";
}

const char* kind_word(FindingKind kind) {
  switch (kind) {
    case FindingKind::kRank:
      return "rank";
    case FindingKind::kPauses:
      return "pauses";
    case FindingKind::kSet:
      return "set";
    case FindingKind::kAll:
      return "all";
    case FindingKind::kLinks:
      return "links";
  }
  return "";
}

bool pauses(const FleetFinding& one) {
  return one.hits > 0 && one.kind == FindingKind::kPauses;
}

Value told_ns(bool told, int64_t ns) { return told ? Value(ns) : Value(); }

Facts head_facts(const FleetView& view) {
  const FleetJob& job = view.job;
  const FleetFindings& found = view.found;
  const JobSolution& solved = found.solution;
  const double saved = share(solved.saved_ns, solved.span_ns);
  return Facts{
      .items = {fact(keys::job_ranks, job.world_size), fact(keys::ranks_read, job.ranks.size()),
                fact(keys::missing_ranks, job.absent_count),
                fact(keys::unused_records, job.unused.size() + view.unread.size()),
                fact(keys::iterations_read, job.columns.size()),
                fact(keys::iterations_compared, found.iterations),
                fact(keys::span_ns, solved.span_ns),
                fact(keys::saved_by_worst_ns, solved.saved_ns),
                fact(keys::saved_by_worst_share, saved),
                fact(keys::saved_at_least_ns, solved.least_saved_ns),
                fact(keys::saved_by_missing_ns, solved.absent_ns),
                fact(keys::saved_by_rest_ns, found.saved_by_rest_ns),
                fact(keys::gpu_hours_per_hour, saved * static_cast<double>(job.world_size)),
                fact(keys::nodes_from, source_word(view.sets.source))}};
}

// Rank numbers; only the first ones if there are many.
Value numbers_of(const FleetJob& job, const std::vector<uint32_t>& ranks) {
  Value::List list;
  for (size_t k = 0; k < std::min(ranks.size(), kRanksOfRow); ++k) {
    list.push_back(std::to_string(job.ranks[ranks[k]].number));
  }
  if (ranks.size() > kRanksOfRow) list.push_back(fmt::format("... {} in all", ranks.size()));
  return list;
}

Table worst_table(const FleetView& view) {
  const FleetJob& job = view.job;
  const FleetFindings& found = view.found;
  const auto iterations = static_cast<int64_t>(std::max<size_t>(found.iterations, 1));
  const bool any_links =
      std::any_of(found.worst.begin(), found.worst.end(),
                  [](const FleetFinding& one) { return one.link_excess_ns > 0; });
  TableOf table(found.worst, {.key = "worst", .title = "Worst first, each on top of all others"});
  table.add(keys::kind, [](const FleetFinding& one) { return kind_word(one.kind); })
      .add(keys::name, [&](const FleetFinding& one) { return fleet_finding_name(job, one); })
      .add(keys::set_kind, &FleetFinding::set_kind, Show::kDataOnly)
      .add(
          keys::ranks, [&](const FleetFinding& one) { return numbers_of(job, one.ranks); },
          Show::kDataOnly)
      .add(keys::saved_ns, &FleetFinding::saved_ns)
      .add(keys::saved_share,
           [&](const FleetFinding& one) { return share(one.saved_ns, found.span_ns()); })
      .add(keys::saved_per_iteration_ns,
           [&](const FleetFinding& one) { return one.saved_ns / iterations; })
      .add(keys::saved_alone_ns, &FleetFinding::saved_alone_ns)
      .add(keys::above_usual, [](const FleetFinding& one) { return finite_value(one.score); })
      .add(
          keys::peers,
          [](const FleetFinding& one) {
            return one.kind == FindingKind::kLinks ? Value() : Value(one.peers);
          },
          Show::kDataOnly)
      .add(keys::paused_iterations, &FleetFinding::hits, Show::kDataOnly)
      .add(
          keys::first_hit,
          [](const FleetFinding& one) { return pauses(one) ? Value(one.first_hit) : Value(); },
          Show::kDataOnly)
      .add(
          keys::last_hit,
          [](const FleetFinding& one) { return pauses(one) ? Value(one.last_hit) : Value(); },
          Show::kDataOnly)
      .add(keys::kernel_excess_ns, &FleetFinding::kernel_excess_ns)
      .add(keys::other_excess_ns, &FleetFinding::other_excess_ns)
      .add(keys::link_excess_ns, &FleetFinding::link_excess_ns, shown_if(any_links));
  if (found.worst.empty()) table.show = Show::kDataOnly;
  return table;
}

struct ListedRank {
  uint32_t rank = 0;
  const char* why = "";
};

// The ranks listed individually: enough to show how the worst ones differ.
std::vector<ListedRank> listed_ranks(const FleetView& view) {
  const std::vector<float>& scores = view.found.solution.scores;
  std::vector<uint32_t> order;
  for (uint32_t r = 0; r < scores.size(); ++r) {
    if (!std::isnan(scores[r])) order.push_back(r);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
  std::vector<ListedRank> listed;
  std::set<uint32_t> taken;
  const auto add = [&](uint32_t rank, const char* why) {
    if (taken.insert(rank).second) listed.push_back({rank, why});
  };
  for (size_t k = 0; k < std::min(order.size(), kWorstRanks); ++k) add(order[k], "worst");
  for (size_t k = 0; k < std::min(order.size(), kBestRanks); ++k) {
    add(order[order.size() - 1 - k], "best");
  }
  SplitMix64 random(1);
  for (size_t k = 0; k < kChanceRanks && !order.empty(); ++k) {
    add(order[static_cast<size_t>(random.below(static_cast<int64_t>(order.size())))], "chance");
  }
  return listed;
}

Table ranks_table(const FleetView& view) {
  const FleetJob& job = view.job;
  std::map<uint32_t, const std::string*> node_of;
  for (const FleetSet& set : view.sets.sets) {
    if (set.kind != "node") continue;
    for (const uint32_t r : set.ranks) node_of[r] = &set.name;
  }
  const std::vector<ListedRank> listed = listed_ranks(view);
  TableOf table(listed, {.key = "ranks", .title = "Ranks: worst, best, and some by chance"});
  table.add(keys::rank, [&](const ListedRank& one) { return job.ranks[one.rank].number; })
      .add(keys::listed_for, [](const ListedRank& one) { return one.why; })
      .add(keys::rank_node,
           [&](const ListedRank& one) {
             const auto node = node_of.find(one.rank);
             return node == node_of.end() ? Value() : Value(*node->second);
           })
      .add(keys::above_usual,
           [&](const ListedRank& one) {
             return finite_value(static_cast<double>(view.found.solution.scores[one.rank]));
           })
      .add(keys::peers, [&](const ListedRank& one) { return view.found.solution.peers[one.rank]; })
      .add(keys::rank_excess_ns,
           [&](const ListedRank& one) { return view.found.rank_excess_ns(one.rank); })
      .add(
          keys::rank_file, [&](const ListedRank& one) { return job.ranks[one.rank].path; },
          elastic());
  return table;
}

Table parts_table(const FleetJob& job) {
  const std::vector<AnswerCause> parts = fleet_parts(job);
  int64_t all_ns = 0;
  for (const AnswerCause& part : parts) all_ns += part.ns;
  TableOf table(parts, {.key = "parts", .title = "Time of all ranks by cause"});
  table.add(keys::cause, &AnswerCause::key)
      .add(keys::ns, &AnswerCause::ns)
      .add(keys::total_share, [&](const AnswerCause& part) { return share(part.ns, all_ns); });
  return table;
}

struct IterationRow {
  int32_t number = 0;
  Histogram spans;
  int64_t longest_ns = 0;
};

Table iterations_table(const FleetJob& job) {
  std::map<int32_t, IterationRow> by_number;
  for (const FleetRank& rank : job.ranks) {
    for (const RecordIteration& one : iterations_of(rank)) {
      IterationRow& row = by_number[one.number];
      row.number = one.number;
      row.spans.add(one.span_ns);
      row.longest_ns = std::max(row.longest_ns, one.span_ns);
    }
  }
  std::vector<IterationRow> rows;
  for (auto& [number, row] : by_number) rows.push_back(std::move(row));
  TableOf table(rows, {.key = "iterations", .title = "Iterations: the ranks' spans"});
  table.add(keys::iter, &IterationRow::number)
      .add(keys::ranks_in, [](const IterationRow& row) { return row.spans.count(); })
      .add(keys::p50_ns, [](const IterationRow& row) { return row.spans.quantile(0.5); })
      .add(keys::p95_ns, [](const IterationRow& row) { return row.spans.quantile(0.95); })
      .add(keys::worst_ns, &IterationRow::longest_ns);
  return table;
}

struct KindRow {
  std::string kind;
  int64_t size = -1;
  uint64_t groups = 0;
  Histogram transfers;
};

Table collectives_table(const FleetView& view) {
  std::map<KindAndSize, KindRow> by_kind;
  for (const FleetGroup& group : view.job.groups) ++by_kind[{group.key.kind, group.key.size}].groups;
  for (const auto& [key, transfers] : view.found.transfers) by_kind[key].transfers = transfers;
  std::vector<KindRow> rows;
  for (auto& [key, row] : by_kind) {
    std::tie(row.kind, row.size) = key;
    rows.push_back(std::move(row));
  }
  TableOf table(rows, {.key = "collectives", .title = "Collectives by kind and size of group"});
  table.add(keys::collective, &KindRow::kind)
      .add(keys::group_size,
           [](const KindRow& row) { return row.size < 0 ? Value() : Value(row.size); })
      .add(keys::group_count, &KindRow::groups)
      .add(keys::meetings, [](const KindRow& row) { return row.transfers.count(); })
      .add(keys::p50_transfer_ns,
           [](const KindRow& row) {
             return told_ns(row.transfers.count() > 0, row.transfers.quantile(0.5));
           })
      .add(keys::p95_transfer_ns, [](const KindRow& row) {
        return told_ns(row.transfers.count() > 0, row.transfers.quantile(0.95));
      });
  return table;
}

Table kernels_table(const FleetView& view) {
  TableOf table(view.kernels, {.key = "kernels", .title = "Kernels of all ranks"});
  table.add(keys::name, &FleetKernel::name, elastic())
      .add(keys::count, &FleetKernel::count)
      .add(keys::dur_ns, &FleetKernel::dur_ns)
      .add(keys::p50_ns, [](const FleetKernel& one) { return one.durations.quantile(0.5); })
      .add(keys::p95_ns, [](const FleetKernel& one) { return one.durations.quantile(0.95); });
  if (view.kernels.empty()) table.show = Show::kDataOnly;
  return table;
}

Facts clocks_facts(const FleetView& view) {
  const FleetClocks& clocks = view.found.clocks;
  double furthest = 0;
  for (const double drift : clocks.drifts) {
    if (std::abs(drift) > std::abs(furthest)) furthest = drift;
  }
  const bool any = clocks.aligned > 0;
  return Facts{
      .key = "clocks",
      .title = "Clocks",
      .items = {fact(keys::residual_p50_ns, told_ns(any, clocks.residual_p50_ns)),
                fact(keys::residual_p95_ns, told_ns(any, clocks.residual_p95_ns)),
                fact(keys::residual_max_ns, told_ns(any, clocks.residual_max_ns)),
                fact(keys::clock_components, clocks.component_count),
                fact(keys::fast_clocks, clocks.fast.size()),
                fact(keys::worst_drift_ppm, any ? finite_value(furthest * 1e6) : Value())}};
}

Facts matching_facts(const FleetView& view) {
  const FleetCounts& counts = view.job.counts;
  return Facts{
      .key = "matching",
      .title = "Basis of the numbers",
      .items = {fact(keys::matched, counts.matched), fact(keys::parts_unmatched, counts.unmatched),
                fact(keys::collectives_excluded, counts.contradicting),
                fact(keys::groups_ambiguous, counts.ambiguous_groups),
                fact(keys::parts_cut, counts.cut_arrivals),
                fact(keys::lossy_ranks, counts.lossy_ranks),
                fact(keys::too_few_peers, view.found.solution.uncompared),
                fact(keys::short_ranks, view.found.short_ranks.size()),
                fact(keys::beyond_world, view.job.beyond_world),
                fact(keys::ranks_without_node, view.sets.unplaced)}};
}

Table unused_table(const FleetView& view) {
  std::vector<FleetUnused> unused = view.unread;
  unused.insert(unused.end(), view.job.unused.begin(), view.job.unused.end());
  if (unused.size() > kUnusedListed) unused.resize(kUnusedListed);
  TableOf table(unused, {.key = "unused", .title = "Not used"});
  table.add(keys::what, &FleetUnused::what, elastic())
      .add(keys::why_unused, &FleetUnused::why, elastic());
  if (unused.empty()) table.show = Show::kDataOnly;
  return table;
}

}  // namespace

std::vector<Section> fleet_sections(const FleetView& view) {
  Section section{.key = "job", .title = "Job"};
  section.blocks.push_back(head_facts(view));
  section.blocks.push_back(worst_table(view));
  for (Block& block : heat_blocks(view)) section.blocks.push_back(std::move(block));
  section.blocks.push_back(parts_table(view.job));
  section.blocks.push_back(iterations_table(view.job));
  section.blocks.push_back(ranks_table(view));
  section.blocks.push_back(collectives_table(view));
  section.blocks.push_back(kernels_table(view));
  section.blocks.push_back(clocks_facts(view));
  section.blocks.push_back(matching_facts(view));
  section.blocks.push_back(unused_table(view));
  return {std::move(section)};
}

}  // namespace assay
