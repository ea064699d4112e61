#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "cli/common.h"
#include "cli/options.h"
#include "cli/output_guard.h"
#include "cli/verbs.h"
#include "cli/version.h"

namespace {

const std::terminate_handler kTerminate = std::get_terminate();

// Any thread may find that there is no memory left: said in words, in place of an abort. Other
// exceptions are faults of ours, and end as they always do.
[[noreturn]] void end_without_memory() {
  try {
    if (const std::exception_ptr cause = std::current_exception()) std::rethrow_exception(cause);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kWords =
        "assay: out of memory. Give it more, or read fewer or smaller traces at once.\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kWords.data(), kWords.size());
    ::_exit(assay::kExitError);
  } catch (...) {
    kTerminate();
  }
  kTerminate();
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_without_memory);
  // A reader that stops early (| head) must not kill us before we can call it success.
  std::signal(SIGPIPE, SIG_IGN);
  // Nor must a limit on the size of files: it is reported like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  assay::CommandLine line(
      "assay",
      "assay takes a GPU run apart: where its time went, whose fault that is, what would change "
      "it, and how sure we are.",
      std::string("assay ") + assay::kVersion);
  assay::Verb& app = line.root();
  app.needs_a_verb();
  app.footer(
      "Exit codes: 0 fine, 1 a gate was crossed, 2 error, 3 data was lost and --strict was given.\n"
      "Every number is defined in docs/metrics.md.");
  int exit_code = assay::kExitFine;
  assay::add_report_verb(app, exit_code);
  assay::add_why_verb(app, exit_code);
  assay::add_whatif_verb(app, exit_code);
  assay::add_launch_verb(app, exit_code);
  assay::add_bound_verb(app, exit_code);
  assay::add_fuse_verb(app, exit_code);
  assay::add_tax_verb(app, exit_code);
  assay::add_levels_verb(app, exit_code);
  assay::add_sample_verb(app, exit_code);
  assay::add_diff_verb(app, exit_code);
  assay::add_power_verb(app, exit_code);
  assay::add_throughput_verb(app, exit_code);
  assay::add_replay_verb(app, exit_code);
  assay::add_record_verb(app, exit_code);
  assay::add_null_kernel_verb(app, exit_code);
  assay::add_sql_verb(app, exit_code);
  assay::add_export_verb(app, exit_code);
  assay::add_cache_verb(app, exit_code);
  assay::add_info_verb(app, exit_code);
  assay::add_options_verb(app, exit_code);
  switch (line.parse(argc, argv, assay::refuse_outputs_over_inputs)) {
    case assay::CommandLine::End::kRan:
      return exit_code;
    case assay::CommandLine::End::kTold:
      return assay::kExitFine;
    case assay::CommandLine::End::kRefused:
      return assay::kExitError;
  }
}
