#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ingest/nsys/rows.h"
#include "trace/wait_names.h"

namespace assay {
namespace {

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kFills = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* kSyncs = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
constexpr const char* kRecords = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr const char* kAllocations = "CUDA_GPU_MEMORY_USAGE_EVENTS";

const std::vector<std::string> kMemoryKinds = {"Pageable",       "Pinned",  "Device",
                                               "Array",          "Managed", "Device Static",
                                               "Managed Static", "Unknown"};
const std::vector<std::string> kCopyKinds = {"UNKNOWN", "_HTOD", "_DTOH", "_HTOA", "_ATOH",
                                             "_ATOA",   "_ATOD", "_DTOA", "_DTOD", "_HTOH",
                                             "_PTOP",   "_HTOD", "_DTOH", "_DTOD"};

// Range of kCopyKinds that migrate pages of managed memory.
constexpr int64_t kFirstMigration = 11;
constexpr int64_t kLastMigration = 13;

// Names of copies and fills, cached. All kinds are in 0..15.
class TransferNames {
 public:
  Status open(const SqliteFile& file) {
    ASSAY_TRY(copies_.read(file, "ENUM_CUDA_MEMCPY_OPER", "name"));
    return memory_.read(file, "ENUM_CUDA_MEM_KIND", "label");
  }
  StringId copy(TraceBuilder& builder, int64_t kind, int64_t from, int64_t to) {
    StringId& name = names_[place(kind) << 8 | place(from) << 4 | place(to)];
    if (!name) {
      std::string text = "Memcpy " + copy_direction(copies_.word(kind)) + " (";
      const bool moves_pages = kind >= kFirstMigration && kind <= kLastMigration;
      text.append(side(from, moves_pages)).append(" -> ").append(side(to, moves_pages)).append(")");
      name = builder.text(text);
    }
    return name;
  }
  StringId fill(TraceBuilder& builder, int64_t memory) {
    return builder.text("Memset (" + std::string(memory_.word(memory)) + ")");
  }

 private:
  static size_t place(int64_t kind) {
    return kind >= 0 && kind < 15 ? static_cast<size_t>(kind) : 15;
  }

  // In a page migration, memory that is not the device's is managed memory.
  std::string_view side(int64_t memory, bool moves_pages) const {
    const std::string_view word = memory_.word(memory);
    return moves_pages && word.find("Device") == std::string_view::npos ? "Managed" : word;
  }

  NsysWords copies_{kCopyKinds};
  NsysWords memory_{kMemoryKinds};
  std::vector<StringId> names_ = std::vector<StringId>(size_t{16} * 16 * 16);
};

// Maps an event to the call that recorded it and its stream. The rows of records have no time, but
// correlation ids increase with the calls of a process: the last record before a wait is the one
// waited for.
class EventRecords {
 public:
  struct Record {
    uint32_t correlation = 0;
    int64_t device = -1;  // number in the trace
    int64_t stream = -1;
  };

  void add(uint32_t process, int64_t event, const Record& record) {
    of_event_[{process, event}].push_back(record);
  }
  // Call once, after the last add().
  void sort();
  // Null if no record precedes `correlation`.
  const Record* last_before(uint32_t process, int64_t event, uint32_t correlation) const;

 private:
  std::map<std::pair<uint32_t, int64_t>, std::vector<Record>> of_event_;  // by correlation
};

void EventRecords::sort() {
  for (auto& [event, records] : of_event_) {
    std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
      return std::tie(a.correlation, a.device, a.stream) <
             std::tie(b.correlation, b.device, b.stream);
    });
  }
}

const EventRecords::Record* EventRecords::last_before(uint32_t process, int64_t event,
                                                      uint32_t correlation) const {
  const auto found = of_event_.find({process, event});
  if (found == of_event_.end() || correlation == 0) return nullptr;
  const auto after = std::partition_point(
      found->second.begin(), found->second.end(),
      [correlation](const Record& record) { return record.correlation < correlation; });
  return after == found->second.begin() ? nullptr : &*(after - 1);
}

