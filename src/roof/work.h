#pragma once

// Work of an operator from its arguments: floating point operations, and the bytes of an ideal
// implementation, which reads every input once and writes every result once.
//
// A multiplication and an addition are two operations. Counted are the products of GEMM,
// convolution and attention, without epilogues. All other operators count one to a few operations
// per element, because memory limits them. Padding counts as data. Causal attention counts exactly
// the valid pairs of query and key. The models are in product.cc, convolution.cc, attention.cc and
// the table of streams.cc.

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
  kGenerated,  // by a compiler: every tensor once, no operations
};
inline constexpr size_t kOpWorkKinds = 13;
std::string_view work_kind_name(OpWorkKind kind);  // "gemm", "conv", ...

struct OpWork {
  OpWorkKind kind = OpWorkKind::kElementwise;
  bool matrix = false;                      // on matrix units
  ElementType math = ElementType::kUntold;  // of the operands
  double flop = 0;
  double read_bytes = 0;
  double write_bytes = 0;
  // Lengths come from recorded values, not from shapes. They may differ when the same launch runs
  // again, as in a graph.
  bool by_values = false;
  // Attention alone. The FLOP of the pairs that a mask leaves out is not part of `flop`. A fused
  // backward repeats the scores of the forward pass, which are part of it.
  double masked_flop = 0;
  double repeated_flop = 0;

  double bytes() const { return read_bytes + write_bytes; }
  // From a kernel's name: FP32 in memory, multiplied as TF32.
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
  kBounds,      // lengths or types have only bounds: at least `work`, at most `most`
};
inline constexpr size_t kWorkKnowns = 7;
// In words, for a reader: "no model of this operator".
std::string_view work_known_words(WorkKnown known);

struct WorkAnswer {
  WorkKnown known = WorkKnown::kNoModel;
  OpWork work = {};  // for kTold; for kNoTypes without bytes; for kBounds the minimum
  OpWork most = {};  // of kBounds
};

// The enclosing operator. Only there do the backward parts of a convolution have their weight.
struct EnclosingOp {
  std::string_view name = {};
  const OpInputs* inputs = nullptr;
  // Sizes of the operator's result, from its gradient; empty = unknown.
  Sizes result = {};
  // For a lookup, the arguments of its gradient node; for such a node, those of its lookup.
  const OpInputs* paired = nullptr;
};
WorkAnswer operator_work(std::string_view op, const OpInputs& inputs,
                         const EnclosingOp& enclosing = {});
// True if a table has the operator, for any arguments.
bool has_work_model(std::string_view op);

// Sequence lengths of a forward attention, if all are equal.
struct AttentionLengths {
  double queries = 0;
  double keys = 0;     // 0 = in pages; the number read is unknown
  bool pages = false;  // keys lie in pages: somebody keeps them from step to step
};
std::optional<AttentionLengths> attention_lengths(std::string_view op, const OpInputs& inputs);

// FLOP on matrix units, from the texts of Trace::op_inputs; NaN if the operator has none or its
// shapes are not enough.
double matrix_flop(std::string_view op, std::string_view dims, std::string_view concrete);

}  // namespace assay
