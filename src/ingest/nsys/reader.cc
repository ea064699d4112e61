#include "ingest/nsys/reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/decimal.h"
#include "base/latest_time.h"
#include "ingest/chrome/kineto_rows.h"
#include "ingest/nsys/ids.h"
#include "ingest/nsys/rows.h"
#include "ingest/nvtx_ranges.h"
#include "ingest/sqlite_file.h"

namespace assay {
namespace {

// ---- is it one? ---------------------------------------------------------------------------------

bool any_starts_with(const std::vector<std::string>& tables, std::string_view prefix) {
  return std::any_of(tables.begin(), tables.end(),
                     [prefix](const std::string& t) { return t.starts_with(prefix); });
}

Error unsupported(std::string message) {
  return Error{ErrorCode::kUnsupported, std::move(message), "", -1};
}

Error unknown_tables(const std::vector<std::string>& tables) {
  constexpr size_t kShown = 6;
  constexpr size_t kShownLetters = 40;
  if (tables.empty()) {
    return Error{ErrorCode::kNotATrace,
                 "a SQLite file without tables; export the report again: nsys export --type sqlite",
                 "", -1};
  }
  std::string list;
  for (size_t i = 0; i < tables.size() && i < kShown; ++i) {
    list += (i == 0 ? "" : ", ") + tables[i].substr(0, kShownLetters);
  }
  if (tables.size() > kShown) list += " and " + std::to_string(tables.size() - kShown) + " more";
  return Error{
      ErrorCode::kNotATrace,
      "unsupported: a SQLite file that is not an Nsight Systems export; its tables are " + list, "",
      -1};
}

Status check_kind(const SqliteFile& file) {
  const std::vector<std::string> tables = file.table_names();
  const bool nsys = file.has_table("META_DATA_EXPORT") || file.has_table("EXPORT_META_DATA") ||
                    file.has_table("NVTX_EVENTS") ||
                    any_starts_with(tables, "CUPTI_ACTIVITY_KIND_");
  if (!nsys) return unknown_tables(tables);
  return Ok{};
}

// ---- properties of the recording ----------------------------------------------------------------

// Reads the version of the export, but no names of users, hosts or paths.
Status read_version(const SqliteFile& file, TraceBuilder& builder,
                    std::vector<MetadataEntry>& metadata) {
  const char* table = file.has_table("META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA";
  ASSAY_TRY_ASSIGN(SqliteRows rows, file.rows(table, {"name", "value"}));
  int64_t major = -1;
  while (rows.next()) {
    std::string_view name;
    std::string_view value;
    if (rows.text(0, name) != CellRead::kValue || rows.text(1, value) != CellRead::kValue) continue;
    const bool is_schema = name == "EXPORT_SCHEMA_VERSION";
    if (is_schema || name == "EXPORT_PRODUCT_VERSION") {
      metadata.push_back({std::string(name), std::string(value)});
    }
    if (is_schema && !parse_int64(value.substr(0, value.find('.')), major)) major = -1;
  }
  if (major != 3) builder.log.add(ImportCode::kUnknownSchema);
  return rows.status();
}

// Start of the session in epoch nanoseconds; 0 if unknown.
Result<int64_t> read_base_time(const SqliteFile& file, TraceBuilder& builder) {
  ASSAY_TRY_ASSIGN(SqliteRows rows, file.rows("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}));
  int64_t base_ns = 0;
  while (rows.next() && base_ns == 0) base_ns = rows.integer_or(0, 0);
  ASSAY_TRY(rows.status());
  if (base_ns >= 0 && base_ns <= kLatestNs) return base_ns;
  builder.log.add(ImportCode::kBadBaseTime);
  return 0;
}

// End of recording, from the start of the session; 0 if unknown.
Result<int64_t> read_session_end(const SqliteFile& file) {
  constexpr int64_t kLongestNs = int64_t{1} << 48;  // three days
  ASSAY_TRY_ASSIGN(SqliteRows rows, file.rows("ANALYSIS_DETAILS", {"duration"}));
  int64_t end_ns = 0;
  while (rows.next()) {
    const int64_t duration_ns = rows.integer_or(0, 0);
    if (duration_ns <= kLongestNs) end_ns = std::max(end_ns, duration_ns);
  }
  ASSAY_TRY(rows.status());
  return end_ns;
}

// The device map; empty unless several processes number devices differently.
Result<NsysDevices> read_device_map(const SqliteFile& file,
                                    std::map<int64_t, int64_t>& cuda_of_gpu) {
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file.rows("TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"}));
  NsysDevices gpus;
  std::map<int64_t, bool> pids;
  while (rows.next()) {
    int64_t pid = 0;
    int64_t cuda = 0;
    int64_t gpu = 0;
    const bool told = rows.integer(0, pid) == CellRead::kValue &&
                      rows.integer(1, cuda) == CellRead::kValue &&
                      rows.integer(2, gpu) == CellRead::kValue;
    if (!told) continue;
    pids[pid] = true;
    gpus[{pid & 0xFFFFFF, cuda}] = gpu;
    cuda_of_gpu[gpu] = cuda;
  }
  ASSAY_TRY(rows.status());
  if (pids.size() < 2) gpus.clear();
  return gpus;
}

// Device properties, numbered as in the rows of the trace. gpu_of_counter: set to the map from
// counters' GPU numbers to these.
Result<std::vector<DeviceProperties>> read_devices(const SqliteFile& file, bool by_gpu,
                                                   const std::map<int64_t, int64_t>& cuda_of_gpu,
                                                   std::map<int64_t, int64_t>& gpu_of_counter) {
  enum { kId, kCuda, kCounter, kName, kMemory, kProcessors, kWarp, kMajor, kMinor };
  ASSAY_TRY_ASSIGN(
      SqliteRows rows,
      file.rows("TARGET_INFO_GPU", {"id", "cuDevice", "pwGpuId", "name", "totalMemory", "smCount",
                                    "threadsPerWarp", "computeMajor", "computeMinor"}));
  std::vector<DeviceProperties> devices;
  while (rows.next()) {
    DeviceProperties device;
    const int64_t gpu = rows.integer_or(kId, static_cast<int64_t>(devices.size()));
    const auto known = cuda_of_gpu.find(gpu);
    const int64_t cuda = rows.integer_or(kCuda, known == cuda_of_gpu.end() ? gpu : known->second);
    device.id = by_gpu ? gpu : cuda;
    std::string_view name;
    if (rows.text(kName, name) == CellRead::kValue) device.name = name;
    device.total_memory_bytes = rows.integer_or(kMemory, 0);
    device.multiprocessors = rows.integer_or(kProcessors, 0);
    device.warp_size = rows.integer_or(kWarp, 0);
    device.compute_major = rows.integer_or(kMajor, 0);
    device.compute_minor = rows.integer_or(kMinor, 0);
    gpu_of_counter[rows.integer_or(kCounter, gpu)] = device.id;
    devices.push_back(std::move(device));
  }
  ASSAY_TRY(rows.status());
  std::sort(devices.begin(), devices.end(),
            [](const DeviceProperties& a, const DeviceProperties& b) { return a.id < b.id; });
  return devices;
}

// Reads GPU_METRICS into counters as Kineto names them: pid "GPU n Counters".
Status read_counters(const SqliteFile& file, const std::map<int64_t, int64_t>& gpu_of_counter,
                     TraceBuilder& builder) {
  std::map<std::pair<int64_t, int64_t>, StringId> metric_names;
  ASSAY_TRY_ASSIGN(SqliteRows metrics,
                   file.rows("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"}));
  while (metrics.next()) {
    std::string_view name;
    if (metrics.text(2, name) != CellRead::kValue) continue;
    metric_names[{metrics.integer_or(0, 0), metrics.integer_or(1, 0)}] = builder.text(name);
  }
  ASSAY_TRY(metrics.status());
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file.rows("GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}));
  int64_t last_type = 0;
  ThreadId lane;
  while (rows.next()) {
    ++builder.counts.events;
    int64_t time_ns = 0;
    double value = 0;
    if (rows.integer(0, time_ns) != CellRead::kValue) {
      builder.log.add(ImportCode::kMissingTimestamp);
      continue;
    }
    if (rows.number(3, value) != CellRead::kValue) {
      builder.log.add(ImportCode::kWrongType);
      continue;
    }
    const int64_t type = rows.integer_or(1, 0);
    if (!lane || type != last_type) {
      const auto gpu = gpu_of_counter.find(type & 0xFF);
      const int64_t device = gpu == gpu_of_counter.end() ? type & 0xFF : gpu->second;
      lane = builder.thread("GPU " + std::to_string(device) + " Counters", "");
      last_type = type;
    }
    const int64_t metric = rows.integer_or(2, 0);
    const auto named = metric_names.find({type, metric});
    if (named == metric_names.end()) builder.log.add(ImportCode::kMissingName);
    const StringId name = named != metric_names.end()
                              ? named->second
                              : builder.text("metric " + std::to_string(metric));
    builder.counters.push_back({time_ns, name, StringId(0), lane, value});
  }
  return rows.status();
}

// Names only threads with rows; the file names every thread of the machine. A thread without a name
// gets the name of its process without folders.
Status read_thread_names(const SqliteFile& file, NsysLanes& lanes, NsysNames& names,
                         TraceBuilder& builder) {
  ASSAY_TRY_ASSIGN(SqliteRows processes, file.rows("PROCESSES", {"globalPid", "name"}));
  while (processes.next()) {
    int64_t id = 0;
    std::string_view name;
    const bool told =
        processes.integer(0, id) == CellRead::kValue && processes.text(1, name) == CellRead::kValue;
    if (told) lanes.name_process(static_cast<uint64_t>(id), name.substr(name.rfind('/') + 1));
  }
  ASSAY_TRY(processes.status());
  ASSAY_TRY_ASSIGN(SqliteRows threads, file.rows("ThreadNames", {"globalTid", "nameId"}));
  while (threads.next()) {
    int64_t id = 0;
    int64_t name = 0;
    const bool told =
        threads.integer(0, id) == CellRead::kValue && threads.integer(1, name) == CellRead::kValue;
    if (!told || !lanes.knows_thread(static_cast<uint64_t>(id))) continue;
    lanes.name_thread(static_cast<uint64_t>(id),
                      builder.strings.view(names.find(name, NameForm::kPlain, builder)));
  }
  return threads.status();
}

Status count_profiler_errors(const SqliteFile& file, TraceBuilder& builder) {
  constexpr int64_t kError = 3;  // ENUM_DIAGNOSTIC_SEVERITY_LEVEL
  ASSAY_TRY_ASSIGN(SqliteRows rows, file.rows("DIAGNOSTIC_EVENT", {"severity"}));
  while (rows.next()) {
    if (rows.integer_or(0, 0) == kError) builder.log.add(ImportCode::kProfilerError);
  }
  return rows.status();
}

}  // namespace

Result<Trace> read_nsys_sqlite(const std::string& path, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(const SqliteFile file, SqliteFile::open(path));
  ASSAY_TRY(check_kind(file));
  if (options.progress != nullptr) options.progress->stored_bytes = file.bytes();

  TraceBuilder builder;
  std::vector<MetadataEntry> metadata;
  ASSAY_TRY(read_version(file, builder, metadata));
  ASSAY_TRY_ASSIGN(const int64_t base_ns, read_base_time(file, builder));
  ASSAY_TRY_ASSIGN(const int64_t session_end_ns, read_session_end(file));
  std::map<int64_t, int64_t> cuda_of_gpu;
  std::map<int64_t, int64_t> gpu_of_counter;
  ASSAY_TRY_ASSIGN(const NsysDevices gpus, read_device_map(file, cuda_of_gpu));
  ASSAY_TRY_ASSIGN(std::vector<DeviceProperties> devices,
                   read_devices(file, !gpus.empty(), cuda_of_gpu, gpu_of_counter));

  NsysLanes lanes(builder);
  ASSAY_TRY_ASSIGN(NsysNames names, NsysNames::open(file));
  NsysCells cells(file, builder, lanes, names, options, expected_rows(file));
  ASSAY_TRY(read_host_rows(file, cells));
  ASSAY_TRY(read_device_rows(file, gpus, cells));
  cells.finish(session_end_ns);
  ASSAY_TRY(read_counters(file, gpu_of_counter, builder));
  ASSAY_TRY(read_thread_names(file, lanes, names, builder));
  ASSAY_TRY(names.status());
  ASSAY_TRY(count_profiler_errors(file, builder));
  if (builder.longest_table() >= UINT32_MAX) return unsupported("more than 2^32 rows in one table");

  const size_t ranges = builder.annotations.size();
  pair_marks(builder);
  for (size_t row = ranges; row < builder.annotations.size(); ++row) {
    cells.push_pop_rows.push_back(static_cast<uint32_t>(row));
  }
  add_stand_in_operators(builder, std::move(cells.push_pop_rows));
  Trace trace = std::move(builder).finish(base_ns);
  trace.tracer = Tracer::kNsightSystems;
  trace.devices = std::move(devices);
  trace.metadata.insert(trace.metadata.begin(), metadata.begin(), metadata.end());
  trace.content_bytes = file.bytes();
  return trace;
}

}  // namespace assay
