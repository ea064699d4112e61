#pragma once

// Collects rows in input order, then turns them into a Trace. A reader with several pieces of the
// input gives each piece a builder and merges them. The Trace has one canonical order: threads by
// process and thread id, streams by device and stream, rows as in trace.h, texts by their first
// use. The order does not depend on the pieces or on their order.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace assay {

// Form of the time texts of an input, which determines their precision.
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

// A begin or end event (ph B, E) waiting for its other half.
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

// A process and a thread as written in the input.
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
  // Ends of arrows from calls to GPU activities, in files without correlation ids in their rows.
  std::vector<ForwardBackwardFlowRow> dependency_flows;
  // For rows of other_events, by index: the ids that join them to others, if recorded.
  std::vector<std::pair<uint32_t, uint32_t>> other_correlations;
  // Likewise: what kind of task an NPU ran.
  std::vector<std::pair<uint32_t, StringId>> other_task_types;
  // Recording time of PyTorch's profiler by its own report; 0 = unknown.
  int64_t profiler_span_ns = 0;

  StringId text(std::string_view value) { return strings.intern(value); }
  // pid and tid as written in the input, numbers or not.
  ThreadId thread(std::string_view pid, std::string_view tid);
  StreamId stream(int64_t device, int64_t stream);
  int64_t device_of(StreamId lane) const { return streams_[lane.index()].device; }
  size_t threads() const { return threads_.size(); }
  // The number by which a lane's device knows it.
  int64_t stream_number(StreamId lane) const { return streams_[lane.index()].stream; }
  // thread_name metadata; files repeat it tens of thousands of times, the last one counts.
  void name_lane(std::string_view pid, std::string_view tid, std::string_view name);

  const Thread& lane(ThreadId thread) const { return threads_[thread.index()]; }
  // As recorded so far; empty if unknown.
  std::string_view lane_name(std::string_view pid, std::string_view tid) const;
  std::string_view process_fact(std::string_view fact, std::string_view pid) const;

  // A property of process_facts.h; the last value counts. finish() writes metadata entries for
  // processes with a thread or a stream.
  void tell_process(std::string_view fact, std::string_view pid, std::string_view value);
  // The same in a timeline that Assay wrote, where only these count: the others are of the
  // timeline.
  void tell_timeline_process(std::string_view fact, std::string_view pid, std::string_view value);
  void mark_timeline() { is_timeline_ = true; }

  // Rows of the lane `written` belong to the thread `of` with this name. For files that show one
  // thread as several lanes. Call it before the rows, thread by thread.
  void join_lane(Lane written, Lane of, std::string_view name);

  size_t longest_table() const;
  // Median start of the rows that carry the run; 0 without any.
  int64_t typical_start_ns() const;
  // Room for about `factor` times the rows seen so far, so that growing does not copy. Memory that
  // is never written is never touched.
  void reserve_times(double factor);
  // Appends everything of `other`, which saw the input right after this one. Consumes it.
  void merge(TraceBuilder&& other);

  // Numbers threads and streams by the identity that the file states.
  void order_lanes();
  // Sorts rows of other_events and the arrows, for readers that file them by their lanes.
  void order_other_events();

  // Sorts the tables, drops exact duplicates, adds `base_time_ns` to every time. After this line
  // the trace is immutable.
  Trace finish(int64_t base_time_ns) &&;

 private:
  std::vector<Thread> threads_;
  std::vector<Stream> streams_;
  std::unordered_map<std::string, std::string> lane_names_;    // by "pid\ntid"
  std::unordered_map<std::string, std::string> joined_names_;  // the same, of threads with lanes
  std::vector<std::pair<std::string, ThreadId>> joined_;       // lanes by "pid\ntid"
  std::map<std::string, std::string> process_facts_;           // by key of the metadata entry
  std::map<std::string, std::string> timeline_facts_;          // the same, of a timeline
  bool is_timeline_ = false;
  std::unordered_map<std::string, ThreadId> thread_ids_;
  std::map<std::pair<int64_t, int64_t>, StreamId> stream_ids_;
  std::vector<MetadataEntry> process_entries() const;
  void count_odd_devices();

  // The last look-ups: thousands of consecutive rows are typically in one lane.
  std::string thread_key_;
  ThreadId last_thread_;
  StreamId last_stream_;
};

}  // namespace assay
