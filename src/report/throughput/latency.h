#pragma once

// Errors of latency predictions on held-out rows, as a section of a Document.

#include <string>
#include <vector>

#include "report/document/document.h"
#include "throughput/serving/latency_evaluate.h"

namespace assay {

// "latency_errors", "limits".
Section latency_evaluation_section(const LatencyEvaluation& evaluation);
std::vector<std::string> latency_evaluation_words(const LatencyEvaluation& evaluation);

}  // namespace assay
