#include "cli/report_content.h"

#include <iterator>

#include "cli/tax_flags.h"
#include "ingest/load.h"
#include "report/launch/charts.h"
#include "report/levels/job.h"
#include "report/levels/section.h"
#include "report/levels/telemetry.h"
#include "report/run/timeline.h"
#include "report/sections.h"
#include "report/tax/section.h"

namespace assay {

Result<TraceContent> report_content(const ReportRequest& request, const LoadedTrace& loaded,
                                    RankLevels* outline) {
  PhaseClock clock(request.perf);
  ASSAY_TRY_ASSIGN(const FloorChoice floor, parse_floor(request.floor, &loaded.trace));
  const FusionOptions fusion_flags = fusion_options(request.fusion, floor, loaded);
  const LaunchOptions launch_options{.floor_ns = fusion_flags.floor_ns,
                                     .floor_source = fusion_flags.floor_source,
                                     .top_kernels = 0,
                                     .kernels = loaded.kernels};
  ASSAY_TRY_ASSIGN(const LaunchReport launch,
                   analyze_launch(loaded.trace, loaded.links, loaded.windows, launch_options));
  ASSAY_TRY_ASSIGN(const FusionReport fusion,
                   analyze_fusion(loaded.trace, loaded.links, loaded.windows, fusion_flags));
  const TaxOptions asked_tax = tax_options({}, floor, loaded);
  ASSAY_TRY_ASSIGN(const TaxReport tax,
                   analyze_tax(loaded.trace, loaded.links, loaded.windows, asked_tax));
  ASSAY_TRY_ASSIGN(LevelsReport levels, analyze_levels(loaded.trace, loaded.links, loaded.windows,
                                                       {.kernels = loaded.kernels}));
  ASSAY_TRY_ASSIGN(TelemetryRun logs,
                   TelemetryRun::open(request.telemetry, request.allow_truncated));
  ASSAY_TRY(logs.add(loaded.trace, levels, ""));
  const TelemetryReport samples = logs.finish();
  const TelemetryReport* const telemetry = logs.any() ? &samples : nullptr;
  clock.mark("analyse");
  if (request.timeline) {
    const Timeline timeline = trace_timeline(
        loaded.trace, loaded.links, loaded.windows,
        {.launch = launch, .fusion = fusion, .tax = tax, .levels = levels, .telemetry = telemetry});
    clock.mark("annotate");
    ASSAY_TRY(request.timeline(loaded, timeline));
    clock.mark("timeline");
  }
  std::vector<RankLevels> ranks;
  const int64_t named_rank = rank_from_name(loaded.trace.source);
  ranks.push_back(summarize_rank(loaded.trace, named_rank, std::move(levels)));
  if (outline != nullptr) *outline = rank_outline(ranks.front());
  const JobLevels job = combine_ranks(std::move(ranks));
  const TraceVerdict verdict = judge_trace(launch.whole);
  VerdictWords words = verdict_words(loaded.trace, launch, fusion, verdict);
  TraceContent content;
  content.overview = launch_overview(launch.whole);
  content.verdict = std::move(words.sentences);
  content.sections.push_back(verdict_section(verdict, words.levers));
  content.sections.push_back(launch_section(launch, request.everything ? 0 : request.top));
  if (request.timelines) {
    add_launch_timelines(loaded.trace, loaded.links, loaded.windows, launch,
                         content.sections.back());
  }
  const TaxDiagnosis diagnosis =
      diagnose_tax(tax, tax.whole.sums, diagnosis_limits(loaded.trace, tax));
  const std::vector<TaxAdvice> advice =
      tax_advice(diagnosis, words.levers, outside_il_ns(tax, launch));
  for (std::string& text : tax_report_words(tax, diagnosis)) {
    content.verdict.push_back(std::move(text));
  }
  for (std::string& text : telemetry_words(samples)) content.verdict.push_back(std::move(text));
  content.sections.push_back(
      tax_section({.report = tax, .diagnosis = diagnosis, .advice = advice}));
  content.sections.push_back(levels_section(
      job, {.rows = request.everything, .brief = !request.everything, .telemetry = telemetry}));
  content.sections.push_back(fusion_section(fusion));
  content.sections.push_back(trust_section(
      all_notes(loaded.trace.log, {launch.trust, fusion.trust, tax.trust, job.trust, samples.trust,
                                   floor.notes, kernel_notes(loaded.trace, *loaded.kernels)})));
  if (launch.whole.kernels == 0) {
    for (Section& section : content.sections) hide_from_readers(section);
  }
  return content;
}

void conclude_job(const std::vector<RankLevels>& outlines, Document& document) {
  const JobLevels job = combine_ranks(outlines);
  if (!is_one_job(job)) return;
  std::vector<std::string> words = job_words(job);
  document.verdict.insert(document.verdict.begin(), std::make_move_iterator(words.begin()),
                          std::make_move_iterator(words.end()));
  // Behind the table of all ranks, before what they rest on.
  const auto behind_first = document.sections.begin() + (document.sections.empty() ? 0 : 1);
  document.sections.insert(behind_first, job_section(job));
}

}  // namespace assay
