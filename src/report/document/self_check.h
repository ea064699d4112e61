#pragma once

// Laws that hold for every answer, whatever the run was. They are the last gate before a document is written: a number
// that cannot be true is left out and counted, never printed.

#include <string>
#include <vector>

#include "report/document/document.h"

namespace assay {

struct Breach {
  std::string place;  // as JSON has it: "flow.causes[3].share"
  std::string law;    // "a share is between 0 and 1"
};

// The statements of `document` that break a law, in its order. Linear in its cells.
// Parts of a whole lie between 0 and 1; changes and ratios to a model may lie outside. Counts and bytes are not
// negative; watts may be, as the headroom below a limit. A value lies between its ends, as "gain_ns" between
// "gain_low_ns" and "gain_high_ns". The causes of an answer add up to the whole. An action saves at most the whole, and
// its gain lies within its interval.
std::vector<Breach> breaches_of(const Document& document);

// Leaves out the statements that break a law. Cells become missing, and actions go. An answer has no confidence if its
// causes do not add up. One entry "self_check" of the import log counts the breaches and names the first.
void withhold(const std::vector<Breach>& breaches, Document& document);

}  // namespace assay
