// Logs in tables with a header, as amd-smi, Zeus, Grafana and polls of RAPL write them.

#include <cmath>
#include <map>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/numbers.h"
#include "ingest/power/logs/readers.h"
#include "ingest/text/csv_records.h"
#include "ingest/text/csv_table.h"

namespace assay {
namespace {

using enum TelemetryQuantity;

// Reads a table without the headers that polls in a loop repeat, and without an incomplete last
// line.
Result<CsvTable> whole_rows(const std::string& text, const std::string& path, LogSamples& log) {
  ASSAY_TRY_ASSIGN(CsvTable table, parse_csv_table(without_comments(text), path));
  if (table.unfinished && !table.cut && !table.rows.empty()) {
    table.rows.pop_back();
    table.line.pop_back();
    table.cut = true;
  }
  log.rows_cut = table.cut ? 1 : 0;
  size_t kept = 0;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (table.rows[row] == table.header) continue;
    table.line[kept] = table.line[row];
    if (kept != row) table.rows[kept] = std::move(table.rows[row]);
    ++kept;
  }
  table.rows.resize(kept);
  table.line.resize(kept);
  log.rows = kept;
  return table;
}

int first_column(const CsvTable& table, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const int column = table.column(name); column >= 0) return column;
  }
  return -1;
}

// The header of a column without its unit, in lower case.
std::string plain_name(const std::string& header) {
  return lower(trimmed(header.substr(0, header.find_first_of("[("))));
}

Error no_column(const std::string& wanted, const std::string& path) {
  return Error{ErrorCode::kInvalidArgument, "has no column " + wanted, path, -1};
}

Error no_power(const std::string& path) {
  return Error{ErrorCode::kFormat,
               "no column of it is known to be power or energy: name one with --column", path, -1};
}

// The number of a cell in watts. The cell's unit takes precedence over that of the header.
std::optional<double> watts_in(const std::string& text, const std::string& header_unit) {
  const auto number = log_number(text);
  if (!number) return std::nullopt;
  const std::string& unit = number->unit.empty() ? header_unit : number->unit;
  if (unit.empty()) return number->value;
  const auto factor = unit_in_watts(unit);
  return factor ? std::optional(number->value * *factor) : std::nullopt;
}

std::optional<double> joules_in(const std::string& text, const std::string& header_unit) {
  const auto number = log_number(text);
  if (!number) return std::nullopt;
  const std::string& unit = number->unit.empty() ? header_unit : number->unit;
  const auto factor = unit_in_joules(unit);
  return factor ? std::optional(number->value * *factor) : std::nullopt;
}

// Time of a row from the time column, or the number of its round.
struct RowTimes {
  int column = -1;
  RoundCount rounds;
  Status take(const CsvTable& table, size_t row, const std::string& path, uint32_t device,
              LogSamples& log, int64_t& t_ns) {
    log.times = column >= 0 ? LogTimes::kStamps : LogTimes::kRounds;
    t_ns = rounds.next(device);
    if (column < 0) return Ok{};
    return take_stamp(cell(table, row, column), path, table.line[row], log, t_ns);
  }
};

// ---- amd-smi monitor --csv, rocm-smi --csv ----

struct NamedColumn {
  int column = -1;
  LogField field;
  std::string unit;
};

constexpr LogField kAmdFields[] = {
    {"power_usage", kPower},
    {"average_socket_power", kPower},
    {"current_socket_power", kPower},
    {"socket_power", kPower},
    {"average graphics package power", kPower},
    {"current socket graphics package power", kPower},
    {"hotspot_temperature", kTemperature},
    {"hotspot", kTemperature},
    {"temperature", kTemperature},
    {"gfx_clk", kSmClock},
    {"gfx_clock", kSmClock},
    {"mem_clock", kMemoryClock},
    {"mem_0_clk", kMemoryClock},
    {"gfx", kGpuUtil},
    {"gfx_activity", kGpuUtil},
    {"gpu use", kGpuUtil},
    {"umc_activity", kMemoryUtil},
    {"vram_used", kMemoryUsed, SampleKind::kMoment, kMebibyte},
    {"used_vram", kMemoryUsed, SampleKind::kMoment, kMebibyte},
};

