#pragma once

// Questions that agents can ask. Each is a verb with some of its options, and the parts of its JSON
// document that answer the question. The tools of `assay mcp` with their schemas, and the list in
// `assay options` for notebooks, are generated from this table and from the verbs' options.

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

struct VerbFacts;     // cli/options.h
struct ToolArgument;  // cli/mcp_messages.h

enum class AnswerType : uint8_t { kText, kInteger, kNumber, kTruth, kTexts, kObject };

struct AnswerKey {
  std::string key;
  AnswerType type = AnswerType::kText;
};

// A table of the answer, with the most important rows first.
struct AnswerTable {
  std::string key;   // in the answer
  std::string path;  // in the document: "launch.top_kernels"
  std::vector<AnswerKey> columns;
  std::string largest_first = {};  // a number column to sort by; empty = keep the document's order
};

struct AnswerValue {
  std::string key;
  std::string path;
  AnswerType type = AnswerType::kText;
};

struct QuestionInput {
  std::string argument;
  std::string sentence;
  bool is_required = true;
  bool is_path = true;
  std::string option = {};  // option that takes the value; empty = positional
};

// A question suggested as the next step.
struct NextQuestion {
  std::string tool;
  std::string why;
  std::vector<std::string> bottlenecks = {};  // only for these; empty = for all
};

struct Question {
  std::string name;
  std::string sentence;
  std::vector<std::string> words;    // the verb and the options of every call
  std::vector<QuestionInput> inputs;
  std::vector<std::string> options = {};  // verb options that the caller may set
  std::vector<AnswerValue> values = {};
  std::vector<AnswerTable> tables = {};
  std::vector<NextQuestion> next = {};
  bool is_text = false;  // the answer is plain text instead of a document
};

const std::vector<Question>& questions();

// Argument name of an option: "--fail-on" becomes "fail_on".
std::string argument_name(const std::string& option);
// Name of the verb, such as "power attribute".
std::string verb_of(const Question& question);
// Arguments of a question: inputs, then options of the verb, then those of all questions
// (max_tokens, table, skip_rows). program: the root verb's table.
std::vector<ToolArgument> arguments_of(const Question& question, const VerbFacts& program);
// JSON schema of the structured answer, as text.
std::string answer_schema(const Question& question);

}  // namespace assay
