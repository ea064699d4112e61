#pragma once

// Matches the items of the two sides, tolerant of renames, with the evidence.

#include <cstdint>
#include <string_view>
#include <vector>

#include "diff/side.h"

namespace assay {

// In falling strength of evidence.
enum class DiffMatch : uint8_t {
  kName,      // the same name, template arguments and all
  kFamily,    // the same name but for template arguments or numbers
  kPath,      // the only unmatched items below the same operators
  kPosition,  // stands where the other stood, between neighbours that agree
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
  bool positions_given_up = false;  // the sequences differ too much to be laid side by side
};

// The mirror image when a and b change places.
Matching match_items(const DiffSideLevel& a, const DiffSideLevel& b);

}  // namespace assay
