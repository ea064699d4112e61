#include <CLI/CLI.hpp>

#include "cli/verbs.h"

namespace assay {

void add_throughput_verb(CLI::App& app, int& exit_code) {
  CLI::App* throughput =
      app.add_subcommand("throughput", "What a configuration nobody measured will do");
  throughput->require_subcommand(1);
  add_throughput_fit_verb(*throughput, exit_code);
  add_throughput_predict_verb(*throughput, exit_code);
  add_throughput_suggest_verb(*throughput, exit_code);
  add_throughput_evaluate_verb(*throughput, exit_code);
}

}  // namespace assay
