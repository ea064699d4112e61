#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace assay {

// Checks that sheets of a workbook are complete: `least` has the minimum uncompressed size in bytes
// by sheet number, from 1. A sheet is cut short if its temporary file did not fit on the disk.
Status check_sheet_sizes(const std::string& path, const std::map<uint32_t, uint64_t>& least);

}  // namespace assay
