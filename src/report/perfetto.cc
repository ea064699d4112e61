#include "report/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/lanes.h"
#include "report/perfetto_text.h"

namespace assay {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
constexpr int64_t kDayNs = int64_t{86'400} * 1'000'000'000;
// Times so close to zero stay as they are; so far from each other traces share no clock.
constexpr int64_t kFarNs = 30 * kDayNs;
// The category that readers, Assay's own first, may step over.
constexpr std::string_view kOwnCategory = "assay";

struct Place {
  uint32_t pid = 0;
  uint32_t tid = 0;
};

// Text on its way to the sink. After a failure nothing more is written.
class Output {
 public:
  explicit Output(PerfettoWriter::Sink sink) : sink_(std::move(sink)) {}

  std::string& text() { return text_; }
  // Begins an event: everything up to its arguments is appended to the result.
  std::string& event(std::string_view phase, Place place) {
    text_ += first_event_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
    first_event_ = false;
    text_ += phase;
    text_ += "\",\"pid\":";
    append_integer(place.pid, text_);
    text_ += ",\"tid\":";
    append_integer(place.tid, text_);
    return text_;
  }
  void end_event() {
    text_ += '}';
    if (text_.size() >= kPiece) flush();
  }
  void flush() {
    bytes_ += text_.size();
    if (status_) status_ = sink_(text_);
    text_.clear();
  }
  uint64_t bytes() const { return bytes_; }
  bool failed() const { return !status_; }
  Status take_status() { return std::move(status_); }

 private:
  PerfettoWriter::Sink sink_;
  std::string text_;
  Status status_ = Ok{};
  uint64_t bytes_ = 0;
  bool first_event_ = true;
};

enum class RowKind : uint8_t {
  // On a thread; of rows that begin and end together the outer one first.
  kAnnotation,
  kOther,
  kFrame,
  kOp,
  kCall,
  // On a stream.
  kGpuAnnotation,
  kActivity,
  // On lanes of their own.
  kOverhead,
  kMemory,
  kSlice,
};

struct Entry {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  uint32_t row = 0;
  RowKind kind = RowKind::kSlice;

  friend bool operator<(const Entry& a, const Entry& b) {
    return std::tuple(a.start_ns, -a.dur_ns, a.kind, a.row) <
           std::tuple(b.start_ns, -b.dur_ns, b.kind, b.row);
  }
};

enum class GroupKind : uint8_t { kThread, kStream, kStreamSync, kOverheads, kMemory, kTrack };

// What viewers show as one lane, or as several where its rows overlap.
struct Group {
  GroupKind kind = GroupKind::kTrack;
  size_t index = 0;  // thread, stream or track
  uint32_t pid = 0;
  std::vector<uint32_t> tids = {};
};

std::string_view category_of(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kKernel:
      return "kernel";
    case ActivityKind::kMemcpy:
      return "gpu_memcpy";
    case ActivityKind::kMemset:
      return "gpu_memset";
    case ActivityKind::kSync:
      return "cuda_sync";
    case ActivityKind::kOther:
      break;
  }
  return "device_work";
}

// Rows [first, last) of a table that is sorted by lane.
template <typename LaneId>
std::pair<size_t, size_t> rows_of(const std::vector<LaneId>& lanes, LaneId lane) {
  const auto range = std::equal_range(lanes.begin(), lanes.end(), lane);
  return {range.first - lanes.begin(), range.second - lanes.begin()};
}

// The row of a side table that belongs to `owner`; SIZE_MAX without one.
template <typename RowId>
size_t side_row(const std::vector<RowId>& owners, RowId owner) {
  const auto found = std::lower_bound(owners.begin(), owners.end(), owner);
  if (found == owners.end() || *found != owner) return SIZE_MAX;
  return static_cast<size_t>(found - owners.begin());
}

template <typename Visit>
void for_each_time(const Trace& trace, const Timeline& timeline, Visit&& visit) {
  for (const auto* column :
       {&trace.ops.start_ns, &trace.frames.start_ns, &trace.api_calls.start_ns,
        &trace.activities.start_ns, &trace.annotations.start_ns, &trace.gpu_annotations.start_ns,
        &trace.overheads.start_ns, &trace.other_events.start_ns, &trace.counters.time_ns,
        &trace.memory_events.time_ns}) {
    for (const int64_t time_ns : *column) visit(time_ns);
  }
  for (const TimelineTrack& track : timeline.tracks) {
    for (const TimelineSlice& slice : track.slices) visit(slice.start_ns);
  }
  for (const TimelineCounter& counter : timeline.counters) {
    for (const int64_t time_ns : counter.time_ns) visit(time_ns);
  }
}

int64_t first_time(const Trace& trace, const Timeline& timeline) {
  int64_t first_ns = INT64_MAX;
  for_each_time(trace, timeline,
                [&first_ns](int64_t time_ns) { first_ns = std::min(first_ns, time_ns); });
  return first_ns == INT64_MAX ? 0 : first_ns;
}

// One end of a link from a forward operator to its backward one.
struct LinkEnd {
  OpId op;
  uint64_t id = 0;
  bool is_end = false;
  friend bool operator<(const LinkEnd& a, const LinkEnd& b) {
    return std::tie(a.op, a.id, a.is_end) < std::tie(b.op, b.id, b.is_end);
  }
};

// What all traces of a file share.
struct FileState {
  Output output;
  LaneIds ids = {};
  PerfettoCounts counts = {};
  uint64_t next_flow = 1;
  int64_t next_sort_index = 0;  // of processes
};

// The events of one trace.
class TraceEvents {
 public:
  TraceEvents(FileState& file, const Trace& trace, const Links& links, const Timeline& timeline,
              int64_t zero_ns, std::string rank)
      : file_(file),
        out_(file.output),
        trace_(trace),
        links_(links),
        timeline_(timeline),
        zero_ns_(zero_ns),
        rank_(std::move(rank)) {}

