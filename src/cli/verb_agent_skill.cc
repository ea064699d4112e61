#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>

#include "base/export_file.h"
#include "base/files.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/questions.h"
#include "cli/verbs.h"
#include "text/plain_text.h"

namespace assay {

std::string_view agent_skill_text();  // data/agent_skill.md

namespace {

// The skill text, with the placeholder replaced by the table of questions.
std::string skill_text() {
  constexpr std::string_view kMark = "{{questions}}\n";
  std::string rows;
  for (const Question& question : questions()) {
    std::string arguments;
    for (const QuestionInput& input : question.inputs) {
      arguments += (arguments.empty() ? "" : ", ") + input.argument;
    }
    for (const std::string& option : question.options) {
      arguments += (arguments.empty() ? "" : ", ") + argument_name(option);
    }
    rows += fmt::format("| `{}` | {} | `assay {}` | {} |\n", question.name, question.sentence,
                        fmt::join(question.words, " "), arguments);
  }
  std::string text(agent_skill_text());
  const size_t at = text.find(kMark);
  if (at != std::string::npos) text.replace(at, kMark.size(), rows);
  return text;
}

int run(const std::string& folder) {
  if (Status made = make_folders(folder); !made) return fail(made.error());
  const std::string path = joined(folder, "SKILL.md");
  if (Status written = export_file(path, skill_text()); !written) return fail(written.error());
  fmt::print(stderr, "assay: wrote {}\n", clean_text(path));
  return kExitFine;
}

}  // namespace

void add_agent_skill_verb(Verb& app, int& exit_code) {
  auto folder = std::make_shared<std::string>();
  Verb& sub = app.verb("agent-skill",
                       "Write SKILL.md: how an agent asks, reads confidence and checks a fix");
  sub.example("assay agent-skill .claude/skills/assay");
  sub.input("folder", *folder, "folder to write SKILL.md into").required();
  sub.run([folder, &exit_code] { exit_code = run(*folder); });
}

}  // namespace assay
