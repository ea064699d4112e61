#include "report/perfetto/chrome_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/json_string.h"
#include "report/perfetto/text.h"

namespace assay {
namespace {

// A pid or tid, as a number if it is one.
std::string lane_text(const std::string& text) {
  const bool number =
      !text.empty() && text.size() < 18 && text[0] != '0' &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number || text == "0" ? text : json_string(text);
}

class Writer {
 public:
  explicit Writer(const Trace& trace)
      : trace_(trace), base_ns_(earliest() / kBaseStep * kBaseStep) {}

  std::string write();

 private:
  // Viewers read numbers as doubles, so times are kept small, as in Kineto files.
  static constexpr int64_t kBaseStep = 1'000'000;

  int64_t earliest() const;
  std::string microseconds(int64_t ns) const;
  std::string duration(int64_t ns) const;
  void event(const std::string& text);
  void span(std::string_view category, StringId name, const std::string& lane, int64_t start_ns,
            int64_t dur_ns, const std::string& arguments);
  std::string host_lane(ThreadId thread) const;
  std::string device_lane(StreamId stream) const;
  void write_devices();
  void write_names();
  void write_host();
  void write_calls();
  void write_activities();
  std::string activity_arguments(size_t row) const;
  void write_flows();

  const Trace& trace_;
  const int64_t base_ns_;
  std::string out_;
  bool first_ = true;
  size_t shape_ = 0;  // current rows of the side tables, which are sorted by activity
  size_t transfer_ = 0;
  size_t wait_ = 0;
};

int64_t Writer::earliest() const {
  int64_t first = INT64_MAX;
  for (const auto* column :
       {&trace_.ops.start_ns, &trace_.api_calls.start_ns, &trace_.activities.start_ns,
        &trace_.annotations.start_ns, &trace_.overheads.start_ns}) {
    for (const int64_t start : *column) first = std::min(first, start);
  }
  return first == INT64_MAX ? 0 : std::max<int64_t>(first, 0);
}

std::string Writer::duration(int64_t ns) const {
  std::string out;
  append_microseconds(ns, out);
  return out;
}

std::string Writer::microseconds(int64_t ns) const { return duration(ns - base_ns_); }

void Writer::event(const std::string& text) {
  out_ += first_ ? "\n  " : ",\n  ";
  out_ += text;
  first_ = false;
}

std::string Writer::host_lane(ThreadId thread) const {
  const Thread& lane = trace_.threads[thread.index()];
  return fmt::format("\"pid\":{},\"tid\":{}", lane_text(lane.pid), lane_text(lane.tid));
}

std::string Writer::device_lane(StreamId stream) const {
  const Stream& lane = trace_.streams[stream.index()];
  return fmt::format("\"pid\":{},\"tid\":{}", lane.device, lane.stream);
}

void Writer::span(std::string_view category, StringId name, const std::string& lane,
                  int64_t start_ns, int64_t dur_ns, const std::string& arguments) {
  event(fmt::format(R"({{"ph":"X","cat":"{}","name":{},{},"ts":{},"dur":{}{}}})", category,
                    json_string(trace_.text(name)), lane, microseconds(start_ns), duration(dur_ns),
                    arguments.empty() ? "" : ",\"args\":{" + arguments + "}"));
}

void Writer::write_devices() {
  out_ += "\"deviceProperties\":[";
  for (size_t i = 0; i < trace_.devices.size(); ++i) {
    const DeviceProperties& device = trace_.devices[i];
    fmt::format_to(std::back_inserter(out_),
                   "{}\n  {{\"id\":{},\"name\":{},\"totalGlobalMem\":{},\"computeMajor\":{},"
                   "\"computeMinor\":{},\"warpSize\":{},\"numSms\":{}}}",
                   i == 0 ? "" : ",", device.id, json_string(device.name),
                   device.total_memory_bytes, device.compute_major, device.compute_minor,
                   device.warp_size, device.multiprocessors);
  }
  out_ += "],\n";
}

void Writer::write_names() {
  for (const Thread& lane : trace_.threads) {
    if (lane.name.empty()) continue;
    event(fmt::format(
        R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"ts":0,"args":{{"name":{}}}}})",
        lane_text(lane.pid), lane_text(lane.tid), json_string(lane.name)));
  }
  std::unordered_set<int64_t> named;
  for (const Stream& lane : trace_.streams) {
    if (lane.device < 0) continue;
    if (named.insert(lane.device).second) {
      event(fmt::format(
          R"({{"ph":"M","name":"process_name","pid":{0},"tid":0,"ts":0,"args":{{"name":"GPU {0}"}}}})",
          lane.device));
    }
    event(fmt::format(
        R"({{"ph":"M","name":"thread_name","pid":{0},"tid":{1},"ts":0,"args":{{"name":"stream {1}"}}}})",
        lane.device, lane.stream));
  }
}

