#include "report/perfetto/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "base/json_string.h"
#include "base/lanes.h"
#include "report/perfetto/arrows.h"
#include "report/perfetto/rows.h"
#include "trace/process_facts.h"

namespace assay {
namespace {

using Entry = TimelineEntry;
using Group = TimelineGroup;
using GroupKind = TimelineGroupKind;
using Place = TimelinePlace;
using RowKind = TimelineRowKind;

// Category of Assay's own events, which readers, including Assay, may skip.
constexpr std::string_view kOwnCategory = "assay";

std::string_view track_category_of(ActivityKind kind) {
  return kind == ActivityKind::kOther ? "device_work" : chrome_category(kind);
}

// The events of one trace.
class TraceEvents {
 public:
  TraceEvents(TimelineFileState& file, const Trace& trace, const Links& links,
              const Timeline& timeline, int64_t zero_ns, std::string rank)
      : file_(file),
        out_(file.output),
        trace_(trace),
        links_(links),
        timeline_(timeline),
        zero_ns_(zero_ns),
        rank_(std::move(rank)),
        arrows_(trace, links, file.next_flow) {}

  void write();

 private:
  // ---- processes and threads of the file ----
  void name_annotations();
  void name_host();
  void name_aside();
  void name_devices();
  uint32_t new_process(std::string_view pid_text, const std::string& name, int64_t sort_index);
  uint32_t new_process(std::string_view pid_text, const std::string& name);
  void describe_process(uint32_t pid, const std::string& name, const std::string& original);
  std::map<std::string, int64_t> host_order() const;
  std::string host_name(const std::string& pid) const;
  void add_group(Group group, const std::string& name);
  void name_lane(Place place, const std::string& name);
  void name_host_lane(Place place, const Thread& thread);
  std::string device_name(int64_t device) const;

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

