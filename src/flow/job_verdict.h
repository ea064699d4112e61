#pragma once

// What the time of a job is lost to, over all its ranks: communication is cut into waiting for the
// last rank and transfer, where the ranks match.

#include <cstdint>
#include <vector>

#include "flow/job.h"
#include "flow/verdict.h"

namespace assay {

// What became of the time in which only communication ran.
struct CommSplit {
  int64_t wait_ns = 0;      // before the last rank came
  int64_t transfer_ns = 0;  // all had come
  int64_t unsplit_ns = 0;   // not matched over ranks, or ranks are missing: never called waiting
};
// Per rank of the job and device of the rank, by the rank's clock: when it was in a collective or
// transfer, and another rank had not come yet; merged. Empty where the clocks could not be aligned.
std::vector<std::vector<std::vector<Interval>>> waiting_in(const Job& job);
// Per rank of the job. Nothing is split where the clocks could not be aligned.
std::vector<CommSplit> split_communication(const Job& job);

// Places of the traces that are ranks. One without device work that states no rank is a process
// that helps them (a server's front end, a data loader), where any of the others has such work.
std::vector<size_t> ranks_among(const std::vector<const RankGraph*>& traces,
                                const std::vector<FlowTotals>& totals);

struct JobTotals {
  FlowTotals sum;  // over all devices of all ranks
  CommSplit comm;  // of sum.collective_ns
};
JobTotals job_totals(const std::vector<FlowTotals>& ranks, const std::vector<CommSplit>& comm);

// As of one rank, but transfer is work of the devices. Time in communication that is not split
// counts as kCollectiveWait, as of one rank. ranks: what bounds each by itself, where that is
// known: host time that on every rank only follows waiting for its device is lost by waiting.
BoundBy bound_of_job(const JobTotals& job, const std::vector<BoundBy>& ranks = {},
                     const FlowVerdictOptions& options = {});

}  // namespace assay
