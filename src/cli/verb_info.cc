#include <CLI/CLI.hpp>
#include <memory>

#include "answers/launch.h"
#include "cli/common.h"
#include "cli/verbs.h"

namespace assay {
void add_info_verb(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* verb =
      app.add_subcommand("info", "What is in a trace: rows per table, links, odd input");
  add_common_options(*verb, *options, true);
  verb->callback([options, &exit_code] {
    exit_code = write_answer(answer_info(traces_of(*options)), *options);
  });
}

}  // namespace assay
