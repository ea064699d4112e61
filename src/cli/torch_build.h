#pragma once

// Programs that must match the user's PyTorch: assay-replay and the operator observer. They are
// compiled once into the user's cache.

#include <string>

namespace assay {

// "assay/bin" in the user's cache; empty if there is no cache folder.
std::string built_folder();
// True if a program or library that the user did not name is safe to run or load: no other user
// could have put it there.
bool is_own_program(const std::string& path);
// Path of a script of collect/ ("replay/replay.py"): next to the program, in its source tree, or in
// its installation; empty if there is none.
std::string collected_script(const std::string& name);
// Runs collect/build_for_torch.sh for "replay" or "operators" and returns its exit code. Reports
// missing requirements.
int build_for_torch(const std::string& what, const std::string& python);

}  // namespace assay