  TimelineFileState& file_;
  TimelineOutput& out_;
  const Trace& trace_;
  const Links& links_;
  const Timeline& timeline_;
  const int64_t zero_ns_;
  const std::string rank_;
  const TimelineArrows arrows_;
  std::vector<Group> groups_;
  std::vector<Place> thread_place_;  // first track of every thread
  uint32_t own_pid_ = 0;
  int64_t sort_index_ = 0;  // of the tracks of a process
};

void TraceEvents::write() {
  name_annotations();
  name_host();
  name_aside();
  name_devices();
  // Host before devices: the importer processes events of equal time in file order, and an arrow
  // must start before it ends. Streams are in trace order, that of their first rows, so that a
  // reader that numbers them on first occurrence gets the same numbers.
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
  file_.counts.arrows_left_out += arrows_.left_out();
}

// ---- processes and threads of the file ----

uint32_t TraceEvents::new_process(std::string_view pid_text, const std::string& name) {
  return new_process(pid_text, name, file_.next_sort_index++);
}

uint32_t TraceEvents::new_process(std::string_view pid_text, const std::string& name,
                                  int64_t sort_index) {
  const uint32_t pid = file_.ids.take(pid_text);
  const Place place{pid, pid};
  std::string& text = out_.event("M", place);
  text += ",\"name\":\"process_name\",\"args\":{";
  append_member("name", rank_.empty() ? name : name + ": " + rank_, text);
  text += '}';
  out_.end_event();
  out_.event("M", place) += ",\"name\":\"process_sort_index\",\"args\":{";
  append_member("sort_index", sort_index, out_.text());
  out_.text() += '}';
  out_.end_event();
  sort_index_ = 0;
  return pid;
}

// Copies the properties of the trace's process `original` to the process that shows it: as labels,
// and for Assay to read back.
void TraceEvents::describe_process(uint32_t pid, const std::string& name,
                                   const std::string& original) {
  const Place place{pid, pid};
  const std::string_view own_name = process_fact(trace_, kProcessName, original);
  std::string labels(process_fact(trace_, kProcessLabels, original));
  if (name.find(own_name) == std::string::npos) {
    labels = std::string(own_name) + (labels.empty() ? "" : ", " + labels);
  }
  if (!labels.empty()) {
    std::string& text = out_.event("M", place);
    text += ",\"name\":\"process_labels\",\"args\":{";
    append_member("labels", labels, text);
    text += '}';
    out_.end_event();
  }
  std::string& text = out_.event("M", place);
  text += ",\"name\":\"assay_process\",\"args\":{";
  append_member("lane process", original, text);
  const std::pair<std::string_view, std::string_view> keys[] = {
      {"name", kProcessName}, {"labels", kProcessLabels}, {"sort_index", kProcessSortIndex}};
  for (const auto& [key, fact] : keys) {
    const std::string_view told = process_fact(trace_, fact, original);
    if (!told.empty()) append_member(key, told, text);
  }
  text += '}';
  out_.end_event();
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

// Records the thread of this track, so that Assay reads its rows back as rows of that thread.
void TraceEvents::name_host_lane(Place place, const Thread& thread) {
  std::string& text = out_.event("M", place);
  text += ",\"name\":\"assay_lane\",\"args\":{";
  append_member("lane process", thread.pid, text);
  append_member("lane thread", thread.tid, text);
  append_member("name", thread.name, text);
  text += '}';
  out_.end_event();
}

// A group's first track uses the group's number if it is unique.
void TraceEvents::add_group(Group group, const std::string& name) {
  Lanes lanes;
  for (const Entry& entry : entries_of(trace_, timeline_, group))
    lanes.place(entry.start_ns, entry.dur_ns);
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

// Sort position of every host process: as specified by the trace, else by first thread.
std::map<std::string, int64_t> TraceEvents::host_order() const {
  std::vector<std::pair<int64_t, std::string>> found;
  std::set<std::string_view> seen;
  for (const Thread& thread : trace_.threads) {
    if (!seen.insert(thread.pid).second) continue;
    const std::string_view told = process_fact(trace_, kProcessSortIndex, thread.pid);
    int64_t index = 0;
    std::from_chars(told.data(), told.data() + told.size(), index);
    found.emplace_back(index, thread.pid);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<std::string, int64_t> order;
  for (auto& [index, pid] : found) order.emplace(pid, order.size());
  return order;
}

std::string TraceEvents::host_name(const std::string& pid) const {
  const std::string_view told = process_fact(trace_, kProcessName, pid);
  if (pid.empty()) return "Host";
  return told.empty() ? "Host (pid " + pid + ")" : fmt::format("Host ({}, pid {})", told, pid);
}

void TraceEvents::name_host() {
  thread_place_.resize(trace_.threads.size());
  const std::vector<std::string> names = thread_labels(trace_);
  const std::map<std::string, int64_t> order = host_order();
  std::map<std::string, uint32_t> pids;
  // Threads of a process are consecutive, and processes are in order of their first thread. A
  // reader that numbers threads on first occurrence thus gets the same numbers.
  for (const Thread& first : trace_.threads) {
    if (pids.count(first.pid) != 0) continue;
    const std::string name = host_name(first.pid);
    const uint32_t pid = new_process(first.pid, name, file_.next_sort_index + order.at(first.pid));
    describe_process(pid, name, first.pid);
    pids[first.pid] = pid;
    for (size_t t = 0; t < trace_.threads.size(); ++t) {
      if (trace_.threads[t].pid != first.pid) continue;
      add_group({GroupKind::kThread, t, pid}, names[t]);
      thread_place_[t] = {pid, groups_.back().tids.front()};
    }
  }
  file_.next_sort_index += static_cast<int64_t>(order.size());
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
    const std::string shown = device_name(device);
    const uint32_t pid = new_process("", shown);
    describe_process(pid, shown, std::to_string(device));
    for (const size_t s : streams) {
      const int64_t stream = trace_.streams[s].stream;
      const std::string name = stream < 0 ? "no stream" : fmt::format("stream {}", stream);
      add_group({GroupKind::kStream, s, pid}, name);
      add_group({GroupKind::kStreamSync, s, pid}, name + " sync");
    }
  }
}

// ---- events ----

void TraceEvents::write_group(const Group& group) {
  Lanes lanes;
  for (const Entry& entry : entries_of(trace_, timeline_, group)) {
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

// Writes inputs as text, so that Perfetto shows one argument instead of one per dimension.
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
  for (const TimelineArrows::LinkEnd& link : arrows_.ends_on(op)) {
    write_flow("fwdbwd", link.is_end, link.id, entry.start_ns, place);
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
  if (const size_t row = side_row(trace_.launch_names.call, call); row != SIZE_MAX) {
    append_member("kernel", trace_.text(trace_.launch_names.kernel[row]), text);
  }
  end_slice();
  if (arrows_.has(call)) {
    write_flow("ac2g", false, arrows_.id_of(call), entry.start_ns, place);
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
  append_number(trace_.text(rows.collective[i]) == "send" ? "Dst Rank" : "Src Rank", rows.peer[i]);
}

void TraceEvents::write_activity(const Entry& entry, Place place) {
  const ActivityTable& rows = trace_.activities;
  const ActivityId activity(entry.row);
  const Stream& stream = trace_.streams[rows.stream[entry.row].index()];
  std::string& text = begin_slice(track_category_of(rows.kind[entry.row]),
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
  if (const size_t row = side_row(trace_.waits.activity, activity); row != SIZE_MAX) {
    append_wait(trace_.waits, row, text);
  }
  end_slice();
  if (!arrows_.has(activity)) return;
  write_flow("ac2g", true, arrows_.id_of(links_.activity_call[entry.row]), entry.start_ns, place);
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

// Must directly follow its slice and have its start time: the importer binds it to the last opened
// slice.
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

}  // namespace

void write_trace_events(TimelineFileState& file, const Trace& trace, const Links& links,
                        const Timeline& timeline, int64_t zero_ns, std::string rank) {
  TraceEvents(file, trace, links, timeline, zero_ns, std::move(rank)).write();
}

}  // namespace assay
