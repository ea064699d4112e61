#include "roof/inputs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/decimal.h"

namespace assay {
namespace {

struct TypeWords {
  ElementType type;
  double bytes;
  std::string_view name;
};
constexpr std::array<TypeWords, 22> kTypes = {{
    {ElementType::kUntold, 0, ""},          {ElementType::kFloat64, 8, "fp64"},
    {ElementType::kFloat32, 4, "fp32"},     {ElementType::kTf32, 4, "tf32"},
    {ElementType::kBFloat16, 2, "bf16"},    {ElementType::kFloat16, 2, "fp16"},
    {ElementType::kFloat8, 1, "fp8"},       {ElementType::kFloat4Pair, 1, "fp4"},
    {ElementType::kInt64, 8, "int64"},      {ElementType::kInt32, 4, "int32"},
    {ElementType::kInt16, 2, "int16"},      {ElementType::kInt8, 1, "int8"},
    {ElementType::kInt4, 0.5, "int4"},      {ElementType::kBool, 1, "bool"},
    {ElementType::kComplex128, 16, "c128"}, {ElementType::kComplex64, 8, "c64"},
    {ElementType::kComplex32, 4, "c32"},    {ElementType::kBytes1, 1, "1 B"},
    {ElementType::kBytes2, 2, "2 B"},       {ElementType::kBytes4, 4, "4 B"},
    {ElementType::kBytes8, 8, "8 B"},       {ElementType::kBytes16, 16, "16 B"},
}};

// Names printed by c10 and by the profilers of 2021.
constexpr std::array<std::pair<std::string_view, ElementType>, 33> kTorchNames = {{
    {"float", ElementType::kFloat32},
    {"double", ElementType::kFloat64},
    {"c10::Half", ElementType::kFloat16},
    {"c10::BFloat16", ElementType::kBFloat16},
    {"c10::Float8_e4m3fn", ElementType::kFloat8},
    {"c10::Float8_e4m3fnuz", ElementType::kFloat8},
    {"c10::Float8_e5m2", ElementType::kFloat8},
    {"c10::Float8_e5m2fnuz", ElementType::kFloat8},
    {"c10::Float8_e8m0fnu", ElementType::kFloat8},
    {"c10::Float4_e2m1fn_x2", ElementType::kFloat4Pair},
    {"long", ElementType::kInt64},
    {"long int", ElementType::kInt64},
    {"unsigned long", ElementType::kInt64},
    {"long unsigned int", ElementType::kInt64},
    {"int", ElementType::kInt32},
    {"unsigned int", ElementType::kInt32},
    {"short", ElementType::kInt16},
    {"short int", ElementType::kInt16},
    {"unsigned short", ElementType::kInt16},
    {"short unsigned int", ElementType::kInt16},
    {"signed char", ElementType::kInt8},
    {"char", ElementType::kInt8},
    {"unsigned char", ElementType::kInt8},
    {"c10::qint8", ElementType::kInt8},
    {"c10::quint8", ElementType::kInt8},
    {"c10::qint32", ElementType::kInt32},
    {"bool", ElementType::kBool},
    {"c10::complex<double>", ElementType::kComplex128},
    {"c10::complex<float>", ElementType::kComplex64},
    {"c10::complex<c10::Half>", ElementType::kComplex32},
    {"std::complex<double>", ElementType::kComplex128},
    {"std::complex<float>", ElementType::kComplex64},
    {"c10::quint4x2", ElementType::kInt4},
}};

// Names of c10d's collectives; the others are as in kTypes.
constexpr std::array<std::pair<std::string_view, ElementType>, 14> kOtherNames = {{
    {"Float", ElementType::kFloat32},
    {"Double", ElementType::kFloat64},
    {"Half", ElementType::kFloat16},
    {"BFloat16", ElementType::kBFloat16},
    {"Long", ElementType::kInt64},
    {"Int", ElementType::kInt32},
    {"Short", ElementType::kInt16},
    {"Char", ElementType::kInt8},
    {"Byte", ElementType::kInt8},
    {"Bool", ElementType::kBool},
    {"Float8_e4m3fn", ElementType::kFloat8},
    {"Float8_e5m2", ElementType::kFloat8},
    {"Float8_e4m3fnuz", ElementType::kFloat8},
    {"Float8_e5m2fnuz", ElementType::kFloat8},
}};

// Maximum depth of nested number arrays: arguments, tensors of a list, sizes.
constexpr int kDeepest = 3;

struct ShapeText {
  std::vector<Sizes> sizes;  // one tensor, or those of a list
  bool list = false;
};

// [[8,128],[],[[2,3],[4]]] -> sizes per argument. Parsing stops at an unexpected character; earlier
// arguments are returned.
std::vector<ShapeText> read_shapes(std::string_view text) {
  std::vector<ShapeText> arguments;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[') {
      if (++depth > kDeepest) return arguments;
      if (depth == 2) arguments.push_back({.sizes = {{}}});
      if (depth != kDeepest) continue;
      if (!arguments.back().list) arguments.back().sizes.clear();
      arguments.back().list = true;
      arguments.back().sizes.emplace_back();
      continue;
    }
    if (c == ']') {
      if (--depth <= 0) return arguments;
      continue;
    }
    if (c == ',' || c == ' ') continue;
    const size_t end = std::min(text.find_first_of(",[] ", i), text.size());
    double value = 0;
    if (depth < 2 || !parse_double(text.substr(i, end - i), value)) return arguments;
    arguments.back().sizes.back().push_back(value);
    i = end - 1;
  }
  return arguments;
}

// Elements of ["a","[3, 3]",…] without quotes, escapes unchanged; empty for elements that are not
// strings.
std::vector<std::string_view> read_texts(std::string_view text) {
  std::vector<std::string_view> texts;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' && ++depth == 2) texts.emplace_back();
    if (c == ']') --depth;
    if (c != '"') continue;
    size_t end = i + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size()) return texts;
    if (depth == 1) texts.push_back(text.substr(i + 1, end - i - 1));
    i = end;
  }
  return texts;
}

