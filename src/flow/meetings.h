#pragma once

// Collectives and transfers that several ranks take part in: which parts belong together, and how
// far the ranks' clocks are apart. The one home of both questions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace assay {

// A process group and kind of collective: what is matched over ranks in order.
struct CollectiveGroup {
  std::string name;      // process group; stream-independent; may be empty
  std::string ranks;     // as recorded; may be empty
  std::string kind;      // all_reduce, all_gather, reduce_scatter, ...
  bool all_wait = true;  // nobody leaves before everybody came: ends can be aligned
  friend std::strong_ordering operator<=>(const CollectiveGroup&, const CollectiveGroup&) = default;
};

// The ranks that meet in a collective or transfer, by a row of Trace::collectives. A send meets one
// receive. Its ranks are the sender and the receiver, if both are known. PyTorch lists the whole
// process group there. Then the number, which counts all pairs of the group, is left out.
struct MeetingParty {
  std::string name;      // process group
  std::string ranks;     // as recorded, or sender and receiver
  int64_t members = -1;  // -1 = not recorded
  int64_t seq = -1;      // -1 = not recorded
};
MeetingParty meeting_party(const Trace& trace, size_t row);
// Sender and receiver, of ranks in the words of such a party. Nothing if they are not two.
std::optional<std::pair<int64_t, int64_t>> two_ranks(std::string_view ranks);

// One rank's part in a collective or transfer.
struct CollectivePart {
  uint32_t group = 0;  // into RankParts::groups
  int64_t seq = -1;    // number in the process group, as recorded; -1 = not told
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int32_t iteration = -1;  // as a label numbers it; -1 = not told
};

struct RankParts {
  std::vector<CollectiveGroup> groups;
  std::vector<CollectivePart> parts;  // of each group in the order of their starts
};

struct Visit {
  uint32_t rank = 0;  // place in the list of ranks
  uint32_t part = 0;  // place in RankParts::parts
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// One collective on all ranks that took part.
struct Meeting {
  CollectiveGroup group;
  std::vector<Visit> visits;  // by rank; at least two
  bool whole = true;          // all ranks that have the group took part
  bool seen = false;          // that all wait is seen from its ends: its kind does not tell it
};

struct Meetings {
  std::vector<Meeting> all;  // by group, then order
  uint64_t unmatched = 0;    // parts in groups that do not match in number or order
};

// Whether ranks that tell no process group were in one: then they leave each meeting together, far
// closer than they came. starts, ends: per meeting one value per rank, in ns on clocks that stand
// still against each other; a single meeting contradicts nothing and proves nothing.
enum class Together : uint8_t { kYes, kNo, kUnknown };
Together leave_together(const std::vector<std::vector<double>>& starts,
                        const std::vector<std::vector<double>>& ends);

// Parts are matched by process group and kind, by the group's own sequence number where all have
// one of their own, else in order, or in order within numbered iterations where the ranks have
// different numbers of parts; of kinds in which all wait without a process group only where the
// ranks do not leave apart. In kinds that may be left early all wait where the ranks leave
// together, far closer than they came; sends and receives never.
Meetings match_meetings(const std::vector<const RankParts*>& ranks);

// Those that clocks are aligned on: of kinds in which all wait; where there are none, those that
// were seen to.
std::vector<const Meeting*> clock_meetings(const Meetings& found);

// Each rank's clock minus the common one: the median of its ends minus the median end of the
// meeting, since all ranks of a collective that nobody leaves before everybody came leave it at the
// same time. Where most collectives lie inside nodes, nodes find each other by the few between
// them: the medians start from a tree of pairs of ranks. Assumes clocks that do not drift within a
// trace. `meetings`: of such collectives.
std::vector<int64_t> clock_offsets(const std::vector<const Meeting*>& meetings, size_t ranks);

// |end - offset - median end| of every visit, ascending.
std::vector<int64_t> clock_residuals(const std::vector<const Meeting*>& meetings,
                                     const std::vector<int64_t>& offsets);

// The middle value, or the mean of the two in the middle, rounded down. values: not empty.
int64_t middle_of(std::vector<int64_t> values);

}  // namespace assay
