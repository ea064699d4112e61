#include "ingest/recognise.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/byte_source.h"
#include "base/files.h"
#include "ingest/assaytrace/reader.h"
#include "ingest/bench/table.h"
#include "ingest/columnar/file.h"
#include "ingest/counters/files.h"
#include "ingest/counters/tables.h"
#include "ingest/rocprof/run.h"
#include "ingest/sqlite_file.h"
#include "ingest/text/csv_records.h"
#include "ingest/text/whole_file.h"
#include "records/rank_record.h"

namespace assay {
namespace {

// Later zeros may be in the output of a program.
constexpr size_t kBinaryBytes = 64;
// Larger than the header of a sysinfo.csv, which has some forty columns.
constexpr size_t kSysinfoBytes = 4096;

bool plain_text(const FileHead& head) { return !head.binary && !head.json && !head.sqlite; }

std::vector<std::string> header_of(std::string_view text) {
  const size_t first = text.find_first_not_of("\r\n");
  if (first == std::string_view::npos) return {};
  const std::string line(text.substr(first, text.find('\n', first) - first));
  auto records = parse_csv_records(line, "", false, guess_delimiter(line));
  if (!records || records->empty()) return {};
  std::vector<std::string> cells;
  for (const std::string& cell : records->front().cells) cells.push_back(lower_trimmed(cell));
  return cells;
}

// Tables of a database file; empty if it cannot be read in place.
std::vector<std::string> tables_of(const std::string& path) {
  if (path == "-" || !is_regular_file(path)) return {};
  const auto source = ByteSource::open(path);
  if (!source || !source->seekable()) return {};
  const auto file = SqliteFile::open(path);
  return file ? file->table_names() : std::vector<std::string>();
}

bool has_keys(const FileHead& head, std::initializer_list<std::string_view> keys) {
  return std::all_of(keys.begin(), keys.end(),
                     [&](std::string_view key) { return head.keys.count(key) > 0; });
}

bool has_columns(const FileHead& head, std::initializer_list<std::string_view> names) {
  return plain_text(head) && std::all_of(names.begin(), names.end(), [&](std::string_view name) {
           return std::find(head.header.begin(), head.header.end(), name) != head.header.end();
         });
}

bool any_column_starts(const FileHead& head, std::string_view start) {
  return plain_text(head) &&
         std::any_of(head.header.begin(), head.header.end(),
                     [&](const std::string& name) { return name.starts_with(start); });
}

RocprofTable rocprof_table_of(const FileHead& head) {
  return plain_text(head) ? rocprof_table(head.header) : RocprofTable::kNone;
}

// True for a sysinfo.csv, in which rocprof-compute describes the machine next to the tables of its
// runs.
bool describes_counter_runs(const std::string& path) {
  const auto bytes = read_head(path, kSysinfoBytes);
  if (!bytes) return false;
  FileHead head;
  head.header = header_of(*bytes);
  return has_columns(head, {"workload_name", "ip_blocks"});
}

// True for a table of times in a folder of rocprof-compute runs. Kernel tables of rocprofv2 have
// the same columns; the name and the other files of the folder distinguish them. Tables of
// rocprofv3 have an agent_id.
bool lies_among_counter_runs(const FileHead& head, const std::string& path) {
  const bool may_be = rocprof_table_of(head) == RocprofTable::kKernels &&
                      has_columns(head, {"gpu_id"}) && path != "-";
  if (!may_be) return false;
  const std::string name = lower(file_name(path));
  for (const std::string packed : {"", ".gz", ".zst"}) {
    if (name == "timestamps.csv" + packed) return true;
    if (describes_counter_runs(joined(folder_of(path), "sysinfo.csv" + packed))) return true;
  }
  return false;
}

// True if the counter readers identify the table as this kind.
FormatMatch counters_called(const FileHead& head, CounterTableKind kind) {
  return marks_if(plain_text(head) && counter_format(head.bytes) == counter_table_words(kind));
}

// Matches Assay's files, which name their kind under the key "kind".
FormatMatch of_kind(const FileHead& head, std::string_view kind) {
  const std::string quoted = '"' + std::string(kind) + '"';
  return marks_if(has_keys(head, {"kind"}) && head.bytes.find(quoted) != std::string_view::npos);
}

// The first line that is neither blank nor a comment, without indentation. (A section in brackets
// looks like a JSON array by its first byte.)
std::string_view first_rule(const FileHead& head) {
  if (head.binary) return {};
  std::string_view text = head.bytes;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty() && line.front() != '#') return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [text](std::string_view start) { return text.starts_with(start); });
}

}  // namespace

