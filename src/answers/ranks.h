#pragma once

// Runs the same analysis on every trace of a set and makes one Document. It is flat for one trace;
// for several it has a part per trace ("ranks") and a table of all.

#include <functional>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "base/result.h"

namespace assay {

using Analyze = std::function<Result<TraceContent>(const LoadedTrace&)>;

// Loads every input in turn, one trace in memory at a time, and analyses it. Fails on the first
// input that cannot be read or analysed. Files of a folder that are not traces are left out.
// conclude: results of all inputs together, or of other files.
Result<Answer> answer_traces(const TraceRequest& request, const std::string& title,
                             const Analyze& analyze,
                             const std::function<void(Document&)>& conclude = {});

// Joint results of ranks precede those of their set: words before its words, sections after the
// table of all ranks and before its limits.
void put_first(std::vector<std::string> words, std::vector<Section> sections, Document& document);

}  // namespace assay
