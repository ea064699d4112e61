#pragma once

#include <vector>

#include "report/document/document.h"
#include "trace/import_log.h"

namespace assay {

// The codes that were counted at least once, in the order of the closed list.
std::vector<ImportNote> import_notes(const ImportLog& log);

}  // namespace assay
