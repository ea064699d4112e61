#pragma once

// The Model Context Protocol over standard input and output: JSON-RPC 2.0, one message a line. What
// is said here and how; what a tool does is given by the caller.

#include <cstdint>
#include <functional>
#include <map>
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
  std::function<ToolAnswer(const ToolCall&)> call;
};

// The answer to one line, without its end; empty where the message wants none. Never fails: what is
// no message is answered with an error of JSON-RPC.
std::string answer_message(const McpServer& server, const std::string& line);

}  // namespace assay
