// Mixture-of-experts operators of inference engines. Which expert a token uses depends on data, but
// every row is processed by one expert, so the shapes determine the FLOP if all experts are on one
// GPU. If they are on several, a rank skips the rows of remote experts, and the number of its own
// rows is unknown. The weights of at most as many experts as rows are read. Operators that sort
// rows by expert read and write their arguments.

#include <algorithm>
#include <array>

#include "roof/models.h"

namespace assay {
namespace {

// Upper bound of the share of expert weights that this number of rows uses.
double reached(double rows, double experts) {
  return experts > 0 ? std::min(1.0, rows / experts) : 1.0;
}

// True if the experts are on several GPUs. The chosen experts are then followed by a map from
// global to local expert numbers (vLLM's expert_map), one integer per expert.
bool maps_experts(const OpInputs& inputs, double here) {
  constexpr size_t kChosen = 4;
  for (size_t i = kChosen + 1; i < inputs.arguments.size(); ++i) {
    const TensorInput* one = inputs.tensor(i);
    const bool integers =
        one != nullptr && (one->type == ElementType::kInt32 || one->type == ElementType::kInt64 ||
                           one->type == ElementType::kUntold);
    if (integers && one->sizes.size() == 1 && one->sizes[0] > here) return true;
  }
  return false;
}

// Fused mixture of experts. Arguments: hidden [t, h], w1 [experts, 2 i, h] and w2 [experts, h, i];
// then the weights and numbers of each token's experts [t, k].
WorkAnswer fused_work(const OpInputs& inputs) {
  const TensorInput* hidden = inputs.tensor(0);
  const TensorInput* up = inputs.tensor(1);
  const TensorInput* down = inputs.tensor(2);
  const TensorInput* chosen = inputs.tensor(4);
  if (hidden == nullptr || up == nullptr || down == nullptr || chosen == nullptr)
    return {WorkKnown::kNoShapes};
  const bool ranks = hidden->sizes.size() == 2 && up->sizes.size() == 3 &&
                     down->sizes.size() == 3 && chosen->sizes.size() == 2;
  if (!ranks || up->sizes[2] != hidden->sizes[1] || down->sizes[1] != hidden->sizes[1])
    return {WorkKnown::kNotCovered};  // includes packed weights
  if (maps_experts(inputs, up->sizes[0])) return {WorkKnown::kNotCovered};
  const double rows = hidden->sizes[0] * chosen->sizes[1];
  OpWork work{.kind = OpWorkKind::kExperts, .matrix = true};
  work.math = element_bytes(up->type) == 1 ? up->type : hidden->type;
  work.flop = 2 * rows * (up->sizes[1] * up->sizes[2] + down->sizes[1] * down->sizes[2]);
  work.read_bytes = hidden->bytes() + reached(rows, up->sizes[0]) * (up->bytes() + down->bytes());
  work.write_bytes = hidden->bytes();
  return told(work, is_typed(*hidden) && is_typed(*up));
}

// Products of rows sorted by expert with their expert's matrix. Shapes: out [rows, n], a [rows, k],
// b [experts, n, k] or [experts, k, n].
struct GroupedProduct {
  std::string_view op;
  size_t out;
  size_t a;  // b follows
};
constexpr auto kGroupedProducts = std::to_array<GroupedProduct>({
    {"_C::cutlass_moe_mm", 0, 1},
    {"sgl_kernel::es_fp8_blockwise_scaled_grouped_mm", 0, 1},
    {"sgl_kernel::fp8_blockwise_scaled_grouped_mm", 0, 6},
});

WorkAnswer grouped_work(const GroupedProduct& kind, const OpInputs& inputs) {
  const TensorInput* out = inputs.tensor(kind.out);
  const TensorInput* a = inputs.tensor(kind.a);
  const TensorInput* b = inputs.tensor(kind.a + 1);
  if (out == nullptr || a == nullptr || b == nullptr) return {WorkKnown::kNoShapes};
  if (out->sizes.size() != 2 || a->sizes.size() != 2 || b->sizes.size() != 3)
    return {WorkKnown::kNotCovered};
  const double rows = a->sizes[0];
  const double inner = a->sizes[1];
  const double columns = out->sizes[1];
  const bool either = (b->sizes[1] == columns && b->sizes[2] == inner) ||
                      (b->sizes[2] == columns && b->sizes[1] == inner);
  if (!either || out->sizes[0] != rows) return {WorkKnown::kNotCovered};  // packed weights
  OpWork work{.kind = OpWorkKind::kExperts, .matrix = true, .math = a->type};
  work.flop = 2 * rows * columns * inner;
  work.read_bytes = a->bytes() + reached(rows, b->sizes[0]) * b->bytes();
  work.write_bytes = out->bytes();
  return told(work, is_typed(*a) && is_typed(*b) && is_typed(*out));
}

// Argument positions of routing and sorting operators.
struct Sorting {
  std::string_view op;
  OpWorkKind kind;
  size_t read;  // a single argument
  size_t first_written;
  size_t last_written;
  double flop = 0;  // per element read
};
constexpr auto kSorting = std::to_array<Sorting>({
    {"_moe_C::topk_softmax", OpWorkKind::kSoftmax, 3, 0, 2, 5},
    {"sgl_kernel::topk_softmax", OpWorkKind::kSoftmax, 2, 0, 1, 5},
    {"_moe_C::moe_align_block_size", OpWorkKind::kMove, 0, 3, 5},
    {"_moe_C::sgl_moe_align_block_size", OpWorkKind::kMove, 0, 3, 5},
    {"sgl_kernel::moe_align_block_size", OpWorkKind::kMove, 0, 3, 5},
    {"_moe_C::moe_sum", OpWorkKind::kReduction, 0, 1, 1, 1},
    {"sgl_kernel::moe_sum", OpWorkKind::kReduction, 0, 1, 1, 1},
    {"sgl_kernel::moe_sum_reduce", OpWorkKind::kReduction, 0, 1, 1, 1},
});

// Older versions of SGLang's topk_softmax have a third result before the input, as vLLM's does.
bool has_third_result(const Sorting& kind, const OpInputs& inputs) {
  const TensorInput* next = inputs.tensor(kind.read + 1);
  return kind.op == "sgl_kernel::topk_softmax" && next != nullptr && next->sizes.size() == 2;
}

WorkAnswer sorting_work(Sorting kind, const OpInputs& inputs) {
  if (has_third_result(kind, inputs)) {
    ++kind.read;
    ++kind.last_written;
  }
  const TensorInput* read = inputs.tensor(kind.read);
  if (read == nullptr) return {WorkKnown::kNoShapes};
  OpWork work{.kind = kind.kind, .math = read->type};
  work.flop = kind.flop * read->elements();
  work.read_bytes = read->bytes();
  bool typed = is_typed(*read);
  for (size_t i = kind.first_written; i <= kind.last_written; ++i) {
    const TensorInput* written = inputs.tensor(i);
    if (written == nullptr) return {WorkKnown::kNoShapes};
    typed &= is_typed(*written);
    work.write_bytes += written->bytes();
  }
  return told(work, typed);
}

// True for operators with weights that belong to the layer and are not arguments.
bool hides_weights(std::string_view op) {
  return op == "vllm::moe_forward" || op == "vllm::moe_forward_shared";
}

bool is_fused(std::string_view op) {
  return op.ends_with("::inplace_fused_experts") || op.ends_with("::outplace_fused_experts") ||
         op == "vllm::rocm_aiter_fused_moe";
}

}  // namespace

std::optional<WorkAnswer> experts_work(std::string_view op, const OpInputs& inputs) {
  if (is_fused(op)) return fused_work(inputs);
  if (const GroupedProduct* kind = find_op(kGroupedProducts, op))
    return grouped_work(*kind, inputs);
  if (const Sorting* kind = find_op(kSorting, op)) return sorting_work(*kind, inputs);
  if (hides_weights(op)) return WorkAnswer{WorkKnown::kNotCovered};
  return std::nullopt;
}

}  // namespace assay
