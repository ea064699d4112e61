#pragma once

// Windows that a person picks by label: the annotations whose label matches a glob.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Whether all of `text` matches: '*' stands for any run of characters, '?' for one; everything else
// for itself, letter case included (labels are full of brackets).
bool matches_glob(std::string_view text, std::string_view glob);

// Orders windows by start and makes them disjoint: one inside an earlier one is part of it, one
// that reaches out of it cuts it short and is counted in `overlaps_cut`. Empty ones vanish.
std::vector<Window> disjoint_windows(std::vector<Window> windows, uint64_t& overlaps_cut);

// One window per annotation whose label matches; without any, per operator; without any, per Python
// frame; disjoint as above. Fails when nothing matches, with some labels that exist.
Result<Windows> windows_by_label(const Trace& trace, std::string_view glob);

}  // namespace assay
