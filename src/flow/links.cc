#include "flow/links.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>

#include "base/numbers.h"
#include "roof/collective.h"

namespace assay {
namespace {

// Groups of one role are compared.
struct Role {
  std::string kind;
  int64_t members = 0;
  int size_class = 0;
  size_t meetings = 0;  // of the group; equal for groups of one role
  std::strong_ordering operator<=>(const Role&) const = default;
};

struct Transfers {
  std::vector<int64_t> ns;
  std::vector<int64_t> bytes;
  std::vector<int64_t> sizes;  // bytes; elements if bytes are unknown
  std::vector<uint32_t> meetings;
  bool sized = true;  // all sizes are known
  bool even = true;   // no uneven all-to-all
};
using ByGroup = std::map<uint32_t, Transfers>;

int64_t transfer_of(const JobMeeting& meeting) {
  int64_t longest_ns = 0;
  for (const JobVisit& visit : meeting.visits) {
    longest_ns = std::max(longest_ns, visit.transfer_ns);
  }
  return longest_ns;
}

// The largest size over a meeting's visits; -1 = unknown.
template <typename Size>
int64_t largest(const Job& job, const JobMeeting& meeting, Size size) {
  int64_t most = -1;
  for (const JobVisit& visit : meeting.visits) {
    most = std::max(most, job.ranks()[visit.rank].part_points[visit.part].*size);
  }
  return most;
}

// Bus bandwidth in bytes/s as nccl-tests define it; NaN if unknown.
double bus_bandwidth(const std::string& kind, const LinkClass& link) {
  if (link.bytes <= 0 || link.transfer_ns <= 0) return kNan;
  return static_cast<double>(link.bytes) * bus_factor(kind, link.members) * 1e9 /
         static_cast<double>(link.transfer_ns);
}

// True for an all-to-all with parts of different sizes, e.g. tokens for experts.
bool is_uneven(const Job& job, const JobMeeting& meeting) {
  if (job.groups()[meeting.group].kind != "all_to_all") return false;
  const auto part_of = [&](const JobVisit& visit) -> const RankPart& {
    return job.ranks()[visit.rank].part_points[visit.part];
  };
  const int64_t first = part_of(meeting.visits.front()).elements;
  return std::any_of(meeting.visits.begin(), meeting.visits.end(), [&](const JobVisit& visit) {
    return part_of(visit).uneven || part_of(visit).elements != first;
  });
}

std::map<Role, ByGroup> transfers_by_role(const Job& job) {
  std::vector<size_t> meetings_of(job.groups().size());
  for (const JobMeeting& meeting : job.meetings()) ++meetings_of[meeting.group];
  std::map<Role, ByGroup> roles;
  for (uint32_t m = 0; m < job.meetings().size(); ++m) {
    const JobMeeting& meeting = job.meetings()[m];
    if (meeting.visits.size() < 2 || !meeting.joined || !meeting.complete) continue;
    const int64_t bytes = largest(job, meeting, &RankPart::bytes);
    const int64_t elements = largest(job, meeting, &RankPart::elements);
    const int64_t size = bytes > 0 ? bytes : elements;
    const int size_class =
        size <= 0 ? -1 : static_cast<int>(std::bit_width(static_cast<uint64_t>(size)));
    const Role role{job.groups()[meeting.group].kind, static_cast<int64_t>(meeting.visits.size()),
                    size_class, meetings_of[meeting.group]};
    Transfers& transfers = roles[role][meeting.group];
    transfers.ns.push_back(transfer_of(meeting));
    transfers.bytes.push_back(bytes);
    transfers.sizes.push_back(size);
    transfers.sized = transfers.sized && size > 0;
    transfers.even = transfers.even && !is_uneven(job, meeting);
    transfers.meetings.push_back(m);
  }
  return roles;
}

class Comparer {
 public:
  Comparer(const Job& job, int64_t makespan_ns, const LinkOptions& options)
      : job_(job), options_(options), makespan_ns_(makespan_ns) {}

  std::vector<LinkClass> compare() {
    for (const auto& [role, groups] : transfers_by_role(job_)) {
      for (const auto& [group, transfers] : groups) add(role, groups, group, transfers);
    }
    try_slow();
    return std::move(links_);
  }

 private:
  JobEdit no_edit() const {
    JobEdit edit;
    edit.transfer_ns.assign(job_.meetings().size(), -1);
    return edit;
  }

  int64_t gain_at(const std::vector<uint32_t>& meetings, int64_t transfer_ns) const {
    JobEdit edit = no_edit();
    for (const uint32_t m : meetings) edit.transfer_ns[m] = transfer_ns;
    return makespan_ns_ - job_.makespan_ns(edit);
  }

  void add(const Role& role, const ByGroup& groups, uint32_t group, const Transfers& transfers) {
    LinkClass link;
    link.group = group;
    link.ranks = ranks_of(transfers);
    link.members = role.members;
    link.meetings = transfers.meetings.size();
    link.transfer_ns = middle_of(transfers.ns);
    link.transfers = duration_spread(transfers.ns);
    link.bytes = middle_of(transfers.bytes);
    link.bus_bytes_per_s = transfers.even ? bus_bandwidth(role.kind, link) : kNan;
    compare_with_others(groups, transfers, link);
    if (transfers.sized) {
      find_slow(transfers, link);
      find_varying(transfers, link);
    }
    links_.push_back(std::move(link));
  }

