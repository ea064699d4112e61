#include "power/settling.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/stats.h"
#include "power/profile.h"

namespace assay {
namespace {

constexpr size_t kParts = 64;             // of a run, for times
constexpr size_t kPowerParts = 16;        // samples are fewer than executions
constexpr double kPowerTolerance = 0.01;  // spec/energy 8.4
constexpr double kTimeTolerance = 0.003;  // a falling clock shows in the times first
constexpr double kLateTolerance = 0.01;   // of either, over seconds
constexpr double kSigmas = 3;             // differences below this are scatter

// Sums over the observations of one part of all runs.
struct Part {
  double sum = 0;
  double squares = 0;
  size_t count = 0;

  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  void add(const Part& other) {
    sum += other.sum;
    squares += other.squares;
    count += other.count;
  }
  double mean() const { return sum / static_cast<double>(count); }
  double variance_of_mean() const {
    const auto n = static_cast<double>(count);
    return n < 2 ? 0 : std::max(0.0, squares / n - mean() * mean()) / (n - 1);
  }
};

bool agree(const Part& a, const Part& b, double tolerance) {
  if (a.count == 0 || b.count == 0) return true;
  const double difference = std::fabs(a.mean() - b.mean());
  const double scatter = std::sqrt(a.variance_of_mean() + b.variance_of_mean());
  return difference <= std::max(tolerance * std::fabs(b.mean()), kSigmas * scatter);
}

template <size_t N>
Part quarter(const std::array<Part, N>& parts, size_t number) {
  Part whole;
  for (size_t i = number * N / 4; i < (number + 1) * N / 4; ++i) whole.add(parts[i]);
  return whole;
}

template <size_t N>
bool ends_settled(const std::array<Part, N>& parts, double tolerance) {
  return agree(quarter(parts, 2), quarter(parts, 3), tolerance);
}

// Share of the run after which every part agrees with the last quarter; 0 if all parts do. One more
// part is added, because the first that agrees may contain the end of settling.
template <size_t N>
double settled_share(const std::array<Part, N>& parts, double tolerance) {
  const Part last = quarter(parts, 3);
  size_t first = N;
  while (first > 0 && agree(parts[first - 1], last, tolerance)) --first;
  if (first == 0) return 0;
  return static_cast<double>(std::min(first + 1, N)) / N;
}

double took_ns(const PowerExecution& execution) {
  return static_cast<double>(execution.end_ns - execution.start_ns);
}

double last_quarter_time(const std::vector<PowerExecution>& run) {
  std::vector<double> times;
  for (size_t i = run.size() * 3 / 4; i < run.size(); ++i) times.push_back(took_ns(run[i]));
  return median(std::move(times));
}

// Execution times differ between runs. The fullest bin counts, as for recorded runs.
int64_t common_time(const std::vector<double>& times) {
  constexpr double kBin = 0.02;  // Table I, the narrower margin
  std::vector<int64_t> durations;
  for (const double time : times) durations.push_back(std::llround(time));
  std::vector<double> common;
  for (const size_t i : golden_runs(durations, kBin)) common.push_back(times[i]);
  return std::llround(median(std::move(common)));
}

std::array<Part, kParts> times_of(const SettlingRecord& record, uint32_t warm_ups) {
  std::array<Part, kParts> parts;
  for (const auto& run : record.runs) {
    const double settled = last_quarter_time(run);
    for (size_t i = warm_ups; i < run.size(); ++i) {
      parts[i * kParts / run.size()].add(took_ns(run[i]) / settled);
    }
  }
  return parts;
}

// A sample that ends in an execution of a run.
struct RunReading {
  size_t run = 0;
  size_t index = 0;  // of the execution
  double toi = 0;    // position in it, 0 to 1
  double watts = 0;
};

std::vector<RunReading> readings_in_runs(const SettlingRecord& record, const ClockModel& clock) {
  std::vector<RunReading> readings;
  for (const PowerSample& sample : record.samples) {
    const int64_t t = (record.samples_on_cpu_clock ? sample.t_ns : clock.to_cpu_ns(sample.t_ns)) -
                      record.sensor.delay_ns;
    const auto run =
        std::partition_point(record.runs.begin(), record.runs.end(),
                             [t](const auto& executions) { return executions.back().end_ns < t; });
    if (run == record.runs.end()) continue;
    const auto execution = std::partition_point(
        run->begin(), run->end(), [t](const PowerExecution& one) { return one.end_ns < t; });
    if (execution->start_ns > t) continue;
    const double toi = static_cast<double>(t - execution->start_ns) / took_ns(*execution);
    readings.push_back({static_cast<size_t>(run - record.runs.begin()),
                        static_cast<size_t>(execution - run->begin()), toi, sample.power_w});
  }
  return readings;
}

// Power differs between runs and between positions in an execution. Dividing by the mean of each in
// the second half of the runs makes a change of 1 % visible.
void take_out_runs_and_places(const SettlingRecord& record, std::vector<RunReading>& readings) {
  constexpr size_t kPlaces = 16;
  constexpr size_t kFewest = 3;
  std::vector<Part> of_run(record.runs.size());
  std::array<Part, kPlaces> of_place = {};
  const auto late = [&](const RunReading& one) {
    return 2 * one.index >= record.runs[one.run].size();
  };
  const auto place = [](const RunReading& one) {
    return std::min(static_cast<size_t>(one.toi * kPlaces), kPlaces - 1);
  };
  for (const RunReading& one : readings) {
    if (late(one)) of_run[one.run].add(one.watts);
  }
  if (std::any_of(of_run.begin(), of_run.end(),
                  [](const Part& part) { return part.count < kFewest || part.mean() <= 0; })) {
    return;
  }
  for (RunReading& one : readings) {
    one.watts /= of_run[one.run].mean();
    if (late(one)) of_place[place(one)].add(one.watts);
  }
  for (RunReading& one : readings) {
    const Part& part = of_place[place(one)];
    if (part.count >= kFewest) one.watts /= part.mean();
  }
}

std::array<Part, kPowerParts> power_of(const SettlingRecord& record, const ClockModel& clock,
                                       uint32_t power_from) {
  std::array<Part, kPowerParts> parts;
  std::vector<RunReading> readings = readings_in_runs(record, clock);
  take_out_runs_and_places(record, readings);
  for (const RunReading& one : readings) {
    if (one.index < power_from) continue;
    parts[one.index * kPowerParts / record.runs[one.run].size()].add(one.watts);
  }
  return parts;
}

// Without a common clock only times count. The profile is refused later because of the clock.
Result<ClockModel> clock_of(const SettlingRecord& record) {
  return record.samples_on_cpu_clock ? Result<ClockModel>(ClockModel{})
                                     : fit_clock(record.probes, record.tick_hz);
}

// One quantity of a long run: the early part, and all of it in N parts.
template <size_t N>
struct Course {
  Part early;
  std::array<Part, N> parts;

