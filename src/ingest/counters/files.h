#pragma once

// Counter runs from what the user typed: files of rocprofv3, rocpd and Nsight Compute, and folders
// of them, each file one pass (docs/formats/rocprof.md, docs/formats/ncu.md).

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/counters.h"

namespace assay {

// All counter files of the arguments. Folders are searched to a depth of four, sorted by name.
// Errors name the argument without counter files, and the files found instead.
Result<std::vector<CounterPass>> read_counter_passes(const std::vector<std::string>& arguments,
                                                     bool allow_truncated);
// One file.
Result<CounterPass> read_counter_pass(const std::string& path, bool allow_truncated);

// Kind of counter file by the beginning of its text, in words ("a counter table of Nsight Compute
// (CSV)"); empty if none matches.
std::string_view counter_format(std::string_view head);

}  // namespace assay
