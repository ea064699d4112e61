#include "cli/mcp_messages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/closest_word.h"
#include "base/json_string.h"
#include "base/json_tree.h"
#include "cli/version.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

// Protocol versions that have the messages below; clients of an unknown version get the first.
constexpr std::array<std::string_view, 4> kProtocols = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                        "2024-11-05"};

// JSON-RPC 2.0, section 5.1.
enum RpcError : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
};

std::string line_of(const Json& message) { return json_text(message); }

std::string rpc_error(const Json& id, RpcError code, const std::string& words) {
  return line_of(
      {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", int{code}}, {"message", words}}}});
}

std::string rpc_result(const Json& id, const Json& result) {
  return line_of({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

Json schema_of(const ToolArgument& argument) {
  Json schema = Json::object();
  switch (argument.type) {
    case ToolValue::kText:
      schema["type"] = "string";
      break;
    case ToolValue::kTexts:
      schema["type"] = "array";
      schema["items"] = {{"type", "string"}};
      break;
    case ToolValue::kWholeNumber:
      schema["type"] = "integer";
      schema["minimum"] = 0;
      break;
    case ToolValue::kNumber:
      schema["type"] = "number";
      break;
    case ToolValue::kTruth:
      schema["type"] = "boolean";
      break;
  }
  if (!argument.words.empty()) schema["enum"] = argument.words;
  if (!argument.sentence.empty()) schema["description"] = argument.sentence;
  return schema;
}

Json tool_json(const AgentTool& tool) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const ToolArgument& argument : tool.arguments) {
    properties[argument.name] = schema_of(argument);
    if (argument.is_required) required.push_back(argument.name);
  }
  Json json = {{"name", tool.name},
               {"description", tool.sentence},
               {"annotations", {{"readOnlyHint", true}}},
               {"inputSchema",
                {{"type", "object"},
                 {"properties", properties},
                 {"required", required},
                 {"additionalProperties", false}}}};
  if (!tool.output_schema.empty()) json["outputSchema"] = parsed_ordered_json(tool.output_schema);
  return json;
}

Json initialized(const McpServer& server, const Json& params) {
  std::string_view protocol = kProtocols[0];
  const auto asked = params.find("protocolVersion");
  for (const std::string_view known : kProtocols) {
    if (asked != params.end() && *asked == known) protocol = known;
  }
  return {{"protocolVersion", protocol},
          {"capabilities", {{"tools", Json::object()}}},
          {"serverInfo", {{"name", "assay"}, {"version", kVersion}}},
          {"instructions", server.instructions}};
}

// Appends a value; false if it does not have the argument's type.
bool take_value(const ToolArgument& argument, const Json& given, std::vector<std::string>& values) {
  switch (argument.type) {
    case ToolValue::kText:
      if (!given.is_string()) return false;
      values.push_back(given.get<std::string>());
      return true;
    case ToolValue::kTexts:
      if (!given.is_array()) return false;
      for (const Json& one : given) {
        if (!one.is_string()) return false;
        values.push_back(one.get<std::string>());
      }
      return true;
    case ToolValue::kWholeNumber:
      if (!given.is_number_integer() || given < 0) return false;
      values.push_back(json_text(given));
      return true;
    case ToolValue::kNumber:
      if (!given.is_number()) return false;
      values.push_back(json_text(given));
      return true;
    case ToolValue::kTruth:
      if (!given.is_boolean()) return false;
      values.push_back(json_text(given));
      return true;
  }
  return false;
}

std::string no_argument(const std::string& name, const std::vector<ToolArgument>& known) {
  std::vector<std::string> names;
  for (const ToolArgument& argument : known) names.push_back(argument.name);
  const std::string near = closest_word(name, names);
  return "there is no argument " + json_string(name) +
         (near.empty() ? fmt::format("; there are {}", fmt::join(names, ", "))
                       : "; did you mean " + json_string(near) + "?");
}

// Parses and checks the arguments. Returns the error; empty if they are valid.
std::string take_arguments(const Json& given, ToolCall& call) {
  if (!given.is_object()) return "arguments is not an object";
  const auto& known = call.tool->arguments;
  for (const auto& [name, value] : given.items()) {
    const auto argument = std::find_if(known.begin(), known.end(),
                                       [&wanted = name](const ToolArgument& a) { return a.name == wanted; });
    if (argument == known.end()) return no_argument(name, known);
    auto& values = call.values[name];
    if (!take_value(*argument, value, values)) return name + " has the wrong type";
    const auto& words = argument->words;
    for (const std::string& one : values) {
      if (words.empty() || std::find(words.begin(), words.end(), one) != words.end()) continue;
      return fmt::format("{}: {} is none of {}", name, json_string(one), fmt::join(words, ", "));
    }
  }
  call.arguments = json_text(given);
  for (const ToolArgument& argument : known) {
    if (argument.is_required && call.one(argument.name).empty())
      return argument.name + " is missing";
  }
  return "";
}

Json tool_result(const ToolAnswer& answer) {
  Json content = Json::array();
  content.push_back({{"type", "text"}, {"text", answer.text}});
  Json result = {{"content", content}, {"isError", answer.is_error}};
  if (answer.is_structured) result["structuredContent"] = parsed_ordered_json(answer.text);
  return result;
}

McpRequest read_call(const McpServer& server, const Json& id, const Json& params) {
  const auto name = params.find("name");
  ToolCall call;
  std::string names;
  for (const AgentTool& tool : server.tools) {
    if (name != params.end() && *name == tool.name) call.tool = &tool;
    names += (names.empty() ? "" : ", ") + tool.name;
  }
  if (call.tool == nullptr)
    return {rpc_error(id, kInvalidParams, "no such tool; there are " + names)};
  const auto arguments = params.find("arguments");
  const std::string wrong =
      take_arguments(arguments == params.end() ? Json::object() : *arguments, call);
  // A tool result, not a protocol error, so that the model reads and corrects it.
  if (!wrong.empty()) return {rpc_result(id, tool_result({call.tool->name + ": " + wrong, true}))};
  return {.call = std::move(call), .id = json_text(id)};
}

McpRequest read_notification(const std::string& method, const Json& params) {
  const auto id = params.find("requestId");
  if (method != "notifications/cancelled" || id == params.end()) return {};
  return {.cancelled = json_text(*id)};
}

bool is_request(const Json& message) {
  if (!message.is_object()) return false;
  const auto version = message.find("jsonrpc");
  const auto method = message.find("method");
  const auto params = message.find("params");
  return version != message.end() && *version == "2.0" && method != message.end() &&
         method->is_string() && (params == message.end() || params->is_object());
}

}  // namespace

const std::vector<std::string>& ToolCall::all(const std::string& name) const {
  static const std::vector<std::string> kNone;
  const auto found = values.find(name);
  return found == values.end() ? kNone : found->second;
}

std::string ToolCall::one(const std::string& name) const {
  const auto& given = all(name);
  return given.empty() ? "" : given.front();
}

McpRequest read_message(const McpServer& server, const std::string& line) {
  if (line.size() > kMostMessage || nested_too_deep(line)) {
    return {rpc_error(nullptr, kParseError, "the message is too large")};
  }
  const Json message = parsed_ordered_json(line);
  if (message.is_discarded()) return {rpc_error(nullptr, kParseError, "the line is not JSON")};
  if (!is_request(message)) {
    return {rpc_error(nullptr, kInvalidRequest, "not one request of JSON-RPC 2.0")};
  }
  const auto given = message.find("params");
  const Json params = given == message.end() ? Json::object() : *given;
  const auto& method = message["method"].get_ref<const std::string&>();
  const auto id = message.find("id");
  if (id == message.end()) return read_notification(method, params);
  if (!id->is_string() && !id->is_number_integer()) {
    return {rpc_error(nullptr, kInvalidRequest, "id is neither text nor a whole number")};
  }
  if (method == "initialize") return {rpc_result(*id, initialized(server, params))};
  if (method == "ping") return {rpc_result(*id, Json::object())};
  if (method == "tools/call") return read_call(server, *id, params);
  if (method != "tools/list") {
    return {rpc_error(*id, kMethodNotFound, "there is no such method")};
  }
  Json tools = Json::array();
  for (const AgentTool& tool : server.tools) tools.push_back(tool_json(tool));
  return {rpc_result(*id, {{"tools", tools}})};
}

std::string tool_text(const AgentTool& tool) { return json_text(tool_json(tool)); }

std::string tool_message(const std::string& id, const ToolAnswer& answer) {
  return rpc_result(parsed_ordered_json(id), tool_result(answer));
}

}  // namespace assay
