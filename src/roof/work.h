#pragma once

// The work that an operator's arguments ask for: floating point operations and the bytes that an
// ideal implementation moves, which reads every input once and writes every result once.
//
// A multiplication and an addition are two operations. Counted are the products of GEMM,
// convolution and attention, without epilogues, and one to a few operations per element of the
// rest, which memory bounds anyhow. Padding counts as if it were data; causal attention counts the
// pairs of query and key that it may look at, exactly. The models are in product.cc,
// convolution.cc, attention.cc and the table of streams.cc.

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
  // Lengths are told by recorded values, not by shapes: where the same launch runs again, as in a
  // graph, they may be others.
  bool by_values = false;

  double bytes() const { return read_bytes + write_bytes; }
  // What a kernel's name tells of it: in memory FP32, multiplied as TF32.
  void multiply_as(ElementType kernel_type) {
    const bool reduced = kernel_type == ElementType::kTf32;
    if (matrix && math == ElementType::kFloat32 && reduced) math = kernel_type;
  }
};

enum class WorkKnown : uint8_t {
  kTold,
  kNoModel,     // the operator is in no table
  kNoShapes,    // its sizes were not recorded
  kNoTypes,     // FLOP are told, bytes are not: an element type is not told
  kNoValues,    // strides, flags or axes that the model needs were not recorded
  kNotCovered,  // shapes that the model does not stand for: sequences of unknown lengths, odd ranks
  kBounds,      // lengths or types are told within bounds: at least `work`, at most `most`
};
inline constexpr size_t kWorkKnowns = 7;
// In words, for a reader: "no model of this operator".
std::string_view work_known_words(WorkKnown known);

struct WorkAnswer {
  WorkKnown known = WorkKnown::kNoModel;
  OpWork work = {};  // of kTold; of kNoTypes without bytes; of kBounds the least
  OpWork most = {};  // of kBounds
};

// What an operator stands in: the backward parts of a convolution are told their weight only there.
struct EnclosingOp {
  std::string_view name = {};
  const OpInputs* inputs = nullptr;
  // Of the operator's result, where the gradient that came back for it tells them; empty = not
  // told.
  Sizes result = {};
  // Of a lookup what its gradient's node was called with, of such a node what its lookup was.
  const OpInputs* paired = nullptr;
};
WorkAnswer operator_work(std::string_view op, const OpInputs& inputs,
                         const EnclosingOp& enclosing = {});
// Whether some table has the operator, whatever it is called with.
bool has_work_model(std::string_view op);

// How long the sequences of a forward attention are, where one length tells all of them.
struct AttentionLengths {
  double queries = 0;
  double keys = 0;     // 0 = in pages, of which nothing tells how many are read
  bool pages = false;  // keys lie in pages: somebody keeps them from step to step
};
std::optional<AttentionLengths> attention_lengths(std::string_view op, const OpInputs& inputs);

// FLOP on matrix units, by the texts of Trace::op_inputs; NaN when the operator has none or its
// shapes do not tell.
double matrix_flop(std::string_view op, std::string_view dims, std::string_view concrete);

}  // namespace assay
