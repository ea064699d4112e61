#include "ingest/nsys_rows.h"

#include <algorithm>
#include <limits>

#include "base/decimal.h"
#include "ingest/json_text.h"

namespace assay {
namespace {

// Beyond the year 2043 in epoch nanoseconds: no sum or difference of two such times overflows.
constexpr int64_t kLatestNs = int64_t{1} << 61;

constexpr const char* kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kFills = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* kSyncs = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr const char* kRanges = "NVTX_EVENTS";
constexpr const char* kOverheads = "PROFILER_OVERHEAD";
constexpr const char* kMemory = "CUDA_GPU_MEMORY_USAGE_EVENTS";

// Tables of host calls that no analysis takes for operators, and the category they are kept under.
struct OtherTable {
  const char* table;
  std::string_view category;
};
constexpr OtherTable kOtherTables[] = {
    {"OSRT_API", "osrt"}, {"CUBLAS_EVENTS", "cublas"}, {"CUDNN_EVENTS", "cudnn"}};

// ENUM_NSYS_EVENT_TYPE. The nvtxt ones come from text files that were merged into the report.
enum NvtxType : int64_t {
  kNvtxMark = 34,
  kNvtxPush = 35,
  kNvtxPop = 36,
  kNvtxStart = 37,
  kNvtxEnd = 38,
  kNvtxPushPopRange = 59,
  kNvtxStartEndRange = 60,
  kNvtxtMark = 65,
  kNvtxtPushPopRange = 70,
  kNvtxtStartEndRange = 71,
};

uint32_t small_or_zero(int64_t value) {
  return value >= 0 && value <= std::numeric_limits<uint32_t>::max() ? static_cast<uint32_t>(value)
                                                                     : 0u;
}

// What torch.autograd.profiler.emit_nvtx() puts behind an operator's name:
// "aten::mm, seq = 12, op_id = 40, sizes = [[8, 128], [128, 64]], input_op_ids = [...]".
struct OpLabel {
  std::string_view name;
  int64_t sequence = -1;
  std::string_view sizes;
  bool from_framework = false;
};

std::string_view part_after(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + key.size());
}

OpLabel op_label(std::string_view text) {
  OpLabel label;
  label.name = text;
  for (const std::string_view key : {", seq = ", ", op_id = ", ", sizes = "}) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos || at == 0) continue;
    label.from_framework = true;
    label.name = label.name.substr(0, std::min(at, label.name.size()));
  }
  if (!label.from_framework) return label;
  const std::string_view sequence = part_after(text, ", seq = ");
  if (!parse_int64(sequence.substr(0, sequence.find(',')), label.sequence)) label.sequence = -1;
  const std::string_view sizes = part_after(text, ", sizes = ");
  label.sizes = sizes.substr(0, sizes.find(", input_op_ids"));
  return label;
}

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

}  // namespace

Status NsysRows::read_all(int64_t session_end_ns,
                          const std::map<std::pair<int64_t, int64_t>, int64_t>& devices_by_gpu) {
  devices_by_gpu_ = devices_by_gpu;
  for (const char* table : {kCalls, kKernels, kCopies, kFills, kSyncs, kGraphs, kRanges}) {
    rows_expected_ += file_.last_row(table);
  }
  for (const OtherTable& other : kOtherTables) rows_expected_ += file_.last_row(other.table);
  ASSAY_TRY(read_calls());
  ASSAY_TRY(read_kernels());
  ASSAY_TRY(read_copies());
  ASSAY_TRY(read_fills());
  ASSAY_TRY(read_syncs());
  ASSAY_TRY(read_graphs());
  ASSAY_TRY(read_ranges());
  ASSAY_TRY(read_overheads());
  for (const OtherTable& other : kOtherTables) ASSAY_TRY(read_other(other.table, other.category));
  ASSAY_TRY(read_memory());
  ASSAY_TRY(names_.status());
  close_open_rows(session_end_ns);
  separate_correlations();
  return Ok{};
}

