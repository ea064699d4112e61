#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/nsys/rows.h"

namespace assay {
namespace {

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kFills = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* kSyncs = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr const char* kAllocations = "CUDA_GPU_MEMORY_USAGE_EVENTS";

// Kineto's names for the kinds of CUpti_ActivitySynchronizationType.
std::string_view sync_name(int64_t type) {
  constexpr std::string_view kNames[] = {"Unknown Sync", "Event Sync", "Stream Wait Event",
                                         "Stream Sync", "Context Sync"};
  return type >= 0 && type < 5 ? kNames[type] : kNames[0];
}

const std::vector<std::string> kMemoryKinds = {"Pageable",       "Pinned",  "Device",
                                               "Array",          "Managed", "Device Static",
                                               "Managed Static", "Unknown"};
const std::vector<std::string> kCopyKinds = {"UNKNOWN", "_HTOD", "_DTOH", "_HTOA", "_ATOH",
                                             "_ATOA",   "_ATOD", "_DTOA", "_DTOD", "_HTOH",
                                             "_PTOP",   "_HTOD", "_DTOH", "_DTOD"};

// Names of copies and fills, each made once. All kinds lie in 0..15.
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
      text.append(memory_.word(from)).append(" -> ").append(memory_.word(to)).append(")");
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

  NsysWords copies_{kCopyKinds};
  NsysWords memory_{kMemoryKinds};
  std::vector<StringId> names_ = std::vector<StringId>(16 * 16 * 16);
};

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

  const SqliteFile& file_;
  const NsysDevices& devices_;
  NsysCells& cells_;
};

// The cells from first_lane_cell on: deviceId, streamId, correlationId, globalPid.
void DeviceRows::add_activity(const NsysSpan& span, StringId name, ActivityKind kind,
                              const SqliteRows& rows, int first_lane_cell) {
  const uint32_t process = cells_.read_process(rows, first_lane_cell + 3);
  int64_t device = rows.integer_or(first_lane_cell, -1);
  if (!devices_.empty()) {
    const int64_t pid = rows.integer_or(first_lane_cell + 3, 0) >> 24 & 0xFFFFFF;
    const auto found = devices_.find({pid, device});
    if (found != devices_.end()) device = found->second;
  }
  int64_t stream = rows.integer_or(first_lane_cell + 1, -1);
  if (stream < 0 || stream >= std::numeric_limits<uint32_t>::max()) stream = -1;
  const bool is_work = kind != ActivityKind::kSync;
  cells_.builder.activities.push_back(
      {span.start_ns, span.dur_ns, name, cells_.lanes.stream(process, device, stream),
       cells_.read_correlation(rows, first_lane_cell + 2, is_work), 0, kind});
  cells_.activity_process.push_back(process);
  cells_.note_open(span, cells_.builder.activities);
}

// The cells from first_cell on, as ordered in read_kernels().
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

Status DeviceRows::read_syncs() {
  enum { kStart, kEnd, kType, kLane };
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(kSyncs, {"start", "end", "syncType", "deviceId",
                                                        "streamId", "correlationId", "globalPid"}));
  while (rows.next()) {
    cells_.count_row();
    NsysSpan span;
    if (!cells_.read_span(rows, kStart, kEnd, span)) continue;
    add_activity(span, cells_.builder.text(sync_name(rows.integer_or(kType, 0))),
                 ActivityKind::kSync, rows, kLane);
  }
  return rows.status();
}

// Graphs that ran as one row. Where their kernels are told too, the row would count them twice.
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
