#include "collect/replay/arguments.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#define ASSAY_TORCH_SINCE(major, minor) \
  (TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR >= (major) * 100 + (minor))

namespace assay::replay {

struct Call::Parts {
  c10::OperatorHandle op;
  torch::jit::Stack arguments;
  std::vector<std::string> assumed;
  torch::jit::Stack stack;  // arguments before the call, results after it
};

namespace {

using c10::IValue;
using c10::TypeKind;
// c10::optional in PyTorch 1, std::optional later.
using MaybeTensor = decltype(std::declval<const IValue&>().toOptional<at::Tensor>());

constexpr int kNoFit = -1000;
constexpr size_t kMostDims = 64;

// ---------------------------------------------------------------- values as text

std::optional<int64_t> as_integer(const std::string& text) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> as_double(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> as_bool(const std::string& text) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return std::nullopt;
}

// Splits "[1, 2]" into its elements; absent if it is not a list.
std::optional<std::vector<std::string>> as_list(const std::string& text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  std::vector<std::string> parts;
  std::istringstream inside(text.substr(1, text.size() - 2));
  for (std::string part; std::getline(inside, part, ',');) {
    const size_t begin = part.find_first_not_of(' ');
    const size_t end = part.find_last_not_of(' ');
    if (begin == std::string::npos) return std::nullopt;
    parts.push_back(part.substr(begin, end - begin + 1));
  }
  return parts;
}

// ---------------------------------------------------------------- types

std::optional<at::ScalarType> element_type(const std::string& name) {
  static const std::map<std::string, at::ScalarType> kNames = {
      {"float", at::kFloat},
      {"double", at::kDouble},
      {"c10::Half", at::kHalf},
      {"c10::BFloat16", at::kBFloat16},
      {"long int", at::kLong},
      {"long", at::kLong},
      {"int", at::kInt},
      {"short int", at::kShort},
      {"short", at::kShort},
      {"signed char", at::kChar},
      {"unsigned char", at::kByte},
      {"bool", at::kBool},
      {"c10::complex<float>", at::kComplexFloat},
      {"c10::complex<double>", at::kComplexDouble},
      {"c10::complex<c10::Half>", at::kComplexHalf},
#if ASSAY_TORCH_SINCE(2, 1)
      {"c10::Float8_e4m3fn", at::ScalarType::Float8_e4m3fn},
      {"c10::Float8_e5m2", at::ScalarType::Float8_e5m2},
#endif
#if ASSAY_TORCH_SINCE(2, 3)
      {"c10::Float8_e4m3fnuz", at::ScalarType::Float8_e4m3fnuz},
      {"c10::Float8_e5m2fnuz", at::ScalarType::Float8_e5m2fnuz},
      {"short unsigned int", at::ScalarType::UInt16},
      {"unsigned short", at::ScalarType::UInt16},
      {"unsigned int", at::ScalarType::UInt32},
      {"long unsigned int", at::ScalarType::UInt64},
      {"unsigned long", at::ScalarType::UInt64},
#endif
#if ASSAY_TORCH_SINCE(2, 8)
      {"c10::Float8_e8m0fnu", at::ScalarType::Float8_e8m0fnu},
      {"c10::Float4_e2m1fn_x2", at::ScalarType::Float4_e2m1fn_x2},
#endif
  };
  const auto found = kNames.find(name);
  if (found == kNames.end()) return std::nullopt;
  return found->second;
}

// Two 4-bit numbers in a byte; no operator converts to this type.
bool is_packed(at::ScalarType type) {
#if ASSAY_TORCH_SINCE(2, 8)
  return type == at::ScalarType::Float4_e2m1fn_x2;
#else
  return type == at::ScalarType::Undefined;
#endif
}

bool is_integer_kind(TypeKind kind) {
  return kind == TypeKind::IntType || kind == TypeKind::SymIntType;
}

c10::TypePtr without_optional(const c10::TypePtr& type) {
  if (type->kind() != TypeKind::OptionalType) return type;
  return type->castRaw<c10::OptionalType>()->getElementType();
}

c10::TypePtr element_of(const c10::TypePtr& list) {
  return list->castRaw<c10::ListType>()->getElementType();
}

bool is_list_of(const c10::TypePtr& type, TypeKind kind) {
  return type->kind() == TypeKind::ListType && element_of(type)->kind() == kind;
}

bool is_list_of_optional_tensors(const c10::TypePtr& type) {
  return is_list_of(type, TypeKind::OptionalType) &&
         without_optional(element_of(type))->kind() == TypeKind::TensorType;
}

// ---------------------------------------------------------------- which overload

int scalar_fit(TypeKind kind, const RecordedInput& input) {
  const bool boolean = as_bool(input.value).has_value();
  const bool integer = as_integer(input.value).has_value();
  const bool number = as_double(input.value).has_value();
  if (!input.value_told || input.value.empty()) {
    const bool numeric = kind == TypeKind::NumberType || kind == TypeKind::FloatType ||
                         kind == TypeKind::BoolType || is_integer_kind(kind);
    return numeric ? 1 : kNoFit;
  }
  if (kind == TypeKind::NumberType) return boolean ? 1 : number ? 2 : kNoFit;
  if (is_integer_kind(kind)) return integer ? 3 : kNoFit;
  if (kind == TypeKind::FloatType) return integer ? 1 : number ? 3 : kNoFit;
  if (kind == TypeKind::BoolType) return boolean ? 3 : kNoFit;
  return kNoFit;
}

int list_fit(const c10::TypePtr& type, const RecordedInput& input) {
  if (type->kind() != TypeKind::ListType) return kNoFit;
  const TypeKind kind = element_of(type)->kind();
  const bool numbers = is_integer_kind(kind) || kind == TypeKind::FloatType;
  if (!numbers && kind != TypeKind::BoolType) return kNoFit;
  const auto parts = as_list(input.value);
  if (!parts) return numbers ? 1 : kNoFit;
  int fit = 3;
  for (const std::string& part : *parts) {
    fit = std::min(fit, scalar_fit(kind, {"Scalar", {}, {}, true, part}));
  }
  return fit;
}

// Profilers of 2021 recorded shapes without types: an input with dimensions is a tensor.
bool is_untyped_tensor(const RecordedInput& input) {
  return input.type.empty() && input.dims.told && !input.dims.nested &&
         !input.dims.shapes.front().empty();
}

bool is_tensor(const RecordedInput& input) {
  return element_type(input.type).has_value() || is_untyped_tensor(input);
}

// A tensor of a type that this PyTorch or this program does not know. Profilers of PyTorch 1 use
// other type names for inputs that are not tensors; those have no dimensions.
bool is_unknown_tensor(const RecordedInput& input) {
  if (input.type.empty() || input.type == "Scalar" || input.type == "ScalarList" ||
      input.type == "TensorList" || is_tensor(input)) {
    return false;
  }
  const bool has_dims = input.dims.told && !input.dims.nested && !input.dims.shapes.front().empty();
  return has_dims || input.type.compare(0, 5, "c10::") == 0;
}

// How well a recorded input fits a declared argument; kNoFit: not at all.
int fit_of(const c10::Argument& argument, const RecordedInput& input) {
  const c10::TypePtr type = without_optional(argument.type());
  if (is_tensor(input)) return type->kind() == TypeKind::TensorType ? 3 : kNoFit;
  if (input.type == "Scalar") return scalar_fit(type->kind(), input);
  if (input.type == "ScalarList") return list_fit(type, input);
  if (input.type == "TensorList" || input.dims.nested) {
    if (is_list_of(type, TypeKind::TensorType)) return 3;
    return is_list_of_optional_tensors(type) ? 2 : kNoFit;
  }
  // Nothing recorded: None, a default, a device, a string, an undefined tensor.
  if (argument.type()->kind() == TypeKind::OptionalType) return 2;
  if (argument.default_value()) return 1;
  return 0;
}

bool is_output(const c10::Argument& argument) {
  return argument.kwarg_only() && argument.alias_info() != nullptr &&
         argument.alias_info()->isWrite();
}

int fit_of(const c10::FunctionSchema& schema, const JobEntry& entry) {
  const auto& arguments = schema.arguments();
  if (entry.inputs.size() > arguments.size()) return kNoFit;
  int total = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool recorded = i < entry.inputs.size();
    const bool may_lack = arguments[i].default_value().has_value() ||
                          arguments[i].type()->kind() == TypeKind::OptionalType;
    if (!recorded && !may_lack) return kNoFit;
    const int fit = recorded ? fit_of(arguments[i], entry.inputs[i]) : -4;
    if (fit == kNoFit) return kNoFit;
    total += fit - (is_output(arguments[i]) ? 2 : 0);
  }
  return total;
}

// All overloads of this libtorch by operator name.
const std::map<std::string, std::vector<std::string>>& overloads() {
  static const auto found = [] {
    std::map<std::string, std::vector<std::string>> names;
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
      names[name.name].push_back(name.overload_name);
    }
    // The order of the registry differs between builds.
    for (auto& [name, of_it] : names) std::sort(of_it.begin(), of_it.end());
    return names;
  }();
  return found;
}

