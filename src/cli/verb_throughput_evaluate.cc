#include <CLI/CLI.hpp>

#include "cli/verbs.h"

namespace assay {

void add_throughput_evaluate_verb(CLI::App& throughput, int& exit_code) {
  (void)throughput;
  (void)exit_code;
}

}  // namespace assay
