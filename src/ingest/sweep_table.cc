#include "ingest/sweep_table.h"

#include <csv.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

#include "base/byte_source.h"
#include "base/decimal.h"

namespace assay {
namespace {

using Record = std::vector<std::string>;

struct CsvRecords {
  std::vector<Record> records;
  Record open;
};

void end_field(void* text, size_t size, void* to) {
  static_cast<CsvRecords*>(to)->open.emplace_back(static_cast<const char*>(text), size);
}

void end_record(int, void* to) {
  auto* records = static_cast<CsvRecords*>(to);
  records->records.push_back(std::move(records->open));
  records->open.clear();
}

struct CsvParser {
  CsvParser() { csv_init(&parser, CSV_STRICT); }
  ~CsvParser() { csv_free(&parser); }
  csv_parser parser;
};

Result<std::vector<Record>> read_records(const std::string& path) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  const ReadFn read = source.stream(false);
  CsvParser csv;
  CsvRecords records;
  std::array<char, 16384> block;
  int64_t offset = 0;
  for (;;) {
    ASSAY_TRY_ASSIGN(const size_t got, read(block.data(), block.size()));
    if (got == 0) break;
    const size_t parsed =
        csv_parse(&csv.parser, block.data(), got, end_field, end_record, &records);
    if (parsed != got) {
      return Error{ErrorCode::kFormat, csv_strerror(csv_error(&csv.parser)), "",
                   offset + static_cast<int64_t>(parsed)};
    }
    offset += static_cast<int64_t>(got);
  }
  csv_fini(&csv.parser, end_field, end_record, &records);
  return std::move(records.records);
}

std::string lower_trimmed(std::string text) {
  const auto space = [](unsigned char c) { return std::isspace(c) != 0; };
  while (!text.empty() && space(static_cast<unsigned char>(text.back()))) text.pop_back();
  while (!text.empty() && space(static_cast<unsigned char>(text.front()))) text.erase(0, 1);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Where a quantity stands and what one unit of it is in base units; column -1 = not in the table.
struct ColumnAt {
  int column = -1;
  double factor = 1;
};

ColumnAt find_plain(const Record& header, const std::string& name) {
  for (size_t i = 0; i < header.size(); ++i) {
    if (lower_trimmed(header[i]) == name) return {static_cast<int>(i), 1};
  }
  return {};
}

ColumnAt find_time(const Record& header, const std::string& name) {
  struct Suffix {
    const char* text;
    double factor;
  };
  for (const Suffix suffix : {Suffix{"", 1}, Suffix{"_ns", 1}, Suffix{"_us", 1e3},
                              Suffix{"_ms", 1e6}, Suffix{"_s", 1e9}}) {
    const ColumnAt found = find_plain(header, name + suffix.text);
    if (found.column >= 0) return {found.column, suffix.factor};
  }
  return {};
}

Error line_error(size_t line, std::string message) {
  return Error{ErrorCode::kFormat, "line " + std::to_string(line) + ": " + message, "", -1};
}

// The number of a cell; nullopt for an empty cell or a column that is not there.
Result<std::optional<double>> cell(const Record& record, ColumnAt at, size_t line) {
  if (at.column < 0 || static_cast<size_t>(at.column) >= record.size())
    return std::optional<double>();
  const std::string text = lower_trimmed(record[static_cast<size_t>(at.column)]);
  if (text.empty()) return std::optional<double>();
  double value = 0;
  if (!parse_double(text, value)) return line_error(line, "'" + text + "' is not a number");
  return std::optional<double>(value * at.factor);
}

Result<double> needed(const Record& record, ColumnAt at, size_t line, const char* name) {
  ASSAY_TRY_ASSIGN(const std::optional<double> value, cell(record, at, line));
  if (!value) return line_error(line, std::string("no value for ") + name);
  return *value;
}

Result<std::vector<SweepRow>> read_rows(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::vector<Record> records, read_records(path));
  if (records.empty()) return Error{ErrorCode::kFormat, "the table is empty", "", -1};
  const Record& header = records.front();
  const ColumnAt batch = find_plain(header, "batch");
  const ColumnAt tklqt = find_time(header, "tklqt");
  const ColumnAt launches = find_plain(header, "launches");
  if (batch.column < 0 || tklqt.column < 0 || launches.column < 0) {
    return Error{
        ErrorCode::kFormat,
        "the header needs the columns batch, tklqt (with _ns, _us, _ms or _s) and launches", "",
        -1};
  }
  const ColumnAt latency = find_time(header, "latency");
  const ColumnAt gpu_idle = find_plain(header, "gpu_idle_share");
  const ColumnAt cpu_idle = find_plain(header, "cpu_idle_share");
  std::vector<SweepRow> rows;
  for (size_t i = 1; i < records.size(); ++i) {
    const Record& record = records[i];
    const bool blank = record.size() == 1 && lower_trimmed(record[0]).empty();
    if (record.empty() || blank) continue;
    SweepRow row;
    ASSAY_TRY_ASSIGN(row.batch, needed(record, batch, i + 1, "batch"));
    ASSAY_TRY_ASSIGN(row.tklqt_ns, needed(record, tklqt, i + 1, "tklqt"));
    ASSAY_TRY_ASSIGN(row.launches, needed(record, launches, i + 1, "launches"));
    ASSAY_TRY_ASSIGN(row.latency_ns, cell(record, latency, i + 1));
    ASSAY_TRY_ASSIGN(row.gpu_idle_share, cell(record, gpu_idle, i + 1));
    ASSAY_TRY_ASSIGN(row.cpu_idle_share, cell(record, cpu_idle, i + 1));
    for (const std::optional<double>& share : {row.gpu_idle_share, row.cpu_idle_share}) {
      if (share && (*share < 0 || *share > 1)) {
        return line_error(i + 1, "an idle share lies between 0 and 1");
      }
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

Result<std::vector<SweepRow>> read_sweep_table(const std::string& path) {
  auto rows = read_rows(path);
  if (rows) return rows;
  Error error = rows.take_error();
  error.file = path;
  return error;
}

}  // namespace assay
