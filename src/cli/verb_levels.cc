#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/common.h"
#include "cli/input_files.h"
#include "cli/levels_configs.h"
#include "cli/levels_counters.h"
#include "cli/telemetry_flags.h"
#include "cli/verbs.h"
#include "ingest/load.h"
#include "levels/mapping.h"
#include "report/document/import_notes.h"
#include "report/levels/section.h"
#include "report/levels/telemetry.h"
#include "report/sections.h"

namespace assay {
namespace {

struct LevelsVerb {
  CommonOptions common;
  std::string map_file;
  std::string definition = "assay";
  std::string group_by;
  std::string where;
  std::string stats;
  double min_share = 0.01;
  ConfigFlags configs;
  TelemetryFlags telemetry;
  CounterFlags counters;
};

Result<std::vector<LevelRule>> read_rules(const std::string& path) {
  if (path.empty()) return std::vector<LevelRule>{};
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return Error{ErrorCode::kIo, std::string("cannot read: ") + std::strerror(errno), path, -1};
  }
  std::string text;
  char buffer[1 << 14];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) text.append(buffer, n);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return Error{ErrorCode::kIo, "cannot read", path, -1};
  return parse_level_rules(text, path);
}

// One rank at a time: its trace is gone before the next is read.
Result<Document> analyze_job(const LevelsVerb& verb, const LevelsOptions& options,
                             const LevelQuery& query, bool& data_lost) {
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, input_files(verb.common.inputs));
  ASSAY_TRY(check_output(verb.common, files));
  ASSAY_TRY_ASSIGN(const CounterRuns counters, CounterRuns::read(verb.counters, verb.common));
  Document document = new_document("Levels");
  document.parts_key = "ranks";
  ASSAY_TRY_ASSIGN(TelemetryRun telemetry,
                   TelemetryRun::open(verb.telemetry, verb.common.allow_truncated));
  data_lost |= telemetry.data_lost();
  std::vector<RankLevels> ranks;
  TrustNotes losses;
  std::vector<std::string> no_kernels;
  for (const std::string& file : files) {
    ASSAY_TRY_ASSIGN(LoadedTrace loaded, load_input(file, verb.common));
    PhaseClock clock(verb.common.perf);
    LevelsOptions asked = options;
    asked.kernels = loaded.kernels;
    ASSAY_TRY_ASSIGN(LevelsReport report,
                     analyze_levels(loaded.trace, loaded.links, loaded.windows, asked));
    const Trace& trace = loaded.trace;
    ASSAY_TRY(telemetry.add(trace, report, files.size() > 1 ? trace.source : std::string()));
    CounterJoin joined;
    if (!counters.empty()) {
      const int64_t rank = trace.distributed.rank.value_or(rank_from_name(file));
      ASSAY_TRY_ASSIGN(joined, counters.join(loaded, report, rank));
    }
    ranks.push_back(summarize_rank(trace, rank_from_name(file), std::move(report)));
    ranks.back().counters = std::move(joined);
    clock.mark("levels", trace.content_bytes);
    data_lost |= trace.log.data_lost();
    document.inputs.push_back({trace.source, trace_items(trace)});
    if (files.size() == 1) {
      if (!has_kernels(trace)) no_kernels = {no_kernels_words(trace)};
      document.import_log = import_notes(trace.log);
      losses = all_notes(trace.log, {kernel_notes(trace, *loaded.kernels)});
    } else {
      document.parts.push_back({trace.source, trace_items(trace), import_notes(trace.log), {}, {}});
    }
  }
  const JobLevels job = combine_ranks(std::move(ranks));
  document.verdict = no_kernels;
  for (std::string& words : levels_words(job)) document.verdict.push_back(std::move(words));
  const TelemetryReport samples = telemetry.finish();
  for (std::string& words : telemetry_words(samples)) document.verdict.push_back(std::move(words));
  const bool grouped = !verb.group_by.empty() || !verb.where.empty() || !verb.stats.empty();
  document.sections.push_back(
      levels_section(job, {.min_share = verb.min_share,
                           .rows = true,
                           .query = grouped ? &query : nullptr,
                           .telemetry = telemetry.any() ? &samples : nullptr}));
  losses.insert(losses.end(), samples.trust.begin(), samples.trust.end());
  if (!counters.empty()) ASSAY_TRY(counters.describe(verb.counters, job, document));
  losses.insert(losses.end(), job.trust.begin(), job.trust.end());
  document.sections.push_back(trust_section(losses));
  if (job.placement.all.kernels == 0 && !telemetry.any()) {
    for (Section& section : document.sections) hide_from_readers(section);
  }
  return document;
}

Result<Document> analyze(const LevelsVerb& verb, bool& data_lost) {
  ASSAY_TRY_ASSIGN(const std::vector<LevelRule> rules, read_rules(verb.map_file));
  ASSAY_TRY_ASSIGN(const LevelQuery query,
                   parse_level_query(verb.group_by, verb.where, verb.stats));
  LevelsOptions options;
  if (verb.definition == "chopper") options.definition = LevelDefinition::kChopper;
  if (!rules.empty()) options.rules = &rules;
  if (verb.configs.configs.empty() && verb.common.inputs.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "levels needs traces, or configurations: --config NAME=PATH", "", -1};
  }
  if (verb.configs.configs.empty()) return analyze_job(verb, options, query, data_lost);
  if (!verb.common.inputs.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "traces beside --config: give each set of traces a name with --config NAME=PATH",
                 verb.common.inputs.front(), -1};
  }
  return compare_level_configs({verb.configs, verb.common, verb.telemetry, verb.counters}, options,
                               query, data_lost);
}

int run(const LevelsVerb& verb) {
  bool data_lost = false;
  const auto document = analyze(verb, data_lost);
  if (!document) return fail(document.error());
  return write_document(*document, verb.common, data_lost);
}

}  // namespace

void add_levels_verb(CLI::App& app, int& exit_code) {
  auto verb = std::make_shared<LevelsVerb>();
  verb->common.keep_op_inputs = true;
  CLI::App* sub = app.add_subcommand(
      "levels",
      "At which level the time goes: kernel, operation, layer, phase, iteration, GPU, job");
  add_common_options(*sub, verb->common, true);
  sub->get_option("traces")->required(false);
  add_config_options(*sub, verb->configs);
  add_telemetry_options(*sub, verb->telemetry);
  add_counter_options(*sub, verb->counters);
  sub->add_option("--map", verb->map_file,
                  "rules that say which operation, layer and phase a label, module, operator or "
                  "kernel is (docs/formats/levels_map.md)")
      ->type_name("FILE");
  sub->add_option("--definition", verb->definition,
                  "assay, or chopper: launch overhead as the published tool computes it")
      ->check(CLI::IsMember({"assay", "chopper"}))
      ->capture_default_str();
  sub->add_option("--group-by", verb->group_by,
                  "keys of the table of groups: gpu, iter, phase, layer, op, op_type");
  sub->add_option("--where", verb->where,
                  "cells that count, e.g. gpu=3,iter=2..5,op=mlp_*; + separates alternatives");
  sub->add_option("--stat", verb->stats,
                  "over the samples of a group: median, mean, min, max, p25, p75, p95, sum");
  sub->add_option("--min-share", verb->min_share, "merge tree nodes below this share of the total")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
