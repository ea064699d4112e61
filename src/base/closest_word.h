#pragma once

// Suggestions for mistyped words.

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Edit distance: changes, omissions, insertions, and swaps of adjacent letters. Ignores case.
size_t typing_distance(std::string_view typed, std::string_view known);

// The known word closest to `typed`, the first if several are equally close; empty if none is
// close. Up to a third of the letters may be wrong. Known words that start with `typed` also match
// if `typed` has three or more letters.
std::string closest_word(std::string_view typed, const std::vector<std::string>& known);

}  // namespace assay
