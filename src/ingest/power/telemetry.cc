#include "ingest/power/telemetry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <utility>

#include "base/decimal.h"
#include "base/latest_time.h"
#include "base/numbers.h"
#include "ingest/formats.h"
#include "ingest/power/gpu_rows.h"
#include "ingest/power/log.h"
#include "ingest/power/logs/told.h"
#include "ingest/power/recording.h"
#include "ingest/text/csv_records.h"
#include "ingest/text/csv_table.h"
#include "ingest/text/log_rows.h"
#include "ingest/text/shape.h"

namespace assay {
namespace {

constexpr double kMostMhz = 100'000;

// ---- cells ----

// The number in MHz, %, bytes or W of a cell such as "1.41 GHz" or "411 MiB". A cell
// without a unit has that of the header.
std::optional<double> value_of(const std::string& cell, const std::string& header_unit) {
  std::string text = lower_trimmed(cell);
  const size_t digits = text.find_first_not_of("+-.0123456789e");
  // "e" of an exponent, not of a unit.
  std::string number = text.substr(0, digits);
  while (!number.empty() && number.back() == ' ') number.pop_back();
  std::string unit = digits == std::string::npos ? "" : lower_trimmed(text.substr(digits));
  if (unit.empty()) unit = header_unit;
  double value = 0;
  if (!parse_double(number, value) || !std::isfinite(value)) return std::nullopt;
  constexpr double kKi = 1024;
  for (const auto& [name, factor] :
       {std::pair{"mw", 1e-3}, std::pair{"ghz", 1e3}, std::pair{"khz", 1e-3}, std::pair{"hz", 1e-6},
        std::pair{"kib", kKi}, std::pair{"mib", kKi * kKi}, std::pair{"gib", kKi * kKi * kKi}}) {
    if (unit == name) return value * factor;
  }
  for (const char* name : {"", "mhz", "w", "%", "c", "b", "bytes"}) {
    if (unit == name) return value;
  }
  return std::nullopt;
}

bool can_be(TelemetryQuantity quantity, double value) {
  switch (quantity) {
    case TelemetryQuantity::kSmClock:
    case TelemetryQuantity::kMemoryClock:
      return value >= 0 && value <= kMostMhz;
    case TelemetryQuantity::kPower:
    case TelemetryQuantity::kCpuPower:
      return value >= 0 && value <= kMostWatts;
    case TelemetryQuantity::kGpuUtil:
    case TelemetryQuantity::kMemoryUtil:
      return value >= 0 && value <= 100;
    case TelemetryQuantity::kMemoryUsed:
      return value >= 0;
    case TelemetryQuantity::kTemperature:
      return value > -100 && value < 1000;
  }
  return false;
}

struct QuantityColumn {
  TelemetryQuantity quantity = TelemetryQuantity::kPower;
  int column = -1;
  std::string unit;
};

struct ColumnName {
  TelemetryQuantity quantity;
  const char* name;
};
// The first match per quantity is used. Names of the sampler, of all nvidia-smi versions, and of
// amd-smi in Chopper's files.
constexpr std::array<ColumnName, 27> kColumnNames = {{
    {TelemetryQuantity::kSmClock, "sm_clock_mhz"},
    {TelemetryQuantity::kSmClock, "clocks.current.sm"},
    {TelemetryQuantity::kSmClock, "clocks.sm"},
    {TelemetryQuantity::kSmClock, "clocks.current.graphics"},
    {TelemetryQuantity::kSmClock, "clocks.gr"},
    {TelemetryQuantity::kSmClock, "current_gfxclk"},
    {TelemetryQuantity::kMemoryClock, "memory_clock_mhz"},
    {TelemetryQuantity::kMemoryClock, "clocks.current.memory"},
    {TelemetryQuantity::kMemoryClock, "clocks.mem"},
    {TelemetryQuantity::kMemoryClock, "current_uclk"},
    {TelemetryQuantity::kPower, "power_w"},
    {TelemetryQuantity::kPower, "power.draw.instant"},
    {TelemetryQuantity::kPower, "power.draw.average"},
    {TelemetryQuantity::kPower, "power.draw"},
    {TelemetryQuantity::kPower, "current_socket_power"},
    {TelemetryQuantity::kPower, "average_socket_power"},
    {TelemetryQuantity::kGpuUtil, "gpu_util_percent"},
    {TelemetryQuantity::kGpuUtil, "utilization.gpu"},
    {TelemetryQuantity::kGpuUtil, "average_gfx_activity"},
    {TelemetryQuantity::kMemoryUtil, "memory_util_percent"},
    {TelemetryQuantity::kMemoryUtil, "utilization.memory"},
    {TelemetryQuantity::kMemoryUtil, "average_umc_activity"},
    {TelemetryQuantity::kMemoryUsed, "memory_used_bytes"},
    {TelemetryQuantity::kMemoryUsed, "memory.used"},
    {TelemetryQuantity::kTemperature, "temperature_c"},
    {TelemetryQuantity::kTemperature, "temperature.gpu"},
    {TelemetryQuantity::kTemperature, "temperature_hotspot"},
}};

std::vector<QuantityColumn> quantity_columns(const CsvTable& table) {
  std::vector<QuantityColumn> columns;
  for (const ColumnName& known : kColumnNames) {
    const bool has = std::any_of(columns.begin(), columns.end(), [&](const QuantityColumn& one) {
      return one.quantity == known.quantity;
    });
    if (has) continue;
    for (size_t i = 0; i < table.header.size(); ++i) {
      const std::string& header = table.header[i];
      const std::string name = lower_trimmed(header.substr(0, header.find_first_of("[(")));
      if (name != known.name) continue;
      columns.push_back({known.quantity, static_cast<int>(i), unit_of(header)});
      break;
    }
  }
  return columns;
}

// ---- rows to series ----

class SignalSeries {
 public:
  explicit SignalSeries(TelemetryLog& log) : log_(log) {}

