#include "answers/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "answers/files/sensor_choice.h"
#include "answers/inputs/facts.h"
#include "answers/ranks.h"
#include "base/ascii.h"
#include "base/numbers.h"
#include "breakdown/breakdown.h"
#include "findings/causes.h"
#include "flow/causes.h"
#include "flow/contributor_names.h"
#include "ingest/power/log.h"
#include "ingest/power/recording.h"
#include "power/across.h"
#include "power/contrast.h"
#include "power/coverage.h"
#include "power/mixed.h"
#include "power/report.h"
#include "power/written_by_one.h"
#include "records/facts.h"
#include "report/power/section.h"
#include "text/names.h"
#include "trace/device_names.h"
#include "trace/phases.h"

namespace assay {
namespace {

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

// Profiles of one recording, and if requested also of its first runs only or without a strategy.
struct Profiled {
  PowerRecording recording;
  std::vector<KernelProfile> kernels;
  std::vector<ProfileComparison> comparisons;
  std::vector<StrategyContrast> contrasts;
};

// Adds the comparison of a kernel's profile with a variant, or a note on why there is none.
void add_contrast(ContrastResult found, KernelProfile& profile, Profiled& profiled) {
  if (found.comparison) profiled.comparisons.push_back(std::move(*found.comparison));
  if (!found.no_comparison.empty()) profile.notes.push_back(std::move(found.no_comparison));
  if (!found.contrast.name.empty()) profiled.contrasts.push_back(std::move(found.contrast));
}

Result<Profiled> profile_recording(const ProfileRequest& request, PowerRecording recording) {
  ProfileOptions options = request.options;
  ASSAY_TRY_ASSIGN(const std::vector<uint32_t> kernels, wanted_kernels(recording, request.kernels));
  if (kernels.empty()) {
    return Error{ErrorCode::kFormat, "the recording has no executions", "", -1};
  }
  Profiled profiled{std::move(recording), {}, {}, {}};
  options.over_run = request.runs.has_value() || request.without_sync || request.without_bins;
  for (const uint32_t kernel : kernels) {
    options.kernel = kernel;
    ASSAY_TRY_ASSIGN(KernelProfile profile, profile_kernel(profiled.recording, options));
    const PowerRecording& all = profiled.recording;
    if (request.runs) {
      add_contrast(contrast_fewer_runs(all, options, profile, *request.runs), profile, profiled);
    }
    if (request.without_sync) {
      add_contrast(contrast_strategy(all, options, profile, Strategy::kClockSync), profile,
                   profiled);
    }
    if (request.without_bins) {
      add_contrast(contrast_strategy(all, options, profile, Strategy::kGoldenRuns), profile,
                   profiled);
    }
    profiled.kernels.push_back(std::move(profile));
  }
  return profiled;
}

// Separates the power of kernels that ran together with others, if some recording has the others
// alone.
void unmix_all(std::vector<Profiled>& all) {
  std::map<std::string, KnownPower> known;
  for (const Profiled& one : all) known.merge(known_powers(one.kernels));
  for (Profiled& one : all) {
    for (KernelProfile& kernel : one.kernels) unmix(kernel, known);
  }
}

std::string label_of(const PowerReport& report, const std::string& folder) {
  return report.workload.empty() ? folder : report.workload + " (" + folder + ")";
}

// Compares kernels of equal name in later recordings with the first one: isolated with interleaved.
std::vector<ProfileComparison> compare_recordings(const std::vector<PowerReport>& reports,
                                                  const std::vector<std::string>& folders) {
  std::vector<ProfileComparison> comparisons;
  for (size_t i = 1; i < reports.size(); ++i) {
    for (const KernelProfile& other : reports[i].kernels) {
      for (const KernelProfile& base : reports[0].kernels) {
        if (base.name != other.name) continue;
        auto comparison = compare_profiles(base, label_of(reports[0], folders[0]), other,
                                           label_of(reports[i], folders[i]));
        if (comparison) comparisons.push_back(std::move(*comparison));
      }
    }
  }
  return comparisons;
}

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

// Offset that puts the log's first sample at the trace's first GPU activity.
int64_t start_offset(const Trace& trace, const PowerSeries& series) {
  int64_t first = INT64_MAX;
  for (const int64_t start : trace.activities.start_ns) first = std::min(first, start);
  return first - series.readings.front().t_ns;
}

// Sensor properties from flags, else as the log declares them, with a tolerance of 15 % on the
// window.
SensorPrior sensor_prior(const AttributeRequest& request, const Trace& trace, const PowerLog& log,
                         const PowerSeries& series) {
  constexpr int64_t kStartWithinNs = 2'000'000'000;
  SensorPrior sensor = request.options.sensor;
  sensor.local_time = log.clock == LogClock::kLocalTime;
  if (sensor.window_low_ns <= 0 && log.window_ns > 0) {
    sensor.window_low_ns = log.window_ns - log.window_ns * 15 / 100;
    sensor.window_high_ns = log.window_ns + log.window_ns * 15 / 100;
  }
  if (sensor.delay_ns <= 0) sensor.delay_ns = log.delay_ns;
  sensor.means = log.means;
  const int64_t mean_ns = log.means ? typical_step_ns(series.readings) : 0;
  if (sensor.window_low_ns <= 0 && mean_ns > 0) {
    sensor.window_low_ns = mean_ns - mean_ns * 15 / 100;
    sensor.window_high_ns = mean_ns + mean_ns * 15 / 100;
  }
  if (log.timed_by_hand && sensor.offset_within_ns < 0) sensor.offset_within_ns = kStartWithinNs;
  if (!request.at_start) return sensor;
  sensor.offset_ns = start_offset(trace, series);
  if (sensor.offset_within_ns < 0) sensor.offset_within_ns = kStartWithinNs;
  return sensor;
}

// Gain error of the device's sensor, if its model was compared with a meter. Cards of one model
// differ by 3 %.
SensorGain gain_of(const Trace& trace, int64_t device) {
  constexpr double kCardsDiffer = 0.03;
  const std::map<std::string, Fact> facts =
      FactBook::built_in().values("hardware", device_name(trace, device));
  const auto gain = facts.find("sensor_gain");
  if (gain == facts.end()) return {};
  const double value = gain->second.value;
  return {value, value * (1 - kCardsDiffer), value * (1 + kCardsDiffer), gain->second.source};
}

// Groups activities by collective; others have no group.
WorkGrouping collective_grouping(const LoadedTrace& loaded) {
  const Trace& trace = loaded.trace;
  WorkGrouping grouping{.key = "collectives", .title = "By collective"};
  grouping.of_activity.assign(trace.activities.size(), WorkGrouping::kNone);
  std::map<std::string, uint32_t> numbers;
  for (size_t i = 0; i < trace.activities.size(); ++i) {
    const std::string& collective = loaded.kernels->of(trace.activities.name[i]).collective;
    if (collective.empty()) continue;
    const auto [place, added] = numbers.try_emplace(collective, grouping.names.size());
    if (added) grouping.names.push_back(collective);
    grouping.of_activity[i] = place->second;
  }
  return grouping;
}

// Idle times of a device by cause. For device -1, times in which all devices are idle.
std::vector<NamedTime> idle_times(const FlowRun& run, int64_t device) {
  DeviceFlow flow;
  if (device < 0) {
    flow = joint_flow(run);
  } else {
    for (DeviceFlow& one : device_flows(run)) {
      if (one.device == device) flow = std::move(one);
    }
  }
  std::map<FlowCause, std::vector<Interval>> by_cause;
  for (const FlowSlice& slice : flow.idle) by_cause[slice.cause].push_back(slice.span);
  std::vector<NamedTime> idle;
  for (auto& [cause, spans] : by_cause) {
    idle.push_back({std::string(findings::cause_name(cause)), merge_intervals(std::move(spans))});
  }
  return idle;
}

// Groupings of activities by layer and phase from the breakdown module.
Result<std::vector<WorkGrouping>> level_groupings(const LoadedTrace& loaded) {
  ASSAY_TRY_ASSIGN(
      const BreakdownReport breakdown,
      analyze_breakdown(loaded.trace, loaded.links, loaded.windows, {.kernels = loaded.kernels}));
  WorkGrouping layers{.key = "layers", .title = "By layer"};
  WorkGrouping phases{.key = "level_phases", .title = "By phase of the model"};
  layers.of_activity.assign(loaded.trace.activities.size(), WorkGrouping::kNone);
  phases.of_activity = layers.of_activity;
  std::map<int32_t, uint32_t> layer_numbers;
  std::map<LevelPhase, uint32_t> phase_numbers;
  for (const KernelLevel& row : breakdown.rows) {
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
  std::vector<WorkGrouping> all{std::move(layers), std::move(phases)};
  WorkGrouping collectives = collective_grouping(loaded);
  if (!collectives.names.empty()) all.push_back(std::move(collectives));
  return all;
}

// The kind of sample in a log column; "" if its name does not say.
std::string reading_of_column(const std::string& column) {
  for (const char* reading : {"instant", "average"}) {
    if (contains(lower(column), reading)) return reading;
  }
  return {};
}

// Uses window and ramp of the card model if neither flags nor log give them. The window is within
// 15 %; with a known ramp it may be as small as a fifth. The ramp covers that of the device.
void take_usual_sensor(const SensorModel& usual, SensorPrior& sensor) {
  constexpr int64_t kDeviceRampNs = 20 * kMillisecondNs;
  sensor.window_low_ns =
      usual.ramp_ns > 0 ? usual.window_ns / 5 : usual.window_ns - usual.window_ns * 15 / 100;
  sensor.window_high_ns = usual.window_ns + usual.window_ns * 15 / 100;
  sensor.ramp_low_ns = 0;
  sensor.ramp_high_ns = std::max(kDeviceRampNs, usual.ramp_ns + usual.ramp_ns / 2);
  sensor.usual = usual.source;
}

// A log, its requested device, and the trace's energy according to it.
struct LoggedEnergy {
  PowerLog log;
  size_t series = 0;
  EnergyReport report;
};

Result<LoggedEnergy> energy_by_log(const AttributeRequest& request, const LoadedTrace& loaded) {
  LoggedEnergy energy;
  ASSAY_TRY_ASSIGN(energy.log, read_power_log(request.samples,
                                              {.column = request.column,
                                               .allow_truncated = request.traces.allow_truncated,
                                               .timing = request.timing,
                                               .gpus = request.gpus}));
  ASSAY_TRY_ASSIGN(energy.series, choose_series(energy.log, request.gpu));
  const PowerSeries& series = energy.log.series[energy.series];
  AttributeOptions options = request.options;
  options.one_gpu = energy.log.scope.empty();
  options.sensor = sensor_prior(request, loaded.trace, energy.log, series);
  options.gain = gain_of(loaded.trace, options.device);
  const SensorPrior untold = options.sensor;
  const auto usual =
      usual_sensor(device_name(loaded.trace, options.device), reading_of_column(energy.log.column));
  if (!untold.told() && usual) take_usual_sensor(*usual, options.sensor);
  const std::string else_do =
      "; or say how many GPUs wrote it with --interleaved-gpus, 1 where it is one";
  const size_t writers = energy.log.taken_for_one ? writers_in_turn(series) : 1;
  if (writers > 1) {
    ASSAY_TRY(check_turns_before_fit(writers, series, loaded.trace, loaded.links, options,
                                     request.samples, else_do));
  }
  const Phases phases = find_phases(loaded.trace, loaded.links, loaded.windows);
  ASSAY_TRY_ASSIGN(energy.report, attribute_energy(loaded.trace, loaded.links, loaded.windows,
                                                   phases, series, options));
  if (energy.report.sensor_unlike) {
    options.sensor = untold;
    ASSAY_TRY_ASSIGN(energy.report, attribute_energy(loaded.trace, loaded.links, loaded.windows,
                                                     phases, series, options));
    energy.report.sensor_unlike = true;
  }
  if (writers > 1) {
    ASSAY_TRY(check_written_by_one(writers, energy.report, request.samples, else_do));
  }
  return energy;
}

Result<TraceContent> attribute_trace(const AttributeRequest& asked, const LoadedTrace& loaded) {
  AttributeRequest request = asked;
  ASSAY_TRY_ASSIGN(request.options.groupings, level_groupings(loaded));
  const FlowRun run = make_flow_run(loaded.trace, loaded.links, loaded.kernels);
  request.options.idle = idle_times(run, request.options.device);
  ask_per_token(engine_steps(run, {INT64_MIN, INT64_MAX}), request.options);
  ASSAY_TRY_ASSIGN(const LoggedEnergy energy, energy_by_log(request, loaded));
  TraceContent content;
  content.verdict = energy_verdict_words(energy.report);
  content.sections = energy_sections(energy.report, {&energy.log, energy.series}, request.top);
  content.import_log = power_log_notes(energy.log);
  return content;
}

}  // namespace

Result<EnergyReport> energy_of_trace(const AttributeRequest& request, const LoadedTrace& loaded) {
  ASSAY_TRY_ASSIGN(LoggedEnergy energy, energy_by_log(request, loaded));
  return std::move(energy.report);
}

void ask_per_token(const std::vector<ServingStep>& steps, AttributeOptions& options) {
  const auto tokens = output_tokens(steps);
  if (tokens && options.tokens == 0) {
    options.tokens = tokens->least;
    options.most_tokens = tokens->most;
  }
  uint64_t prompt_tokens = 0;
  std::vector<Interval> prefill;
  for (const ServingStep& step : steps) {
    if (step.told.kind != StepKind::kPrefill) continue;
    if (step.told.prompt_tokens.value_or(0) == 0) return;  // unknown number of tokens
    prompt_tokens += *step.told.prompt_tokens;
    prefill.push_back(step.device);
  }
  options.prompt_tokens = prompt_tokens;
  options.prefill = merge_intervals(std::move(prefill));
}

Result<Answer> answer_attribution(const AttributeRequest& request) {
  return answer_traces(request.traces, "Energy", [&request](const LoadedTrace& loaded) {
    return attribute_trace(request, loaded);
  });
}

Result<Document> answer_profile(const ProfileRequest& request) {
  ASSAY_TRY_ASSIGN(const FactBook facts, load_facts(request.facts));
  Document document = new_document("Power profile");
  std::vector<Profiled> all_profiled;
  for (const std::string& folder : request.folders) {
    ASSAY_TRY_ASSIGN(PowerRecording recording, read_power_recording(folder));
    ASSAY_TRY(use_kept_calibration(request.calibration, recording));
    auto profiled = profile_recording(request, std::move(recording));
    if (!profiled) {
      Error error = profiled.take_error();
      if (error.file.empty()) error.file = folder;
      return error;
    }
    all_profiled.push_back(*std::move(profiled));
    document.inputs.push_back({folder, {}});
  }
  unmix_all(all_profiled);
  std::vector<PowerReport> reports;
  for (Profiled& one : all_profiled) {
    reports.push_back(report_power(one.recording, std::move(one.kernels), facts));
    reports.back().comparisons = std::move(one.comparisons);
    reports.back().contrasts = std::move(one.contrasts);
  }
  if (reports.size() == 1) {
    document.verdict = power_verdict_words(reports.front());
    document.sections = power_sections(reports.front());
    return document;
  }
  document.parts_key = "recordings";
  for (size_t i = 0; i < reports.size(); ++i) {
    document.parts.push_back(
        {request.folders[i], {}, {}, power_verdict_words(reports[i]), power_sections(reports[i])});
  }
  // Do not compare powers of different devices.
  const bool one_device = std::all_of(reports.begin(), reports.end(), [&](const PowerReport& one) {
    return one.device == reports.front().device;
  });
  PowerReport across;
  if (one_device) across = report_across(reports, request.folders);
  across.comparisons = compare_recordings(reports, request.folders);
  PowerReport said;
  said.comparisons = across.comparisons;
  if (!said.comparisons.empty()) document.verdict = power_verdict_words(said);
  if (one_device || !said.comparisons.empty()) document.sections = {across_section(across)};
  return document;
}

}  // namespace assay