FileHead file_head(std::string_view bytes, const std::string& path) {
  FileHead head;
  head.bytes = bytes;
  head.sqlite = bytes.starts_with(kSqliteMagic);
  head.binary = bytes.substr(0, kBinaryBytes).find('\0') != std::string_view::npos;
  head.json = !head.binary && begins_json(bytes);
  if (head.sqlite) head.tables = tables_of(path);
  if (head.json) head.keys = first_json_keys(bytes);
  if (!head.json && !head.binary) head.header = header_of(bytes);
  head.among_counter_runs = lies_among_counter_runs(head, path);
  return head;
}

bool has_table(const FileHead& head, std::string_view name) {
  return std::find(head.tables.begin(), head.tables.end(), name) != head.tables.end();
}

// ---- traces ----

// For JSON without the marks of other formats, only the reader can decide: "traceEvents" may follow
// after the head. An empty file counts as a trace, because that is the most frequent case.
FormatMatch match_chrome(const FileHead& head) {
  if (first_text_byte(head.bytes) == std::string_view::npos) return FormatMatch::kShape;
  if (!head.json) return FormatMatch::kNo;
  const bool array = head.bytes[first_text_byte(head.bytes)] == '[';
  const bool sure = has_keys(head, {"traceEvents"}) || has_keys(head, {"baseTimeNanoseconds"}) ||
                    has_keys(head, {"schemaVersion", "deviceProperties"}) ||
                    has_keys(head, {"schemaVersion", "computeProperties"}) ||
                    (array && has_keys(head, {"ph"}));
  return sure ? FormatMatch::kMarks : FormatMatch::kShape;
}

FormatMatch match_nsys(const FileHead& head) {
  if (!head.sqlite) return FormatMatch::kNo;
  const bool sure =
      has_table(head, "META_DATA_EXPORT") || has_table(head, "EXPORT_META_DATA") ||
      has_table(head, "NVTX_EVENTS") ||
      std::any_of(head.tables.begin(), head.tables.end(), [](const std::string& table) {
        return table.starts_with("CUPTI_ACTIVITY_KIND_");
      });
  const bool other = match_rpd(head) == FormatMatch::kMarks ||
                     match_nvprof(head) == FormatMatch::kMarks ||
                     match_rocpd(head) == FormatMatch::kMarks;
  return sure && !other ? FormatMatch::kMarks : FormatMatch::kShape;
}

FormatMatch match_rocprof_csv(const FileHead& head) {
  const RocprofTable table = rocprof_table_of(head);
  const bool fits = table != RocprofTable::kNone && table != RocprofTable::kCounters &&
                    table != RocprofTable::kStats;
  const bool counted =
      !counter_format(head.bytes).empty() || match_rocprof_compute_times(head) != FormatMatch::kNo;
  return marks_if(fits && !counted);
}

FormatMatch match_rocprof_json(const FileHead& head) {
  return marks_if(!head.binary && is_rocprof_json(head.bytes));
}

FormatMatch match_rocpd(const FileHead& head) { return marks_if(has_rocpd_tables(head.tables)); }

FormatMatch match_assaytrace(const FileHead& head) { return marks_if(is_assaytrace(head.bytes)); }

FormatMatch match_columnar(const FileHead& head) {
  return marks_if(head.bytes.starts_with(kColumnarMagic));
}

FormatMatch match_rank_records(const FileHead& head) {
  return marks_if(head.bytes.starts_with(kRankRecordMagic));
}

// ---- beside traces ----

FormatMatch match_rocprof_counters(const FileHead& head) {
  return marks_if(plain_text(head) &&
                  counter_format(head.bytes) == rocprof_table_words(RocprofTable::kCounters));
}

FormatMatch match_ncu_raw(const FileHead& head) {
  return counters_called(head, CounterTableKind::kNcuRaw);
}

FormatMatch match_ncu_details(const FileHead& head) {
  return counters_called(head, CounterTableKind::kNcuDetails);
}

FormatMatch match_rocprof_compute(const FileHead& head) {
  return counters_called(head, CounterTableKind::kRocprofCompute);
}

FormatMatch match_counter_table(const FileHead& head) {
  return counters_called(head, CounterTableKind::kWide);
}