Status NsysRows::read_calls() {
  enum { kStart, kEnd, kClass, kThread, kCorrelation, kName };
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(kCalls, {"start", "end", "eventClass", "globalTid",
                                                        "correlationId", "nameId"}));
  while (rows.next()) {
    count_row();
    Span span;
    if (!read_span(rows, kStart, kEnd, span)) continue;
    const StringId name = read_name(rows, kName, NameForm::kApi);
    // TRACE_PROCESS_EVENT_CUDA_RUNTIME and _DRIVER of ENUM_NSYS_EVENT_CLASS; else by name.
    const int64_t event_class = rows.integer_or(kClass, -1);
    const bool runtime_name = builder_.strings.view(name).substr(0, 4) == "cuda";
    const bool is_runtime = event_class == 0 || (event_class != 1 && runtime_name);
    builder_.api_calls.push_back({span.start_ns, span.dur_ns, name, read_thread(rows, kThread),
                                  read_correlation(rows, kCorrelation, false), 0,
                                  is_runtime ? ApiKind::kRuntime : ApiKind::kDriver});
    call_process_.push_back(read_process(rows, kThread));
    note_open(span, builder_.api_calls);
  }
  return rows.status();
}

// The cells from first_lane_cell on: deviceId, streamId, correlationId, globalPid.
void NsysRows::add_activity(const Span& span, StringId name, ActivityKind kind,
                            const SqliteRows& rows, int first_lane_cell) {
  const uint32_t process = read_process(rows, first_lane_cell + 3);
  int64_t device = rows.integer_or(first_lane_cell, -1);
  if (!devices_by_gpu_.empty()) {
    const int64_t pid = rows.integer_or(first_lane_cell + 3, 0) >> 24 & 0xFFFFFF;
    const auto found = devices_by_gpu_.find({pid, device});
    if (found != devices_by_gpu_.end()) device = found->second;
  }
  int64_t stream = rows.integer_or(first_lane_cell + 1, -1);
  if (stream < 0 || stream >= std::numeric_limits<uint32_t>::max()) stream = -1;
  const bool is_work = kind != ActivityKind::kSync;
  builder_.activities.push_back({span.start_ns, span.dur_ns, name,
                                 lanes_.stream(process, device, stream),
                                 read_correlation(rows, first_lane_cell + 2, is_work), 0, kind});
  activity_process_.push_back(process);
  note_open(span, builder_.activities);
}

// The cells from first_cell on, as ordered in read_kernels().
void NsysRows::add_shape(const SqliteRows& rows, int first_cell) {
  const auto cell = [&](int i) { return small_or_zero(rows.integer_or(first_cell + i, 0)); };
  const auto id = [&](int i) {
    return static_cast<uint64_t>(std::max<int64_t>(rows.integer_or(first_cell + i, 0), 0));
  };
  const uint32_t shared = small_or_zero(int64_t{cell(7)} + cell(8));
  builder_.kernel_shapes.push_back({ActivityId(builder_.activities.size() - 1), cell(0), cell(1),
                                    cell(2), cell(3), cell(4), cell(5), cell(6), shared, id(9),
                                    id(10)});
}

Status NsysRows::read_kernels() {
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
    count_row();
    Span span;
    if (!read_span(rows, kStart, kEnd, span)) continue;
    int64_t id = 0;
    int name_cell = kDemangled;
    while (name_cell < kMangled && rows.integer(name_cell, id) != CellRead::kValue) ++name_cell;
    add_activity(span, read_name(rows, name_cell, NameForm::kPlain), ActivityKind::kKernel, rows,
                 kLane);
    add_shape(rows, kShape);
  }
  return rows.status();
}

void NsysRows::add_transfer(const SqliteRows& rows, int cell) {
  const int64_t bytes = rows.integer_or(cell, -1);
  if (bytes >= 0) {
    builder_.transfers.push_back({ActivityId(builder_.activities.size() - 1), bytes});
  }
}

