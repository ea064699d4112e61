#include <algorithm>
#include <unordered_map>

#include "ingest/rocprof/run.h"
#include "ingest/sqlite_file.h"
#include "ingest/text/json_text.h"

namespace assay {
namespace {

constexpr std::string_view kDispatches = "rocpd_kernel_dispatch";

// Key of a row in another table: its id and its run (guid).
using RowKey = uint64_t;

class RocpdRun {
 public:
  RocpdRun(const SqliteFile& file, std::string suffix, int64_t number, RocprofRun& run)
      : file_(file), suffix_(std::move(suffix)), number_(number), run_(run) {}

  Status read();

 private:
  using Names = std::unordered_map<RowKey, StringId>;

  std::string table(const char* name) const { return "rocpd_" + std::string(name) + suffix_; }
  // Ids are unique only within a guid.
  RowKey key(const SqliteRows& rows, int guid_cell, int64_t id);
  Status read_version();
  Status read_texts(const char* name, std::initializer_list<std::string_view> columns,
                    Names& names);
  Status read_agents();
  Status read_lanes();
  Status read_events();
  Status read_kernels();
  Status read_regions();
  Status read_copies();
  Status read_values();
  bool read_times(const SqliteRows& rows, int cell, int64_t& start, int64_t& end);
  StringId text(std::string_view value);
  template <typename Map, typename Missing>
  auto look(const Map& map, const SqliteRows& rows, int guid_cell, int cell, Missing missing);

  const SqliteFile& file_;
  const std::string suffix_;
  const int64_t number_;
  RocprofRun& run_;
  std::vector<std::string> guids_;
  Names strings_;
  Names symbols_;
  Names counters_;
  std::unordered_map<RowKey, int64_t> agents_;     // absolute index
  std::unordered_map<RowKey, int64_t> processes_;  // pid
  std::unordered_map<RowKey, int64_t> threads_;    // tid
  struct Event {
    uint64_t stack = 0;
    StringId category;
  };
  std::unordered_map<RowKey, Event> events_;
  std::unordered_map<RowKey, uint32_t> kernel_of_event_;
};

StringId RocpdRun::text(std::string_view value) {
  std::string scratch;
  uint64_t bad = 0;
  const StringId id = run_.text(valid_utf8(value, scratch, bad));
  run_.log.add(ImportCode::kInvalidUtf8, -1, bad);
  return id;
}

RowKey RocpdRun::key(const SqliteRows& rows, int guid_cell, int64_t id) {
  std::string_view guid;
  (void)rows.text(guid_cell, guid);
  size_t at = 0;
  while (at < guids_.size() && guids_[at] != guid) ++at;
  if (at == guids_.size()) guids_.emplace_back(guid);
  return static_cast<uint64_t>(number_ * 64 + static_cast<int64_t>(at)) << 48 |
         (static_cast<uint64_t>(id) & 0xFFFF'FFFF'FFFF);
}

template <typename Map, typename Missing>
auto RocpdRun::look(const Map& map, const SqliteRows& rows, int guid_cell, int cell,
                    Missing missing) {
  using Found = typename Map::mapped_type;
  int64_t id = 0;
  if (rows.integer(cell, id) != CellRead::kValue) return Found(missing);
  const auto found = map.find(key(rows, guid_cell, id));
  return found == map.end() ? Found(missing) : found->second;
}

Status RocpdRun::read_version() {
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(table("metadata"), {"tag", "value"}));
  std::string version;
  while (rows.next()) {
    std::string_view tag;
    std::string_view value;
    if (rows.text(0, tag) != CellRead::kValue || rows.text(1, value) != CellRead::kValue) continue;
    if (tag == "schema_version") version = value;
  }
  ASSAY_TRY(rows.status());
  if (!version.empty()) run_.metadata.push_back({"rocpd_schema_version", version});
  if (!version.starts_with("3") && !version.starts_with("4"))
    run_.log.add(ImportCode::kUnknownSchema);
  return Ok{};
}

// columns: id, guid, the text and its fallback.
Status RocpdRun::read_texts(const char* name, std::initializer_list<std::string_view> columns,
                            Names& names) {
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(table(name), columns));
  while (rows.next()) {
    std::string_view value;
    for (int cell = 2; cell < static_cast<int>(columns.size()) && value.empty(); ++cell) {
      (void)rows.text(cell, value);
    }
    names[key(rows, 1, rows.integer_or(0, 0))] = text(value);
  }
  return rows.status();
}

