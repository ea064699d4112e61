#pragma once

// What must fit the user's own PyTorch is compiled once, into the user's cache: assay-replay and
// the observer of operators.

#include <string>

namespace assay {

// "assay/bin" in the user's cache; empty where there is none.
std::string built_folder();
// Whether a program or library that nobody named may be run or loaded: no other user could have put
// it there.
bool is_own_program(const std::string& path);
// A script of collect/ ("replay/replay.py"): beside the program, in the source tree that it was
// built in, or where it is installed; empty where there is none.
std::string collected_script(const std::string& name);
// Runs collect/build_for_torch.sh for "replay" or "operators"; the exit code. What is missing is
// said.
int build_for_torch(const std::string& what, const std::string& python);

}  // namespace assay