Status NsysRows::read_copies() {
  enum { kStart, kEnd, kBytes, kKind, kFrom, kTo, kLane };
  TransferNames names;
  ASSAY_TRY(names.open(file_));
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file_.rows(kCopies, {"start", "end", "bytes", "copyKind", "srcKind", "dstKind",
                                        "deviceId", "streamId", "correlationId", "globalPid"}));
  while (rows.next()) {
    count_row();
    Span span;
    if (!read_span(rows, kStart, kEnd, span)) continue;
    const StringId name = names.copy(builder_, rows.integer_or(kKind, -1),
                                     rows.integer_or(kFrom, -1), rows.integer_or(kTo, -1));
    add_activity(span, name, ActivityKind::kMemcpy, rows, kLane);
    add_transfer(rows, kBytes);
  }
  return rows.status();
}

Status NsysRows::read_fills() {
  enum { kStart, kEnd, kBytes, kMemory, kLane };
  TransferNames names;
  ASSAY_TRY(names.open(file_));
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file_.rows(kFills, {"start", "end", "bytes", "memKind", "deviceId", "streamId",
                                       "correlationId", "globalPid"}));
  while (rows.next()) {
    count_row();
    Span span;
    if (!read_span(rows, kStart, kEnd, span)) continue;
    add_activity(span, names.fill(builder_, rows.integer_or(kMemory, -1)), ActivityKind::kMemset,
                 rows, kLane);
    add_transfer(rows, kBytes);
  }
  return rows.status();
}

Status NsysRows::read_syncs() {
  enum { kStart, kEnd, kType, kLane };
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(kSyncs, {"start", "end", "syncType", "deviceId",
                                                        "streamId", "correlationId", "globalPid"}));
  while (rows.next()) {
    count_row();
    Span span;
    if (!read_span(rows, kStart, kEnd, span)) continue;
    add_activity(span, builder_.text(sync_name(rows.integer_or(kType, 0))), ActivityKind::kSync,
                 rows, kLane);
  }
  return rows.status();
}

// Graphs that ran as one row. Where their kernels are told too, the row would count them twice.
Status NsysRows::read_graphs() {
  enum { kStart, kEnd, kGraph, kLane, kCorrelation = kLane + 2, kProcess = kLane + 3 };
  if (!file_.has_table(kGraphs)) return Ok{};
  std::vector<std::pair<uint32_t, uint32_t>> told;
  for (size_t i = 0; i < builder_.activities.size(); ++i) {
    if (builder_.activities.kind[i] != ActivityKind::kKernel) continue;
    told.emplace_back(activity_process_[i], builder_.activities.correlation[i]);
  }
  std::sort(told.begin(), told.end());
  ASSAY_TRY_ASSIGN(SqliteRows rows,
                   file_.rows(kGraphs, {"start", "end", "graphId", "deviceId", "streamId",
                                        "correlationId", "globalPid"}));
  while (rows.next()) {
    count_row();
    Span span;
    if (!read_span(rows, kStart, kEnd, span)) continue;
    const std::pair<uint32_t, uint32_t> key(read_process(rows, kProcess),
                                            small_or_zero(rows.integer_or(kCorrelation, 0)));
    if (key.second != 0 && std::binary_search(told.begin(), told.end(), key)) continue;
    builder_.log.add(ImportCode::kGraphWithoutKernels);
    const std::string name = "CUDA graph " + std::to_string(rows.integer_or(kGraph, 0));
    add_activity(span, builder_.text(name), ActivityKind::kOther, rows, kLane);
  }
  return rows.status();
}

void NsysRows::add_range(const Span& span, std::string_view text, ThreadId thread) {
  const OpLabel label = op_label(text);
  const StringId name = builder_.text(label.name);
  builder_.ops.push_back({span.start_ns, span.dur_ns, name, thread, 0});
  note_open(span, builder_.ops);
  const OpId op(builder_.ops.size() - 1);
  if (label.sequence >= 0) builder_.op_sequences.push_back({op, label.sequence, 0});
  if (options_.keep_op_inputs && !label.sizes.empty()) {
    const StringId dims = builder_.text(compact_json(label.sizes, false, json_scratch_));
    builder_.op_inputs.push_back({op, dims, StringId(0), StringId(0), StringId(0)});
  }
  if (label.from_framework) return;
  builder_.annotations.push_back({span.start_ns, span.dur_ns, name, thread, 0});
  note_open(span, builder_.annotations);
}

