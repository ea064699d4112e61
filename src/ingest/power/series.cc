#include "ingest/power/series.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/decimal.h"
#include "base/latest_time.h"
#include "base/numbers.h"
#include "ingest/power/recording.h"

namespace assay {
namespace {

constexpr int64_t kTolerableStep =
    1'000'000'000;  // a smaller step back comes from several writers, not from a clock reset

int64_t day_of(int64_t t_ns) { return t_ns / kLogDay * kLogDay; }

// Splits a counter into parts without a decrease. A reboot, a driver reload or a wrap resets the
// counter, and the energy in between is unknown.
std::vector<std::vector<EnergyCount>> growths(std::vector<EnergyCount> counts) {
  std::stable_sort(counts.begin(), counts.end(),
                   [](const EnergyCount& a, const EnergyCount& b) { return a.t_ns < b.t_ns; });
  std::vector<std::vector<EnergyCount>> parts;
  for (const EnergyCount& count : counts) {
    if (parts.empty() || count.joules < parts.back().back().joules) parts.emplace_back();
    parts.back().push_back(count);
  }
  return parts;
}

// The part with the most values. Adds the number of resets to `resets`.
std::vector<EnergyCount> longest_growth(std::vector<EnergyCount> counts, uint64_t& resets) {
  std::vector<std::vector<EnergyCount>> parts = growths(std::move(counts));
  if (parts.empty()) return {};
  resets += parts.size() - 1;
  return *std::max_element(parts.begin(), parts.end(),
                           [](const std::vector<EnergyCount>& a,
                              const std::vector<EnergyCount>& b) { return a.size() < b.size(); });
}

// Mean power between changes of the counter: a repeated value means that the counter was not
// updated.
std::vector<PowerReading> mean_powers(const std::vector<EnergyCount>& counts) {
  std::vector<PowerReading> readings;
  size_t before = 0;
  for (size_t i = 1; i < counts.size(); ++i) {
    const int64_t passed = counts[i].t_ns - counts[before].t_ns;
    const double joules = counts[i].joules - counts[before].joules;
    if (passed <= 0 || joules <= 0) continue;
    readings.push_back({counts[i].t_ns, joules / (static_cast<double>(passed) * 1e-9)});
    before = i;
  }
  return readings;
}

// Splits time at the ends of all windows; each piece has the mean power of the shortest window
// around it, because inner windows are more specific.
std::vector<PowerPiece> innermost_pieces(const std::vector<LogSample>& windows) {
  struct End {
    int64_t t_ns = 0;
    bool opens = false;
    size_t window = 0;
  };
  std::vector<End> ends;
  for (size_t i = 0; i < windows.size(); ++i) {
    ends.push_back({windows[i].t_ns, true, i});
    ends.push_back({windows[i].t_ns + windows[i].length_ns, false, i});
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.t_ns < b.t_ns; });
  std::set<std::pair<int64_t, size_t>> open;  // by length
  std::vector<PowerPiece> pieces;
  for (size_t i = 0; i < ends.size(); ++i) {
    const std::pair<int64_t, size_t> one{windows[ends[i].window].length_ns, ends[i].window};
    if (ends[i].opens) {
      open.insert(one);
    } else {
      open.erase(one);
    }
    if (open.empty() || ends[i + 1].t_ns == ends[i].t_ns) continue;
    const LogSample& inner = windows[open.begin()->second];
    pieces.push_back({ends[i].t_ns, ends[i + 1].t_ns,
                      inner.value / (static_cast<double>(inner.length_ns) * 1e-9)});
  }
  return pieces;
}

// Power and energy samples of one device.
struct DeviceSamples {
  std::vector<LogSample> readings;
  std::vector<EnergyCount> counts;
  std::vector<LogSample> windows;
};

Status check_watts(double watts, const std::string& path) {
  if (watts >= 0 && watts <= kMostWatts) return Ok{};
  return Error{ErrorCode::kFormat,
               rounded_text(watts) + " W is not a device's power; is its unit another one?", path,
               -1};
}

template <typename Row>
uint64_t spread_stamps(std::vector<Row>& rows) {
  std::vector<int64_t> t_ns;
  for (const Row& row : rows) t_ns.push_back(row.t_ns);
  const uint64_t spread = spread_shared_seconds(t_ns);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].t_ns = t_ns[i];
  return spread;
}

