// FBGEMM's operators for recommendation models: lookups in the embedding tables of several features
// at once, and operators that sort sparse indices. Argument positions are those of its schemas
// (https://github.com/pytorch/FBGEMM, fbgemm_gpu/src and fbgemm_gpu/codegen).
//
// The table widths of a lookup are values. The size of the result is known if all tables have the
// maximum width, or if there is one table. The type of the result is unknown; its bounds are 8 and
// 32 bits. The gradient gives the type and the total width; a width is a multiple of four.
// Otherwise the work is unknown.

#include <algorithm>
#include <array>
#include <cmath>

#include "roof/models.h"

namespace assay {
namespace {

// Reads one argument and writes it with a different number of bytes per element.
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

// Converts rows between FP32 and 8 bits, each with scale and bias in FP32 (fused rowwise formats;
// rows are padded to multiples of four values).
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

// bounds_check_indices(rows_per_table, indices, offsets, …): reads all three.
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

// permute_2D_sparse_data(permute, lengths, values, weights, sum). A feature may be repeated or
// dropped, so only the last argument gives the number of permuted values.
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

// Arguments of block_bucketize_sparse_features: lengths, indices, positions?, sequence?; then block
// sizes, parts, weights.
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

// Argument positions of split_embedding_codegen_lookup_*_function.
constexpr size_t kTables = 1;  // on the device; the next argument is for host memory
constexpr size_t kTableOffsets = 5;
constexpr size_t kTotalWidth = 7;
constexpr size_t kWidest = 8;
constexpr size_t kIndices = 11;
constexpr size_t kOffsets = 12;
constexpr size_t kPooling = 13;  // a value: 0 sums, 1 means
constexpr double kUnpooled = 2;
constexpr size_t kIndexWeights = 14;
constexpr size_t kRowState = 20;  // row-wise Adagrad, one value per row; the next argument is the
                                  // host's

double elements_at(const OpInputs& inputs, size_t at) {
  const TensorInput* device = inputs.tensor(at);
  const TensorInput* host = inputs.tensor(at + 1);
  return (device == nullptr ? 0 : device->elements()) + (host == nullptr ? 0 : host->elements());
}

// Common width of all tables; nullopt if they may differ or are unknown.
std::optional<double> one_width(std::string_view op, const OpInputs& inputs, double tables) {
  const auto total = inputs.number(kTotalWidth);
  const auto widest = inputs.number(kWidest);
  if (total && widest) {
    if (*widest > 0 && *widest * tables == *total) return widest;
    return std::nullopt;
  }
  // A single table: its number of rows equals the elements of the optimizer's row state.
  if (tables != 1 || op.find("_lookup_rowwise_adagrad_") == std::string_view::npos)
    return std::nullopt;
  const double rows = elements_at(inputs, kRowState);
  const double width = rows > 0 ? elements_at(inputs, kTables) / rows : 0;
  if (width <= 0 || width != std::floor(width)) return std::nullopt;
  return width;
}

// True if bags are pooled, which is assumed if values were not recorded; nullopt if the mode cannot
// be parsed.
std::optional<bool> pools(const OpInputs& inputs) {
  const auto mode = inputs.number(kPooling);
  if (inputs.values_told && !mode) return std::nullopt;
  return mode != kUnpooled;
}

// Properties of a lookup that do not depend on the widths.
struct Lookup {
  const TensorInput* indices = nullptr;
  const TensorInput* offsets = nullptr;
  const TensorInput* weights = nullptr;  // of indices
  const TensorInput* table = nullptr;    // a table of its type
  LookupSizes sizes = {};
  double elements = 0;   // of all tables
  bool on_host = false;  // some tables are in host memory