  void add(const std::string& device, TelemetryQuantity quantity, int64_t t_ns, double value) {
    const auto [place, is_new] = index_.emplace(std::pair(device, quantity), log_.series.size());
    if (is_new) log_.series.push_back({device, quantity, {}, {}});
    TelemetrySeries& series = log_.series[place->second];
    series.t_ns.push_back(t_ns);
    series.value.push_back(value);
  }

  // Adds the values of one row.
  Status add_row(const CsvTable& table, size_t row, const std::vector<QuantityColumn>& columns,
                 const std::string& device, int64_t t_ns) {
    for (const QuantityColumn& column : columns) {
      const std::string& text = cell(table, row, column.column);
      const auto value = value_of(text, column.unit);
      if (!value) {
        ++log_.cells_without_value;
        continue;
      }
      if (!can_be(column.quantity, *value)) {
        return csv_error_at(
            log_.path, table.line[row],
            "'" + text + "' cannot be " + table.header[static_cast<size_t>(column.column)]);
      }
      add(device, column.quantity, t_ns, *value);
    }
    return Ok{};
  }

  // Sorts rows that writers of several GPUs interleave. Fails if the clock was set back.
  Status finish() {
    for (TelemetrySeries& series : log_.series) {
      int64_t latest = std::numeric_limits<int64_t>::min();
      for (const int64_t t : series.t_ns) {
        if (t > kLatestNs || t < -kLatestNs) {
          return Error{ErrorCode::kFormat,
                       "a time of " + std::to_string(t) + " ns is further away than any trace's",
                       log_.path, -1};
        }
        const int64_t back_ns = t < latest ? latest - t : 0;
        if (back_ns > 0) ++log_.rows_out_of_order;
        if (back_ns > kSecondNs) {
          return Error{ErrorCode::kFormat,
                       "the log's clock jumps back by " + std::to_string(back_ns / kMillisecondNs) +
                           " ms: cut the log there, or record with a clock that is not set "
                           "meanwhile",
                       log_.path, -1};
        }
        latest = std::max(latest, t);
      }
      sort(series);
      spread_shared_seconds(series.t_ns);
    }
    return Ok{};
  }

 private:
  static void sort(TelemetrySeries& series) {
    if (std::is_sorted(series.t_ns.begin(), series.t_ns.end())) return;
    std::vector<size_t> order(series.t_ns.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return series.t_ns[a] < series.t_ns[b]; });
    TelemetrySeries sorted{series.device, series.quantity, {}, {}};
    for (const size_t i : order) {
      sorted.t_ns.push_back(series.t_ns[i]);
      sorted.value.push_back(series.value[i]);
    }
    series = std::move(sorted);
  }

