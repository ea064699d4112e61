#pragma once

#include <vector>

#include "report/document/document.h"
#include "trace/import_log.h"

namespace assay {

// The codes with a count above 0, in the order of their definition.
std::vector<ImportNote> import_notes(const ImportLog& log);

}  // namespace assay
