#pragma once

// The Model Context Protocol over standard input and output: JSON-RPC 2.0, one message per line.
// Handles the protocol only; callers provide the tools.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

enum class ToolValue : uint8_t { kText, kTexts, kWholeNumber, kNumber, kTruth };

struct ToolArgument {
  std::string name;
  ToolValue type = ToolValue::kText;
  std::string sentence = {};
  bool is_required = false;
  std::vector<std::string> words = {};  // all allowed ones; empty = any
  std::string option = {};              // of the verb that it is given to; empty = none
};

struct AgentTool {
  std::string name;
  std::string sentence;
  std::vector<ToolArgument> arguments;
  std::string output_schema = {};  // JSON; empty = the answer is text alone
};

// Arguments as given and checked against the tool's; a single value is a list of one.
struct ToolCall {
  const AgentTool* tool = nullptr;
  std::map<std::string, std::vector<std::string>> values = {};
  std::string arguments = {};  // as given: a JSON object

  // Empty where it was not given.
  const std::vector<std::string>& all(const std::string& name) const;
  std::string one(const std::string& name) const;
};

struct ToolAnswer {
  std::string text;
  bool is_error = false;
  bool is_structured = false;  // the text is the JSON object of the tool's output schema
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
// The tool as `tools/list` has it: a JSON object.
std::string tool_text(const AgentTool& tool);
// The answer to a call with this id.
std::string tool_message(const std::string& id, const ToolAnswer& answer);

}  // namespace assay