  TelemetryLog& log_;
  std::map<std::pair<std::string, TelemetryQuantity>, size_t> index_;
};

// ---- assay sample ----

// The value of a comment "# key: value"; empty if missing.
std::string comment(const std::string& text, const std::string& key) {
  const std::string wanted = "# " + key + ":";
  size_t at = text.rfind(wanted, 0) == 0 ? 0 : text.find("\n" + wanted);
  if (at == std::string::npos) return {};
  at = text.find(wanted, at) + wanted.size();
  return text.substr(at, text.find('\n', at) - at);
}

template <typename Use>
void each_word(const std::string& text, const Use& use) {
  std::istringstream words(text);
  for (std::string word; words >> word;) use(word);
}

std::string after(const std::string& text, const std::string& key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return {};
  const size_t begin = at + key.size();
  return text.substr(begin, text.find(' ', begin) - begin);
}

Status read_header(const std::string& text, TelemetryLog& log) {
  bool fine = true;
  each_word(comment(text, "cpus"), [&](const std::string& word) {
    int64_t cpu = 0;
    fine = fine && parse_int64(word, cpu);
    log.cpu.cpus.push_back(static_cast<int>(cpu));
  });
  each_word(comment(text, "cores"), [&](const std::string& word) {
    const size_t colon = word.find(':');
    int64_t package = 0;
    int64_t core = 0;
    fine = fine && colon != std::string::npos && parse_int64(word.substr(0, colon), package) &&
           parse_int64(word.substr(colon + 1), core);
    log.cores.push_back({static_cast<int>(package), static_cast<int>(core)});
  });
  fine = fine && (log.cores.empty() || log.cores.size() == log.cpu.cpus.size());
  if (!fine) {
    return Error{ErrorCode::kFormat, "the comments cpus and cores of its head do not fit", log.path,
                 -1};
  }
  for (size_t i = 0;; ++i) {
    TelemetryDevice device;
    device.device = "gpu" + std::to_string(i);
    const std::string words = comment(text, "device " + device.device);
    if (words.empty()) break;
    if (!parse_int64(after(words, " index="), device.index)) device.index = -1;
    device.uuid = after(words, " uuid=");
    const size_t name = words.find(" name=");
    if (name != std::string::npos) device.name = words.substr(name + 6);
    log.devices.push_back(std::move(device));
  }
  const std::string end = comment(text, "end");
  log.unfinished = end.empty();
  int64_t missed = 0;
  if (parse_int64(after(end, " missed="), missed)) log.ticks_missed = static_cast<uint64_t>(missed);
  return Ok{};
}

// Rows [first, last) between steps of the wall clock.
struct Part {
  size_t first = 0;
  size_t last = 0;
};

// The longest part between clock steps: times before and after a step are not comparable.
Part longest_part(const std::vector<int64_t>& wall, const std::vector<int64_t>& monotonic,
                  uint64_t& steps) {
  constexpr int64_t kMostAdjusted = 2000;  // 1 / 500 ppm
  Part best;
  Part now;
  for (size_t i = 0; i <= wall.size(); ++i) {
    bool step = i == wall.size();
    if (i > 0 && !step) {
      const int64_t passed = monotonic[i] - monotonic[i - 1];
      const int64_t moved = wall[i] - wall[i - 1] - passed;
      step = std::abs(moved) > kMillisecondNs + passed / kMostAdjusted;
      steps += step ? 1 : 0;
    }
    if (!step) continue;
    now.last = i;
    if (now.last - now.first > best.last - best.first) best = now;
    now.first = i;
  }
  return best;
}

Status add_cpu_row(const std::string& text, int64_t from_ns, int64_t t_ns, size_t line,
                   TelemetryLog& log) {
  std::vector<float> percent;
  bool fine = true;
  each_word(text, [&](const std::string& word) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (word != "-") fine = fine && parse_double(word, value) && value >= 0 && value <= 100;
    percent.push_back(static_cast<float>(value));
  });
  if (!fine || percent.size() != log.cpu.cpus.size()) {
    return csv_error_at(log.path, line,
                        "'" + text + "' is not the utilisation of " +
                            std::to_string(log.cpu.cpus.size()) + " processors in percent");
  }
  log.cpu.from_ns.push_back(from_ns);
  log.cpu.t_ns.push_back(t_ns);
  log.cpu.percent.insert(log.cpu.percent.end(), percent.begin(), percent.end());
  return Ok{};
}

