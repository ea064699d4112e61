#pragma once

// The Model Context Protocol over standard input and output: JSON-RPC 2.0, one message per line.
// Implements only the protocol; callers provide the tools.

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
  std::vector<std::string> words = {};  // allowed values; empty = any
  std::string option = {};              // verb option that takes the value; empty = none
};

struct AgentTool {
  std::string name;
  std::string sentence;
  std::vector<ToolArgument> arguments;
  std::string output_schema = {};  // JSON; empty = the answer is plain text
};

// Arguments, checked against the tool's declaration; a single value is a list of one.
struct ToolCall {
  const AgentTool* tool = nullptr;
  std::map<std::string, std::vector<std::string>> values = {};
  std::string arguments = {};  // original JSON object

  // Empty if the argument was not given.
  const std::vector<std::string>& all(const std::string& name) const;
  std::string one(const std::string& name) const;
};

struct ToolAnswer {
  std::string text;
  bool is_error = false;
  bool is_structured = false;  // the text is a JSON object of the tool's output schema
};

struct McpServer {
  std::string instructions;  // what a model reads before its first call
  std::vector<AgentTool> tools;
};

// A message from the client.
struct McpRequest {
  std::string answer = {};            // reply to send at once, one line without its line end; may
                                      // be empty
  std::optional<ToolCall> call = {};  // to run; the reply is tool_message()
  std::string id = {};                // id of the call, as JSON
  std::string cancelled = {};         // id of a cancelled call, as JSON
};

// Longer lines are rejected.
constexpr size_t kMostMessage = size_t{1} << 20;

// Never fails: an invalid message yields a JSON-RPC error as its answer.
McpRequest read_message(const McpServer& server, const std::string& line);
// The tool as a JSON object of a `tools/list` reply.
std::string tool_text(const AgentTool& tool);
// The reply to a tool call with this id.
std::string tool_message(const std::string& id, const ToolAnswer& answer);

}  // namespace assay
