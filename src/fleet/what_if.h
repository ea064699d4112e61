#pragma once

// What a job would have taken with other own work or other transfers: the max-plus system
//   begin(visit) = end(previous meeting of the rank) + work
//   end(meeting) = latest begin + transfer
// With the recorded values it gives the recorded times back. Eight questions are answered in one
// pass over the visits.

#include <array>
#include <cstdint>
#include <vector>

#include "fleet/job.h"

namespace assay {

// By how much each visit's work and each meeting's transfer lies above what is usual; at least 0.
struct FleetExcess {
  std::vector<int64_t> work_ns;      // per visit
  std::vector<int64_t> transfer_ns;  // per meeting
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
// first_start_ns: per rank, on the common clock.
double replay_residual(const FleetJob& job, const FleetExcess& excess,
                       const std::vector<int64_t>& first_start_ns, int64_t& span_ns);

}  // namespace assay
