#pragma once

// The bottleneck of a job over all its ranks. Communication is split into waiting for the last rank
// and transfer, if ranks are matched.

#include <cstdint>
#include <vector>

#include "flow/job.h"
#include "flow/verdict.h"

namespace assay {

// Split of the time in which only communication ran.
struct CommSplit {
  int64_t wait_ns = 0;      // before the last arrival
  int64_t transfer_ns = 0;  // after the last arrival
  // Not matched across ranks, or ranks are missing; never counted as waiting.
  int64_t unsplit_ns = 0;
};
// Per rank and device, by the rank's clock: merged intervals in which it was in a collective or
// transfer and another rank had not arrived. Empty if the clocks could not be aligned.
std::vector<std::vector<std::vector<Interval>>> waiting_in(const Job& job);
// Per rank of the job. All time is unsplit_ns if the clocks could not be aligned.
std::vector<CommSplit> split_communication(const Job& job);

// Indices of the traces that are ranks, ascending. A trace without device work and without a rank
// number is a helper process (a server's front end, a data loader) if any other trace has device
// work.
std::vector<size_t> ranks_among(const std::vector<const RankGraph*>& traces,
                                const std::vector<FlowTotals>& totals);

struct JobTotals {
  FlowTotals sum;  // over all devices of all ranks
  CommSplit comm;  // of sum.collective_ns
};
JobTotals job_totals(const std::vector<FlowTotals>& ranks, const std::vector<CommSplit>& comm);

// As for one rank, but transfer is device work. Unsplit communication counts as kCollectiveWait.
// ranks: each rank's own bottleneck, if known: if it is kSync on every rank, host time that leads
// is kSync.
BoundBy bound_of_job(const JobTotals& job, const std::vector<BoundBy>& ranks = {},
                     const FlowVerdictOptions& options = {});

}  // namespace assay
