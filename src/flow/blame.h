#pragma once

// What makes ranks late that the job's solver names (job/solve.h): what the job would gain if
// pieces of their own work took as long as on the ranks that do the same, and how other ranks and
// sets compare.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flow/job.h"
#include "flow/links.h"

namespace assay {

struct BlameSet {
  std::vector<uint32_t> ranks;  // places in Job::ranks(), ascending
  std::string name;             // "node 1", a process group; empty = only these ranks
  int64_t gain_ns = 0;          // makespan - makespan with their own work at their peers' median
};

// What in a set is long: one name of own work, edited alone.
struct BlamePart {
  WorkName what;
  int64_t gain_ns = 0;
  int64_t excess_ns = 0;  // summed over the peers' medians
  uint64_t works = 0;     // pieces of own work of this name in the set
  bool more = false;      // the peers have far fewer pieces of it
};

// What most of one late rank's excess is.
struct BlameReason {
  uint32_t rank = 0;
  int64_t host_ns = 0;  // excess over the peers' medians
  int64_t device_ns = 0;
  WorkName what;  // the longest on the larger side
  int64_t excess_ns = 0;
  // What its peers' medians are together: of `what`, and of all on that side that has excess.
  int64_t usual_ns = 0;
  int64_t side_usual_ns = 0;

  bool on_host() const { return host_ns >= device_ns; }
  int64_t side_ns() const { return on_host() ? host_ns : device_ns; }
  // Whether what else is on that side takes longer by nearly the same factor: then `what` is merely
  // the longest.
  bool alike() const {
    const auto rest_ns = static_cast<double>(side_ns() - excess_ns);
    const auto rest_usual_ns = static_cast<double>(side_usual_ns - usual_ns);
    const double whole = rest_usual_ns * static_cast<double>(excess_ns);
    return rest_usual_ns > 0 && 2 * rest_ns * static_cast<double>(usual_ns) >= whole;
  }
  // Whether `what` is most of that side: of a rank that is slower in all it does nothing is.
  bool in_one() const { return excess_ns * 5 >= 3 * side_ns() && !alike(); }
  // Whether it is so much that naming it tells something.
  bool much_in_one() const { return excess_ns * 3 >= side_ns() && !alike(); }
};

// In which numbered iterations most of the late ranks' excess lies, where that is not all of them.
struct BlameSpan {
  enum class Kind : uint8_t { kFew, kFrom, kUntil } kind = Kind::kFew;
  int32_t iteration = 0;  // the first of a few, the first of kFrom, the last of kUntil
  size_t count = 0;       // of them
  size_t of = 0;          // iterations in all
};

// Pieces of host work that took at least kPauseNs longer than their peers' median.
struct HostPauses {
  uint64_t count = 0;
  int64_t sum_ns = 0;  // beyond the medians
  int64_t longest_ns = 0;
};

struct JobBlame {
  int64_t makespan_ns = 0;
  uint64_t identity_errors = 0;  // points that a replay without edits misses: 0
  // Per rank: time saved by its peers' median pace, piece by piece, without waits for other ranks,
  // beyond the median of what the same saves its peers. Delays that strike every rank now and then
  // make none of them late.
  std::vector<int64_t> excess_ns;
  std::vector<uint32_t> peers;       // per rank: number of other ranks that do the same work
  std::optional<BlameSet> late;      // the verdict; none: nobody
  std::vector<BlameSet> sets;        // single ranks and named sets, largest gain first
  int64_t host_gain_ns = 0;          // of the verdict: host work alone at the peers' median
  int64_t device_gain_ns = 0;        // the same of device work
  std::vector<BlamePart> parts;      // of the verdict, largest gain first
  std::vector<BlameReason> reasons;  // of the verdict, in the order of its ranks
  std::optional<BlameSpan> when;     // of the verdict
  HostPauses pauses;                 // of the verdict
  HostPauses other_pauses;           // of all other ranks; of all, where none is late
  int64_t common_gain_ns = 0;        // with all own work at the median of all that do the same
  std::optional<BlamePart> uneven;   // where none is late: what is longest beyond these medians
  int64_t transfer_gain_ns = 0;      // with transfers that take no time, once all have come
  std::vector<LinkClass> links;
  bool network = false;  // a link is slow, by the records of the whole job
};

// The slow ranks by the records of the whole job, and their cost.
struct BlameVerdict {
  std::vector<uint32_t> late;  // places in Job::ranks(), ascending
  int64_t gain_ns = 0;         // of these
  double slow_link = 0;        // times the transfer of its like; 0 = no link is slow
  int64_t common_gain_ns = 0;  // with all work and all transfers as is typical
};

struct BlameOptions {
  size_t alone = 64;       // ranks tried alone
  size_t parts = 12;       // names tried alone
  double slow_link = 1.5;  // times the median of its class, where no link is slow by the records
};

// What a set of ranks costs the job. only: the own work that is edited; absent: all.
int64_t blame_ns(const Job& job, const std::vector<uint32_t>& ranks,
                 const std::function<bool(const RankGraph&, const OwnWork&)>& only = {});

// told: who is late, which is not asked again.
JobBlame find_blame(const Job& job, const BlameVerdict& told, const BlameOptions& options = {});

}  // namespace assay
