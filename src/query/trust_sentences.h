#pragma once

// What may move a document's numbers, a sentence for each way, with how often and how much time.

#include <string>
#include <vector>

#include "report/document/document.h"

namespace assay {

// Of the document, then of its parts: these once for all parts that say them, counts and times
// added. input_name: what a part is called ("rank"); empty where there are none.
std::vector<std::string> trust_sentences(const Document& document, const std::string& input_name);

}  // namespace assay
