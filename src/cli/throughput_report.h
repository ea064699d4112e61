#pragma once

// `assay report` of measured throughput: curves, held-out errors and the fit on one page.

#include <string>

#include "base/result.h"
#include "report/document.h"

namespace assay {

// A table by its name, a model by its first words: nothing of a trace is read for it.
bool is_throughput_file(const std::string& path);
// Of a table, or of a model file made of one.
Result<Document> report_table(const std::string& path);

}  // namespace assay
