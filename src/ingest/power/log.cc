#include "ingest/power/log.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/files.h"
#include "base/stats.h"
#include "ingest/formats.h"
#include "ingest/power/gpu_rows.h"
#include "ingest/power/logs/told.h"
#include "ingest/power/recording.h"
#include "ingest/power/series.h"
#include "ingest/text/csv_records.h"
#include "ingest/text/csv_table.h"
#include "ingest/text/log_rows.h"

namespace assay {
namespace {

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

// Parses "30.81 W" or "30.81"; nullopt for [Unknown Error], [N/A] and similar texts.
std::optional<double> watts_of(const std::string& cell, double column_factor) {
  const std::string lowered = lower_trimmed(cell);
  double factor = column_factor;
  const std::string_view digits = without_unit(lowered, factor);
  double value = 0;
  if (!parse_double(digits, value)) return std::nullopt;
  return value * factor;
}

// Fails if the column that the user named is not a power, by its unit, else by its name.
Status check_power_column(const std::string& header, const std::string& path) {
  const std::string name = lower_trimmed(header.substr(0, header.find_first_of("[(")));
  const std::string unit = unit_in_name(header);
  const auto has = [&name](std::string_view word) { return name.find(word) != std::string::npos; };
  const bool power = has("power") || has("watt");
  const bool drawn = power ? says_drawn_power(header) : !has("limit");
  bool other = false;
  for (const char* word : {"clock", "temp", "util", "memory", "fan", "pstate", "energy", "voltage",
                           "current", "timestamp"}) {
    other = other || has(word);
  }
  const bool watts = unit.empty() ? power || !other : unit_in_watts(unit).has_value();
  if (watts && drawn) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "the column " + header + " is not a possible power draw" +
                   (watts || unit.empty() ? "" : " (its unit is none of power)") +
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
  // For custom scripts: the only column with a name that means power.
  std::vector<int> others;
  std::string names;
  for (size_t i = 0; i < table.header.size(); ++i) {
    if (!says_drawn_power(table.header[i]) || !check_power_column(table.header[i], path)) continue;
    others.push_back(static_cast<int>(i));
    names += (names.empty() ? "" : ", ") + table.header[i];
  }
  if (others.size() == 1) return others.front();
  return Error{
      ErrorCode::kFormat,
      others.empty()
          ? "the header has no column of power (power.draw, power_w): name one with --column"
          : "the header has several columns of power (" + names + "): name one with --column",
      path, -1};
}

// Watts per unit of a column, by its unit, else by its name; 0 if neither is known.
double column_factor(const std::string& header) {
  const std::string unit = unit_in_name(header);
  if (!unit.empty()) return unit_in_watts(unit).value_or(1);
  return lower_trimmed(header).starts_with("power.draw") ? 1 : 0;
}

// Fails if a column named as milliwatts contains plausible watts, which would be read as a
// thousandth.
Status check_told_unit(const std::string& header, double factor, const LogSamples& numbers,
                       const std::string& path) {
  constexpr double kLeastWatts = 1;  // half of the time, of anything that runs
  constexpr double kMostWatts = 1500;
  std::vector<double> values;
  for (const LogSample& one : numbers.samples) values.push_back(one.value);
  if (values.empty() || factor >= 1) return Ok{};
  const double middle = median(std::move(values));
  const bool as_told = middle * factor >= kLeastWatts;
  if (as_told || middle < kLeastWatts || middle > kMostWatts) return Ok{};
  return Error{
      ErrorCode::kFormat,
      "half of the powers in " + header + " are above " + shortest_text(middle) +
          ": no device draws so little of the unit that it names, and many do in watts; name "
          "the column by its unit",
      path, -1};
}

// Watts per unit of a column. Without a unit in header and cells, watts if the median is plausible
// for a device, else milliwatts if that is plausible, which sets `assumed`; else an error.
Result<double> factor_of(const CsvTable& table, int column, const std::string& path,
                         bool& assumed) {
  const std::string& header = table.header[static_cast<size_t>(column)];
  const double told = column_factor(header);
  LogSamples numbers;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const auto number = log_number(cell(table, row, column));
    if (number && !number->unit.empty()) return told > 0 ? told : 1;
    if (number) numbers.samples.push_back({.value = number->value});
  }
  if (told > 0) {
    ASSAY_TRY(check_told_unit(header, told, numbers, path));
    return told;
  }
  ASSAY_TRY(assume_watts(numbers, path));
  assumed = numbers.unit_assumed;
  return assumed ? 1e-3 : 1;
}

Status check_watts(double watts, const std::string& path, size_t line, const std::string& text) {
  if (watts >= 0 && watts <= kMostWatts) return Ok{};
  return csv_error_at(path, line, "'" + text + "' cannot be watts; is it in milliwatts?");
}

// The column that identifies the GPU of a row; -1 if there is none.
int gpu_column(const CsvTable& table) {
  for (const char* name : {"index", "gpu", "uuid", "pci.bus_id", "gpu_bus_id", "name"}) {
    if (const int column = table.column(name); column >= 0) return column;
  }
  return -1;
}

// The only column with an energy counter, by name and unit; -1 if there are none or several.
int energy_column(const CsvTable& table, const std::string& wanted) {
  int found = -1;
  for (size_t i = 0; i < table.header.size(); ++i) {
    const std::string& header = table.header[i];
    const std::string name = lower_trimmed(header);
    const bool counts = name.find("energy") != std::string::npos || name.starts_with("joules");
    const bool joules = unit_in_joules(unit_in_name(header)).has_value() || name == "joules";
    if (!counts || !joules || (!wanted.empty() && name != lower_trimmed(wanted))) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

// A table of times and cumulative energies.
Result<PowerLog> read_energy_table(const CsvTable& table, int energy, const std::string& path) {
  constexpr uint64_t kGrowingPerReset = 20;
  const std::string& header = table.header[static_cast<size_t>(energy)];
  const double factor = unit_in_joules(unit_in_name(header)).value_or(1);
  const int time = column_starting(table, "timestamp");
  const int device = gpu_column(table);
  LogSamples log;
  log.column = header;
  log.rows = table.rows.size();
  for (size_t row = 0; row < table.rows.size(); ++row) {
    int64_t t = 0;
    ASSAY_TRY(take_stamp(cell(table, row, time), path, table.line[row], log, t));
    const auto number = log_number(cell(table, row, energy));
    if (!number) {
      ++log.rows_without_power;
      continue;
    }
    log.samples.push_back({log.device(cell(table, row, device)), TelemetryQuantity::kPower,
                           SampleKind::kCounter, t, 0, number->value * factor});
  }
  ASSAY_TRY_ASSIGN(PowerLog read, power_log_of(log, path));
  read.format = "nvidia_smi";
  if (read.counter_resets * kGrowingPerReset <= log.samples.size()) return read;
  return Error{ErrorCode::kFormat,
               header +
                   " does not grow, so it is not a counter, and the times of its energies are "
                   "unknown: log powers, or energies counted from the start",
               path, -1};
}

// Columns of the GPU's state; -1 if there is none.
struct OtherColumns {
  int use = -1;
  int clock = -1;
  int state = -1;
};

OtherColumns other_columns(const CsvTable& table) {
  const auto first_of = [&table](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (const int column = column_starting(table, name); column >= 0) return column;
    }
    return -1;
  };
  return {.use = first_of({"gpu_util_percent", "utilization.gpu"}),
          .clock = first_of({"sm_clock_mhz", "clocks.current.sm", "clocks.sm",
                             "clocks.current.graphics", "clocks.gr"}),
          .state = first_of({"pstate"})};
}

// Adds the values of a row; skips cells without a number.
void add_others(const CsvTable& table, size_t row, const OtherColumns& columns, int64_t t_ns,
                PowerSeries& series) {
  const auto add = [&](int column, std::vector<LoggedValue>& values) {
    if (column < 0) return;
    std::string_view text = cell(table, row, column);
    if (column == columns.state && (text.starts_with('P') || text.starts_with('p')))
      text.remove_prefix(1);
    if (const auto number = log_number(text)) values.push_back({t_ns, number->value});
  };
  add(columns.use, series.use);
  add(columns.clock, series.clock_mhz);
  add(columns.state, series.state);
}

Result<PowerLog> read_smi(const CsvTable& table, const std::string& path,
                          const PowerLogChoice& choice) {
  PowerLog log;
  log.format = "nvidia_smi";
  auto found = power_column(table, path, choice.column);
  const int energy = found ? -1 : energy_column(table, choice.column);
  if (energy >= 0) return read_energy_table(table, energy, path);
  if (!found) return found.take_error();
  const int power = *found;
  const int time = column_starting(table, "timestamp");
  log.column = table.header[static_cast<size_t>(power)];
  ASSAY_TRY_ASSIGN(const double factor, factor_of(table, power, path, log.unit_assumed));
  const int device = gpu_column(table);
  std::vector<LogStamp> stamps;
  std::vector<int64_t> times;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& text = cell(table, row, time);
    const auto stamp = log_stamp(text);
    if (!stamp) return csv_error_at(path, table.line[row], "'" + text + "' is not a time");
    stamps.push_back(*stamp);
    times.push_back(stamp->t_ns);
  }
  if (!stamps.empty()) log.clock = stamps.front().clock;
  GpuRows gpus;
  if (device < 0) {
    ASSAY_TRY_ASSIGN(gpus, place_gpu_rows(table, times, path, choice.gpus));
  }
  log.taken_for_one = device < 0 && gpus.gpus == 1 && choice.gpus == 0;
  const OtherColumns others = other_columns(table);
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
    const std::string name = device >= 0 ? cell(table, row, device) : gpus.name(row);
    const int64_t t_ns = series.add(name, stamps[row], *watts);
    add_others(table, row, others, t_ns, series.series_of(name));
  }
  ASSAY_TRY(series.finish(path));
  return log;
}

