#pragma once

// The diagnosis of a job of several ranks as data: who the ranks wait for, what it costs, and why.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/finding.h"

namespace assay::findings {

// Ranks by their labels: numbers, or names of files.
struct JobRanks {
  std::vector<std::string> labels = {};
  std::string set = {};     // "node n1" if they are one
  std::string device = {};  // "A100 among H100" if their GPU differs from the others'
};

// A cause that the solver found (job/solve.h).
struct JobCause {
  enum class Kind : uint8_t { kLate, kSlowLink, kAllStop } kind = Kind::kLate;
  JobRanks ranks = {};     // for links, the ranks that they connect
  double factor = 1;       // of a link: transfers over those of like links
  int32_t iteration = 0;   // of a stop
  int64_t longest_ns = 0;  // of a stop
};

// A rank's host that the other hosts wait for.
struct JobHosts {
  std::string rank = {};
  bool in_turn = false;  // now for this rank, now for that one
  std::vector<std::string> waiting = {};
  bool all = false;  // all other ranks wait
  uint64_t times = 0;
  int64_t wait_ns = 0;
  std::string call = {};
  std::string held = {};
  bool on_device = false;  // that rank's GPU computes meanwhile
};

// The iterations with most of the stragglers' excess, as names; all empty = spread over all.
struct JobWhen {
  std::string from = {};
  std::string until = {};
  std::string only = {};
  std::string first = {};  // of a few
  uint64_t some = 0;
  uint64_t iterations = 0;
};

// Stragglers with one reason of their own.
struct JobReason {
  std::vector<std::string> ranks = {};
  bool host = false;
  bool alike = false;     // all kernels are slower by about the same factor
  std::string name = {};  // with most of the excess; empty if none has much of it
};

// Why the stragglers are late.
struct JobWhy {
  enum class Kind : uint8_t { kMoreWork, kKernels, kHostSlower, kHostStalls } kind = Kind::kKernels;
  std::vector<std::string> ranks = {};
  JobWhen when = {};
  bool alike = false;     // everything is slower by about the same factor
  double factor = 0;      // that factor, if it is the same for all of these ranks
  std::string name = {};  // with most of the excess
  uint64_t stalls = 0;
  int64_t stalls_ns = 0;  // summed over the ranks
};

struct JobTransfers {
  std::string collective = {};
  uint64_t count = 0;
  uint64_t slow = 0;  // of a few that stall
  int64_t fast_ns = 0;
  int64_t slow_ns = 0;
  int64_t within_ns = 0;  // of a few that stall
  int64_t gain_ns = 0;
};

struct JobLast {
  JobRanks ranks = {};
  uint64_t times = 0;
  uint64_t collectives = 0;
  int64_t behind_ns = 0;
};

struct JobFacts {
  FindingWindow window = {};
  uint64_t ranks = 0;
  int64_t world_size = 0;                // as recorded; 0 = unknown
  std::vector<std::string> no_gpu = {};  // ranks without GPU activity
  std::vector<std::string> cut_short = {};
  int64_t cut_ns = 0;  // the shortest recorded part
  int64_t longest_ns = 0;
  std::optional<JobHosts> hosts = {};
  bool aligned = false;               // the ranks' clocks
  bool comparable = false;            // at least two ranks do the same work
  bool judged = false;                // the dependences are recorded
  std::vector<JobCause> causes = {};  // stragglers joined to one, first; then links and stops
  int64_t span_ns = 0;
  int64_t without_ns = 0;       // the run without the causes
  int64_t without_most_ns = 0;  // its upper end; equal if it is not a range
  bool decided = true;          // the odds against the next best story decide
  double odds = 0;
  std::vector<std::string> rival = {};
  bool rival_link = false;
  bool slow_network = false;  // the rank summaries show a slow link
  std::optional<JobWhy> why = {};
  std::vector<JobReason> reasons = {};  // if the stragglers have different ones
  int64_t common_gain_ns = 0;           // with all work at its median
  bool hosts_stall = false;             // stalls of all hosts have a large part of it
  std::string uneven = {};              // the work with most of it
  std::optional<JobLast> last = {};     // ranks that no other rank can be compared with
  bool unmatched_lead = false;          // much of the time is in collectives with missing ranks
  std::optional<JobTransfers> few_slow = {};
  std::optional<JobTransfers> varying = {};
};

// In the order of the screen.
std::vector<Finding> job_findings(const JobFacts& facts);

}  // namespace assay::findings
