#include "power/placement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

namespace assay {
namespace {

constexpr int64_t kTolerableOverlap = 20;  // 1/20 of an execution, as for clocks
constexpr size_t kSettledExecution = 3;    // the fourth: three warm-ups before it

Error recording_error(std::string message) {
  return Error{ErrorCode::kFormat, std::move(message), "", -1};
}

Status check_samples(const std::vector<PowerSample>& samples) {
  if (std::all_of(samples.begin(), samples.end(),
                  [](const PowerSample& sample) { return sample.power_w == 0; })) {
    return recording_error("every power sample is 0 W: the sensor gave no reading");
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string which = "power sample " + std::to_string(i + 1) + ": ";
    const double watts = samples[i].power_w;
    if (!std::isfinite(watts) || watts < 0 || watts > kMostPackageWatts) {
      return recording_error(which + std::to_string(watts) + " cannot be watts");
    }
    if (i > 0 && samples[i].t_ns < samples[i - 1].t_ns) {
      return recording_error(which + "the logger's clock jumps back by " +
                             std::to_string(samples[i - 1].t_ns - samples[i].t_ns) + " ns");
    }
  }
  return Ok{};
}

// Executions run back to back, so they may overlap by the error of timestamps at most.
Status check_overlap(const PowerExecution& before, const PowerExecution& e,
                     const std::string& which) {
  const int64_t overlap = before.end_ns - e.start_ns;
  const int64_t shorter = std::min(before.end_ns - before.start_ns, e.end_ns - e.start_ns);
  if (overlap <= shorter / kTolerableOverlap) return Ok{};
  return recording_error(which + "it starts " + std::to_string(overlap) +
                         " ns before the one ahead of it ends: executions of a recording run one "
                         "after the other");
}

Status check_executions(const std::vector<PowerExecution>& executions, size_t kernels) {
  for (size_t i = 0; i < executions.size(); ++i) {
    const PowerExecution& e = executions[i];
    const std::string which =
        "run " + std::to_string(e.run) + ", execution " + std::to_string(e.index) + ": ";
    if (e.kernel >= kernels) return recording_error(which + "its kernel has no name");
    if (e.end_ns < e.start_ns) return recording_error(which + "it ends before it starts");
    if (e.end_ns == e.start_ns) return recording_error(which + "it takes no time");
    if (i > 0 && e.run == executions[i - 1].run && e.index == executions[i - 1].index) {
      return recording_error(which + "it is there twice");
    }
    if (i > 0 && e.start_ns < executions[i - 1].start_ns) {
      return recording_error(which +
                             "it starts before the one ahead of it: the CPU's clock jumps "
                             "back, or rows are out of order");
    }
    if (i > 0) ASSAY_TRY(check_overlap(executions[i - 1], e, which));
  }
  return Ok{};
}

RunView view_run(const std::vector<PowerExecution>& executions, size_t first, size_t end,
                 size_t last) {
  RunView view{.run = executions[first].run,
               .first = first,
               .end = end,
               .block = last,
               .ssp = last,
               .sse = {}};
  while (view.block > first && executions[view.block - 1].kernel == executions[last].kernel) {
    --view.block;
  }
  if (view.block == first && last >= first + kSettledExecution) {
    view.sse = first + kSettledExecution;
  }
  view.ssp_duration_ns = executions[last].end_ns - executions[last].start_ns;
  return view;
}

}  // namespace

Status check_recording(const PowerRecording& recording) {
  if (recording.samples.empty()) return recording_error("the recording has no power samples");
  if (recording.executions.empty()) return recording_error("the recording has no executions");
  if (recording.sensor.window_ns < 0 || recording.sensor.period_ns < 0) {
    return recording_error("the sensor's window and period cannot be negative");
  }
  ASSAY_TRY(check_samples(recording.samples));
  return check_executions(recording.executions, recording.kernels.size());
}

std::vector<CutRun> find_cut_runs(const PowerRecording& recording) {
  const std::vector<PowerExecution>& executions = recording.executions;
  struct Span {
    size_t first;
    std::vector<uint32_t> kernels;
  };
  std::vector<Span> runs;
  std::map<std::vector<uint32_t>, size_t> count;
  for (size_t i = 0; i < executions.size(); ++i) {
    if (i == 0 || executions[i].run != executions[i - 1].run) runs.push_back({i, {}});
    runs.back().kernels.push_back(executions[i].kernel);
  }
  for (const Span& run : runs) ++count[run.kernels];
  std::vector<CutRun> cut;
  const auto usual = std::max_element(
      count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  // If there is no majority, the intended length of a run is unknown.
  if (usual == count.end() || 2 * usual->second <= runs.size()) return cut;
  const std::vector<uint32_t>& whole = usual->first;
  for (size_t r = 0; r < runs.size(); ++r) {
    const std::vector<uint32_t>& part = runs[r].kernels;
    if (part.size() >= whole.size()) continue;
    if (!std::equal(part.begin(), part.end(), whole.begin())) continue;
    const PowerExecution& start = executions[runs[r].first];
    cut.push_back({start.run, start.start_ns,
                   r + 1 < runs.size() ? executions[runs[r + 1].first].start_ns
                                       : std::numeric_limits<int64_t>::max()});
  }
  return cut;
}

std::vector<RunView> view_runs(const PowerRecording& recording, uint32_t kernel,
                               std::optional<uint32_t> most, const std::vector<CutRun>& cut) {
  const std::vector<PowerExecution>& executions = recording.executions;
  std::vector<RunView> ending;
  std::vector<RunView> having;
  for (size_t first = 0; first < executions.size();) {
    size_t end = first;
    std::optional<size_t> last;
    for (; end < executions.size() && executions[end].run == executions[first].run; ++end) {
      if (executions[end].kernel == kernel) last = end;
    }
    const bool whole = std::none_of(
        cut.begin(), cut.end(), [&](const CutRun& c) { return c.run == executions[first].run; });
    if (last && whole) {
      having.push_back(view_run(executions, first, end, *last));
      if (*last + 1 == end) ending.push_back(having.back());
    }
    first = end;
  }
  std::vector<RunView>& runs = ending.empty() ? having : ending;
  if (most && runs.size() > *most) runs.resize(*most);
  return std::move(runs);
}

TimedSamples time_samples(const PowerRecording& recording, const ClockModel& clock) {
  TimedSamples timed;
  timed.samples.reserve(recording.samples.size());
  for (size_t i = 0; i < recording.samples.size(); ++i) {
    // A repeated timestamp is the driver returning its last sample again.
    if (i > 0 && recording.samples[i].t_ns == recording.samples[i - 1].t_ns) {
      ++timed.repeated;
      continue;
    }
    timed.samples.push_back(
        {clock.to_cpu_ns(recording.samples[i].t_ns) - recording.sensor.delay_ns, i});
  }
  return timed;
}

Placement place_samples(const PowerRecording& recording, const TimedSamples& samples) {
  const std::vector<PowerExecution>& executions = recording.executions;
  Placement placement;
  placement.in_execution.resize(executions.size());
  for (const TimedSample& sample : samples.samples) {
    const auto after =
        std::upper_bound(executions.begin(), executions.end(), sample.t_ns,
                         [](int64_t t, const PowerExecution& e) { return t < e.start_ns; });
    if (after == executions.begin()) {
      ++placement.outside_runs;
      continue;
    }
    const auto at = std::prev(after);
    if (sample.t_ns <= at->end_ns) {
      placement.in_execution[static_cast<size_t>(at - executions.begin())].push_back(sample);
      continue;
    }
    const bool run_goes_on = after != executions.end() && after->run == at->run;
    ++(run_goes_on ? placement.in_gaps : placement.outside_runs);
  }
  return placement;
}

double window_share(const PowerRecording& recording, size_t from, size_t to, int64_t t_ns,
                    int64_t window_ns) {
  if (window_ns <= 0) return 1;
  const int64_t begin = t_ns - window_ns;
  int64_t covered = 0;
  for (size_t i = to + 1; i-- > from;) {
    const PowerExecution& e = recording.executions[i];
    if (e.end_ns <= begin) break;
    covered += std::max<int64_t>(0, std::min(e.end_ns, t_ns) - std::max(e.start_ns, begin));
  }
  return static_cast<double>(covered) / static_cast<double>(window_ns);
}

std::vector<double> kernel_shares(const PowerRecording& recording, size_t to, int64_t t_ns,
                                  int64_t window_ns) {
  std::vector<double> shares(recording.kernels.size(), 0);
  if (window_ns <= 0) return shares;
  const int64_t begin = t_ns - window_ns;
  for (size_t i = to + 1; i-- > 0;) {
    const PowerExecution& e = recording.executions[i];
    if (e.end_ns <= begin) break;
    const int64_t inside = std::min(e.end_ns, t_ns) - std::max(e.start_ns, begin);
    shares[e.kernel] +=
        static_cast<double>(std::max<int64_t>(0, inside)) / static_cast<double>(window_ns);
  }
  return shares;
}

std::vector<uint32_t> profiled_kernels(const PowerRecording& recording) {
  std::vector<uint32_t> kernels;
  const std::vector<PowerExecution>& executions = recording.executions;
  for (size_t i = 0; i < executions.size(); ++i) {
    const bool ends_run = i + 1 == executions.size() || executions[i + 1].run != executions[i].run;
    if (ends_run) kernels.push_back(executions[i].kernel);
  }
  std::sort(kernels.begin(), kernels.end());
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  return kernels;
}

}  // namespace assay
