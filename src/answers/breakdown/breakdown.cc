#include "answers/breakdown/breakdown.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "answers/breakdown/memory_snapshot.h"
#include "answers/inputs/facts.h"
#include "answers/inputs/recordings.h"
#include "base/files.h"
#include "breakdown/figures_measured.h"
#include "breakdown/insights.h"
#include "breakdown/memory.h"
#include "breakdown/ranks.h"
#include "breakdown/roof_levels.h"
#include "flow/causes.h"
#include "ingest/load.h"
#include "report/breakdown/evidence.h"
#include "report/breakdown/insights.h"
#include "report/breakdown/memory.h"
#include "report/breakdown/roof.h"
#include "report/breakdown/section.h"
#include "report/breakdown/telemetry.h"
#include "report/document/import_notes.h"
#include "report/run/section.h"

namespace assay {
namespace {

Result<std::vector<LevelRule>> read_rules(const std::string& path) {
  if (path.empty()) return std::vector<LevelRule>{};
  ASSAY_TRY_ASSIGN(const std::string text, file_text(path));
  return parse_level_rules(text, path);
}

// Collects the results of a job's ranks, in order.
struct JobReader {
  const BreakdownRequest& request;
  const BreakdownOptions& options;
  const CounterRuns& counters;
  TelemetryRun& telemetry;
  const FactBook& facts;
  std::string device;  // given by the user, or empty
  RoofReader roof;
  std::shared_ptr<const std::vector<CapturedGraph>> captured;
  JobMemory memory = {};
  Answer answer = {};
  std::vector<RankLevels> ranks = {};
  std::vector<RankEvidence> evidence = {};
  TrustNotes losses = {};
  std::vector<std::string> no_kernels = {};

  Status read(std::vector<std::string>& files, size_t at);
  Status finish();
  void add_roof(const TelemetryReport& samples);
  Status add_evidence(const JobLevels& job);
  Status add_insights(const JobLevels& job, const TelemetryReport& samples);
};

Status JobReader::read(std::vector<std::string>& files, size_t at) {
  ASSAY_TRY_ASSIGN(LoadedTrace loaded, load_or_split(files, at, request.traces));
  const std::string& file = files[at];
  const bool several = loaded.among > 1;
  PhaseClock clock(request.traces.listener);
  BreakdownOptions asked = options;
  asked.kernels = loaded.kernels;
  const FlowRun run = make_flow_run(loaded.trace, loaded.links, loaded.kernels);
  const std::vector<DeviceFlow> flow = device_flows(run);
  asked.flow = &flow;
  const ReplayReport replays = placed_replays(loaded, run, captured);
  asked.replays = &replays;
  if (request.captures.empty()) tell_recordings(replays, request.traces.listener);
  ASSAY_TRY_ASSIGN(BreakdownReport report,
                   analyze_breakdown(loaded.trace, loaded.links, loaded.windows, asked));
  const Trace& trace = loaded.trace;
  ASSAY_TRY(telemetry.add(loaded, report, several ? trace.source : std::string()));
  roof.add(trace, loaded.links, *loaded.kernels, report, &replays, telemetry.clocks(report));
  add_memory(trace, loaded.links, report, memory);
  CounterJoin joined;
  if (!counters.empty()) {
    const int64_t rank = trace.distributed.rank.value_or(rank_from_name(file));
    ASSAY_TRY_ASSIGN(joined, counters.join(loaded, report, rank));
  }
  for (PlacementEvidence& place : report.evidence)
    evidence.push_back({several ? trace.source : std::string(), std::move(place)});
  ranks.push_back(summarize_rank(trace, rank_from_name(file), std::move(report)));
  ranks.back().counters = std::move(joined);
  clock.mark("breakdown", trace.content_bytes);
  std::vector<ImportNote> import_log = import_notes(trace.log);
  // With counter files, the device comes from these files.
  if (counters.empty()) {
    if (auto note = unused_facts(facts, request.counters.facts, trace.devices, device))
      import_log.push_back(*std::move(note));
  }
  answer.data_lost |= trace.log.data_lost();
  Document& document = answer.document;
  document.inputs.push_back({trace.source, trace_items(trace)});
  if (several) {
    document.parts.push_back({trace.source, trace_items(trace), std::move(import_log), {}, {}});
    return Ok{};
  }
  if (!has_kernels(trace)) no_kernels = {no_kernels_words(trace)};
  document.import_log = std::move(import_log);
  losses = all_notes(trace.log, {kernel_notes(trace, *loaded.kernels)});
  return Ok{};
}

Status JobReader::finish() {
  Document& document = answer.document;
  const JobLevels job = combine_ranks(std::move(ranks));
  document.verdict = no_kernels;
  for (std::string& words : breakdown_words(job)) document.verdict.push_back(std::move(words));
  const TelemetryReport samples = telemetry.finish();
  for (std::string& words : telemetry_words(samples)) document.verdict.push_back(std::move(words));
  document.sections.push_back(
      breakdown_section(job, {.min_share = request.min_share,
                              .rows = true,
                              .query = request.grouped ? &request.query : nullptr,
                              .telemetry = telemetry.any() ? &samples : nullptr}));
  losses.insert(losses.end(), samples.trust.begin(), samples.trust.end());
  if (!memory.devices.empty()) {
    for (std::string& words : memory_words(memory)) document.verdict.push_back(std::move(words));
    document.sections.push_back(memory_section(memory, {}));
  }
  if (!request.grouped) ASSAY_TRY(add_insights(job, samples));
  add_roof(samples);
  if (!request.explain.empty()) ASSAY_TRY(add_evidence(job));
  if (!counters.empty()) ASSAY_TRY(counters.describe(request.counters, job, document));
  losses.insert(losses.end(), job.trust.begin(), job.trust.end());
  document.sections.push_back(trust_section(losses));
  if (job.placement.all.activities == 0 && !telemetry.any()) {
    for (Section& section : document.sections) hide_from_readers(section);
  }
  return Ok{};
}

// Treats the run as the only configuration, for insights that need no comparison.
Status JobReader::add_insights(const JobLevels& job, const TelemetryReport& samples) {
  ConfigFigures figures = config_figures("", job, {});
  if (telemetry.any()) add_figure_telemetry(samples, figures);
  if (!counters.empty() && !job.counters.empty()) {
    ASSAY_TRY(counters.add_waterfalls(request.counters, job, figures));
  }
  const std::vector<Insight> insights = find_insights({figures});
  for (std::string& words : insight_words(insights))
    answer.document.verdict.push_back(std::move(words));
  answer.document.sections.front().blocks.push_back(insights_table(insights));
  return Ok{};
}

Status JobReader::add_evidence(const JobLevels& job) {
  if (evidence.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "--explain-attribution " + request.explain +
                     ": no kernel, copy or fill here has this in its name",
                 "", -1};
  }
  Document& document = answer.document;
  for (Section& section : document.sections) hide_from_readers(section);
  document.verdict = {evidence_words(evidence, request.explain, job.placement.all.dur_ns)};
  document.sections.push_back(evidence_section(evidence));
  return Ok{};
}

void JobReader::add_roof(const TelemetryReport& samples) {
  Document& document = answer.document;
  const JobRoof found = roof.finish();
  if (request.roof) {
    for (Section& section : document.sections) hide_from_readers(section);
    document.verdict = roof_words(found);
    if (const std::string clocks = roof_clock_words(found, samples); !clocks.empty())
      document.verdict.push_back(clocks);
  } else if (const std::string sentence = roof_sentence(found); !sentence.empty()) {
    document.verdict.push_back(sentence);
  }
  if (const std::string use = use_sentence(found); !use.empty()) document.verdict.push_back(use);
  document.sections.push_back(roof_section(found, {.operators = request.roof, .use = true}));
}

// Memory snapshots have no kernels: rejects options that need them.
Status refuse_what_needs_kernels(const BreakdownRequest& asked) {
  const bool any = asked.roof || asked.grouped || !asked.explain.empty() ||
                   !asked.captures.empty() || !asked.map_file.empty() ||
                   !asked.telemetry.files.empty() || !asked.counters.files.empty();
  if (!any) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "a memory snapshot has no kernels: give it alone, without options about them",
               asked.traces.inputs.front(), -1};
}

}  // namespace

