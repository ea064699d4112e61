// FBGEMM's operators for recommendation models: embedding tables of several features in one call,
// and what sorts their sparse indices. Arguments by position as its schemas have them
// (https://github.com/pytorch/FBGEMM, fbgemm_gpu/src and fbgemm_gpu/codegen).
//
// Of a lookup, widths of the tables are values. Where they are all as wide as the widest, or where
// there is one table, the rows are told; the type of the result never is, so that there are bounds
// at 8 and at 32 bits. Elsewhere it is not known.

#include <algorithm>
#include <array>
#include <cmath>

#include "roof/models.h"

namespace assay {
namespace {

// One argument read, and written again with other bytes per element.
struct Recoded {
  std::string_view op;
  OpWorkKind kind;
  double written_bytes = 0;  // per element; 0 = as read
  double flop = 0;           // per element
};
constexpr auto kRecoded = std::to_array<Recoded>({
    {"fbgemm::permute_pooled_embs", OpWorkKind::kMove},
    {"fbgemm::permute_pooled_embs_auto_grad", OpWorkKind::kMove},
    {"torch::autograd::CppNode<fbgemm_gpu::PermutePooledEmbsFunction<"
     "&fbgemm_gpu::permute_pooled_embs_gpu> >",
     OpWorkKind::kMove},
    {"fbgemm::recat_embedding_grad_output_mixed_D_batch", OpWorkKind::kMove},
    {"fbgemm::FloatToHFP8Quantized", OpWorkKind::kMove, 1, 2},
    {"fbgemm::HFP8QuantizedToFloat", OpWorkKind::kMove, 4, 2},
    {"fbgemm::asynchronous_complete_cumsum", OpWorkKind::kReduction, 0, 1},
    {"fbgemm::asynchronous_exclusive_cumsum", OpWorkKind::kReduction, 0, 1},
    {"fbgemm::asynchronous_inclusive_cumsum", OpWorkKind::kReduction, 0, 1},
});

WorkAnswer recoded_work(const Recoded& kind, const OpInputs& inputs) {
  const TensorInput* from = inputs.tensor(0);
  if (from == nullptr) return {WorkKnown::kNoShapes};
  const double width = kind.written_bytes > 0 ? kind.written_bytes : element_bytes(from->type);
  OpWork work{.kind = kind.kind, .math = from->type};
  work.flop = kind.flop * from->elements();
  work.read_bytes = from->bytes();
  work.write_bytes = from->elements() * width;
  return told(work, is_typed(*from));
}

// Rows of FP32 as eight bits, each with its scale and bias in FP32 behind it, and back (fused
// rowwise formats; rows are padded to four values).
WorkAnswer rowwise_work(const OpInputs& inputs, bool quantizes) {
  constexpr double kScaleAndBias = 8;
  const TensorInput* from = inputs.tensor(0);
  if (from == nullptr) return {WorkKnown::kNoShapes};
  if (from->sizes.size() != 2) return {WorkKnown::kNotCovered};
  const double rows = from->sizes[0];
  const double columns = from->sizes[1];
  const bool expected = from->type == (quantizes ? ElementType::kFloat32 : ElementType::kInt8);
  if (!expected || (!quantizes && columns < kScaleAndBias)) return {WorkKnown::kNotCovered};
  const double values = quantizes ? std::ceil(columns / 4) * 4 : columns - kScaleAndBias;
  OpWork work{.kind = OpWorkKind::kMove, .math = ElementType::kFloat32};
  work.flop = 2 * rows * values;
  work.read_bytes = from->bytes();
  work.write_bytes = rows * (quantizes ? values + kScaleAndBias : values * 4);
  return {WorkKnown::kTold, work};
}

// bounds_check_indices(rows_per_table, indices, offsets, …): all three are read.
WorkAnswer bounds_check(const OpInputs& inputs) {
  OpWork work{.kind = OpWorkKind::kLookup};
  bool all_typed = true;
  for (size_t i = 0; i < 3; ++i) {
    const TensorInput* one = inputs.tensor(i);
    if (one == nullptr) return {WorkKnown::kNoShapes};
    all_typed &= is_typed(*one);
    work.read_bytes += one->bytes();
    work.math = one->type;
    if (i == 1) work.flop = one->elements();
  }
  return told(work, all_typed);
}

// permute_2D_sparse_data(permute, lengths, values, weights, sum): a feature may be taken twice or
// left out, so that how many values there are afterwards is told by the last argument alone.
WorkAnswer permute_work(const OpInputs& inputs) {
  const TensorInput* order = inputs.tensor(0);
  const TensorInput* lengths = inputs.tensor(1);
  const TensorInput* values = inputs.tensor(2);
  if (order == nullptr || lengths == nullptr || values == nullptr || lengths->sizes.empty())
    return {WorkKnown::kNoShapes};
  const auto sum = inputs.number(4);
  if (!sum) return {WorkKnown::kNoValues};
  const double batch = elements_of(lengths->sizes, 1);
  const double counted = bytes_of(order->elements() * batch, *lengths);
  const TensorInput* weights = inputs.tensor(3);
  const double each =
      element_bytes(values->type) + (weights == nullptr ? 0 : element_bytes(weights->type));
  OpWork work{.kind = OpWorkKind::kMove, .math = values->type};
  work.read_bytes = order->bytes() + std::min(counted, lengths->bytes()) +
                    std::min(*sum, values->elements()) * each;
  work.write_bytes = counted + *sum * each;
  return told(work, is_typed(*order) && is_typed(*lengths) && is_typed(*values));
}

// block_bucketize_sparse_features(lengths, indices, positions?, sequence?, block sizes, parts,
// weights).
WorkAnswer bucketize_work(const OpInputs& inputs) {
  const TensorInput* lengths = inputs.tensor(0);
  const TensorInput* indices = inputs.tensor(1);
  if (lengths == nullptr || indices == nullptr) return {WorkKnown::kNoShapes};
  const auto positions = inputs.flag(2);
  const auto sequence = inputs.flag(3);
  const auto parts = inputs.number(5);
  if (!positions || !sequence || !parts) return {WorkKnown::kNoValues};
  const TensorInput* blocks = inputs.tensor(4);
  const TensorInput* weights = inputs.tensor(6);
  const double weighted = weights == nullptr ? 0 : weights->bytes();
  OpWork work{.kind = OpWorkKind::kMove, .math = indices->type};
  work.read_bytes =
      lengths->bytes() + indices->bytes() + weighted + (blocks == nullptr ? 0 : blocks->bytes());
  work.write_bytes = lengths->bytes() * *parts + weighted +
                     indices->bytes() * (1 + (*positions ? 1 : 0) + (*sequence ? 1 : 0));
  return told(work, is_typed(*lengths) && is_typed(*indices));
}

// split_embedding_codegen_lookup_*_function, by position.
constexpr size_t kTables = 1;  // on the device; those in host memory follow
constexpr size_t kTableOffsets = 5;
constexpr size_t kTotalWidth = 7;
constexpr size_t kWidest = 8;
constexpr size_t kIndices = 11;
constexpr size_t kOffsets = 12;
constexpr size_t kPooling = 13;  // a value: 0 sums, 1 means
constexpr double kUnpooled = 2;
constexpr size_t kIndexWeights = 14;
constexpr size_t kRowState = 20;  // of row-wise Adagrad, one value per row; the host's follows

double elements_at(const OpInputs& inputs, size_t at) {
  const TensorInput* device = inputs.tensor(at);
  const TensorInput* host = inputs.tensor(at + 1);
  return (device == nullptr ? 0 : device->elements()) + (host == nullptr ? 0 : host->elements());
}

// Width of every table; nothing where they may differ or are not told.
std::optional<double> one_width(std::string_view op, const OpInputs& inputs, double tables) {
  const auto total = inputs.number(kTotalWidth);
  const auto widest = inputs.number(kWidest);
  if (total && widest) {
    if (*widest > 0 && *widest * tables == *total) return widest;
    return std::nullopt;
  }
  // Of one table the state of its rows tells how many it has.
  if (tables != 1 || op.find("_lookup_rowwise_adagrad_") == std::string_view::npos)
    return std::nullopt;
  const double rows = elements_at(inputs, kRowState);
  const double width = rows > 0 ? elements_at(inputs, kTables) / rows : 0;
  if (width <= 0 || width != std::floor(width)) return std::nullopt;
  return width;
}

// Whether bags are pooled, as is assumed where no values were recorded; nothing where the mode
// cannot be read.
std::optional<bool> pools(const OpInputs& inputs) {
  const auto mode = inputs.number(kPooling);
  if (inputs.values_told && !mode) return std::nullopt;
  return mode != kUnpooled;
}

WorkAnswer tables_lookup(std::string_view op, const OpInputs& inputs) {
  const TensorInput* starts = inputs.tensor(kTableOffsets);
  const TensorInput* indices = inputs.tensor(kIndices);
  const TensorInput* offsets = inputs.tensor(kOffsets);
  const TensorInput* device = inputs.tensor(kTables);
  const TensorInput* host = inputs.tensor(kTables + 1);
  if (starts == nullptr || indices == nullptr || offsets == nullptr || device == nullptr)
    return {WorkKnown::kNoShapes};
  const double tables = starts->elements();
  if (!(tables > 0) || starts->sizes.size() != 1) return {WorkKnown::kNotCovered};
  const auto width = one_width(op, inputs, tables);
  const auto pooled = pools(inputs);
  if (!width || !pooled) return {WorkKnown::kNoValues};
  const bool on_device = device->elements() > 0 || host == nullptr;
  const TensorInput& table = on_device ? *device : *host;
  const TensorInput* weights = inputs.tensor(kIndexWeights);
  OpWork work{.kind = OpWorkKind::kLookup, .math = table.type};
  work.flop = *pooled ? indices->elements() * *width * (weights == nullptr ? 1 : 2) : 0;
  work.read_bytes = indices->bytes() + offsets->bytes() +
                    (weights == nullptr ? 0 : weights->bytes()) +
                    std::min(indices->elements() * *width, elements_at(inputs, kTables)) *
                        element_bytes(table.type);
  // One for each table and sample, or one for each index.
  const double rows = *pooled ? offsets->elements() - 1 : indices->elements();
  const double results = rows * *width;
  WorkAnswer answer{WorkKnown::kBounds, work, work};
  answer.work.write_bytes = results;  // output_dtype follows far behind: 8, 16 or 32 bits
  answer.most.write_bytes = results * 4;
  if (!is_typed(table) || !is_typed(*indices)) return {WorkKnown::kNoTypes};
  return answer;
}

bool is_lookup(std::string_view op) {
  return op.starts_with("fbgemm::split_embedding_codegen_lookup_") && op.ends_with("_function");
}

}  // namespace

std::optional<WorkAnswer> fbgemm_work(std::string_view op, const OpInputs& inputs) {
  if (const Recoded* kind = find_op(kRecoded, op)) return recoded_work(*kind, inputs);
  if (op == "fbgemm::FloatToFP8RowwiseQuantized") return rowwise_work(inputs, true);
  if (op == "fbgemm::FP8RowwiseQuantizedToFloat") return rowwise_work(inputs, false);
  if (op == "fbgemm::bounds_check_indices") return bounds_check(inputs);
  if (op == "fbgemm::permute_2D_sparse_data") return permute_work(inputs);
  if (op == "fbgemm::block_bucketize_sparse_features") return bucketize_work(inputs);
  if (is_lookup(op)) return tables_lookup(op, inputs);
  return std::nullopt;
}

}  // namespace assay
