#pragma once

// Programs that must match the user's own PyTorch, compiled once into the user's cache:
// assay-replay and the observer of operators.

#include <string>

namespace assay {

// "assay/bin" in the user's cache; empty where there is none.
std::string built_folder();
// True if a program or library that the user did not name may be run or loaded: no other user could
// have put it there.
bool is_own_program(const std::string& path);
// A script of collect/ ("replay/replay.py"): next to the program, in its source tree, or in its
// installation; empty if there is none.
std::string collected_script(const std::string& name);
// Runs collect/build_for_torch.sh for "replay" or "operators" and returns the exit code. Reports
// missing requirements.
int build_for_torch(const std::string& what, const std::string& python);

}  // namespace assay
