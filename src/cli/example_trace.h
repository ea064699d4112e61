#pragma once

// The trace of examples/, embedded in the program for trying Assay.

#include <string_view>

namespace assay {

inline constexpr const char* kExampleName = "h100_vit_inference.json.gz";
// Content of a gzip file.
std::string_view example_trace();

}  // namespace assay
