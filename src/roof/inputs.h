#pragma once

// Operator arguments: sizes, strides and types of tensors, and values of other arguments. Parsed
// from the JSON texts that PyTorch's profiler records with record_shapes=True (Trace::op_inputs).

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
  kTf32,  // FP32 in memory, multiplied as TF32; known only from kernel names
  kBFloat16,
  kFloat16,
  kFloat8,
  kFloat4Pair,  // two values per byte
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
// Bytes per element in memory; 0 = unknown.
double element_bytes(ElementType type);
std::string_view element_type_name(ElementType type);  // "bf16"; empty = unknown
// Type for PyTorch's name ("c10::BFloat16", "long int"); kUntold if it is not a tensor type.
ElementType element_type_of(std::string_view torch_name);
// Type for the names that kernels/ and NCCL's arguments use ("bf16", "BFloat16", "Float").
ElementType element_type_named(std::string_view name);
// Type moved by a PyTorch kernel that copies elements without interpreting them:
// "...<OpaqueType<2u>, ..." moves two bytes each. kUntold for other names.
ElementType element_type_moved(std::string_view kernel);
bool is_floating(ElementType type);

using Sizes = std::vector<double>;
// Product of the sizes of axis `first` and later ones; 1 if there are none.
double elements_of(const Sizes& sizes, size_t first = 0);

struct TensorInput {
  Sizes sizes = {};
  Sizes strides = {};  // empty = unknown, or no axes
  ElementType type = ElementType::kUntold;

  double elements() const;
  // Distinct elements in memory: an axis with stride 0 counts as one element.
  double stored() const;
  double bytes() const { return stored() * element_bytes(type); }
};

struct OpArgument {
  std::vector<TensorInput> tensors = {};  // one tensor; for a list, all with known sizes
  bool list = false;
  std::string_view value = {};  // text of an argument that is not a tensor; empty = unknown

  bool tensor() const { return !list && tensors.size() == 1; }
};

struct OpInputs {
  std::vector<OpArgument> arguments = {};
  bool values_told = false;  // "Concrete Inputs" were recorded

  // nullptr if the argument is missing or not a tensor.
  const TensorInput* tensor(size_t index) const;
  std::string_view value(size_t index) const;
  std::optional<double> number(size_t index) const;
  std::optional<bool> flag(size_t index) const;      // "True", "False"
  std::optional<Sizes> numbers(size_t index) const;  // "[3, 3]"; a single number is a list of one
};

// Parses "[3, 3]" or a single number; nullopt if an element is not a number.
std::optional<Sizes> read_numbers(std::string_view text);

// Parses the texts, which must outlive the result. list_type: element type of lists, which the
// profiler does not record but a kernel's name may contain. Malformed texts give fewer arguments,
// never an error.
OpInputs read_op_inputs(std::string_view dims, std::string_view types, std::string_view strides,
                        std::string_view concrete, ElementType list_type = ElementType::kUntold);

}  // namespace assay
