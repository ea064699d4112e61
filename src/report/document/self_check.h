#pragma once

// Invariants of every answer, checked before a document is written. A number that violates one is
// left out and counted, never printed.

#include <string>
#include <vector>

#include "report/document/document.h"

namespace assay {

struct Breach {
  std::string place;  // JSON path: "flow.causes[3].share"
  std::string law;    // "a share is between 0 and 1"
};

// Returns the values of `document` that violate an invariant, in document order. Linear in the
// number of cells. Invariants: shares of a whole are between 0 and 1 (changes and ratios to a model
// may exceed that). Counts and bytes are not negative; watts may be, such as the headroom below a
// limit. A value lies within its interval, for example "gain_ns" between "gain_low_ns" and
// "gain_high_ns". The causes of an answer sum to the whole. An action saves at most the whole, and
// its gain lies within its interval.
std::vector<Breach> breaches_of(const Document& document);

// Removes the values that violate an invariant: cells become missing, actions are dropped. An
// answer with causes that do not add up loses its confidence. One import-log entry "self_check"
// counts the violations and names the first.
void withhold(const std::vector<Breach>& breaches, Document& document);

}  // namespace assay
