#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_string.h"
#include "cli/common.h"
#include "cli/mcp_messages.h"
#include "cli/options.h"
#include "cli/questions.h"
#include "cli/verbs.h"
#include "cli/version.h"

namespace assay {
namespace {

// Members of a JSON object on one line; empty and false values are omitted.
class Members {
 public:
  void text(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    begin(key);
    append_json_string(value, json_);
  }
  void list(std::string_view key, const std::vector<std::string>& values) {
    if (values.empty()) return;
    begin(key);
    json_ += '[';
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) json_ += ", ";
      append_json_string(values[i], json_);
    }
    json_ += ']';
  }
  void truth(std::string_view key, bool value) {
    if (!value) return;
    begin(key);
    json_ += "true";
  }
  const std::string& json() const { return json_; }

 private:
  void begin(std::string_view key) {
    if (!json_.empty()) json_ += ", ";
    append_json_string(key, json_);
    json_ += ": ";
  }
  std::string json_;
};

std::string_view type_name(OptionType type) {
  switch (type) {
    case OptionType::kFlag:
      return "flag";
    case OptionType::kText:
      return "text";
    case OptionType::kInteger:
      return "integer";
    case OptionType::kNumber:
      return "number";
  }
  return "";
}

std::string option_json(const OptionFacts& option) {
  Members members;
  members.list("names", option.names);
  members.truth("input", option.is_input);
  members.text("type", type_name(option.type));
  members.text("unit", option.unit);
  members.text("value", option.value);
  members.truth("value_optional", option.value_is_optional);
  members.list("words", option.words);
  members.text("limits", option.limits);
  members.text("default", option.shown_default);
  members.truth("repeatable", option.is_repeatable);
  members.truth("required", option.is_required);
  members.text("sentence", option.sentence);
  return "{" + members.json() + "}";
}

// Appends the verb and its subverbs.
void append_verbs(const VerbFacts& verb, std::string& json) {
  if (!verb.name.empty()) json += ",";
  json += "\n  {\"name\": " + json_string(verb.name) +
          ",\n   \"sentence\": " + json_string(verb.sentence);
  if (!verb.examples.empty()) {
    Members members;
    members.list("examples", verb.examples);
    json += ",\n   " + members.json();
  }
  if (!verb.footer.empty()) json += ",\n   \"footer\": " + json_string(verb.footer);
  json += ",\n   \"options\": [";
  const char* before = "\n    ";
  for (const OptionFacts& option : verb.options) {
    if (option.is_hidden) continue;
    json += before + option_json(option);
    before = ",\n    ";
  }
  json += "]}";
  for (const VerbFacts& below : verb.verbs) append_verbs(below, json);
}

// A question for agents: its verb and the tool's schemas.
std::string question_json(const Question& question, const VerbFacts& program) {
  Members members;
  members.text("name", question.name);
  members.text("verb", verb_of(question));
  members.list("words", question.words);
  return "{" + members.json() + ",\n   \"tool\": " +
         tool_text({.name = question.name,
                    .sentence = question.sentence,
                    .arguments = arguments_of(question, program),
                    .output_schema = answer_schema(question)}) +
         "}";
}

void append_questions(const VerbFacts& program, std::string& json) {
  const char* before = "\n  ";
  for (const Question& question : questions()) {
    json += before + question_json(question, program);
    before = ",\n  ";
  }
}

}  // namespace

void add_options_verb(Verb& app, int& exit_code) {
  auto format = std::make_shared<std::string>("json");
  Verb& sub = app.verb(
      "options", "The table of all verbs and options, for completions, manuals and other programs");
  sub.option("--format", *format, "of the table").one_of({"json"}).shows_default();
  sub.run([&app, format, &exit_code] {
    std::string json =
        "{\"schema_version\": 1,\n \"tool\": " + json_string(std::string("assay ") + kVersion) +
        ",\n \"verbs\": [";
    const VerbFacts program = app.facts();
    append_verbs(program, json);
    json += "],\n \"questions\": [";
    append_questions(program, json);
    const Status written = write_output(json + "]}\n", "-");
    exit_code = written ? kExitFine : fail(written.error());
  });
}

}  // namespace assay
