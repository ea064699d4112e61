#pragma once

// Writes the events of a timeline file, one trace after another.

#include <string>
#include <string_view>
#include <utility>

#include "report/perfetto/text.h"
#include "report/perfetto/writer.h"

namespace assay {

// Process and thread ids in the file.
struct TimelinePlace {
  uint32_t pid = 0;
  uint32_t tid = 0;
};

// Buffers text for the sink. After a failure nothing more is written.
class TimelineOutput {
 public:
  explicit TimelineOutput(PerfettoWriter::Sink sink) : sink_(std::move(sink)) {}

  std::string& text() { return text_; }
  // Begins an event. The caller appends its arguments to the result, then calls end_event().
  std::string& event(std::string_view phase, TimelinePlace place) {
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
    if (text_.size() >= kPieceBytes) flush();
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
  static constexpr size_t kPieceBytes = size_t{1} << 20;

  PerfettoWriter::Sink sink_;
  std::string text_;
  Status status_ = Ok{};
  uint64_t bytes_ = 0;
  bool first_event_ = true;
};

// Shared by all traces of a file.
struct TimelineFileState {
  TimelineOutput output;
  LaneIds ids = {};
  PerfettoCounts counts = {};
  uint64_t next_flow = 1;
  int64_t next_sort_index = 0;  // of processes
};

// `zero_ns` is the origin of the file's times in this trace, `rank` a suffix of process names,
// empty for a single trace.
void write_trace_events(TimelineFileState& file, const Trace& trace, const Links& links,
                        const Timeline& timeline, int64_t zero_ns, std::string rank);

}  // namespace assay