template <size_t N>
ElementType named_in(const std::array<std::pair<std::string_view, ElementType>, N>& names,
                     std::string_view name) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& one) { return one.first == name; });
  return found == names.end() ? ElementType::kUntold : found->second;
}

bool is_list(std::string_view type) { return type == "TensorList" || type == "GenericList"; }

OpArgument read_argument(ShapeText shape, const ShapeText* strides, bool typed,
                         std::string_view type, ElementType list_type) {
  OpArgument argument;
  argument.list = shape.list || (typed && is_list(type));
  const ElementType element = argument.list ? list_type : element_type_of(type);
  // A tensor of an unknown (future) type still has sizes.
  const bool untyped = !shape.sizes.front().empty();
  if (argument.list ? !shape.list : element == ElementType::kUntold && !untyped) return argument;
  for (size_t i = 0; i < shape.sizes.size(); ++i) {
    TensorInput tensor{.sizes = std::move(shape.sizes[i]), .type = element};
    if (strides != nullptr && i < strides->sizes.size() &&
        strides->sizes[i].size() == tensor.sizes.size()) {
      tensor.strides = strides->sizes[i];
    }
    argument.tensors.push_back(std::move(tensor));
  }
  return argument;
}

}  // namespace

double element_bytes(ElementType type) { return kTypes[static_cast<size_t>(type)].bytes; }

std::string_view element_type_name(ElementType type) {
  return kTypes[static_cast<size_t>(type)].name;
}

ElementType element_type_of(std::string_view torch_name) {
  return named_in(kTorchNames, torch_name);
}

ElementType element_type_named(std::string_view name) {
  if (name.empty()) return ElementType::kUntold;
  for (const TypeWords& one : kTypes) {
    if (one.name == name) return one.type;
  }
  return named_in(kOtherNames, name);
}

ElementType element_type_moved(std::string_view kernel) {
  constexpr std::string_view kOpaque = "OpaqueType<";
  const size_t at = kernel.find(kOpaque);
  if (at == std::string_view::npos) return ElementType::kUntold;
  std::string_view bytes = kernel.substr(at + kOpaque.size());
  bytes = bytes.substr(0, bytes.find_first_not_of("0123456789"));
  return element_type_named(std::string(bytes) + " B");
}

bool is_floating(ElementType type) {
  return type >= ElementType::kFloat64 && type <= ElementType::kFloat4Pair;
}

double elements_of(const Sizes& sizes, size_t first) {
  double all = 1;
  for (size_t i = first; i < sizes.size(); ++i) all *= sizes[i];
  return all;
}

double TensorInput::elements() const { return elements_of(sizes); }

double TensorInput::stored() const {
  if (strides.size() != sizes.size()) return elements();
  double all = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (strides[i] != 0 || sizes[i] == 0) all *= sizes[i];
  }
  return all;
}

const TensorInput* OpInputs::tensor(size_t index) const {
  if (index >= arguments.size() || !arguments[index].tensor()) return nullptr;
  return &arguments[index].tensors.front();
}

std::string_view OpInputs::value(size_t index) const {
  return index < arguments.size() ? arguments[index].value : std::string_view();
}

std::optional<double> OpInputs::number(size_t index) const {
  double number = 0;
  if (!parse_double(value(index), number)) return std::nullopt;
  return number;
}

std::optional<bool> OpInputs::flag(size_t index) const {
  const std::string_view text = value(index);
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return std::nullopt;
}

std::optional<Sizes> OpInputs::numbers(size_t index) const { return read_numbers(value(index)); }

std::optional<Sizes> read_numbers(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.front() == '[') text.remove_prefix(1);
  if (!text.empty() && text.back() == ']') text.remove_suffix(1);
  Sizes all;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    double number = 0;
    if (part == "True" || part == "False") {
      number = part == "True" ? 1 : 0;
    } else if (!parse_double(part, number)) {
      return std::nullopt;
    }
    all.push_back(number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return all;
}

OpInputs read_op_inputs(std::string_view dims, std::string_view types, std::string_view strides,
                        std::string_view concrete, ElementType list_type) {
  OpInputs inputs;
  std::vector<ShapeText> shapes = read_shapes(dims);
  const std::vector<ShapeText> steps = read_shapes(strides);
  const std::vector<std::string_view> type_names = read_texts(types);
  const std::vector<std::string_view> values = read_texts(concrete);
  inputs.values_told = !values.empty();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const ShapeText* step = i < steps.size() ? &steps[i] : nullptr;
    const bool typed = i < type_names.size();
    inputs.arguments.push_back(read_argument(
        std::move(shapes[i]), step, typed, typed ? type_names[i] : std::string_view(), list_type));
    if (i < values.size()) inputs.arguments.back().value = values[i];
  }
  return inputs;
}

}  // namespace assay
