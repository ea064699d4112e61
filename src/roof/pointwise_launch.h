#pragma once

// Bounds on work from a kernel's name and launch, without operator shapes. For PyTorch's
// elementwise kernels over contiguous tensors, the name contains the types and the number of
// tensors, and the grid depends on the number of elements.
//
// The launch sizes are those of aten/src/ATen/native/cuda/CUDALoops.cuh and thread_constants.h in
// PyTorch. A thread processes 4 elements in old versions (at::detail::Array, up to 2.5); in later
// versions 4, 8 or 16 by type and device, but at least one vector. tests/golden/check_roof.py
// compares the grids of public traces with recorded sizes.

#include <cstdint>
#include <optional>
#include <string_view>

#include "roof/work.h"

namespace assay {

struct LaunchSize {
  uint64_t blocks = 0;   // 0 = unknown
  uint64_t threads = 0;  // per block
};

// Launch parameters of a kernel, inferred from its launches with recorded sizes; applied to the
// others.
struct LaunchRule {
  double fewest = 4;  // elements per thread, from fewest to most; powers of two
  double most = 16;
  double result_bytes = 0;  // bytes per element of the result; 0 = unknown
};
// Parameters inferred from a launch with this number of elements; nullopt if none of 4, 8 and 16
// elements per thread fits. A launch of one block gives only a lower bound.
std::optional<LaunchRule> per_thread_shown(const LaunchSize& launch, double elements);

// The type shared by all tensors of such a kernel, including the result; kUntold if they differ or
// the name does not contain it. op: as for pointwise_launch_work.
ElementType pointwise_type(std::string_view kernel, std::string_view op);

// kernel: demangled, as in traces. Returns kBounds, or kNoModel if name and launch are not enough.
// All tensors are assumed distinct, as for operators. FLOP are not counted, because memory is the
// limit. op: the operator that launched the kernel, or empty. It is needed because the name of a
// lambda lacks the result type: one that adds or clamps returns the type of its arguments. shown:
// inferred from launches of this kernel with recorded sizes; kNoModel if name and version
// contradict it.
WorkAnswer pointwise_launch_work(std::string_view kernel, const LaunchSize& launch,
                                 std::string_view op = {}, LaunchRule shown = {});

// The same for PyTorch's kernels over lists of tensors (_foreach_*, fused optimizers). A block
// processes a chunk of 65,536 elements; only the last chunk of a tensor may be shorter. The number
// of tensors per launch is fixed (aten/src/ATen/native/cuda/MultiTensorApply.cuh, all versions
// since 1.6). apex and DeepSpeed pass the chunk size as an argument, so their kernels are unknown.
WorkAnswer list_launch_work(std::string_view kernel, const LaunchSize& launch);

}  // namespace assay
