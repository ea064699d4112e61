#include "power/settling.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/stats.h"
#include "power/profile.h"

namespace assay {
namespace {

constexpr size_t kParts = 16;
constexpr double kPowerTolerance = 0.02;  // spec/power 2 step 4
constexpr double kTimeTolerance = 0.005;  // clocks that fell show in the times first
constexpr double kSigmas = 3;             // power differences below this are scatter

// One of kParts equal parts of the runs, over all of them.
struct Part {
  std::vector<double> times;  // relative to the run's own last quarter
  double sum = 0;
  double squares = 0;
  size_t count = 0;

  void add(double watts) {
    sum += watts;
    squares += watts * watts;
    ++count;
  }
  double mean() const { return sum / static_cast<double>(count); }
  double variance_of_mean() const {
    const auto n = static_cast<double>(count);
    return n < 2 ? 0 : std::max(0.0, squares / n - mean() * mean()) / (n - 1);
  }
};
using Parts = std::array<Part, kParts>;

Part merge(const Part& a, const Part& b) {
  Part both;
  both.times = a.times;
  both.times.insert(both.times.end(), b.times.begin(), b.times.end());
  both.sum = a.sum + b.sum;
  both.squares = a.squares + b.squares;
  both.count = a.count + b.count;
  return both;
}

Part quarter(const Parts& parts, size_t number) {
  const size_t first = number * kParts / 4;
  return merge(merge(parts[first], parts[first + 1]), merge(parts[first + 2], parts[first + 3]));
}

bool same_power(const Part& a, const Part& b) {
  if (a.count == 0 || b.count == 0) return true;
  const double difference = std::fabs(a.mean() - b.mean());
  const double scatter = std::sqrt(a.variance_of_mean() + b.variance_of_mean());
  return difference <= std::max(kPowerTolerance * std::fabs(b.mean()), kSigmas * scatter);
}

bool same_time(const Part& a, const Part& b) {
  if (a.times.empty() || b.times.empty()) return true;
  return std::fabs(median(a.times) / median(b.times) - 1) <= kTimeTolerance;
}

bool agree(const Part& a, const Part& b) { return same_power(a, b) && same_time(a, b); }

double duration(const PowerExecution& execution) {
  return static_cast<double>(execution.end_ns - execution.start_ns);
}

double last_quarter_time(const std::vector<PowerExecution>& run) {
  std::vector<double> times;
  for (size_t i = run.size() * 3 / 4; i < run.size(); ++i) times.push_back(duration(run[i]));
  return median(std::move(times));
}

void add_times(const std::vector<PowerExecution>& run, uint32_t fills_window, Parts& parts) {
  const double settled = last_quarter_time(run);
  for (size_t i = fills_window; i < run.size(); ++i) {
    parts[i * kParts / run.size()].times.push_back(duration(run[i]) / settled);
  }
}

void add_power(const SettlingRecord& record, const ClockModel& clock, uint32_t fills_window,
               Parts& parts) {
  for (const PowerSample& sample : record.samples) {
    const int64_t t = (record.samples_on_cpu_clock ? sample.t_ns : clock.to_cpu_ns(sample.t_ns)) -
                      record.sensor.delay_ns;
    const auto run =
        std::partition_point(record.runs.begin(), record.runs.end(),
                             [t](const auto& executions) { return executions.back().end_ns < t; });
    if (run == record.runs.end()) continue;
    const auto execution = std::partition_point(
        run->begin(), run->end(), [t](const PowerExecution& one) { return one.end_ns < t; });
    const auto index = static_cast<size_t>(execution - run->begin());
    if (index < fills_window || execution->start_ns > t) continue;
    parts[index * kParts / run->size()].add(sample.power_w);
  }
}

}  // namespace

Settling find_settling(const SettlingRecord& record, uint32_t fills_window) {
  Parts parts;
  std::vector<double> times;
  for (const auto& run : record.runs) {
    if (run.size() < kParts) return {};
    add_times(run, fills_window, parts);
    times.push_back(last_quarter_time(run));
  }
  ClockModel clock;
  if (!record.samples_on_cpu_clock) {
    auto fitted = fit_clock(record.probes, record.tick_hz);
    // Without a common clock only times can tell; the profile will be refused for the clock.
    if (fitted) clock = *std::move(fitted);
  }
  if (record.samples_on_cpu_clock || !clock.segments.empty()) {
    add_power(record, clock, fills_window, parts);
  }
  const Part last = quarter(parts, 3);
  Settling settling;
  settling.t_exec_ns = std::llround(median(std::move(times)));
  settling.settled = agree(quarter(parts, 2), last);
  size_t first = kParts;
  while (first > 0 && agree(parts[first - 1], last)) --first;
  const size_t size = record.runs.front().size();
  // The first part that agrees may begin before its power has settled: what counts is its end.
  settling.from_execution =
      first == 0 ? fills_window
                 : static_cast<uint32_t>((std::min(first, kParts - 1) + 1) * size / kParts);
  return settling;
}

}  // namespace assay
