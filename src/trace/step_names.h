#pragma once

// The marks that PyTorch's profiler sets around the steps of a program.

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

// The number of "ProfilerStep#7"; none for any other name.
std::optional<uint64_t> profiler_step(std::string_view name);

}  // namespace assay
