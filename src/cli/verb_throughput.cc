#include <CLI/CLI.hpp>

#include "cli/verbs.h"

namespace assay {

void add_throughput_verb(CLI::App& app, int& exit_code) {
  (void)app;
  (void)exit_code;
}

}  // namespace assay
