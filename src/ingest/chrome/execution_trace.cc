#include "ingest/chrome/execution_trace.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/json_tree.h"
#include "ingest/formats.h"
#include "ingest/text/json_text.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

using Json = nlohmann::json;

const Json* member_of(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? nullptr : &*found;
}

// An attribute of a node; in schemas before 1.0.2, a key of the node itself.
const Json* attribute(const Json& node, const char* key) {
  const Json* attributes = member_of(node, "attrs");
  if (attributes == nullptr || !attributes->is_array()) return member_of(node, key);
  for (const Json& one : *attributes) {
    const Json* name = member_of(one, "name");
    if (name != nullptr && name->is_string() && *name == key) return member_of(one, "value");
  }
  return nullptr;
}

// Values, shapes, types or strides; in old schemas, keys of the node itself.
const Json* inputs_of(const Json& node, const char* key, const char* old_key) {
  const Json* inputs = member_of(node, "inputs");
  if (inputs != nullptr && inputs->is_object()) return member_of(*inputs, key);
  return member_of(node, old_key);
}

// A scalar, or a list of scalars, as the profiler writes it: Python's words, lists with a space.
std::string value_words(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return text == "<None>" ? std::string() : text;
  }
  if (value.is_null()) return {};
  if (!value.is_array()) return json_text(value);
  std::string words = "[";
  for (const Json& element : value) {
    if (words.size() > 1) words += ", ";
    words += value_words(element);
  }
  return words + "]";
}

struct KindOfInput {
  std::string type;
  bool tensors = false;
};

// "Tensor(float)", "GenericList[Tensor(float),Tensor(float)]", "Int", "GenericList[Int,Int]".
KindOfInput kind_of(std::string_view type) {
  constexpr std::string_view kTensor = "Tensor(";
  constexpr std::string_view kList = "GenericList[";
  if (type.starts_with(kTensor) && type.ends_with(")")) {
    return {std::string(type.substr(kTensor.size(), type.size() - kTensor.size() - 1)), true};
  }
  if (type.starts_with(kList)) {
    const bool tensors = type.substr(kList.size()).starts_with(kTensor);
    return {tensors ? "TensorList" : "ScalarList", tensors};
  }
  const bool scalar = type == "Int" || type == "Double" || type == "Bool";
  return {scalar ? "Scalar" : "", false};
}

std::optional<ExecutionTrace::Node> node_of(const Json& node) {
  const Json* name = member_of(node, "name");
  const Json* values = inputs_of(node, "values", "inputs");
  const Json* shapes = inputs_of(node, "shapes", "input_shapes");
  const Json* types = inputs_of(node, "types", "input_types");
  const Json* strides = inputs_of(node, "strides", "input_strides");
  for (const Json* list : {types, values, shapes}) {
    if (list == nullptr || !list->is_array() || list->size() != types->size()) return std::nullopt;
  }
  if (name == nullptr || !name->is_string()) return std::nullopt;
  const bool stepped =
      strides != nullptr && strides->is_array() && strides->size() == types->size();
  Json dims = Json::array(), kinds = dims, steps = dims, concrete = dims;
  for (size_t i = 0; i < types->size(); ++i) {
    if (!(*types)[i].is_string()) return std::nullopt;
    KindOfInput kind = kind_of((*types)[i].get_ref<const std::string&>());
    dims.push_back(kind.tensors ? (*shapes)[i] : Json::array());
    steps.push_back(kind.tensors && stepped ? (*strides)[i] : Json::array());
    concrete.push_back(kind.tensors ? std::string() : value_words((*values)[i]));
    kinds.push_back(std::move(kind.type));
  }
  return ExecutionTrace::Node{.name = name->get<std::string>(),
                              .dims = json_text(dims),
                              .types = json_text(kinds),
                              .strides = stepped ? json_text(steps) : std::string(),
                              .concrete = json_text(concrete)};
}

}  // namespace

Result<ExecutionTrace> parse_execution_trace(std::string_view text, const std::string& path) {
  Json document = parsed_json(text);
  if (document.is_discarded()) document = parsed_json(without_bare_words(text));
  if (document.is_discarded()) {
    const size_t last = text.find_last_not_of(" \r\n\t");
    const bool cut = last == std::string_view::npos || text[last] != '}';
    return Error{cut ? ErrorCode::kTruncated : ErrorCode::kFormat,
                 cut ? "the execution trace is cut off: its observer was not stopped before the "
                       "program ended. Call unregister_callback(), or record it again"
                     : "the execution trace is not JSON",
                 path, static_cast<int64_t>(text.size())};
  }
  const Json* list = member_of(document, "nodes");
  if (list == nullptr || !list->is_array() || member_of(document, "schema") == nullptr) {
    return Error{ErrorCode::kFormat, "not an execution trace: it has no schema and list of nodes",
                 path, -1};
  }
  ExecutionTrace trace;
  if (const Json* pid = member_of(document, "pid"); pid != nullptr && pid->is_number_unsigned()) {
    trace.pid = json_text(*pid);
  }
  std::unordered_set<uint64_t> repeated;
  for (const Json& one : *list) {
    const Json* id = attribute(one, "rf_id");
    // Marks of processes and threads have no function.
    if (id != nullptr && id->is_number_unsigned() && id->get<uint64_t>() == 0) continue;
    auto node = node_of(one);
    if (id == nullptr || !id->is_number_unsigned() || !node) {
      ++trace.bad_nodes;
      continue;
    }
    const auto key = id->get<uint64_t>();
    if (!trace.nodes.emplace(key, *std::move(node)).second) {
      ++trace.bad_nodes;
      repeated.insert(key);
    }
  }
  for (const uint64_t key : repeated) trace.nodes.erase(key);
  trace.bad_nodes += repeated.size();
  return trace;
}

Result<ExecutionTrace> read_execution_trace(const std::string& path) {
  auto text = read_whole_file(
      path, {ErrorCode::kUnsupported, "an execution trace of more than 1 GiB", path, -1});
  if (!text) return explained(text.take_error(), path, FileFamily::kOperators);
  auto trace = parse_execution_trace(*text, path);
  if (!trace) return explained(trace.take_error(), path, FileFamily::kOperators);
  return trace;
}

}  // namespace assay