// Memory utilisation in `amd-smi monitor`. In `amd-smi metric`, this column is the memory
// temperature, next to "hotspot".
constexpr LogField kMonitoredMemory = {"mem", kMemoryUtil};

const LogField* amd_field(const CsvTable& table, const std::string& name) {
  if (name == kMonitoredMemory.name && table.column("hotspot") < 0) return &kMonitoredMemory;
  return field_named(kAmdFields, name);
}

// True for "gfx_0_clk" to "gfx_7_clk", one per compute die.
bool is_die_clock(std::string_view name) {
  constexpr std::string_view kBefore = "gfx_";
  constexpr std::string_view kBehind = "_clk";
  if (name.size() <= kBefore.size() + kBehind.size()) return false;
  if (!name.starts_with(kBefore) || !name.ends_with(kBehind)) return false;
  name.remove_prefix(kBefore.size());
  name.remove_suffix(kBehind.size());
  return std::all_of(name.begin(), name.end(), is_digit);
}

// The clock of a GPU with several dies: the mean of the known ones.
std::optional<double> die_clock(const CsvTable& table, size_t row, const std::vector<int>& dies) {
  std::vector<double> clocks;
  for (const int column : dies) {
    if (const auto number = log_number(cell(table, row, column))) clocks.push_back(number->value);
  }
  return mean_of_told(clocks);
}

// Reads tables with a card per row and a quantity per column. Partitions of one socket repeat its
// power: the first counts.
Result<LogSamples> read_cards(const std::string& text, const std::string& path,
                              const std::string& wanted,
                              std::initializer_list<const char*> device_names) {
  LogSamples log;
  ASSAY_TRY_ASSIGN(const CsvTable table, whole_rows(text, path, log));
  const int device_column = first_column(table, device_names);
  const int partition = table.column("xcp");
  std::vector<NamedColumn> columns;
  std::vector<int> dies;
  bool has_power = false;
  for (size_t i = 0; i < table.header.size(); ++i) {
    const std::string& header = table.header[i];
    const LogField* field = amd_field(table, plain_name(header));
    if (is_die_clock(plain_name(header))) dies.push_back(static_cast<int>(i));
    const bool named = !wanted.empty() && lower(trimmed(wanted)) == lower(trimmed(header));
    if (field == nullptr && !named) continue;
    LogField taken = field == nullptr ? LogField{"", kPower} : *field;
    if (taken.quantity == kPower && (has_power || (!wanted.empty() && !named))) continue;
    has_power = has_power || taken.quantity == kPower;
    if (taken.quantity == kPower) log.column = header;
    columns.push_back({static_cast<int>(i), taken, unit_in_name(header)});
  }
  if (!has_power) return wanted.empty() ? no_power(path) : no_column(wanted, path);
  RowTimes times{first_column(table, {"timestamp", "time"}), {}};
  for (size_t row = 0; row < table.rows.size(); ++row) {
    int64_t part = 0;
    if (partition >= 0 && parse_int64(cell(table, row, partition), part) && part > 0) continue;
    const uint32_t device = log.device(cell(table, row, device_column));
    int64_t t = 0;
    ASSAY_TRY(times.take(table, row, path, device, log, t));
    for (const NamedColumn& one : columns) {
      const std::string& words = cell(table, row, one.column);
      const auto number = log_number(words);
      const auto value = one.field.quantity == kPower ? watts_in(words, one.unit)
                         : number ? std::optional(number->value * one.field.factor)
                                  : std::nullopt;
      if (!value) {
        log.rows_without_power += one.field.quantity == kPower ? 1 : 0;
        continue;
      }
      log.samples.push_back({device, one.field.quantity, SampleKind::kMoment, t, 0, *value});
    }
    const auto clock = die_clock(table, row, dies);
    if (clock) log.samples.push_back({device, kSmClock, SampleKind::kMoment, t, 0, *clock});
  }
  return log;
}

}  // namespace

