#include "cli/levels_configs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "cli/input_files.h"
#include "cli/name_value.h"
#include "ingest/load.h"
#include "levels/figures_measured.h"
#include "levels/ranks.h"
#include "report/document/import_notes.h"
#include "report/levels/figures.h"
#include "report/sections.h"

namespace assay {
namespace {

struct Config {
  std::string name;
  std::vector<std::string> files;
  std::optional<int64_t> tokens;
};

Error bad(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

Status add_tokens(const ConfigFlags& flags, std::vector<Config>& configs) {
  for (const std::string& text : flags.tokens) {
    ASSAY_TRY_ASSIGN(const auto entry, split_name_value("--tokens", text, "NAME=COUNT"));
    const auto at = std::find_if(configs.begin(), configs.end(),
                                 [&](const Config& config) { return config.name == entry.first; });
    if (at == configs.end()) return bad("--tokens " + text + ": no --config has this name");
    const std::string& number = entry.second;
    int64_t tokens = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), tokens);
    if (error != std::errc() || end != number.data() + number.size() || tokens <= 0)
      return bad("--tokens " + text + ": tokens per iteration of all GPUs, a whole number above 0");
    at->tokens = tokens;
  }
  return Ok{};
}

Result<std::vector<Config>> read_configs(const ConfigFlags& flags) {
  std::vector<Config> configs;
  std::set<std::string> names;
  for (const std::string& text : flags.configs) {
    ASSAY_TRY_ASSIGN(const auto entry, split_name_value("--config", text, "NAME=FOLDER"));
    if (!names.insert(entry.first).second)
      return bad("--config " + text + ": this name is given twice");
    ASSAY_TRY_ASSIGN(std::vector<std::string> files, input_files({entry.second}));
    configs.push_back({entry.first, std::move(files), {}});
  }
  for (const std::string& name : flags.detail) {
    if (names.count(name) == 0) return bad("--detail " + name + ": no --config has this name");
  }
  ASSAY_TRY(add_tokens(flags, configs));
  return configs;
}

// Counts of the same code add up; the first place is that of the first file.
void merge_notes(std::vector<ImportNote> more, std::vector<ImportNote>& notes) {
  for (ImportNote& note : more) {
    const auto at = std::find_if(notes.begin(), notes.end(), [&note](const ImportNote& other) {
      return other.code == note.code;
    });
    if (at == notes.end()) {
      notes.push_back(std::move(note));
      notes.back().first_offset = -1;  // a place in which of the files?
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

// What options of the form NAME=PATH say of one configuration.
std::vector<std::string> paths_of(const std::vector<std::string>& texts, const std::string& name) {
  std::vector<std::string> paths;
  for (const std::string& text : texts) {
    if (text.rfind(name + "=", 0) == 0) paths.push_back(text.substr(name.size() + 1));
  }
  return paths;
}

Status check_named(const std::string& option, const std::vector<std::string>& texts,
                   const std::vector<Config>& configs) {
  for (const std::string& text : texts) {
    const bool known = std::any_of(configs.begin(), configs.end(), [&text](const Config& config) {
      return text.rfind(config.name + "=", 0) == 0;
    });
    if (!known)
      return bad(option + " " + text + ": beside --config write it as NAME=PATH, with such a name");
  }
  return Ok{};
}

// Adds the configuration's inputs and its part to the document.
Result<ConfigFigures> read_config(const Config& config, const ConfigInputs& inputs,
                                  const LevelsOptions& options, const LevelQuery& query,
                                  Document& document, bool& data_lost) {
  Part part{config.name, {{"ranks", "ranks", config.files.size(), Unit::kCount}}};
  TrustNotes notes;
  std::vector<RankLevels> ranks;
  TelemetryFlags logs = inputs.telemetry;
  logs.files = paths_of(inputs.telemetry.files, config.name);
  ASSAY_TRY_ASSIGN(TelemetryRun telemetry, TelemetryRun::open(logs, inputs.common.allow_truncated));
  data_lost |= telemetry.data_lost();
  CounterFlags counted = inputs.counters;
  counted.counters = paths_of(inputs.counters.counters, config.name);
  if (counted.counters.empty()) counted = {};  // of the other configurations
  ASSAY_TRY_ASSIGN(const CounterRuns counters, CounterRuns::read(counted, inputs.common));
  for (const std::string& file : config.files) {
    ASSAY_TRY_ASSIGN(LoadedTrace loaded, load_input(file, inputs.common));
    PhaseClock clock(inputs.common.perf);
    LevelsOptions asked = options;
    asked.kernels = loaded.kernels;
    ASSAY_TRY_ASSIGN(LevelsReport report,
                     analyze_levels(loaded.trace, loaded.links, loaded.windows, asked));
    ASSAY_TRY(telemetry.add(loaded.trace, report, loaded.trace.source));
    CounterJoin joined;
    if (!counters.empty()) {
      const int64_t rank = loaded.trace.distributed.rank.value_or(rank_from_name(file));
      ASSAY_TRY_ASSIGN(joined, counters.join(loaded, report, rank));
    }
    ranks.push_back(summarize_rank(loaded.trace, rank_from_name(file), std::move(report)));
    ranks.back().counters = std::move(joined);
    clock.mark("levels", loaded.trace.content_bytes);
    data_lost |= loaded.trace.log.data_lost();
    document.inputs.push_back({loaded.trace.source, trace_items(loaded.trace)});
    merge_notes(import_notes(loaded.trace.log), part.import_log);
    merge_losses(all_notes(loaded.trace.log, {}), notes);
  }
  const JobLevels job = combine_ranks(std::move(ranks));
  merge_losses(job.trust, notes);
  ConfigFigures figures = config_figures(config.name, job, {query.where, config.tokens});
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

void add_config_options(CLI::App& verb, ConfigFlags& flags) {
  verb.add_option("--config", flags.configs,
                  "a configuration to set beside others: its name, and a folder, pattern or file "
                  "with the traces of its ranks; the first one is what others are compared with")
      ->type_name("NAME=PATH")
      ->expected(1)
      ->take_all();
  verb.add_option("--tokens", flags.tokens,
                  "with --config: tokens that all GPUs together take in per iteration, where the "
                  "traces do not tell")
      ->type_name("NAME=COUNT")
      ->expected(1)
      ->take_all();
  verb.add_option("--detail", flags.detail,
                  "with --config: configurations of the figures by layer and GPU [all]")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  verb.add_option("--top", flags.top,
                  "with --config: operations per phase and type in the figures by layer")
      ->check(CLI::Range(1, 20))
      ->capture_default_str();
}

Result<Document> compare_level_configs(const ConfigInputs& inputs, const LevelsOptions& options,
                                       const LevelQuery& query, bool& data_lost) {
  ASSAY_TRY_ASSIGN(const std::vector<Config> configs, read_configs(inputs.flags));
  ASSAY_TRY(check_named("--telemetry", inputs.telemetry.files, configs));
  ASSAY_TRY(check_named("--counters", inputs.counters.counters, configs));
  Document document = new_document("Levels of several configurations");
  document.parts_key = "configs";
  std::vector<ConfigFigures> figures;
  for (const Config& config : configs) {
    ASSAY_TRY(check_output(inputs.common, config.files));
    ASSAY_TRY_ASSIGN(ConfigFigures one,
                     read_config(config, inputs, options, query, document, data_lost));
    figures.push_back(std::move(one));
  }
  document.verdict = levels_figures_words(figures);
  document.sections.push_back(
      levels_figures_section(figures, {.top = inputs.flags.top, .detail = inputs.flags.detail}));
  return document;
}

}  // namespace assay
