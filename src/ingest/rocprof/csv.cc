#include <algorithm>
#include <array>
#include <cctype>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/files.h"
#include "ingest/rocprof/run.h"
#include "ingest/text/csv_records.h"
#include "ingest/text/csv_table.h"
#include "ingest/text/json_text.h"

namespace assay {
namespace {

// ---- tables and their columns -------------------------------------------------------------------

struct KnownTable {
  RocprofTable table;
  std::string_view words;
  std::array<std::string_view, 3> columns;  // all required, in lower case; empty = unused
};
// The first match is used: counters precede kernels, because they share columns.
constexpr std::array<KnownTable, 9> kTables = {{
    {RocprofTable::kCounters,
     "counters of rocprofv3 (counter_collection.csv)",
     {"counter_name", "counter_value", "dispatch_id"}},
    {RocprofTable::kKernels,
     "a kernel trace of rocprofv3 (kernel_trace.csv)",
     {"kernel_name", "start_timestamp", "end_timestamp"}},
    {RocprofTable::kCopies,
     "a trace of copies of rocprofv3 (memory_copy_trace.csv)",
     {"direction", "start_timestamp", "source_agent_id"}},
    {RocprofTable::kAllocations,
     "a trace of allocations of rocprofv3 (memory_allocation_trace.csv)",
     {"allocation_size", "start_timestamp", "operation"}},
    {RocprofTable::kScratch,
     "a trace of scratch memory of rocprofv3 (scratch_memory_trace.csv)",
     {"alloc_flags", "start_timestamp", "operation"}},
    {RocprofTable::kCalls,
     "a trace of host calls of rocprofv3 (hip_api_trace.csv or its kin)",
     {"function", "start_timestamp", "end_timestamp"}},
    {RocprofTable::kAgents,
     "the list of agents of rocprofv3 (agent_info.csv)",
     {"node_id", "agent_type", "simd_count"}},
    {RocprofTable::kStats,
     "statistics of rocprof (a *_stats.csv: totals, without times of single kernels)",
     {"name", "calls", "totaldurationns"}},
    {RocprofTable::kKernelsV1, "a kernel trace of rocprof v1", {"kernelname", "beginns", "endns"}},
}};

// Columns of rocprof v1 that describe a dispatch. All others are counters; their kernels run
// serialized.
constexpr std::array<std::string_view, 23> kV1Columns = {
    "index",     "kernelname", "gpu-id",  "queue-id",  "queue-index", "pid",
    "tid",       "grd",        "wgr",     "lds",       "scr",         "vgpr",
    "arch_vgpr", "accum_vgpr", "sgpr",    "wave_size", "fbar",        "sig",
    "obj",       "dispatchns", "beginns", "endns",     "completens"};

bool describes_dispatch(std::string_view column) {
  return column == "durationns" ||
         std::find(kV1Columns.begin(), kV1Columns.end(), column) != kV1Columns.end();
}

// Column positions of one table, by name.
class Cells {
 public:
  explicit Cells(const std::vector<std::string>& header) : width_(header.size()) {
    for (size_t i = 0; i < header.size(); ++i)
      columns_.emplace(lower_trimmed(header[i]), i);  // the first of two equal names
  }
  size_t width() const { return width_; }
  int find(std::string_view name) const {
    const auto at = columns_.find(name);
    return at == columns_.end() ? -1 : static_cast<int>(at->second);
  }