  void add(size_t index, size_t size, double value, uint32_t from, uint32_t until) {
    if (index < from) return;
    if (index < until) early.add(value);
    parts[index * N / size].add(value);
  }
  double late() const { return quarter(parts, 3).mean(); }
  double change() const { return late() / early.mean() - 1; }
  bool changes() const { return !agree(early, quarter(parts, 3), kLateTolerance); }
  // The halves of the last quarter differ by more than a quarter of the tolerance.
  bool goes_on() const {
    Part before;
    Part after;
    for (size_t i = 3 * N / 4; i < N; ++i) (i < 7 * N / 8 ? before : after).add(parts[i]);
    return !agree(before, after, kLateTolerance / 4);
  }
};

}  // namespace

Settling find_settling(const SettlingRecord& record, uint32_t warm_ups, uint32_t power_from) {
  Settling settling;
  std::vector<double> typical;
  for (const auto& run : record.runs) typical.push_back(last_quarter_time(run));
  settling.t_exec_ns = common_time(typical);
  const auto times = times_of(record, warm_ups);
  settling.settled = ends_settled(times, kTimeTolerance);
  double share = settled_share(times, kTimeTolerance);

  const auto clock = clock_of(record);
  if (clock) {
    const auto power = power_of(record, *clock, power_from);
    settling.settled = settling.settled && ends_settled(power, kPowerTolerance);
    share = std::max(share, settled_share(power, kPowerTolerance));
  }
  const auto size = static_cast<double>(record.runs.front().size());
  settling.from_execution = std::max(warm_ups, static_cast<uint32_t>(std::ceil(share * size)));
  return settling;
}

LateSettling find_late_settling(const SettlingRecord& record, uint32_t from, uint32_t until) {
  LateSettling late;
  const std::vector<PowerExecution>& run = record.runs.front();
  Course<kParts> times;
  for (size_t i = 0; i < run.size(); ++i) times.add(i, run.size(), took_ns(run[i]), from, until);
  late.watched_ns = run.back().end_ns - run.front().start_ns;
  late.time_change = times.change();
  late.changes = times.changes();
  double share = settled_share(times.parts, kLateTolerance);
  Course<kPowerParts> power;
  if (const auto clock = clock_of(record)) {
    for (const RunReading& one : readings_in_runs(record, *clock)) {
      power.add(one.index, run.size(), one.watts, from, until);
    }
  }
  late.late_w = power.late();
  late.power_change = power.early.count > 0 ? power.change() : std::nan("");
  if (power.early.count > 0) {
    late.changes = late.changes || power.changes();
    share = std::max(share, settled_share(power.parts, kLateTolerance));
  }
  late.goes_on = late.changes && (times.goes_on() || power.goes_on());
  if (!late.changes || late.goes_on) return late;
  // Single parts may agree where the early part as a whole does not.
  const auto settled = static_cast<size_t>(share * static_cast<double>(run.size()));
  const size_t last = std::clamp<size_t>(std::max<size_t>(settled, until), 1, run.size());
  late.after_ns = run[last - 1].end_ns - run.front().start_ns;
  return late;
}

}  // namespace assay
