#include <CLI/CLI.hpp>
#include <memory>

#include "answers/bound.h"
#include "cli/common.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct BoundVerb : BoundRequest {
  CommonOptions common;
};

int run(BoundVerb& verb) {
  verb.traces = traces_of(verb.common);
  return write_answer(answer_bound(verb), verb.common);
}

}  // namespace

void add_bound_verb(CLI::App& app, int& exit_code) {
  auto verb = std::make_shared<BoundVerb>();
  verb->platform.name = "platform";
  verb->other.name = "other";
  CLI::App* sub = app.add_subcommand(
      "bound", "CPU-bound or GPU-bound: one trace, or a sweep over batch sizes, or two platforms");
  add_common_options(*sub, verb->common, false);
  sub->add_option("traces", verb->common.inputs, "one trace: its verdict without a sweep");
  add_window_option(*sub, verb->common);
  sub->add_option(
      "--batch", verb->platform.batches,
      "SIZE=TRACE, once per batch size or repeat; or a folder or pattern of …_bSIZE_… traces");
  sub->add_option(
      "--table", verb->platform.table,
      "CSV with batch, tklqt, launches and optional latency, gpu_idle_share, cpu_idle_share");
  sub->add_option("--name", verb->platform.name, "what to call this platform")
      ->capture_default_str();
  sub->add_option("--vs-batch", verb->other.batches, "the same of a second platform");
  sub->add_option("--vs-table", verb->other.table, "the same of a second platform");
  sub->add_option("--vs-name", verb->other.name, "what to call it")->capture_default_str();
  sub->add_option("--floor", verb->floor,
                  "launch time of an empty kernel (see assay launch --help)");
  sub->add_option("--tau", verb->options.tau, "GPU-bound above this many plateaus")
      ->capture_default_str();
  sub->add_option("--rho", verb->options.rho, "tolerance of the plateau")->capture_default_str();
  sub->add_option("--balanced", verb->options.balanced_share,
                  "a batch is balanced when both idle shares are below this")
      ->capture_default_str();
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
