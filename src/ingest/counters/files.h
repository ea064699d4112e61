#pragma once

// Reads counter runs from the user's arguments: files of rocprofv3, rocpd and Nsight Compute, and
// folders of them. Each file is one pass (docs/formats/rocprof.md, docs/formats/ncu.md).

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/counters.h"

namespace assay {

// Reads all counter files of the arguments. Folders are searched four levels deep, sorted by name.
// Errors name the argument without counter files, and the files found instead.
Result<std::vector<CounterPass>> read_counter_passes(const std::vector<std::string>& arguments,
                                                     bool allow_truncated);
Result<CounterPass> read_counter_pass(const std::string& path, bool allow_truncated);

// Name of the kind of counter file with this beginning, such as "a counter table of Nsight Compute
// (CSV)"; empty for other files.
std::string_view counter_format(std::string_view head);

}  // namespace assay
