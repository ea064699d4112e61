#pragma once

// Explains the stragglers that the job's solver found (job/solve.h): what the job would gain if
// their work items took the median over ranks that do the same work, and how other ranks and sets
// of ranks compare.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flow/job.h"
#include "flow/links.h"

namespace assay {

struct BlameSet {
  std::vector<uint32_t> ranks;  // indices into Job::ranks(), ascending
  std::string name;             // "node 1", a process group; empty = only these ranks
  int64_t gain_ns = 0;          // makespan saved with their own work at their peers' median
};

// One name of own work in a set of ranks, edited alone.
struct BlamePart {
  WorkName what;
  int64_t gain_ns = 0;
  int64_t excess_ns = 0;  // time beyond the peers' medians, summed
  uint64_t works = 0;     // work items of this name in the set
  bool more = false;      // the set has far more such items than its peers
};

// Where most of one late rank's excess time is.
struct BlameReason {
  uint32_t rank = 0;
  int64_t host_ns = 0;  // excess over the peers' medians
  int64_t device_ns = 0;
  WorkName what;  // the largest excess on the larger side, host or device
  int64_t excess_ns = 0;
  // Sums of the peers' medians: for `what`, and for everything on that side.
  int64_t usual_ns = 0;
  int64_t side_usual_ns = 0;

  bool on_host() const { return host_ns >= device_ns; }
  int64_t side_ns() const { return on_host() ? host_ns : device_ns; }
  // True if the rest of that side is slower by nearly the same factor: `what` is merely the
  // longest.
  bool alike() const {
    const auto rest_ns = static_cast<double>(side_ns() - excess_ns);
    const auto rest_usual_ns = static_cast<double>(side_usual_ns - usual_ns);
    const double whole = rest_usual_ns * static_cast<double>(excess_ns);
    return rest_usual_ns > 0 && 2 * rest_ns * static_cast<double>(usual_ns) >= whole;
  }
  // True if `what` holds at least 60 % of that side's excess. False for a rank that is slower
  // throughout.
  bool in_one() const { return excess_ns * 5 >= 3 * side_ns() && !alike(); }
  // True if `what` holds a third or more, enough to name it.
  bool much_in_one() const { return excess_ns * 3 >= side_ns() && !alike(); }
};

// The numbered iterations that hold most of the late ranks' excess, if it is not spread over all.
struct BlameSpan {
  enum class Kind : uint8_t { kFew, kFrom, kUntil } kind = Kind::kFew;
  int32_t iteration = 0;  // the first of a few, the first of kFrom, the last of kUntil
  size_t count = 0;       // number of iterations in the span
  size_t of = 0;          // iterations in all
};

// Host stalls: work items that took at least kPauseNs longer than their peers' median.
struct HostPauses {
  uint64_t count = 0;
  int64_t sum_ns = 0;  // beyond the medians
  int64_t longest_ns = 0;
};

struct JobBlame {
  int64_t makespan_ns = 0;
  uint64_t identity_errors = 0;  // points that a replay without edits gets wrong; must be 0
  // Per rank: time saved if every work item took its peers' median, replayed without waits for
  // other ranks, minus the median of the same savings over its peers. Delays that hit every rank
  // occasionally make no rank late.
  std::vector<int64_t> excess_ns;
  std::vector<uint32_t> peers;       // per rank: number of other ranks that do the same work
  std::optional<BlameSet> late;      // the stragglers; none: nobody is late
  std::vector<BlameSet> sets;        // single ranks and named sets, largest gain first
  int64_t host_gain_ns = 0;          // of `late`: with host work alone at the peers' median
  int64_t device_gain_ns = 0;        // of `late`: with device work alone at the peers' median
  std::vector<BlamePart> parts;      // of `late`, largest gain first
  std::vector<BlameReason> reasons;  // of `late`, in the order of its ranks
  std::optional<BlameSpan> when;     // of the verdict
  HostPauses pauses;                 // of the verdict
  HostPauses other_pauses;           // of all other ranks; of all ranks if none is late
  int64_t common_gain_ns = 0;        // with all own work at the median of its peers
  std::optional<BlamePart> uneven;   // if none is late: the largest excess over these medians
  int64_t transfer_gain_ns = 0;      // with transfers that take no time after the last arrival
  std::vector<LinkClass> links;
  bool network = false;  // the rank summaries show a slow link
};

// The stragglers and their cost, from the rank summaries of the whole job.
struct BlameVerdict {
  std::vector<uint32_t> late;  // indices into Job::ranks(), ascending
  int64_t gain_ns = 0;         // of these
  double slow_link = 0;        // multiple of comparable transfers; 0 = no link is slow
  int64_t common_gain_ns = 0;  // with all work and all transfers at their typical time
};

struct BlameOptions {
  size_t alone = 64;       // most ranks tried alone
  size_t parts = 12;       // most names tried alone
  double slow_link = 1.5;  // multiple of its class median; unless BlameVerdict has one
};

// Makespan in ns saved with the set's own work at its peers' median. only: selects the edited work;
// empty: all of it.
int64_t blame_ns(const Job& job, const std::vector<uint32_t>& ranks,
                 const std::function<bool(const RankGraph&, const OwnWork&)>& only = {});

// told: the stragglers; they are taken as given.
JobBlame find_blame(const Job& job, const BlameVerdict& told, const BlameOptions& options = {});

}  // namespace assay
