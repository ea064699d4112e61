#include "ingest/power/log.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "base/decimal.h"
#include "base/files.h"
#include "ingest/formats.h"
#include "ingest/power/gpu_rows.h"
#include "ingest/power/recording.h"
#include "ingest/text/csv_records.h"
#include "ingest/text/csv_table.h"
#include "ingest/text/log_rows.h"

namespace assay {
namespace {

constexpr int64_t kTolerableStep =
    1'000'000'000;  // back in time: rows of several writers, not a reset

// ---- cells ----

std::string_view without_unit(std::string_view text, double& factor) {
  struct Suffix {
    std::string_view text;
    double factor;
  };
  for (const Suffix suffix : {Suffix{"mw", 1e-3}, Suffix{"w", 1}}) {
    if (text.ends_with(suffix.text)) {
      factor = suffix.factor;
      text.remove_suffix(suffix.text.size());
      while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
      return text;
    }
  }
  return text;
}

// "30.81 W", "30.81"; nullopt for [Unknown Error], [N/A] and the like.
std::optional<double> watts_of(const std::string& cell, double column_factor) {
  const std::string lowered = lower_trimmed(cell);
  double factor = column_factor;
  const std::string_view digits = without_unit(lowered, factor);
  double value = 0;
  if (!parse_double(digits, value)) return std::nullopt;
  return value * factor;
}

// ---- rows to series ----

// Rows as they come, filed under their device; days added to times without a date.
class SeriesBuilder {
 public:
  explicit SeriesBuilder(PowerLog& log) : log_(log) {}

  void add(const std::string& device, LogStamp stamp, double watts) {
    const auto [place, is_new] = index_.emplace(device, log_.series.size());
    if (is_new) log_.series.push_back({device, {}});
    std::vector<PowerReading>& readings = log_.series[place->second].readings;
    int64_t t = stamp.t_ns;
    if (stamp.clock == LogClock::kTimeOfDay && !readings.empty()) {
      t += readings.back().t_ns / kLogDay * kLogDay;
      if (t < readings.back().t_ns - kLogDay / 2) t += kLogDay;  // past midnight
    }
    if (!readings.empty() && t < readings.back().t_ns) {
      ++log_.rows_out_of_order;
      largest_step_back_ = std::max(largest_step_back_, readings.back().t_ns - t);
    }
    readings.push_back({t, watts});
  }

  Status finish(const std::string& path) {
    if (largest_step_back_ > kTolerableStep) {
      return Error{ErrorCode::kFormat,
                   "the log's clock jumps back by " +
                       std::to_string(largest_step_back_ / 1'000'000) +
                       " ms: cut the log there, or record with a clock that is not set meanwhile",
                   path, -1};
    }
    for (PowerSeries& series : log_.series) {
      std::stable_sort(
          series.readings.begin(), series.readings.end(),
          [](const PowerReading& a, const PowerReading& b) { return a.t_ns < b.t_ns; });
    }
    if (log_.series.empty()) {
      return Error{ErrorCode::kFormat, "no row has both a time and a power", path, -1};
    }
    return Ok{};
  }