void NsysRows::add_push_or_pop(const Span& span, bool push, std::string_view text,
                               ThreadId thread) {
  SpanMark mark;
  mark.begin = push;
  mark.time_ns = span.start_ns;
  mark.thread = thread;
  mark.name = builder_.text(text);
  mark.category = builder_.text("cpu_op");
  builder_.marks.push_back(mark);
}

Status NsysRows::read_ranges() {
  enum { kStart, kEnd, kType, kText, kTextId, kThread };
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(kRanges, {"start", "end", "eventType", "text",
                                                         "textId", "globalTid"}));
  while (rows.next()) {
    count_row();
    const int64_t type = rows.integer_or(kType, kNvtxPushPopRange);
    const bool push_or_pop = type == kNvtxPush || type == kNvtxPop;
    const bool push_pop_range = type == kNvtxPushPopRange || type == kNvtxtPushPopRange;
    const bool start_end_range = type == kNvtxStartEndRange || type == kNvtxtStartEndRange;
    if (!push_or_pop && !push_pop_range && !start_end_range) {
      const bool mark = type == kNvtxMark || type == kNvtxtMark;
      const bool half = type == kNvtxStart || type == kNvtxEnd;
      if (half) builder_.log.add(ImportCode::kUnknownPhase);
      if (!half) ++(mark ? builder_.counts.instants : builder_.counts.metadata);
      continue;
    }
    Span span;
    if (!read_span(rows, kStart, push_or_pop ? kStart : kEnd, span)) continue;
    std::string_view text;
    if (rows.text(kText, text) == CellRead::kValue) {
      text = clean(text);
    } else if (type != kNvtxPop) {
      text = builder_.strings.view(read_name(rows, kTextId, NameForm::kPlain));
    }
    const ThreadId thread = read_thread(rows, kThread);
    if (push_or_pop) {
      add_push_or_pop(span, type == kNvtxPush, text, thread);
    } else if (push_pop_range) {
      add_range(span, text, thread);
    } else {
      builder_.annotations.push_back({span.start_ns, span.dur_ns, builder_.text(text), thread, 0});
      note_open(span, builder_.annotations);
    }
  }
  return rows.status();
}

Status NsysRows::read_overheads() {
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(kOverheads, {"start", "end", "nameId"}));
  while (rows.next()) {
    count_row();
    Span span;
    if (!read_span(rows, 0, 1, span)) continue;
    builder_.overheads.push_back(
        {span.start_ns, span.dur_ns, read_name(rows, 2, NameForm::kPlain)});
    note_open(span, builder_.overheads);
  }
  return rows.status();
}

Status NsysRows::read_other(const char* table, std::string_view category) {
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(table, {"start", "end", "nameId", "globalTid"}));
  const StringId category_id = builder_.text(category);
  while (rows.next()) {
    count_row();
    Span span;
    if (!read_span(rows, 0, 1, span)) continue;
    builder_.log.add(ImportCode::kUnknownCategory);
    builder_.other_events.push_back({span.start_ns, span.dur_ns,
                                     read_name(rows, 2, NameForm::kPlain), category_id,
                                     read_thread(rows, 3)});
    note_open(span, builder_.other_events);
  }
  return rows.status();
}

