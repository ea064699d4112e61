#pragma once

// The arrows of a timeline: from API calls to their GPU activities, and from forward to backward
// operators. Viewers require that an arrow does not end before it starts.

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

class TimelineArrows {
 public:
  // One end of a link between a forward operator and its backward operator.
  struct LinkEnd {
    OpId op;
    uint64_t id = 0;
    bool is_end = false;
    friend bool operator<(const LinkEnd& a, const LinkEnd& b) {
      return std::tie(a.op, a.id, a.is_end) < std::tie(b.op, b.id, b.is_end);
    }
  };

  // Uses ids starting at next_id and advances it, so that traces of one file share no id.
  TimelineArrows(const Trace& trace, const Links& links, uint64_t& next_id);

  bool has(ActivityId activity) const;
  bool has(ApiCallId call) const;
  uint64_t id_of(ApiCallId call) const { return first_id_ + call.index(); }
  // The link ends on an operator.
  std::span<const LinkEnd> ends_on(OpId op) const;
  // Number of arrows that cannot be drawn: activities that start before their call, and links with
  // one end or without operators.
  uint64_t left_out() const { return left_out_; }

 private:
  void link_backward(uint64_t& next_id);
  OpId op_at(ThreadId thread, int64_t time_ns, int64_t sequence) const;

  const Trace& trace_;
  const Links& links_;
  const uint64_t first_id_;
  std::vector<LinkEnd> link_ends_;  // by operator
  uint64_t left_out_ = 0;
};

}  // namespace assay
