#include "ingest/counters/files.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/files.h"
#include "ingest/counters/tables.h"
#include "ingest/formats.h"
#include "ingest/nsys/report.h"
#include "ingest/rocprof/run.h"
#include "ingest/sqlite_file.h"
#include "ingest/text/csv_records.h"
#include "ingest/text/csv_table.h"
#include "ingest/text/shape.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

constexpr int kDeepest = 4;
constexpr size_t kHeadOfTable = 4096;
constexpr std::string_view kNcuMagic = "NVR";

Error refused(const std::string& path, std::string message) {
  return Error{ErrorCode::kNotATrace, std::move(message), path, -1};
}

Result<std::string> head_of(const std::string& path) {
  auto head = read_head(path, kHeadOfTable);
  if (head) return head;
  Error error = head.take_error();
  error.file = path;
  return error;
}

// Drops the text before the header line: Nsight Compute prints its table after the program's
// output.
std::string_view from_header(std::string_view text) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const auto records = parse_csv_records(std::string(line), "");
    if (records && !records->empty()) {
      const std::vector<std::string>& header = records->front().cells;
      const bool known = counter_table_kind(header) != CounterTableKind::kNone ||
                         rocprof_table(header) != RocprofTable::kNone;
      if (known) return text.substr(begin);
    }
    begin = end + 1;
  }
  return {};
}

// True if a column is a counter of one of AMD's hardware blocks. rocprof-compute's tables also have
// the columns of a kernel trace; without a counter, they are such traces.
bool has_block_counters(const std::vector<std::string>& header) {
  return std::any_of(header.begin(), header.end(), [](const std::string& name) {
    for (const char* block :
         {"SQ_", "SQC_", "GRBM_", "SPI_", "CPC_", "CPF_", "TA_", "TD_", "TCP_", "TCC_"}) {
      if (name.starts_with(block)) return true;
    }
    return false;
  });
}

Status needs_counters(const CounterPass& pass, const std::string& path) {
  if (!pass.counters.empty()) return Ok{};
  return refused(path, "this is " + pass.format +
                           " without counters; collect some: rocprofv3 --pmc "
                           "SQ_VALU_MFMA_BUSY_CYCLES GRBM_GUI_ACTIVE -- COMMAND");
}

Result<CounterPass> read_csv_pass(const std::string& path, bool allow_truncated) {
  bool cut = false;
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path, &cut));
  const std::string_view table = from_header(text);
  if (table.empty()) {
    return refused(path,
                   "no table of counters that Assay knows; give counter_collection.csv, "
                   "*_results.json or *_results.db of rocprofv3, or the output of ncu --csv --page "
                   "raw");
  }
  ASSAY_TRY_ASSIGN(std::vector<CsvRecord> records, parse_csv_records(std::string(table), path));
  const RocprofTable kind = rocprof_table(records.front().cells);
  if (kind == RocprofTable::kCounters) {
    ASSAY_TRY_ASSIGN(RocprofRun run, read_rocprof_csv(path, allow_truncated));
    run.format = rocprof_table_words(kind);
    CounterPass pass = rocprof_pass(run, path);
    ASSAY_TRY(needs_counters(pass, path));
    return pass;
  }
  if (kind != RocprofTable::kNone &&
      counter_table_kind(records.front().cells) == CounterTableKind::kNone) {
    const FileFormat* is = format_of_file(path);
    if (is != nullptr && is->family == FileFamily::kForeign) {
      return not_a(FileFamily::kCounters, *is);
    }
    return refused(path, "this is " + std::string(rocprof_table_words(kind)) +
                             ", which has no counters; give the counter_collection.csv of the run");
  }
  const bool open_end = text.back() != '\n';
  const bool short_end = records.back().cells.size() < records.front().cells.size();
  cut |= open_end && short_end;
  if (cut && !allow_truncated) {
    return Error{ErrorCode::kTruncated,
                 "the table ends in the middle of a row; --allow-truncated reads what lies before",
                 path, -1};
  }
  if (cut && short_end) records.pop_back();
  ASSAY_TRY_ASSIGN(CounterPass pass,
                   read_counter_table(records, counter_table_kind(records.front().cells), path));
  pass.truncated = cut;
  return pass;
}

bool ends_with_any(std::string_view name, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char* ending) { return name.ends_with(ending); });
}

bool may_hold_counters(const std::string& name) {
  return ends_with_any(name, {".csv", ".csv.gz", ".csv.zst", ".json", ".json.gz", ".json.zst",
                              ".db", ".sqlite", ".ncu-rep"});
}

