#include "report/flow/job.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/numbers.h"
#include "flow/contributor_names.h"
#include "report/breakdown/results.h"
#include "report/flow/job_facts.h"
#include "report/flow/rank_labels.h"
#include "report/flow/results.h"
#include "report/flow/section.h"
#include "text/message.h"
#include "text/names.h"
#include "text/plain_text.h"
#include "text/units.h"

namespace assay {
namespace {

constexpr size_t kSetsListed = 16;

std::vector<RankGraph> graphs_of(std::vector<RankFlow>& flows) {
  std::vector<RankGraph> graphs;
  for (RankFlow& flow : flows) graphs.push_back(std::move(flow.graph));
  return graphs;
}

std::vector<FlowTotals> totals_of(const std::vector<RankFlow>& flows) {
  std::vector<FlowTotals> totals;
  for (const RankFlow& flow : flows) totals.push_back(flow.total);
  return totals;
}

// The devices' time over all ranks, by state.
std::string time_of_ranks(const JobFlow& flow) {
  const FlowTotals& total = flow.totals.sum;
  const CommSplit& comm = flow.totals.comm;
  const auto of = [&](int64_t ns) { return format_share(share(ns, total.window_ns)); };
  std::string text = "Over " + format_counted(flow.rank_totals.size(), "rank", "ranks") +
                     " the devices compute for " + of(total.compute_ns);
  if (comm.wait_ns + comm.transfer_ns > 0) {
    text += ", wait in collectives for the last rank for " + of(comm.wait_ns) +
            ", transfer with nothing else running for " + of(comm.transfer_ns);
  }
  if (comm.unsplit_ns > 0) {
    text += ", are in communication with unmatched ranks for " + of(comm.unsplit_ns);
  }
  return text + ", and are idle for " + of(total.idle_ns) + ".";
}

std::string cause_of(const WorkName& what) {
  if (what.host) return std::string(flow_cause_name(what.cause));
  return what.kind == WorkKind::kCompute ? "compute" : "copy";
}

// The component with most of a set's gain. Known for the headline's set only.
std::string cause_of_set(const JobBlame& blame, const BlameSet& set) {
  if (!blame.late || set.ranks != blame.late->ranks || blame.parts.empty()) return "";
  const auto most = std::max_element(
      blame.parts.begin(), blame.parts.end(),
      [](const BlamePart& a, const BlamePart& b) { return a.excess_ns < b.excess_ns; });
  return cause_of(most->what);
}

Table sets_table(const JobFlow& flow, const std::vector<BlameSet>& sets) {
  const RankLabels labels(flow.job);
  TableOf table(sets, {.key = "sets",
                       .title = "Time saved if these ranks ran at the pace of their peers",
                       .terminal_limit = kSetsListed});
  table
      .add(
          keys::ranks, [&](const BlameSet& set) { return Value(labels.labels(set.ranks)); },
          elastic())
      .add(keys::name, &BlameSet::name,
           shown_if(std::any_of(sets.begin(), sets.end(),
                                [](const BlameSet& set) { return !set.name.empty(); })))
      .add(keys::gain_ns, &BlameSet::gain_ns)
      .add(keys::run_share,
           [&](const BlameSet& set) {
             const bool saves = set.gain_ns >= 0;
             return saves ? Value(share(set.gain_ns, flow.blame.makespan_ns)) : Value();
           })
      .add(keys::cause, [&](const BlameSet& set) { return cause_of_set(flow.blame, set); });
  return table;
}

Table parts_table(const JobBlame& blame) {
  TableOf table(blame.parts, {.key = "parts", .title = "Excess time on the stragglers"});
  table.add(keys::cause, [](const BlamePart& part) { return cause_of(part.what); })
      .add(
          keys::name, [](const BlamePart& part) { return part.what.name; }, elastic())
      .add(keys::gain_ns, &BlamePart::gain_ns)
      .add(keys::excess_ns, &BlamePart::excess_ns)
      .add(keys::count, &BlamePart::works);
  return table;
}

struct RankRow {
  std::optional<int64_t> rank;
  uint32_t place = 0;
};

// Missing if ranks could not be compared.
template <typename T>
Value at(const std::vector<T>& values, uint32_t place) {
  return place < values.size() ? Value(values[place]) : Value();
}

Table ranks_table(const JobFlow& flow) {
  const RankLabels labels(flow.job);
  std::vector<RankRow> rows;
  for (uint32_t r = 0; r < flow.job.ranks().size(); ++r) rows.push_back({labels.number(r), r});
  std::sort(rows.begin(), rows.end(), [&labels](const RankRow& a, const RankRow& b) {
    return labels.before(a.place, b.place);
  });
  TableOf table(rows, {.key = "ranks", .title = "Rank by rank"});
  table.add(keys::rank, &RankRow::rank)
      .add(keys::excess_ns, [&](const RankRow& row) { return at(flow.blame.excess_ns, row.place); })
      .add(keys::peers, [&](const RankRow& row) { return at(flow.blame.peers, row.place); })
      .add(keys::compute_ns,
           [&](const RankRow& row) { return flow.rank_totals[row.place].compute_ns; })
      .add(keys::comm_wait_ns,
           [&](const RankRow& row) { return flow.rank_comm[row.place].wait_ns; })
      .add(keys::transfer_ns,
           [&](const RankRow& row) { return flow.rank_comm[row.place].transfer_ns; })
      .add(keys::unmatched_comm_ns,
           [&](const RankRow& row) { return flow.rank_comm[row.place].unsplit_ns; })
      .add(keys::idle_ns, [&](const RankRow& row) { return flow.rank_totals[row.place].idle_ns; });
  return table;
}

Table links_table(const JobFlow& flow) {
  const auto& groups = flow.job.groups();
  const std::vector<LinkClass>& links = flow.blame.links;
  TableOf table(links, {.key = "links", .title = "Transfers by process group and size"});
  table.add(keys::process_group, [&](const LinkClass& link) { return groups[link.group].name; })
      .add(keys::collective, [&](const LinkClass& link) { return groups[link.group].kind; })
      .add(keys::members, &LinkClass::members)
      .add(keys::meetings, &LinkClass::meetings)
      .add(keys::bytes,
           [](const LinkClass& link) { return link.bytes >= 0 ? Value(link.bytes) : Value(); })
      .add(keys::transfer_ns, &LinkClass::transfer_ns)
      .add(keys::bus_bytes_per_s,
           [&](const LinkClass& link) { return finite_value(link.bus_bytes_per_s); })
      .add(
          keys::peers_transfer_ns,
          [](const LinkClass& link) { return link.peers_ns >= 0 ? Value(link.peers_ns) : Value(); },
          Show::kDataOnly)
      .add(keys::gain_ns, &LinkClass::gain_ns, Show::kDataOnly);
  return table;
}

Facts blame_facts(const JobBlame& blame, const Job& job) {
  return {.items = {fact(keys::makespan_ns, blame.makespan_ns),
                    fact(keys::jitter_gain_ns, blame.common_gain_ns),
                    data_fact(keys::transfer_gain_ns, blame.transfer_gain_ns),
                    data_fact(keys::host_gain_ns, blame.host_gain_ns),
                    data_fact(keys::device_gain_ns, blame.device_gain_ns),
                    data_fact(keys::pauses, blame.pauses.count),
                    data_fact(keys::stalls_ns, blame.pauses.sum_ns),
                    data_fact(keys::other_stalls, blame.other_pauses.count),
                    data_fact(keys::other_stalls_ns, blame.other_pauses.sum_ns),
                    data_fact(keys::replay_mismatches, blame.identity_errors),
                    data_fact(keys::contradicting, job.cut())}};
}

}  // namespace

RankFlow make_rank_flow(const Trace& trace, FlowReport& report, BoundBy bound) {
  return {report.total, bound, *std::move(report.rank_graph), host_spells(trace, report)};
}

JobFlow::JobFlow(std::vector<RankFlow> flows)
    : job(graphs_of(flows)), rank_totals(totals_of(flows)) {
  rank_comm = split_communication(job);
  totals = job_totals(rank_totals, rank_comm);
  std::vector<BoundBy> own;
  for (const RankFlow& flow : flows) own.push_back(flow.bound);
  bound = bound_of_job(totals, own);
  std::vector<std::vector<HostSpell>> spells;
  for (RankFlow& flow : flows) spells.push_back(std::move(flow.spells));
  hosts = hosts_waiting(job, spells);
  // If the hosts wait for a rank of the job, they do not wait for external work.
  if (hosts && bound == BoundBy::kNotLoaded) bound = BoundBy::kHost;
  if (!job.aligned()) return;
  judge(flows);
  blame = find_blame(job, verdict());
  if (judged) blame.identity_errors += judged->found.solution.identity_errors;
  if (!blame.late) last = usually_last(job);
  if (hosts && blame.late && blame.late->gain_ns >= hosts->wait_ns) hosts.reset();
}

void JobFlow::judge(std::vector<RankFlow>& flows) {
  std::vector<RankRecord> records;
  for (RankFlow& flow : flows) {
    if (!flow.record) return;
    records.push_back(*std::move(flow.record));
  }
  auto made = judge_records(records);
  if (!made || made->found.span_ns() == 0) return;
  for (const FleetRank& rank : made->job.ranks) {
    uint32_t at = 0;
    while (at < job.ranks().size() && job.ranks()[at].file != rank.path) ++at;
    if (at == job.ranks().size()) return;
    place.push_back(at);
  }
  judged = *std::move(made);
}

std::vector<uint32_t> JobFlow::places(const std::vector<uint32_t>& ranks) const {
  std::vector<uint32_t> at;
  for (const uint32_t r : ranks) at.push_back(place[r]);
  std::sort(at.begin(), at.end());
  return at;
}

BlameVerdict JobFlow::verdict() const {
  if (!judged) return {};
  const JobSolution& solution = judged->found.solution;
  BlameVerdict told{.late = {},
                    .gain_ns = solution.saved_ns,
                    .common_gain_ns = solution.span_ns - solution.usual_span_ns};
  for (const StoryFinding& one : solution.findings) {
    if (one.kind == StoryKind::kLink) told.slow_link = std::max(told.slow_link, one.factor);
    if (one.kind == StoryKind::kLink || one.kind == StoryKind::kAll) continue;
    const std::vector<uint32_t> at = places(one.ranks);
    told.late.insert(told.late.end(), at.begin(), at.end());
  }
  std::sort(told.late.begin(), told.late.end());
  told.late.erase(std::unique(told.late.begin(), told.late.end()), told.late.end());
  return told;
}

std::vector<size_t> ranks_among(const std::vector<RankFlow>& flows) {
  std::vector<const RankGraph*> graphs;
  for (const RankFlow& flow : flows) graphs.push_back(&flow.graph);
  return ranks_among(graphs, totals_of(flows));
}

std::string helpers_sentence(const std::vector<std::string>& files) {
  constexpr size_t kMostNamed = 4;
  if (files.empty()) return "";
  std::string names;
  for (size_t i = 0; i < std::min(files.size(), kMostNamed); ++i) {
    names += (i == 0 ? "" : ", ") + clean_text(file_name(files[i]));
  }
  if (files.size() > kMostNamed) {
    names += " and " + std::to_string(files.size() - kMostNamed) + " more";
  }
  return names + (files.size() == 1
                      ? " has no GPU work and states no rank: it does not count as a rank."
                      : " have no GPU work and state no rank: they do not count as ranks.");
}

int64_t world_size(const Job& job) {
  int64_t size = 0;
  for (const RankGraph& rank : job.ranks()) size = std::max(size, rank.world_size.value_or(0));
  return size;
}

std::vector<findings::Finding> findings_of(const JobFlow& flow) {
  if (flow.bound == BoundBy::kNoGpu) return {};
  return findings::job_findings(job_facts(flow));
}

std::vector<std::string> job_flow_words(const JobFlow& flow) {
  if (flow.bound == BoundBy::kNoGpu) return {};
  std::vector<std::string> words = text::texts_of(findings_of(flow));
  words.push_back(time_of_ranks(flow));
  return words;
}

std::vector<Section> job_flow_sections(const JobFlow& flow) {
  Section where{.key = "",
                .title = "Time of all ranks by cause",
                .blocks = {answer_facts(flow.bound,
                                        share(flow.totals.sum.idle_ns, flow.totals.sum.window_ns)),
                           causes_table(flow.totals.sum, flow.totals.comm)}};
  std::vector<BlameSet> sets;
  if (flow.blame.late) sets.push_back(*flow.blame.late);
  for (const BlameSet& set : flow.blame.sets) {
    if (flow.blame.late && set.ranks == flow.blame.late->ranks) continue;
    sets.push_back(set);
  }
  Section blame{.key = "blame", .title = "Which ranks the others wait for"};
  if (flow.job.aligned()) {
    blame.blocks.push_back(blame_facts(flow.blame, flow.job));
    blame.blocks.push_back(sets_table(flow, sets));
  }
  if (!flow.blame.parts.empty()) blame.blocks.push_back(parts_table(flow.blame));
  blame.blocks.push_back(ranks_table(flow));
  if (!flow.blame.links.empty()) blame.blocks.push_back(links_table(flow));
  return {std::move(where), std::move(blame)};
}

}  // namespace assay
