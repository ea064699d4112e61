#pragma once

// Counter runs from what the user typed: files of rocprofv3, rocpd and Nsight Compute, and folders
// of them, each file one pass (docs/formats/rocprof.md, docs/formats/ncu.md).

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/counters.h"

namespace assay {

// Every counter file behind the arguments, folders searched to a depth of four, sorted by name.
// Errors name the argument that gave none and what was found instead.
Result<std::vector<CounterPass>> read_counter_passes(const std::vector<std::string>& arguments,
                                                     bool allow_truncated);
// One file.
Result<CounterPass> read_counter_pass(const std::string& path, bool allow_truncated);

// What counter file a text begins like, in words ("a counter table of Nsight Compute (CSV)");
// empty when it begins like none.
std::string_view counter_format(std::string_view head);

}  // namespace assay
