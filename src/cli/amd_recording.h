#pragma once

// How `assay record` makes AMD's rocprofiler-sdk load Assay's recorder into the command.

#include <string>
#include <utility>
#include <vector>

namespace assay {

// True if AMD's kernel driver is present or the loader finds HIP.
bool amd_is_here();
// Name by which a program can load rocprofiler-sdk: from the environment, from the loader, or a
// file in ROCm's own folders; empty = not found. The library stays loaded.
std::string find_rocprofiler();

// Environment that loads the recorder, before any tools already in the environment. rocprofiler:
// from find_rocprofiler(); ROCm ends a program that requests a missing one.
std::vector<std::pair<std::string, std::string>> amd_environment(const std::string& library,
                                                                 const std::string& rocprofiler);
// Tools that the environment already names; empty = none.
std::string other_amd_tools();

}  // namespace assay
