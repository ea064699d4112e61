#pragma once

// One answer, as each room asks for it: all of these are functions of KernelFacts alone.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace assay {

// Chopper's types of operations (breakdown, diff).
enum class OpType : uint8_t { kOther, kGemm, kAttention, kVector, kComm, kCopy };
inline constexpr size_t kOpTypes = 6;
std::string_view op_type_name(OpType type);  // other, gemm, fa, vec, comm, copy
OpType op_type(const KernelFacts& facts);

// What fusing it takes (launch, fuse).
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

// A kernel that moves data between GPUs is no computing; one that moves data inside a GPU works
// like any other there.
bool is_compute(const KernelFacts& facts);

// Steps of an optimizer, as far as kernels alone tell: its own, and element by element over a list
// of tensors, which PyTorch's optimizers launch and hardly anything else does.
bool is_optimizer_step(const KernelFacts& facts);

// Which pass of training a kernel belongs to, as its name tells.
enum class NamedPass : uint8_t {
  kNone,
  kBackward,
  kDataGradient,  // of a convolution's input, or a transposed convolution's forward pass
};
NamedPass named_pass(const KernelFacts& facts);

// Which arithmetic a roofline has to know. BF16 stands for all 16-bit formats, and for names that
// do not tell.
enum class MathType : uint8_t { kBf16, kFp32, kFp64 };
MathType math_type(const KernelFacts& facts);

}  // namespace assay
