#pragma once

// Nested spans (module frames, labels) per thread, with lookup of the innermost span at a time.

#include <cstdint>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace assay {

struct NestedSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  ThreadId thread;
  StringId name;
  uint32_t parent = UINT32_MAX;  // innermost open span of the thread at start_ns
};

class NestedSpans {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  NestedSpans() = default;
  // spans: sorted by (thread, start, longer first), as in the tables of a Trace. Sets the parents.
  // A span that outlives its parent stays innermost until its own end. A span with 1,000 ancestors
  // is not used as a parent: spans that start in it get its parent instead.
  NestedSpans(std::vector<NestedSpan> spans, size_t threads);

  size_t size() const { return spans_.size(); }
  bool empty() const { return spans_.empty(); }
  const NestedSpan& operator[](uint32_t span) const { return spans_[span]; }
  const std::vector<NestedSpan>& all() const { return spans_; }
  // Innermost span of the thread with start <= time_ns < end; kNone if there is none.
  uint32_t innermost(ThreadId thread, int64_t time_ns) const;

 private:
  struct Change {
    int64_t time_ns;
    uint32_t span;  // innermost since time_ns
  };
  void sweep(size_t begin, size_t end, std::vector<Change>& changes);

  std::vector<NestedSpan> spans_;
  std::vector<std::vector<Change>> changes_;  // per thread, sorted by time
};

}  // namespace assay