Status RocpdRun::read_agents() {
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(table("info_agent"),
                                               {"id", "guid", "type", "absolute_index",
                                                "type_index", "product_name", "name", "extdata"}));
  while (rows.next()) {
    RocprofAgent agent;
    std::string_view value;
    const int64_t id = rows.integer_or(0, 0);
    agent.id = rows.integer_or(3, id);
    agents_[key(rows, 1, id)] = agent.id;
    agent.gpu = rows.text(2, value) == CellRead::kValue && value == "GPU";
    agent.facts.device = agent.id;
    agent.facts.ordinal = agent.gpu ? rows.integer_or(4, -1) : -1;
    if (rows.text(7, value) == CellRead::kValue) read_agent_facts(value, agent.facts);
    if (rows.text(5, value) == CellRead::kValue) agent.facts.name = value;
    if (rows.text(6, value) == CellRead::kValue) agent.facts.architecture = value;
    const bool known = std::any_of(run_.agents.begin(), run_.agents.end(),
                                   [&](const RocprofAgent& other) { return other.id == agent.id; });
    if (!known) run_.agents.push_back(std::move(agent));
  }
  return rows.status();
}

// Reads process and thread ids of the operating system, but not the environment.
Status RocpdRun::read_lanes() {
  ASSAY_TRY_ASSIGN(SqliteRows processes, file_.rows(table("info_process"), {"id", "guid", "pid"}));
  while (processes.next()) {
    const int64_t id = processes.integer_or(0, 0);
    processes_[key(processes, 1, id)] = processes.integer_or(2, id);
  }
  ASSAY_TRY(processes.status());
  ASSAY_TRY_ASSIGN(SqliteRows threads,
                   file_.rows(table("info_thread"), {"id", "guid", "tid", "name", "pid"}));
  while (threads.next()) {
    const int64_t id = threads.integer_or(0, 0);
    const int64_t tid = threads.integer_or(2, id);
    threads_[key(threads, 1, id)] = tid;
    std::string_view name;
    if (threads.text(3, name) != CellRead::kValue || name.empty()) continue;
    const int64_t pid = look(processes_, threads, 1, 4, threads.integer_or(4, 0));
    run_.thread_names[{pid, tid}] = name;
  }
  return threads.status();
}

Status RocpdRun::read_events() {
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file_.rows(table("event"), {"id", "guid", "stack_id", "category_id"}));
  while (rows.next()) {
    const RowKey id = key(rows, 1, rows.integer_or(0, 0));
    const int64_t stack = rows.integer_or(2, 0);
    events_[id] = {stack > 0 ? key(rows, 1, stack) : 0, look(strings_, rows, 1, 3, StringId(0))};
  }
  return rows.status();
}

bool RocpdRun::read_times(const SqliteRows& rows, int cell, int64_t& start, int64_t& end) {
  ++run_.rows;
  const bool told = rows.integer(cell, start) == CellRead::kValue &&
                    rows.integer(cell + 1, end) == CellRead::kValue;
  return run_.take_times(told, start, end);
}

Status RocpdRun::read_kernels() {
  enum {
    kGuid,
    kStart,
    kEnd,
    kPid,
    kTid,
    kAgent,
    kKernel,
    kDispatch,
    kQueue,
    kStream,
    kGroupBytes,
    kGroup,
    kGrid = kGroup + 3,
    kEvent = kGrid + 3,
    kRegion
  };
  ASSAY_TRY_ASSIGN(
      SqliteRows rows,
      file_.rows(table("kernel_dispatch"),
                 {"guid", "start", "end", "pid", "tid", "agent_id", "kernel_id", "dispatch_id",
                  "queue_id", "stream_id", "group_segment_size", "workgroup_size_x",
                  "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y",
                  "grid_size_z", "event_id", "region_name_id"}));
  while (rows.next()) {
    RocprofKernel kernel;
    if (!read_times(rows, kStart, kernel.start_ns, kernel.end_ns)) continue;
    kernel.agent = look(agents_, rows, kGuid, kAgent, rows.integer_or(kAgent, 0));
    kernel.process = look(processes_, rows, kGuid, kPid, rows.integer_or(kPid, 0));
    kernel.thread = look(threads_, rows, kGuid, kTid, rows.integer_or(kTid, -1));
    kernel.queue = rows.integer_or(kQueue, -1);
    kernel.stream = rows.integer_or(kStream, -1);
    kernel.dispatch = rows.integer_or(kDispatch, 0);
    kernel.name = look(symbols_, rows, kGuid, kKernel, StringId(0));
    if (kernel.name == StringId(0)) run_.log.add(ImportCode::kMissingName);
    kernel.shared_bytes =
        static_cast<uint64_t>(std::max<int64_t>(rows.integer_or(kGroupBytes, 0), 0));
    for (size_t i = 0; i < 3; ++i) {
      const auto axis = static_cast<int>(i);
      const auto size = [&](int cell) {
        return static_cast<uint64_t>(std::max<int64_t>(rows.integer_or(cell + axis, 0), 0));
      };
      kernel.grid[i] = size(kGrid);
      kernel.group[i] = size(kGroup);
    }
    int64_t event = 0;
    if (rows.integer(kEvent, event) == CellRead::kValue) {
      const RowKey id = key(rows, kGuid, event);
      const auto found = events_.find(id);
      if (found != events_.end()) kernel.correlation = found->second.stack;
      kernel_of_event_[id] = static_cast<uint32_t>(run_.kernels.size());
    }
    run_.kernels.push_back(kernel);
  }
  return rows.status();
}

