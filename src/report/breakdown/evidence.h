#pragma once

// Why kernels stand where they do (assay breakdown --explain-attribution), as words and a section.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "breakdown/breakdown.h"
#include "report/document/document.h"

namespace assay {

// Of one rank.
struct RankEvidence {
  std::string file = {};  // empty where there is one rank
  PlacementEvidence place;
};

// How sure that source is: "recorded", "likeness" or, of nothing, "untold".
std::string_view sure_word(PlacedBy by);
// How much was found, of device_ns of all; `asked` is what names were asked for.
std::string evidence_words(const std::vector<RankEvidence>& evidence, const std::string& asked,
                           int64_t device_ns);
// "evidence": a paragraph for each of the longest, a table for data.
Section evidence_section(const std::vector<RankEvidence>& evidence);

}  // namespace assay
