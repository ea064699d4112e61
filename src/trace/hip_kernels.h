#pragma once

// HIP's internal kernels and commands.

#include <string_view>

#include "trace/trace.h"

namespace assay {

// HIP copies and fills memory with internal kernels ("__amd_rocclr_copyBufferAligned"), where other
// tracers record copies and fills.
inline ActivityKind kind_of_hip_kernel(std::string_view name) {
  if (name.starts_with("__amd_rocclr_copy")) return ActivityKind::kMemcpy;
  return name.starts_with("__amd_rocclr_fill") ? ActivityKind::kMemset : ActivityKind::kKernel;
}

// The same for traces that also have rows for commands other than kernels ("CopyHostToDevice").
ActivityKind kind_of_hip_command(std::string_view name);

}  // namespace assay
