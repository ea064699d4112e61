#pragma once

// Why kernels stand where they do (assay breakdown --explain-attribution), as words and a section.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "breakdown/breakdown.h"
#include "report/document/document.h"

namespace assay {

// Evidence of one rank.
struct RankEvidence {
  std::string file = {};  // empty where there is one rank
  PlacementEvidence place;
};

// Certainty of a source: `recorded`, `likeness`, or `untold` without one.
std::string_view sure_word(PlacedBy by);
// Number of matches, with their share of device_ns; `asked` is the requested pattern.
std::string evidence_words(const std::vector<RankEvidence>& evidence, const std::string& asked,
                           int64_t device_ns);
// "evidence": a paragraph for each of the longest, a table for data.
Section evidence_section(const std::vector<RankEvidence>& evidence);

}  // namespace assay
