#pragma once

// Nsight Systems exports by hand, true to schema 3.16.1 (columns and enums as its documentation has
// them), for what no public file has: graphs by node, LLM runs with NVTX ranges, several processes,
// GPU metrics. As in real exports, a table exists once it has a row. Any column can be taken away
// or put in, to be an older or a newer schema.
//
//   NsysMaker file;
//   file.call(gtid, 100, 110, 1, "cudaLaunchKernel_v7000");
//   file.kernel({.start = 120, .end = 200, .correlation = 1, .name = "gemm"});
//   auto trace = read_nsys_sqlite(file.finish(), {});

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/bytes.h"

namespace assay::testing {

// A value as SQL text.
struct Sql {
  std::string text;
  Sql(int64_t value) : text(std::to_string(value)) {}
  Sql(int value) : text(std::to_string(value)) {}
  Sql(double value) : text(std::to_string(value)) {}
  Sql(const char* value) : Sql(std::string(value)) {}
  Sql(const std::string& value) : text("'") {
    for (const char c : value) text += c == '\'' ? std::string("''") : std::string(1, c);
    text += '\'';
  }
  static Sql null() { return raw("NULL"); }
  static Sql raw(std::string sql) {
    Sql value(0);
    value.text = std::move(sql);
    return value;
  }
};
using SqlRow = std::vector<std::pair<std::string, Sql>>;

constexpr int64_t global_pid(int64_t pid, int64_t machine = 1) { return machine << 48 | pid << 24; }
constexpr int64_t global_tid(int64_t pid, int64_t tid, int64_t machine = 1) {
  return global_pid(pid, machine) | tid;
}

class NsysMaker {
 public:
  struct Kernel {
    int64_t start = 0;
    int64_t end = 0;
    int64_t correlation = 0;
    std::string name = "kernel";
    int64_t pid = 100;
    int64_t device = 0;
    int64_t stream = 7;
    int64_t graph_node = 0;
  };

  NsysMaker() : file_("", ".sqlite") {
    check(sqlite3_open(file_.path().c_str(), &connection_), "open");
    sql("BEGIN");
    meta("EXPORT_SCHEMA_VERSION", "3.16.1");
    meta("EXPORT_PRODUCT_VERSION", "2024.6.2.225");
  }
  ~NsysMaker() { sqlite3_close(connection_); }
  NsysMaker(const NsysMaker&) = delete;
  NsysMaker& operator=(const NsysMaker&) = delete;

  // Writes everything out; the file lives as long as the maker.
  const std::string& finish() {
    if (connection_ != nullptr) {
      sql("COMMIT");
      check(sqlite3_close(connection_), "close");
      connection_ = nullptr;
    }
    return file_.path();
  }

  void sql(const std::string& statement) {
    check(sqlite3_exec(connection_, statement.c_str(), nullptr, nullptr, nullptr),
          statement.c_str());
  }
  // Before the table's first row.
  void drop_column(const std::string& table, const std::string& column) {
    std::erase(columns(table), column);
  }
  void insert_column(const std::string& table, size_t at, const std::string& column) {
    columns(table).insert(columns(table).begin() + static_cast<std::ptrdiff_t>(at), column);
  }
  void drop_table(const std::string& table) { sql("DROP TABLE IF EXISTS " + table); }

  // Columns that the table does not have are left out, those not given are NULL.
  void insert(const std::string& table, const SqlRow& row) {
    create(table);
    const std::vector<std::string>& known = columns(table);
    std::string names;
    std::string values;
    for (const auto& [name, value] : row) {
      if (std::find(known.begin(), known.end(), name) == known.end()) continue;
      names += (names.empty() ? "" : ",") + name;
      values += (values.empty() ? "" : ",") + value.text;
    }
    sql("INSERT INTO " + table + "(" + names + ") VALUES(" + values + ")");
  }

