#pragma once

// The steps of assemble_fleet.

#include <vector>

#include "fleet/job.h"

namespace assay {

// Fills ranks, world_size, numbered, absent and unused.
void gather_ranks(const std::vector<RecordFileBytes>& files, FleetJob& job);
// Fills groups, columns and FleetRank::group_ids.
void gather_groups(FleetJob& job);
// Fills meetings, visits, places, roles, chains and counts.
void match_fleet(FleetJob& job);

}  // namespace assay
