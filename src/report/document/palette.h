#pragma once

// Colours of the causes, the same on the terminal, the page and in pictures. They are distinct for
// every kind of colour vision (measured by tests/unit/report/palette_test.cc). Colour is never the
// only cue, because sixteen colours are not distinct for everyone.

#include <cstdint>
#include <span>
#include <string_view>

namespace assay {

struct CauseColour {
  std::string_view key;
  uint32_t light;  // 0xRRGGBB, on a white page
  uint32_t dark;   // on a dark one, and on terminals
  bool hatched;    // for unrecorded time and one-time initialization
};

// The colours of all cause keys, including "rest".
std::span<const CauseColour> cause_colours();
// The colour of a cause; that of "no_evidence" for an unknown key.
const CauseColour& colour_of(std::string_view key);

}  // namespace assay
