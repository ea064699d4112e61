// Time that the recorder missed in the middle of one file: PyTorch's profiler can record some
// steps, pause, and record later ones into the same file.
//
// Problem: the activity in between is unknown. Counted as idle time, it would be reported as
// unattributed host time, with an action to remove it.
//
// Method: the profiler numbers its steps. It was off if a number is missing between two consecutive
// steps and no table has a row for a while between them. A gap alone is no evidence, because a
// program that waits or computes without operators looks the same.
//
// Effect: without this, a run of 2.07 s with two windows of eight steps, 1.1 s apart, is
// "Host-bound, 53.6 %".

#include "trace/unrecorded.h"

#include <algorithm>
#include <map>

#include "trace/step_marks.h"

namespace assay {
namespace {

// The profiler's steps by number, each from the start of its first mark to the end of its last one.
std::map<uint64_t, Interval> numbered_steps(const Trace& trace) {
  std::map<uint64_t, Interval> steps;
  for (const StepMark& mark : profiler_marks(trace)) {
    const Interval whole{mark.start_ns, mark.end_ns};
    Interval& step = steps.try_emplace(mark.number, whole).first->second;
    step.start_ns = std::min(step.start_ns, mark.start_ns);
    step.end_ns = std::max(step.end_ns, mark.end_ns);
  }
  return steps;
}

// Gaps between steps that are consecutive in time but not in number.
std::vector<Interval> jumps(const std::map<uint64_t, Interval>& steps) {
  std::vector<Interval> found;
  const Interval* before = nullptr;
  uint64_t number = 0;
  for (const auto& [next, step] : steps) {
    const bool jump = before != nullptr && next > number + 1;
    if (jump && step.start_ns - before->end_ns >= kPauseNs) {
      found.push_back({before->end_ns, step.start_ns});
    }
    before = &step;
    number = next;
  }
  return found;
}

// The parts of `span` that rows of the trace cover, merged.
std::vector<Interval> rows_in(const Trace& trace, Interval span) {
  std::vector<Interval> rows;
  const auto add = [&](const auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      const int64_t start_ns = std::max(table.start_ns[i], span.start_ns);
      const int64_t end_ns = std::min(table.start_ns[i] + table.dur_ns[i], span.end_ns);
      if (start_ns < end_ns) rows.push_back({start_ns, end_ns});
    }
  };
  add(trace.ops);
  add(trace.frames);
  add(trace.api_calls);
  add(trace.activities);
  add(trace.annotations);
  add(trace.gpu_annotations);
  return merge_intervals(std::move(rows));
}

}  // namespace

std::vector<Interval> unrecorded_spans(const Trace& trace) {
  std::vector<Interval> spans;
  for (const Interval& jump : jumps(numbered_steps(trace))) {
    Interval longest{jump.start_ns, jump.start_ns};
    for (const Interval& silence : subtract({jump}, rows_in(trace, jump))) {
      if (silence.end_ns - silence.start_ns > longest.end_ns - longest.start_ns) longest = silence;
    }
    if (longest.end_ns - longest.start_ns >= kPauseNs) spans.push_back(longest);
  }
  return spans;
}

}  // namespace assay