// Without recorded inputs, an operator can be called only if all of its required arguments are
// tensors.
bool takes_tensors_only(const c10::FunctionSchema& schema) {
  bool any = false;
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.default_value() || argument.type()->kind() == TypeKind::OptionalType) continue;
    if (argument.type()->kind() != TypeKind::TensorType || is_output(argument)) return false;
    any = true;
  }
  return any;
}

std::optional<c10::OperatorHandle> best_overload(const JobEntry& entry,
                                                 const std::vector<std::string>& names) {
  std::optional<c10::OperatorHandle> best;
  int best_fit = kNoFit;
  for (const std::string& overload : names) {
    const auto handle = c10::Dispatcher::singleton().findSchema({entry.op, overload});
    if (!handle.has_value()) continue;
    const int fit = entry.inputs_told ? fit_of(handle->schema(), entry)
                                      : (takes_tensors_only(handle->schema()) ? 0 : kNoFit);
    if (fit <= best_fit) continue;
    best_fit = fit;
    best.emplace(*handle);
  }
  return best;
}

// Drops leading inputs if the entry fits no overload with them: profilers before PyTorch 1.10
// recorded the whole interpreter stack, with the call's own inputs last.
c10::OperatorHandle choose_overload(JobEntry& entry, std::vector<std::string>& assumed) {
  const auto found = overloads().find(entry.op);
  if (found == overloads().end()) {
    throw OperatorMissing("this libtorch has no operator " + entry.op);
  }
  if (const auto best = best_overload(entry, found->second)) return *best;
  JobEntry fewer = entry;
  while (fewer.inputs.size() > 1) {
    fewer.inputs.erase(fewer.inputs.begin());
    const auto best = best_overload(fewer, found->second);
    if (!best) continue;
    assumed.push_back("the first " + std::to_string(entry.inputs.size() - fewer.inputs.size()) +
                      " recorded inputs belong to another call");
    entry = fewer;
    return *best;
  }
  throw CannotRebuild(entry.inputs_told
                          ? "no overload of " + entry.op + " takes what was recorded"
                          : "inputs were not recorded, and no overload takes tensors alone");
}