Error no_times(bool rounds, const LogTiming& timing, const std::string& path) {
  std::string words =
      rounds ? "its rows have no time: " : "its times count from its own beginning: ";
  if (!timing.by_options) {
    words += "only assay power attribute takes them, with --log-start";
  } else if (rounds) {
    words +=
        "give its start and the interval of its rows, with --log-start TIME and --log-interval "
        "SECONDS, or write it with times";
  } else {
    words += "say when that was, with --log-start TIME";
  }
  return Error{ErrorCode::kInvalidArgument, std::move(words), path, -1};
}

}  // namespace

PowerSeries& SeriesBuilder::series_of(const std::string& device) {
  const auto [place, is_new] = index_.emplace(device, log_.series.size());
  if (is_new) log_.series.push_back({.device = device});
  return log_.series[place->second];
}

int64_t SeriesBuilder::add(const std::string& device, LogStamp stamp, double watts) {
  std::vector<PowerReading>& readings = series_of(device).readings;
  int64_t t = stamp.t_ns;
  if (stamp.clock == LogClock::kTimeOfDay && !readings.empty()) {
    t += day_of(readings.back().t_ns);
    if (t < readings.back().t_ns - kLogDay / 2) t += kLogDay;  // after midnight
  }
  if (!readings.empty() && t < readings.back().t_ns) {
    ++log_.rows_out_of_order;
    largest_step_back_ = std::max(largest_step_back_, readings.back().t_ns - t);
  }
  readings.push_back({t, watts});
  return t;
}

void SeriesBuilder::count(const std::string& device, EnergyCount count) {
  series_of(device).counter.push_back(count);
}

Status SeriesBuilder::finish(const std::string& path) {
  if (largest_step_back_ > kTolerableStep) {
    return Error{ErrorCode::kFormat,
                 "the log's clock jumps back by " + std::to_string(largest_step_back_ / 1'000'000) +
                     " ms: cut the log there, or record with a clock that is not set meanwhile",
                 path, -1};
  }
  for (PowerSeries& series : log_.series) {
    std::stable_sort(series.readings.begin(), series.readings.end(),
                     [](const PowerReading& a, const PowerReading& b) { return a.t_ns < b.t_ns; });
    log_.stamps_shared += spread_stamps(series.readings);
    series.counter = longest_growth(std::move(series.counter), log_.counter_resets);
    if (series.counter.size() < 2) series.counter.clear();
    spread_stamps(series.counter);
    for (std::vector<LoggedValue>* values : {&series.use, &series.clock_mhz, &series.state}) {
      std::stable_sort(values->begin(), values->end(),
                       [](const LoggedValue& a, const LoggedValue& b) { return a.t_ns < b.t_ns; });
      spread_stamps(*values);
    }
  }
  if (log_.series.empty()) {
    return Error{ErrorCode::kFormat, "no row has both a time and a power", path, -1};
  }
  return Ok{};
}

Status settle_log_times(LogSamples& samples, const LogTiming& timing, const std::string& path) {
  if (samples.times == LogTimes::kStamps) return Ok{};
  const bool rounds = samples.times == LogTimes::kRounds;
  if (!timing.started || (rounds && timing.interval_ns <= 0)) return no_times(rounds, timing, path);
  for (LogSample& one : samples.samples) {
    const int64_t step = rounds ? timing.interval_ns : 1;
    int64_t passed = 0;
    int64_t at = 0;
    if (__builtin_mul_overflow(one.t_ns, step, &passed) ||
        __builtin_add_overflow(timing.start.t_ns, passed, &at) || at > kLatestNs) {
      return Error{ErrorCode::kFormat, "its times are further away than any trace's", path, -1};
    }
    one.t_ns = at;
  }
  samples.clock = timing.start.clock;
  return Ok{};
}

