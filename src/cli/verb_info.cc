#include <memory>

#include "answers/launch.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {
void add_info_verb(Verb& app, int& exit_code) {
  auto options = std::make_shared<CommonOptions>();
  Verb& verb = app.verb("info", "Describe a trace: rows per table, links, irregular input");
  verb.example("assay info trace.json.gz");
  add_common_options(verb, *options, true);
  verb.run([options, &exit_code] {
    exit_code = write_answer(answer_info(traces_of(*options)), *options);
  });
}

}  // namespace assay
