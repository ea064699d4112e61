#pragma once

// What different tools call one kernel, made alike.

#include <string>
#include <string_view>

namespace assay {

// Without the endings that AMD's tools add (".kd", " [clone .kd]"); mangled names are demangled.
std::string plain_kernel_name(std::string_view name);
// The function's own name: without return type, namespaces, template arguments and parameters.
std::string base_kernel_name(std::string_view name);

}  // namespace assay
