#pragma once

// Details of single events on the page's timeline: operator and inputs, launch call, message of a
// copy or collective, and preceding idle time. docs/formats/report_html.md describes the encoding.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "breakdown/modules.h"
#include "flow/flow.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// The title of a thread's track.
std::string lane_thread_name(const Thread& thread);

// Call in order: one track after the other, and the events of each in track order.
class LaneDetails {
 public:
  LaneDetails(const Trace& trace, const Links& links, const FlowReport& flow);

  // Registers a thread with a track, in track order, before the first row.
  void add_thread(uint32_t thread);
  void begin_row();
  void add_work(ActivityId work);
  // Times of the event itself. op: none for labels, frames and calls.
  void add_host(int64_t start_ns, int64_t dur_ns, OpId op);
  void end_row();
  std::string bytes() const;

 private:
  static constexpr size_t kColumns = 18;
  using Cells = std::array<uint64_t, kColumns>;
  using Rows = std::vector<uint32_t>;  // per activity or operator: row of a side table

  void cut(int64_t start_ns, int64_t dur_ns, Cells& cells) const;
  void append(const Cells& cells);
  uint64_t place_of(const std::string& json);
  uint64_t text(std::string_view text);
  uint64_t fields(std::initializer_list<std::string_view> fields);
  uint64_t inputs(OpId op, size_t which);
  uint64_t module_at(ApiCallId call);
  uint64_t shape_of(uint32_t row);
  uint64_t collective_of(uint32_t row);
  uint64_t waited_for(const FlowSlice& slice);
  void note_waits(const FlowReport& flow);

  const Trace& trace_;
  const Links& links_;
  const Interval window_;
  const Modules modules_;
  const Rows inputs_;
  Rows shapes_;
  Rows transfers_;
  Rows collectives_;
  // Per device and end of a gap: the longest slice of the gap.
  std::unordered_map<int64_t, std::unordered_map<int64_t, const FlowSlice*>> waits_;
  std::vector<uint32_t> threads_;
  std::vector<std::string> texts_;  // JSON: a string, or a list of values
  std::unordered_map<std::string, uint64_t> place_of_;
  std::array<std::string, kColumns> columns_;
  std::vector<std::string> heads_;
  std::string body_;
};

}  // namespace assay
