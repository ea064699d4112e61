#include <CLI/CLI.hpp>

#include "cli/verbs.h"

namespace assay {

void add_power_run_verbs(CLI::App& power, int& exit_code) {
  (void)power;
  (void)exit_code;
}

}  // namespace assay