 private:
  std::map<std::string, size_t, std::less<>> columns_;
  size_t width_;
};

std::string_view cell(const CsvRecord& record, int column) {
  if (column < 0 || static_cast<size_t>(column) >= record.cells.size()) return {};
  return trimmed(record.cells[static_cast<size_t>(column)]);
}

// Parses integers, also with a fraction of zeros or an exponent.
bool whole_number(std::string_view text, int64_t& value) {
  if (parse_int64(text, value)) return true;
  DecimalShape shape;
  return parse_decimal(text, 0, value, shape) == DecimalStatus::kOk;
}

// True for a time that a spreadsheet rounded, such as "8.1097E+14", with a last digit longer than a
// kernel.
bool is_rounded_time(std::string_view text) {
  constexpr int kLastDigit = 4;  // 10 us
  const size_t at = text.find_first_of("eE");
  if (at == std::string_view::npos) return false;
  std::string_view power = text.substr(at + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  int64_t exponent = 0;
  if (!parse_int64(power, exponent)) return false;
  const size_t point = text.find('.');
  const auto fraction = point < at ? static_cast<int64_t>(at - point) - 1 : 0;
  return exponent - fraction >= kLastDigit;
}

int64_t number_or(const CsvRecord& record, int column, int64_t missing) {
  int64_t value = 0;
  return whole_number(cell(record, column), value) ? value : missing;
}

uint64_t count_of(const CsvRecord& record, int column) {
  return static_cast<uint64_t>(std::max<int64_t>(number_or(record, column, 0), 0));
}

// The number of "4" or "Agent 4"; `missing` if the text does not end with a number.
int64_t agent_of(const CsvRecord& record, int column, int64_t missing) {
  const std::string_view text = cell(record, column);
  size_t begin = text.size();
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
  int64_t value = 0;
  return parse_int64(text.substr(begin), value) ? value : missing;
}

// ---- rows ---------------------------------------------------------------------------------------

class CsvRun {
 public:
  explicit CsvRun(RocprofRun& run) : run_(run) {}

  void read(RocprofTable table, const std::vector<CsvRecord>& records);

 private:
  void read_row(RocprofTable table, const Cells& cells, const CsvRecord& record);
  void read_kernel(const Cells& cells, const CsvRecord& record);
  void read_kernel_v1(const Cells& cells, const CsvRecord& record);
  void read_call(const Cells& cells, const CsvRecord& record);
  void read_copy(const Cells& cells, const CsvRecord& record);
  void read_counter(const Cells& cells, const CsvRecord& record);
  void read_agent(const Cells& cells, const CsvRecord& record);
  RocprofKernel kernel_of(const Cells& cells, const CsvRecord& record);
  bool read_times(const Cells& cells, const CsvRecord& record, int64_t& start, int64_t& end);
  bool read_times(const Cells& cells, const CsvRecord& record, std::string_view from,
                  std::string_view to, int64_t& start, int64_t& end);
  StringId text(std::string_view value);
  void skip(ImportCode code) {
    run_.log.add(code);
    ++run_.rows_skipped;
  }

  RocprofRun& run_;
  std::map<std::pair<int64_t, int64_t>, uint32_t> dispatches_;  // kernels by dispatch, of counter
                                                                // rows
};

StringId CsvRun::text(std::string_view value) {
  std::string scratch;
  uint64_t bad = 0;
  const StringId id = run_.text(valid_utf8(value, scratch, bad));
  run_.log.add(ImportCode::kInvalidUtf8, -1, bad);
  return id;
}

bool CsvRun::read_times(const Cells& cells, const CsvRecord& record, int64_t& start, int64_t& end) {
  return read_times(cells, record, "start_timestamp", "end_timestamp", start, end);
}

bool CsvRun::read_times(const Cells& cells, const CsvRecord& record, std::string_view from,
                        std::string_view to, int64_t& start, int64_t& end) {
  const std::string_view first = cell(record, cells.find(from));
  const std::string_view last = cell(record, cells.find(to));
  const bool rounded = is_rounded_time(first) || is_rounded_time(last);
  if (rounded) run_.rounded_time = first;
  const bool told = !rounded && whole_number(first, start) && whole_number(last, end);
  return run_.take_times(told, start, end);
}

RocprofKernel CsvRun::kernel_of(const Cells& cells, const CsvRecord& record) {
  RocprofKernel kernel;
  kernel.agent = agent_of(record, cells.find("agent_id"), 0);
  kernel.queue = number_or(record, cells.find("queue_id"), -1);
  kernel.stream = number_or(record, cells.find("stream_id"), -1);
  kernel.process = number_or(record, cells.find("process_id"), 0);
  kernel.thread = number_or(record, cells.find("thread_id"), -1);
  kernel.dispatch = number_or(record, cells.find("dispatch_id"), 0);
  kernel.correlation = count_of(record, cells.find("correlation_id"));
  kernel.name = text(cell(record, cells.find("kernel_name")));
  constexpr std::array<const char*, 3> kGrid = {"grid_size_x", "grid_size_y", "grid_size_z"};
  constexpr std::array<const char*, 3> kGroup = {"workgroup_size_x", "workgroup_size_y",
                                                 "workgroup_size_z"};
  for (size_t i = 0; i < 3; ++i) {
    kernel.grid[i] = count_of(record, cells.find(kGrid[i]));
    kernel.group[i] = count_of(record, cells.find(kGroup[i]));
  }
  kernel.grid_items = count_of(record, cells.find("grid_size"));
  kernel.group_items = count_of(record, cells.find("workgroup_size"));
  kernel.registers = count_of(record, cells.find("vgpr_count"));
  kernel.shared_bytes = std::max(count_of(record, cells.find("lds_block_size")),
                                 count_of(record, cells.find("group_segment_size")));
  return kernel;
}

void CsvRun::read_kernel(const Cells& cells, const CsvRecord& record) {
  RocprofKernel kernel = kernel_of(cells, record);
  if (!read_times(cells, record, kernel.start_ns, kernel.end_ns)) return;
  if (kernel.name == StringId(0)) run_.log.add(ImportCode::kMissingName);
  run_.kernels.push_back(kernel);
}

void CsvRun::read_kernel_v1(const Cells& cells, const CsvRecord& record) {
  RocprofKernel kernel;
  kernel.agent = number_or(record, cells.find("gpu-id"), 0);
  kernel.queue = number_or(record, cells.find("queue-id"), -1);
  kernel.process = number_or(record, cells.find("pid"), 0);
  kernel.thread = number_or(record, cells.find("tid"), -1);
  kernel.dispatch = number_or(record, cells.find("index"), 0);
  kernel.name = text(without_descriptor(cell(record, cells.find("kernelname"))));
  kernel.grid_items = count_of(record, cells.find("grd"));
  kernel.group_items = count_of(record, cells.find("wgr"));
  kernel.shared_bytes = count_of(record, cells.find("lds"));
  kernel.registers = count_of(record, cells.find("arch_vgpr"));
  if (!read_times(cells, record, "beginns", "endns", kernel.start_ns, kernel.end_ns)) return;
  if (kernel.name == StringId(0)) run_.log.add(ImportCode::kMissingName);
  run_.kernels.push_back(kernel);
}

void CsvRun::read_call(const Cells& cells, const CsvRecord& record) {
  RocprofCall call;
  if (!read_times(cells, record, call.start_ns, call.end_ns)) return;
  call.domain = text(cell(record, cells.find("domain")));
  call.name = text(cell(record, cells.find("function")));
  call.process = number_or(record, cells.find("process_id"), 0);
  call.thread = number_or(record, cells.find("thread_id"), 0);
  call.correlation = count_of(record, cells.find("correlation_id"));
  run_.calls.push_back(call);
}

void CsvRun::read_copy(const Cells& cells, const CsvRecord& record) {
  RocprofCopy copy;
  if (!read_times(cells, record, copy.start_ns, copy.end_ns)) return;
  copy.name = text(cell(record, cells.find("direction")));
  copy.from_agent = agent_of(record, cells.find("source_agent_id"), -1);
  copy.to_agent = agent_of(record, cells.find("destination_agent_id"), -1);
  copy.stream = number_or(record, cells.find("stream_id"), -1);
  copy.correlation = count_of(record, cells.find("correlation_id"));
  run_.copies.push_back(copy);
}

// Adds a row of a dispatch and a counter. The rows of a dispatch need not be consecutive.
void CsvRun::read_counter(const Cells& cells, const CsvRecord& record) {
  int64_t dispatch = 0;
  double value = 0;
  const std::string_view name = cell(record, cells.find("counter_name"));
  if (name.empty() || !whole_number(cell(record, cells.find("dispatch_id")), dispatch) ||
      !parse_double(cell(record, cells.find("counter_value")), value)) {
    skip(ImportCode::kWrongType);
    return;
  }
  const int64_t process = number_or(record, cells.find("process_id"), 0);
  const auto [found, is_new] =
      dispatches_.try_emplace({process, dispatch}, static_cast<uint32_t>(run_.kernels.size()));
  if (is_new) {
    RocprofKernel kernel = kernel_of(cells, record);
    // Counter files of ROCm 6.1 have no times.
    int64_t start = 0;
    int64_t end = 0;
    if (whole_number(cell(record, cells.find("start_timestamp")), start) &&
        whole_number(cell(record, cells.find("end_timestamp")), end) && end >= start) {
      kernel.start_ns = start;
      kernel.end_ns = end;
    }
    run_.kernels.push_back(kernel);
  }
  run_.values.push_back({found->second, text(name), value});
}

void CsvRun::read_agent(const Cells& cells, const CsvRecord& record) {
  RocprofAgent agent;
  const auto number = [&](const char* column) {
    double value = 0;
    return parse_double(cell(record, cells.find(column)), value) ? value : 0;
  };
  const auto words = [&](const char* column) {
    return std::string(cell(record, cells.find(column)));
  };
  agent.id = number_or(record, cells.find("node_id"), 0);
  agent.gpu = lower_trimmed(words("agent_type")) == "gpu";
  agent.facts.device = agent.id;
  agent.facts.name = words("product_name");
  agent.facts.architecture = words("name");
  agent.facts.compute_units = number("cu_count");
  agent.facts.xcds = number("num_xcc");
  agent.facts.simd_per_cu = number("simd_per_cu");
  agent.facts.max_clock_mhz = number("max_engine_clk_fcompute");
  if (agent.facts.simd_per_cu == 0 && agent.facts.compute_units > 0) {
    agent.facts.simd_per_cu = number("simd_count") / agent.facts.compute_units;
  }
  run_.agents.push_back(std::move(agent));
}

void CsvRun::read_row(RocprofTable table, const Cells& cells, const CsvRecord& record) {
  switch (table) {
    case RocprofTable::kKernels:
      return read_kernel(cells, record);
    case RocprofTable::kKernelsV1:
      return read_kernel_v1(cells, record);
    case RocprofTable::kCalls:
      return read_call(cells, record);
    case RocprofTable::kCopies:
      return read_copy(cells, record);
    case RocprofTable::kCounters:
      return read_counter(cells, record);
    case RocprofTable::kAgents:
      return read_agent(cells, record);
    default:
      return;
  }
}

void CsvRun::read(RocprofTable table, const std::vector<CsvRecord>& records) {
  if (records.empty()) return;
  const CsvRecord& header = records.front();
  const Cells cells(header.cells);
  for (size_t i = 1; i < records.size(); ++i) {
    const CsvRecord& record = records[i];
    if (record.cells.size() <= 1 && cell(record, 0).empty()) continue;
    ++run_.rows;
    if (record.cells == header.cells) {
      run_.log.add(ImportCode::kRepeatedHeader);
      continue;
    }
    if (record.cells.size() < cells.width()) {
      skip(ImportCode::kShortRow);
      continue;
    }
    read_row(table, cells, record);
  }
}

// ---- files that belong together -----------------------------------------------------------------

// Kinds of files, which follow the common part of the name, in reading order.
constexpr std::array<std::string_view, 7> kSiblings = {
    "kernel_trace.csv",     "hip_api_trace.csv",     "hsa_api_trace.csv", "rccl_api_trace.csv",
    "marker_api_trace.csv", "memory_copy_trace.csv", "agent_info.csv"};
constexpr std::string_view kCounterFile = "counter_collection.csv";

// Sets `part` to "dir/12_" for "dir/12_kernel_trace.csv"; false for other names.
bool common_part(const std::string& path, std::string& part) {
  std::string_view name = path;
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  const auto cut = [&](std::string_view kind) {
    if (!name.ends_with(kind)) return false;
    part = std::string(name.substr(0, name.size() - kind.size()));
    return true;
  };
  return cut(kCounterFile) || std::any_of(kSiblings.begin(), kSiblings.end(), cut);
}

std::string existing(const std::string& plain) {
  for (const char* packed : {"", ".gz", ".zst"}) {
    if (is_regular_file(plain + packed)) return plain + packed;
  }
  return "";
}

// Reads one table into the run. Drops a last line with too few cells and no end.
Result<RocprofTable> read_table(const std::string& path, CsvRun& rows, RocprofRun& run) {
  bool cut = false;
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path, &cut));
  ASSAY_TRY_ASSIGN(std::vector<CsvRecord> records, parse_csv_records(text, path));
  while (!records.empty() && records.front().cells.size() <= 1 && cell(records.front(), 0).empty())
    records.erase(records.begin());
  if (records.empty()) return Error{ErrorCode::kFormat, "the table is empty", path, -1};
  const RocprofTable table = rocprof_table(records.front().cells);
  run.content_bytes += text.size();
  const bool open_end = text.back() != '\n';
  if (cut || (open_end && records.back().cells.size() < records.front().cells.size())) {
    run.truncated = true;
    if (records.size() > 1) records.pop_back();
  }
  rows.read(table, records);
  return table;
}

Error cut_off(const std::string& path) {
  return Error{ErrorCode::kTruncated,
               "the table ends in the middle of a row; --allow-truncated reads what lies before",
               path, -1};
}

}  // namespace

