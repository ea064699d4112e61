#pragma once

// The questions that agents may ask. Each is a verb with some of its options, and the parts of the
// verb's JSON document that answer it. The tools of `assay mcp` with their schemas, and what
// `assay options` lists for notebooks, come from this table and from the verb's own options.

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

// Rows of the document, the most important first.
struct AnswerTable {
  std::string key;   // in the answer
  std::string path;  // in the document: "launch.top_kernels"
  std::vector<AnswerKey> columns;
  std::string largest_first = {};  // a number column; empty = the document's order
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
  std::string option = {};  // given as this option's value; empty = by its place
};

// A question that the answer suggests to ask next.
struct NextQuestion {
  std::string tool;
  std::string why;
  std::vector<std::string> bottlenecks = {};  // only for these; empty = for all
};

struct Question {
  std::string name;
  std::string sentence;
  std::vector<std::string> words;    // the verb and the options that every call has
  std::vector<QuestionInput> inputs;
  std::vector<std::string> options = {};  // of the verb, that the caller may give
  std::vector<AnswerValue> values = {};
  std::vector<AnswerTable> tables = {};
  std::vector<NextQuestion> next = {};
  bool is_text = false;  // answered by lines, without a document
};

const std::vector<Question>& questions();

// "--fail-on" as an argument: "fail_on".
std::string argument_name(const std::string& option);
// The name of the verb: "power attribute".
std::string verb_of(const Question& question);
// The arguments of a question. Inputs come first, then options of the verb, then those of all
// questions (max_tokens, table, skip_rows). program: the root verb.
std::vector<ToolArgument> arguments_of(const Question& question, const VerbFacts& program);
// JSON schema of the structured answer, as text.
std::string answer_schema(const Question& question);

}  // namespace assay
