#pragma once

// Which arrows a timeline draws: from launch calls to their work, from forward to backward
// operators. Viewers take an arrow that starts somewhere and ends there or later.

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

class TimelineArrows {
 public:
  // One end of a link from a forward operator to its backward one.
  struct LinkEnd {
    OpId op;
    uint64_t id = 0;
    bool is_end = false;
    friend bool operator<(const LinkEnd& a, const LinkEnd& b) {
      return std::tie(a.op, a.id, a.is_end) < std::tie(b.op, b.id, b.is_end);
    }
  };

  // Takes ids starting at next_id; no two traces of a file share one.
  TimelineArrows(const Trace& trace, const Links& links, uint64_t& next_id);

  bool has(ActivityId activity) const;
  bool has(ApiCallId call) const;
  uint64_t id_of(ApiCallId call) const { return first_id_ + call.index(); }
  // Ends of links on that operator.
  std::span<const LinkEnd> ends_on(OpId op) const;
  // Activities that start before their own call; links with one end, or without their operators.
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
