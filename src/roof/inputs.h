#pragma once

// What an operator was called with: sizes, strides and types of its tensors, values of its other
// arguments, from the JSON texts that PyTorch's profiler wrote with record_shapes=True
// (Trace::op_inputs).

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
  kTf32,  // FP32 in memory, multiplied as TF32: told by kernels' names only
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
  // What is moved without being read, told by its size alone.
  kBytes1,
  kBytes2,
  kBytes4,
  kBytes8,
  kBytes16,
};
// In memory; 0 = not told.
double element_bytes(ElementType type);
std::string_view element_type_name(ElementType type);  // "bf16"; empty = not told
// By PyTorch's name ("c10::BFloat16", "long int"); kUntold for what is no tensor.
ElementType element_type_of(std::string_view torch_name);
// By the name that kernels/ and NCCL's arguments use ("bf16", "BFloat16", "Float").
ElementType element_type_named(std::string_view name);
// Of PyTorch's kernels that move elements without reading them: "...<OpaqueType<2u>, ..." moves two
// bytes each. kUntold for other names.
ElementType element_type_moved(std::string_view kernel);
bool is_floating(ElementType type);

using Sizes = std::vector<double>;
// Elements along the axes from `first` on; 1 where there are none.
double elements_of(const Sizes& sizes, size_t first = 0);

struct TensorInput {
  Sizes sizes = {};
  Sizes strides = {};  // empty = not told, or no axes
  ElementType type = ElementType::kUntold;

  double elements() const;
  // Elements in memory: an axis of stride 0 is one element, read many times.
  double stored() const;
  double bytes() const { return stored() * element_bytes(type); }
};

struct OpArgument {
  std::vector<TensorInput> tensors = {};  // one; of a list, all whose sizes are told
  bool list = false;
  std::string_view value = {};  // as text, of what is no tensor; empty = not told

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

// "[3, 3]", or a number alone; nothing where something is no number.
std::optional<Sizes> read_numbers(std::string_view text);

// The texts must outlive the result. list_type: of the elements of lists, which the profiler does
// not tell; a kernel's name may. Odd texts give fewer arguments, never an error.
OpInputs read_op_inputs(std::string_view dims, std::string_view types, std::string_view strides,
                        std::string_view concrete, ElementType list_type = ElementType::kUntold);

}  // namespace assay
