#pragma once

// What a job would have taken with other own work or other transfers: the max-plus system
//   begin(visit) = end(previous meeting of the rank, else its start) + work
//   end(meeting) = latest begin + transfer
// With the recorded values it gives the recorded times back. Eight questions are answered in one
// pass over the visits.

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "job/job.h"

namespace assay {

// By how much each visit's work and each meeting's transfer lies above what is usual; at least 0.
struct FleetExcess {
  static constexpr int64_t kUnknown = -1;
  std::vector<int64_t> usual_ns;     // own work, per slot; kUnknown where too few have it
  std::vector<int64_t> transfer_ns;  // per meeting
  // There what the rank itself usually takes, by rank and place; none where that is not known.
  std::unordered_map<uint64_t, int64_t> own_usual_ns;

  static uint64_t own_key(uint32_t rank, uint32_t place) {
    return (static_cast<uint64_t>(rank) << 32) | place;
  }
  // kUnknown outside iterations, and of a rank's first visits, whose work nobody saw whole.
  int64_t usual_of_visit(const FleetJob& job, size_t visit) const;
  int64_t work_ns(const FleetJob& job, size_t visit) const {
    const int64_t usual = usual_of_visit(job, visit);
    return usual == kUnknown ? 0 : std::max<int64_t>(job.visits.work_ns[visit] - usual, 0);
  }
};

constexpr size_t kLanes = 8;

// Whose excess is gone, a bit per question.
struct FleetMasks {
  std::vector<uint8_t> ranks;   // own work
  std::vector<uint8_t> groups;  // transfers of complete meetings
  uint8_t absent = 0;           // transfers of meetings some of whose members are absent
};

// The job's span in each of the eight cases. ends: room for the ends of all meetings, made here.
std::array<int64_t, kLanes> fleet_spans(const FleetJob& job, const FleetExcess& excess,
                                        const FleetMasks& masks, std::vector<int64_t>& ends);

// |replayed - recorded end| of each rank's last meeting over the span, at q = 0.95 over the ranks:
// what a replay misses. span_ns: of the replay. 0 without a rank.
double replay_residual(const FleetJob& job, const FleetExcess& excess, int64_t& span_ns);

}  // namespace assay
