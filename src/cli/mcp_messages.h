#pragma once

// The Model Context Protocol over standard input and output: JSON-RPC 2.0, one message per line.
// Handles the protocol only; callers provide the tools.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

enum class ToolValue : uint8_t { kText, kTexts, kWholeNumber };

struct ToolArgument {
  std::string name;
  ToolValue type = ToolValue::kText;
  std::string sentence = {};
  bool is_required = false;
};

struct AgentTool {
  std::string name;
  std::string sentence;
  std::vector<ToolArgument> arguments;
};

// Arguments as given and checked against the tool's; a single value is a list of one.
struct ToolCall {
  const AgentTool* tool = nullptr;
  std::map<std::string, std::vector<std::string>> values = {};

  // Empty where it was not given.
  const std::vector<std::string>& all(const std::string& name) const;
  std::string one(const std::string& name) const;
};

struct ToolAnswer {
  std::string text;
  bool is_error = false;
};

struct McpServer {
  std::string instructions;  // what a model reads before it asks
  std::vector<AgentTool> tools;
};

// One message of a client.
struct McpRequest {
  std::string answer = {};            // to be sent at once, a line without its end; may be empty
  std::optional<ToolCall> call = {};  // to be run, and answered by tool_message()
  std::string id = {};                // of the call, as JSON
  std::string cancelled = {};         // the id of a cancelled call, as JSON
};

// Longer lines are rejected.
constexpr size_t kMostMessage = size_t{1} << 20;

// Never fails: an invalid message gives a JSON-RPC error as its answer.
McpRequest read_message(const McpServer& server, const std::string& line);
// The answer to a call with this id.
std::string tool_message(const std::string& id, const ToolAnswer& answer);

}  // namespace assay
