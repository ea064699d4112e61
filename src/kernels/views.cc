#include "kernels/views.h"

#include <algorithm>
#include <array>

namespace assay {
namespace {

bool has_tag(const KernelFacts& facts, std::string_view tag) {
  return std::find(facts.tags.begin(), facts.tags.end(), tag) != facts.tags.end();
}

}  // namespace

std::string_view op_type_name(OpType type) {
  constexpr std::array<std::string_view, kOpTypes> kNames = {"other", "gemm", "fa",
                                                             "vec",   "comm", "copy"};
  return kNames[static_cast<size_t>(type)];
}

OpType op_type(const KernelFacts& facts) {
  switch (facts.kind) {
    case KernelKind::kGemm:
    case KernelKind::kConv:
      return OpType::kGemm;
    case KernelKind::kAttention:
      return OpType::kAttention;
    case KernelKind::kCommunication:
      return OpType::kComm;
    case KernelKind::kCopy:
      return OpType::kCopy;
    case KernelKind::kOther:
      return OpType::kOther;
    default:
      return OpType::kVector;
  }
}

std::string_view fusion_kind_name(FusionKind kind) {
  constexpr std::array<std::string_view, 7> kNames = {
      "elementwise", "reduction", "copy", "library", "generated", "collective", "other"};
  return kNames[static_cast<size_t>(kind)];
}

FusionKind fusion_kind(const KernelFacts& facts) {
  if (facts.kind == KernelKind::kCommunication) return FusionKind::kCollective;
  if (facts.library == "inductor") return FusionKind::kGenerated;
  switch (facts.kind) {
    case KernelKind::kElementwise:
    case KernelKind::kRandom:
    case KernelKind::kOptimizer:
    case KernelKind::kQuantize:
      return FusionKind::kElementwise;
    case KernelKind::kNorm:
    case KernelKind::kSoftmax:
    case KernelKind::kReduce:
    case KernelKind::kScan:
    case KernelKind::kPool:
      return FusionKind::kReduction;
    case KernelKind::kCopy:
    case KernelKind::kIndex:
    case KernelKind::kEmbedding:
      return FusionKind::kCopy;
    case KernelKind::kGemm:
    case KernelKind::kConv:
    case KernelKind::kAttention:
      return FusionKind::kLibrary;
    default:
      return FusionKind::kOther;
  }
}

bool is_optimizer_step(const KernelFacts& facts) {
  if (facts.kind == KernelKind::kOptimizer) return true;
  return facts.kind == KernelKind::kElementwise && has_tag(facts, "tensor_list");
}

NamedPass named_pass(const KernelFacts& facts) {
  if (has_tag(facts, "data_gradient")) return NamedPass::kDataGradient;
  return has_tag(facts, "backward") ? NamedPass::kBackward : NamedPass::kNone;
}

bool is_compute(const KernelFacts& facts) { return facts.kind != KernelKind::kCommunication; }

MathType math_type(const KernelFacts& facts) {
  if (facts.data_type == "fp64") return MathType::kFp64;
  if (facts.data_type == "fp32" || facts.data_type == "tf32") return MathType::kFp32;
  return MathType::kBf16;
}

}  // namespace assay
