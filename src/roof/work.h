#pragma once

// Work of an operator from its arguments: FLOP, and the bytes of an ideal implementation, which
// reads every input once and writes every result once.
//
// A multiply-add counts as two FLOP. GEMM, convolution and attention count their products without
// epilogues. All other operators count one to a few FLOP per element, because memory limits them.
// Padding counts as data. Causal attention counts exactly the valid pairs of query and key. The
// models are in product.cc, convolution.cc, attention.cc, experts.cc, lookups.cc, pooling.cc,
// fbgemm.cc and the table of streams.cc.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "roof/inputs.h"

namespace assay {

enum class OpWorkKind : uint8_t {
  kProduct,
  kConvolution,
  kAttention,
  kNorm,
  kSoftmax,
  kElementwise,
  kReduction,
  kLookup,  // embeddings, gathers
  kMove,    // copies, concatenations, casts
  kLoss,
  kOptimizer,
  kExperts,
  kGenerated,  // compiler-generated: every tensor once, no FLOP
};
inline constexpr size_t kOpWorkKinds = 13;
std::string_view work_kind_name(OpWorkKind kind);  // "gemm", "conv", ...

struct OpWork {
  OpWorkKind kind = OpWorkKind::kElementwise;
  bool matrix = false;                      // uses matrix units
  ElementType math = ElementType::kUntold;  // type of the operands
  double flop = 0;
  double read_bytes = 0;
  double write_bytes = 0;
  // Lengths come from recorded values instead of shapes. They may differ when the same launch is
  // replayed, for example in a graph.
  bool by_values = false;
  // Attention only. masked_flop: pairs that a mask leaves out, not included in `flop`.
  // repeated_flop: forward scores that a fused backward recomputes, included in `flop`.
  double masked_flop = 0;
  double repeated_flop = 0;

  double bytes() const { return read_bytes + write_bytes; }
  // Corrects the type from the kernel's name: FP32 in memory, multiplied as TF32.
  void multiply_as(ElementType kernel_type) {
    const bool reduced = kernel_type == ElementType::kTf32;
    if (matrix && math == ElementType::kFloat32 && reduced) math = kernel_type;
  }
};

enum class WorkKnown : uint8_t {
  kTold,
  kNoModel,     // the operator is in no table
  kNoShapes,    // its sizes were not recorded
  kNoTypes,     // FLOP are known, bytes are not: an element type is unknown
  kNoValues,    // strides, flags or axes that the model needs were not recorded
  kNotCovered,  // shapes outside the model: sequences of unknown lengths, unexpected ranks
  kBounds,      // known within bounds: at least `work`, at most `most`
};

struct WorkAnswer {
  WorkKnown known = WorkKnown::kNoModel;
  OpWork work = {};  // complete for kTold, without bytes for kNoTypes, the minimum for kBounds
  OpWork most = {};  // the maximum, for kBounds
};

// Context of an operator. The backward parts of a convolution have their weight only in the
// enclosing operator.
struct EnclosingOp {
  std::string_view name = {};
  const OpInputs* inputs = nullptr;
  // Size of the operator's result, from its gradient; empty = unknown.
  Sizes result = {};
  // For a lookup, the arguments of its gradient node; for such a node, those of its lookup.
  const OpInputs* paired = nullptr;
};
WorkAnswer operator_work(std::string_view op, const OpInputs& inputs,
                         const EnclosingOp& enclosing = {});

// Sequence lengths of a forward attention; only if all sequences have the same.
struct AttentionLengths {
  double queries = 0;
  double keys = 0;     // 0 = paged; the number read is unknown
  bool pages = false;  // keys are in a paged KV cache, kept from step to step
};
std::optional<AttentionLengths> attention_lengths(std::string_view op, const OpInputs& inputs);

// FLOP on matrix units, from the texts of Trace::op_inputs; NaN if the operator does not use matrix
// units or its shapes are not enough.
double matrix_flop(std::string_view op, std::string_view dims, std::string_view concrete);

}  // namespace assay
