#pragma once

// Assay's own kernels on one GPU, and memory filled by them.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "devices/gpu_runtime.h"
#include "devices/workload.h"

namespace assay {

struct GpuHelpers {
  void* stamp = nullptr;
  void* fill = nullptr;
  void* triad = nullptr;
};
// Loads the image on the current GPU.
Result<GpuHelpers> load_helpers(const GpuRuntime& runtime, const std::string& image);

constexpr unsigned kGpuThreads = 256;  // of a block
// Blocks for this many 32-bit words, capped: kernels use grid-stride loops.
unsigned blocks_for(uint64_t words);

// Allocates memory on the current GPU and fills it with random numbers near 1 and -1, because power
// depends on the data. `buffer` is set after allocation, even if filling fails: release it then.
Status make_filled(const GpuRuntime& runtime, const GpuHelpers& helpers, int64_t bytes,
                   DataType type, void*& buffer);

}  // namespace assay
