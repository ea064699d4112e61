#pragma once

// Collects rows in input order and makes a Trace of them. A reader with several pieces of the input
// gives each piece a builder and merges them. The Trace has a canonical order: threads by process
// and thread id, streams by device and stream, rows as in trace.h, texts by first use. It does not
// depend on the pieces or their order.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace assay {

// Ranges and text form of an input's times, which determine their precision.
struct TimeShape {
  int64_t max_start_ns = INT64_MIN;
  int64_t min_start_ns = INT64_MAX;
  int64_t max_dur_ns = 0;
  uint32_t fraction_lengths = 0;  // bit k: a time with k fraction digits was seen (k <= 31)
  bool fraction_leading_zero = false;
  bool sub_microsecond = false;  // at least one time was not a whole number of microseconds
  uint64_t times = 0;

  bool whole_microseconds() const { return times > 0 && !sub_microsecond; }
  void merge(const TimeShape& other);
};

// A begin or end event (ph B, E) that is not paired yet.
struct SpanMark {
  bool begin = false;
  int64_t time_ns = 0;
  ThreadId thread;
  StringId name;
  StringId category;
  StreamId stream;
  uint32_t correlation = 0;
  uint32_t external_id = 0;
  int64_t offset = -1;
};

// Process and thread ids as written in the input.
struct Lane {
  std::string_view pid;
  std::string_view tid;
};

class TraceBuilder {
 public:
#define ASSAY_MEMBER(member, Row, COLUMNS, doc) Row##Table member;
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER

  StringPool strings;
  RowCounts counts;
  ImportLog log;
  TimeShape time_shape;
  std::vector<SpanMark> marks;
  // Ends of arrows from calls to GPU activities, for files without correlation ids in the rows.
  std::vector<ForwardBackwardFlowRow> dependency_flows;
  // (row of other_events, correlation id), for rows that have one.
  std::vector<std::pair<uint32_t, uint32_t>> other_correlations;
  // (row of other_events, task type), for tasks of an NPU.
  std::vector<std::pair<uint32_t, StringId>> other_task_types;
  // Recording time that PyTorch's profiler reports; 0 = unknown.
  int64_t profiler_span_ns = 0;
  uint64_t inputs_joined = 0;    // operators with inputs from an execution trace
  uint64_t inputs_unjoined = 0;  // operators without inputs, also there

  StringId text(std::string_view value) { return strings.intern(value); }
  // pid and tid as written in the input, numbers or not.
  ThreadId thread(std::string_view pid, std::string_view tid);
  StreamId stream(int64_t device, int64_t stream);
  int64_t device_of(StreamId lane) const { return streams_[lane.index()].device; }
  size_t threads() const { return threads_.size(); }
  // The stream's number on its device.
  int64_t stream_number(StreamId lane) const { return streams_[lane.index()].stream; }
  // thread_name metadata. Files repeat it tens of thousands of times; the last one counts.
  void name_lane(std::string_view pid, std::string_view tid, std::string_view name);

  const Thread& lane(ThreadId thread) const { return threads_[thread.index()]; }
  // As recorded so far; empty if unknown.
  std::string_view lane_name(std::string_view pid, std::string_view tid) const;
  std::string_view process_fact(std::string_view fact, std::string_view pid) const;

  // Sets a property of process_facts.h; the last value counts. finish() makes metadata entries of
  // those of processes with a thread or a stream.
  void tell_process(std::string_view fact, std::string_view pid, std::string_view value);
  // The same for a timeline that Assay wrote. After mark_timeline(), only these properties count:
  // the others describe the timeline, not the traced processes.
  void tell_timeline_process(std::string_view fact, std::string_view pid, std::string_view value);
  void mark_timeline() { is_timeline_ = true; }

  // Assigns rows of the lane `written` to the thread `of`, and names that thread. For files that
  // show one thread as several lanes. Call before adding the rows, thread by thread.
  void join_lane(Lane written, Lane of, std::string_view name);

  size_t longest_table() const;
  // Median start of operators, frames, calls, activities, annotations and other events (from a
  // sample); 0 without any.
  int64_t typical_start_ns() const;
  // Reserves `factor` times the rows so far, so that growing does not copy. Unused memory is never
  // touched.
  void reserve_times(double factor);
  // Appends `other`, which read the input right after this one. Consumes it.
  void merge(TraceBuilder&& other);

  // Renumbers threads and streams in the order of their ids in the file.
  void order_lanes();
  // Sorts other_events by lane and time, and dependency_flows by time, for readers that classify
  // them by lane.
  void order_other_events();

  // Sorts the tables, drops exact duplicates and adds `base_time_ns` to every time.
  Trace finish(int64_t base_time_ns) &&;

 private:
  std::vector<Thread> threads_;
  std::vector<Stream> streams_;
  std::unordered_map<std::string, std::string> lane_names_;    // by "pid\ntid"
  std::unordered_map<std::string, std::string> joined_names_;  // names given to join_lane
  std::vector<std::pair<std::string, ThreadId>> joined_;       // lanes by "pid\ntid"
  std::map<std::string, std::string> process_facts_;           // by metadata key
  std::map<std::string, std::string> timeline_facts_;          // for timelines
  bool is_timeline_ = false;
  std::unordered_map<std::string, ThreadId> thread_ids_;
  std::map<std::pair<int64_t, int64_t>, StreamId> stream_ids_;
  std::vector<MetadataEntry> process_entries() const;
  void count_odd_devices();

  // The last look-ups: typically, thousands of consecutive rows are in one lane.
  std::string thread_key_;
  ThreadId last_thread_;
  StreamId last_stream_;
};

}  // namespace assay