// Reads samples.csv of a recording, with the meta.json of its folder if there is one, or a file of
// `assay sample`. The latter has times since 1970, rows of CPUs without power, and the device's
// energy counter.
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
  const OtherColumns others = other_columns(table);
  const int energy = of_sampler ? table.column("energy_j") : -1;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (of_sampler && cell(table, row, device) == "cpu") continue;
    ++log.rows;
    int64_t t = 0;
    if (!parse_int64(cell(table, row, time), t)) {
      return csv_error_at(path, table.line[row], "'" + cell(table, row, time) + "' is not a time");
    }
    const auto watts = watts_of(cell(table, row, power), 1);
    if (!watts) {
      ++log.rows_without_power;
      continue;
    }
    ASSAY_TRY(check_watts(*watts, path, table.line[row], cell(table, row, power)));
    series.add(cell(table, row, device), {t, LogClock::kUnknownOrigin}, *watts);
    add_others(table, row, others, t, series.series_of(cell(table, row, device)));
    const auto joules = log_number(cell(table, row, energy));
    if (joules) series.count(cell(table, row, device), {t, joules->value});
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

// Drops a last line without an end: it was being written when the log stopped, and its last number
// may be incomplete.
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
    if (!stamp) return csv_error_at(path, line, "'" + cell(table, row, time) + "' is not a time");
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

