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
// Kernels stride over the grid, so that fewer blocks than words are fine.
unsigned blocks_for(uint64_t words);

// Memory on the GPU in use, of random numbers near 1 of either sign: power depends on the bits that
// are moved. `buffer` is set as soon as there is something to release, also where filling fails.
Status make_filled(const GpuRuntime& runtime, const GpuHelpers& helpers, int64_t bytes,
                   DataType type, void*& buffer);

}  // namespace assay
