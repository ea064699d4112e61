#pragma once

// Matches collectives and transfers across ranks, and determines the offsets of the ranks' clocks.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace assay {

// Key for matching parts in order: a process group and kind of collective.
struct CollectiveGroup {
  std::string name;      // process group; may be empty
  std::string ranks;     // as recorded; may be empty
  std::string kind;      // all_reduce, all_gather, reduce_scatter, ...
  bool all_wait = true;  // no rank leaves before the last arrival, so ends can be aligned
  friend std::strong_ordering operator<=>(const CollectiveGroup&, const CollectiveGroup&) = default;
};

// Participants of a collective or transfer, from a row of Trace::collectives. For sends and
// receives they are sender and receiver, if both are known. PyTorch lists the whole process group
// there and numbers all its pairs together, so `seq` is then -1.
struct MeetingParty {
  std::string name;      // process group
  std::string ranks;     // as recorded, or sender and receiver
  int64_t members = -1;  // -1 = not recorded
  int64_t seq = -1;      // -1 = not recorded
};
MeetingParty meeting_party(const Trace& trace, size_t row);
// Sender and receiver from MeetingParty::ranks; none if that does not list two ranks.
std::optional<std::pair<int64_t, int64_t>> two_ranks(std::string_view ranks);

// One rank's part in a collective or transfer.
struct CollectivePart {
  uint32_t group = 0;  // index into RankParts::groups
  int64_t seq = -1;    // sequence number in the process group, as recorded; -1 = unknown
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int32_t iteration = -1;  // as numbered by a label; -1 = unknown
};

struct RankParts {
  std::vector<CollectiveGroup> groups;
  std::vector<CollectivePart> parts;  // within a group, by start
};

struct Visit {
  uint32_t rank = 0;  // index into the list of ranks
  uint32_t part = 0;  // index into RankParts::parts
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// One collective on all ranks that took part.
struct Meeting {
  CollectiveGroup group;
  std::vector<Visit> visits;  // by rank; at least two
  bool whole = true;          // all ranks that have the group took part
  bool seen = false;          // all_wait was inferred from its ends, not from its kind
};

struct Meetings {
  std::vector<Meeting> all;  // by group, then in order
  uint64_t unmatched = 0;    // parts that could not be matched
};

// Whether ranks without a known process group took part in the same collectives: then they leave
// each one together, much closer than they arrived. starts, ends: per meeting one value per rank,
// in ns; each rank's clock may have any constant offset. kUnknown for fewer than two meetings.
enum class Together : uint8_t { kYes, kNo, kUnknown };
Together leave_together(const std::vector<std::vector<double>>& starts,
                        const std::vector<std::vector<double>>& ends);

// Matches parts by process group and kind: by distinct sequence numbers if all parts have them;
// else in order; else in order within numbered iterations, if ranks have different numbers of
// parts. Without a process group, parts of kinds in which all wait match only if the ranks leave
// together. In kinds that a rank may leave early, all_wait is set if the ranks leave together,
// except for sends and receives.
Meetings match_meetings(const std::vector<const RankParts*>& ranks);

// The meetings to align clocks with: of kinds in which all wait; if there are none, those with
// `seen`.
std::vector<const Meeting*> clock_meetings(const Meetings& found);

// Each rank's clock minus the common one, in ns: the median of its ends minus the meeting's median
// end, since all ranks leave such a collective at the same time. Iterates from the offsets of a
// tree of rank pairs, which also connects nodes that share few collectives. Assumes no clock drift
// within a trace. meetings: only with all_wait.
std::vector<int64_t> clock_offsets(const std::vector<const Meeting*>& meetings, size_t ranks);

// |end - offset - median end| in ns of every visit, ascending.
std::vector<int64_t> clock_residuals(const std::vector<const Meeting*>& meetings,
                                     const std::vector<int64_t>& offsets);

// The median; the mean of the two middle values, rounded down, for an even count. values: not
// empty.
int64_t middle_of(std::vector<int64_t> values);

}  // namespace assay