Result<LogSamples> read_amd_smi_csv(const std::string& text, const std::string& path,
                                    const std::string& wanted) {
  return read_cards(text, path, wanted, {"gpu"});
}

Result<LogSamples> read_rocm_smi_csv(const std::string& text, const std::string& path,
                                     const std::string& wanted) {
  return read_cards(text, path, wanted, {"device", "gpu"});
}

// Columns start_time, window_name, elapsed_time and gpu0_energy. The joules are of windows, which
// may be nested.
Result<LogSamples> read_zeus(const std::string& text, const std::string& path, const std::string&) {
  LogSamples log;
  ASSAY_TRY_ASSIGN(const CsvTable table, whole_rows(text, path, log));
  log.column = "gpuN_energy";
  const int start = table.column("start_time");
  const int elapsed = table.column("elapsed_time");
  for (size_t row = 0; row < table.rows.size(); ++row) {
    int64_t t = 0;
    ASSAY_TRY(take_stamp(cell(table, row, start), path, table.line[row], log, t));
    double seconds = 0;
    if (!parse_double(cell(table, row, elapsed), seconds) || !(seconds * 1e9 >= 1) ||
        seconds > 1e8) {
      return csv_error_at(path, table.line[row],
                          "'" + cell(table, row, elapsed) + "' is not an elapsed time");
    }
    bool any = false;
    for (size_t i = 0; i < table.header.size(); ++i) {
      const std::string name = lower(table.header[i]);
      if (!name.starts_with("gpu") || !name.ends_with("_energy")) continue;
      const auto joules = log_number(cell(table, row, static_cast<int>(i)));
      if (!joules) continue;
      any = true;
      const uint32_t device = log.device(name.substr(3, name.size() - 3 - 7));
      log.samples.push_back(
          {device, kPower, SampleKind::kWindow, t, std::llround(seconds * 1e9), joules->value});
    }
    log.rows_without_power += any ? 0 : 1;
  }
  return log;
}

// gpu_energy is the kilowatt-hours of all GPUs together since the start of its run_id.
Result<LogSamples> read_codecarbon(const std::string& text, const std::string& path,
                                   const std::string& wanted) {
  LogSamples log;
  ASSAY_TRY_ASSIGN(const CsvTable table, whole_rows(text, path, log));
  log.column = wanted.empty() ? "gpu_energy" : wanted;
  log.scope = log.column == "gpu_energy" ? "all GPUs together" : "what codecarbon counts there";
  const int energy = table.column(log.column);
  if (energy < 0) return no_column(log.column, path);
  const std::string name = lower(log.column);
  if (!name.ends_with("_energy") && name != "energy_consumed") {
    return Error{
        ErrorCode::kInvalidArgument,
        "--column " + log.column +
            ": of a codecarbon log, energies can be read "
            "(gpu_energy, cpu_energy, ram_energy, energy_consumed); its powers are means over "
            "the whole run",
        path, -1};
  }
  const int time = table.column("timestamp");
  const int run = table.column("run_id");
  const int duration = table.column("duration");
  for (size_t row = 0; row < table.rows.size(); ++row) {
    int64_t t = 0;
    ASSAY_TRY(take_stamp(cell(table, row, time), path, table.line[row], log, t));
    const auto kilowatt_hours = log_number(cell(table, row, energy));
    if (!kilowatt_hours) {
      ++log.rows_without_power;
      continue;
    }
    const size_t before = log.devices.size();
    const uint32_t device = log.device(cell(table, row, run));
    double seconds = 0;
    const bool first = log.devices.size() > before;
    if (first && parse_double(cell(table, row, duration), seconds) && seconds > 0 &&
        seconds < 1e9) {
      log.samples.push_back(
          {device, kPower, SampleKind::kCounter, t - std::llround(seconds * 1e9), 0, 0});
    }
    log.samples.push_back(
        {device, kPower, SampleKind::kCounter, t, 0, kilowatt_hours->value * 3.6e6});
  }
  return log;
}

