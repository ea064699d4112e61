#include "devices/gpu_memory.h"

#include <algorithm>
#include <array>

namespace assay {
namespace {

constexpr unsigned kMostBlocks = 65535;

// Masks for even and odd 32-bit words.
struct FillPattern {
  std::array<uint32_t, 2> keep;
  std::array<uint32_t, 2> set;
};
FillPattern fill_pattern(DataType type) {
  switch (type) {
    case DataType::kF16:
      return {{0x83ff83ff, 0x83ff83ff}, {0x3c003c00, 0x3c003c00}};
    case DataType::kBf16:
      return {{0x807f807f, 0x807f807f}, {0x3f803f80, 0x3f803f80}};
    case DataType::kF32:
      return {{0x807fffff, 0x807fffff}, {0x3f800000, 0x3f800000}};
    case DataType::kF64:
      break;
  }
  return {{0xffffffff, 0x800fffff}, {0, 0x3ff00000}};
}

}  // namespace

Result<GpuHelpers> load_helpers(const GpuRuntime& runtime, const std::string& image) {
  const GpuApi& api = runtime.api();
  void* module = nullptr;
  ASSAY_TRY(runtime.check(api.module_load(&module, image.c_str()), "loading Assay's kernels"));
  GpuHelpers helpers;
  const auto find = [&](const char* name, void*& function) {
    return runtime.check(api.module_function(&function, module, name),
                         std::string("finding the kernel ") + name);
  };
  ASSAY_TRY(find("assay_stamp", helpers.stamp));
  ASSAY_TRY(find("assay_fill", helpers.fill));
  ASSAY_TRY(find("assay_triad", helpers.triad));
  return helpers;
}

unsigned blocks_for(uint64_t words) {
  return static_cast<unsigned>(
      std::min<uint64_t>(kMostBlocks, (words + kGpuThreads - 1) / kGpuThreads));
}

Status make_filled(const GpuRuntime& runtime, const GpuHelpers& helpers, int64_t bytes,
                   DataType type, void*& buffer) {
  ASSAY_TRY(runtime.check(runtime.api().allocate(&buffer, static_cast<size_t>(bytes)),
                          "allocating " + std::to_string(bytes) + " bytes on the GPU"));
  FillPattern pattern = fill_pattern(type);
  uint64_t words = static_cast<uint64_t>(bytes) / 4;
  if (words == 0) return Ok{};
  void* arguments[] = {&buffer,         &words,           &pattern.keep[0],
                       &pattern.set[0], &pattern.keep[1], &pattern.set[1]};
  ASSAY_TRY(runtime.launch(helpers.fill, blocks_for(words), kGpuThreads, arguments));
  return runtime.synchronize();
}

}  // namespace assay