 private:
  PowerLog& log_;
  std::map<std::string, size_t> index_;
  int64_t largest_step_back_ = 0;
};

// A column that the user named holds watts: by its unit, else by what its name says it is not.
Status check_power_column(const std::string& header, const std::string& path) {
  const std::string name = lower_trimmed(header.substr(0, header.find_first_of("[(")));
  const std::string unit = unit_of(header);
  const auto has = [&name](std::string_view word) { return name.find(word) != std::string::npos; };
  const bool limit = has("limit");
  const bool power = has("power") || has("watt") || name.ends_with("_w");
  bool other = false;
  for (const char* word : {"clock", "temp", "util", "memory", "fan", "pstate", "energy", "voltage",
                           "current", "timestamp"}) {
    other = other || has(word);
  }
  const bool watts = unit.empty() ? power || !other : unit == "w" || unit == "mw";
  if (watts && !limit) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "the column " + header + " is no power that was drawn" +
                   (watts || unit.empty() ? "" : " (its unit is not W or mW)") +
                   ": name one such as power.draw with --column",
               path, -1};
}

Result<int> power_column(const CsvTable& table, const std::string& path,
                         const std::string& wanted) {
  if (!wanted.empty()) {
    int column = table.column(wanted);
    if (column < 0) column = column_starting(table, lower_trimmed(wanted));
    if (column >= 0) {
      ASSAY_TRY(check_power_column(table.header[static_cast<size_t>(column)], path));
      return column;
    }
    return Error{ErrorCode::kInvalidArgument, "has no column " + wanted, path, -1};
  }
  for (const char* name : {"power.draw.instant", "power.draw", "power_w", "power.draw.average"}) {
    if (const int column = column_starting(table, name); column >= 0) return column;
  }
  return Error{ErrorCode::kFormat,
               "the header has no column of power (power.draw, power_w): name one with --column",
               path, -1};
}

Status check_watts(double watts, const std::string& path, size_t line, const std::string& text) {
  if (watts >= 0 && watts <= kMostWatts) return Ok{};
  return csv_error_at(path, line, "'" + text + "' cannot be watts; is it in milliwatts?");
}

Result<PowerLog> read_smi(const CsvTable& table, const std::string& path,
                          const std::string& wanted) {
  PowerLog log;
  log.format = "nvidia_smi";
  ASSAY_TRY_ASSIGN(const int power, power_column(table, path, wanted));
  const int time = column_starting(table, "timestamp");
  log.column = table.header[static_cast<size_t>(power)];
  const double factor = unit_of(log.column) == "mw" ? 1e-3 : 1;
  int device = -1;
  for (const char* name : {"index", "gpu", "uuid", "pci.bus_id", "gpu_bus_id", "name"}) {
    if (device < 0) device = table.column(name);
  }
  std::vector<LogStamp> stamps;
  std::vector<int64_t> times;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& text = cell(table, row, time);
    const auto stamp = log_stamp(text);
    if (!stamp) return csv_error_at(path, table.line[row], "'" + text + "' is no time");
    stamps.push_back(*stamp);
    times.push_back(stamp->t_ns);
  }
  if (!stamps.empty()) log.clock = stamps.front().clock;
  GpuRows gpus;
  if (device < 0) {
    ASSAY_TRY_ASSIGN(gpus, place_gpu_rows(table, times, path));
  }
  log.rows_unplaced = gpus.unplaced;
  SeriesBuilder series(log);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    ++log.rows;
    const std::string& text = cell(table, row, power);
    const auto watts = watts_of(text, factor);
    if (!watts) {
      ++log.rows_without_power;
      continue;
    }
    ASSAY_TRY(check_watts(*watts, path, table.line[row], text));
    if (device < 0 && gpus.of_row[row] == GpuRows::kUnplaced) continue;
    series.add(device >= 0 ? cell(table, row, device) : gpus.name(row), stamps[row], *watts);
  }
  ASSAY_TRY(series.finish(path));
  return log;
}

// samples.csv of a recording, with its meta.json when it lies beside it; or a file of `assay
// sample`, whose times are since 1970 and whose rows of processors have no power.
Result<PowerLog> read_own(const CsvTable& table, const std::string& path,
                          const std::string& wanted) {
  PowerLog log;
  log.format = "assay";
  ASSAY_TRY_ASSIGN(const int power, power_column(table, path, wanted));
  const int time = table.column("t_ns");
  const int device = table.column("device");
  log.column = table.header[static_cast<size_t>(power)];
  SeriesBuilder series(log);
  const bool of_sampler = table.column("cpu_util_percent") >= 0;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (of_sampler && cell(table, row, device) == "cpu") continue;
    ++log.rows;
    int64_t t = 0;
    if (!parse_int64(cell(table, row, time), t)) {
      return csv_error_at(path, table.line[row], "'" + cell(table, row, time) + "' is no time");
    }
    const auto watts = watts_of(cell(table, row, power), 1);
    if (!watts) {
      ++log.rows_without_power;
      continue;
    }
    ASSAY_TRY(check_watts(*watts, path, table.line[row], cell(table, row, power)));
    series.add(cell(table, row, device), {t, LogClock::kUnknownOrigin}, *watts);
  }
  ASSAY_TRY(series.finish(path));
  const bool epoch = log.series.front().readings.front().t_ns > 1'000'000'000'000'000'000;
  if (epoch) log.clock = LogClock::kEpoch;
  const std::string meta = joined(folder_of(path), "meta.json");
  if (file_exists(meta)) {
    ASSAY_TRY_ASSIGN(const SensorModel sensor, read_sensor_model(meta));
    log.window_ns = sensor.window_ns;
    log.delay_ns = sensor.delay_ns;
  }
  return log;
}

