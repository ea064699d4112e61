#include <memory>
#include <string>
#include <vector>

#include "answers/overhead.h"
#include "base/export_file.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/untraced_option.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "ingest/load.h"

namespace assay {
namespace {

struct HostOverheadFlags {
  CommonOptions common;
  std::string mode;  // empty = exclusive; with a replay: paper
  std::string base_weighting = "kernel";
  bool count_copies = false;
  std::string floor;
  std::string export_db;
  std::string replay;
  std::string untraced;
  size_t top = 10;
  std::vector<std::string> batches;     // "8=trace.json.gz", "4x2048=trace.json.gz"
  std::vector<std::string> vs_batches;  // the same for a second platform
  std::string name = "platform";
  std::string vs_name = "other";
};

Error argument_error(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

Status check_flags(const HostOverheadFlags& flags) {
  const bool sweep = !flags.batches.empty();
  if (sweep && !flags.common.inputs.empty()) {
    return argument_error("give either traces, or a sweep with --batch, not both");
  }
  if (!sweep && !flags.vs_batches.empty()) {
    return argument_error("--vs compares with a sweep: give the first platform with --batch");
  }
  if (!flags.vs_batches.empty() && flags.name == flags.vs_name) {
    return argument_error("the two platforms need different names");
  }
  if (sweep && !flags.untraced.empty()) {
    return argument_error("--untraced is for one trace, no sweep");
  }
  if (!sweep && flags.common.inputs.empty()) {
    return argument_error("overhead needs a trace, or a sweep: --batch SIZE=TRACE");
  }
  if (flags.mode == "exclusive" && !flags.replay.empty()) {
    return argument_error(
        "--replay has times of operators that ran alone, which fill no thread's time: leave out "
        "--mode exclusive");
  }
  if (flags.export_db.empty() && flags.replay.empty()) return Ok{};
  if (sweep) return argument_error("--export-kernel-db and --replay are for one trace, no sweep");
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, expand_inputs(flags.common.inputs));
  if (files.size() > 1) {
    return argument_error("--export-kernel-db and --replay are for one trace, not " +
                          std::to_string(files.size()));
  }
  if (!flags.export_db.empty()) ASSAY_TRY(check_export(flags.export_db, files));
  return Ok{};
}

// Replayed operators ran alone, so their times do not add up to a thread's time.
HostOverheadMode mode_of(const HostOverheadFlags& flags) {
  if (flags.mode == "code") return HostOverheadMode::kCode;
  if (flags.mode.empty() && flags.replay.empty()) return HostOverheadMode::kExclusive;
  return flags.mode == "exclusive" ? HostOverheadMode::kExclusive : HostOverheadMode::kPaper;
}

HostOverheadRequest overhead_request(const HostOverheadFlags& flags) {
  HostOverheadRequest request{.traces = traces_of(flags.common),
                              .floor = flags.floor,
                              .replay = flags.replay,
                              .untraced = flags.untraced,
                              .top = flags.top};
  request.options.mode = mode_of(flags);
  request.options.base_weighting =
      flags.base_weighting == "invocation" ? BaseWeighting::kInvocation : BaseWeighting::kKernel;
  request.options.count_copies = flags.count_copies;
  if (!flags.export_db.empty()) {
    request.kernels = [&flags](const KernelDatabase& database) {
      return export_file(flags.export_db, kernel_database_json(database, kVersion));
    };
  }
  return request;
}

int run(const HostOverheadFlags& flags) {
  if (Status status = check_flags(flags); !status) return fail(status.error());
  if (flags.batches.empty())
    return write_answer(answer_overhead(overhead_request(flags)), flags.common);
  HostOverheadSweepRequest sweep{overhead_request(flags), {{flags.name, "--batch", flags.batches}}};
  if (!flags.vs_batches.empty()) {
    sweep.platforms.push_back({flags.vs_name, "--vs", flags.vs_batches});
  }
  return write_answer(answer_overhead_sweep(sweep), flags.common);
}

void add_sweep_flags(Verb& sub, HostOverheadFlags& flags) {
  sub.option("--batch", flags.batches,
             "BATCH=TRACE or BATCHxLENGTH=TRACE, once per configuration of a sweep")
      .called("SIZE=TRACE");
  sub.option("--name", flags.name, "what to call this platform").shows_default().called("NAME");
  sub.option("--vs", flags.vs_batches, "the same of a second platform");
  sub.option("--vs-name", flags.vs_name, "what to call it").shows_default().called("NAME");
}

}  // namespace

void add_overhead_verb(Verb& app, int& exit_code) {
  auto flags = std::make_shared<HostOverheadFlags>();
  Verb& sub =
      app.verb("overhead",
               "Break host overhead down by layer: Python, dispatch, libraries, launch-overhead "
               "floor");
  sub.example("assay overhead trace.json.gz");
  sub.example("assay overhead trace.json.gz --export-kernel-db kernels.json", "for assay replay");
  add_common_options(sub, flags->common, true);
  add_figure_option(sub, flags->common);
  add_untraced_option(sub, flags->untraced);
  sub.declared("traces").required(false);
  sub.option("--mode", flags->mode,
             "what a launch is charged with. Exclusive (default): each moment of a thread once. "
             "Sums as printed may exceed wall time: paper (native kernels pay the dispatch base; "
             "also literal) or code (their own dispatch)")
      .one_of({"exclusive", "paper", "literal", "code"});
  sub.option("--base-weighting", flags->base_weighting,
             "the dispatch base is a median over: kernel (unique kernels) or invocation")
      .one_of({"kernel", "invocation"})
      .shows_default();
  sub.flag("--include-copies", flags->count_copies, "copies and fills count as kernels");
  sub.option("--floor", flags->floor,
             "launch time of an empty kernel: nanoseconds, a file of assay null-kernel, or a "
             "published platform. Default: published for this board, else from the trace")
      .called("FLOOR");
  sub.option("--top", flags->top, "unique kernels listed; 0 = all").at_least_zero().shows_default();
  sub.option("--export-kernel-db", flags->export_db,
             "write every unique kernel for replay to this file")
      .called("FILE");
  sub.option("--replay", flags->replay,
             "the measured decomposition from this replay of the exported kernels")
      .called("FILE");
  add_sweep_flags(sub, *flags);
  sub.run([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace assay
