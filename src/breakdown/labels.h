#pragma once

// Attribution from record_function / NVTX labels: operations of the paper's list, layers, phases,
// and user labels that name operations.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "breakdown/breakdown.h"
#include "breakdown/nested_spans.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Interpretation of one label.
struct LabelFacts {
  std::string op;  // in the paper's list, without f_ / b_; empty = none
  int32_t layer = -1;
  LevelPhase phase = LevelPhase::kNone;
  bool own = false;  // may be a user-defined operation
};
LabelFacts read_label(std::string_view name);

class Labels {
 public:
  Labels(const Trace& trace, const Links& links, const Windows& windows);

  struct Place {
    std::string_view op;  // operation of the paper's list; empty = none
    int32_t layer = -1;
    LevelPhase phase = LevelPhase::kNone;
    StringId own;             // innermost user-defined label; none if there is none
    int32_t repetition = -1;  // index among the labels that repeat layer by layer; -1 = in none
  };
  Place at(ThreadId thread, int64_t time_ns) const;
  // Description of the labels that repeat layer by layer, "block of 10 labels"; empty = none.
  const std::string& block() const { return block_; }
  // The same on the thread with the most labels: the user's code at the time when another thread
  // (autograd's) launched.
  Place on_main_thread(int64_t time_ns) const { return at(main_thread_, time_ns); }
  // True if any label that encloses the point satisfies `matches`.
  template <typename Matches>
  bool any_matches(const Trace& trace, ThreadId thread, int64_t time_ns, Matches&& matches) const {
    for (uint32_t span = spans_.innermost(thread, time_ns); span != NestedSpans::kNone;
         span = spans_[span].parent) {
      if (matches(trace.text(spans_[span].name))) return true;
    }
    return false;
  }

 private:
  void drop_wide_labels(const Trace& trace, const Links& links);
  void find_repetitions(const Trace& trace, const Windows& windows);

  NestedSpans spans_;
  ThreadId main_thread_;
  std::vector<LabelFacts> facts_;    // per distinct label
  std::vector<uint32_t> fact_of_;    // per StringId
  std::vector<int32_t> repetition_;  // per span; empty = none
  std::string block_;
};

}  // namespace assay
