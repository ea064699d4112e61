#include <CLI/CLI.hpp>

#include "cli/verbs.h"

namespace assay {

void add_power_verb(CLI::App& app, int& exit_code) {
  CLI::App* power = app.add_subcommand(
      "power", "Watts inside a kernel, joules per anything, and what the sensor cannot see");
  power->require_subcommand(1);
  add_power_run_verbs(*power, exit_code);
}

}  // namespace assay