RocprofTable rocprof_table(const std::vector<std::string>& header) {
  const Cells cells(header);
  const bool only_v1 = std::all_of(header.begin(), header.end(), [](const std::string& name) {
    return describes_dispatch(lower_trimmed(name));
  });
  for (const KnownTable& known : kTables) {
    if (known.table == RocprofTable::kKernelsV1 && !only_v1) continue;
    if (std::all_of(known.columns.begin(), known.columns.end(),
                    [&](std::string_view column) { return cells.find(column) >= 0; })) {
      return known.table;
    }
  }
  return RocprofTable::kNone;
}

std::string_view rocprof_table_words(RocprofTable table) {
  for (const KnownTable& known : kTables) {
    if (known.table == table) return known.words;
  }
  return "a table";
}

std::string_view without_descriptor(std::string_view name) {
  for (const std::string_view end : {" [clone .kd]", ".kd"}) {
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  }
  return name;
}

Result<RocprofRun> read_rocprof_csv(const std::string& path, bool allow_truncated) {
  RocprofRun run;
  CsvRun rows(run);
  ASSAY_TRY_ASSIGN(const RocprofTable table, read_table(path, rows, run));
  run.format = table == RocprofTable::kKernelsV1 ? "rocprof v1 CSV" : "rocprofv3 CSV";
  std::string part;
  if (path != "-" && common_part(path, part)) {
    const bool counters = table == RocprofTable::kCounters;
    for (const std::string_view kind : kSiblings) {
      // In a counter run, the counter rows are the kernels.
      if (counters && kind == "kernel_trace.csv") continue;
      const std::string other = existing(part + std::string(kind));
      if (other.empty() || normal_path(other) == normal_path(path)) continue;
      ASSAY_TRY(read_table(other, rows, run));
    }
  }
  if (run.truncated) {
    if (!allow_truncated) return cut_off(path);
    run.log.add(ImportCode::kTruncated);
  }
  return run;
}

}  // namespace assay