// True if the file is from a counter run; other files of a folder are ignored.
bool holds_counters(const std::string& path) {
  const auto head = head_of(path);
  if (!head) return false;
  if (std::string_view(*head).starts_with(kSqliteMagic)) {
    const auto file = SqliteFile::open(path);
    if (!file) return false;
    for (const std::string& table : file->table_names()) {
      if (table.starts_with("rocpd_pmc_event") && file->last_row(table) > 0) return true;
    }
    return false;
  }
  if (std::string_view(*head).starts_with(kNcuMagic)) return true;
  if (is_rocprof_json(*head)) {
    const auto run = read_rocprof_json(path);
    return run && !run->values.empty();
  }
  return !counter_format(*head).empty();
}

Status find_in_folder(const std::string& folder, std::vector<std::string>& files) {
  ASSAY_TRY(files_in(folder));  // fails if the folder cannot be listed
  std::vector<std::string> found = files_below(folder, kDeepest);
  std::erase_if(found, [](const std::string& path) { return !may_hold_counters(path); });
  const size_t before = files.size();
  for (std::string& path : found) {
    if (holds_counters(path)) files.push_back(std::move(path));
  }
  if (files.size() == before) {
    return refused(folder,
                   "no counters in this folder; it should have counter_collection.csv, "
                   "*_results.json or *_results.db of rocprofv3 --pmc, or the output of ncu --csv "
                   "--page raw");
  }
  return Ok{};
}

Result<CounterPass> read_pass(const std::string& path, bool allow_truncated) {
  ASSAY_TRY_ASSIGN(const std::string head, head_of(path));
  if (std::string_view(head).starts_with(kNcuMagic)) {
    ASSAY_TRY_ASSIGN(const ExportedReport table, export_counters(path));
    auto pass = read_csv_pass(table.path, allow_truncated);
    if (pass) {
      pass->source = path;
      return pass;
    }
    Error error = pass.take_error();
    error.file = path;
    return error;
  }
  const bool sqlite = std::string_view(head).starts_with(kSqliteMagic);
  if (sqlite && !is_rocpd(path)) {
    return refused(
        path,
        "an SQLite database that is not rocprofv3's rocpd (an RPD profile, or a trace of "
        "another tool), so that it has no counters per kernel");
  }
  if (sqlite || is_rocprof_json(head)) {
    auto run = sqlite ? read_rocpd(path) : read_rocprof_json(path);
    if (!run) {
      Error error = run.take_error();
      error.file = path;
      return error;
    }
    CounterPass pass = rocprof_pass(*run, path);
    ASSAY_TRY(needs_counters(pass, path));
    return pass;
  }
  if (begins_json(head)) {
    return refused(path,
                   "JSON that is not rocprofv3's results.json, so that it has no counters per "
                   "kernel");
  }
  return read_csv_pass(path, allow_truncated);
}

}  // namespace

std::string_view counter_format(std::string_view head) {
  const std::string_view table = from_header(head);
  if (table.empty()) return {};
  const auto records = parse_csv_records(std::string(table.substr(0, table.find('\n'))), "");
  if (!records || records->empty()) return {};
  const std::vector<std::string>& header = records->front().cells;
  const RocprofTable rocprof = rocprof_table(header);
  if (rocprof == RocprofTable::kCounters) return rocprof_table_words(rocprof);
  const CounterTableKind kind = counter_table_kind(header);
  const bool of_compute = kind == CounterTableKind::kRocprofCompute && has_block_counters(header);
  if (rocprof != RocprofTable::kNone && !of_compute) return {};
  return counter_table_words(kind);
}

Result<CounterPass> read_counter_pass(const std::string& path, bool allow_truncated) {
  auto pass = read_pass(path, allow_truncated);
  if (pass) return pass;
  return explained(pass.take_error(), path, FileFamily::kCounters);
}

Result<std::vector<CounterPass>> read_counter_passes(const std::vector<std::string>& arguments,
                                                     bool allow_truncated) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    if (is_folder(argument)) {
      ASSAY_TRY(find_in_folder(argument, files));
    } else {
      files.push_back(argument);
    }
  }
  std::vector<CounterPass> passes;
  for (const std::string& file : files) {
    ASSAY_TRY_ASSIGN(CounterPass pass, read_counter_pass(file, allow_truncated));
    passes.push_back(std::move(pass));
  }
  return passes;
}

}  // namespace assay
