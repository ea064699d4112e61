#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "base/decimal.h"
#include "cli/common.h"
#include "cli/facts_option.h"
#include "cli/sensor_choice.h"
#include "cli/verbs.h"
#include "ingest/power/log.h"
#include "ingest/power/recording.h"
#include "levels/levels.h"
#include "power/attribute.h"
#include "power/report.h"
#include "report/power/section.h"
#include "trace/phases.h"

namespace assay {
namespace {

struct ProfileVerb {
  CommonOptions common;
  std::vector<std::string> folders;
  std::vector<std::string> kernels;
  std::string facts;
  std::string calibration;
  std::optional<double> outlier_us;
  std::optional<double> margin;
  std::optional<uint32_t> runs;
  ProfileOptions options;
};

Result<std::vector<uint32_t>> wanted_kernels(const PowerRecording& recording,
                                             const std::vector<std::string>& names) {
  if (names.empty()) return profiled_kernels(recording);
  std::vector<uint32_t> wanted;
  for (const std::string& name : names) {
    const auto found = std::find(recording.kernels.begin(), recording.kernels.end(), name);
    if (found == recording.kernels.end()) {
      std::string known;
      for (const std::string& kernel : recording.kernels) {
        known += (known.empty() ? "" : ", ") + kernel;
      }
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("--kernel {}: not in this recording, which has {}", name, known), "",
                   -1};
    }
    wanted.push_back(static_cast<uint32_t>(found - recording.kernels.begin()));
  }
  return wanted;
}

ProfileOptions options_of(const ProfileVerb& verb) {
  ProfileOptions options = verb.options;
  options.margin = verb.margin;
  if (verb.outlier_us) options.outlier_ns = std::llround(*verb.outlier_us * 1000);
  return options;
}

// Profiles of one recording; with --runs each also from its first runs only.
Result<PowerReport> profile_recording(const ProfileVerb& verb, const PowerRecording& recording,
                                      const FactBook& facts) {
  ProfileOptions options = options_of(verb);
  ASSAY_TRY_ASSIGN(const std::vector<uint32_t> kernels, wanted_kernels(recording, verb.kernels));
  if (kernels.empty()) {
    return Error{ErrorCode::kFormat, "the recording has no executions", "", -1};
  }
  std::vector<KernelProfile> profiles;
  std::vector<ProfileComparison> comparisons;
  for (const uint32_t kernel : kernels) {
    options.kernel = kernel;
    options.first_runs.reset();
    ASSAY_TRY_ASSIGN(KernelProfile profile, profile_kernel(recording, options));
    if (verb.runs) {
      options.first_runs = *verb.runs;
      ASSAY_TRY_ASSIGN(const KernelProfile fewer, profile_kernel(recording, options));
      auto comparison = compare_profiles(profile, fmt::format("{} runs", profile.runs), fewer,
                                         fmt::format("first {} runs", fewer.runs));
      if (comparison) comparisons.push_back(std::move(*comparison));
    }
    profiles.push_back(std::move(profile));
  }
  PowerReport report = report_power(recording, std::move(profiles), facts);
  report.comparisons = std::move(comparisons);
  return report;
}

std::string label_of(const PowerReport& report, const std::string& folder) {
  return report.workload.empty() ? folder : report.workload + " (" + folder + ")";
}

// Kernels of one name in later recordings against the first one: isolated against interleaved.
void compare_recordings(const std::vector<PowerReport>& reports,
                        const std::vector<std::string>& folders, PowerReport& all) {
  for (size_t i = 1; i < reports.size(); ++i) {
    for (const KernelProfile& other : reports[i].kernels) {
      for (const KernelProfile& base : reports[0].kernels) {
        if (base.name != other.name) continue;
        auto comparison = compare_profiles(base, label_of(reports[0], folders[0]), other,
                                           label_of(reports[i], folders[i]));
        if (comparison) all.comparisons.push_back(std::move(*comparison));
      }
    }
  }
}

Result<Document> profile_document(const ProfileVerb& verb) {
  ASSAY_TRY_ASSIGN(const FactBook facts, load_facts(verb.facts));
  Document document = new_document("Power profile");
  std::vector<PowerReport> reports;
  for (const std::string& folder : verb.folders) {
    ASSAY_TRY_ASSIGN(PowerRecording recording, read_power_recording(folder));
    ASSAY_TRY(use_kept_calibration(verb.calibration, recording));
    auto report = profile_recording(verb, recording, facts);
    if (!report) {
      Error error = report.take_error();
      if (error.file.empty()) error.file = folder;
      return error;
    }
    reports.push_back(*std::move(report));
    document.inputs.push_back({folder, {}});
  }
  if (reports.size() == 1) {
    document.verdict = power_verdict_words(reports.front());
    document.sections = power_sections(reports.front());
    return document;
  }
  PowerReport all;
  compare_recordings(reports, verb.folders, all);
  document.parts_key = "recordings";
  for (size_t i = 0; i < reports.size(); ++i) {
    document.parts.push_back(
        {verb.folders[i], {}, {}, power_verdict_words(reports[i]), power_sections(reports[i])});
  }
  if (!all.comparisons.empty()) {
    document.verdict = power_verdict_words(all);
    document.sections = {comparisons_section(all)};
  }
  return document;
}

int run_profile(const ProfileVerb& verb) {
  auto document = profile_document(verb);
  if (!document) return fail(document.error());
  return write_document(*document, verb.common, false);
}

void add_profile_verb(CLI::App& power, int& exit_code) {
  auto verb = std::make_shared<ProfileVerb>();
  CLI::App* sub = power.add_subcommand(
      "profile", "From a recorded campaign to power over time in a kernel, with its error");
  add_common_options(*sub, verb->common, false);
  sub->add_option("recordings", verb->folders,
                  "folders with samples.csv, execs.csv, sync.csv and meta.json; the first one is "
                  "what others are compared with")
      ->required();
  sub->add_option("--kernel", verb->kernels,
                  "profile this kernel; default: every kernel that ends a run");
  sub->add_option("--runs", verb->runs, "also from the first N runs only, and compare")
      ->check(CLI::Range(1, 1'000'000'000));
  sub->add_option("--outlier-profile", verb->outlier_us,
                  "centre the bin on this execution time, in us, instead of the fullest one")
      ->check(CLI::PositiveNumber);
  sub->add_option("--margin", verb->margin, "width of the bin of golden runs; default: Table I")
      ->check(CLI::Range(0.0001, 1.0));
  sub->add_flag("--strict-windows", verb->options.strict,
                "only samples whose whole window held this kernel");
  sub->add_flag("--force", verb->options.force, "profile kernels under 25 us as well");
  sub->add_flag("--rescale", verb->options.rescale_toi,
                "stretch every run to the median execution time");
  add_facts_option(*sub, verb->facts);
  sub->add_option("--calibration", verb->calibration,
                  "of the sensor, for recordings made without one; default: what `assay power "
                  "calibrate` kept for that GPU and driver")
      ->type_name("FILE");
  sub->add_option("--seed", verb->options.seed, "of the bootstrap")->capture_default_str();
  sub->add_option("--bootstrap", verb->options.bootstrap, "resamples behind the 95 % band")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  sub->callback([verb, &exit_code] { exit_code = run_profile(*verb); });
}

struct AttributeVerb {
  CommonOptions common;
  std::string samples;
  std::string column;
  std::string gpu;
  std::string offset = "0";
  double window_ms = 0;
  double delay_ms = 0;
  size_t top = 15;
  AttributeOptions options;
};

Result<size_t> choose_series(const PowerLog& log, const std::string& wanted) {
  std::string known;
  for (size_t i = 0; i < log.series.size(); ++i) {
    if (log.series[i].device == wanted) return i;
    known += (known.empty() ? "" : ", ") + log.series[i].device;
  }
  if (wanted.empty() && log.series.size() == 1) return size_t{0};
  return Error{ErrorCode::kInvalidArgument,
               wanted.empty()
                   ? fmt::format("the log is of several devices ({}): choose one with --gpu", known)
                   : fmt::format("--gpu {}: the log has {}", wanted,
                                 known.empty() ? "one unnamed device" : known),
               "", -1};
}

// The log's first reading at the trace's first device work.
int64_t start_offset(const Trace& trace, const PowerSeries& series) {
  int64_t first = INT64_MAX;
  for (const int64_t start : trace.activities.start_ns) first = std::min(first, start);
  return first - series.readings.front().t_ns;
}

Result<AttributeOptions> attribute_options(const AttributeVerb& verb, const Trace& trace,
                                           const PowerLog& log, const PowerSeries& series) {
  AttributeOptions options = verb.options;
  options.window_ns = verb.window_ms > 0 ? std::llround(verb.window_ms * 1e6) : log.window_ns;
  options.delay_ns = verb.delay_ms > 0 ? std::llround(verb.delay_ms * 1e6) : log.delay_ns;
  if (verb.offset == "start") {
    options.offset_ns = start_offset(trace, series);
    return options;
  }
  DecimalShape shape;
  if (parse_decimal(verb.offset, 9, options.offset_ns, shape) != DecimalStatus::kOk) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--offset {}: seconds, or the word start", verb.offset), "", -1};
  }
  return options;
}

// Layer and phase of every activity, as the levels room finds them.
Result<std::vector<WorkGrouping>> level_groupings(const LoadedTrace& loaded) {
  ASSAY_TRY_ASSIGN(
      const LevelsReport levels,
      analyze_levels(loaded.trace, loaded.links, loaded.windows, {.kernels = loaded.kernels}));
  WorkGrouping layers{.key = "layers", .title = "By layer"};
  WorkGrouping phases{.key = "level_phases", .title = "By phase of the model"};
  layers.of_activity.assign(loaded.trace.activities.size(), WorkGrouping::kNone);
  phases.of_activity = layers.of_activity;
  std::map<int32_t, uint32_t> layer_numbers;
  std::map<LevelPhase, uint32_t> phase_numbers;
  for (const KernelLevel& row : levels.rows) {
    if (row.layer != kNoLayer) {
      const auto [place, added] = layer_numbers.try_emplace(row.layer, layers.names.size());
      if (added) layers.names.push_back("layer " + std::to_string(row.layer));
      layers.of_activity[row.activity.index()] = place->second;
    }
    if (row.phase != LevelPhase::kNone) {
      const auto [place, added] = phase_numbers.try_emplace(row.phase, phases.names.size());
      if (added) phases.names.emplace_back(level_phase_name(row.phase));
      phases.of_activity[row.activity.index()] = place->second;
    }
  }
  return std::vector<WorkGrouping>{std::move(layers), std::move(phases)};
}

Result<TraceContent> attribute_trace(const AttributeVerb& verb, const LoadedTrace& loaded) {
  ASSAY_TRY_ASSIGN(const PowerLog log,
                   read_power_log(verb.samples, verb.column, verb.common.allow_truncated));
  ASSAY_TRY_ASSIGN(const size_t chosen, choose_series(log, verb.gpu));
  const PowerSeries& series = log.series[chosen];
  ASSAY_TRY_ASSIGN(AttributeOptions options, attribute_options(verb, loaded.trace, log, series));
  ASSAY_TRY_ASSIGN(options.groupings, level_groupings(loaded));
  const Phases phases = find_phases(loaded.trace, loaded.links, loaded.windows);
  ASSAY_TRY_ASSIGN(
      const EnergyReport report,
      attribute_energy(loaded.trace, loaded.links, loaded.windows, phases, series, options));
  TraceContent content;
  content.verdict = energy_verdict_words(report);
  content.sections = energy_sections(report, {&log, chosen}, verb.top);
  content.import_log = power_log_notes(log);
  return content;
}

void add_attribute_verb(CLI::App& power, int& exit_code) {
  auto verb = std::make_shared<AttributeVerb>();
  CLI::App* sub = power.add_subcommand(
      "attribute",
      "Joules per kernel, operator, layer, phase and iteration, from a power log beside a trace");
  add_common_options(*sub, verb->common, true);
  sub->add_option("--samples", verb->samples,
                  "power log: samples.csv of Assay, CSV of nvidia-smi, timechart of AMDuProf")
      ->required()
      ->type_name("FILE");
  sub->add_option("--column", verb->column, "column of the log to read, e.g. power.draw");
  sub->add_option("--gpu", verb->gpu, "device of the log, where it has several");
  sub->add_option("--device", verb->options.device,
                  "only kernels of this device of the trace; default: all");
  sub->add_option("--offset", verb->offset,
                  "seconds to add to the log's times to give the trace's; or start: the log begins "
                  "with the trace's first device work")
      ->capture_default_str();
  sub->add_option("--window-ms", verb->window_ms,
                  "what the sensor averages over; default: meta.json beside the log, else the "
                  "interval between new values")
      ->check(CLI::Range(0.0, 1e6));
  sub->add_option("--delay-ms", verb->delay_ms, "how late its readings are")
      ->check(CLI::Range(0.0, 1e6));
  sub->add_option("--classes", verb->options.classes, "kernel names with a power of their own")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  sub->add_option("--tokens", verb->options.tokens, "made during the trace: energy per token")
      ->check(CLI::PositiveNumber);
  sub->add_option("--top", verb->top, "rows shown; 0 = all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("--seed", verb->options.seed, "of the bootstrap")->capture_default_str();
  sub->callback([verb, &exit_code] {
    exit_code = run_over_inputs(verb->common, "Energy", [verb](const LoadedTrace& loaded) {
      return attribute_trace(*verb, loaded);
    });
  });
}

}  // namespace

void add_power_verb(CLI::App& app, int& exit_code) {
  CLI::App* power = app.add_subcommand(
      "power", "Watts inside a kernel, joules per anything, and what the sensor cannot see");
  power->require_subcommand(1);
  add_profile_verb(*power, exit_code);
  add_attribute_verb(*power, exit_code);
  add_power_run_verbs(*power, exit_code);
}

}  // namespace assay