// ---------------------------------------------------------------- arguments

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Numbers that affect the result but not the amount of computation. Profilers before PyTorch 2.1
// recorded none. A dimension or an exponent does not qualify.
std::optional<double> any_number(const std::string& op, const std::string& argument) {
  if (is_one_of(argument, {"eps", "epsilon"})) return 1e-5;
  if (is_one_of(argument, {"value", "threshold"})) return 1;
  if (is_one_of(argument, {"min", "max", "min_val", "max_val"})) {
    const bool clamps =
        op.find("clamp") != std::string::npos || op.find("tanh") != std::string::npos;
    return clamps ? std::optional<double>(1) : std::nullopt;
  }
  const bool compares =
      is_one_of(op, {"aten::eq", "aten::ne", "aten::lt", "aten::le", "aten::gt", "aten::ge"});
  return compares && argument == "other" ? std::optional<double>(1) : std::nullopt;
}

class Builder {
 public:
  Builder(JobEntry entry, const at::Device& device, int64_t most_bytes)
      : entry_(std::move(entry)), device_(device), most_bytes_(most_bytes) {}

  std::unique_ptr<Call::Parts> build() {
    for (size_t i = 0; i < entry_.inputs.size(); ++i) {
      if (!is_unknown_tensor(entry_.inputs[i])) continue;
      where_ = "input " + std::to_string(i + 1);
      fail("a tensor of '" + entry_.inputs[i].type.substr(0, 60) + "' cannot be made here");
    }
    std::vector<std::string> assumed;
    const c10::OperatorHandle op = choose_overload(entry_, assumed);
    auto parts = std::make_unique<Call::Parts>(Call::Parts{op, {}, std::move(assumed), {}});
    Call::Parts& call = *parts;
    const c10::FunctionSchema& schema = call.op.schema();
    assumed_ = &call.assumed;
    schema_ = &schema;
    for (size_t i = 0; i < schema.arguments().size(); ++i) {
      const c10::Argument& argument = schema.arguments()[i];
      where_ = "input " + std::to_string(i + 1) + " (" + argument.name() + ")";
      const bool recorded = i < entry_.inputs.size();
      call.arguments.push_back(recorded ? value_of(argument, entry_.inputs[i])
                                        : unrecorded(argument));
    }
    return parts;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw CannotRebuild(where_ + ": " + why); }
  void assume(const std::string& what) { assumed_->push_back(where_ + ": " + what); }

