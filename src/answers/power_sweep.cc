#include "answers/power_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/stats.h"
#include "power/settings.h"
#include "report/document/import_notes.h"
#include "report/power/settings.h"
#include "report/run/section.h"
#include "trace/trust.h"

namespace assay {
namespace {

constexpr double kNsPerS = 1e9;

Error of_setting(const PowerSetting& setting, Error error) {
  error.message = setting.name + ": " + error.message;
  return error;
}

// Per activity its name with its grid, where that is recorded: another grid is other work.
std::vector<std::string> kernel_keys(const Trace& trace) {
  std::vector<std::string> keys;
  for (const StringId name : trace.activities.name) keys.emplace_back(trace.text(name));
  const auto& shapes = trace.kernel_shapes;
  for (size_t i = 0; i < shapes.size(); ++i) {
    keys[shapes.activity[i].index()] += fmt::format(" <{}, {}, {}>", shapes.grid_x[i],
                                                    shapes.grid_y[i], shapes.grid_z[i]);
  }
  return keys;
}

// When the call of an activity began, else its own start: what tells its iteration.
int64_t issued_ns(const LoadedTrace& loaded, size_t i) {
  const ApiCallId call = loaded.links.activity_call[i];
  return call ? loaded.trace.api_calls.start_ns[call.index()]
              : loaded.trace.activities.start_ns[i];
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

// From the start of one iteration to that of the next, of the last to its end: what lies between
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

std::string gpu_of(const Trace& trace, int64_t device) {
  for (const DeviceProperties& one : trace.devices) {
    if (device < 0 || one.id == device) return one.name;
  }
  return {};
}

// The mean power of readings that do not follow the trace: of a load that never changes they need
// not. By blocks, for what neighbours repeat.
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

// Power of all iterations together and of each.
void take_powers(const EnergyReport& report, SettingRun& run) {
  if (!report.follows) {
    const Between95 read = read_power(report);
    run.power_w = read.value;
    run.power_low_w = read.low;
    run.power_high_w = read.high;
    for (const double s : run.iteration_s) run.iteration_j.push_back(s * read.value);
    return;
  }
  const StretchPower& whole = report.stretches.front();
  run.power_w = whole.mean_w;
  run.power_low_w = whole.low_w;
  run.power_high_w = whole.high_w;
  for (size_t i = 0; i < run.iteration_s.size(); ++i) {
    run.iteration_j.push_back(run.iteration_s[i] * report.stretches[i + 1].mean_w);
  }
}

Result<SettingRun> run_of(const PowerSetting& setting, const AttributeRequest& attribute,
                          const LoadedTrace& loaded, TrustNotes& trust) {
  if (loaded.windows.source == WindowSource::kWholeTrace) {
    return Error{ErrorCode::kInvalidArgument,
                 "no iterations were found in the trace; --window LABEL says which ranges are", "",
                 -1};
  }
  AttributeRequest request = attribute;
  request.samples = setting.samples;
  std::vector<Interval> iterations = iterations_of(loaded.windows);
  request.options.stretches = {merge_intervals(iterations)};
  for (const Interval& one : iterations) request.options.stretches.push_back({one});
  ASSAY_TRY_ASSIGN(const EnergyReport report, energy_of_trace(request, loaded));
  if (!report.total_only.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 report.total_only + ": too coarse for the power of iterations", "", -1};
  }
  // Iterations that the log does not reach are left out, with their launches per iteration as they
  // are.
  SettingRun run;
  run.name = setting.name;
  run.gpu = gpu_of(loaded.trace, request.options.device);
  run.launches = launches_of(loaded, request.options.device);
  for (const Interval& one : iterations) {
    run.iteration_s.push_back(static_cast<double>(one.end_ns - one.start_ns) / kNsPerS);
  }
  const int64_t covered = report.stretches.front().covered_ns;
  const int64_t whole = length_ns(request.options.stretches.front());
  if (2 * covered < whole) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the log covers {:.0f} % of the iterations",
                             100 * static_cast<double>(covered) / static_cast<double>(whole)),
                 "", -1};
  }
  take_powers(report, run);
  NoteList notes;
  notes.add("sweep_not_followed", report.follows ? 0 : 1, 0, "sweep",
            setting.name + ": the readings do not follow the trace: energies are their mean, the "
                           "same for all iterations");
  for (TrustNote& note : notes.take()) trust.push_back(std::move(note));
  for (TrustNote note : report.trust) {
    if (note.what == "gain_unknown") continue;  // shares do not depend on it
    note.effect = setting.name + ": " + note.effect;
    trust.push_back(std::move(note));
  }
  return run;
}

}  // namespace

Result<Answer> answer_power_sweep(const PowerSweepRequest& request) {
  Answer answer{new_document("Power sweep")};
  answer.document.parts_key = "settings";
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
    answer.document.parts.push_back(
        {setting.name, trace_items(trace), import_notes(trace.log), {}, {}});
  }
  ASSAY_TRY_ASSIGN(const SettingsReport report, compare_settings(runs));
  answer.document.verdict = settings_words(report);
  answer.document.sections = {settings_section(report), trust_section(trust)};
  return answer;
}

}  // namespace assay