  void write();

 private:
  // ---- who lies where (Perfetto shows processes and threads) ----
  void name_annotations();
  void name_host();
  void name_aside();
  void name_devices();
  uint32_t new_process(std::string_view pid_text, const std::string& name);
  uint32_t lane_id(const Group& group) const;
  void add_group(Group group, const std::string& name);
  void name_lane(Place place, const std::string& name);
  void name_host_lane(Place place, const Thread& thread);
  std::string device_name(int64_t device) const;

  // ---- rows of a group, in the order in which they nest ----
  std::vector<Entry> entries_of(const Group& group) const;
  template <typename Table, typename LaneId>
  void append_rows(const Table& table, const std::vector<LaneId>& lanes, LaneId lane, RowKind kind,
                   std::vector<Entry>& entries) const;
  void append_stream(StreamId stream, bool sync, std::vector<Entry>& entries) const;

  // ---- events ----
  void write_group(const Group& group);
  void write_entry(const Group& group, const Entry& entry, Place place);
  void write_op(const Entry& entry, Place place);
  void write_call(const Entry& entry, Place place);
  void write_activity(const Entry& entry, Place place);
  void write_memory(const Entry& entry, Place place);
  void write_slice(const TimelineTrack& track, const Entry& entry, Place place);
  std::string& begin_slice(std::string_view category, std::string_view name, const Entry& entry,
                           Place place);
  void end_slice();
  void append_external_id(uint32_t id);
  void append_inputs(OpId op);
  void append_shape(ActivityId activity);
  void append_collective(ActivityId activity);
  void write_counters();
  void write_own_counters();
  void write_sample(std::string_view name, std::string_view series, int64_t time_ns, double value,
                    Place place, bool own);
  void write_flow(std::string_view kind, bool is_end, uint64_t id, int64_t time_ns, Place place);

  // ---- arrows ----
  void link_backward();
  OpId op_at(ThreadId thread, int64_t time_ns, int64_t sequence) const;
  bool has_arrow(ActivityId activity) const;
  bool has_arrow(ApiCallId call) const;