  IValue value_of(const c10::Argument& argument, const RecordedInput& input) {
    const c10::TypePtr type = without_optional(argument.type());
    if (is_tensor(input)) return tensor_of(argument, input);
    if (input.type == "Scalar") return scalar_of(argument, type->kind(), input);
    if (input.type == "ScalarList") return list_of(argument, element_of(type)->kind(), input);
    if (input.type == "TensorList" || input.dims.nested) return tensors_of(type, input);
    return unrecorded(argument);
  }

  // None, a default, or the device of the replay. Any other unrecorded argument is an error.
  IValue unrecorded(const c10::Argument& argument) {
    const bool optional = argument.type()->kind() == TypeKind::OptionalType;
    const TypeKind kind = without_optional(argument.type())->kind();
    if (kind == TypeKind::DeviceObjType && (!optional || !has_tensors())) return IValue(device_);
    if (argument.default_value()) {
      if (kind == TypeKind::StringType) {
        assume("strings are not recorded: " + argument.default_value()->toStringRef());
      }
      return *argument.default_value();
    }
    if (optional) return IValue();
    if (is_list_of_optional_tensors(argument.type())) return indices(argument);
    if (argument.name() == "normalized_shape") return normalized_shape();
    if (kind == TypeKind::TensorType) {
      if (!entry_.inputs_told) return whole_launch(argument);
      return IValue(at::Tensor());
    }
    if (const auto number = any_number(entry_.op, argument.name())) {
      return assumed_number(kind, *number);
    }
    if (argument.name() == "output_mask") {
      assume("not recorded: all three gradients");
      return IValue(c10::List<bool>({true, true, true}));
    }
    fail("a value of type " + argument.type()->str() + " was not recorded");
  }

  // Sizes of the input for the argument of that name, if it is a tensor.
  const Shape* sizes_of(const std::string& name) const {
    const auto& arguments = schema_->arguments();
    for (size_t i = 0; i < entry_.inputs.size() && i < arguments.size(); ++i) {
      const RecordedInput& input = entry_.inputs[i];
      const bool found = arguments[i].name() == name && is_tensor(input) && input.dims.told;
      if (found && !input.dims.nested) return &input.dims.shapes.front();
    }
    return nullptr;
  }

  // Profilers before PyTorch 2.1 do not record it; it equals the weight's shape.
  IValue normalized_shape() {
    const Shape* weight = sizes_of("weight");
    if (weight == nullptr || weight->empty()) fail("neither it nor a weight was recorded");
    assume("not recorded: the weight's shape");
    return IValue(c10::List<int64_t>(c10::ArrayRef<int64_t>(*weight)));
  }

  // Profilers do not record lists that may contain None: the number and shapes of the index tensors
  // are unknown. They follow from the values' shape or the launch size.
  IValue indices(const c10::Argument& argument) {
    const Shape* self = sizes_of("self");
    if (argument.name() != "indices" || self == nullptr || self->empty()) {
      fail("a list of tensors that may be None is not recorded");
    }
    const Shape* values = sizes_of("values");
    Places places = values != nullptr ? places_of_values(*self, *values) : Places{};
    if (places.tensors == 0) places = places_of_launch(*self);
    if (places.tensors == 0) fail("not recorded, and the number of lookups is unknown");
    assume("not recorded: " + std::to_string(places.tensors) + " tensor(s) of places, of shape " +
           shape_text(places.shape));
    c10::List<MaybeTensor> list;
    for (size_t i = 0; i < places.tensors; ++i) {
      at::Tensor tensor = strided_tensor(at::kLong, places.shape, nullptr);
      fill(tensor, true);
      list.push_back(tensor);
    }
    return IValue(list);
  }

