#pragma once

// Converts the events of a Chrome trace to the rows of a Trace, for Kineto's categories and
// arguments of all versions (spec/formats 1.3-1.5, docs/formats/kineto.md). The import log counts
// every irregular field. An event is dropped only if it has no usable time.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "ingest/chrome/event.h"
#include "ingest/chrome/execution_trace.h"
#include "trace/builder.h"

namespace assay {

// Result of reading a time. kNone: not a number.
enum class DecimalRead : uint8_t { kOk, kNone, kOverflow };

class KinetoRows {
 public:
  // time_scale: decimal digits from the file's time unit to nanoseconds, 3 for microseconds and 0
  // for nanoseconds.
  KinetoRows(TraceBuilder& builder, int time_scale) : builder_(builder), time_scale_(time_scale) {}

  void set_time_scale(int scale) { time_scale_ = scale; }
  void set_op_inputs(bool keep, const ExecutionTrace* missing) {
    keep_op_inputs_ = keep;
    execution_trace_ = missing;
  }

  // Adds the rows of one event. offset: its first byte in the input. check_utf8: its piece has
  // invalid UTF-8. `cursor` is over the event's piece, to read nested arguments again.
  void add(const RawEvent& event, JsonCursor cursor, int64_t offset, bool check_utf8);

 private:
  void add_complete(const RawEvent& event, JsonCursor cursor);
  void add_mark(const RawEvent& event, bool begin);
  void add_instant(const RawEvent& event);
  void add_counter(const RawEvent& event, JsonCursor cursor);
  void add_flow(const RawEvent& event, bool is_end);
  void add_metadata(const RawEvent& event);
  void add_process_facts(const RawEvent& event, std::string_view what);
  void add_span(const RawEvent& event);
  void add_sequence(const RawEvent& event);
  void add_launch_name(const RawEvent& event);
  void add_inputs(const RawEvent& event);
  const ExecutionTrace::Node* node_of(const RawEvent& event);
  void add_activity_details(const RawEvent& event, JsonCursor cursor);
  void add_kernel_shape(const RawEvent& event, ActivityId activity, JsonCursor cursor);
  void add_collective(const RawEvent& event, ActivityId activity);
  void add_wait(const RawEvent& event, ActivityId activity);

  bool read_start(const RawEvent& event, int64_t& start_ns);
  int64_t read_duration(const RawEvent& event);
  DecimalRead read_time(const JsonValue& value, int64_t& ns);
  // The integer of a field; `missing` if it is absent, null or not a number, which is counted.
  int64_t read_integer(const RawEvent& event, Arg arg, int64_t missing);
  int64_t integer_of(const JsonValue& value, int64_t missing);
  uint32_t read_id(const RawEvent& event, Arg arg);
  StringId read_text(const RawEvent& event, Arg arg);
  StringId name_of(const RawEvent& event);
  StringId text_of(const JsonValue& value);
  StringId json_of(const RawEvent& event, Arg arg);
  StringId category_text(const RawEvent& event);
  ThreadId thread_of(const RawEvent& event);
  StreamId stream_of(const RawEvent& event);
  uint32_t read_external_id(const RawEvent& event);
  void log(ImportCode code, uint64_t count = 1) { builder_.log.add(code, offset_, count); }

  TraceBuilder& builder_;
  int time_scale_;
  int64_t offset_ = -1;
  bool check_utf8_ = false;
  bool keep_op_inputs_ = false;
  const ExecutionTrace* execution_trace_ = nullptr;
  std::string scratch_;
};

// Joins the begin and end events in builder.marks, per thread in time order, and adds them as
// complete events. Call once, after all pieces are merged.
void pair_marks(TraceBuilder& builder);

}  // namespace assay