  // Replays of a job are expensive: only for the classes with most excess.
  void try_slow() {
    std::stable_sort(slow_.begin(), slow_.end(), [this](const Slow& a, const Slow& b) {
      return slow_of(a).excess_ns > slow_of(b).excess_ns;
    });
    for (size_t i = 0; i < slow_.size() && i < options_.tried; ++i) {
      slow_of(slow_[i]).gain_ns =
          gain_at(slow_[i].meetings, links_[slow_[i].place].transfer_ns);
    }
  }

  std::vector<uint32_t> ranks_of(const Transfers& transfers) const {
    std::vector<uint32_t> ranks;
    for (const JobVisit& visit : job_.meetings()[transfers.meetings.front()].visits) {
      ranks.push_back(visit.rank);
    }
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

  void compare_with_others(const ByGroup& groups, const Transfers& transfers, LinkClass& link) {
    std::vector<int64_t> others;
    std::vector<int64_t> sizes;
    for (const auto& [other, one] : groups) {
      if (other == link.group) continue;
      others.insert(others.end(), one.ns.begin(), one.ns.end());
      sizes.insert(sizes.end(), one.sizes.begin(), one.sizes.end());
    }
    if (others.empty() || !transfers.sized) return;
    // Sizes within a class differ by up to a factor of two, e.g. tokens for experts. A larger
    // transfer may take proportionally longer.
    const auto size = static_cast<double>(middle_of(transfers.sizes));
    const auto usual = static_cast<double>(middle_of(std::move(sizes)));
    const double larger = usual > 0 ? std::max(1.0, size / usual) : 1.0;
    link.peers_ns = std::llround(larger * static_cast<double>(middle_of(std::move(others))));
    link.suspect = static_cast<double>(link.transfer_ns) >
                   options_.slow_link * static_cast<double>(link.peers_ns);
    if (!link.suspect) return;
    link.gain_ns = gain_at(transfers.meetings, link.peers_ns);
  }

  struct Slow {
    size_t place = 0;  // index into links_
    std::vector<uint32_t> meetings;
  };
  SlowMeetings& slow_of(const Slow& slow) { return *links_[slow.place].slow; }

  void find_slow(const Transfers& transfers, LinkClass& link) {
    const int64_t usual_ns = link.transfer_ns;
    const double least = std::max(options_.slow_meeting * static_cast<double>(usual_ns),
                                  static_cast<double>(usual_ns + options_.least_ns));
    std::vector<uint32_t> meetings;
    SlowMeetings slow;
    slow.span = {INT64_MAX, INT64_MIN};
    slow.gain_ns = -1;
    for (size_t i = 0; i < transfers.ns.size(); ++i) {
      if (static_cast<double>(transfers.ns[i]) < least) continue;
      const uint32_t m = transfers.meetings[i];
      const int64_t begin_ns = job_.meetings()[m].last_ns;
      meetings.push_back(m);
      slow.longest_ns = std::max(slow.longest_ns, transfers.ns[i]);
      slow.excess_ns += transfers.ns[i] - usual_ns;
      slow.span.start_ns = std::min(slow.span.start_ns, begin_ns);
      slow.span.end_ns = std::max(slow.span.end_ns, begin_ns + transfers.ns[i]);
    }
    const auto most = options_.few * static_cast<double>(transfers.ns.size());
    if (meetings.empty() || static_cast<double>(meetings.size()) > most) return;
    slow.count = meetings.size();
    link.slow = slow;
    slow_.push_back({links_.size(), std::move(meetings)});
  }

  // Sets link.varying if much of the run is in transfers with a 90th percentile of at least 3 times
  // the 10th.
  void find_varying(const Transfers& transfers, LinkClass& link) {
    constexpr size_t kLeastMeetings = 10;
    constexpr double kFarLonger = 3;
    constexpr int64_t kLeastPart = 20;  // one in so many of the run
    std::vector<int64_t> sorted = transfers.ns;
    std::sort(sorted.begin(), sorted.end());
    const size_t n = sorted.size();
    if (link.slow || link.suspect || n < kLeastMeetings) return;
    VaryingTransfers varying{.fast_ns = sorted[n / 10], .slow_ns = sorted[n - 1 - n / 10]};
    if (static_cast<double>(varying.slow_ns) < kFarLonger * static_cast<double>(varying.fast_ns)) {
      return;
    }
    const int64_t usual_ns = sorted[n / 4];
    JobEdit edit = no_edit();
    int64_t excess_ns = 0;
    for (size_t i = 0; i < n; ++i) {
      if (transfers.ns[i] <= usual_ns) continue;
      edit.transfer_ns[transfers.meetings[i]] = usual_ns;
      excess_ns += transfers.ns[i] - usual_ns;
    }
    if (excess_ns * kLeastPart < makespan_ns_) return;
    varying.gain_ns = makespan_ns_ - job_.makespan_ns(edit);
    if (varying.gain_ns * kLeastPart >= makespan_ns_) link.varying = varying;
  }

  const Job& job_;
  const LinkOptions& options_;
  const int64_t makespan_ns_;
  std::vector<Slow> slow_;
  std::vector<LinkClass> links_;
};

}  // namespace

std::vector<LinkClass> compare_links(const Job& job, int64_t makespan_ns,
                                     const LinkOptions& options) {
  return Comparer(job, makespan_ns, options).compare();
}

}  // namespace assay