class DeviceRows {
 public:
  DeviceRows(const SqliteFile& file, const NsysDevices& devices, NsysCells& cells)
      : file_(file), devices_(devices), cells_(cells) {}

  Status read_kernels();
  Status read_copies();
  Status read_fills();
  Status read_syncs();
  Status read_graphs();
  Status read_memory();

 private:
  void add_activity(const NsysSpan& span, StringId name, ActivityKind kind, const SqliteRows& rows,
                    int first_lane_cell);
  void add_shape(const SqliteRows& rows, int first_cell);
  void add_transfer(const SqliteRows& rows, int cell);
  Result<EventRecords> read_records();
  void add_wait(WaitKind kind, uint32_t correlation, int64_t event, const EventRecords& records);
  // The row's device and stream numbers in the trace.
  int64_t device_of(const SqliteRows& rows, int first_lane_cell) const;
  static int64_t stream_of(int64_t recorded);

  const SqliteFile& file_;
  const NsysDevices& devices_;
  NsysCells& cells_;
};

int64_t DeviceRows::device_of(const SqliteRows& rows, int first_lane_cell) const {
  const int64_t device = rows.integer_or(first_lane_cell, -1);
  if (devices_.empty()) return device;
  const int64_t pid = rows.integer_or(first_lane_cell + 3, 0) >> 24 & 0xFFFFFF;
  const auto found = devices_.find({pid, device});
  return found == devices_.end() ? device : found->second;
}

int64_t DeviceRows::stream_of(int64_t recorded) {
  return recorded < 0 || recorded >= std::numeric_limits<uint32_t>::max() ? -1 : recorded;
}

// Cells starting at first_lane_cell: deviceId, streamId, correlationId, globalPid.
void DeviceRows::add_activity(const NsysSpan& span, StringId name, ActivityKind kind,
                              const SqliteRows& rows, int first_lane_cell) {
  const uint32_t process = cells_.read_process(rows, first_lane_cell + 3);
  const int64_t device = device_of(rows, first_lane_cell);
  const int64_t stream = stream_of(rows.integer_or(first_lane_cell + 1, -1));
  const bool is_work = kind != ActivityKind::kSync;
  cells_.builder.activities.push_back(
      {span.start_ns, span.dur_ns, name, cells_.lanes.stream(process, device, stream),
       cells_.read_correlation(rows, first_lane_cell + 2, is_work), 0, kind});
  cells_.activity_process.push_back(process);
  cells_.note_open(span, cells_.builder.activities);
}

// Cells starting at first_cell are ordered as in read_kernels().
void DeviceRows::add_shape(const SqliteRows& rows, int first_cell) {
  const auto cell = [&](int i) { return small_or_zero(rows.integer_or(first_cell + i, 0)); };
  const auto id = [&](int i) {
    return static_cast<uint64_t>(std::max<int64_t>(rows.integer_or(first_cell + i, 0), 0));
  };
  const uint32_t shared = small_or_zero(int64_t{cell(7)} + cell(8));
  cells_.builder.kernel_shapes.push_back({ActivityId(cells_.builder.activities.size() - 1), cell(0),
                                          cell(1), cell(2), cell(3), cell(4), cell(5), cell(6),
                                          shared, id(9), id(10)});
}

Status DeviceRows::read_kernels() {
  enum { kStart, kEnd, kDemangled, kShort, kMangled, kLane, kShape = kLane + 4 };
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(kKernels, {"start",
                                                          "end",
                                                          "demangledName",
                                                          "shortName",
                                                          "mangledName",
                                                          "deviceId",
                                                          "streamId",
                                                          "correlationId",
                                                          "globalPid",
                                                          "gridX",
                                                          "gridY",
                                                          "gridZ",
                                                          "blockX",
                                                          "blockY",
                                                          "blockZ",
                                                          "registersPerThread",
                                                          "staticSharedMemory",
                                                          "dynamicSharedMemory",
                                                          "graphId",
                                                          "graphNodeId"}));
  while (rows.next()) {
    cells_.count_row();
    NsysSpan span;
    if (!cells_.read_span(rows, kStart, kEnd, span)) continue;
    int64_t id = 0;
    int name_cell = kDemangled;
    while (name_cell < kMangled && rows.integer(name_cell, id) != CellRead::kValue) ++name_cell;
    add_activity(span, cells_.read_name(rows, name_cell, NameForm::kPlain), ActivityKind::kKernel,
                 rows, kLane);
    add_shape(rows, kShape);
  }
  return rows.status();
}

