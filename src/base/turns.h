#pragma once

// Tests whether several sources alternate in a series of numbers, so that every k-th value comes
// from the same source.

#include <cstddef>
#include <vector>

namespace assay {

// Number of sources that alternate in `values`, up to `most`; 1 = no alternation found. Each value
// minus the local mean (over one turn of all sources) is grouped by its position in the turn,
// within chunks of a hundred turns. Several sources are reported if 0.3 or more of the variance is
// between positions, both overall and in three quarters of the chunks. A single source meets that
// only if it has exactly this period throughout. Needs at least 20 turns.
size_t written_in_turn(const std::vector<double>& values, size_t most = 16);

// Share of the variance of `values` that is between the positions of a turn of `count`, grouped as
// above; 0 with fewer than 20 turns.
double share_in_turn(const std::vector<double>& values, size_t count);

}  // namespace assay