  FileState& file_;
  Output& out_;
  const Trace& trace_;
  const Links& links_;
  const Timeline& timeline_;
  const int64_t zero_ns_;
  const std::string rank_;
  std::vector<Group> groups_;
  std::vector<Place> thread_place_;  // first lane of every thread
  uint32_t own_pid_ = 0;
  int64_t sort_index_ = 0;  // of the lanes of a process
  std::vector<LinkEnd> link_ends_;
};

void TraceEvents::write() {
  link_backward();
  name_annotations();
  name_host();
  name_aside();
  name_devices();
  // Host before devices: of events at one time the importer takes those first that come first, and
  // an arrow must start before it ends.
  // Streams in the order of the trace, which is that of their first rows: a reader that numbers
  // them so finds the same numbers.
  const auto streams = std::find_if(groups_.begin(), groups_.end(), [](const Group& group) {
    return group.kind == GroupKind::kStream || group.kind == GroupKind::kStreamSync;
  });
  std::stable_sort(streams, groups_.end(),
                   [](const Group& a, const Group& b) { return a.index < b.index; });
  for (const Group& group : groups_) {
    if (!out_.failed()) write_group(group);
  }
  write_counters();
  write_own_counters();
  file_.next_flow += trace_.api_calls.size();
}

// ---- who lies where ----

uint32_t TraceEvents::new_process(std::string_view pid_text, const std::string& name) {
  const uint32_t pid = file_.ids.take(pid_text);
  const Place place{pid, pid};
  std::string& text = out_.event("M", place);
  text += ",\"name\":\"process_name\",\"args\":{";
  append_member("name", rank_.empty() ? name : name + ": " + rank_, text);
  text += '}';
  out_.end_event();
  out_.event("M", place) += ",\"name\":\"process_sort_index\",\"args\":{";
  append_member("sort_index", file_.next_sort_index++, out_.text());
  out_.text() += '}';
  out_.end_event();
  sort_index_ = 0;
  return pid;
}

void TraceEvents::name_lane(Place place, const std::string& name) {
  std::string& text = out_.event("M", place);
  text += ",\"name\":\"thread_name\",\"args\":{";
  append_member("name", name, text);
  text += '}';
  out_.end_event();
  out_.event("M", place) += ",\"name\":\"thread_sort_index\",\"args\":{";
  append_member("sort_index", sort_index_++, out_.text());
  out_.text() += '}';
  out_.end_event();
}

// Whose rows lie on this lane: Assay reads them back as rows of that thread.
void TraceEvents::name_host_lane(Place place, const Thread& thread) {
  std::string& text = out_.event("M", place);
  text += ",\"name\":\"assay_lane\",\"args\":{";
  append_member("lane process", thread.pid, text);
  append_member("lane thread", thread.tid, text);
  append_member("name", thread.name, text);
  text += '}';
  out_.end_event();
}

// A group's first lane bears its number, where it has one that nobody else has.
void TraceEvents::add_group(Group group, const std::string& name) {
  Lanes lanes;
  for (const Entry& entry : entries_of(group)) lanes.place(entry.start_ns, entry.dur_ns);
  const bool host = group.kind == GroupKind::kThread;
  const size_t needed = std::max<size_t>(lanes.count(), host ? 1 : 0);
  for (size_t lane = 0; lane < needed; ++lane) {
    const bool first = group.tids.empty();
    if (!host || !first) group.tids.push_back(file_.ids.fresh());
    if (host && first) {
      const Thread& thread = trace_.threads[group.index];
      group.tids.push_back(thread.tid == thread.pid ? group.pid : file_.ids.take(thread.tid));
    }
    const Place place{group.pid, group.tids.back()};
    if (host) name_host_lane(place, trace_.threads[group.index]);
    name_lane(place, first ? name : fmt::format("{} ({})", name, group.tids.size()));
  }
  file_.counts.extra_lanes += needed > 1 ? needed - 1 : 0;
  if (needed > 0) groups_.push_back(std::move(group));
}

void TraceEvents::name_annotations() {
  own_pid_ = new_process("", "Assay");
  for (size_t track = 0; track < timeline_.tracks.size(); ++track) {
    add_group({GroupKind::kTrack, track, own_pid_}, timeline_.tracks[track].name);
  }
}

void TraceEvents::name_host() {
  std::map<std::string, uint32_t> pids;
  thread_place_.resize(trace_.threads.size());
  // Threads of a process follow each other, processes in order of their first thread.
  for (size_t first = 0; first < trace_.threads.size(); ++first) {
    const std::string& process = trace_.threads[first].pid;
    if (pids.count(process) != 0) continue;
    const uint32_t pid = new_process(process, "Host");
    pids[process] = pid;
    for (size_t t = first; t < trace_.threads.size(); ++t) {
      const Thread& thread = trace_.threads[t];
      if (thread.pid != process) continue;
      add_group({GroupKind::kThread, t, pid},
                thread.name.empty() ? fmt::format("thread {}", thread.tid) : thread.name);
      thread_place_[t] = {pid, groups_.back().tids.front()};
    }
  }
}

void TraceEvents::name_aside() {
  if (trace_.overheads.empty() && trace_.memory_events.empty()) return;
  const uint32_t pid = new_process("", "Profiler");
  add_group({GroupKind::kOverheads, 0, pid}, "overhead");
  add_group({GroupKind::kMemory, 0, pid}, "allocator");
}

std::string TraceEvents::device_name(int64_t device) const {
  for (const DeviceProperties& known : trace_.devices) {
    if (known.id == device && !known.name.empty()) {
      return fmt::format("GPU {} ({})", device, known.name);
    }
  }
  return fmt::format("GPU {}", device);
}

void TraceEvents::name_devices() {
  std::map<int64_t, std::vector<size_t>> streams_of;
  for (size_t s = 0; s < trace_.streams.size(); ++s) {
    streams_of[trace_.streams[s].device].push_back(s);
  }
  for (auto& [device, streams] : streams_of) {
    std::sort(streams.begin(), streams.end(), [this](size_t a, size_t b) {
      return trace_.streams[a].stream < trace_.streams[b].stream;
    });
    const uint32_t pid = new_process("", device_name(device));
    for (const size_t s : streams) {
      const int64_t stream = trace_.streams[s].stream;
      const std::string name = stream < 0 ? "no stream" : fmt::format("stream {}", stream);
      add_group({GroupKind::kStream, s, pid}, name);
      add_group({GroupKind::kStreamSync, s, pid}, name + " sync");
    }
  }
}

// ---- rows of a group ----

template <typename Table, typename LaneId>
void TraceEvents::append_rows(const Table& table, const std::vector<LaneId>& lanes, LaneId lane,
                              RowKind kind, std::vector<Entry>& entries) const {
  const auto middle = static_cast<std::ptrdiff_t>(entries.size());
  const auto [first, last] = rows_of(lanes, lane);
  for (size_t row = first; row < last; ++row) {
    entries.push_back({table.start_ns[row], table.dur_ns[row], static_cast<uint32_t>(row), kind});
  }
  std::inplace_merge(entries.begin(), entries.begin() + middle, entries.end());
}

void TraceEvents::append_stream(StreamId stream, bool sync, std::vector<Entry>& entries) const {
  const ActivityTable& rows = trace_.activities;
  if (!sync) {
    append_rows(trace_.gpu_annotations, trace_.gpu_annotations.stream, stream,
                RowKind::kGpuAnnotation, entries);
  }
  const auto middle = static_cast<std::ptrdiff_t>(entries.size());
  const auto [first, last] = rows_of(rows.stream, stream);
  for (size_t row = first; row < last; ++row) {
    if ((rows.kind[row] == ActivityKind::kSync) != sync) continue;
    entries.push_back(
        {rows.start_ns[row], rows.dur_ns[row], static_cast<uint32_t>(row), RowKind::kActivity});
  }
  std::inplace_merge(entries.begin(), entries.begin() + middle, entries.end());
}

std::vector<Entry> TraceEvents::entries_of(const Group& group) const {
  std::vector<Entry> entries;
  switch (group.kind) {
    case GroupKind::kThread: {
      const ThreadId thread(group.index);
      append_rows(trace_.annotations, trace_.annotations.thread, thread, RowKind::kAnnotation,
                  entries);
      append_rows(trace_.other_events, trace_.other_events.thread, thread, RowKind::kOther,
                  entries);
      append_rows(trace_.frames, trace_.frames.thread, thread, RowKind::kFrame, entries);
      append_rows(trace_.ops, trace_.ops.thread, thread, RowKind::kOp, entries);
      append_rows(trace_.api_calls, trace_.api_calls.thread, thread, RowKind::kCall, entries);
      break;
    }
    case GroupKind::kStream:
    case GroupKind::kStreamSync:
      append_stream(StreamId(group.index), group.kind == GroupKind::kStreamSync, entries);
      break;
    case GroupKind::kOverheads:
      for (uint32_t row = 0; row < trace_.overheads.size(); ++row) {
        entries.push_back({trace_.overheads.start_ns[row], trace_.overheads.dur_ns[row], row,
                           RowKind::kOverhead});
      }
      std::sort(entries.begin(), entries.end());
      break;
    case GroupKind::kMemory:
      for (uint32_t row = 0; row < trace_.memory_events.size(); ++row) {
        entries.push_back({trace_.memory_events.time_ns[row], 0, row, RowKind::kMemory});
      }
      break;
    case GroupKind::kTrack: {
      const std::vector<TimelineSlice>& slices = timeline_.tracks[group.index].slices;
      for (uint32_t row = 0; row < slices.size(); ++row) {
        entries.push_back({slices[row].start_ns, slices[row].dur_ns, row, RowKind::kSlice});
      }
      std::sort(entries.begin(), entries.end());
      break;
    }
  }
  return entries;
}

// ---- events ----

void TraceEvents::write_group(const Group& group) {
  Lanes lanes;
  for (const Entry& entry : entries_of(group)) {
    const uint32_t lane = lanes.place(entry.start_ns, entry.dur_ns);
    write_entry(group, entry, {group.pid, group.tids[lane]});
    if (out_.failed()) return;
  }
}

void TraceEvents::write_entry(const Group& group, const Entry& entry, Place place) {
  const auto simple = [&](std::string_view category, StringId name) {
    begin_slice(category, trace_.text(name), entry, place);
  };
  switch (entry.kind) {
    case RowKind::kAnnotation:
      simple("user_annotation", trace_.annotations.name[entry.row]);
      append_external_id(trace_.annotations.external_id[entry.row]);
      break;
    case RowKind::kOther:
      simple(trace_.text(trace_.other_events.category[entry.row]),
             trace_.other_events.name[entry.row]);
      break;
    case RowKind::kFrame:
      simple("python_function", trace_.frames.name[entry.row]);
      break;
    case RowKind::kGpuAnnotation: {
      simple("gpu_user_annotation", trace_.gpu_annotations.name[entry.row]);
      const Stream& stream = trace_.streams[group.index];
      append_member("device", stream.device, out_.text());
      append_member("stream", stream.stream, out_.text());
      break;
    }
    case RowKind::kOverhead:
      simple("overhead", trace_.overheads.name[entry.row]);
      break;
    case RowKind::kOp:
      return write_op(entry, place);
    case RowKind::kCall:
      return write_call(entry, place);
    case RowKind::kActivity:
      return write_activity(entry, place);
    case RowKind::kMemory:
      return write_memory(entry, place);
    case RowKind::kSlice:
      return write_slice(timeline_.tracks[group.index], entry, place);
  }
  end_slice();
}

std::string& TraceEvents::begin_slice(std::string_view category, std::string_view name,
                                      const Entry& entry, Place place) {
  std::string& text = out_.event("X", place);
  text += ",\"ts\":";
  append_microseconds(entry.start_ns - zero_ns_, text);
  text += ",\"dur\":";
  append_microseconds(entry.dur_ns, text);
  if (!category.empty()) append_member("cat", category, text);
  append_member("name", name, text);
  text += ",\"args\":{";
  ++(category == kOwnCategory ? file_.counts.annotations : file_.counts.slices);
  return text;
}

void TraceEvents::end_slice() {
  std::string& text = out_.text();
  constexpr std::string_view kEmpty = ",\"args\":{";
  if (text.back() == '{') {
    text.resize(text.size() - kEmpty.size());
  } else {
    text += '}';
  }
  out_.end_event();
}

void TraceEvents::append_external_id(uint32_t id) {
  if (id != 0) append_member("External id", id, out_.text());
}

// Inputs as text: Perfetto shows one argument instead of one per number of a shape.
void TraceEvents::append_inputs(OpId op) {
  const OpInputTable& inputs = trace_.op_inputs;
  const size_t row = side_row(inputs.op, op);
  if (row == SIZE_MAX) return;
  const auto append = [this](std::string_view key, StringId id) {
    std::string_view text = trace_.text(id);
    const bool quoted = text.size() > 1 && text.front() == '"' && text.back() == '"';
    if (quoted) text = text.substr(1, text.size() - 2);
    if (id != StringId(0)) append_member(key, text, out_.text());
  };
  append("Input Dims", inputs.dims[row]);
  append("Input type", inputs.types[row]);
  append("Input Strides", inputs.strides[row]);
  append("Concrete Inputs", inputs.concrete[row]);
}

void TraceEvents::write_op(const Entry& entry, Place place) {
  const OpId op(entry.row);
  std::string& text = begin_slice("cpu_op", trace_.text(trace_.ops.name[entry.row]), entry, place);
  append_external_id(trace_.ops.external_id[entry.row]);
  if (const size_t row = side_row(trace_.op_sequences.op, op); row != SIZE_MAX) {
    append_member("Sequence number", trace_.op_sequences.sequence[row], text);
    append_member("Fwd thread id", trace_.op_sequences.forward_thread[row], text);
  }
  append_inputs(op);
  end_slice();
  auto link = std::lower_bound(link_ends_.begin(), link_ends_.end(), LinkEnd{op});
  for (; link != link_ends_.end() && link->op == op; ++link) {
    write_flow("fwdbwd", link->is_end, link->id, entry.start_ns, place);
  }
}

void TraceEvents::write_call(const Entry& entry, Place place) {
  const ApiCallTable& calls = trace_.api_calls;
  const ApiCallId call(entry.row);
  std::string& text =
      begin_slice(calls.kind[entry.row] == ApiKind::kRuntime ? "cuda_runtime" : "cuda_driver",
                  trace_.text(calls.name[entry.row]), entry, place);
  if (calls.correlation[entry.row] != 0) {
    append_member("correlation", calls.correlation[entry.row], text);
  }
  append_external_id(calls.external_id[entry.row]);
  end_slice();
  if (has_arrow(call)) {
    write_flow("ac2g", false, file_.next_flow + call.index(), entry.start_ns, place);
  }
}

void TraceEvents::append_shape(ActivityId activity) {
  const KernelShapeTable& shapes = trace_.kernel_shapes;
  const size_t i = side_row(shapes.activity, activity);
  if (i == SIZE_MAX) return;
  std::string& text = out_.text();
  fmt::format_to(std::back_inserter(text), ",\"grid\":[{},{},{}],\"block\":[{},{},{}]",
                 shapes.grid_x[i], shapes.grid_y[i], shapes.grid_z[i], shapes.block_x[i],
                 shapes.block_y[i], shapes.block_z[i]);
  append_member("registers per thread", shapes.registers[i], text);
  append_member("shared memory", shapes.shared_memory_bytes[i], text);
  if (shapes.graph_id[i] == 0 && shapes.graph_node_id[i] == 0) return;
  append_member("graph id", static_cast<int64_t>(shapes.graph_id[i]), text);
  append_member("graph node id", static_cast<int64_t>(shapes.graph_node_id[i]), text);
}

void TraceEvents::append_collective(ActivityId activity) {
  const CollectiveTable& rows = trace_.collectives;
  const size_t i = side_row(rows.activity, activity);
  if (i == SIZE_MAX) return;
  std::string& text = out_.text();
  append_member("Collective name", trace_.text(rows.collective[i]), text);
  const auto append_text = [&](std::string_view key, StringId value) {
    if (value != StringId(0)) append_member(key, trace_.text(value), text);
  };
  const auto append_number = [&](std::string_view key, int64_t value) {
    if (value != -1) append_member(key, value, text);
  };
  append_text("dtype", rows.dtype[i]);
  append_text("Process Group Name", rows.process_group[i]);
  append_text("Process Group Ranks", rows.ranks[i]);
  append_number("In msg nelems", rows.in_elements[i]);
  append_number("Out msg nelems", rows.out_elements[i]);
  append_number("Group size", rows.group_size[i]);
  append_number("Seq", rows.seq[i]);
}

void TraceEvents::write_activity(const Entry& entry, Place place) {
  const ActivityTable& rows = trace_.activities;
  const ActivityId activity(entry.row);
  const Stream& stream = trace_.streams[rows.stream[entry.row].index()];
  std::string& text = begin_slice(category_of(rows.kind[entry.row]),
                                  trace_.text(rows.name[entry.row]), entry, place);
  append_member("device", stream.device, text);
  append_member("stream", stream.stream, text);
  if (rows.correlation[entry.row] != 0) {
    append_member("correlation", rows.correlation[entry.row], text);
  }
  append_external_id(rows.external_id[entry.row]);
  append_shape(activity);
  if (const size_t row = side_row(trace_.transfers.activity, activity); row != SIZE_MAX) {
    append_member("bytes", trace_.transfers.bytes[row], text);
  }
  append_collective(activity);
  end_slice();
  if (!has_arrow(activity)) return;
  write_flow("ac2g", true, file_.next_flow + links_.activity_call[entry.row].index(),
             entry.start_ns, place);
}

void TraceEvents::write_memory(const Entry& entry, Place place) {
  const MemoryEventTable& rows = trace_.memory_events;
  std::string& text = out_.event("i", place);
  text += ",\"s\":\"t\",\"name\":\"[memory]\",\"ts\":";
  append_microseconds(entry.start_ns - zero_ns_, text);
  text += ",\"args\":{";
  append_member("Bytes", rows.bytes[entry.row], text);
  fmt::format_to(std::back_inserter(text), ",\"Addr\":{}", rows.addr[entry.row]);
  append_member("Total Allocated", rows.total_allocated_bytes[entry.row], text);
  append_member("Total Reserved", rows.total_reserved_bytes[entry.row], text);
  append_member("Device Type", rows.device_type[entry.row], text);
  append_member("Device Id", rows.device[entry.row], text);
  text += '}';
  out_.end_event();
  ++file_.counts.instants;
}

void TraceEvents::write_slice(const TimelineTrack& track, const Entry& entry, Place place) {
  std::string& text =
      begin_slice(kOwnCategory, timeline_.texts.view(track.slices[entry.row].name), entry, place);
  for (size_t k = 0; k < track.keys.size(); ++k) {
    const int64_t value = track.values[entry.row * track.keys.size() + k];
    if (value == kNoTimelineValue) continue;
    if (track.keys[k].text) {
      append_member(track.keys[k].key, timeline_.texts.view(StringId(static_cast<size_t>(value))),
                    text);
    } else {
      append_member(track.keys[k].key, value, text);
    }
  }
  end_slice();
}

void TraceEvents::write_sample(std::string_view name, std::string_view series, int64_t time_ns,
                               double value, Place place, bool own) {
  if (!std::isfinite(value)) {
    ++file_.counts.values_left_out;
    return;
  }
  std::string& text = out_.event("C", place);
  text += ",\"ts\":";
  append_microseconds(time_ns - zero_ns_, text);
  if (own) append_member("cat", kOwnCategory, text);
  append_member("name", name, text);
  text += ",\"args\":{";
  append_json_string(series, text);
  fmt::format_to(std::back_inserter(text), ":{}}}", value);
  out_.end_event();
  ++file_.counts.counters;
}

void TraceEvents::write_counters() {
  const CounterTable& rows = trace_.counters;
  for (size_t i = 0; i < rows.size() && !out_.failed(); ++i) {
    write_sample(trace_.text(rows.name[i]), trace_.text(rows.series[i]), rows.time_ns[i],
                 rows.value[i], thread_place_[rows.thread[i].index()], false);
  }
}

void TraceEvents::write_own_counters() {
  for (const TimelineCounter& counter : timeline_.counters) {
    for (size_t i = 0; i < counter.time_ns.size() && !out_.failed(); ++i) {
      write_sample(counter.name, counter.unit, counter.time_ns[i], counter.value[i],
                   {own_pid_, own_pid_}, true);
    }
  }
}

// Right behind its slice and at its start: the importer binds it to the slice that opened last.
void TraceEvents::write_flow(std::string_view kind, bool is_end, uint64_t id, int64_t time_ns,
                             Place place) {
  std::string& text = out_.event(is_end ? "f" : "s", place);
  if (is_end) text += ",\"bp\":\"e\"";
  text += ",\"ts\":";
  append_microseconds(time_ns - zero_ns_, text);
  append_member("cat", kind, text);
  append_member("name", kind, text);
  append_member("id", static_cast<int64_t>(id), text);
  out_.end_event();
  file_.counts.arrows += is_end ? 1 : 0;
}

// ---- arrows ----

// An arrow that would end before it starts is none to the importer.
bool TraceEvents::has_arrow(ActivityId activity) const {
  const ApiCallId call = links_.activity_call[activity.index()];
  return call && trace_.activities.kind[activity.index()] != ActivityKind::kSync &&
         trace_.activities.start_ns[activity.index()] >= trace_.api_calls.start_ns[call.index()];
}

bool TraceEvents::has_arrow(ApiCallId call) const {
  const auto work = links_.activities_of(call);
  return std::any_of(work.begin(), work.end(),
                     [this](ActivityId activity) { return has_arrow(activity); });
}

// Of the operators that start there, the one with this sequence number; the first one without any.
OpId TraceEvents::op_at(ThreadId thread, int64_t time_ns, int64_t sequence) const {
  const auto [first, last] = rows_of(trace_.ops.thread, thread);
  const auto starts = trace_.ops.start_ns.begin();
  const auto range = std::equal_range(starts + static_cast<std::ptrdiff_t>(first),
                                      starts + static_cast<std::ptrdiff_t>(last), time_ns);
  const auto begin = static_cast<size_t>(range.first - starts);
  const auto end = static_cast<size_t>(range.second - starts);
  for (size_t op = begin; op < end; ++op) {
    const size_t row = side_row(trace_.op_sequences.op, OpId(op));
    if (row == SIZE_MAX) continue;
    if (sequence < 0 || trace_.op_sequences.sequence[row] == sequence) return OpId(op);
  }
  return begin < end ? OpId(begin) : OpId();
}

// Pairs the ends of the file's own links; those whose operators are found get an arrow.
void TraceEvents::link_backward() {
  const ForwardBackwardFlowTable& flows = trace_.forward_backward_flows;
  struct Ends {
    size_t forward = SIZE_MAX;
    size_t backward = SIZE_MAX;
  };
  std::unordered_map<uint64_t, Ends> pairs;
  for (size_t i = 0; i < flows.size(); ++i) {
    Ends& ends = pairs[flows.flow_id[i]];
    (flows.is_end[i] != 0 ? ends.backward : ends.forward) = i;
  }
  for (size_t i = 0; i < flows.size(); ++i) {
    const Ends& ends = pairs[flows.flow_id[i]];
    if (ends.backward != i) {
      file_.counts.arrows_left_out += ends.forward == i && ends.backward != SIZE_MAX ? 0 : 1;
      continue;
    }
    const OpId to = op_at(flows.thread[i], flows.time_ns[i], -1);
    const size_t row = to ? side_row(trace_.op_sequences.op, to) : SIZE_MAX;
    const int64_t sequence = row == SIZE_MAX ? -1 : trace_.op_sequences.sequence[row];
    const OpId from = ends.forward == SIZE_MAX ? OpId()
                                               : op_at(flows.thread[ends.forward],
                                                       flows.time_ns[ends.forward], sequence);
    if (!to || !from || trace_.ops.start_ns[from.index()] > trace_.ops.start_ns[to.index()]) {
      ++file_.counts.arrows_left_out;
      continue;
    }
    const uint64_t id = file_.next_flow++;
    link_ends_.push_back({from, id, false});
    link_ends_.push_back({to, id, true});
  }
  std::sort(link_ends_.begin(), link_ends_.end());
  for (size_t a = 0; a < trace_.activities.size(); ++a) {
    const bool linked = links_.activity_call[a] && trace_.activities.kind[a] != ActivityKind::kSync;
    file_.counts.arrows_left_out += linked && !has_arrow(ActivityId(a)) ? 1 : 0;
  }
}

// ---- the head of a file ----

std::string_view tracer_key(Tracer tracer) {
  switch (tracer) {
    case Tracer::kPyTorchProfiler:
      return "pytorch_profiler";
    case Tracer::kNsightSystems:
      return "nsight_systems";
    case Tracer::kAssay:
      return "assay";
    case Tracer::kOther:
      break;
  }
  return "other";
}

void append_devices(const Trace& trace, std::string& text) {
  text += ",\n\"deviceProperties\":[";
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    const DeviceProperties& device = trace.devices[i];
    text += i == 0 ? "\n{" : ",\n{";
    append_member("id", device.id, text);
    append_member("name", device.name, text);
    append_member("totalGlobalMem", device.total_memory_bytes, text);
    append_member("computeMajor", device.compute_major, text);
    append_member("computeMinor", device.compute_minor, text);
    append_member("warpSize", device.warp_size, text);
    append_member("numSms", device.multiprocessors, text);
    text += '}';
  }
  text += ']';
}