void DeviceRows::add_transfer(const SqliteRows& rows, int cell) {
  const int64_t bytes = rows.integer_or(cell, -1);
  if (bytes >= 0) {
    cells_.builder.transfers.push_back({ActivityId(cells_.builder.activities.size() - 1), bytes});
  }
}

Status DeviceRows::read_copies() {
  enum { kStart, kEnd, kBytes, kKind, kFrom, kTo, kLane };
  TransferNames names;
  ASSAY_TRY(names.open(file_));
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file_.rows(kCopies, {"start", "end", "bytes", "copyKind", "srcKind", "dstKind",
                                        "deviceId", "streamId", "correlationId", "globalPid"}));
  while (rows.next()) {
    cells_.count_row();
    NsysSpan span;
    if (!cells_.read_span(rows, kStart, kEnd, span)) continue;
    const StringId name = names.copy(cells_.builder, rows.integer_or(kKind, -1),
                                     rows.integer_or(kFrom, -1), rows.integer_or(kTo, -1));
    add_activity(span, name, ActivityKind::kMemcpy, rows, kLane);
    add_transfer(rows, kBytes);
  }
  return rows.status();
}

Status DeviceRows::read_fills() {
  enum { kStart, kEnd, kBytes, kMemory, kLane };
  TransferNames names;
  ASSAY_TRY(names.open(file_));
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file_.rows(kFills, {"start", "end", "bytes", "memKind", "deviceId", "streamId",
                                       "correlationId", "globalPid"}));
  while (rows.next()) {
    cells_.count_row();
    NsysSpan span;
    if (!cells_.read_span(rows, kStart, kEnd, span)) continue;
    add_activity(span, names.fill(cells_.builder, rows.integer_or(kMemory, -1)),
                 ActivityKind::kMemset, rows, kLane);
    add_transfer(rows, kBytes);
  }
  return rows.status();
}

Result<EventRecords> DeviceRows::read_records() {
  enum { kLane, kStream, kCorrelation, kProcess, kEvent };
  EventRecords records;
  if (!file_.has_table(kRecords)) return records;
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(kRecords, {"deviceId", "streamId", "correlationId",
                                                          "globalPid", "eventId"}));
  while (rows.next()) {
    const EventRecords::Record record{cells_.read_correlation(rows, kCorrelation, false),
                                      device_of(rows, kLane),
                                      stream_of(rows.integer_or(kStream, -1))};
    if (record.correlation == 0) continue;
    records.add(cells_.read_process(rows, kProcess), rows.integer_or(kEvent, -1), record);
  }
  ASSAY_TRY(rows.status());
  records.sort();
  return records;
}

Status DeviceRows::read_syncs() {
  enum { kStart, kEnd, kType, kLane, kEvent = kLane + 4 };
  ASSAY_TRY_ASSIGN(const EventRecords records, read_records());
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file_.rows(kSyncs, {"start", "end", "syncType", "deviceId", "streamId",
                                       "correlationId", "globalPid", "eventId"}));
  while (rows.next()) {
    cells_.count_row();
    NsysSpan span;
    if (!cells_.read_span(rows, kStart, kEnd, span)) continue;
    const WaitKind kind = wait_kind_of(rows.integer_or(kType, 0));
    add_activity(span, cells_.builder.text(wait_name(kind)), ActivityKind::kSync, rows, kLane);
    add_wait(kind, cells_.builder.activities.correlation.back(), rows.integer_or(kEvent, -1),
             records);
  }
  return rows.status();
}

