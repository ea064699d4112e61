#pragma once

// Bounds on work from a kernel's name and launch, without the shapes of an operator. For PyTorch's
// elementwise kernels over contiguous tensors, the name contains the types and the number of
// tensors, and the grid depends on the number of elements.
//
// The sizes are those of PyTorch's launches, aten/src/ATen/native/cuda/CUDALoops.cuh and
// thread_constants.h. A thread processes 4 elements in old versions (at::detail::Array, up to 2.5),
// later 4, 8 or 16 by type and device, and at least one vector. Grids of public traces are compared
// with recorded sizes (tests/golden/check_roof.py).

#include <cstdint>
#include <optional>
#include <string_view>

#include "roof/work.h"

namespace assay {

struct LaunchSize {
  uint64_t blocks = 0;   // 0 = not told
  uint64_t threads = 0;  // of a block
};

// Rule that some launches of a kernel show for the others.
struct LaunchRule {
  double fewest = 4;  // elements that a thread takes: a power of two
  double most = 16;
  double result_bytes = 0;  // of an element; 0 = unknown
};
// The rule that a launch with this number of elements shows; nullopt if none of the three fits. A
// launch of one block shows only that its elements fit.
std::optional<LaunchRule> per_thread_shown(const LaunchSize& launch, double elements);

// The common type of all tensors of such a kernel, including the result; kUntold if there are
// several or the name does not contain it. op: as below.
ElementType pointwise_type(std::string_view kernel, std::string_view op);

// kernel: demangled, as in traces. Returns kBounds, or kNoModel if name and launch are not enough.
// Tensors count as distinct, as for operators. Operations are not counted, because memory is the
// limit. op: the operator that launched it, or none. The name of a lambda lacks its result type;
// one that adds or clamps returns the type of its arguments. shown: from launches of this kernel
// with recorded sizes; kNoModel if name and version do not allow it.
WorkAnswer pointwise_launch_work(std::string_view kernel, const LaunchSize& launch,
                                 std::string_view op = {}, LaunchRule shown = {});

// The same for PyTorch's kernels over lists of tensors (_foreach_*, fused optimizers). A block
// processes a chunk of 65,536 elements; only the last chunk of a tensor may be shorter. The number
// of tensors per launch is fixed (aten/src/ATen/native/cuda/MultiTensorApply.cuh, all versions
// since 1.6). apex and DeepSpeed pass the chunk size as an argument, so their kernels are unknown.
WorkAnswer list_launch_work(std::string_view kernel, const LaunchSize& launch);

}  // namespace assay