  struct Places {
    size_t tensors = 0;  // 0: unknown
    Shape shape;         // of each index tensor
  };

  // The shape of the values is that of the indices, then that of one indexed element.
  static Places places_of_values(const Shape& self, const Shape& values) {
    for (size_t tensors = 1; tensors <= self.size(); ++tensors) {
      const size_t held = self.size() - tensors;
      if (values.size() <= held) continue;
      const auto cut = values.end() - static_cast<std::ptrdiff_t>(held);
      if (std::equal(cut, values.end(), self.begin() + static_cast<std::ptrdiff_t>(tensors))) {
        return {tensors, Shape(values.begin(), cut)};
      }
    }
    return {};
  }

  // Of the two indexing kernels, index_elementwise_kernel processes four elements per thread and
  // vectorized_gather_kernel 16 bytes.
  Places places_of_launch(const Shape& self) const {
    constexpr int64_t kGatherBytes = 16;
    const int64_t of_gather =
        kGatherBytes / std::max<int64_t>(1, static_cast<int64_t>(first_element_bytes()));
    for (size_t tensors = 1; tensors <= self.size(); ++tensors) {
      double held = 1;  // a double, because a size may be hostile
      for (size_t i = tensors; i < self.size(); ++i) held *= static_cast<double>(self[i]);
      if (held < 1 || held > static_cast<double>(most_bytes_)) continue;
      for (const int64_t each : {int64_t{4}, of_gather}) {
        const auto row = static_cast<int64_t>(held);
        const int64_t elements = entry_.elements * each;
        if (elements > 0 && elements % row == 0) return {tensors, {elements / row}};
      }
    }
    return {};
  }

  size_t first_element_bytes() const {
    const auto type = element_type(entry_.inputs.front().type);
    return type ? c10::elementSize(*type) : sizeof(float);
  }

