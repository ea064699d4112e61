#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/closest_word.h"
#include "cli/common.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "report/document/explain.h"
#include "text/plain_text.h"

namespace assay {
namespace {

int explain_word(const std::string& word) {
  const std::string text = word.empty() ? explain_list(help_width()) : explain(word, help_width());
  if (text.empty()) {
    const std::string near = closest_word(word, explained_words());
    return fail(
        {ErrorCode::kInvalidArgument,
         "nothing is called '" + clean_text(word) + "'" +
             (near.empty() ? "; assay explain lists what is" : "; did you mean '" + near + "'?"),
         "", -1});
  }
  const Status written = write_output(text, "-");
  return written ? kExitFine : fail(written.error());
}

}  // namespace

void add_explain_verb(Verb& app, int& exit_code) {
  auto words = std::make_shared<std::vector<std::string>>();
  Verb& sub = app.verb("explain", "Define a term of a report, a key or a symbol");
  sub.example("assay explain dispatch", "a cause");
  sub.example("assay explain tklqt", "a symbol or key");
  sub.input("word", *words, "a cause, key, symbol or label; without it, the list of causes");
  // Labels contain spaces ("launch overhead").
  sub.run(
      [words, &exit_code] { exit_code = explain_word(fmt::format("{}", fmt::join(*words, " "))); });
}

}  // namespace assay
