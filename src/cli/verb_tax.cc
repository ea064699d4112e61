#include <CLI/CLI.hpp>
#include <memory>

#include "cli/common.h"
#include "cli/export_file.h"
#include "cli/tax_flags.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "ingest/load.h"
#include "ingest/replay/file.h"
#include "ingest/replay/floor.h"
#include "report/tax/section.h"
#include "tax/measured.h"

namespace assay {
namespace {

Result<MeasuredReport> measure(const TaxFlags& flags, const KernelDatabase& database,
                               const TaxReport& report) {
  ASSAY_TRY_ASSIGN(const ReplayFile replay, read_replay_file(flags.replay));
  MeasuredOptions options;
  options.mode = report.mode;
  options.base_weighting = report.base_weighting;
  options.floor = report.floor;
  return measure_tax(database, replay, report, options);
}

Result<TraceContent> analyze(const TaxFlags& flags, const TaxSetup& setup,
                             const LoadedTrace& loaded) {
  PhaseClock clock(flags.common.perf);
  ASSAY_TRY_ASSIGN(const LaunchFloor floor, floor_asked(flags.floor, loaded.trace, loaded.links));
  ASSAY_TRY_ASSIGN(const TaxReport report, analyze_tax(loaded.trace, loaded.links, loaded.windows,
                                                       tax_options(setup, floor)));
  const KernelDatabase database =
      build_kernel_database(loaded.trace, report, setup.families, flags.count_copies);
  clock.mark("tax");
  if (!flags.export_db.empty()) {
    ASSAY_TRY(export_file(flags.export_db, kernel_database_json(database, kVersion)));
  }
  std::optional<MeasuredReport> measured;
  if (!flags.replay.empty()) {
    ASSAY_TRY_ASSIGN(measured, measure(flags, database, report));
  }
  const TaxSums& sums = measured ? measured->sums : report.whole.sums;
  const TaxDiagnosis diagnosis = diagnose_tax(report, sums, diagnosis_limits(loaded.trace, report));
  ASSAY_TRY_ASSIGN(const LaunchReport launch,
                   analyze_launch(loaded.trace, loaded.links, loaded.windows, {.floor = floor}));
  const std::vector<TaxAdvice> advice =
      tax_advice(diagnosis, host_levers(launch), outside_il_ns(report, launch));
  TraceContent content;
  content.overview = tax_overview(report);
  content.verdict = tax_verdict_words(loaded.trace, report, diagnosis, advice);
  if (measured) {
    content.verdict.insert(content.verdict.begin(), tax_measured_words(report, *measured));
  }
  content.sections.push_back(tax_section({.report = report,
                                          .diagnosis = diagnosis,
                                          .advice = advice,
                                          .database = &database,
                                          .top = flags.top,
                                          .measured = measured ? &*measured : nullptr}));
  content.sections.push_back(trust_section(all_notes(
      loaded.trace.log, {report.trust, floor.trust, measured ? measured->trust : TrustNotes{}})));
  if (report.whole.sums.n == 0) {
    for (Section& section : content.sections) hide_from_readers(section);
  }
  return content;
}

Error argument_error(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

Status check_flags(const TaxFlags& flags) {
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
  if (!sweep && flags.common.inputs.empty()) {
    return argument_error("tax needs a trace, or a sweep: --batch SIZE=TRACE");
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

int run(TaxFlags& flags) {
  if (Status status = check_flags(flags); !status) return fail(status.error());
  auto setup = tax_setup(flags);
  if (!setup) return fail(setup.error());
  flags.common.keep_op_inputs = true;
  if (!flags.batches.empty()) return run_tax_sweep(flags, *setup);
  return run_over_inputs(flags.common, "Tax",
                         [&](const LoadedTrace& loaded) { return analyze(flags, *setup, loaded); });
}

void add_sweep_flags(CLI::App& sub, TaxFlags& flags) {
  sub.add_option("--batch", flags.batches,
                 "BATCH=TRACE or BATCHxLENGTH=TRACE, once per configuration of a sweep");
  sub.add_option("--name", flags.name, "what to call this platform")->capture_default_str();
  sub.add_option("--vs", flags.vs_batches, "the same of a second platform");
  sub.add_option("--vs-name", flags.vs_name, "what to call it")->capture_default_str();
}

}  // namespace

void add_tax_verb(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<TaxFlags>();
  CLI::App* sub = app.add_subcommand(
      "tax", "What the host side costs, layer by layer: Python, dispatch, libraries, launch floor");
  add_common_options(*sub, flags->common, true);
  sub->get_option("traces")->required(false);
  sub->add_option(
         "--mode", flags->mode,
         "what a launch is charged: exclusive (the default: each moment of a thread once), or "
         "the sums as printed, which may exceed wall time: paper (native kernels pay the "
         "dispatch base; also literal) or code (their own dispatch)")
      ->check(CLI::IsMember({"exclusive", "paper", "literal", "code"}));
  sub->add_option("--base-weighting", flags->base_weighting,
                  "the dispatch base is a median over: kernel (unique kernels) or invocation")
      ->check(CLI::IsMember({"kernel", "invocation"}))
      ->capture_default_str();
  sub->add_flag("--count-copies", flags->count_copies, "copies and fills count as kernels");
  sub->add_option("--floor", flags->floor,
                  "launch time of an empty kernel: nanoseconds, a floor file, or a published "
                  "platform; default: published for this board, else from the trace");
  sub->add_option("--families", flags->families,
                  "more kernel families and library patterns, one rule per line")
      ->type_name("FILE");
  sub->add_option("--top", flags->top, "unique kernels listed; 0 = all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("--export-kernel-db", flags->export_db,
                  "write every unique kernel for replay to this file")
      ->type_name("FILE");
  sub->add_option("--replay", flags->replay,
                  "the measured decomposition from this replay of the exported kernels")
      ->type_name("FILE");
  add_sweep_flags(*sub, *flags);
  sub->callback([flags, &exit_code] { exit_code = run(*flags); });
}

}  // namespace assay