  static std::string shape_text(const Shape& shape) {
    std::string text = "[";
    for (const int64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + "]";
  }

  IValue whole_launch(const c10::Argument& argument) {
    assume("inputs were not recorded: one element per thread of the launch");
    return IValue(
        make_tensor(argument, at::kFloat, {std::max<int64_t>(1, entry_.elements)}, nullptr));
  }

  bool has_tensors() const {
    return std::any_of(entry_.inputs.begin(), entry_.inputs.end(), [](const RecordedInput& input) {
      return is_tensor(input) || input.dims.nested;
    });
  }

  IValue scalar_of(const c10::Argument& argument, TypeKind kind, const RecordedInput& input) {
    if (!input.value_told || input.value.empty()) {
      if (argument.default_value()) {
        assume("the value was not recorded: the default");
        return *argument.default_value();
      }
      if (argument.type()->kind() == TypeKind::OptionalType) return IValue();
      if (const auto number = any_number(entry_.op, argument.name())) {
        return assumed_number(kind, *number);
      }
      fail("the value was not recorded; PyTorch 2.1 and newer record it");
    }
    return scalar_value(kind, input.value);
  }

  IValue assumed_number(TypeKind kind, double number) {
    std::ostringstream text;
    text << number;
    assume("the value was not recorded: " + text.str());
    return scalar_value(kind, text.str());
  }

  IValue scalar_value(TypeKind kind, const std::string& text) const {
    if (const auto boolean = as_bool(text)) {
      if (kind == TypeKind::BoolType || kind == TypeKind::NumberType) return IValue(*boolean);
    }
    const auto integer = as_integer(text);
    if (integer && (is_integer_kind(kind) || kind == TypeKind::NumberType)) return IValue(*integer);
    const auto number = as_double(text);
    if (number && (kind == TypeKind::FloatType || kind == TypeKind::NumberType))
      return IValue(*number);
    fail("'" + text.substr(0, 60) + "' is not a value for it");
  }

  IValue list_of(const c10::Argument& argument, TypeKind kind, const RecordedInput& input) {
    const auto parts = as_list(input.value);
    if (!parts) {
      if (argument.default_value()) {
        assume("the values were not recorded: the default");
        return *argument.default_value();
      }
      fail("the values of the list were not recorded");
    }
    if (is_integer_kind(kind)) return IValue(filled<int64_t>(kind, *parts, &IValue::toInt));
    if (kind == TypeKind::FloatType) return IValue(filled<double>(kind, *parts, &IValue::toDouble));
    if (kind == TypeKind::BoolType) return IValue(filled<bool>(kind, *parts, &IValue::toBool));
    fail("lists of this type are not rebuilt");
  }

  template <typename T>
  c10::List<T> filled(TypeKind kind, const std::vector<std::string>& parts,
                      T (IValue::*get)() const) const {
    c10::List<T> list;
    for (const std::string& part : parts) list.push_back((scalar_value(kind, part).*get)());
    return list;
  }

  IValue tensor_of(const c10::Argument& argument, const RecordedInput& input) {
    if (is_untyped_tensor(input)) assume("element types were not recorded: float");
    const at::ScalarType type = element_type(input.type).value_or(at::kFloat);
    if (!input.dims.told || input.dims.nested) fail("its shape was not recorded");
    const Shape& sizes = input.dims.shapes.front();
    const bool strided = input.strides.told && !input.strides.nested &&
                         input.strides.shapes.front().size() == sizes.size();
    if (sizes.empty() && is_wrapped_number(type)) return wrapped_number(type);
    return IValue(
        make_tensor(argument, type, sizes, strided ? &input.strides.shapes.front() : nullptr));
  }

  // `x + 1` reaches the dispatcher as a CPU tensor without dimensions, which type promotion
  // ignores. It is recorded like any tensor and recognized by a type of Python's numbers.
  bool is_wrapped_number(at::ScalarType type) const {
    if (type != at::kDouble && type != at::kLong && type != at::kBool) return false;
    if (entry_.inputs.size() < 2) return false;
    return std::any_of(entry_.inputs.begin(), entry_.inputs.end(), [](const RecordedInput& other) {
      return is_tensor(other) && other.dims.told && !other.dims.nested &&
             !other.dims.shapes.front().empty();
    });
  }

  IValue wrapped_number(at::ScalarType type) {
    assume("taken for a number of Python's, 1");
    at::Tensor number = at::ones({}, at::TensorOptions().dtype(type));
    number.unsafeGetTensorImpl()->set_wrapped_number(true);
    return IValue(number);
  }

  IValue tensors_of(const c10::TypePtr& type, const RecordedInput& input) {
    if (!input.dims.told || (!input.dims.nested && !input.dims.shapes.front().empty())) {
      fail("the shapes of the list were not recorded");
    }
    const auto element = element_type(entry_.list_type);
    if (!element) fail("the element type of tensor lists is not recorded or otherwise known");
    std::vector<at::Tensor> made;
    for (size_t i = 0; input.dims.nested && i < input.dims.shapes.size(); ++i) {
      const bool strided = input.strides.nested && i < input.strides.shapes.size() &&
                           input.strides.shapes[i].size() == input.dims.shapes[i].size();
      made.push_back(strided_tensor(*element, input.dims.shapes[i],
                                    strided ? &input.strides.shapes[i] : nullptr));
      fill(made.back(), false);
    }
    if (made.empty()) fail("the shapes of the list were not recorded");
    assume("the element type of tensor lists is not recorded: " + entry_.list_type);
    if (is_list_of_optional_tensors(type)) {
      c10::List<MaybeTensor> list;
      for (const at::Tensor& tensor : made) list.push_back(tensor);
      return IValue(list);
    }
    return IValue(c10::List<at::Tensor>(made));
  }

  at::Tensor make_tensor(const c10::Argument& argument, at::ScalarType type, const Shape& sizes,
                         const Shape* strides) {
    at::Tensor tensor = strided_tensor(type, sizes, strides);
    fill(tensor, names_places(argument.name()));
    if (smallest_ == 0 || entry_.op == "aten::embedding") note_size(tensor);
    return tensor;
  }

  // Integer tensors that index another tensor have one of these names.
  static bool names_places(const std::string& name) {
    return name == "index" || name == "indices" || name == "target" || name == "offsets";
  }

  // Indices must stay below every size that they may index.
  void note_size(const at::Tensor& tensor) {
    for (const int64_t size : tensor.sizes()) {
      if (size > 0 && (smallest_ == 0 || size < smallest_)) smallest_ = size;
    }
  }

  at::Tensor strided_tensor(at::ScalarType type, const Shape& sizes, const Shape* strides) {
    if (sizes.size() > kMostDims) fail("too many dimensions");
    __int128 last = 0;
    __int128 dense = 1;
    bool empty = false;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t stride = strides != nullptr ? (*strides)[i] : 0;
      if (sizes[i] < 0 || stride < 0) fail("a negative size or stride");
      empty |= sizes[i] == 0;
      last += static_cast<__int128>(sizes[i] - 1) * stride;
      dense = std::min<__int128>(dense * std::max<int64_t>(1, sizes[i]), __int128{1} << 62);
    }
    const __int128 elements = empty ? 0 : (strides != nullptr ? last + 1 : dense);
    const __int128 bytes = elements * static_cast<int64_t>(c10::elementSize(type));
    if (bytes > most_bytes_ - bytes_) fail("more memory than a replay takes");
    bytes_ += static_cast<int64_t>(bytes);
    const at::TensorOptions options = at::TensorOptions().dtype(type).device(device_);
    if (strides == nullptr || empty) return at::empty(sizes, options);
    // Not a view: some operators refuse views.
    return at::empty_strided(sizes, *strides, options);
  }

