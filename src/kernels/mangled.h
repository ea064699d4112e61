#pragma once

// The names in a mangled name (Itanium C++ ABI, 5.1), without demangling it: what a substitution
// stands for is not written out, because a text of a few hundred characters can stand for
// gigabytes.

#include <string_view>

#include "kernels/name.h"

namespace assay {

// Takes what it can follow; a text that breaks off or is no mangled name gives what came before.
KernelName parse_mangled_name(std::string_view name);

}  // namespace assay