Status NsysRows::read_memory() {
  enum { kStart, kBytes, kAddress, kDevice, kKind, kOperation };
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(kMemory, {"start", "bytes", "address", "deviceId",
                                                         "memKind", "memoryOperationType"}));
  while (rows.next()) {
    count_row();
    int64_t time_ns = 0;
    if (!read_time(rows, kStart, time_ns)) continue;
    // CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION is 1; host memory is pageable (0) or pinned (1).
    const int64_t bytes = std::max<int64_t>(rows.integer_or(kBytes, 0), 0);
    const int64_t signed_bytes = rows.integer_or(kOperation, 0) == 1 ? -bytes : bytes;
    const int64_t memory = rows.integer_or(kKind, 2);
    const bool on_host = memory == 0 || memory == 1;
    const auto device = static_cast<int32_t>(
        std::clamp<int64_t>(rows.integer_or(kDevice, -1), -1, std::numeric_limits<int32_t>::max()));
    builder_.memory_events.push_back({time_ns, signed_bytes, -1, -1,
                                      static_cast<uint64_t>(rows.integer_or(kAddress, 0)),
                                      on_host ? 0 : 1, on_host ? -1 : device});
  }
  return rows.status();
}

// ---- cells --------------------------------------------------------------------------------------

bool NsysRows::read_time(const SqliteRows& rows, int cell, int64_t& time_ns) {
  if (rows.integer(cell, time_ns) != CellRead::kValue) {
    builder_.log.add(ImportCode::kMissingTimestamp);
    return false;
  }
  if (time_ns < -kLatestNs || time_ns > kLatestNs) {
    builder_.log.add(ImportCode::kTimestampOverflow);
    return false;
  }
  if (time_ns < 0) builder_.log.add(ImportCode::kNegativeTimestamp);
  note_time(time_ns);
  return true;
}

void NsysRows::note_time(int64_t time_ns) {
  TimeShape& shape = builder_.time_shape;
  ++shape.times;
  shape.min_start_ns = std::min(shape.min_start_ns, time_ns);
  shape.max_start_ns = std::max(shape.max_start_ns, time_ns);
  shape.sub_microsecond |= time_ns % 1000 != 0;
}

bool NsysRows::read_span(const SqliteRows& rows, int start_cell, int end_cell, Span& span) {
  if (!read_time(rows, start_cell, span.start_ns)) return false;
  int64_t end_ns = 0;
  if (rows.integer(end_cell, end_ns) != CellRead::kValue) {
    builder_.log.add(ImportCode::kOpenRange);
    span.open = true;
    latest_end_ns_ = std::max(latest_end_ns_, span.start_ns);
    return true;
  }
  if (end_ns > kLatestNs) {
    builder_.log.add(ImportCode::kTimestampOverflow);
    return false;
  }
  if (end_ns < span.start_ns) {
    builder_.log.add(ImportCode::kNegativeDuration);
    end_ns = span.start_ns;
  }
  span.dur_ns = end_ns - span.start_ns;
  builder_.time_shape.sub_microsecond |= span.dur_ns % 1000 != 0;
  builder_.time_shape.max_dur_ns = std::max(builder_.time_shape.max_dur_ns, span.dur_ns);
  latest_end_ns_ = std::max(latest_end_ns_, end_ns);
  return true;
}

template <typename Table>
void NsysRows::note_open(const Span& span, Table& table) {
  if (span.open) open_rows_.push_back({&table.start_ns, &table.dur_ns, table.size() - 1});
}

uint32_t NsysRows::read_correlation(const SqliteRows& rows, int cell, bool is_expected) {
  int64_t id = 0;
  switch (rows.integer(cell, id)) {
    case CellRead::kAbsent:
      if (is_expected) builder_.log.add(ImportCode::kMissingCorrelation);
      return 0;
    case CellRead::kWrongType:
      builder_.log.add(ImportCode::kWrongType);
      return 0;
    case CellRead::kValue:
      break;
  }
  // The largest value is the row ids' "none" and never a real correlation of this width.
  if (id >= 0 && id < std::numeric_limits<uint32_t>::max()) return static_cast<uint32_t>(id);
  builder_.log.add(ImportCode::kIdOutOfRange);
  return 0;
}

