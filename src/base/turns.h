#pragma once

// Tests if several sources alternate in a series of numbers: every second, third, ... value belongs
// together.

#include <cstddef>
#include <vector>

namespace assay {

// Number of sources that alternate in `values`, up to `most`; 1 = no alternation found. Each value
// minus the mean around it (over one turn of all sources) is split by its position in the turn,
// within chunks of a hundred turns. For several sources, 0.3 or more of the variance lies between
// the positions, in the whole and in three quarters of the chunks. A single source does so only if
// it repeats at exactly that period throughout. Needs at least 20 turns.
size_t written_in_turn(const std::vector<double>& values, size_t most = 16);

// Share of the variance of `values`, split as above, between the positions of a turn of `count`; 0
// with fewer than 20 turns.
double share_in_turn(const std::vector<double>& values, size_t count);

}  // namespace assay
