#pragma once

// Specifications of models and devices, as a section of a Document.

#include <string>
#include <vector>

#include "records/facts.h"
#include "report/document/document.h"

namespace assay {

// in_full: every value of each, for readers too. "facts", "values".
Section facts_section(const FactBook& facts, const std::vector<FactSection>& shown, bool in_full);
// Numbers of complete specifications and of estimates, and implausible values. Contradictions are
// rejected earlier: FactBook::add() reports their line.
std::vector<std::string> facts_words(const FactBook& facts, const std::vector<FactSection>& shown);

}  // namespace assay
