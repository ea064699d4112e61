#pragma once

// Caveats of a document, one sentence each, with count and time.

#include <string>
#include <vector>

#include "report/document/document.h"

namespace assay {

// The caveats of the document, then those of its parts; equal ones are merged over all parts, with
// summed counts and times. input_name: word for a part ("rank"); empty if there are no parts.
std::vector<std::string> trust_sentences(const Document& document, const std::string& input_name);

}  // namespace assay