Result<TelemetryLog> read_samples(const std::string& text, const CsvTable& table,
                                  TelemetryLog log) {
  log.format = "assay_samples";
  log.clock = LogClock::kEpoch;
  if (text.rfind("# assay samples 1\n", 0) != 0) {
    return Error{ErrorCode::kUnsupported,
                 "does not begin with '# assay samples 1': its version is another one than this "
                 "program reads",
                 log.path, -1};
  }
  ASSAY_TRY(read_header(text, log));
  const int time = table.column("t_ns");
  const int monotonic = table.column("monotonic_ns");
  const int device = table.column("device");
  const int util = table.column("cpu_util_percent");
  std::vector<int64_t> wall(table.rows.size());
  std::vector<int64_t> steady(table.rows.size());
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (!parse_int64(cell(table, row, time), wall[row]) ||
        !parse_int64(cell(table, row, monotonic), steady[row])) {
      return csv_error_at(log.path, table.line[row], "has no t_ns or no monotonic_ns");
    }
  }
  const Part part = longest_part(wall, steady, log.clock_steps);
  log.rows = table.rows.size();
  log.rows_beyond_steps = table.rows.size() - (part.last - part.first);
  const std::vector<QuantityColumn> columns = quantity_columns(table);
  SignalSeries series(log);
  std::optional<int64_t> before;
  for (size_t row = part.first; row < part.last; ++row) {
    const std::string& name = cell(table, row, device);
    if (name != "cpu") {
      ASSAY_TRY(series.add_row(table, row, columns, name, wall[row]));
      continue;
    }
    const std::string& percent = cell(table, row, util);
    if (before && !percent.empty()) {
      ASSAY_TRY(add_cpu_row(percent, *before, wall[row], table.line[row], log));
    }
    before = wall[row];
  }
  ASSAY_TRY(series.finish());
  return log;
}

// ---- Chopper's columns ----

// Columns cpu, ts (monotonic ns), percent. Rows of one time are consecutive.
Result<TelemetryLog> read_chopper_cpu(const CsvTable& table, TelemetryLog log) {
  log.format = "chopper_cpu";
  const int cpu_column = table.column("cpu");
  const int time_column = table.column("ts");
  const int percent_column = table.column("percent");
  std::map<int64_t, std::map<int, float>> moments;
  std::map<int, size_t> cpus;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    int64_t cpu = 0;
    int64_t t = 0;
    double percent = 0;
    const bool fine = parse_int64(cell(table, row, cpu_column), cpu) && cpu >= 0 && cpu < 1 << 20 &&
                      parse_int64(cell(table, row, time_column), t) &&
                      parse_double(cell(table, row, percent_column), percent) && percent >= 0 &&
                      percent <= 100;
    if (!fine) return csv_error_at(log.path, table.line[row], "is not cpu, ts, percent");
    moments[t][static_cast<int>(cpu)] = static_cast<float>(percent);
    cpus.emplace(static_cast<int>(cpu), 0);
  }
  log.rows = table.rows.size();
  for (auto& [cpu, place] : cpus) {
    place = log.cpu.cpus.size();
    log.cpu.cpus.push_back(cpu);
  }
  // psutil's first percentage is 0 or since its import, so its interval is unknown.
  std::optional<int64_t> before;
  for (const auto& [t, values] : moments) {
    if (before) {
      log.cpu.from_ns.push_back(*before);
      log.cpu.t_ns.push_back(t);
      const size_t first = log.cpu.percent.size();
      log.cpu.percent.resize(first + cpus.size(), std::numeric_limits<float>::quiet_NaN());
      for (const auto& [cpu, percent] : values) log.cpu.percent[first + cpus[cpu]] = percent;
    }
    before = t;
  }
  return log;
}

