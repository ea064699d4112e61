#pragma once

// Work that a kernel's name and its launch tell within bounds, where no operator's shapes do: of
// PyTorch's elementwise kernels over contiguous tensors the name has the types and the number of
// tensors, and the grid is as large as their elements ask for.
//
// The sizes are those of PyTorch's launches, aten/src/ATen/native/cuda/CUDALoops.cuh and
// thread_constants.h: a thread takes 4 elements of old (at::detail::Array, up to 2.5), later 4, 8
// or 16 by type and device, and never fewer than one vector. Grids of public traces are compared
// with the sizes that were recorded there (tests/golden/check_roof.py).

#include <cstdint>
#include <optional>
#include <string_view>

#include "roof/work.h"

namespace assay {

struct LaunchSize {
  uint64_t blocks = 0;   // 0 = not told
  uint64_t threads = 0;  // of a block
};

// What launches of a kernel tell of its other ones.
struct LaunchRule {
  double fewest = 4;  // elements that a thread takes: a power of two
  double most = 16;
  double result_bytes = 0;  // of an element; 0 = not told
};
// What a launch over so many elements shows of it; nothing where none of the three fits. The
// elements of one block tell no more than that they fit.
std::optional<LaunchRule> per_thread_shown(const LaunchSize& launch, double elements);

// The type that all tensors of such a kernel have, its result among them; kUntold where they are
// several or the name does not tell. op: as below.
ElementType pointwise_type(std::string_view kernel, std::string_view op);

// kernel: demangled, as traces have it. kBounds, or kNoModel where name and launch do not tell.
// Tensors count as distinct, as for operators; operations are not counted: memory bounds it.
// op: that launched it, or none. The name of a lambda leaves its result out: one that adds or
// clamps gives what it takes. shown: by launches of this kernel whose sizes were recorded; kNoModel
// where it is none of what name and version allow.
WorkAnswer pointwise_launch_work(std::string_view kernel, const LaunchSize& launch,
                                 std::string_view op = {}, LaunchRule shown = {});

// The same for PyTorch's kernels over lists of tensors (_foreach_*, fused optimizers): a block
// takes a chunk of 65,536 elements, of which only the last of a tensor may be shorter, and a launch
// holds so many tensors (aten/src/ATen/native/cuda/MultiTensorApply.cuh, all versions since 1.6).
// apex and DeepSpeed pass the size of a chunk as an argument: their kernels are not told.
WorkAnswer list_launch_work(std::string_view kernel, const LaunchSize& launch);

}  // namespace assay