Status RocpdRun::read_regions() {
  enum { kGuid, kStart, kEnd, kPid, kTid, kName, kEvent };
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(table("region"), {"guid", "start", "end", "pid",
                                                                 "tid", "name_id", "event_id"}));
  while (rows.next()) {
    RocprofCall call;
    if (!read_times(rows, kStart, call.start_ns, call.end_ns)) continue;
    const Event event = look(events_, rows, kGuid, kEvent, Event{0, StringId(0)});
    call.process = look(processes_, rows, kGuid, kPid, rows.integer_or(kPid, 0));
    call.thread = look(threads_, rows, kGuid, kTid, rows.integer_or(kTid, 0));
    call.name = look(strings_, rows, kGuid, kName, StringId(0));
    call.correlation = event.stack;
    call.domain = event.category;
    run_.calls.push_back(call);
  }
  return rows.status();
}

Status RocpdRun::read_copies() {
  enum { kGuid, kStart, kEnd, kPid, kName, kTo, kFrom, kSize, kStream, kEvent };
  ASSAY_TRY_ASSIGN(
      SqliteRows rows,
      file_.rows(table("memory_copy"), {"guid", "start", "end", "pid", "name_id", "dst_agent_id",
                                        "src_agent_id", "size", "stream_id", "event_id"}));
  while (rows.next()) {
    RocprofCopy copy;
    if (!read_times(rows, kStart, copy.start_ns, copy.end_ns)) continue;
    copy.process = look(processes_, rows, kGuid, kPid, rows.integer_or(kPid, 0));
    copy.name = look(strings_, rows, kGuid, kName, StringId(0));
    copy.to_agent = look(agents_, rows, kGuid, kTo, int64_t{-1});
    copy.from_agent = look(agents_, rows, kGuid, kFrom, int64_t{-1});
    copy.bytes = rows.integer_or(kSize, -1);
    copy.stream = rows.integer_or(kStream, -1);
    copy.correlation = look(events_, rows, kGuid, kEvent, Event{0, StringId(0)}).stack;
    run_.copies.push_back(copy);
  }
  return rows.status();
}

Status RocpdRun::read_values() {
  enum { kGuid, kEvent, kCounter, kValue };
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file_.rows(table("pmc_event"), {"guid", "event_id", "pmc_id", "value"}));
  while (rows.next()) {
    ++run_.rows;
    constexpr uint32_t kNoKernel = UINT32_MAX;
    const uint32_t kernel = look(kernel_of_event_, rows, kGuid, kEvent, kNoKernel);
    const StringId name = look(counters_, rows, kGuid, kCounter, StringId(0));
    double value = 0;
    if (kernel == kNoKernel || name == StringId(0) ||
        rows.number(kValue, value) != CellRead::kValue) {
      run_.log.add(ImportCode::kWrongType);
      ++run_.rows_skipped;
      continue;
    }
    run_.values.push_back({kernel, name, value});
  }
  return rows.status();
}

Status RocpdRun::read() {
  ASSAY_TRY(read_version());
  ASSAY_TRY(read_texts("string", {"id", "guid", "string"}, strings_));
  ASSAY_TRY(
      read_texts("info_kernel_symbol", {"id", "guid", "display_name", "kernel_name"}, symbols_));
  ASSAY_TRY(read_texts("info_pmc", {"id", "guid", "name", "symbol"}, counters_));
  ASSAY_TRY(read_agents());
  ASSAY_TRY(read_lanes());
  ASSAY_TRY(read_events());
  ASSAY_TRY(read_kernels());
  ASSAY_TRY(read_regions());
  ASSAY_TRY(read_copies());
  return read_values();
}

}  // namespace

bool has_rocpd_tables(const std::vector<std::string>& tables) {
  const auto any = [&tables](const auto& fits) {
    return std::any_of(tables.begin(), tables.end(), fits);
  };
  // RPD is another format, although its tables have rocpd's prefix.
  if (any([](const std::string& table) { return table == "rocpd_api" || table == "rocpd_op"; }))
    return false;
  return any([](const std::string& table) { return table.starts_with("rocpd_"); });
}

bool is_rocpd(const std::string& path) {
  const auto file = SqliteFile::open(path);
  return file && has_rocpd_tables(file->table_names());
}

Result<RocprofRun> read_rocpd(const std::string& path) {
  ASSAY_TRY_ASSIGN(const SqliteFile file, SqliteFile::open(path));
  RocprofRun run;
  run.format = "rocpd";
  run.content_bytes = file.bytes();
  int64_t number = 0;
  for (const std::string& table : file.table_names()) {
    if (!table.starts_with(kDispatches)) continue;
    RocpdRun one(file, table.substr(kDispatches.size()), number++, run);
    ASSAY_TRY(one.read());
  }
  if (number == 0) {
    return Error{
        ErrorCode::kNotATrace,
        "a rocpd database without a table of kernels; record with rocprofv3 --kernel-trace "
        "--hip-runtime-trace",
        path, -1};
  }
  return run;
}

}  // namespace assay
