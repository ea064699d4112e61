#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/descriptors.h"
#include "base/temporaries.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/output_guard.h"
#include "cli/verbs.h"
#include "cli/version.h"

namespace {

// Text of `assay --help`, followed by the footer. check_options.py checks that it has every verb.
constexpr const char* kOverview =
    R"(assay: where a GPU run's time and energy went, and what would change it

  assay trace.json.gz                   the answer, on one screen
  assay trace.json.gz -o report.html    the page: timeline, causes, actions
  assay traces/                         a job: who is late
  assay diff before.json.gz after.json.gz
  assay example                         write a small trace to try it on

Ask      report  why  whatif  diff  explain  sql  serve
Jobs     job  summarize  hang
Analyze  launch  sweep  fusion  overhead  breakdown  power  throughput
Record   record  sample  replay  null-kernel
Files    list  info  summary-line  export  cache  doctor  example  options
Agents   mcp  agent-skill

assay VERB --help    assay explain WORD    assay --version
)";

const std::terminate_handler kTerminate = std::get_terminate();

// Reports that memory is exhausted, in any thread, instead of aborting. Other exceptions are bugs
// and abort as usual.
[[noreturn]] void end_without_memory() {
  try {
    if (const std::exception_ptr cause = std::current_exception()) std::rethrow_exception(cause);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kWords =
        "assay: out of memory. Give it more, or read fewer or smaller traces at once.\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kWords.data(), kWords.size());
    ::_exit(assay::kExitError);
  } catch (const std::system_error& error) {
    // fmt throws if standard output cannot be written.
    const std::string words = std::string("assay: standard output: ") + error.what() + "\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, words.data(), words.size());
    ::_exit(assay::kExitError);
  } catch (...) {
    kTerminate();
  }
  kTerminate();
  std::abort();
}

// Opens standard descriptors that the caller closed, so that no other file gets their numbers.
// Using them returns an error.
void take_closed_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    // The lowest free number is this one. Opened in the wrong direction, so that every use fails.
    if (!assay::hold_descriptor(number != STDOUT_FILENO)) return;
  }
}

#ifdef __GLIBC__
// Output to a closed or full stderr is discarded, so that callers need not check it.
ssize_t write_if_possible(void*, const char* text, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t got = ::write(STDERR_FILENO, text + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(bytes);
}

void make_stderr_unfailing() {
  cookie_io_functions_t functions = {};
  functions.write = write_if_possible;
  std::FILE* const screen = ::fopencookie(nullptr, "w", functions);
  if (screen == nullptr) return;
  std::setvbuf(screen, nullptr, _IONBF, 0);
  stderr = screen;
}
#else
void make_stderr_unfailing() {}
#endif

// Stack overflow ends in a signal without a message, so refuse a small stack limit.
bool has_stack() {
  constexpr rlim_t kLeastBytes = 256 << 10;
  rlimit limit{};
  return ::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeastBytes;
}

// Former names of verbs, and their current names.
constexpr std::pair<std::string_view, std::string_view> kRenamedVerbs[] = {{"tax", "overhead"},
                                                                           {"levels", "breakdown"},
                                                                           {"fuse", "fusion"},
                                                                           {"fleet", "job"},
                                                                           {"bound", "sweep"}};

// Former and current name if the command line starts with a renamed verb, also after "help";
// otherwise empty. A trace with such a name must be given as ./NAME.
std::pair<std::string_view, std::string_view> renamed_verb(int argc, char** argv) {
  const int at = argc > 2 && argv[1] == std::string_view("help") ? 2 : 1;
  for (const auto& verb : kRenamedVerbs) {
    if (at < argc && argv[at] == verb.first) return verb;
  }
  return {};
}

// Checks that all output was written: help, version, and what verbs print themselves.
int told() {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::cout.good()) return assay::kExitFine;
  if (errno == EPIPE) return assay::kExitFine;
  return assay::fail({assay::ErrorCode::kIo, std::string("cannot write: ") + std::strerror(errno),
                      "standard output", -1});
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_without_memory);
  take_closed_descriptors();
  make_stderr_unfailing();
  // A reader that stops early (| head) must not end the process before it can report success.
  std::signal(SIGPIPE, SIG_IGN);
  // Report a file size limit like a full disk instead of ending the process.
  std::signal(SIGXFSZ, SIG_IGN);
  if (!has_stack()) {
    return assay::fail({assay::ErrorCode::kInvalidArgument,
                        "the limit on the stack is below 256 KB: raise it with ulimit -s", "", -1});
  }
  if (const auto [old, now] = renamed_verb(argc, argv); !now.empty()) {
    fmt::print(stderr, "assay: '{}' is now '{}'\n", old, now);
    return assay::kExitError;
  }
  assay::remove_temporaries_on_signals();
  assay::CommandLine line(
      "assay",
      "assay finds where a GPU run's time went, what caused it, what would help, and how reliable "
      "the answer is.",
      assay::version_text(), kOverview);
  assay::Verb& app = line.root();
  app.needs_a_verb();
  app.footer(
      "Exit codes: 0 fine, 1 a gate failed, 2 error, 3 data was lost and --strict was given. "
      "Every number is defined in docs/metrics.md.");
  int exit_code = assay::kExitFine;
  assay::add_report_verb(app, exit_code);
  assay::add_why_verb(app, exit_code);
  assay::add_whatif_verb(app, exit_code);
  assay::add_explain_verb(app, exit_code);
  assay::add_example_verb(app, exit_code);
  assay::add_launch_verb(app, exit_code);
  assay::add_sweep_verb(app, exit_code);
  assay::add_fusion_verb(app, exit_code);
  assay::add_overhead_verb(app, exit_code);
  assay::add_breakdown_verb(app, exit_code);
  assay::add_job_verb(app, exit_code);
  assay::add_summarize_verb(app, exit_code);
  assay::add_hang_verb(app, exit_code);
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
  assay::add_serve_verb(app, exit_code);
  assay::add_list_verb(app, exit_code);
  assay::add_summary_line_verb(app, exit_code);
  assay::add_mcp_verb(app, exit_code);
  assay::add_agent_skill_verb(app, exit_code);
  assay::add_doctor_verb(app, exit_code);
  assay::add_options_verb(app, exit_code);
  switch (line.parse(argc, argv, "report", assay::refuse_outputs_over_inputs)) {
    case assay::CommandLine::End::kRan:
      return exit_code == assay::kExitFine ? told() : exit_code;
    case assay::CommandLine::End::kTold:
      return told();
    case assay::CommandLine::End::kRefused:
      return assay::kExitError;
  }
}
