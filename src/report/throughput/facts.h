#pragma once

// What is known of models and devices, as a section of a Document.

#include <string>
#include <vector>

#include "records/facts.h"
#include "report/document/document.h"

namespace assay {

// in_full: every value of each, for readers too. "facts", "values".
Section facts_section(const FactBook& facts, const std::vector<FactSection>& shown, bool in_full);
// How many are complete, which are estimates, and what looks odd. Contradictions never get here:
// FactBook::add() refuses them by line.
std::vector<std::string> facts_words(const FactBook& facts, const std::vector<FactSection>& shown);

}  // namespace assay
