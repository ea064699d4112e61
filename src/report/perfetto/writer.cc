#include "report/perfetto/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json_string.h"
#include "report/perfetto/events.h"
#include "report/perfetto/text.h"

namespace assay {
namespace {

constexpr int64_t kDayNs = int64_t{86'400} * 1'000'000'000;
// Times closer to zero are written unchanged; traces further apart have no common clock.
constexpr int64_t kFarNs = 30 * kDayNs;

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

// Properties of the first trace, for readers that expect a single trace.
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
  TimelineFileState file;
  bool several;
  size_t traces = 0;  // traces added so far
  Tracer tracer = Tracer::kOther;
  int64_t zero_ns = 0;   // origin of the file's times
  int64_t first_ns = 0;  // earliest time of the first trace
  bool absolute = true;  // times are those of the traces minus zero_ns

  void begin(const Trace& trace, int64_t earliest_ns);
  int64_t zero_for(int64_t earliest_ns);
};

// Viewers read times as doubles: keep them small, but above 0 for all traces within days of the
// first.
void PerfettoWriter::State::begin(const Trace& trace, int64_t earliest_ns) {
  first_ns = earliest_ns;
  absolute = earliest_ns >= 0;
  zero_ns = earliest_ns < kFarNs ? std::min<int64_t>(earliest_ns, 0)
                                 : earliest_ns / kDayNs * kDayNs - kDayNs;
  std::string& text = file.output.text();
  tracer = trace.tracer;
  // Precedes all trace data: a search for traces in a folder reads only the first bytes.
  text += "{\"schemaVersion\":1,\n\"writtenBy\":\"assay report --perfetto\",\n";
  text += "\"displayTimeUnit\":\"ns\"";
  append_trace_head(trace, text);
  if (zero_ns > 0)
    fmt::format_to(std::back_inserter(text), ",\n\"baseTimeNanoseconds\":{}", zero_ns);
  text += ",\n\"traceEvents\":[";
}

// The importer drops times before the file's origin, and times long after it lose precision.
int64_t PerfettoWriter::State::zero_for(int64_t earliest_ns) {
  const bool fits = absolute && earliest_ns >= zero_ns && earliest_ns - zero_ns < kFarNs + kDayNs;
  if (fits) return zero_ns;
  ++file.counts.moved_traces;
  return earliest_ns - (first_ns - zero_ns);
}

PerfettoWriter::PerfettoWriter(Sink sink, size_t traces)
    : state_(
          new State{.file = {.output = TimelineOutput(std::move(sink))}, .several = traces > 1}) {}

PerfettoWriter::~PerfettoWriter() = default;

Status PerfettoWriter::add(const Trace& trace, const Links& links, const Timeline& timeline) {
  const int64_t earliest_ns = first_time(trace, timeline);
  if (state_->traces++ == 0) state_->begin(trace, earliest_ns);
  write_trace_events(state_->file, trace, links, timeline, state_->zero_for(earliest_ns),
                     rank_name(trace, state_->several));
  return state_->file.output.failed() ? state_->file.output.take_status() : Status(Ok{});
}

Status PerfettoWriter::finish() {
  TimelineOutput& output = state_->file.output;
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