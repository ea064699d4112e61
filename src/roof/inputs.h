#pragma once

// Arguments of operators: sizes, strides and types of tensors, and values of other arguments.
// Parsed from the JSON texts of PyTorch's profiler with record_shapes=True (Trace::op_inputs).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay {

enum class ElementType : uint8_t {
  kUntold,
  kFloat64,
  kFloat32,
  kTf32,  // FP32 in memory, multiplied as TF32; only names of kernels show it
  kBFloat16,
  kFloat16,
  kFloat8,
  kFloat4Pair,  // two values in a byte
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kInt4,
  kBool,
  kComplex128,
  kComplex64,
  kComplex32,
  // Moved without arithmetic; only the element size is known.
  kBytes1,
  kBytes2,
  kBytes4,
  kBytes8,
  kBytes16,
};
// In memory; 0 = unknown.
double element_bytes(ElementType type);
std::string_view element_type_name(ElementType type);  // "bf16"; empty = unknown
// From PyTorch's name ("c10::BFloat16", "long int"); kUntold if it is not a tensor.
ElementType element_type_of(std::string_view torch_name);
// By the name that kernels/ and NCCL's arguments use ("bf16", "BFloat16", "Float").
ElementType element_type_named(std::string_view name);
// Of PyTorch's kernels that move elements without reading them: "...<OpaqueType<2u>, ..." moves two
// bytes each. kUntold for other names.
ElementType element_type_moved(std::string_view kernel);
bool is_floating(ElementType type);

using Sizes = std::vector<double>;
// Elements along the axes starting at `first`; 1 if there are none.
double elements_of(const Sizes& sizes, size_t first = 0);

struct TensorInput {
  Sizes sizes = {};
  Sizes strides = {};  // empty = unknown, or no axes
  ElementType type = ElementType::kUntold;

  double elements() const;
  // Elements in memory: an axis of stride 0 is one element, read many times.
  double stored() const;
  double bytes() const { return stored() * element_bytes(type); }
};

struct OpArgument {
  std::vector<TensorInput> tensors = {};  // one; for a list, all tensors with known sizes
  bool list = false;
  std::string_view value = {};  // text of an argument other than a tensor; empty = unknown

  bool tensor() const { return !list && tensors.size() == 1; }
};

struct OpInputs {
  std::vector<OpArgument> arguments = {};
  bool values_told = false;  // Concrete Inputs were recorded

  // nullptr where the argument is not there or no tensor.
  const TensorInput* tensor(size_t index) const;
  std::string_view value(size_t index) const;
  std::optional<double> number(size_t index) const;
  std::optional<bool> flag(size_t index) const;      // "True", "False"
  std::optional<Sizes> numbers(size_t index) const;  // "[3, 3]"; a number alone is a list of one
};

// "[3, 3]", or a single number; nullopt if an element is not a number.
std::optional<Sizes> read_numbers(std::string_view text);

// The texts must outlive the result. list_type: element type of lists, which the profiler does not
// record but a kernel's name may contain. Irregular texts give fewer arguments, never an error.
OpInputs read_op_inputs(std::string_view dims, std::string_view types, std::string_view strides,
                        std::string_view concrete, ElementType list_type = ElementType::kUntold);

}  // namespace assay
