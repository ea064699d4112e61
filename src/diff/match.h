#pragma once

// Matches the items of two sides despite renames, and reports the evidence.

#include <cstdint>
#include <string_view>
#include <vector>

#include "diff/side.h"

namespace assay {

// Evidence for a match, strongest first.
enum class DiffMatch : uint8_t {
  kName,      // the same name, including template arguments
  kFamily,    // the same name except for template arguments or numbers
  kPath,      // the only unmatched items below the same operators
  kPosition,  // at the same position in the sequence, between matched neighbours
  kNone,      // no counterpart: appeared or vanished
};
std::string_view diff_match_name(DiffMatch match);  // "name", "family", "path", "position", "none"

struct ItemPair {
  uint32_t a = 0;
  uint32_t b = 0;
  DiffMatch match = DiffMatch::kName;
};

struct Matching {
  std::vector<ItemPair> pairs;  // every item is in at most one
  bool positions_tried = false;
  bool positions_given_up = false;  // the sequences differ too much to be aligned
};

// Exchanging a and b gives the same pairs, exchanged.
Matching match_items(const DiffSideLevel& a, const DiffSideLevel& b);

}  // namespace assay
