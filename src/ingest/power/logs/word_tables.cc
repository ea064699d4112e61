// nvidia-smi dmon, dcgmi dmon and turbostat: words below a header that every page repeats.

#include "base/ascii.h"
#include "base/decimal.h"
#include "ingest/power/logs/readers.h"
#include "ingest/text/csv_table.h"

namespace assay {
namespace {

using enum TelemetryQuantity;

constexpr LogField kSmiFields[] = {
    {"pwr", kPower},
    {"sm", kGpuUtil},
    {"mem", kMemoryUtil},
    {"gtemp", kTemperature},
    {"temp", kTemperature},
    {"mclk", kMemoryClock},
    {"pclk", kSmClock},
    {"gclk", kSmClock},
    {"fb", kMemoryUsed, SampleKind::kMoment, kMebibyte},
};

constexpr LogField kDcgmFields[] = {
    {"power", kPower},
    {"powinst", kPower},
    {"totec", kPower, SampleKind::kCounter, 1e-3},
    {"gputl", kGpuUtil},
    {"mcutl", kMemoryUtil},
    {"smclk", kSmClock},
    {"mmclk", kMemoryClock},
    {"tmptr", kTemperature},
    {"fbusd", kMemoryUsed, SampleKind::kMoment, kMebibyte},
};

std::vector<std::string> lowered(const std::vector<std::string_view>& words) {
  std::vector<std::string> result;
  for (const std::string_view word : words) result.push_back(lower(word));
  return result;
}

std::string joined_words(const std::vector<std::string_view>& words, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) text += (i > begin ? " " : "") + std::string(words[i]);
  return text;
}

// Adds the usual separators to the date of "20240403 11:08:14".
std::string with_date(const std::string& text) {
  const bool packed =
      text.size() > 9 && text[8] == ' ' &&
      std::all_of(text.begin(), text.begin() + 8, [](char c) { return is_digit(c); });
  return packed ? text.substr(0, 4) + "/" + text.substr(4, 2) + "/" + text.substr(6) : text;
}

// Rows below one header: the position of the device, and the columns that are quantities.
struct WordRows {
  template <size_t N>
  explicit WordRows(const LogField (&fields)[N]) : fields_begin(fields), fields_end(fields + N) {}
  const LogField* fields_begin;
  const LogField* fields_end;
  std::vector<std::string> header;  // of the values, without time and device
  RoundCount rounds;
  bool any_stamp = false;
  bool any_without = false;
};

Status add_values(WordRows& rows, const std::vector<std::string_view>& words, size_t first,
                  uint32_t device, const std::string& stamp, const std::string& path, size_t line,
                  LogSamples& log) {
  int64_t t = 0;
  if (!stamp.empty()) {
    ASSAY_TRY(take_stamp(with_date(stamp), path, line, log, t));
    rows.any_stamp = true;
  }
  rows.any_without = rows.any_without || stamp.empty();
  ++log.rows;
  if (stamp.empty()) t = rows.rounds.next(device);
  bool power = false;
  std::vector<TelemetryQuantity> taken;
  for (size_t i = 0; i < rows.header.size(); ++i) {
    const LogField* field = field_named(rows.fields_begin, rows.fields_end, rows.header[i]);
    if (field == nullptr) continue;
    const auto number = log_number(words[first + i]);
    const bool twice = field->kind == SampleKind::kMoment &&
                       std::find(taken.begin(), taken.end(), field->quantity) != taken.end();
    if (!number || twice) continue;
    if (field->kind == SampleKind::kMoment) taken.push_back(field->quantity);
    power = power || field->quantity == kPower;
    log.samples.push_back(
        {device, field->quantity, field->kind, t, 0, number->value * field->factor});
  }
  log.rows_without_power += power ? 0 : 1;
  return Ok{};
}

// Fails unless all rows or no rows have times.
Status settle_times(const WordRows& rows, const std::string& path, LogSamples& log) {
  if (rows.any_stamp && rows.any_without) {
    return Error{ErrorCode::kFormat, "some of its rows have a time and others have none", path, -1};
  }
  log.times = rows.any_stamp ? LogTimes::kStamps : LogTimes::kRounds;
  return Ok{};
}

}  // namespace

Result<LogSamples> read_smi_dmon(const std::string& text, const std::string& path,
                                 const std::string&) {
  LogSamples log;
  log.column = "pwr";
  WordRows rows(kSmiFields);
  size_t times = 0;  // number of words before the device
  size_t width = 0;
  Status status = Ok{};
  each_line(text, [&](std::string_view line, size_t number, bool whole) {
    if (!status || trimmed(line).empty()) return;
    const std::vector<std::string_view> words = words_of(line, ",");
    if (line.front() == '#') {
      const std::vector<std::string> names = lowered(words_of(line.substr(1), ","));
      const auto gpu = std::find(names.begin(), names.end(), "gpu");
      if (gpu == names.end()) return;  // the line of units
      times = static_cast<size_t>(gpu - names.begin());
      width = names.size();
      rows.header.assign(gpu + 1, names.end());
      return;
    }
    if (!whole && words.size() < width) {
      ++log.rows_cut;
      return;
    }
    int64_t gpu = 0;
    // More words than in the header: another program prepended a time.
    const size_t before = times + (words.size() > width ? words.size() - width : 0);
    if (width == 0 || words.size() < width || !parse_int64(words[before], gpu)) {
      ++log.rows;
      ++log.rows_without_power;
      return;
    }
    status = add_values(rows, words, before + 1, log.device(words[before]),
                        joined_words(words, 0, before), path, number, log);
  });
  ASSAY_TRY(status);
  ASSAY_TRY(settle_times(rows, path, log));
  return log;
}

