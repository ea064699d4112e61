#pragma once

// From results of the power room to sections of a Document.

#include <string>
#include <vector>

#include "power/report.h"
#include "report/document.h"

namespace assay {

// One sentence per kernel, then what keeps the answer from being better.
std::vector<std::string> power_verdict_words(const PowerReport& report);
// "power": sensor, kernels with their profiles, takeaways, pairs, comparisons; and "trust".
std::vector<Section> power_sections(const PowerReport& report);
// "comparisons" of several recordings, under "power".
Section comparisons_section(const PowerReport& report);

}  // namespace assay
