#include <CLI/CLI.hpp>
#include <memory>

#include "cli/common.h"
#include "cli/verbs.h"
#include "report/sections.h"

namespace assay {
namespace {

Result<TraceContent> summarize(const LoadedTrace& loaded) {
  ASSAY_TRY_ASSIGN(
      const LaunchReport launch,
      analyze_launch(loaded.trace, loaded.links, loaded.windows, {.kernels = loaded.kernels}));
  TraceContent content;
  content.sections = import_summary_sections(loaded.trace, loaded.links, launch);
  return content;
}

}  // namespace

void add_info_verb(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* verb =
      app.add_subcommand("info", "What is in a trace: rows per table, links, odd input");
  add_common_options(*verb, *options, true);
  verb->callback(
      [options, &exit_code] { exit_code = run_over_inputs(*options, "Info", summarize); });
}

}  // namespace assay