// What the first trace says, for readers that read one trace.
void append_trace_head(const Trace& trace, std::string& text) {
  append_devices(trace, text);
  if (trace.distributed.rank || trace.distributed.world_size) {
    text += ",\n\"distributedInfo\":{";
    append_member("backend", trace.distributed.backend, text);
    if (trace.distributed.rank) append_member("rank", *trace.distributed.rank, text);
    if (trace.distributed.world_size) {
      append_member("world_size", *trace.distributed.world_size, text);
    }
    text += '}';
  }
  for (const MetadataEntry& entry : trace.metadata) {
    if (entry.key == "displayTimeUnit" || entry.key == "schemaVersion") continue;
    text += ",\n";
    append_json_string(entry.key, text);
    text += ':';
    append_json_string(entry.value, text);
  }
}

// "rank 3", else the name of the file without its folder.
std::string rank_name(const Trace& trace, bool several) {
  if (trace.distributed.rank) return fmt::format("rank {}", *trace.distributed.rank);
  if (!several) return "";
  const size_t slash = trace.source.find_last_of('/');
  return slash == std::string::npos ? trace.source : trace.source.substr(slash + 1);
}

}  // namespace

struct PerfettoWriter::State {
  FileState file;
  bool several;
  size_t traces = 0;  // added
  Tracer tracer = Tracer::kOther;
  int64_t zero_ns = 0;   // of the file: what its times count from
  int64_t first_ns = 0;  // earliest time of the first trace
  bool absolute = true;  // times are those of the traces, less zero_ns