Result<TelemetryLog> read_chopper_gpu(const CsvTable& table, TelemetryLog log) {
  log.format = "chopper_gpu";
  const int device = table.column("gpu");
  const int time = table.column("ts");
  const std::vector<QuantityColumn> columns = quantity_columns(table);
  SignalSeries series(log);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    int64_t t = 0;
    if (!parse_int64(cell(table, row, time), t)) {
      return csv_error_at(log.path, table.line[row],
                          "'" + cell(table, row, time) + "' is not a time");
    }
    ASSAY_TRY(series.add_row(table, row, columns, cell(table, row, device), t));
  }
  log.rows = table.rows.size();
  ASSAY_TRY(series.finish());
  return log;
}

// ---- nvidia-smi --format=csv ----

int smi_device_column(const CsvTable& table) {
  for (const char* name : {"index", "gpu", "uuid", "pci.bus_id", "gpu_bus_id", "name"}) {
    if (const int column = table.column(name); column >= 0) return column;
  }
  return -1;
}

Result<TelemetryLog> read_smi(const CsvTable& table, TelemetryLog log) {
  log.format = "nvidia_smi";
  const std::vector<QuantityColumn> columns = quantity_columns(table);
  if (columns.empty()) {
    return Error{ErrorCode::kFormat,
                 "has no column that is known (power.draw, clocks.sm, clocks.mem, "
                 "utilization.gpu, temperature.gpu, ...)",
                 log.path, -1};
  }
  const int time = column_starting(table, "timestamp");
  const int device = smi_device_column(table);
  std::vector<int64_t> times;
  int64_t day = 0;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& text = cell(table, row, time);
    const auto stamp = log_stamp(text);
    if (!stamp) return csv_error_at(log.path, table.line[row], "'" + text + "' is not a time");
    log.clock = stamp->clock;
    int64_t t = stamp->t_ns;
    if (stamp->clock == LogClock::kTimeOfDay && !times.empty()) {
      if (t + day < times.back() - kLogDay / 2) day += kLogDay;  // after midnight
      t += day;
    }
    times.push_back(t);
  }
  GpuRows gpus;
  if (device < 0) {
    ASSAY_TRY_ASSIGN(gpus, place_gpu_rows(table, times, log.path));
  }
  log.rows_unplaced = gpus.unplaced;
  log.taken_for_one = device < 0 && gpus.gpus == 1;
  SignalSeries series(log);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (device < 0 && gpus.of_row[row] == GpuRows::kUnplaced) continue;
    const std::string name = device >= 0 ? cell(table, row, device) : gpus.name(row);
    ASSAY_TRY(series.add_row(table, row, columns, name, times[row]));
  }
  log.rows = table.rows.size();
  ASSAY_TRY(series.finish());
  return log;
}

// ---- power alone: AMDuProf, recordings ----

Result<TelemetryLog> read_power(bool truncated_allowed, TelemetryLog log) {
  ASSAY_TRY_ASSIGN(PowerLog power,
                   read_power_log(log.path, {.allow_truncated = truncated_allowed}));
  const bool cpu = power.format == "amd_uprof";
  log.format = cpu ? "amd_uprof" : "power_log";
  log.clock = power.clock;
  log.rows = power.rows;
  log.rows_cut = power.rows_cut;
  log.rows_out_of_order = power.rows_out_of_order;
  log.rows_unplaced = power.rows_unplaced;
  log.taken_for_one = power.taken_for_one;
  log.cells_without_value = power.rows_without_power;
  for (const PowerSeries& one : power.series) {
    TelemetrySeries series{
        one.device, cpu ? TelemetryQuantity::kCpuPower : TelemetryQuantity::kPower, {}, {}};
    for (const PowerReading& reading : one.readings) {
      series.t_ns.push_back(reading.t_ns);
      series.value.push_back(reading.power_w);
    }
    log.series.push_back(std::move(series));
  }
  return log;
}

// ---- what other programs wrote ----