Result<std::vector<LevelRule>> level_rules(const BreakdownRequest& request) {
  return read_rules(request.map_file);
}

BreakdownOptions breakdown_options(const BreakdownRequest& request,
                                   const std::vector<LevelRule>& rules) {
  BreakdownOptions options;
  options.definition = request.definition;
  if (!rules.empty()) options.rules = &rules;
  options.explain = request.explain;
  return options;
}

Result<Answer> answer_breakdown(const BreakdownRequest& asked) {
  if (is_memory_snapshot(asked.traces.inputs)) {
    ASSAY_TRY(refuse_what_needs_kernels(asked));
    if (asked.traces.accept) ASSAY_TRY(asked.traces.accept(asked.traces.inputs));
    return answer_memory_snapshot(asked.traces.inputs.front());
  }
  BreakdownRequest request = asked;
  request.traces.keep_op_inputs = true;
  ASSAY_TRY_ASSIGN(const std::vector<LevelRule> rules, level_rules(request));
  const BreakdownOptions options = breakdown_options(request, rules);
  ASSAY_TRY_ASSIGN(request.traces.files, accepted_files(request.traces));
  std::vector<std::string> files = request.traces.files;
  ASSAY_TRY_ASSIGN(auto captured, recorded_graphs(request.traces, request.captures));
  ASSAY_TRY_ASSIGN(
      const CounterRuns counters,
      CounterRuns::read(request.counters, request.traces.allow_truncated, request.roof));
  ASSAY_TRY_ASSIGN(TelemetryRun telemetry,
                   TelemetryRun::open(request.telemetry, request.traces.allow_truncated));
  ASSAY_TRY_ASSIGN(const FactBook facts, load_facts(request.counters.facts));
  ASSAY_TRY_ASSIGN(const std::string device, peaks_device(request.counters.peaks));
  JobReader job{.request = request,
                .options = options,
                .counters = counters,
                .telemetry = telemetry,
                .facts = facts,
                .device = device,
                .roof = RoofReader(facts, device),
                .captured = std::move(captured),
                .answer = {new_document("Breakdown")}};
  job.answer.document.parts_key = "ranks";
  job.answer.data_lost = telemetry.data_lost();
  for (size_t i = 0; i < files.size(); ++i) ASSAY_TRY(job.read(files, i));
  ASSAY_TRY(job.finish());
  return std::move(job.answer);
}

}  // namespace assay