namespace {

// Adds utilization and clocks of devices with power.
void add_others(const LogSamples& samples, PowerLog& log, SeriesBuilder& builder) {
  for (const LogSample& one : samples.samples) {
    const bool use = one.quantity == TelemetryQuantity::kGpuUtil;
    if (!use && one.quantity != TelemetryQuantity::kSmClock) continue;
    if (one.kind != SampleKind::kMoment && one.kind != SampleKind::kMean) continue;
    const std::string& device = samples.devices[one.device];
    const bool has_power =
        std::any_of(log.series.begin(), log.series.end(),
                    [&](const PowerSeries& series) { return series.device == device; });
    if (!has_power) continue;
    PowerSeries& series = builder.series_of(device);
    (use ? series.use : series.clock_mhz).push_back({one.t_ns, one.value});
  }
}

}  // namespace

Result<PowerLog> power_log_of(const LogSamples& samples, const std::string& path) {
  PowerLog log;
  log.column = samples.column;
  log.scope = samples.scope;
  log.clock = samples.clock;
  log.rows = samples.rows;
  log.rows_without_power = samples.rows_without_power;
  log.rows_cut = samples.rows_cut;
  log.unit_assumed = samples.unit_assumed;
  std::vector<DeviceSamples> devices(samples.devices.size());
  for (const LogSample& one : samples.samples) {
    const bool power =
        one.quantity == TelemetryQuantity::kPower || one.quantity == TelemetryQuantity::kCpuPower;
    if (!power) continue;
    DeviceSamples& device = devices[one.device];
    if (one.kind == SampleKind::kCounter) device.counts.push_back({one.t_ns, one.value});
    if (one.kind == SampleKind::kWindow) device.windows.push_back(one);
    if (one.kind == SampleKind::kMoment || one.kind == SampleKind::kMean) {
      device.readings.push_back(one);
      log.means = log.means || one.kind == SampleKind::kMean;
    }
  }
  SeriesBuilder builder(log);
  for (size_t i = 0; i < devices.size(); ++i) {
    DeviceSamples& device = devices[i];
    const bool silent = std::all_of(device.readings.begin(), device.readings.end(),
                                    [](const LogSample& one) { return one.value == 0; });
    if (silent && !device.readings.empty()) {
      // A device that always shows 0 W is the second die of a card; the first die reports the
      // card's power.
      ++log.devices_silent;
      device.readings.clear();
    }
    for (const LogSample& one : device.readings) {
      ASSAY_TRY(check_watts(one.value, path));
      builder.add(samples.devices[i], {one.t_ns, samples.clock}, one.value);
    }
    if (device.readings.empty()) {
      for (const std::vector<EnergyCount>& part : growths(device.counts)) {
        for (const PowerReading& reading : mean_powers(part)) {
          ASSAY_TRY(check_watts(reading.power_w, path));
          builder.add(samples.devices[i], {reading.t_ns, samples.clock}, reading.power_w);
          log.means = true;
        }
      }
    }
    std::vector<EnergyCount> counts = longest_growth(std::move(device.counts), log.counter_resets);
    if (counts.size() > 1) builder.series_of(samples.devices[i]).counter = std::move(counts);
    if (device.windows.empty()) continue;
    PowerSeries& series = builder.series_of(samples.devices[i]);
    series.pieces = innermost_pieces(device.windows);
    for (const PowerPiece& piece : series.pieces) ASSAY_TRY(check_watts(piece.power_w, path));
  }
  add_others(samples, log, builder);
  ASSAY_TRY(builder.finish(path));
  return log;
}

}  // namespace assay
