// What a kernel does, from its name, and what that means for fusing it.

#include <algorithm>
#include <array>
#include <span>

#include "base/ascii.h"
#include "launch/fuse.h"

namespace assay {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 6> kCollectiveWords = {
    "nccl", "rccl", "all_reduce", "allreduce", "cross_device_reduce", "reducescatter"};
constexpr std::array<std::string_view, 3> kLayoutWords = {"nchwtonhwc", "nhwctonchw", "transpose"};
constexpr std::array<std::string_view, 19> kLibraryWords = {
    "gemm",   "gemv",     "cijk_",    "cutlass", "cublas",  "cudnn", "miopen",
    "matmul", "xmma",     "convolve", "conv2d",  "conv1d",  "fprop", "dgrad",
    "wgrad",  "winograd", "flash",    "fmha",    "attn_fwd"};
constexpr std::array<std::string_view, 11> kReductionWords = {
    "reduce",     "softmax",   "layer_norm", "layernorm", "rmsnorm", "rms_norm",
    "group_norm", "groupnorm", "batch_norm", "argmax",    "topk"};
constexpr std::array<std::string_view, 12> kCopyWords = {
    "copy",      "catarray",     "fillfunctor",       "gather",
    "scatter",   "index_select", "indexselect",       "index_elementwise",
    "index_put", "embedding",    "reshape_and_cache", "memset"};
constexpr std::array<std::string_view, 8> kElementwiseWords = {
    "elementwise", "pointwise", "activation", "gelu", "silu", "dropout", "rotary", "act_and_mul"};

bool has_word(std::string_view name, Words words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::search(name.begin(), name.end(), word.begin(), word.end(),
                       [](char a, char b) { return lower(a) == b; }) != name.end();
  });
}

}  // namespace

std::string_view kernel_kind_name(KernelKind kind) {
  switch (kind) {
    case KernelKind::kElementwise:
      return "elementwise";
    case KernelKind::kReduction:
      return "reduction";
    case KernelKind::kCopy:
      return "copy";
    case KernelKind::kLibrary:
      return "library";
    case KernelKind::kGenerated:
      return "generated";
    case KernelKind::kCollective:
      return "collective";
    case KernelKind::kOther:
      return "other";
  }
  return "";
}

// The order decides: a wrapper's name says less than what it wraps
// ("elementwise_kernel<...copy...>" is a copy), and library names contain everything.
KernelKind classify_kernel(std::string_view name) {
  if (name.substr(0, 7) == "triton_") return KernelKind::kGenerated;
  if (has_word(name, kCollectiveWords)) return KernelKind::kCollective;
  if (has_word(name, kLayoutWords)) return KernelKind::kCopy;
  if (has_word(name, kLibraryWords)) return KernelKind::kLibrary;
  if (has_word(name, kReductionWords)) return KernelKind::kReduction;
  if (has_word(name, kCopyWords)) return KernelKind::kCopy;
  if (has_word(name, kElementwiseWords)) return KernelKind::kElementwise;
  if (name.find("attention") != std::string_view::npos) return KernelKind::kLibrary;
  return KernelKind::kOther;
}

std::string_view remedy_name(Remedy remedy) {
  switch (remedy) {
    case Remedy::kTriton:
      return "triton";
    case Remedy::kTorchCompile:
      return "torch_compile";
    case Remedy::kCudaGraph:
      return "cuda_graph";
  }
  return "";
}

}  // namespace assay
