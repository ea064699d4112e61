#include "launch/host_time.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "launch/facts.h"

namespace assay {
namespace {

// PyTorch's DataLoader names its fetches
// "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__".
bool is_input_name(std::string_view name) {
  return name.find("enumerate(DataLoader)") != std::string_view::npos ||
         name.find("DataLoaderIter.__next__") != std::string_view::npos;
}

// Rows of a table that is sorted by thread.
std::pair<size_t, size_t> rows_of(const std::vector<ThreadId>& threads, ThreadId thread) {
  const auto range = std::equal_range(threads.begin(), threads.end(), thread);
  return {range.first - threads.begin(), range.second - threads.begin()};
}

// HostTimeline in the making.
struct RawTimeline {
  std::vector<Interval> recorded;
  std::vector<Interval> blocked;
  std::vector<Interval> waits;
  std::vector<Interval> input;
};

void add_ops(const Trace& trace, const std::vector<OpId>& roots, ThreadId thread,
             RawTimeline& timeline) {
  const auto [first, last] = rows_of(trace.ops.thread, thread);
  for (size_t o = first; o < last; ++o) {
    const Interval span{trace.ops.start_ns[o], trace.end_ns(OpId(o))};
    if (roots[o] == OpId(o)) timeline.recorded.push_back(span);
    if (is_input_name(trace.text(trace.ops.name[o]))) timeline.input.push_back(span);
  }
}

void add_calls(const Trace& trace, const Links& links, ThreadId thread, RawTimeline& timeline) {
  const auto [first, last] = rows_of(trace.api_calls.thread, thread);
  for (size_t c = first; c < last; ++c) {
    const ApiCallId call(c);
    const Interval span{trace.api_calls.start_ns[c], trace.end_ns(call)};
    const ApiRole role = links.role_of(trace, call);
    timeline.recorded.push_back(span);
    if (is_blocking(role)) timeline.blocked.push_back(span);
    const bool launch = role == ApiRole::kKernelLaunch || role == ApiRole::kGraphLaunch;
    if (launch && trace.api_calls.dur_ns[c] > kLaunchBackPressureNs) {
      timeline.blocked.push_back({span.start_ns + kLaunchBackPressureNs, span.end_ns});
    }
    if (copies_to_host(trace, links, call)) timeline.waits.push_back(span);
  }
}

void add_annotations(const Trace& trace, ThreadId thread, RawTimeline& timeline) {
  const auto [first, last] = rows_of(trace.annotations.thread, thread);
  for (size_t a = first; a < last; ++a) {
    if (!is_input_name(trace.text(trace.annotations.name[a]))) continue;
    const int64_t start = trace.annotations.start_ns[a];
    timeline.input.push_back({start, start + trace.annotations.dur_ns[a]});
  }
}

void append(const std::vector<Interval>& from, std::vector<Interval>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

IntervalIndex merged(std::vector<Interval> intervals) {
  return IntervalIndex(merge_intervals(std::move(intervals)));
}

}  // namespace

HostTimeline host_timeline(const Trace& trace, const Links& links, const std::vector<OpId>& roots,
                           ThreadId thread) {
  RawTimeline raw;
  add_ops(trace, roots, thread, raw);
  add_calls(trace, links, thread, raw);
  add_annotations(trace, thread, raw);
  append(raw.blocked, raw.waits);
  HostTimeline timeline;
  timeline.recorded = merged(std::move(raw.recorded));
  timeline.blocked = merged(std::move(raw.blocked));
  timeline.waits = merged(std::move(raw.waits));
  timeline.input = merged(std::move(raw.input));
  return timeline;
}

LaunchingHost launching_host(const std::vector<const HostTimeline*>& threads, Interval span) {
  std::vector<Interval> busy;
  std::vector<Interval> blocked;
  std::vector<Interval> input;
  std::vector<Interval> waiting;
  std::vector<Interval> active;
  for (const HostTimeline* thread : threads) {
    const std::vector<Interval>& recorded = thread->recorded.intervals();
    append(subtract(subtract(recorded, thread->blocked.intervals()), thread->input.intervals()),
           busy);
    append(thread->blocked.intervals(), blocked);
    append(thread->input.intervals(), input);
    append(thread->waits.intervals(), waiting);
    append(subtract(recorded, thread->waits.intervals()), active);
  }
  busy = merge_intervals(std::move(busy));
  blocked = subtract(merge_intervals(std::move(blocked)), busy);
  input = subtract(subtract(merge_intervals(std::move(input)), busy), blocked);
  std::vector<Interval> gaps = subtract(subtract(subtract({span}, busy), blocked), input);
  std::erase_if(gaps, [](const Interval& gap) { return gap.end_ns - gap.start_ns < kLongGapNs; });

  LaunchingHost host;
  host.busy = IntervalIndex(std::move(busy));
  host.blocked = IntervalIndex(std::move(blocked));
  host.input = IntervalIndex(std::move(input));
  host.long_gaps = IntervalIndex(std::move(gaps));
  host.waiting = IntervalIndex(
      subtract(merge_intervals(std::move(waiting)), merge_intervals(std::move(active))));
  return host;
}

}  // namespace assay
