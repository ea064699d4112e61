#include "breakdown/nested_spans.h"

#include <algorithm>

namespace assay {

NestedSpans::NestedSpans(std::vector<NestedSpan> spans, size_t threads)
    : spans_(std::move(spans)), changes_(threads) {
  for (size_t begin = 0, end = 0; begin < spans_.size(); begin = end) {
    const ThreadId thread = spans_[begin].thread;
    while (end < spans_.size() && spans_[end].thread == thread) ++end;
    sweep(begin, end, changes_[thread.index()]);
  }
}

namespace {

// Limit of nesting: Python's recursion limit. Chains of parents are walked for every launch.
constexpr uint32_t kMostNested = 1000;

}  // namespace

void NestedSpans::sweep(size_t begin, size_t end, std::vector<Change>& changes) {
  std::vector<uint32_t> open;
  std::vector<uint32_t> depth(end - begin);  // number of ancestors of each span
  const auto set_innermost = [&](int64_t time_ns) {
    const uint32_t span = open.empty() ? kNone : open.back();
    if (!changes.empty() && changes.back().time_ns == time_ns) {
      changes.back().span = span;
    } else {
      changes.push_back({time_ns, span});
    }
  };
  const auto close_until = [&](int64_t time_ns) {
    while (!open.empty() && spans_[open.back()].end_ns <= time_ns) {
      const int64_t end_ns = spans_[open.back()].end_ns;
      // Also close spans below it that ended earlier: the innermost one outlived them.
      while (!open.empty() && spans_[open.back()].end_ns <= end_ns) open.pop_back();
      set_innermost(end_ns);
    }
  };
  for (size_t s = begin; s < end; ++s) {
    NestedSpan& span = spans_[s];
    if (span.end_ns <= span.start_ns) continue;
    close_until(span.start_ns);
    span.parent = open.empty() ? kNone : open.back();
    if (span.parent != kNone && depth[span.parent - begin] == kMostNested) {
      do {
        span.parent = spans_[span.parent].parent;
      } while (span.parent != kNone && spans_[span.parent].end_ns <= span.start_ns);
    }
    depth[s - begin] = span.parent == kNone ? 0 : depth[span.parent - begin] + 1;
    open.push_back(static_cast<uint32_t>(s));
    set_innermost(span.start_ns);
  }
  close_until(INT64_MAX);
}

uint32_t NestedSpans::innermost(ThreadId thread, int64_t time_ns) const {
  if (!thread || thread.index() >= changes_.size()) return kNone;
  const std::vector<Change>& changes = changes_[thread.index()];
  const auto after =
      std::upper_bound(changes.begin(), changes.end(), time_ns,
                       [](int64_t time, const Change& change) { return time < change.time_ns; });
  return after == changes.begin() ? kNone : (after - 1)->span;
}

}  // namespace assay
