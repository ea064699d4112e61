#pragma once

// Views of the classification for each module: functions of KernelFacts alone.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace assay {

// Chopper's types of operations (breakdown, diff).
enum class OpType : uint8_t { kOther, kGemm, kAttention, kVector, kComm, kCopy };
inline constexpr size_t kOpTypes = 6;
std::string_view op_type_name(OpType type);  // One of gemm, fa, vec, comm, copy and other.
OpType op_type(const KernelFacts& facts);

// How a kernel can be fused.
enum class FusionKind : uint8_t {
  kElementwise,
  kReduction,   // sums, norms, softmax
  kCopy,        // copies, casts, fills, gathers written as kernels
  kLibrary,     // GEMM, convolution, attention: hand-written, not fusable by a compiler as such
  kGenerated,   // already written by a compiler (Triton, Inductor)
  kCollective,  // waits for other GPUs: cannot be fused
  kOther,
};
std::string_view fusion_kind_name(FusionKind kind);
FusionKind fusion_kind(const KernelFacts& facts);

// False for a kernel that moves data between GPUs. A kernel that moves data inside a GPU counts as
// compute.
bool is_compute(const KernelFacts& facts);

// True for steps of an optimizer, from kernels alone: the optimizer's own kernels, and elementwise
// kernels over a list of tensors. PyTorch's optimizers launch the latter, and hardly anything else
// does.
bool is_optimizer_step(const KernelFacts& facts);

// Training pass inferred from a kernel's name.
enum class NamedPass : uint8_t {
  kNone,
  kBackward,
  kDataGradient,  // of a convolution's input, or a transposed convolution's forward pass
};
NamedPass named_pass(const KernelFacts& facts);

// Arithmetic type for a roofline. BF16 represents all 16-bit formats and names without a type.
enum class MathType : uint8_t { kBf16, kFp32, kFp64 };
MathType math_type(const KernelFacts& facts);

}  // namespace assay