  void meta(const std::string& name, const std::string& value) {
    insert("META_DATA_EXPORT", {{"name", name}, {"value", value}});
  }
  int64_t string(const std::string& text) {
    const auto [found, added] =
        strings_.try_emplace(text, static_cast<int64_t>(strings_.size()) + 1);
    if (added) insert("StringIds", {{"id", found->second}, {"value", text}});
    return found->second;
  }
  void session(int64_t epoch_ns, int64_t duration_ns) {
    insert("TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs", epoch_ns}});
    insert("ANALYSIS_DETAILS", {{"globalVid", 0}, {"duration", duration_ns}});
  }
  void gpu(int64_t id, int64_t cuda_device, int64_t counter_id, const std::string& name) {
    insert("TARGET_INFO_GPU", {{"id", id},
                               {"cuDevice", cuda_device},
                               {"pwGpuId", counter_id},
                               {"name", name},
                               {"totalMemory", 1000},
                               {"smCount", 132},
                               {"threadsPerWarp", 32},
                               {"computeMajor", 9},
                               {"computeMinor", 0}});
  }
  void call(int64_t gtid, int64_t start, int64_t end, int64_t correlation, const std::string& name,
            int event_class = 0) {
    insert("CUPTI_ACTIVITY_KIND_RUNTIME", {{"start", start},
                                           {"end", end},
                                           {"eventClass", event_class},
                                           {"globalTid", gtid},
                                           {"correlationId", correlation},
                                           {"nameId", string(name)},
                                           {"returnValue", 0}});
  }
  void kernel(const Kernel& k) { insert("CUPTI_ACTIVITY_KIND_KERNEL", kernel_row(k)); }
  SqlRow kernel_row(const Kernel& k) {
    SqlRow row = lane(k.pid, k.device, k.stream, k.correlation, k.start, k.end);
    for (auto& cell : SqlRow{{"demangledName", string(k.name)},
                             {"shortName", string("short of " + k.name)},
                             {"registersPerThread", 32},
                             {"gridX", 4},
                             {"gridY", 2},
                             {"gridZ", 1},
                             {"blockX", 256},
                             {"blockY", 1},
                             {"blockZ", 1},
                             {"staticSharedMemory", 1024},
                             {"dynamicSharedMemory", 512}}) {
      row.push_back(std::move(cell));
    }
    if (k.graph_node != 0) row.emplace_back("graphNodeId", k.graph_node);
    return row;
  }
  void copy(int64_t start, int64_t end, int64_t correlation, int kind, int from, int to,
            int64_t bytes, int64_t pid = 100) {
    SqlRow row = lane(pid, 0, 7, correlation, start, end);
    row.insert(row.end(),
               {{"bytes", bytes}, {"copyKind", kind}, {"srcKind", from}, {"dstKind", to}});
    insert("CUPTI_ACTIVITY_KIND_MEMCPY", row);
  }
  void fill(int64_t start, int64_t end, int64_t correlation, int memory, int64_t bytes) {
    SqlRow row = lane(100, 0, 7, correlation, start, end);
    row.insert(row.end(), {{"bytes", bytes}, {"memKind", memory}, {"value", 0}});
    insert("CUPTI_ACTIVITY_KIND_MEMSET", row);
  }
  void sync(int64_t start, int64_t end, int64_t correlation, int type, int64_t stream,
            int64_t event = 4294967295, int64_t pid = 100) {
    SqlRow row = lane(pid, 0, stream, correlation, start, end);
    row.emplace_back("syncType", type);
    row.emplace_back("eventId", event);
    insert("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", row);
  }
  // The record of an event, which has no time.
  void event_record(int64_t correlation, int64_t stream, int64_t event, int64_t pid = 100) {
    SqlRow row = lane(pid, 0, stream, correlation, 0, 0);
    std::erase_if(row,
                  [](const auto& cell) { return cell.first == "start" || cell.first == "end"; });
    row.emplace_back("eventId", event);
    insert("CUPTI_ACTIVITY_KIND_CUDA_EVENT", row);
  }
  void graph(int64_t start, int64_t end, int64_t correlation, int64_t graph_id) {
    SqlRow row = lane(100, 0, 7, correlation, start, end);
    row.emplace_back("graphId", graph_id);
    insert("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", row);
  }
  // An NVTX row of any type; end NULL when absent; registered: the text through StringIds.
  void nvtx(int type, int64_t gtid, int64_t start, std::optional<int64_t> end,
            const std::string& text, bool registered = false) {
    insert("NVTX_EVENTS", {{"start", start},
                           {"end", end ? Sql(*end) : Sql::null()},
                           {"eventType", type},
                           {"globalTid", gtid},
                           {"text", registered ? Sql::null() : Sql(text)},
                           {"textId", registered ? Sql(string(text)) : Sql::null()}});
  }
  void push_pop(int64_t gtid, int64_t start, int64_t end, const std::string& text,
                bool registered = false) {
    nvtx(59, gtid, start, end, text, registered);
  }

 private:
  static SqlRow lane(int64_t pid, int64_t device, int64_t stream, int64_t correlation,
                     int64_t start, int64_t end) {
    return {{"start", start},
            {"end", end},
            {"deviceId", device},
            {"contextId", 1},
            {"streamId", stream},
            {"correlationId", correlation},
            {"globalPid", global_pid(pid)}};
  }

  std::vector<std::string>& columns(const std::string& table) {
    static const std::map<std::string, std::vector<std::string>> kSchema = {
        {"StringIds", {"id", "value"}},
        {"ThreadNames", {"nameId", "priority", "globalTid"}},
        {"PROCESSES", {"globalPid", "pid", "name"}},
        {"ANALYSIS_DETAILS", {"globalVid", "duration", "startTime", "stopTime"}},
        {"TARGET_INFO_SESSION_START_TIME", {"utcEpochNs", "utcTime", "localTime"}},
        {"TARGET_INFO_SYSTEM_ENV", {"globalVid", "devStateName", "name", "nameEnum", "value"}},
        {"META_DATA_EXPORT", {"name", "value"}},
        {"EXPORT_META_DATA", {"name", "value"}},
        {"DIAGNOSTIC_EVENT",
         {"timestamp", "timestampType", "source", "severity", "text", "globalPid"}},
        {"TARGET_INFO_GPU",
         {"vmId", "id", "name", "totalMemory", "smCount", "pwGpuId", "uuid", "cuDevice",
          "threadsPerWarp", "computeMajor", "computeMinor"}},
        {"TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid", "uuid", "numMultiprocessors"}},
        {"TARGET_INFO_GPU_METRICS", {"typeId", "sourceId", "typeName", "metricId", "metricName"}},
        {"GPU_METRICS", {"rawTimestamp", "timestamp", "typeId", "metricId", "value"}},
        {"CUPTI_ACTIVITY_KIND_RUNTIME",
         {"start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue",
          "callchainId"}},
        {"CUPTI_ACTIVITY_KIND_KERNEL",
         {"start",
          "end",
          "deviceId",
          "contextId",
          "greenContextId",
          "streamId",
          "correlationId",
          "globalPid",
          "demangledName",
          "shortName",
          "mangledName",
          "launchType",
          "cacheConfig",
          "registersPerThread",
          "gridX",
          "gridY",
          "gridZ",
          "blockX",
          "blockY",
          "blockZ",
          "staticSharedMemory",
          "dynamicSharedMemory",
          "localMemoryPerThread",
          "localMemoryTotal",
          "gridId",
          "sharedMemoryExecuted",
          "graphNodeId",
          "sharedMemoryLimitConfig"}},
        {"CUPTI_ACTIVITY_KIND_MEMCPY",
         {"start",           "end",           "deviceId",       "contextId",   "greenContextId",
          "streamId",        "correlationId", "globalPid",      "bytes",       "copyKind",
          "deprecatedSrcId", "srcKind",       "dstKind",        "srcDeviceId", "srcContextId",
          "dstDeviceId",     "dstContextId",  "migrationCause", "graphNodeId", "virtualAddress"}},
        {"CUPTI_ACTIVITY_KIND_MEMSET",
         {"start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId",
          "globalPid", "value", "bytes", "graphNodeId", "memKind"}},
        {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
         {"start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId",
          "globalPid", "syncType", "eventId"}},
        {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
         {"deviceId", "contextId", "streamId", "correlationId", "globalPid", "eventId"}},
        {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
         {"start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId",
          "globalPid", "graphId", "graphExecId"}},
        {"NVTX_EVENTS",
         {"start", "end", "eventType", "rangeId", "category", "color", "text", "globalTid",
          "endGlobalTid", "textId", "domainId", "uint64Value", "jsonTextId", "jsonText"}},
        {"OSRT_API",
         {"start", "end", "eventClass", "globalTid", "nameId", "returnValue", "nestingLevel",
          "callchainId"}},
        {"CUDA_UM_CPU_PAGE_FAULT_EVENTS", {"start", "globalPid", "address", "CpuInstruction"}},
        {"CUDA_UM_GPU_PAGE_FAULT_EVENTS",
         {"start", "end", "globalPid", "deviceId", "address", "numberOfPageFaults",
          "faultAccessType"}},
        {"PROFILER_OVERHEAD", {"start", "end", "globalTid", "nameId", "returnValue"}},
        {"CUDA_GPU_MEMORY_USAGE_EVENTS",
         {"start", "globalPid", "deviceId", "contextId", "address", "pc", "bytes", "memKind",
          "memoryOperationType", "name", "correlationId", "streamId"}},
        {"ENUM_CUDA_MEMCPY_OPER", {"id", "name", "label"}},
        {"ENUM_CUDA_MEM_KIND", {"id", "name", "label"}},
    };
    const auto known = kSchema.find(table);
    return columns_
        .try_emplace(table, known == kSchema.end() ? std::vector<std::string>{} : known->second)
        .first->second;
  }

  void create(const std::string& table) {
    if (!created_.emplace(table, true).second) return;
    std::string list;
    for (const std::string& column : columns(table)) {
      if (!list.empty()) list += ", ";
      // Without a type for values, so that a test can put anything anywhere.
      list +=
          column + (table == "StringIds" && column == "id" ? " INTEGER NOT NULL PRIMARY KEY" : "");
    }
    sql("CREATE TABLE " + table + "(" + list + ")");
  }

  void check(int code, const char* what) {
    if (code == SQLITE_OK) return;
    std::fprintf(stderr, "NsysMaker: %s: %s\n", what, sqlite3_errmsg(connection_));
    std::abort();
  }

  TempFile file_;
  sqlite3* connection_ = nullptr;
  std::map<std::string, std::vector<std::string>> columns_;
  std::map<std::string, bool> created_;
  std::map<std::string, int64_t> strings_;
};

}  // namespace assay::testing
