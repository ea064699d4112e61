#pragma once

// How `assay record` has AMD's rocprofiler-sdk load Assay's recorder into the command.

#include <string>
#include <utility>
#include <vector>

namespace assay {

// AMD's kernel driver, or HIP where the loader finds it.
bool amd_is_here();
// The name by which a program can load rocprofiler-sdk: the one in the environment, the loader's,
// or a file in ROCm's own folders; empty = there is none. It stays loaded.
std::string find_rocprofiler();

// The environment that loads the recorder, before the tools already in the environment.
// rocprofiler: from find_rocprofiler(); ROCm ends a program that requests a missing one.
std::vector<std::pair<std::string, std::string>> amd_environment(const std::string& library,
                                                                 const std::string& rocprofiler);
// The tools that the environment names already; empty = none.
std::string other_amd_tools();

}  // namespace assay
