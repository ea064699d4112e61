#pragma once

// Specifications of models and devices as a section of a Document.

#include <string>
#include <vector>

#include "records/facts.h"
#include "report/document/document.h"

namespace assay {

// Blocks "facts" and "values". in_full: also show every value to readers.
Section facts_section(const FactBook& facts, const std::vector<FactSection>& shown, bool in_full);
// Sentences on the number of complete specifications and of estimates, and on implausible values.
// Contradictions are rejected earlier: FactBook::add() reports their line.
std::vector<std::string> facts_words(const FactBook& facts, const std::vector<FactSection>& shown);

}  // namespace assay
