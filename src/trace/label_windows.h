#pragma once

// Windows selected by label: the annotations with a label that matches a glob.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// True if the whole text matches. '*' matches any characters, '?' one character; other characters
// match themselves, case-sensitively, because labels are full of brackets.
bool matches_glob(std::string_view text, std::string_view glob);

// Sorts windows by start and makes them disjoint. Drops empty windows and those inside an earlier
// one. Cuts a window at the start of the next one, which `overlaps_cut` counts.
std::vector<Window> disjoint_windows(std::vector<Window> windows, uint64_t& overlaps_cut);

// One window per annotation with a matching label; if there are none, per operator; if there are
// none, per Python frame. They are disjoint as above. Fails if nothing matches, with examples of
// existing labels.
Result<Windows> windows_by_label(const Trace& trace, std::string_view glob);

}  // namespace assay
