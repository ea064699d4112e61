#pragma once

// Runs the same analysis on every trace of a set and makes one Document. One trace gives a flat
// document. Several give a part per trace ("ranks") and a table that compares them.

#include <functional>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "base/result.h"

namespace assay {

using Analyze = std::function<Result<TraceContent>(const LoadedTrace&)>;

// Analyzes the inputs in turn, one trace in memory at a time. Stops at the first input that cannot
// be read or analyzed. Files of a folder that are not traces are skipped. conclude: adds joint
// results of all inputs.
Result<Answer> answer_traces(const TraceRequest& request, const std::string& title,
                             const Analyze& analyze,
                             const std::function<void(Document&)>& conclude = {});

// Inserts joint results of the ranks: words before the document's words, sections between the table
// of all ranks and its limits.
void put_first(std::vector<std::string> words, std::vector<Section> sections, Document& document);

}  // namespace assay