  void begin(const Trace& trace, int64_t earliest_ns);
  int64_t zero_for(int64_t earliest_ns);
};

// Viewers read times as doubles: they are kept small, and above 0 for every trace of the same days.
void PerfettoWriter::State::begin(const Trace& trace, int64_t earliest_ns) {
  first_ns = earliest_ns;
  absolute = earliest_ns >= 0;
  zero_ns = earliest_ns < kFarNs ? std::min<int64_t>(earliest_ns, 0)
                                 : earliest_ns / kDayNs * kDayNs - kDayNs;
  std::string& text = file.output.text();
  tracer = trace.tracer;
  text += "{\"schemaVersion\":1,\n\"displayTimeUnit\":\"ns\"";
  append_trace_head(trace, text);
  if (zero_ns > 0)
    fmt::format_to(std::back_inserter(text), ",\n\"baseTimeNanoseconds\":{}", zero_ns);
  text += ",\n\"traceEvents\":[";
}

// Times before the file's zero are lost on the importer, and those far behind it lose digits.
int64_t PerfettoWriter::State::zero_for(int64_t earliest_ns) {
  const bool fits = absolute && earliest_ns >= zero_ns && earliest_ns - zero_ns < kFarNs + kDayNs;
  if (fits) return zero_ns;
  ++file.counts.moved_traces;
  return earliest_ns - (first_ns - zero_ns);
}

