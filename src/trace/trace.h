#pragma once

// A Trace: the events of one profiled process, as columns. Made by a TraceBuilder and then
// immutable. Every table is sorted by (lane, start, longer first, ids, texts); the lane is the
// thread or the stream. Side tables are sorted by the row they belong to. Row ids are positions in
// that order, which does not depend on the order of the input.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/intervals.h"
#include "base/string_pool.h"
#include "trace/import_log.h"
#include "trace/table.h"

namespace assay {

struct Thread {
  std::string pid;  // as written, typically a number
  std::string tid;
  std::string name;  // thread_name metadata; may be empty
};

struct Stream {
  int64_t device = 0;  // device index as recorded
  int64_t stream = 0;  // stream or queue id; -1 = none
  std::string name;    // thread_name metadata; may be empty
};

// One entry of deviceProperties, which lists the devices of the machine, traced or not.
struct DeviceProperties {
  int64_t id = 0;
  std::string name;  // may be empty on ROCm
  int64_t total_memory_bytes = 0;
  int64_t multiprocessors = 0;
  int64_t warp_size = 0;
  int64_t compute_major = 0;
  int64_t compute_minor = 0;
};

struct DistributedInfo {
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::string backend;
};

// A header key with a string or number as its value. Environment-like objects are not kept.
struct MetadataEntry {
  std::string key;
  std::string value;
};

// Counts of the file's events by kind, before they become rows of tables.
struct RowCounts {
  uint64_t events = 0;       // elements of the event array
  uint64_t flow_starts = 0;  // ac2g and its older names
  uint64_t flow_ends = 0;
  uint64_t metadata = 0;
  uint64_t instants = 0;
  uint64_t spans = 0;  // cat Trace: the profiler's own whole-window rows, ignored for busy time
};

// Source of the times. Launch times of different tracers are not comparable: an empty kernel takes
// 2.4 us with the PyTorch profiler and 4.6 us with Nsight Systems (docs/metrics.md, Overhead).
enum class Tracer : uint8_t { kPyTorchProfiler, kNsightSystems, kAssay, kOther };

struct Trace {
  // Moved, never copied. Defined in trace.cc because each is several KB of code.
  Trace();
  ~Trace();
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;

  std::string source;          // file name as given, "-" for stdin
  uint64_t source_bytes = 0;   // bytes on disk
  uint64_t content_bytes = 0;  // bytes after decompression
  // Checksum (base/checksum.h) of the bytes on disk; nullopt for a pipe that was not read to its
  // end.
  std::optional<uint64_t> source_checksum;

#define ASSAY_MEMBER(member, Row, COLUMNS, doc) Row##Table member;
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER

  StringPool strings;
  std::vector<Thread> threads;
  std::vector<Stream> streams;
  std::vector<DeviceProperties> devices;
  DistributedInfo distributed;
  Tracer tracer = Tracer::kPyTorchProfiler;
  std::vector<MetadataEntry> metadata;
  RowCounts counts;
  ImportLog log;
  bool whole_microseconds = false;  // no time in the file has a fraction: resolution is 1 us
  // Intervals without recording: unrecorded_spans(), computed once (trace/unrecorded.h).
  std::vector<Interval> unrecorded;
  int64_t base_time_ns = 0;  // baseTimeNanoseconds, already added to every time

  std::string_view text(StringId id) const { return strings.view(id); }
  int64_t end_ns(OpId id) const { return ops.start_ns[id.index()] + ops.dur_ns[id.index()]; }
  int64_t end_ns(ApiCallId id) const {
    return api_calls.start_ns[id.index()] + api_calls.dur_ns[id.index()];
  }
  int64_t end_ns(ActivityId id) const {
    return activities.start_ns[id.index()] + activities.dur_ns[id.index()];
  }
};

// Row of op_inputs per operator; UINT32_MAX if none was recorded.
inline std::vector<uint32_t> input_rows(const Trace& trace) {
  std::vector<uint32_t> rows(trace.ops.size(), UINT32_MAX);
  for (size_t i = 0; i < trace.op_inputs.size(); ++i) {
    rows[trace.op_inputs.op[i].index()] = static_cast<uint32_t>(i);
  }
  return rows;
}

}  // namespace assay
