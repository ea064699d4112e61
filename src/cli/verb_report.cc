#include <CLI/CLI.hpp>
#include <memory>

#include "cli/common.h"
#include "cli/fusion_flags.h"
#include "cli/tax_flags.h"
#include "cli/verbs.h"
#include "report/section_charts.h"
#include "report/section_levels.h"
#include "report/section_tax.h"
#include "report/sections.h"

namespace assay {
namespace {

struct ReportVerb {
  CommonOptions common;
  std::string floor;
  FusionFlags flags;
  size_t top = 10;
};

Result<TraceContent> analyze(const ReportVerb& verb, const LoadedTrace& loaded) {
  PhaseClock clock(verb.common.perf);
  ASSAY_TRY_ASSIGN(const FloorChoice floor, parse_floor(verb.floor, &loaded.trace));
  const FusionOptions fusion_flags = fusion_options(verb.flags, floor);
  const LaunchOptions launch_options{.floor_ns = fusion_flags.floor_ns,
                                     .floor_source = fusion_flags.floor_source,
                                     .top_kernels = 0};
  ASSAY_TRY_ASSIGN(const LaunchReport launch,
                   analyze_launch(loaded.trace, loaded.links, loaded.windows, launch_options));
  ASSAY_TRY_ASSIGN(const FusionReport fusion,
                   analyze_fusion(loaded.trace, loaded.links, loaded.windows, fusion_flags));
  TaxOptions tax_options;
  tax_options.floor = tax_floor(floor);
  ASSAY_TRY_ASSIGN(const TaxReport tax,
                   analyze_tax(loaded.trace, loaded.links, loaded.windows, tax_options));
  ASSAY_TRY_ASSIGN(LevelsReport levels,
                   analyze_levels(loaded.trace, loaded.links, loaded.windows, LevelsOptions{}));
  std::vector<RankLevels> ranks;
  ranks.push_back(summarize_rank(loaded.trace, -1, std::move(levels)));
  const JobLevels job = combine_ranks(std::move(ranks));
  clock.mark("analyse");
  const TraceVerdict verdict = judge_trace(launch.whole);
  VerdictWords words = verdict_words(loaded.trace, launch, fusion, verdict);
  TraceContent content;
  content.overview = launch_overview(launch.whole);
  content.verdict = std::move(words.sentences);
  content.sections.push_back(verdict_section(verdict, words.levers));
  content.sections.push_back(launch_section(launch, verb.top));
  if (wants_page(verb.common)) {
    add_launch_timelines(loaded.trace, loaded.links, loaded.windows, launch,
                         content.sections.back());
  }
  const TaxDiagnosis diagnosis =
      diagnose_tax(tax, tax.whole.sums, diagnosis_limits(loaded.trace, tax));
  const std::vector<TaxAdvice> advice = tax_advice(diagnosis, words.levers);
  for (std::string& text : tax_report_words(tax, diagnosis)) {
    content.verdict.push_back(std::move(text));
  }
  content.sections.push_back(
      tax_section({.report = tax, .diagnosis = diagnosis, .advice = advice}));
  content.sections.push_back(levels_section(job, {.rows = false, .brief = true}));
  content.sections.push_back(fusion_section(fusion));
  content.sections.push_back(trust_section(all_notes(
      loaded.trace.log, {launch.trust, fusion.trust, tax.trust, job.trust, floor.notes})));
  if (launch.whole.kernels == 0) {
    for (Section& section : content.sections) hide_from_readers(section);
  }
  return content;
}

}  // namespace

void add_report_verb(CLI::App& app, int& exit_code) {
  auto verb = std::make_shared<ReportVerb>();
  CLI::App* sub = app.add_subcommand(
      "report", "The verdict in words, the numbers behind it, and what they rest on");
  add_common_options(*sub, verb->common, true);
  sub->add_option("--floor", verb->floor,
                  "launch time of an empty kernel (see assay launch --help)");
  sub->add_option("--top", verb->top, "kernels listed; 0 = all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_fusion_flags(*sub, verb->flags);
  sub->callback([verb, &exit_code] {
    // Unique kernels differ by their operators' inputs: the same dispatch base as `assay tax`.
    verb->common.keep_op_inputs = true;
    exit_code = run_over_inputs(verb->common, "Report", [verb](const LoadedTrace& loaded) {
      return analyze(*verb, loaded);
    });
  });
}

}  // namespace assay