// Rows "GPU 0  67.1  1234". A row "GPU-I 3" is a GPU instance and repeats the power of its board.
Result<LogSamples> read_dcgmi_dmon(const std::string& text, const std::string& path,
                                   const std::string&) {
  LogSamples log;
  log.column = "POWER";
  WordRows rows(kDcgmFields);
  Status status = Ok{};
  each_line(text, [&](std::string_view line, size_t number, bool whole) {
    if (!status || trimmed(line).empty()) return;
    const std::vector<std::string_view> words = words_of(line);
    const std::vector<std::string> names = lowered(words);
    const auto entity = std::find(names.begin(), names.end(), "#entity");
    if (entity != names.end()) {
      rows.header.assign(entity + 1, names.end());
      return;
    }
    const auto gpu = std::find(words.begin(), words.end(), "GPU");
    if (gpu == words.end()) return;  // the line of units, or another entity
    const auto before = static_cast<size_t>(gpu - words.begin());
    if (words.size() < before + 2 + rows.header.size()) {
      (whole ? log.rows_without_power : log.rows_cut) += 1;
      log.rows += whole ? 1 : 0;
      return;
    }
    status = add_values(rows, words, before + 2, log.device(words[before + 1]),
                        joined_words(words, 0, before), path, number, log);
  });
  ASSAY_TRY(status);
  ASSAY_TRY(settle_times(rows, path, log));
  return log;
}

namespace {

// Columns of one turbostat header.
struct TurbostatHeader {
  std::vector<std::string> names;
  bool tabs = false;
  size_t at(std::string_view name) const {
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }
  std::string_view of(const std::vector<std::string_view>& cells, std::string_view name) const {
    const size_t place = at(name);
    return place < cells.size() ? cells[place] : std::string_view();
  }
};

std::vector<std::string_view> cells_of(std::string_view line, bool tabs) {
  if (!tabs) return words_of(line);
  std::vector<std::string_view> cells;
  for (size_t at = 0; at <= line.size();) {
    const size_t end = std::min(line.find('\t', at), line.size());
    cells.push_back(trimmed(line.substr(at, end - at)));
    at = end + 1;
  }
  return cells;
}

}  // namespace

// The row of the whole machine has "-" as its processor; without such rows, packages are devices.
Result<LogSamples> read_turbostat(const std::string& text, const std::string& path,
                                  const std::string& wanted) {
  LogSamples log;
  log.column = wanted.empty() ? "PkgWatt" : wanted;
  log.scope = "the processors' packages";
  const std::string power = lower(log.column);
  TurbostatHeader header;
  RoundCount rounds;
  bool machine_rows = false;
  bool stamps = false;
  Status status = Ok{};
  each_line(text, [&](std::string_view line, size_t number, bool whole) {
    if (!status || trimmed(line).empty()) return;
    const std::vector<std::string> names = lowered(cells_of(line, contains(line, "\t")));
    if (std::find(names.begin(), names.end(), power) != names.end()) {
      header.names = names;
      header.tabs = contains(line, "\t");
      return;
    }
    if (header.names.empty()) return;
    const std::vector<std::string_view> cells = cells_of(line, header.tabs);
    const std::string_view processor = header.of(cells, "cpu");
    const bool machine = processor == "-" || header.at("cpu") == header.names.size();
    if (machine_rows && !machine) return;
    const auto watts = log_number(header.of(cells, power));
    if (!whole && cells.size() < header.names.size()) {
      ++log.rows_cut;
      return;
    }
    if (!machine && !watts) return;  // another processor of the same package
    ++log.rows;
    if (!watts) {
      ++log.rows_without_power;
      return;
    }
    if (machine && !machine_rows) log.samples.clear();
    machine_rows = machine;
    std::string_view package = header.of(cells, "package");
    if (package.empty()) package = header.of(cells, "pk");
    const uint32_t device = log.device(machine ? std::string_view() : package);
    int64_t t = rounds.next(device);
    const std::string_view stamp = header.of(cells, "time_of_day_seconds");
    stamps = !stamp.empty();
    if (stamps) status = take_stamp(stamp, path, number, log, t);
    log.samples.push_back({device, kCpuPower, SampleKind::kMean, t, 0, watts->value});
  });
  ASSAY_TRY(status);
  if (machine_rows) log.devices = {""};
  if (machine_rows) {
    for (LogSample& one : log.samples) one.device = 0;
  }
  log.times = stamps ? LogTimes::kStamps : LogTimes::kRounds;
  return log;
}

}  // namespace assay