  // Bytes of the indices, which both the lookup and its backward node read.
  double index_bytes() const {
    return indices->bytes() + offsets->bytes() + (weights == nullptr ? 0 : weights->bytes());
  }
};

std::optional<Lookup> read_lookup(const OpInputs& inputs) {
  const TensorInput* device = inputs.tensor(kTables);
  const TensorInput* host = inputs.tensor(kTables + 1);
  Lookup lookup{.indices = inputs.tensor(kIndices),
                .offsets = inputs.tensor(kOffsets),
                .weights = inputs.tensor(kIndexWeights)};
  if (inputs.tensor(kTableOffsets) == nullptr || lookup.indices == nullptr ||
      lookup.offsets == nullptr || device == nullptr)
    return std::nullopt;
  const bool on_device = device->elements() > 0 || host == nullptr;
  lookup.table = on_device ? device : host;
  lookup.sizes = lookup_sizes(inputs);
  lookup.elements = elements_at(inputs, kTables);
  lookup.on_host = host != nullptr && host->elements() > 0;
  return lookup;
}

// Bounds on the elements of the accessed rows, from one row to all requested. Repeated indices, and
// how many indices refer to wider tables, depend on data.
struct RowElements {
  double least = 0;
  double most = 0;
};
RowElements row_elements(const Lookup& lookup, double total_width) {
  constexpr double kNarrowest = 4;
  const double widest = total_width - kNarrowest * (lookup.sizes.tables - 1);
  const double asked = lookup.sizes.indices;
  return {std::min(asked, 1.0) * kNarrowest, std::min(asked * widest, lookup.elements)};
}

// Bounds for tables of several widths, from the gradient [bags, total width].
WorkAnswer lookup_by_gradient(const Lookup& lookup, const TensorInput& gradient) {
  if (lookup.on_host) return {WorkKnown::kNotCovered};
  const RowElements rows = row_elements(lookup, gradient.sizes[1]);
  OpWork work{.kind = OpWorkKind::kLookup, .math = lookup.table->type};
  work.read_bytes = lookup.index_bytes();
  work.write_bytes = gradient.bytes();
  WorkAnswer answer{WorkKnown::kBounds, work, work};
  answer.work.read_bytes += bytes_of(rows.least, *lookup.table);
  answer.most.read_bytes += bytes_of(rows.most, *lookup.table);
  if (!is_typed(*lookup.table) || !is_typed(*lookup.indices) || !is_typed(gradient))
    return {WorkKnown::kNoTypes};
  return answer;
}

// Backward node of a lookup with a fused optimizer: reads the gradient, and reads and writes rows
// and their optimizer state.
WorkAnswer lookup_backward(std::string_view op, const OpInputs& inputs, const OpInputs* forward) {
  const TensorInput* gradient = inputs.tensor(0);
  if (gradient == nullptr) return {WorkKnown::kNoShapes};
  if (forward == nullptr) return {WorkKnown::kNoValues};
  const bool rowwise = op.find("_rowwise_adagrad_") != std::string_view::npos;
  const auto lookup = read_lookup(*forward);
  const bool stateless = op.find("Function_sgd_") != std::string_view::npos;
  if (!lookup || lookup->on_host || gradient->sizes.size() != 2 || (!rowwise && !stateless))
    return {WorkKnown::kNotCovered};
  const RowElements rows = row_elements(*lookup, gradient->sizes[1]);
  const double states =
      rowwise ? std::min(lookup->sizes.indices, elements_at(*forward, kRowState)) : 0;
  constexpr double kStateBytes = 4;
  OpWork work{.kind = OpWorkKind::kLookup, .math = gradient->type};
  work.read_bytes = gradient->bytes() + lookup->index_bytes();
  WorkAnswer answer{WorkKnown::kBounds, work, work};
  answer.work.read_bytes += bytes_of(rows.least, *lookup->table);
  answer.work.write_bytes = bytes_of(rows.least, *lookup->table);
  answer.most.read_bytes += bytes_of(rows.most, *lookup->table) + states * kStateBytes;
  answer.most.write_bytes = bytes_of(rows.most, *lookup->table) + states * kStateBytes;
  // Index weights may be trainable, too.
  if (lookup->weights != nullptr) answer.most.write_bytes += lookup->weights->bytes();
  if (!is_typed(*lookup->table) || !is_typed(*lookup->indices) || !is_typed(*gradient))
    return {WorkKnown::kNoTypes};
  return answer;
}

WorkAnswer tables_lookup(std::string_view op, const OpInputs& inputs, const OpInputs* node) {
  const auto lookup = read_lookup(inputs);
  if (!lookup) return {WorkKnown::kNoShapes};
  const double tables = lookup->sizes.tables;
  if (!(tables > 0)) return {WorkKnown::kNotCovered};
  const TensorInput* gradient = node == nullptr ? nullptr : node->tensor(0);
  const auto width = one_width(op, inputs, tables);
  const auto pooled = pools(inputs);
  if (!width && gradient != nullptr) return lookup_by_gradient(*lookup, *gradient);
  if (!width || !pooled) return {WorkKnown::kNoValues};
  const double asked = lookup->sizes.indices * *width;
  OpWork work{.kind = OpWorkKind::kLookup, .math = lookup->table->type};
  work.flop = *pooled ? asked * (lookup->weights == nullptr ? 1 : 2) : 0;
  work.read_bytes =
      lookup->index_bytes() + bytes_of(std::min(asked, lookup->elements), *lookup->table);
  // One row per table and sample, or one per index.
  const double rows = *pooled ? lookup->offsets->elements() - 1 : lookup->sizes.indices;
  const double results = rows * *width;
  WorkAnswer answer{WorkKnown::kBounds, work, work};
  answer.work.write_bytes = results;  // output_dtype is a later argument: 8, 16 or 32 bits
  answer.most.write_bytes = results * 4;
  if (gradient != nullptr && is_typed(*gradient)) {
    answer.work.write_bytes = gradient->bytes();
    answer.known = WorkKnown::kTold;
  }
  if (!is_typed(*lookup->table) || !is_typed(*lookup->indices)) return {WorkKnown::kNoTypes};
  return answer;
}

}  // namespace

bool is_lookup(std::string_view op) {
  return op.starts_with("fbgemm::split_embedding_codegen_lookup_") && op.ends_with("_function");
}

bool undoes_lookup(std::string_view op) {
  return op.starts_with("torch::autograd::CppNode<SplitLookupFunction_");
}

LookupSizes lookup_sizes(const OpInputs& inputs) {
  const TensorInput* starts = inputs.tensor(kTableOffsets);
  const TensorInput* indices = inputs.tensor(kIndices);
  const TensorInput* offsets = inputs.tensor(kOffsets);
  if (starts == nullptr || indices == nullptr || offsets == nullptr) return {};
  LookupSizes sizes{.tables = starts->sizes.size() == 1 ? starts->elements() : 0,
                    .indices = indices->elements()};
  if (!(sizes.tables > 0)) return sizes;
  const double bags = (offsets->elements() - 1) / sizes.tables;
  if (bags >= 1 && bags == std::floor(bags)) sizes.bags = bags;
  return sizes;
}

std::optional<WorkAnswer> fbgemm_work(std::string_view op, const OpInputs& inputs,
                                      const EnclosingOp& enclosing) {
  if (const Recoded* kind = find_op(kRecoded, op)) return recoded_work(*kind, inputs);
  if (op == "fbgemm::FloatToFP8RowwiseQuantized") return rowwise_work(inputs, true);
  if (op == "fbgemm::FP8RowwiseQuantizedToFloat") return rowwise_work(inputs, false);
  if (op == "fbgemm::bounds_check_indices") return bounds_check(inputs);
  if (op == "fbgemm::permute_2D_sparse_data") return permute_work(inputs);
  if (op == "fbgemm::block_bucketize_sparse_features") return bucketize_work(inputs);
  if (is_lookup(op)) return tables_lookup(op, inputs, enclosing.paired);
  if (undoes_lookup(op)) return lookup_backward(op, inputs, enclosing.paired);
  return std::nullopt;
}

}  // namespace assay
