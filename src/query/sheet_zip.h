#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace assay {

// Checks that the workbook has a sheet of at least this many bytes for each number (sheet 1 is the
// first). Sheets end early if their temporary files did not fit on the disk.
Status check_sheet_sizes(const std::string& path, const std::map<uint32_t, uint64_t>& least);

}  // namespace assay
