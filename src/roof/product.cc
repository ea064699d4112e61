// Matrix products: 2 m n k FLOP, batches included. Bytes: both factors, the addend, the result.

#include <algorithm>
#include <array>
#include <cmath>

#include "roof/models.h"

namespace assay {
namespace {

enum class ProductForm : uint8_t {
  kProduct,  // [..., m, k] x [..., k, n]; equal leading axes
  kMatmul,   // with broadcasting; vectors allowed
  kLinear,   // [..., k] x [n, k] transposed
  kGrouped,  // [t, k] x [groups, k, n]: each row with the matrix of its group
};

struct Product {
  std::string_view op;
  ProductForm form;
  size_t left;                    // argument position; the right factor follows
  size_t added = kNoArgument;     // bias or addend
  size_t out_type = kNoArgument;  // a c10::ScalarType number; by default the type of the left
                                  // factor
};
constexpr auto kProducts = std::to_array<Product>({
    {"aten::mm", ProductForm::kProduct, 0},
    {"aten::bmm", ProductForm::kProduct, 0},
    {"aten::addmm", ProductForm::kProduct, 1, 0},
    {"aten::addmm_", ProductForm::kProduct, 1, 0},
    {"aten::_addmm_activation", ProductForm::kProduct, 1, 0},
    {"aten::baddbmm", ProductForm::kProduct, 1, 0},
    {"aten::baddbmm_", ProductForm::kProduct, 1, 0},
    {"aten::matmul", ProductForm::kMatmul, 0},
    {"aten::mv", ProductForm::kMatmul, 0},
    {"aten::dot", ProductForm::kMatmul, 0},
    {"aten::addmv", ProductForm::kMatmul, 1, 0},
    {"aten::addmv_", ProductForm::kMatmul, 1, 0},
    {"aten::linear", ProductForm::kLinear, 0, 2},
    {"aten::_int_mm", ProductForm::kProduct, 0},
    {"aten::_scaled_mm", ProductForm::kProduct, 0, 4, 6},
    {"aten::_grouped_mm", ProductForm::kGrouped, 0},
    {"aten::_scaled_grouped_mm", ProductForm::kGrouped, 0},
    {"vllm::rocm_unquantized_gemm", ProductForm::kLinear, 0, 2},
    {"vllm::rocm_unquantized_gemm_impl", ProductForm::kLinear, 0, 2},
    {"aiter::gemm_a16w16", ProductForm::kLinear, 0},
    {"aiter::gemm_a8w8", ProductForm::kLinear, 0},
    {"aiter::gemm_a8w8_blockscale", ProductForm::kLinear, 0},
    {"aiter::gemm_a8w8_bpreshuffle", ProductForm::kLinear, 0},
    {"_C::cutlass_scaled_mm", ProductForm::kProduct, 1},
    {"aten::_weight_int8pack_mm", ProductForm::kLinear, 0, 2},
    {"bitsandbytes::int8_linear_matmul", ProductForm::kLinear, 0},
    {"bitsandbytes::int8_scaled_mm", ProductForm::kLinear, 0, 4, 5},
});

struct ProductExtents {
  bool fits = false;
  double rows = 0;  // of all batches
  double inner = 0;
  double columns = 0;
  double groups = 1;  // matrices among which the rows are divided
};

ProductExtents of_product(const Sizes& a, const Sizes& b) {
  if (a.size() < 2 || a.size() != b.size() || a.back() != b[b.size() - 2]) return {};
  double rows = 1;
  for (size_t i = 0; i + 1 < a.size(); ++i) {
    if (i + 2 < a.size() && a[i] != b[i]) return {};
    rows *= a[i];
  }
  return {true, rows, a.back(), b.back()};
}

ProductExtents of_matmul(Sizes a, Sizes b) {
  if (a.empty() || b.empty()) return {};
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const double inner = a.back();
  if (inner != b[b.size() - 2]) return {};
  double rows = a[a.size() - 2];
  const size_t batches = std::max(a.size(), b.size()) - 2;
  for (size_t i = 0; i < batches; ++i) {
    const double left = i < a.size() - 2 ? a[a.size() - 3 - i] : 1;
    const double right = i < b.size() - 2 ? b[b.size() - 3 - i] : 1;
    if (left != right && left != 1 && right != 1) return {};
    rows *= std::max(left, right);
  }
  return {true, rows, inner, b.back()};
}

ProductExtents of_linear(const Sizes& x, const Sizes& w) {
  if (x.empty() || w.size() != 2 || x.back() != w[1]) return {};
  double rows = 1;
  for (size_t i = 0; i + 1 < x.size(); ++i) rows *= x[i];
  return {true, rows, x.back(), w[0]};
}

ProductExtents of_groups(const Sizes& x, const Sizes& w) {
  if (x.size() != 2 || w.size() != 3 || x[1] != w[1]) return {};
  return {true, x[0], x[1], w[2], w[0]};
}

ProductExtents extents_of(ProductForm form, const Sizes& a, const Sizes& b) {
  switch (form) {
    case ProductForm::kProduct:
      return of_product(a, b);
    case ProductForm::kMatmul:
      return of_matmul(a, b);
    case ProductForm::kLinear:
      return of_linear(a, b);
    case ProductForm::kGrouped:
      return of_groups(a, b);
  }
  return {};
}

// Element type for a c10::ScalarType number; only types that a product may return.
ElementType scalar_type(double number) {
  if (number == 5) return ElementType::kFloat16;
  if (number == 6) return ElementType::kFloat32;
  if (number == 15) return ElementType::kBFloat16;
  if (number >= 23 && number <= 26) return ElementType::kFloat8;
  return ElementType::kUntold;
}

// Element type of the result. Products of types with at most 8 bits return at least 16 bits: 16 if
// it is not stated.
ElementType result_type(const Product& product, const OpInputs& inputs, ElementType left) {
  const auto number = inputs.number(product.out_type);
  if (number && scalar_type(*number) != ElementType::kUntold) return scalar_type(*number);
  if (product.op == "aten::_int_mm" || product.op == "bitsandbytes::int8_linear_matmul")
    return ElementType::kInt32;
  if (left == ElementType::kFloat8 || left == ElementType::kFloat4Pair ||
      left == ElementType::kInt8) {
    return ElementType::kBFloat16;
  }
  return left;
}

// Products with weights of 2 to 8 bits, packed in a library-specific order. Their scales [groups,
// n], or [groups, n, 2] with zero points, give the number of columns, and the weight bytes must
// match a bit width. Some versions insert arguments; these are identified by type. Separate zero
// points and permutations are not counted, a few percent of the weights.
constexpr auto kPacked = std::to_array<std::string_view>({
    "_C::gptq_marlin_gemm",
    "_C::marlin_gemm",
    "_C::gptq_gemm",
    "_C::awq_gemm",
    "aten::_weight_int4pack_mm",
});

bool is_packed(const TensorInput& tensor) {
  return tensor.sizes.size() >= 2 &&
         (tensor.type == ElementType::kInt32 || tensor.type == ElementType::kInt8);
}

WorkAnswer packed_work(const OpInputs& inputs) {
  const TensorInput* a = inputs.tensor(0);
  const TensorInput* packed = nullptr;
  const TensorInput* scales = nullptr;
  for (size_t i = 1; i < inputs.arguments.size() && scales == nullptr; ++i) {
    const TensorInput* one = inputs.tensor(i);
    if (one == nullptr || one->sizes.size() < 2) continue;
    if (packed == nullptr && is_packed(*one)) {
      packed = one;
    } else if (packed != nullptr && is_floating(one->type)) {
      scales = one;
    }
  }
  if (a == nullptr || packed == nullptr || scales == nullptr || a->sizes.size() < 2)
    return {WorkKnown::kNoShapes};
  const double inner = a->sizes.back();
  const double columns = scales->sizes[1];
  const double bits = 8 * packed->bytes() / (inner * columns);
  const bool usual = bits == 2 || bits == 3 || bits == 4 || bits == 8;
  if (!usual || !is_floating(a->type)) return {WorkKnown::kNotCovered};
  const double rows = inner > 0 ? a->elements() / inner : 0;
  OpWork work{.kind = OpWorkKind::kProduct, .matrix = true, .math = a->type};
  work.flop = 2 * rows * columns * inner;
  work.read_bytes = a->bytes() + packed->bytes() + scales->bytes();
  work.write_bytes = bytes_of(rows * columns, *a);
  return {WorkKnown::kTold, work};
}

// Arguments of gemv_4bit: x [..., k], 4-bit weights, [n, k], absmax, code, …
WorkAnswer four_bit_vector(const OpInputs& inputs) {
  const TensorInput* x = inputs.tensor(0);
  const TensorInput* weights = inputs.tensor(1);
  const TensorInput* scales = inputs.tensor(3);
  if (x == nullptr || weights == nullptr || scales == nullptr || x->sizes.empty())
    return {WorkKnown::kNoShapes};
  if (!is_typed(*x) || !is_typed(*weights) || !is_typed(*scales)) return {WorkKnown::kNoTypes};
  const double inner = x->sizes.back();
  const double columns = inner > 0 ? 2 * weights->bytes() / inner : 0;
  if (columns != std::floor(columns) || !(columns > 0)) return {WorkKnown::kNotCovered};
  const double rows = x->elements() / inner;
  OpWork work{.kind = OpWorkKind::kProduct, .matrix = true, .math = x->type};
  work.flop = 2 * rows * columns * inner;
  work.read_bytes = x->bytes() + weights->bytes() + scales->bytes();
  work.write_bytes = bytes_of(rows * columns, *x);
  return {WorkKnown::kTold, work};
}

}  // namespace

std::optional<WorkAnswer> product_work(std::string_view op, const OpInputs& inputs) {
  if (std::find(kPacked.begin(), kPacked.end(), op) != kPacked.end()) return packed_work(inputs);
  if (op == "bitsandbytes::gemv_4bit") return four_bit_vector(inputs);
  const auto* const found = std::find_if(kProducts.begin(), kProducts.end(),
                                         [op](const Product& one) { return one.op == op; });
  if (found == kProducts.end()) return std::nullopt;
  const TensorInput* a = inputs.tensor(found->left);
  const TensorInput* b = inputs.tensor(found->left + 1);
  if (a == nullptr || b == nullptr) return WorkAnswer{WorkKnown::kNoShapes};
  const ProductExtents extents = extents_of(found->form, a->sizes, b->sizes);
  if (!extents.fits) return WorkAnswer{WorkKnown::kNotCovered};
  const double values_per_element = a->type == ElementType::kFloat4Pair ? 2 : 1;
  OpWork work{.kind = OpWorkKind::kProduct, .matrix = true, .math = a->type};
  work.flop = 2 * extents.rows * extents.columns * extents.inner * values_per_element;
  // A grouped product reads at most as many matrices as it has rows.
  const double matrices = std::min(extents.groups, std::max(extents.rows, 0.0)) / extents.groups;
  work.read_bytes = a->bytes() + b->bytes() * (extents.groups > 1 ? matrices : 1);
  // addmm(self, a, b, beta, alpha): with beta = 0, self is not read.
  const bool scaled = found->added == 0 && inputs.number(found->left + 2) == 0.0;
  const TensorInput* added = scaled ? nullptr : inputs.tensor(found->added);
  if (added != nullptr) work.read_bytes += added->bytes();
  const ElementType result = result_type(*found, inputs, a->type);
  work.write_bytes = extents.rows * extents.columns * element_bytes(result);
  return told(work, is_typed(*a) && is_typed(*b));
}

}  // namespace assay
