#pragma once

// The trace of examples/, which travels in the program: something to try it on.

#include <string_view>

namespace assay {

inline constexpr const char* kExampleName = "h100_vit_inference.json.gz";
// A gzip file.
std::string_view example_trace();

}  // namespace assay
