#include "ingest/assaytrace/reader.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/latest_time.h"
#include "ingest/assaytrace/blocks.h"
#include "ingest/assaytrace/clock.h"
#include "ingest/nvtx_ranges.h"
#include "ingest/text/json_text.h"
#include "trace/api_names.h"
#include "trace/builder.h"
#include "trace/hip_kernels.h"
#include "trace/process_facts.h"
#include "trace/wait_names.h"

namespace assay {
namespace {

using wire::Kind;

// Later times are invalid; the sum of two times up to here does not overflow.
constexpr auto kLatestUnsignedNs = static_cast<uint64_t>(kLatestNs);
constexpr int64_t kStreamsPerContext = 1'000'000;

constexpr std::string_view kDirections[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                            "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::string_view kMemories[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                          "Array",   "Managed",  "Device Static", "Managed Static"};

template <size_t n>
std::string_view word(const std::string_view (&words)[n], uint32_t number) {
  return words[number < n ? number : 0];
}

std::string_view overhead_name(uint32_t type) {
  constexpr std::string_view kNames[] = {"Unknown",
                                         "Activity Buffer Flush",
                                         "Instrumentation",
                                         "Resource",
                                         "Runtime Triggered Module Loading",
                                         "Lazy Function Loading",
                                         "Command Buffer Full",
                                         "Activity Buffer Request",
                                         "UVM Activity Init"};
  constexpr std::string_view kScratch[] = {"Scratch Memory", "Scratch Memory Allocation",
                                           "Scratch Memory Free", "Scratch Memory Reclaim"};
  if (type == 1) return "Driver Compiler";
  if ((type & wire::kScratchOther) != 0) return word(kScratch, type & ~wire::kScratchOther);
  return word(kNames, type >> 16);
}

// Longer names are slow to demangle, and unreadable.
constexpr size_t kLongestMangled = 8192;

std::string demangled(std::string_view name) {
  std::string text(name);
  if (!name.starts_with("_Z") || name.size() > kLongestMangled) return text;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && plain != nullptr ? std::string(plain.get()) : text;
}

// "GPU-01234567-89ab-..."; empty for sixteen zero bytes.
std::string uuid_text(const uint8_t (&uuid)[16]) {
  if (std::all_of(std::begin(uuid), std::end(uuid), [](uint8_t byte) { return byte == 0; })) {
    return "";
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "GPU-";
  for (size_t i = 0; i < std::size(uuid); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid[i] >> 4];
    text += kDigits[uuid[i] & 15];
  }
  return text;
}

bool ends_recording(wire::NoteCode code) {
  return code == wire::NoteCode::kByteLimit || code == wire::NoteCode::kWriteFailed ||
         code == wire::NoteCode::kTakenOver;
}

// Collects all records of a file before it makes rows: CUPTI delivers buffers in any order, so
// names, contexts and clocks may follow the records that need them.
class Recording {
 public:
  explicit Recording(const ReadOptions& options) : keep_op_inputs_(options.keep_op_inputs) {}

  void add(Kind kind, std::string_view bytes);
  Result<Trace> finish(const AssayTraceBlocks& blocks);

 private:
  struct Span {
    int64_t start_ns = 0;
    int64_t dur_ns = 0;
  };

  bool read_span(uint64_t start, uint64_t end, Span& span);
  StringId text(uint32_t id);
  StringId kernel_name(uint32_t id);
  StringId call_name(uint32_t id);
  StringId plain(std::string_view value);
  ThreadId thread(uint32_t id) { return builder_.thread(pid_, std::to_string(id)); }
  StreamId stream(uint32_t device, uint32_t context, uint32_t stream);
  uint32_t external_id(uint32_t correlation);
  uint32_t outermost(uint32_t correlation) const;
  bool belongs(uint64_t start, uint32_t correlation);

  void log_file(const AssayTraceBlocks& blocks);
  void read_windows();
  void add_calls();
  void add_kernels();
  void add_copies();
  void add_fills();
  void add_graphs();
  void add_waits();
  void add_ranges();
  void add_operators();
  void add_operator(const Span& span, const wire::Operator& op);
  void add_overheads();
  void name_threads();
  void add_activity(const Span& span, StringId name, StreamId lane, uint32_t correlation,
                    ActivityKind kind);
  void add_shape(const wire::Kernel& kernel);
  std::vector<DeviceProperties> devices();
  std::vector<MetadataEntry> metadata();

  const bool keep_op_inputs_;
  TraceBuilder builder_;
  std::string pid_ = "0";
  wire::Process process_ = {};
  RecordingClock clock_;
  bool closed_ = false;
  std::unordered_map<uint32_t, std::string> texts_;
  std::unordered_map<uint32_t, StringId> plain_ids_;
  std::unordered_map<uint32_t, StringId> kernel_ids_;
  std::unordered_map<uint32_t, StringId> call_ids_;
  std::vector<wire::ApiCall> calls_;
  std::vector<wire::Kernel> kernels_;
  std::vector<wire::Copy> copies_;
  std::vector<wire::Fill> fills_;
  std::vector<wire::Wait> waits_;
  std::vector<wire::GraphRun> graphs_;
  std::vector<wire::Range> ranges_;
  std::vector<wire::Operator> operators_;
  std::vector<wire::Overhead> overheads_;
  std::vector<wire::Device> devices_;
  std::vector<wire::Note> notes_;
  std::vector<wire::Window> windows_;
  std::vector<wire::ThreadName> threads_;
  std::unordered_map<uint32_t, uint32_t> device_of_context_;
  std::map<std::pair<uint32_t, uint32_t>, int64_t> context_rank_;  // by (device, context)
  std::map<uint32_t, int64_t> contexts_of_device_;
  std::unordered_map<uint32_t, uint64_t> external_ids_;
  std::unordered_map<uint32_t, uint32_t> outer_calls_;  // by call: the call that made it
  std::vector<std::pair<uint64_t, uint64_t>> pauses_;  // intervals in tracer time without a capture
  std::vector<uint32_t> call_correlations_;            // sorted; only if there are host stalls
};

void Recording::add(Kind kind, std::string_view bytes) {
  ++builder_.counts.events;
  switch (kind) {
    case Kind::kProcess:
      process_ = record_from<wire::Process>(bytes);
      return;
    case Kind::kString: {
      std::string& known = texts_[record_from<wire::String>(bytes).id];
      if (known.empty()) known = text_of_record(bytes);
      return;
    }
    case Kind::kApiCall:
      return calls_.push_back(record_from<wire::ApiCall>(bytes));
    case Kind::kKernel:
      return kernels_.push_back(record_from<wire::Kernel>(bytes));
    case Kind::kCopy:
      return copies_.push_back(record_from<wire::Copy>(bytes));
    case Kind::kFill:
      return fills_.push_back(record_from<wire::Fill>(bytes));
    case Kind::kWait:
      return waits_.push_back(record_from<wire::Wait>(bytes));
    case Kind::kOperator:
      return operators_.push_back(record_from<wire::Operator>(bytes));
    case Kind::kRange:
      return ranges_.push_back(record_from<wire::Range>(bytes));
    case Kind::kMark:
      ++builder_.counts.instants;
      return;
    case Kind::kGraphRun:
      return graphs_.push_back(record_from<wire::GraphRun>(bytes));
    case Kind::kOverhead:
      return overheads_.push_back(record_from<wire::Overhead>(bytes));
    case Kind::kExternal: {
      const auto record = record_from<wire::External>(bytes);
      external_ids_[record.correlation] = record.id;
      return;
    }
    case Kind::kInside: {
      const auto record = record_from<wire::Inside>(bytes);
      outer_calls_[record.correlation] = record.outer;
      return;
    }
    case Kind::kDevice:
      return devices_.push_back(record_from<wire::Device>(bytes));
    case Kind::kContext: {
      const auto record = record_from<wire::Context>(bytes);
      device_of_context_[record.id] = record.device;
      return;
    }
    case Kind::kClock:
      return clock_.add(record_from<wire::Clock>(bytes));
    case Kind::kLost:
      builder_.log.add(ImportCode::kLostRecords, -1, record_from<wire::Lost>(bytes).count);
      return;
    case Kind::kNote:
      return notes_.push_back(record_from<wire::Note>(bytes));
    case Kind::kWindow:
      return windows_.push_back(record_from<wire::Window>(bytes));
    case Kind::kThread:
      return threads_.push_back(record_from<wire::ThreadName>(bytes));
    case Kind::kFooter:
      closed_ = true;
      return;
  }
  builder_.log.add(ImportCode::kUnknownRecord);
}

// ---- cells --------------------------------------------------------------------------------------

bool Recording::read_span(uint64_t start, uint64_t end, Span& span) {
  if (start == 0) {
    builder_.log.add(ImportCode::kMissingTimestamp);
    return false;
  }
  if (start > kLatestUnsignedNs || end > kLatestUnsignedNs) {
    builder_.log.add(ImportCode::kTimestampOverflow);
    return false;
  }
  if (end < start) builder_.log.add(ImportCode::kNegativeDuration);
  span.start_ns = static_cast<int64_t>(start);
  span.dur_ns = end < start ? 0 : static_cast<int64_t>(end - start);
  TimeShape& shape = builder_.time_shape;
  ++shape.times;
  shape.min_start_ns = std::min(shape.min_start_ns, span.start_ns);
  shape.max_start_ns = std::max(shape.max_start_ns, span.start_ns);
  shape.max_dur_ns = std::max(shape.max_dur_ns, span.dur_ns);
  shape.sub_microsecond = true;
  return true;
}

StringId Recording::plain(std::string_view value) {
  std::string scratch;
  uint64_t invalid = 0;
  const std::string_view clean = valid_utf8(value, scratch, invalid);
  if (invalid != 0) builder_.log.add(ImportCode::kInvalidUtf8, -1, invalid);
  return builder_.text(clean);
}

StringId Recording::text(uint32_t id) {
  if (id == wire::kNoString) return StringId(0);
  const auto [found, added] = plain_ids_.try_emplace(id);
  if (!added) return found->second;
  const auto value = texts_.find(id);
  if (value == texts_.end()) builder_.log.add(ImportCode::kMissingName);
  found->second = value == texts_.end() ? StringId(0) : plain(value->second);
  return found->second;
}

StringId Recording::kernel_name(uint32_t id) {
  if (id == wire::kNoString) {
    builder_.log.add(ImportCode::kMissingName);
    return StringId(0);
  }
  const auto [found, added] = kernel_ids_.try_emplace(id);
  if (!added) return found->second;
  const auto value = texts_.find(id);
  if (value == texts_.end()) builder_.log.add(ImportCode::kMissingName);
  found->second = value == texts_.end() ? StringId(0) : plain(demangled(value->second));
  return found->second;
}

StringId Recording::call_name(uint32_t id) {
  const auto [found, added] = call_ids_.try_emplace(id);
  if (!added) return found->second;
  const auto value = texts_.find(id);
  if (value == texts_.end()) builder_.log.add(ImportCode::kMissingName);
  found->second = value == texts_.end() ? StringId(0) : plain(without_api_version(value->second));
  return found->second;
}

// Stream numbers are unique only within a context: streams of a device's further contexts get
// numbers offset by kStreamsPerContext.
StreamId Recording::stream(uint32_t device, uint32_t context, uint32_t number) {
  const auto [found, added] = context_rank_.try_emplace({device, context}, 0);
  if (added) found->second = contexts_of_device_[device]++;
  if (number == UINT32_MAX) return builder_.stream(device, -1);
  return builder_.stream(device, found->second * kStreamsPerContext + int64_t{number});
}

uint32_t Recording::external_id(uint32_t correlation) {
  if (external_ids_.empty()) return 0;
  const auto found = external_ids_.find(correlation);
  if (found == external_ids_.end()) return 0;
  if (found->second <= std::numeric_limits<uint32_t>::max()) {
    return static_cast<uint32_t>(found->second);
  }
  builder_.log.add(ImportCode::kIdOutOfRange);
  return 0;
}

// The program's own call inside which this call was made. Hostile files may contain cycles.
uint32_t Recording::outermost(uint32_t correlation) const {
  constexpr int kDeepest = 16;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const auto outer = outer_calls_.find(correlation);
    if (outer == outer_calls_.end()) break;
    correlation = outer->second;
  }
  return correlation;
}

// Device records continue briefly after a capture ends. Keeps only activities launched inside.
bool Recording::belongs(uint64_t start, uint32_t correlation) {
  if (pauses_.empty()) return true;
  const bool paused = std::any_of(pauses_.begin(), pauses_.end(), [start](const auto& pause) {
    return pause.first <= start && start < pause.second;
  });
  const bool launched =
      std::binary_search(call_correlations_.begin(), call_correlations_.end(), correlation);
  if (!paused || launched) return true;
  builder_.log.add(ImportCode::kOutsideCapture);
  return false;
}

// ---- rows ---------------------------------------------------------------------------------------

void Recording::read_windows() {
  uint64_t closed_at = 0;
  bool is_closed = false;
  for (const wire::Window& window : windows_) {
    const auto moment = static_cast<uint64_t>(clock_.tracer_time(window.monotonic));
    if (window.is_open != 0 && is_closed) pauses_.emplace_back(closed_at, moment);
    is_closed = window.is_open == 0;
    closed_at = moment;
  }
  if (is_closed) pauses_.emplace_back(closed_at, UINT64_MAX);
  if (pauses_.empty()) return;
  for (const wire::ApiCall& call : calls_) call_correlations_.push_back(call.correlation);
  std::sort(call_correlations_.begin(), call_correlations_.end());
}

void Recording::add_calls() {
  for (const wire::ApiCall& call : calls_) {
    Span span;
    if (!read_span(call.start, call.end, span)) continue;
    if (call.domain == wire::Domain::kHsa) {
      // HIP's internal calls go to other_events, as in rocprofv3's files.
      builder_.other_events.push_back({span.start_ns, span.dur_ns, call_name(call.name),
                                       builder_.text("HSA"), thread(call.thread)});
      continue;
    }
    builder_.api_calls.push_back(
        {span.start_ns, span.dur_ns, call_name(call.name), thread(call.thread), call.correlation,
         external_id(call.correlation),
         call.domain == wire::Domain::kRuntime ? ApiKind::kRuntime : ApiKind::kDriver});
  }
}

void Recording::add_activity(const Span& span, StringId name, StreamId lane, uint32_t correlation,
                             ActivityKind kind) {
  const uint32_t call = outermost(correlation);
  builder_.activities.push_back(
      {span.start_ns, span.dur_ns, name, lane, call, external_id(call), kind});
}

void Recording::add_shape(const wire::Kernel& kernel) {
  const uint64_t shared = uint64_t{kernel.static_shared} + kernel.dynamic_shared;
  builder_.kernel_shapes.push_back({ActivityId(builder_.activities.size() - 1), kernel.grid[0],
                                    kernel.grid[1], kernel.grid[2], kernel.block[0],
                                    kernel.block[1], kernel.block[2], kernel.registers,
                                    static_cast<uint32_t>(std::min<uint64_t>(shared, UINT32_MAX)),
                                    kernel.graph_id, kernel.graph_node});
}

void Recording::add_kernels() {
  for (const wire::Kernel& kernel : kernels_) {
    Span span;
    if (!belongs(kernel.start, kernel.correlation)) continue;
    if (!read_span(kernel.start, kernel.end, span)) continue;
    device_of_context_[kernel.context] = kernel.device;
    const StringId name = kernel_name(kernel.name);
    const ActivityKind kind = kind_of_hip_kernel(builder_.strings.view(name));
    add_activity(span, name, stream(kernel.device, kernel.context, kernel.stream),
                 kernel.correlation, kind);
    if (kind == ActivityKind::kKernel) add_shape(kernel);
  }
}

void Recording::add_copies() {
  for (const wire::Copy& copy : copies_) {
    Span span;
    if (!belongs(copy.start, copy.correlation)) continue;
    if (!read_span(copy.start, copy.end, span)) continue;
    device_of_context_[copy.context] = copy.device;
    std::string name = "Memcpy ";
    name.append(word(kDirections, copy.direction)).append(" (").append(word(kMemories, copy.from));
    name.append(" -> ").append(word(kMemories, copy.to)).append(")");
    add_activity(span, builder_.text(name), stream(copy.device, copy.context, copy.stream),
                 copy.correlation, ActivityKind::kMemcpy);
    builder_.transfers.push_back({ActivityId(builder_.activities.size() - 1),
                                  static_cast<int64_t>(std::min<uint64_t>(
                                      copy.bytes, std::numeric_limits<int64_t>::max()))});
  }
}

void Recording::add_fills() {
  for (const wire::Fill& fill : fills_) {
    Span span;
    if (!belongs(fill.start, fill.correlation)) continue;
    if (!read_span(fill.start, fill.end, span)) continue;
    device_of_context_[fill.context] = fill.device;
    const std::string name = "Memset (" + std::string(word(kMemories, fill.memory)) + ")";
    add_activity(span, builder_.text(name), stream(fill.device, fill.context, fill.stream),
                 fill.correlation, ActivityKind::kMemset);
    builder_.transfers.push_back({ActivityId(builder_.activities.size() - 1),
                                  static_cast<int64_t>(std::min<uint64_t>(
                                      fill.bytes, std::numeric_limits<int64_t>::max()))});
  }
}

// Adds graphs recorded as one row, unless their kernels are recorded too, which would count them
// twice.
void Recording::add_graphs() {
  if (graphs_.empty()) return;
  std::vector<uint32_t> told;
  for (const wire::Kernel& kernel : kernels_) told.push_back(kernel.correlation);
  std::sort(told.begin(), told.end());
  for (const wire::GraphRun& graph : graphs_) {
    Span span;
    if (std::binary_search(told.begin(), told.end(), graph.correlation)) continue;
    if (!belongs(graph.start, graph.correlation)) continue;
    if (!read_span(graph.start, graph.end, span)) continue;
    builder_.log.add(ImportCode::kGraphWithoutKernels);
    device_of_context_[graph.context] = graph.device;
    add_activity(span, builder_.text("CUDA graph " + std::to_string(graph.graph_id)),
                 stream(graph.device, graph.context, graph.stream), graph.correlation,
                 ActivityKind::kOther);
  }
}

// Must follow the other rows, which determine the device of a context.
void Recording::add_waits() {
  for (const wire::Wait& wait : waits_) {
    Span span;
    if (!read_span(wait.start, wait.end, span)) continue;
    const auto device = device_of_context_.find(wait.context);
    const bool known = device != device_of_context_.end();
    const StreamId lane =
        known ? stream(device->second, wait.context, wait.stream) : builder_.stream(-1, -1);
    const WaitKind kind = wait_kind_of(int64_t{wait.type});
    add_activity(span, builder_.text(wait_name(kind)), lane, wait.correlation, ActivityKind::kSync);
    if (kind == WaitKind::kUnknown) continue;
    const bool one_stream = kind == WaitKind::kStreamSync && lane;
    builder_.waits.push_back({ActivityId(builder_.activities.size() - 1), kind,
                              one_stream ? builder_.stream_number(lane) : -1, 0});
  }
}

void Recording::add_operator(const Span& span, const wire::Operator& op) {
  builder_.ops.push_back({span.start_ns, span.dur_ns, text(op.name), thread(op.thread), 0});
  const OpId row(builder_.ops.size() - 1);
  if (op.sequence >= 0) {
    const auto forward = static_cast<int64_t>(op.forward_thread & INT64_MAX);
    builder_.op_sequences.push_back({row, op.sequence, forward});
  }
  if (!keep_op_inputs_ || op.dims == wire::kNoString) return;
  builder_.op_inputs.push_back(
      {row, text(op.dims), text(op.types), text(op.strides), text(op.concrete)});
}

// As in PyTorch's profiler: modules become Python frames, ranges of the program annotations.
void Recording::add_operators() {
  constexpr std::string_view kModule = "nn.Module: ";
  for (const wire::Operator& op : operators_) {
    Span span;
    const auto start = static_cast<uint64_t>(clock_.tracer_time(op.start));
    const auto end = static_cast<uint64_t>(clock_.tracer_time(op.end));
    if (!read_span(start, end, span)) continue;
    ++builder_.counts.spans;
    const StringId name = text(op.name);
    if ((op.flags & wire::kUserRange) == 0) {
      add_operator(span, op);
    } else if (builder_.strings.view(name).starts_with(kModule)) {
      builder_.frames.push_back({span.start_ns, span.dur_ns, name, thread(op.thread)});
    } else {
      builder_.annotations.push_back({span.start_ns, span.dur_ns, name, thread(op.thread), 0});
    }
  }
}

void Recording::add_ranges() {
  std::vector<uint32_t> push_pop_rows;
  for (const wire::Range& range : ranges_) {
    Span span;
    const auto start = static_cast<uint64_t>(clock_.tracer_time(range.start));
    const auto end = static_cast<uint64_t>(clock_.tracer_time(range.end));
    if (!read_span(start, end, span)) continue;
    ++builder_.counts.spans;
    if ((range.flags & wire::kStillOpen) != 0) builder_.log.add(ImportCode::kOpenRange);
    const ThreadId lane = thread(range.thread);
    const StringId name = text(range.name);
    if ((range.flags & wire::kPushPop) == 0) {
      builder_.annotations.push_back({span.start_ns, span.dur_ns, name, lane, 0});
      continue;
    }
    const std::string label(builder_.strings.view(name));
    const RangeRow row =
        add_nvtx_range(builder_, {span.start_ns, span.dur_ns, lane}, label, keep_op_inputs_);
    if (!row.is_operator) push_pop_rows.push_back(row.annotation);
  }
  add_stand_in_operators(builder_, std::move(push_pop_rows));
}

void Recording::add_overheads() {
  for (const wire::Overhead& overhead : overheads_) {
    Span span;
    if (!read_span(overhead.start, overhead.end, span)) continue;
    builder_.overheads.push_back(
        {span.start_ns, span.dur_ns, builder_.text(overhead_name(overhead.type))});
  }
}

void Recording::name_threads() {
  const std::string program(builder_.strings.view(text(process_.name)));
  builder_.tell_process(kProcessName, pid_, program);
  for (const wire::ApiCall& call : calls_) {
    if (program.empty()) break;
    if (call.thread == process_.pid) {
      builder_.name_lane(pid_, std::to_string(call.thread), program);
      break;
    }
  }
  for (const wire::ThreadName& named : threads_) {
    builder_.name_lane(pid_, std::to_string(named.thread), builder_.strings.view(text(named.name)));
  }
}

// ---- the file -----------------------------------------------------------------------------------

std::vector<DeviceProperties> Recording::devices() {
  std::vector<DeviceProperties> devices;
  for (const wire::Device& device : devices_) {
    DeviceProperties properties;
    properties.id = device.id;
    properties.name = builder_.strings.view(text(device.name));
    properties.total_memory_bytes = static_cast<int64_t>(
        std::min<uint64_t>(device.memory_bytes, std::numeric_limits<int64_t>::max()));
    properties.multiprocessors = device.multiprocessors;
    properties.warp_size = device.warp_size;
    properties.compute_major = device.compute_major;
    properties.compute_minor = device.compute_minor;
    devices.push_back(std::move(properties));
  }
  std::sort(devices.begin(), devices.end(),
            [](const DeviceProperties& a, const DeviceProperties& b) { return a.id < b.id; });
  return devices;
}

std::vector<MetadataEntry> Recording::metadata() {
  std::vector<MetadataEntry> entries;
  const auto add = [&entries](const char* key, std::string value) {
    if (!value.empty() && value != "0") entries.push_back({key, std::move(value)});
  };
  add("program", std::string(builder_.strings.view(text(process_.name))));
  add("recorder_version", std::string(builder_.strings.view(text(process_.assay_version))));
  add("driver_version", std::to_string(process_.driver_version));
  const bool of_amd = process_.tracer == wire::TracerKind::kRocprofiler;
  add(of_amd ? "rocprofiler_sdk_version" : "cupti_version",
      std::to_string(process_.tracer_version));
  add("clock", process_.clock == wire::ClockKind::kTracerOwn ? "tracer" : "monotonic");
  add("clock_drift_ns", std::to_string(clock_.drift_ns()));
  add("clock_told_ns", std::to_string(clock_.told_ns()));
  for (const wire::Note& note : notes_) {
    add("recorder_note", std::string(builder_.strings.view(text(note.text))));
  }
  return entries;
}

void Recording::log_file(const AssayTraceBlocks& blocks) {
  ImportLog& log = builder_.log;
  log.add(ImportCode::kDamagedBlock, blocks.first_damage(),
          blocks.damaged_blocks() + (blocks.header_damaged() ? 1 : 0));
  if (blocks.cut()) log.add(ImportCode::kTruncated, static_cast<int64_t>(blocks.bytes()));
  if (!closed_) log.add(ImportCode::kNotClosed);
  for (const wire::Note& note : notes_) {
    if (note.code == wire::NoteCode::kClockCallback) continue;
    if (note.code == wire::NoteCode::kTextsForgotten) continue;
    if (note.code == wire::NoteCode::kNoOperators) continue;
    if (note.code == wire::NoteCode::kNotShared) continue;  // not an irregularity
    if (note.code == wire::NoteCode::kNamesLost) continue;  // counted as missing_name per row
    if (note.code == wire::NoteCode::kRescued) {
      log.add(ImportCode::kRescued);
      continue;
    }
    log.add(ends_recording(note.code) ? ImportCode::kCutShort : ImportCode::kProfilerError);
  }
  clock_.report(log);
}

Result<Trace> Recording::finish(const AssayTraceBlocks& blocks) {
  pid_ = std::to_string(process_.pid != 0 ? process_.pid : blocks.header().pid);
  clock_.settle(process_.clock, blocks.header_damaged() ? nullptr : &blocks.header());
  read_windows();
  add_calls();
  add_kernels();
  add_copies();
  add_fills();
  add_graphs();
  add_waits();
  add_operators();
  add_ranges();
  add_overheads();
  name_threads();
  log_file(blocks);
  if (builder_.longest_table() >= UINT32_MAX) {
    return Error{ErrorCode::kUnsupported, "more than 2^32 rows in one table", "", -1};
  }
  std::vector<DeviceProperties> devices = this->devices();
  std::vector<MetadataEntry> metadata = this->metadata();
  int64_t base_ns = clock_.base_ns();
  if (base_ns > kLatestNs || base_ns < -kLatestNs) {
    builder_.log.add(ImportCode::kBadBaseTime);
    base_ns = 0;
  }
  Trace trace = std::move(builder_).finish(base_ns);
  trace.tracer = Tracer::kAssay;
  trace.devices = std::move(devices);
  trace.metadata.insert(trace.metadata.begin(), metadata.begin(), metadata.end());
  trace.content_bytes = blocks.bytes();
  return trace;
}

}  // namespace

bool is_assaytrace(std::string_view head) {
  return head.substr(0, sizeof(wire::kMagic)) ==
         std::string_view(wire::kMagic, sizeof(wire::kMagic));
}

Result<Trace> read_assaytrace(ReadFn read, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(AssayTraceBlocks blocks, AssayTraceBlocks::open(std::move(read)));
  Recording recording(options);
  uint64_t whole_blocks = 0;
  uint64_t malformed = 0;
  std::string_view payload;
  for (;;) {
    ASSAY_TRY_ASSIGN(const bool more, blocks.next(payload));
    if (!more) break;
    ++whole_blocks;
    const size_t left = for_each_record(
        payload, [&](Kind kind, std::string_view bytes) { recording.add(kind, bytes); });
    if (left != 0) ++malformed;
  }
  if (whole_blocks == 0) {
    return Error{ErrorCode::kNotATrace,
                 "a recording without one whole block: the program was gone before the first flush",
                 "", -1};
  }
  ASSAY_TRY_ASSIGN(Trace trace, recording.finish(blocks));
  trace.log.add(ImportCode::kDamagedBlock, -1, malformed);
  return trace;
}

Result<RecordingFacts> read_recording_facts(const std::string& path) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  source.may_grow();  // the process may still be writing
  ASSAY_TRY_ASSIGN(AssayTraceBlocks blocks, AssayTraceBlocks::open(source.stream(false)));
  RecordingFacts facts;
  std::unordered_map<uint32_t, std::string> texts;
  std::vector<wire::Note> notes;
  std::vector<wire::Device> devices;
  wire::Process process = {};
  const auto visit = [&](Kind kind, std::string_view bytes) {
    const auto number = static_cast<size_t>(kind);
    if (number < RecordingFacts::kKinds) ++facts.counts[number];
    if (kind == Kind::kString) {
      texts[record_from<wire::String>(bytes).id] = text_of_record(bytes);
    } else if (kind == Kind::kProcess) {
      process = record_from<wire::Process>(bytes);
    } else if (kind == Kind::kNote) {
      notes.push_back(record_from<wire::Note>(bytes));
    } else if (kind == Kind::kDevice) {
      devices.push_back(record_from<wire::Device>(bytes));
    } else if (kind == Kind::kLost) {
      const auto lost = record_from<wire::Lost>(bytes);
      facts.lost[lost.reason] += lost.count;
    } else if (kind == Kind::kFooter) {
      facts.closed = true;
    }
  };
  std::string_view payload;
  for (;;) {
    ASSAY_TRY_ASSIGN(const bool more, blocks.next(payload));
    if (!more) break;
    for_each_record(payload, visit);
  }
  facts.pid = process.pid != 0 ? process.pid : blocks.header().pid;
  facts.session = blocks.header().session;
  facts.program = texts[process.name];
  facts.clock = process.clock;
  facts.driver_version = process.driver_version;
  facts.tracer_version = process.tracer_version;
  facts.tracer = process.tracer;
  facts.forked = (process.flags & 1) != 0;
  facts.bytes = source.stored_bytes();
  facts.damaged_blocks = blocks.damaged_blocks();
  for (const wire::Note& note : notes) {
    facts.notes.push_back({note.code, note.value, texts[note.text]});
  }
  for (const wire::Device& device : devices) {
    facts.devices.push_back({device.id, texts[device.name], uuid_text(device.uuid)});
  }
  return facts;
}

}  // namespace assay