// Adds what the last added synchronization row waits for. Its correlation id and that of the record
// belong to one process and are renumbered together later.
void DeviceRows::add_wait(WaitKind kind, uint32_t correlation, int64_t event,
                          const EventRecords& records) {
  if (kind == WaitKind::kUnknown) return;
  TraceBuilder& builder = cells_.builder;
  const uint32_t process = cells_.activity_process.back();
  int64_t waited = -1;
  uint32_t record_correlation = 0;
  if (kind == WaitKind::kStreamSync) {
    waited = builder.stream_number(builder.activities.stream.back());
  } else if (kind != WaitKind::kContextSync) {
    if (const auto* record = records.last_before(process, event, correlation)) {
      record_correlation = record->correlation;
      const StreamId lane = cells_.lanes.find_stream(process, record->device, record->stream);
      if (lane) waited = builder.stream_number(lane);
    }
  }
  builder.waits.push_back(
      {ActivityId(builder.activities.size() - 1), kind, waited, record_correlation});
  cells_.wait_process.push_back(process);
}

// Reads graphs recorded as one row, unless their kernels are recorded too, which would count them
// twice.
Status DeviceRows::read_graphs() {
  enum { kStart, kEnd, kGraph, kLane, kCorrelation = kLane + 2, kProcess = kLane + 3 };
  if (!file_.has_table(kGraphs)) return Ok{};
  std::vector<std::pair<uint32_t, uint32_t>> told;
  for (size_t i = 0; i < cells_.builder.activities.size(); ++i) {
    if (cells_.builder.activities.kind[i] != ActivityKind::kKernel) continue;
    told.emplace_back(cells_.activity_process[i], cells_.builder.activities.correlation[i]);
  }
  std::sort(told.begin(), told.end());
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file_.rows(kGraphs, {"start", "end", "graphId", "deviceId", "streamId",
                                        "correlationId", "globalPid"}));
  while (rows.next()) {
    cells_.count_row();
    NsysSpan span;
    if (!cells_.read_span(rows, kStart, kEnd, span)) continue;
    const std::pair<uint32_t, uint32_t> key(cells_.read_process(rows, kProcess),
                                            small_or_zero(rows.integer_or(kCorrelation, 0)));
    if (key.second != 0 && std::binary_search(told.begin(), told.end(), key)) continue;
    cells_.builder.log.add(ImportCode::kGraphWithoutKernels);
    const std::string name = "CUDA graph " + std::to_string(rows.integer_or(kGraph, 0));
    add_activity(span, cells_.builder.text(name), ActivityKind::kOther, rows, kLane);
  }
  return rows.status();
}

Status DeviceRows::read_memory() {
  enum { kStart, kBytes, kAddress, kDevice, kKind, kOperation };
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file_.rows(kAllocations, {"start", "bytes", "address", "deviceId", "memKind",
                                             "memoryOperationType"}));
  while (rows.next()) {
    cells_.count_row();
    int64_t time_ns = 0;
    if (!cells_.read_time(rows, kStart, time_ns)) continue;
    // CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION is 1; host memory is pageable (0) or pinned (1).
    const int64_t bytes = std::max<int64_t>(rows.integer_or(kBytes, 0), 0);
    const int64_t signed_bytes = rows.integer_or(kOperation, 0) == 1 ? -bytes : bytes;
    const int64_t memory = rows.integer_or(kKind, 2);
    const bool on_host = memory == 0 || memory == 1;
    const auto device = static_cast<int32_t>(
        std::clamp<int64_t>(rows.integer_or(kDevice, -1), -1, std::numeric_limits<int32_t>::max()));
    cells_.builder.memory_events.push_back({time_ns, signed_bytes, -1, -1,
                                            static_cast<uint64_t>(rows.integer_or(kAddress, 0)),
                                            on_host ? 0 : 1, on_host ? -1 : device});
  }
  return rows.status();
}

}  // namespace

Status read_device_rows(const SqliteFile& file, const NsysDevices& devices, NsysCells& cells) {
  DeviceRows rows(file, devices, cells);
  ASSAY_TRY(rows.read_kernels());
  ASSAY_TRY(rows.read_copies());
  ASSAY_TRY(rows.read_fills());
  ASSAY_TRY(rows.read_syncs());
  ASSAY_TRY(rows.read_graphs());
  return rows.read_memory();
}

}  // namespace assay
