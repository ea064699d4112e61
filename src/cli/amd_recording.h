#pragma once

// How `assay record` has AMD's rocprofiler-sdk load Assay's recorder into the command.

#include <string>
#include <utility>
#include <vector>

namespace assay {

// AMD's kernel driver, or HIP where the loader finds it.
bool amd_is_here();
// Where the loader or ROCm's own folders have it.
bool rocprofiler_is_here();

// The environment by which it is loaded: before the tools that the environment names already.
std::vector<std::pair<std::string, std::string>> amd_environment(const std::string& library);
// The tools that the environment names already; empty = none.
std::string other_amd_tools();

}  // namespace assay
