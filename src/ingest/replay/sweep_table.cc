#include "ingest/replay/sweep_table.h"

#include "base/decimal.h"
#include "ingest/formats.h"
#include "ingest/text/csv_records.h"

namespace assay {
namespace {

using Record = std::vector<std::string>;

// Column of a quantity, and the factor to base units; column -1 = not in the table.
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

Error line_error(int64_t line, std::string message) {
  return Error{ErrorCode::kFormat, "line " + std::to_string(line) + ": " + message, "", -1};
}

// The number of a cell; nullopt if the cell is empty or the column is missing.
Result<std::optional<double>> cell(const Record& record, ColumnAt at, int64_t line) {
  if (at.column < 0 || static_cast<size_t>(at.column) >= record.size())
    return std::optional<double>();
  const std::string text = lower_trimmed(record[static_cast<size_t>(at.column)]);
  if (text.empty()) return std::optional<double>();
  double value = 0;
  if (!parse_double(text, value)) return line_error(line, "'" + text + "' is not a number");
  return std::optional<double>(value * at.factor);
}

Result<double> needed(const Record& record, ColumnAt at, int64_t line, const char* name) {
  ASSAY_TRY_ASSIGN(const std::optional<double> value, cell(record, at, line));
  if (!value) return line_error(line, std::string("no value for ") + name);
  return *value;
}

Result<std::vector<SweepRow>> read_rows(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::vector<CsvRecord> records, read_csv_records(path));
  if (records.empty()) return Error{ErrorCode::kFormat, "the table is empty", "", -1};
  const Record& header = records.front().cells;
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
    const Record& record = records[i].cells;
    const int64_t line = records[i].line;
    const bool blank = record.size() == 1 && lower_trimmed(record[0]).empty();
    if (record.empty() || blank) continue;
    SweepRow row;
    ASSAY_TRY_ASSIGN(row.batch, needed(record, batch, line, "batch"));
    ASSAY_TRY_ASSIGN(row.tklqt_ns, needed(record, tklqt, line, "tklqt"));
    ASSAY_TRY_ASSIGN(row.launches, needed(record, launches, line, "launches"));
    ASSAY_TRY_ASSIGN(row.latency_ns, cell(record, latency, line));
    ASSAY_TRY_ASSIGN(row.gpu_idle_share, cell(record, gpu_idle, line));
    ASSAY_TRY_ASSIGN(row.cpu_idle_share, cell(record, cpu_idle, line));
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
  return explained(rows.take_error(), path, FileFamily::kSweep);
}

}  // namespace assay
