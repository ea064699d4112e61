#pragma once

// Names inside a mangled name (Itanium C++ ABI, 5.1), without demangling it. Substitutions are not
// expanded, because a text of a few hundred characters can expand to gigabytes.

#include <string_view>

#include "kernels/name.h"

namespace assay {

// Parses as much as possible. A text that is truncated or not a mangled name gives the names up to
// there.
KernelName parse_mangled_name(std::string_view name);

}  // namespace assay
