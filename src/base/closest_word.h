#pragma once

// The word that was probably meant by a mistyped one.

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Letters changed, left out, added, or swapped with their neighbour; the case does not matter.
size_t typing_distance(std::string_view typed, std::string_view known);

// The nearest known word, the first of several; empty when none is near: a third of its letters may
// be wrong. A word that what was typed begins, from three letters on, is near too.
std::string closest_word(std::string_view typed, const std::vector<std::string>& known);

}  // namespace assay