// Reads a log of another program with the reader for it.
Result<PowerLog> read_foreign(const ForeignLog& is, const std::string& text,
                              const std::string& path, const PowerLogChoice& choice) {
  ASSAY_TRY_ASSIGN(LogSamples samples, is.read(text, path, choice.column));
  const bool told = samples.times != LogTimes::kStamps;
  ASSAY_TRY(settle_log_times(samples, choice.timing, path));
  ASSAY_TRY_ASSIGN(PowerLog log, power_log_of(samples, path));
  log.format = is.key;
  log.timed_by_hand = told;
  return log;
}

Result<PowerLog> read_log_text(const std::string& text, const std::string& path,
                               const PowerLogChoice& choice) {
  const size_t records = text.find(kUprofRecords);
  if (text.rfind("AMDPROFILER POWER PROFILE", 0) == 0) {
    if (records == std::string::npos) {
      return Error{ErrorCode::kTruncated, "ends before its records", path, -1};
    }
    return read_uprof(text, records, path, choice.column);
  }
  const ForeignLog* foreign = foreign_log_of(text);
  if (foreign != nullptr) return read_foreign(*foreign, text, path, choice);
  ASSAY_TRY_ASSIGN(const CsvTable table, table_of(text, path));
  if (column_starting(table, "timestamp") < 0 && table.column("t_ns") < 0) {
    return Error{
        ErrorCode::kFormat,
        "the header has no column of time (timestamp, t_ns): without times a log cannot be aligned "
        "with a trace",
        path, -1};
  }
  ASSAY_TRY_ASSIGN(PowerLog log, table.column("t_ns") >= 0 ? read_own(table, path, choice.column)
                                                           : read_smi(table, path, choice));
  log.rows_cut += table.cut ? 1 : 0;
  return log;
}

}  // namespace

Result<PowerLog> read_power_log(const std::string& path, const PowerLogChoice& choice) {
  bool truncated = false;
  ASSAY_TRY_ASSIGN(const std::string text, read_log_file(path, choice.allow_truncated, truncated));
  auto log = read_log_text(text, path, choice);
  if (!log) return explained(log.take_error(), path, FileFamily::kSamples);
  log->truncated = truncated;
  return log;
}

}  // namespace assay