uint32_t NsysRows::read_process(const SqliteRows& rows, int cell) {
  int64_t id = 0;
  return rows.integer(cell, id) == CellRead::kValue ? lanes_.process(static_cast<uint64_t>(id))
                                                    : kNoProcess;
}

ThreadId NsysRows::read_thread(const SqliteRows& rows, int cell) {
  int64_t id = 0;
  if (rows.integer(cell, id) == CellRead::kValue) return lanes_.thread(static_cast<uint64_t>(id));
  builder_.log.add(ImportCode::kMissingProcess);
  return builder_.thread("0", "0");
}

StringId NsysRows::read_name(const SqliteRows& rows, int cell, NameForm form) {
  int64_t id = 0;
  if (rows.integer(cell, id) == CellRead::kValue) return names_.find(id, form, builder_);
  builder_.log.add(ImportCode::kMissingName);
  return StringId(0);
}

std::string_view NsysRows::clean(std::string_view text) {
  uint64_t invalid = 0;
  const std::string_view valid = valid_utf8(text, scratch_, invalid);
  if (invalid != 0) builder_.log.add(ImportCode::kInvalidUtf8, -1, invalid);
  return valid;
}

void NsysRows::count_row() {
  const uint64_t done = ++builder_.counts.events;
  const bool report = (done & 0xFFF) == 0 && options_.progress != nullptr && rows_expected_ != 0;
  if (!report) return;
  const double share = static_cast<double>(done) / static_cast<double>(rows_expected_);
  options_.progress->stored_bytes_read =
      static_cast<uint64_t>(std::min(share, 1.0) * static_cast<double>(file_.bytes()));
}

// ---- what only all rows together tell -----------------------------------------------------------

void NsysRows::close_open_rows(int64_t session_end_ns) {
  const int64_t end_ns = std::max(session_end_ns, latest_end_ns_);
  for (const OpenRow& open : open_rows_) {
    int64_t& dur_ns = (*open.dur_ns)[open.row];
    dur_ns = end_ns - (*open.start_ns)[open.row];
    builder_.time_shape.max_dur_ns = std::max(builder_.time_shape.max_dur_ns, dur_ns);
  }
}

// Ids are unique within a process only: each process's ids are moved to a range of their own.
void NsysRows::separate_correlations() {
  struct Range {
    uint32_t low = std::numeric_limits<uint32_t>::max();
    uint32_t high = 0;
    int64_t shift = 0;
    bool fits = true;
  };
  std::vector<Range> ranges(lanes_.processes());
  const auto widen = [&ranges](const auto& ids, const std::vector<uint32_t>& processes) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == 0 || processes[i] == kNoProcess) continue;
      Range& range = ranges[processes[i]];
      range.low = std::min(range.low, ids[i]);
      range.high = std::max(range.high, ids[i]);
    }
  };
  widen(builder_.api_calls.correlation, call_process_);
  widen(builder_.activities.correlation, activity_process_);
  const auto used =
      std::count_if(ranges.begin(), ranges.end(), [](const Range& r) { return r.high != 0; });
  if (used < 2) return;
  builder_.log.add(ImportCode::kSeveralProcesses, -1, static_cast<uint64_t>(used));
  int64_t next = 1;
  for (Range& range : ranges) {
    if (range.high == 0) continue;
    range.shift = next - range.low;
    range.fits = range.high + range.shift < std::numeric_limits<uint32_t>::max();
    if (range.fits) next = range.high + range.shift + 1;
  }
  const auto move = [&](auto& ids, const std::vector<uint32_t>& processes) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == 0) continue;
      const bool known = processes[i] != kNoProcess;
      if (known && ranges[processes[i]].fits) {
        ids[i] = static_cast<uint32_t>(ids[i] + ranges[processes[i]].shift);
        continue;
      }
      builder_.log.add(known ? ImportCode::kIdOutOfRange : ImportCode::kMissingCorrelation);
      ids[i] = 0;
    }
  };
  move(builder_.api_calls.correlation, call_process_);
  move(builder_.activities.correlation, activity_process_);
}

}  // namespace assay