// rocprof v1 names the ends of a kernel BeginNs and EndNs, next to DispatchNs and CompleteNs.
// rocprof-compute renames the former and keeps the latter (run_prof in its utils.py), so no other
// table has both.
FormatMatch match_rocprof_compute_times(const FileHead& head) {
  if (rocprof_table_of(head) != RocprofTable::kKernels || !counter_format(head.bytes).empty()) {
    return FormatMatch::kNo;
  }
  return marks_if(has_columns(head, {"dispatchns", "completens"}) || head.among_counter_runs);
}

FormatMatch match_samples(const FileHead& head) {
  return marks_if(head.bytes.starts_with("# assay samples "));
}

FormatMatch match_nvidia_smi(const FileHead& head) {
  if (!any_column_starts(head, "timestamp")) return FormatMatch::kNo;
  return marks_if(any_column_starts(head, "power.draw") || any_column_starts(head, "clocks.") ||
                  any_column_starts(head, "utilization.") ||
                  any_column_starts(head, "temperature.gpu"));
}

FormatMatch match_uprof(const FileHead& head) {
  return marks_if(head.bytes.starts_with("AMDPROFILER POWER PROFILE"));
}

FormatMatch match_chopper(const FileHead& head) {
  const bool gpus = has_columns(head, {"gpu", "ts"}) &&
                    (any_column_starts(head, "current_") || any_column_starts(head, "average_"));
  return marks_if(gpus || has_columns(head, {"cpu", "ts", "percent"}));
}

FormatMatch match_power_samples(const FileHead& head) {
  return marks_if(has_columns(head, {"t_ns", "power_w"}) && !has_columns(head, {"monotonic_ns"}));
}

FormatMatch match_bench(const FileHead& head) {
  if (head.binary || match_uprof(head) != FormatMatch::kNo) return FormatMatch::kNo;
  return marks_if(looks_like_bench(std::string(head.bytes)));
}

FormatMatch match_model(const FileHead& head) {
  constexpr size_t kNearStart = 200;
  return marks_if(head.json &&
                  head.bytes.substr(0, kNearStart).find("\"assay throughput model\"") !=
                      std::string_view::npos);
}

FormatMatch match_sweep(const FileHead& head) {
  return marks_if(has_columns(head, {"batch", "launches"}) && any_column_starts(head, "tklqt"));
}

FormatMatch match_replay(const FileHead& head) { return of_kind(head, "assay-replay"); }
FormatMatch match_floor(const FileHead& head) { return of_kind(head, "assay-floor"); }
FormatMatch match_kernel_db(const FileHead& head) { return of_kind(head, "assay-kernel-db"); }

FormatMatch match_request_log(const FileHead& head) {
  return marks_if(has_keys(head, {"resourceSpans"}) || has_keys(head, {"request_parameters", "e2e_latency"}) ||
                  has_keys(head, {"meta_info", "text"}));
}

FormatMatch match_calibration(const FileHead& head) {
  return marks_if(has_keys(head, {"window_ns", "period_ns", "delay_ns"}));
}

FormatMatch match_campaign(const FileHead& head) {
  return marks_if(has_keys(head, {"schema_version", "budget_s", "figures"}) ||
                  has_keys(head, {"schema_version", "budget_s", "steps"}));
}

FormatMatch match_facts(const FileHead& head) {
  return marks_if(starts_with_any(first_rule(head), {"[model ", "[hardware "}));
}

FormatMatch match_formulas(const FileHead& head) {
  return marks_if(first_rule(head).starts_with('[') && match_facts(head) == FormatMatch::kNo &&
                  head.bytes.find("\nformula") != std::string_view::npos);
}

FormatMatch match_kernels(const FileHead& head) {
  const std::string_view rule = first_rule(head);
  const bool aspect = starts_with_any(rule, {"kind ", "library ", "family \"", "type ", "tag ",
                                             "collective ", "vendor:", "native:", "vendor-op:"});
  return marks_if(aspect && rule.find(':') != std::string_view::npos);
}

FormatMatch match_breakdown_map(const FileHead& head) {
  const std::string_view rule = first_rule(head);
  return marks_if(starts_with_any(rule, {"kernel ", "module ", "operator ", "label "}) &&
                  rule.find(',') == std::string_view::npos);
}

FormatMatch match_document(const FileHead& head) {
  return marks_if(has_keys(head, {"schema_version", "tool", "inputs"}));
}

}  // namespace assay
