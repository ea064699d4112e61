#pragma once

// Whether several wrote a row of numbers in turn: every second, third, ... of them goes together.

#include <cstddef>
#include <vector>

namespace assay {

// How many wrote `values` in turn, up to `most`; 1 = none tells so. Each value less the mean of
// those around it (one turn of everyone) is split by its place in the turn, within pieces of a
// hundred turns: what several wrote has 0.3 of its variance and more between the places, in whole
// and in three quarters of the pieces. Numbers that one wrote do so only where they repeat
// themselves at just that distance, all the time. At least 20 turns are needed.
size_t written_in_turn(const std::vector<double>& values, size_t most = 16);

// Of the variance of `values`, taken apart as above, what lies between the places of a turn of
// `count`: 0 where there are fewer than 20 turns.
double share_in_turn(const std::vector<double>& values, size_t count);

}  // namespace assay
