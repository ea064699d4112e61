#include "answers/breakdown/configs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "answers/inputs/recordings.h"
#include "breakdown/figures_measured.h"
#include "breakdown/ranks.h"
#include "flow/causes.h"
#include "ingest/load.h"
#include "report/breakdown/figures.h"
#include "report/document/import_notes.h"
#include "report/run/section.h"

namespace assay {
namespace {

Error bad_config(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

// The files of each configuration. Errors: invalid or duplicate names.
Result<std::vector<std::vector<std::string>>> files_of(const LevelConfigsRequest& request) {
  std::vector<std::vector<std::string>> all;
  std::set<std::string> names;
  for (const LevelConfig& config : request.configs) {
    if (!names.insert(config.name).second) {
      return bad_config("--config " + config.name + "=" + config.traces +
                        ": this name is given twice");
    }
    ASSAY_TRY_ASSIGN(all.emplace_back(),
                     input_files({config.traces}, request.breakdown.traces.listener));
  }
  for (const std::string& name : request.detail) {
    if (names.count(name) == 0)
      return bad_config("--detail " + name + ": no --config has this name");
  }
  return all;
}

// Adds the counts of equal codes. first_offset is that of the first file.
void merge_notes(std::vector<ImportNote> more, std::vector<ImportNote>& notes) {
  for (ImportNote& note : more) {
    const auto at = std::find_if(notes.begin(), notes.end(), [&note](const ImportNote& other) {
      return other.code == note.code;
    });
    if (at == notes.end()) {
      notes.push_back(std::move(note));
      notes.back().first_offset = -1;  // the offset would not say in which file
    } else {
      at->count += note.count;
    }
  }
}

void merge_losses(const TrustNotes& more, TrustNotes& notes) {
  for (const TrustNote& note : more) {
    const auto at = std::find_if(notes.begin(), notes.end(), [&note](const TrustNote& other) {
      return other.what == note.what;
    });
    if (at == notes.end()) {
      notes.push_back(note);
    } else {
      at->count += note.count;
      at->time_ns += note.time_ns;
    }
  }
}

// Appends the configuration's inputs and its part to the document.
Result<ConfigFigures> read_config(const LevelConfig& config, std::vector<std::string> files,
                                  const BreakdownRequest& request, const BreakdownOptions& options,
                                  Answer& answer) {
  Document& document = answer.document;
  const TraceRequest& traces = request.traces;
  Part part{config.name, {}};
  TrustNotes notes;
  std::vector<RankLevels> ranks;
  ASSAY_TRY_ASSIGN(
      TelemetryRun telemetry,
      TelemetryRun::open({config.telemetry, request.telemetry.options}, traces.allow_truncated));
  answer.data_lost |= telemetry.data_lost();
  CounterRequest counted = request.counters;
  counted.files = config.counters;
  if (counted.files.empty()) counted = {};  // counter files belong to other configurations
  ASSAY_TRY_ASSIGN(const CounterRuns counters, CounterRuns::read(counted, traces.allow_truncated));
  for (size_t i = 0; i < files.size(); ++i) {
    ASSAY_TRY_ASSIGN(LoadedTrace loaded, load_or_split(files, i, traces));
    const std::string& file = files[i];
    PhaseClock clock(traces.listener);
    BreakdownOptions asked = options;
    asked.kernels = loaded.kernels;
    const FlowRun run = make_flow_run(loaded.trace, loaded.links, loaded.kernels);
    const std::vector<DeviceFlow> flow = device_flows(run);
    const ReplayReport replays = placed_replays(loaded, run, {});
    asked.flow = &flow;
    asked.replays = &replays;
    ASSAY_TRY_ASSIGN(BreakdownReport report,
                     analyze_breakdown(loaded.trace, loaded.links, loaded.windows, asked));
    ASSAY_TRY(telemetry.add(loaded, report, loaded.trace.source));
    CounterJoin joined;
    if (!counters.empty()) {
      const int64_t rank = loaded.trace.distributed.rank.value_or(rank_from_name(file));
      ASSAY_TRY_ASSIGN(joined, counters.join(loaded, report, rank));
    }
    ranks.push_back(summarize_rank(loaded.trace, rank_from_name(file), std::move(report)));
    ranks.back().counters = std::move(joined);
    clock.mark("breakdown", loaded.trace.content_bytes);
    answer.data_lost |= loaded.trace.log.data_lost();
    document.inputs.push_back({loaded.trace.source, trace_items(loaded.trace)});
    merge_notes(import_notes(loaded.trace.log), part.import_log);
    merge_losses(all_notes(loaded.trace.log, {}), notes);
  }
  part.items.push_back({"ranks", "ranks", files.size(), Unit::kCount});
  const JobLevels job = combine_ranks(std::move(ranks));
  merge_losses(job.trust, notes);
  ConfigFigures figures = config_figures(config.name, job, {request.query.where, config.tokens});
  if (telemetry.any()) {
    const TelemetryReport samples = telemetry.finish();
    merge_losses(samples.trust, notes);
    add_figure_telemetry(samples, figures);
  }
  if (!counters.empty()) ASSAY_TRY(counters.add_waterfalls(counted, job, figures));
  part.sections.push_back(trust_section(notes));
  document.parts.push_back(std::move(part));
  return figures;
}

}  // namespace

Result<Answer> answer_level_configs(const LevelConfigsRequest& request) {
  BreakdownRequest breakdown = request.breakdown;
  breakdown.traces.keep_op_inputs = true;
  ASSAY_TRY_ASSIGN(const std::vector<LevelRule> rules, level_rules(breakdown));
  const BreakdownOptions options = breakdown_options(breakdown, rules);
  ASSAY_TRY_ASSIGN(const auto files, files_of(request));
  Answer answer{new_document("Breakdown of several configurations")};
  answer.document.parts_key = "configs";
  std::vector<ConfigFigures> figures;
  for (size_t i = 0; i < files.size(); ++i) {
    if (breakdown.traces.accept) ASSAY_TRY(breakdown.traces.accept(files[i]));
    ASSAY_TRY_ASSIGN(ConfigFigures one,
                     read_config(request.configs[i], files[i], breakdown, options, answer));
    figures.push_back(std::move(one));
  }
  const std::vector<Insight> insights = find_insights(figures);
  answer.document.verdict = breakdown_figures_words(figures, insights);
  answer.document.sections.push_back(
      breakdown_figures_section(figures, insights, {.top = request.top, .detail = request.detail}));
  return answer;
}

}  // namespace assay
