#pragma once

// Joint results of a job's ranks: its lost time by cause, and the ranks that the others wait for.

#include <cstdint>
#include <string>
#include <vector>

#include "flow/blame.h"
#include "flow/host_peers.h"
#include "flow/job_verdict.h"
#include "flow/last_ranks.h"
#include "job/judge.h"
#include "report/document/document.h"
#include "report/document/short_answer.h"

namespace assay {

// Retained data of one rank.
struct RankFlow {
  FlowTotals total;
  BoundBy bound = BoundBy::kNoGpu;
  RankGraph graph;
  std::vector<HostSpell> spells = {};
  std::optional<RankRecord> record = {};  // what the answer for the job rests on
};

// report: made with FlowOptions::rank_graph, which it gives up.
RankFlow make_rank_flow(const Trace& trace, FlowReport& report, BoundBy bound);

// Places of the traces that are ranks (flow/job_verdict.h).
std::vector<size_t> ranks_among(const std::vector<RankFlow>& flows);
// Files that are not ranks, as a sentence; empty if all are.
std::string helpers_sentence(const std::vector<std::string>& files);

struct JobFlow {
  explicit JobFlow(std::vector<RankFlow> flows);
  // Places in job.ranks() of ranks of `judged`, ascending.
  std::vector<uint32_t> places(const std::vector<uint32_t>& ranks) const;

  Job job;
  std::vector<FlowTotals> rank_totals;  // in the order of job.ranks()
  std::vector<CommSplit> rank_comm;
  JobTotals totals;
  BoundBy bound = BoundBy::kNoGpu;
  std::optional<JudgedJob> judged;   // none without recorded dependences
  std::vector<uint32_t> place;       // per rank of `judged`: its place in job.ranks()
  JobBlame blame;
  LastRanks last;                  // if no rank is late
  std::optional<HostsWait> hosts;  // if that costs more than stragglers

 private:
  void judge(std::vector<RankFlow>& flows);
  BlameVerdict verdict() const;
};

// The stragglers and their reasons, or that there are none, or why they are unknown; then the time
// of all ranks by cause. Nothing where no rank had device work.
std::vector<std::string> job_flow_words(const JobFlow& flow);
// First partially recorded ranks, then stragglers and their cost, or that there are none; nothing
// if unknown.
std::vector<std::string> late_rank_words(const JobFlow& flow);
// Actions on the job: stragglers at their peers' pace, all ranks at the median pace, links as fast
// as others, and transfers that take no time. Only those that save 1 % of the run or more.
std::vector<AnswerLever> blame_levers(const JobFlow& flow);
// The same in sentences, with their reference and the difference to single-rank actions. Nothing
// where ranks could not be compared.
std::vector<std::string> blame_lever_words(const JobFlow& flow);
// The slow link that the answer names, and the transfers that stall now and then; null = none.
const LinkClass* worst_link(const JobBlame& blame);
const LinkClass* worst_slow_meetings(const JobBlame& blame);
// The transfers that vary most; null = none.
const LinkClass* worst_varying(const JobBlame& blame);
// The device of these ranks among the others', as "A100 among H100"; empty where it is none of its
// own.
std::string device_apart(const Job& job, const std::vector<uint32_t>& ranks);
// Top level "cause", "device_idle_share", "causes" and "blame".
std::vector<Section> job_flow_sections(const JobFlow& flow);

}  // namespace assay
