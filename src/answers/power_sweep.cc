#include "answers/power_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/stats.h"
#include "power/settings.h"
#include "report/document/import_notes.h"
#include "report/power/settings.h"
#include "report/run/section.h"
#include "trace/device_names.h"
#include "trace/trust.h"

namespace assay {
namespace {

constexpr double kNsPerS = 1e9;

Error of_setting(const PowerSetting& setting, Error error) {
  error.message = setting.name + ": " + error.message;
  return error;
}

// Per activity: its name with its launch grid if recorded, because another grid is other work.
std::vector<std::string> kernel_keys(const Trace& trace) {
  std::vector<std::string> keys;
  for (const StringId name : trace.activities.name) keys.emplace_back(trace.text(name));
  const auto& shapes = trace.kernel_shapes;
  for (size_t i = 0; i < shapes.size(); ++i) {
    keys[shapes.activity[i].index()] +=
        fmt::format(" <{}, {}, {}>", shapes.grid_x[i], shapes.grid_y[i], shapes.grid_z[i]);
  }
  return keys;
}

// Start of an activity's call, else of the activity itself; determines its iteration.
int64_t issued_ns(const LoadedTrace& loaded, size_t i) {
  const ApiCallId call = loaded.links.activity_call[i];
  return call ? loaded.trace.api_calls.start_ns[call.index()] : loaded.trace.activities.start_ns[i];
}

std::map<std::string, double> launches_of(const LoadedTrace& loaded, int64_t device) {
  const Trace& trace = loaded.trace;
  const std::vector<std::string> keys = kernel_keys(trace);
  std::map<std::string, double> launches;
  for (size_t i = 0; i < trace.activities.size(); ++i) {
    const bool here =
        device < 0 || trace.streams[trace.activities.stream[i].index()].device == device;
    if (!here || trace.activities.kind[i] != ActivityKind::kKernel) continue;
    if (window_at(loaded.windows, issued_ns(loaded, i)) >= 0) launches[keys[i]] += 1;
  }
  const auto iterations = static_cast<double>(loaded.windows.windows.size());
  for (auto& [name, count] : launches) count /= iterations;
  return launches;
}

// Each iteration until the start of the next, the last until its own end. Time between iterations
// belongs to the work.
std::vector<Interval> iterations_of(const Windows& windows) {
  std::vector<Interval> all;
  for (size_t i = 0; i < windows.windows.size(); ++i) {
    const Window& one = windows.windows[i];
    const bool last = i + 1 == windows.windows.size();
    all.push_back({one.start_ns, last ? one.end_ns : windows.windows[i + 1].start_ns});
  }
  return all;
}

// Mean power of samples that do not follow the trace, which is possible under constant load.
// Averages blocks of samples because neighbours are correlated.
Between95 read_power(const EnergyReport& report) {
  constexpr size_t kBlocks = 10;
  std::vector<double> means;
  const size_t n = report.fit.size();
  for (size_t block = 0; block < kBlocks; ++block) {
    const size_t from = block * n / kBlocks;
    const size_t to = (block + 1) * n / kBlocks;
    double sum = 0;
    for (size_t i = from; i < to; ++i) sum += report.fit[i].power_w;
    if (to > from) means.push_back(sum / static_cast<double>(to - from));
  }
  const MeanInterval mean = mean_interval95(means);
  return {mean.mean, mean.low, mean.high};
}

// Time and energy of each iteration that the log covers, and the joint power of all of them. Skips
// other iterations.
void take_powers(const EnergyReport& report, const std::vector<Interval>& iterations,
                 SettingRun& run) {
  const Between95 read = report.follows ? Between95{} : read_power(report);
  for (size_t i = 0; i < iterations.size(); ++i) {
    const int64_t ns = iterations[i].end_ns - iterations[i].start_ns;
    const StretchPower& power = report.stretches[i + 1];
    if (2 * power.covered_ns < ns) continue;
    const double seconds = static_cast<double>(ns) / kNsPerS;
    run.iteration_s.push_back(seconds);
    run.iteration_j.push_back(seconds * (report.follows ? power.mean_w : read.value));
  }
  const StretchPower& whole = report.stretches.front();
  run.power_w = report.follows ? whole.mean_w : read.value;
  run.power_low_w = report.follows ? whole.low_w : read.low;
  run.power_high_w = report.follows ? whole.high_w : read.high;
}

// True for caveats on energy that affect the comparison of iterations. The sensor gain is the same
// for all, and the split over kernels does not matter.
bool moves_shares(const std::string& what) {
  constexpr std::array<std::string_view, 8> kMove = {
      "clock_off",     "offset_assumed", "offset_at_limit", "kept_untold",
      "lag_ambiguous", "zone_assumed",   "log_gaps",        "counter_disagrees"};
  return std::find(kMove.begin(), kMove.end(), what) != kMove.end();
}

Result<SettingRun> run_of(const PowerSetting& setting, const AttributeRequest& attribute,
                          const LoadedTrace& loaded, TrustNotes& trust) {
  if (loaded.windows.source == WindowSource::kWholeTrace) {
    return Error{ErrorCode::kInvalidArgument,
                 "no iterations were found in the trace. A sweep compares time and joules per "
                 "iteration, so record with marked steps (ProfilerStep, or a label that repeats)",
                 "", -1};
  }
  AttributeRequest request = attribute;
  request.samples = setting.samples;
  std::vector<Interval> iterations = iterations_of(loaded.windows);
  request.options.stretches = {merge_intervals(iterations)};
  for (const Interval& one : iterations) request.options.stretches.push_back({one});
  ASSAY_TRY_ASSIGN(const EnergyReport report, energy_of_trace(request, loaded));
  if (!report.total_only.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "the power of iterations is unknown: " + report.total_only, "", -1};
  }
  SettingRun run;
  run.name = setting.name;
  run.gpu = device_name(loaded.trace, request.options.device);
  run.launches = launches_of(loaded, request.options.device);
  take_powers(report, iterations, run);
  NoteList notes;
  notes.add("iterations_without_log", iterations.size() - run.iteration_s.size(), 0, "sweep",
            setting.name + ": iterations of which the log has less than half are left out");
  notes.add("sweep_not_followed", report.follows ? 0 : 1, 0, "sweep",
            setting.name +
                ": the samples do not follow the trace: energies are their mean, the same for all "
                "iterations");
  for (TrustNote& note : notes.take()) trust.push_back(std::move(note));
  for (TrustNote note : report.trust) {
    if (!moves_shares(note.what)) continue;
    note.effect = setting.name + ": " + note.effect;
    note.affects = "sweep";
    trust.push_back(std::move(note));
  }
  return run;
}

}  // namespace

Result<Answer> answer_power_sweep(const PowerSweepRequest& request) {
  Answer answer{new_document("Power sweep")};
  TrustNotes trust;
  std::vector<SettingRun> runs;
  for (const PowerSetting& setting : request.settings) {
    ASSAY_TRY_ASSIGN(LoadedTrace loaded, load_input(setting.trace, request.attribute.traces));
    Result<SettingRun> run = run_of(setting, request.attribute, loaded, trust);
    if (!run) return of_setting(setting, run.take_error());
    runs.push_back(*std::move(run));
    const Trace& trace = loaded.trace;
    answer.data_lost |= trace.log.data_lost();
    answer.document.inputs.push_back({trace.source, trace_items(trace)});
    answer.document.files.push_back({setting.samples, {}});
    for (ImportNote& note : import_notes(trace.log)) {
      note.meaning = setting.name + ": " + note.meaning;
      answer.document.import_log.push_back(std::move(note));
    }
  }
  ASSAY_TRY_ASSIGN(const SettingsReport report, compare_settings(runs));
  answer.document.verdict = settings_words(report);
  answer.document.sections = {settings_section(report), trust_section(trust)};
  return answer;
}

}  // namespace assay
