#pragma once

// A step of FleetRecords::assemble.

#include "job/job.h"

namespace assay {

// Fills meetings, visits, slots, roles, chains and counts of a job whose ranks and groups are
// known. Arrivals go from FleetRank::times rank by rank.
void match_fleet(FleetJob& job);

}  // namespace assay
