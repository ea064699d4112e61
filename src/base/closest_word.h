#pragma once

// The word that was probably meant by a mistyped one.

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Letters changed, left out, added, or swapped with their neighbour; the case does not matter.
size_t typing_distance(std::string_view typed, std::string_view known);

// The nearest known word, the first of several; empty if none is near. Up to a third of its letters
// may be wrong. Known words that begin with the typed text are near too, if it has three letters or
// more.
std::string closest_word(std::string_view typed, const std::vector<std::string>& known);

}  // namespace assay
