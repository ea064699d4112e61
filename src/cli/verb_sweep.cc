#include <memory>
#include <string>
#include <vector>

#include "answers/sweep.h"
#include "cli/common.h"
#include "cli/options.h"
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

void add_sweep_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<BoundVerb>();
  verb->platform.name = "platform";
  verb->other.name = "other";
  Verb& sub = app.verb(
      "sweep", "CPU-bound or GPU-bound: one trace, or a sweep over batch sizes, or two platforms");
  sub.example("assay sweep trace.json.gz");
  sub.example("assay sweep --batch 1=b1.json.gz --batch 8=b8.json.gz", "where it turns");
  add_common_options(sub, verb->common, false);
  add_figure_option(sub, verb->common);
  sub.input("traces", verb->common.inputs, "one trace: its bottleneck without a sweep");
  add_window_option(sub, verb->common);
  add_part_option(sub, verb->common);
  sub.option(
         "--batch", verb->platform.batches,
         "SIZE=TRACE, once per batch size or repeat; or a folder or pattern of …_bSIZE_… traces")
      .called("SIZE=TRACE");
  sub.option("--table", verb->platform.table,
             "CSV with batch, tklqt, launches and optional latency, gpu_idle_share, cpu_idle_share")
      .called("FILE");
  sub.option("--name", verb->platform.name, "what to call this platform")
      .shows_default()
      .called("NAME")
      .needs({"--batch", "--table"});
  sub.option("--vs-batch", verb->other.batches, "the same of a second platform")
      .called("SIZE=TRACE");
  sub.option("--vs-table", verb->other.table, "the same of a second platform").called("FILE");
  sub.option("--vs-name", verb->other.name, "what to call it")
      .shows_default()
      .called("NAME")
      .needs({"--vs-batch", "--vs-table"});
  sub.option("--floor", verb->floor, "launch time of an empty kernel (see assay launch --help)")
      .called("FLOOR");
  const std::vector<std::string> sweep = {"--batch", "--table"};
  sub.option("--tau", verb->options.tau, "GPU-bound above this many plateaus")
      .shows_default()
      .needs(sweep);
  sub.option("--rho", verb->options.rho, "tolerance of the plateau").shows_default().needs(sweep);
  sub.option("--balanced", verb->options.balanced_share,
             "a batch is balanced when both idle shares are below this")
      .shows_default()
      .needs(sweep);
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