void Writer::write_host() {
  const auto id = [](uint32_t external_id) {
    return external_id == 0 ? std::string() : fmt::format("\"External id\":{}", external_id);
  };
  for (size_t i = 0; i < trace_.ops.size(); ++i) {
    span("cpu_op", trace_.ops.name[i], host_lane(trace_.ops.thread[i]), trace_.ops.start_ns[i],
         trace_.ops.dur_ns[i], id(trace_.ops.external_id[i]));
  }
  for (size_t i = 0; i < trace_.annotations.size(); ++i) {
    span("user_annotation", trace_.annotations.name[i], host_lane(trace_.annotations.thread[i]),
         trace_.annotations.start_ns[i], trace_.annotations.dur_ns[i],
         id(trace_.annotations.external_id[i]));
  }
  for (size_t i = 0; i < trace_.overheads.size(); ++i) {
    span("overhead", trace_.overheads.name[i], R"("pid":-1,"tid":0)", trace_.overheads.start_ns[i],
         trace_.overheads.dur_ns[i], "");
  }
}

void Writer::write_calls() {
  const ApiCallTable& calls = trace_.api_calls;
  for (size_t i = 0; i < calls.size(); ++i) {
    std::string arguments = fmt::format("\"correlation\":{}", calls.correlation[i]);
    if (calls.external_id[i] != 0)
      arguments += fmt::format(",\"External id\":{}", calls.external_id[i]);
    span(calls.kind[i] == ApiKind::kRuntime ? "cuda_runtime" : "cuda_driver", calls.name[i],
         host_lane(calls.thread[i]), calls.start_ns[i], calls.dur_ns[i], arguments);
  }
}

std::string Writer::activity_arguments(size_t row) const {
  const Stream& lane = trace_.streams[trace_.activities.stream[row].index()];
  std::string text = fmt::format("\"device\":{},\"stream\":{},\"correlation\":{}", lane.device,
                                 lane.stream, trace_.activities.correlation[row]);
  if (trace_.activities.external_id[row] != 0) {
    text += fmt::format(",\"External id\":{}", trace_.activities.external_id[row]);
  }
  const KernelShapeTable& shapes = trace_.kernel_shapes;
  if (shape_ < shapes.size() && shapes.activity[shape_].index() == row) {
    const size_t i = shape_;
    text += fmt::format(
        ",\"grid\":[{},{},{}],\"block\":[{},{},{}],\"registers per thread\":{},"
        "\"shared memory\":{}",
        shapes.grid_x[i], shapes.grid_y[i], shapes.grid_z[i], shapes.block_x[i], shapes.block_y[i],
        shapes.block_z[i], shapes.registers[i], shapes.shared_memory_bytes[i]);
    if (shapes.graph_id[i] != 0) {
      text += fmt::format(",\"graph id\":{},\"graph node id\":{}", shapes.graph_id[i],
                          shapes.graph_node_id[i]);
    }
  }
  const TransferTable& transfers = trace_.transfers;
  if (transfer_ < transfers.size() && transfers.activity[transfer_].index() == row) {
    text += fmt::format(",\"bytes\":{}", transfers.bytes[transfer_]);
  }
  const WaitTable& waits = trace_.waits;
  if (wait_ < waits.size() && waits.activity[wait_].index() == row) {
    append_wait(waits, wait_, text);
  }
  return text;
}

std::string_view chrome_category_of(ActivityKind kind) {
  return kind == ActivityKind::kOther ? "gpu_graph" : chrome_category(kind);
}

void Writer::write_activities() {
  const ActivityTable& rows = trace_.activities;
  const KernelShapeTable& shapes = trace_.kernel_shapes;
  const TransferTable& transfers = trace_.transfers;
  for (size_t i = 0; i < rows.size(); ++i) {
    while (shape_ < shapes.size() && shapes.activity[shape_].index() < i) ++shape_;
    while (transfer_ < transfers.size() && transfers.activity[transfer_].index() < i) ++transfer_;
    while (wait_ < trace_.waits.size() && trace_.waits.activity[wait_].index() < i) ++wait_;
    span(chrome_category_of(rows.kind[i]), rows.name[i], device_lane(rows.stream[i]),
         rows.start_ns[i], rows.dur_ns[i], activity_arguments(i));
  }
}

// Writes the arrows from calls to their activities.
void Writer::write_flows() {
  std::unordered_set<uint32_t> with_work;
  const ActivityTable& rows = trace_.activities;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows.kind[i] == ActivityKind::kSync || rows.correlation[i] == 0) continue;
    with_work.insert(rows.correlation[i]);
    event(fmt::format(R"({{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":{},{},"ts":{}}})",
                      rows.correlation[i], device_lane(rows.stream[i]),
                      microseconds(rows.start_ns[i])));
  }
  const ApiCallTable& calls = trace_.api_calls;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (with_work.count(calls.correlation[i]) == 0) continue;
    event(fmt::format(R"({{"ph":"s","cat":"ac2g","name":"ac2g","id":{},{},"ts":{}}})",
                      calls.correlation[i], host_lane(calls.thread[i]),
                      microseconds(calls.start_ns[i])));
  }
}

std::string Writer::write() {
  out_ = "{\n\"schemaVersion\":1,\n";
  write_devices();
  fmt::format_to(std::back_inserter(out_),
                 "\"displayTimeUnit\":\"ms\",\n\"baseTimeNanoseconds\":{},\n\"traceEvents\":[",
                 base_ns_);
  write_names();
  write_host();
  write_calls();
  write_activities();
  write_flows();
  out_ += "\n]\n}\n";
  return std::move(out_);
}

}  // namespace

std::string chrome_json(const Trace& trace) { return Writer(trace).write(); }

}  // namespace assay
