#pragma once

// How kernels were attributed (assay breakdown --explain-attribution): sentences and a section.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "breakdown/breakdown.h"
#include "report/document/document.h"

namespace assay {

// Evidence of one rank.
struct RankEvidence {
  std::string file = {};  // empty if there is one rank
  PlacementEvidence place;
};

// Certainty of a source: `recorded`, `likeness` (inferred), or `untold` (no source).
std::string_view sure_word(PlacedBy by);
// Number of matching kernels and their share of device_ns. asked: the requested name pattern.
std::string evidence_words(const std::vector<RankEvidence>& evidence, const std::string& asked,
                           int64_t device_ns);
// "evidence": a paragraph for each of the longest entries, and a table of all in the data.
Section evidence_section(const std::vector<RankEvidence>& evidence);

}  // namespace assay