  // Fills the tensor with values that every operator accepts: in (0, 1], ones, or valid indices.
  // Fills the storage, because elements with stride 0 share memory.
  void fill(const at::Tensor& tensor, bool places) const {
    if (tensor.numel() == 0 || device_.is_meta()) return;
    const int64_t count = static_cast<int64_t>(tensor.storage().nbytes() / tensor.element_size());
    at::Tensor memory = tensor.as_strided({count}, {1}, 0);
    const at::ScalarType type = tensor.scalar_type();
    if (is_packed(type)) {
      memory.view(at::kByte).fill_(0x22);  // two 4-bit ones
    } else if (places) {
      memory.copy_(at::arange(count, memory.options().dtype(at::kLong))
                       .remainder(std::max<int64_t>(1, smallest_)));
    } else if (type == at::kBool || at::isIntegralType(type, false)) {
      memory.fill_(1);
    } else {
      memory.copy_(at::rand({count}, memory.options().dtype(at::kFloat)).mul_(-0.875).add_(1.0));
    }
  }

  JobEntry entry_;  // its inputs are those of the call
  const at::Device device_;
  const int64_t most_bytes_;
  int64_t bytes_ = 0;
  int64_t smallest_ = 0;  // smallest size of the tensors so far
  std::string where_;
  std::vector<std::string>* assumed_ = nullptr;
  const c10::FunctionSchema* schema_ = nullptr;
};

void describe_tensor(const at::Tensor& tensor, std::ostream& out) {
  if (!tensor.defined()) {
    out << "undefined";
    return;
  }
  out << at::toString(tensor.scalar_type()) << '[';
  for (int64_t i = 0; i < tensor.dim(); ++i) out << (i > 0 ? "," : "") << tensor.size(i);
  out << "|";
  for (int64_t i = 0; i < tensor.dim(); ++i) out << (i > 0 ? "," : "") << tensor.stride(i);
  out << ']';
}

void describe_value(const IValue& value, std::ostream& out) {
  const bool optional = value.isOptionalTensorList();
  if (value.isTensor()) {
    describe_tensor(value.toTensor(), out);
  } else if (optional || value.isTensorList()) {
    out << '[';
    for (const IValue& element : value.toListRef()) {
      if (element.isNone())
        out << "None";
      else
        describe_tensor(element.toTensor(), out);
      out << ';';
    }
    out << ']';
  } else {
    out << value;
  }
}

}  // namespace

Call rebuild(const JobEntry& entry, const std::string& device, int64_t most_bytes) {
  return Call(Builder(entry, at::Device(device), most_bytes).build());
}

Call::Call(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Call::Call(Call&& other) noexcept = default;
Call& Call::operator=(Call&& other) noexcept = default;
Call::~Call() = default;

const std::vector<std::string>& Call::assumed() const { return parts_->assumed; }
void Call::prepare() { parts_->stack = parts_->arguments; }
void Call::run() { parts_->op.callBoxed(&parts_->stack); }
void Call::finish() { parts_->stack.clear(); }

std::string Call::describe() const {
  std::ostringstream out;
  const c10::OperatorName& name = parts_->op.operator_name();
  out << name.name;
  if (!name.overload_name.empty()) out << '.' << name.overload_name;
  out << '(';
  for (size_t i = 0; i < parts_->arguments.size(); ++i) {
    if (i > 0) out << ", ";
    describe_value(parts_->arguments[i], out);
  }
  out << ')';
  return out.str();
}

}  // namespace assay::replay
