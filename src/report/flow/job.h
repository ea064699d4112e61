#pragma once

// Joint results of a job's ranks: lost time by cause, and the stragglers.

#include <cstdint>
#include <string>
#include <vector>

#include "findings/finding.h"
#include "flow/blame.h"
#include "flow/host_peers.h"
#include "flow/job_verdict.h"
#include "flow/last_ranks.h"
#include "job/judge.h"
#include "report/document/document.h"
#include "report/document/short_answer.h"

namespace assay {

// Data of one rank that is kept for the job's analysis.
struct RankFlow {
  FlowTotals total;
  BoundBy bound = BoundBy::kNoGpu;
  RankGraph graph;
  std::vector<HostSpell> spells = {};
  std::optional<RankRecord> record = {};  // the basis of the job's answer
};

// `report` must be made with FlowOptions::rank_graph; its graph is moved out.
RankFlow make_rank_flow(const Trace& trace, FlowReport& report, BoundBy bound);

// Indices of the traces that are ranks (flow/job_verdict.h).
std::vector<size_t> ranks_among(const std::vector<RankFlow>& flows);
// Sentence that lists files that are not ranks; empty if all are.
std::string helpers_sentence(const std::vector<std::string>& files);

struct JobFlow {
  explicit JobFlow(std::vector<RankFlow> flows);
  // Converts ranks of `judged` to positions in job.ranks(), ascending.
  std::vector<uint32_t> places(const std::vector<uint32_t>& ranks) const;

  Job job;
  std::vector<FlowTotals> rank_totals;  // in the order of job.ranks()
  std::vector<CommSplit> rank_comm;
  JobTotals totals;
  BoundBy bound = BoundBy::kNoGpu;
  std::optional<JudgedJob> judged;   // nullopt without recorded dependencies
  std::vector<uint32_t> place;       // per rank of `judged`: its position in job.ranks()
  JobBlame blame;
  LastRanks last;                  // if no rank is late
  std::optional<HostsWait> hosts;  // set if host waits cost more than stragglers

 private:
  void judge(std::vector<RankFlow>& flows);
  BlameVerdict verdict() const;
};

// The diagnosis of the job, in the order of the screen. Empty if no rank had GPU activity.
std::vector<findings::Finding> findings_of(const JobFlow& flow);
// The same as sentences; then the time of all ranks by state.
std::vector<std::string> job_flow_words(const JobFlow& flow);
// The number of ranks as the traces state it; 0 if none does.
int64_t world_size(const Job& job);
// Actions on the job: stragglers at the pace of their peers, all ranks at the median pace, links as
// fast as other links, and free transfers. Only those that save at least 1 % of the run.
std::vector<AnswerLever> blame_levers(const JobFlow& flow);
// The same as sentences, with the reference and the difference to actions on single ranks. Empty if
// ranks could not be compared.
std::vector<std::string> blame_lever_words(const JobFlow& flow);
// The slowest link and the transfers with occasional stalls that the answer names; null = none.
const LinkClass* worst_link(const JobBlame& blame);
const LinkClass* worst_slow_meetings(const JobBlame& blame);
// The transfers that vary most; null = none.
const LinkClass* worst_varying(const JobBlame& blame);
// How the device of these ranks differs from the others': "A100 among H100". Empty if it does not.
std::string device_apart(const Job& job, const std::vector<uint32_t>& ranks);
// Top level "cause", "device_idle_share", "causes" and "blame".
std::vector<Section> job_flow_sections(const JobFlow& flow);

}  // namespace assay