namespace {

// The driver's number of a column's GPU: "3" for "train/cuda:0 (gpu:3)/power_usage (W)/mean".
std::string nvitop_device(std::string_view name) {
  const size_t gpu = name.find("gpu:");
  if (gpu == std::string_view::npos) return {};
  const size_t begin = gpu + 4;
  size_t end = begin;
  while (end < name.size() && is_digit(name[end])) ++end;
  return std::string(name.substr(begin, end - begin));
}

int column_ending(const CsvTable& table, std::string_view end) {
  for (size_t i = 0; i < table.header.size(); ++i) {
    if (lower(table.header[i]).ends_with(end)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

Result<LogSamples> read_nvitop(const std::string& text, const std::string& path,
                               const std::string&) {
  constexpr std::string_view kPowerEnd = "/power_usage (w)/mean";
  LogSamples log;
  ASSAY_TRY_ASSIGN(const CsvTable table, whole_rows(text, path, log));
  log.column = "power_usage (W)/mean";
  const int stamp = column_ending(table, "timestamp");
  const int duration = column_ending(table, "duration (s)");
  if (stamp < 0 && duration < 0) {
    return Error{ErrorCode::kFormat, "has neither a timestamp nor a duration (s)", path, -1};
  }
  log.times = stamp >= 0 ? LogTimes::kStamps : LogTimes::kSinceStart;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    int64_t t = 0;
    if (stamp >= 0) {
      ASSAY_TRY(take_stamp(cell(table, row, stamp), path, table.line[row], log, t));
    } else {
      DecimalShape shape;
      if (parse_decimal(cell(table, row, duration), 9, t, shape) != DecimalStatus::kOk) {
        return csv_error_at(path, table.line[row],
                            "'" + cell(table, row, duration) + "' is not a number of seconds");
      }
    }
    bool any = false;
    for (size_t i = 0; i < table.header.size(); ++i) {
      if (!lower(table.header[i]).ends_with(kPowerEnd)) continue;
      const auto watts = log_number(cell(table, row, static_cast<int>(i)));
      if (!watts) continue;
      any = true;
      log.samples.push_back({log.device(nvitop_device(table.header[i])), kPower, SampleKind::kMean,
                             t, 0, watts->value});
    }
    log.rows_without_power += any ? 0 : 1;
  }
  return log;
}

namespace {

// True if cells of a column have a unit of power.
bool cells_are_power(const CsvTable& table, size_t column) {
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const auto number = log_number(cell(table, row, static_cast<int>(column)));
    if (number && !number->unit.empty()) return unit_in_watts(number->unit).has_value();
  }
  return false;
}

}  // namespace

// Columns: "Time", and one per series. The plotted values are resampled, so their steps are not
// sensor updates.
Result<LogSamples> read_grafana(const std::string& text, const std::string& path,
                                const std::string& wanted) {
  LogSamples log;
  ASSAY_TRY_ASSIGN(const CsvTable table, whole_rows(text, path, log));
  std::vector<size_t> columns;
  for (size_t i = 1; i < table.header.size(); ++i) {
    const bool named = lower(table.header[i]) == lower(wanted);
    const bool fits = says_drawn_power(table.header[i]) || cells_are_power(table, i);
    if (wanted.empty() ? fits : named) columns.push_back(i);
  }
  // A panel that shows one metric may have one unnamed series.
  if (columns.empty() && wanted.empty() && table.header.size() == 2) columns.push_back(1);
  if (columns.empty()) return wanted.empty() ? no_power(path) : no_column(wanted, path);
  log.column = columns.size() == 1 ? table.header[columns.front()] : "every series of power";
  bool unit_told = false;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    int64_t t = 0;
    ASSAY_TRY(take_stamp(cell(table, row, 0), path, table.line[row], log, t));
    bool any = false;
    for (const size_t column : columns) {
      const std::string& words = cell(table, row, static_cast<int>(column));
      const std::string unit = unit_in_name(table.header[column]);
      const auto watts = watts_in(words, unit_in_watts(unit) ? unit : "");
      if (!watts) continue;
      any = true;
      unit_told = unit_told || unit_in_watts(unit) || !log_number(words)->unit.empty();
      log.samples.push_back(
          {log.device(table.header[column]), kPower, SampleKind::kMoment, t, 0, *watts});
    }
    log.rows_without_power += any ? 0 : 1;
  }
  if (!unit_told) ASSAY_TRY(assume_watts(log, path));
  return log;
}

// The column with the range of a counter: that of the same domain, else the only one; -1 if there
// is none.
int range_column(const CsvTable& table, size_t counter) {
  const std::string name = lower(table.header[counter]);
  const size_t at = name.find("energy_uj");
  const std::string domain = at == std::string::npos ? std::string() : name.substr(0, at);
  const int own = table.column(domain + "max_energy_range_uj");
  return own >= 0 ? own : first_column(table, {"max_energy_range_uj"});
}

// Makes a counter that wraps at the end of its range continuous.
struct LaidOut {
  double last_j = 0;
  double wrapped_j = 0;
  // A decrease by less than half of the range is no wrap and stays a decrease.
  double take(double joules, double range_j) {
    if (last_j - joules > range_j / 2 && range_j > 0) wrapped_j += range_j;
    last_j = joules;
    return joules + wrapped_j;
  }
};

// Polls of energy_uj: one column per domain, or one column next to one with the domain's name.
Result<LogSamples> read_rapl(const std::string& text, const std::string& path,
                             const std::string& wanted) {
  LogSamples log;
  ASSAY_TRY_ASSIGN(const CsvTable table, whole_rows(text, path, log));
  log.scope = "the processors' packages";
  const int domain = first_column(table, {"domain", "name", "zone", "device", "path"});
  const int time = first_column(table, {"timestamp", "time", "t", "epoch", "date"});
  std::vector<size_t> columns;
  for (size_t i = 0; i < table.header.size(); ++i) {
    const std::string name = lower(table.header[i]);
    const bool counts = contains(name, "energy_uj") || name.starts_with("intel-rapl");
    const bool limit = contains(name, "max");
    if (wanted.empty() ? counts && !limit : name == lower(wanted)) columns.push_back(i);
  }
  if (columns.empty()) return wanted.empty() ? no_power(path) : no_column(wanted, path);
  log.column = columns.size() == 1 ? table.header[columns.front()] : "energy_uj of every domain";
  RowTimes times{time, {}};
  std::map<uint32_t, LaidOut> laid_out;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    bool any = false;
    for (const size_t column : columns) {
      const auto joules = joules_in(cell(table, row, static_cast<int>(column)), "uj");
      const std::string name = columns.size() > 1 ? table.header[column] : cell(table, row, domain);
      const uint32_t device = log.device(name);
      int64_t t = 0;
      ASSAY_TRY(times.take(table, row, path, device, log, t));
      if (!joules) continue;
      any = true;
      const auto range = joules_in(cell(table, row, range_column(table, column)), "uj");
      log.samples.push_back({device, kCpuPower, SampleKind::kCounter, t, 0,
                             laid_out[device].take(*joules, range.value_or(0))});
    }
    log.rows_without_power += any ? 0 : 1;
  }
  return log;
}

}  // namespace assay