// A line without its end was being written when the log stopped: its last number may be short.
Result<CsvTable> table_of(const std::string& text, const std::string& path) {
  ASSAY_TRY_ASSIGN(CsvTable table, parse_csv_table(without_comments(text), path));
  if (table.unfinished && !table.cut && !table.rows.empty()) {
    table.rows.pop_back();
    table.line.pop_back();
    table.cut = true;
  }
  return table;
}

// ---- AMDuProf timechart: sections of text, then a table of records ----

constexpr std::string_view kUprofRecords = "PROFILE RECORDS";

Result<PowerLog> read_uprof(const std::string& text, size_t records_at, const std::string& path,
                            const std::string& wanted) {
  const size_t table_at = text.find('\n', records_at);
  if (table_at == std::string::npos) {
    return Error{ErrorCode::kTruncated, "ends before its records", path, -1};
  }
  ASSAY_TRY_ASSIGN(const CsvTable table, table_of(text.substr(table_at + 1), path));
  const size_t lines_before = static_cast<size_t>(
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(table_at) + 1, '\n'));
  std::vector<int> powers;
  for (size_t i = 0; i < table.header.size(); ++i) {
    const std::string name = lower_trimmed(table.header[i]);
    const bool package =
        wanted.empty() ? name.ends_with("package-power") : name == lower_trimmed(wanted);
    if (!package) continue;
    ASSAY_TRY(check_power_column(table.header[i], path));
    powers.push_back(static_cast<int>(i));
  }
  const int time = table.column("Timestamp");
  if (powers.empty() || time < 0) {
    return Error{ErrorCode::kFormat, "the records have no Timestamp or no package-power", path, -1};
  }
  const int64_t days = uprof_days(text);
  PowerLog log;
  log.format = "amd_uprof";
  log.column = powers.size() > 1 ? "package-power, sockets summed"
                                 : table.header[static_cast<size_t>(powers.front())];
  log.clock = days > 0 ? LogClock::kLocalTime : LogClock::kTimeOfDay;
  log.rows_cut = table.cut ? 1 : 0;
  SeriesBuilder series(log);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    ++log.rows;
    auto stamp = log_stamp(cell(table, row, time));
    const size_t line = table.line[row] + lines_before;
    if (!stamp) return csv_error_at(path, line, "'" + cell(table, row, time) + "' is no time");
    double sum = 0;
    bool known = true;
    for (const int power : powers) {
      const auto watts = watts_of(cell(table, row, power), 1);
      known = known && watts.has_value();
      sum += watts.value_or(0);
    }
    if (!known) {
      ++log.rows_without_power;
      continue;
    }
    ASSAY_TRY(check_watts(sum, path, line, std::to_string(sum)));
    series.add("", *stamp, sum);
  }
  ASSAY_TRY(series.finish(path));
  if (days > 0) {
    for (PowerReading& reading : log.series.front().readings) reading.t_ns += days * kLogDay;
  }
  return log;
}

Result<PowerLog> read_log_text(const std::string& text, const std::string& path,
                               const std::string& column) {
  const size_t records = text.find(kUprofRecords);
  if (text.rfind("AMDPROFILER POWER PROFILE", 0) == 0) {
    if (records == std::string::npos) {
      return Error{ErrorCode::kTruncated, "ends before its records", path, -1};
    }
    return read_uprof(text, records, path, column);
  }
  ASSAY_TRY_ASSIGN(const CsvTable table, table_of(text, path));
  if (column_starting(table, "timestamp") < 0 && table.column("t_ns") < 0) {
    return Error{
        ErrorCode::kFormat,
        "the header has no column of time (timestamp, t_ns): without times a log cannot be "
        "laid beside a trace",
        path, -1};
  }
  ASSAY_TRY_ASSIGN(PowerLog log, table.column("t_ns") >= 0 ? read_own(table, path, column)
                                                           : read_smi(table, path, column));
  log.rows_cut += table.cut ? 1 : 0;
  return log;
}

}  // namespace

Result<PowerLog> read_power_log(const std::string& path, const std::string& column,
                                bool allow_truncated) {
  bool truncated = false;
  ASSAY_TRY_ASSIGN(const std::string text, read_log_file(path, allow_truncated, truncated));
  auto log = read_log_text(text, path, column);
  if (!log) return explained(log.take_error(), path, FileFamily::kSamples);
  log->truncated = truncated;
  return log;
}

}  // namespace assay
