#pragma once

// What torch.compile cost and gained where SKIP measured it: data, with its source. The launch
// floors published beside it are in records/launch_floors.h, other rooms need them too.

#include <span>
#include <string_view>

#include "records/launch_floors.h"

namespace assay {

// One column of SKIP Table I: Gemma-2B, batch 1, 1024 tokens, Intel+H100.
struct PublishedCompileMode {
  std::string_view mode;
  double compile_s = 0;  // time to the first token including compilation
  double speedup = 1;    // of the time to first token afterwards, against eager
};
std::span<const PublishedCompileMode> published_compile_modes();

}  // namespace assay
