#include "power/written_by_one.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/turns.h"
#include "power/joint/activity.h"
#include "power/laying.h"

namespace assay {
namespace {

Error turns_error(size_t writers, const std::string& path, const std::string& else_do) {
  const std::string count = std::to_string(writers);
  return Error{
      ErrorCode::kFormat,
      "its rows go together by " + count + "s, as if " + count +
          " GPUs had written them in turn, and no column identifies them: record with one, as in "
          "nvidia-smi --query-gpu=index,timestamp,power.draw" +
          else_do,
      path, -1};
}

// For each class of kernels, its share of the time before every sample inside the trace, over a
// typical step of the log. Periodic activities are periodic at any lag.
std::vector<std::vector<double>> shares_before(const PowerSeries& series, const AttributeOptions& o,
                                               const std::vector<Work>& work, CoveredSpan span) {
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  const std::vector<std::vector<BusySpan>> busy = busy_by_name(work, o.classes, span.begin_ns);
  const double end_s = seconds(span.end_ns - span.begin_ns);
  const auto readings = static_cast<double>(series.readings.size());
  const double step_s =
      seconds(series.readings.back().t_ns - series.readings.front().t_ns) / (readings - 1);
  Activity activity(busy, 0, end_s, std::max(step_s / 10, 1e-4));
  const Activity::Ramped plain = activity.ramped(0);
  std::vector<std::vector<double>> shares(busy.size());
  std::vector<double> row(busy.size());
  for (const PowerReading& reading : series.readings) {
    const double t = seconds(reading.t_ns + o.sensor.offset_ns - span.begin_ns);
    if (t < step_s || t > end_s) continue;
    plain.means(t, step_s, row.data());
    for (size_t k = 0; k < row.size(); ++k) shares[k].push_back(row[k]);
  }
  return shares;
}

}  // namespace

size_t writers_in_turn(const PowerSeries& series) {
  std::vector<double> powers;
  for (const PowerReading& reading : series.readings) powers.push_back(reading.power_w);
  return written_in_turn(powers);
}

Status check_turns_before_fit(size_t writers, const PowerSeries& series, const Trace& trace,
                              const Links& links, const AttributeOptions& options,
                              const std::string& path, const std::string& else_do) {
  constexpr double kInStep = 0.05;  // alternating rows have six times as much, chance 0.01
  constexpr size_t kFewestTurns = 50;
  if (writers == 1 || series.readings.back().t_ns == series.readings.front().t_ns) return Ok{};
  const std::vector<Work> work = work_of(trace, links, options.device);
  if (work.empty()) return Ok{};
  for (const std::vector<double>& shares :
       shares_before(series, options, work, span_of(work, trace))) {
    const bool few = shares.size() < kFewestTurns * writers;
    if (few || share_in_turn(shares, writers) > kInStep) return Ok{};
  }
  return turns_error(writers, path, else_do);
}

Status check_written_by_one(size_t writers, const EnergyReport& report, const std::string& path,
                            const std::string& else_do) {
  if (writers == 1) return Ok{};
  std::vector<double> left;
  for (const EnergyReport::FitPoint& one : report.fit) left.push_back(one.power_w - one.model_w);
  if (!left.empty() && written_in_turn(left) == 1) return Ok{};
  return turns_error(writers, path, else_do);
}

}  // namespace assay
