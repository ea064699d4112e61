#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace assay {

// Whether the workbook has a sheet of at least so many bytes for each of these numbers (sheet 1 is
// the first): temporary files that did not fit on the disk come out as sheets that end early.
Status check_sheet_sizes(const std::string& path, const std::map<uint32_t, uint64_t>& least);

}  // namespace assay