Result<TelemetryLog> read_foreign(const ForeignLog& is, const std::string& text, TelemetryLog log) {
  ASSAY_TRY_ASSIGN(LogSamples samples, is.read(text, log.path, ""));
  ASSAY_TRY(settle_log_times(samples, {.by_options = false}, log.path));
  log.format = is.key;
  log.clock = samples.clock;
  log.rows = samples.rows;
  log.rows_cut = samples.rows_cut;
  log.cells_without_value = samples.rows_without_power;
  SignalSeries series(log);
  for (const LogSample& one : samples.samples) {
    const bool reading = one.kind == SampleKind::kMoment || one.kind == SampleKind::kMean;
    if (!reading) continue;
    if (!can_be(one.quantity, one.value)) {
      return Error{ErrorCode::kFormat,
                   rounded_text(one.value) +
                       " is beyond what its quantity can be; is its unit "
                       "another one?",
                   log.path, -1};
    }
    series.add(samples.devices[one.device], one.quantity, one.t_ns, one.value);
  }
  ASSAY_TRY(series.finish());
  return log;
}

// Lists the devices of the series, if the header did not.
void list_devices(TelemetryLog& log) {
  if (!log.devices.empty()) return;
  for (const TelemetrySeries& series : log.series) {
    if (series.quantity == TelemetryQuantity::kCpuPower) continue;
    const bool known =
        std::any_of(log.devices.begin(), log.devices.end(),
                    [&](const TelemetryDevice& one) { return one.device == series.device; });
    if (known) continue;
    TelemetryDevice device;
    device.device = series.device;
    if (!parse_int64(series.device, device.index)) device.index = -1;
    log.devices.push_back(std::move(device));
  }
}

// Kind of a file that is not a table, by its first bytes; empty if it may be one.
std::string_view kind_of_other_file(std::string_view text) {
  if (begins_json(text)) return "JSON, as traces are";
  if (text.starts_with("SQLite format 3")) return "an SQLite database, as exported traces are";
  if (text.find('\0') != std::string_view::npos) return "a binary file, as recordings of Assay are";
  return "";
}

Result<TelemetryLog> read_text(const std::string& text, bool truncated_allowed, TelemetryLog log) {
  const ForeignLog* foreign = foreign_log_of(text);
  if (foreign != nullptr) return read_foreign(*foreign, text, std::move(log));
  if (const std::string_view kind = kind_of_other_file(text); !kind.empty()) {
    return Error{
        ErrorCode::kFormat,
        "is " + std::string(kind) +
            ", not a log of samples: give the trace as an input, and to --telemetry the log that "
            "assay sample, nvidia-smi, AMDuProf or Chopper wrote",
        log.path, -1};
  }
  if (text.rfind("AMDPROFILER POWER PROFILE", 0) == 0) return read_power(truncated_allowed, log);
  ASSAY_TRY_ASSIGN(CsvTable table, parse_csv_table(without_comments(text), log.path));
  if (table.unfinished && !table.cut && !table.rows.empty()) {
    table.rows.pop_back();
    table.line.pop_back();
    table.cut = true;
  }
  log.rows_cut = table.cut ? 1 : 0;
  const auto has = [&table](const char* name) { return table.column(name) >= 0; };
  if (has("t_ns") && has("monotonic_ns") && has("cpu_util_percent")) {
    return read_samples(text, table, std::move(log));
  }
  if (has("cpu") && has("ts") && has("percent")) return read_chopper_cpu(table, std::move(log));
  if (has("gpu") && has("ts") && !quantity_columns(table).empty()) {
    return read_chopper_gpu(table, std::move(log));
  }
  if (column_starting(table, "timestamp") >= 0) return read_smi(table, std::move(log));
  if (has("t_ns")) return read_power(truncated_allowed, std::move(log));
  return Error{ErrorCode::kFormat,
               "is not a known telemetry log: neither assay sample, nor nvidia-smi --format=csv "
               "with a timestamp, nor Chopper's cpu,ts,percent, nor an AMDuProf timechart",
               log.path, -1};
}

}  // namespace

Result<TelemetryLog> read_telemetry(const std::string& path, bool allow_truncated) {
  bool truncated = false;
  ASSAY_TRY_ASSIGN(const std::string text, read_log_file(path, allow_truncated, truncated));
  TelemetryLog log;
  log.path = path;
  auto read = read_text(text, allow_truncated, std::move(log));
  if (!read) return explained(read.take_error(), path, FileFamily::kSamples);
  log = *std::move(read);
  if (log.series.empty() && log.cpu.t_ns.empty()) {
    return Error{ErrorCode::kFormat, "no row has both a time and a value", path, -1};
  }
  log.truncated = truncated;
  list_devices(log);
  return log;
}

}  // namespace assay
