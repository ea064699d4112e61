#pragma once

// The colours of the causes: one meaning, one colour, on the terminal, the page and in pictures.
// Chosen to be distinct for every kind of colour vision (tests/unit/report/palette_test.cc measures
// it). Colour is never the only cue, because sixteen colours are not distinct for everyone.

#include <cstdint>
#include <span>
#include <string_view>

namespace assay {

struct CauseColour {
  std::string_view key;
  uint32_t light;  // 0xRRGGBB, on a white page
  uint32_t dark;   // on a dark one, and on terminals
  bool hatched;    // what the recording does not show, and what happens once
};

// For all keys of causes, including "rest".
std::span<const CauseColour> cause_colours();
// That of "no_evidence" for a key that is none.
const CauseColour& colour_of(std::string_view key);

}  // namespace assay
