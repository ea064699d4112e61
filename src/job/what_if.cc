#include "job/what_if.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

using Lanes8 = std::array<int64_t, kLanes>;

// Per mask the lanes as all ones or zeros.
std::array<Lanes8, 256> lane_masks() {
  std::array<Lanes8, 256> masks{};
  for (size_t mask = 0; mask < masks.size(); ++mask) {
    for (size_t lane = 0; lane < kLanes; ++lane) masks[mask][lane] = (mask >> lane) & 1 ? -1 : 0;
  }
  return masks;
}

}  // namespace

int64_t FleetExcess::usual_of_visit(const FleetJob& job, size_t visit) const {
  const uint32_t slot = job.visits.slot[visit];
  if (job.visits.prev[visit] == kNoMeeting || job.slots[slot].column == kNoColumn) return kUnknown;
  if (usual_ns[slot] != kUnknown || own_usual_ns.empty()) return usual_ns[slot];
  const auto own = own_usual_ns.find(own_key(job.visits.rank[visit], job.slots[slot].place));
  return own == own_usual_ns.end() ? kUnknown : own->second;
}

std::array<int64_t, kLanes> fleet_spans(const FleetJob& job, const FleetExcess& excess,
                                        const FleetMasks& masks, std::vector<int64_t>& ends) {
  static const std::array<Lanes8, 256> kMasks = lane_masks();
  ends.resize(job.meetings.size() * kLanes);
  Lanes8 spans{};
  for (size_t m = 0; m < job.meetings.size(); ++m) {
    const FleetMeeting& meeting = job.meetings[m];
    Lanes8 latest;
    latest.fill(INT64_MIN);
    for (uint32_t v = meeting.first_visit; v < meeting.first_visit + meeting.visits; ++v) {
      const uint32_t rank = job.visits.rank[v];
      const uint32_t prev = job.visits.prev[v];
      const int64_t work_ns = job.visits.work_ns[v];
      const int64_t excess_ns = excess.work_ns(job, v);
      const Lanes8& gone = kMasks[masks.ranks[rank]];
      const int64_t* before = prev == kNoMeeting ? nullptr : &ends[prev * kLanes];
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const int64_t begin = (before == nullptr ? job.starts_ns[rank] : before[lane]) + work_ns -
                              (excess_ns & gone[lane]);
        latest[lane] = std::max(latest[lane], begin);
      }
    }
    const uint8_t mask = meeting.group == kAlone ? 0
                         : meeting.complete      ? masks.groups[meeting.group]
                                                 : masks.absent;
    const Lanes8& gone = kMasks[mask];
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const int64_t end = latest[lane] + meeting.transfer_ns - (excess.transfer_ns[m] & gone[lane]);
      ends[m * kLanes + lane] = end;
      spans[lane] = std::max(spans[lane], end);
    }
  }
  return spans;
}

double replay_residual(const FleetJob& job, const FleetExcess& excess, int64_t& span_ns) {
  const FleetMasks as_recorded{std::vector<uint8_t>(job.ranks.size(), 0),
                               std::vector<uint8_t>(job.groups.size(), 0)};
  std::vector<int64_t> ends;
  span_ns = fleet_spans(job, excess, as_recorded, ends)[0];
  std::vector<double> off;
  for (size_t r = 0; r < job.ranks.size(); ++r) {
    const FleetChain& chain = job.chains[r];
    if (chain.last_meeting == kNoMeeting || span_ns <= 0) continue;
    const int64_t recorded_ns = job.starts_ns[r] + chain.length_ns;
    off.push_back(std::abs(static_cast<double>(ends[chain.last_meeting * kLanes] - recorded_ns)) /
                  static_cast<double>(span_ns));
  }
  if (off.empty()) return 0;
  const auto at = off.begin() + static_cast<std::ptrdiff_t>((off.size() - 1) * 95 / 100);
  std::nth_element(off.begin(), at, off.end());
  return *at;
}

}  // namespace assay