PerfettoWriter::PerfettoWriter(Sink sink, size_t traces)
    : state_(new State{.file = {.output = Output(std::move(sink))}, .several = traces > 1}) {}

PerfettoWriter::~PerfettoWriter() = default;

Status PerfettoWriter::add(const Trace& trace, const Links& links, const Timeline& timeline) {
  const int64_t earliest_ns = first_time(trace, timeline);
  if (state_->traces++ == 0) state_->begin(trace, earliest_ns);
  TraceEvents(state_->file, trace, links, timeline, state_->zero_for(earliest_ns),
              rank_name(trace, state_->several))
      .write();
  return state_->file.output.failed() ? state_->file.output.take_status() : Status(Ok{});
}

Status PerfettoWriter::finish() {
  Output& output = state_->file.output;
  if (state_->traces == 0) state_->begin(Trace(), 0);
  PerfettoCounts& counts = state_->file.counts;
  std::string& text = output.text();
  text += "\n],\n\"assayTimeline\":{\"version\":1";
  append_member("traces", static_cast<int64_t>(state_->traces), text);
  append_member("tracer", tracer_key(state_->tracer), text);
  text += "},\n\"otherData\":{\"written by\":\"assay report --perfetto\"";
  append_member("slices", static_cast<int64_t>(counts.slices), text);
  append_member("annotations", static_cast<int64_t>(counts.annotations), text);
  append_member("counter samples", static_cast<int64_t>(counts.counters), text);
  append_member("instants", static_cast<int64_t>(counts.instants), text);
  append_member("arrows", static_cast<int64_t>(counts.arrows), text);
  append_member("arrows left out", static_cast<int64_t>(counts.arrows_left_out), text);
  append_member("samples left out", static_cast<int64_t>(counts.values_left_out), text);
  append_member("extra lanes", static_cast<int64_t>(counts.extra_lanes), text);
  append_member("traces moved", static_cast<int64_t>(counts.moved_traces), text);
  text += "}}\n";
  output.flush();
  counts.bytes = output.bytes();
  return output.take_status();
}

const PerfettoCounts& PerfettoWriter::counts() const { return state_->file.counts; }

}  // namespace assay
