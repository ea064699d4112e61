#pragma once

// The same question to every trace of a set: one Document, flat for one trace, with a part per
// trace ("ranks") and a table of all of them for several.

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
// conclude: what inputs say together, or others beside them.
Result<Answer> answer_traces(const TraceRequest& request, const std::string& title,
                             const Analyze& analyze,
                             const std::function<void(Document&)>& conclude = {});

// What ranks say together goes before what is said of their set: words before its words, sections
// behind the table of all ranks, before what they rest on.
void put_first(std::vector<std::string> words, std::vector<Section> sections, Document& document);

}  // namespace assay
