#include "breakdown/memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "breakdown/nested_spans.h"
#include "trace/api_names.h"
#include "trace/step_marks.h"

namespace assay {
namespace {

constexpr int32_t kHost = 0;  // c10::DeviceType

// Phase of the kernels that an operator launches, directly or in its children.
struct PhaseBelow {
  LevelPhase phase = LevelPhase::kNone;
  bool any = false;
  bool several = false;
};

std::vector<PhaseBelow> phases_below(const Trace& trace, const Links& links,
                                     const BreakdownReport& report) {
  std::vector<PhaseBelow> below(trace.ops.size());
  for (const KernelLevel& row : report.rows) {
    for (OpId op = links.activity_op[row.activity.index()]; op; op = links.op_parent[op.index()]) {
      PhaseBelow& one = below[op.index()];
      one.several |= one.any && one.phase != row.phase;
      one.phase = row.phase;
      one.any = true;
    }
  }
  return below;
}

NestedSpans spans_of(const Trace& trace) {
  std::vector<NestedSpan> spans(trace.ops.size());
  for (size_t i = 0; i < spans.size(); ++i) {
    spans[i] = {.start_ns = trace.ops.start_ns[i],
                .end_ns = trace.end_ns(OpId(i)),
                .thread = trace.ops.thread[i],
                .name = trace.ops.name[i]};
  }
  return {std::move(spans), trace.threads.size()};
}

class Finder {
 public:
  Finder(const Trace& trace, const Links& links, const BreakdownReport& report)
      : trace_(trace),
        links_(links),
        below_(phases_below(trace, links, report)),
        spans_(spans_of(trace)) {
    for (size_t i = 0; i < trace.ops.size(); ++i) {
      if (threads_.empty() || threads_.back() != trace.ops.thread[i])
        threads_.push_back(trace.ops.thread[i]);
    }
    for (const StepMark& mark : profiler_marks(trace)) marks_.insert(mark.name);
  }

  // The operator of an event at this time, as defined in memory.h.
  MemoryPlace place_of(int64_t time_ns, DeviceMemory& device) const {
    uint32_t innermost = NestedSpans::kNone;
    for (const ThreadId thread : threads_) {
      const uint32_t span = spans_.innermost(thread, time_ns);
      if (span == NestedSpans::kNone || marks_.count(spans_[span].name) > 0) continue;
      if (innermost != NestedSpans::kNone) {
        ++device.ambiguous;
        return {};
      }
      innermost = span;
    }
    if (innermost == NestedSpans::kNone) {
      ++device.outside;
      return {};
    }
    OpId op(innermost);
    while (op && !below_[op.index()].any) op = links_.op_parent[op.index()];
    if (!op || marks_.count(trace_.ops.name[op.index()]) > 0)
      return {.op = name_of(OpId(innermost))};
    const PhaseBelow& found = below_[op.index()];
    return {.phase = found.several ? LevelPhase::kNone : found.phase, .op = name_of(op)};
  }

 private:
  std::string name_of(OpId op) const {
    return std::string(trace_.text(trace_.ops.name[op.index()]));
  }

  const Trace& trace_;
  const Links& links_;
  std::vector<PhaseBelow> below_;
  NestedSpans spans_;
  std::vector<ThreadId> threads_;
  std::set<StringId> marks_;  // step markers, which old profilers record as operators
};

void read_device(const Trace& trace, const Finder& finder, const std::vector<size_t>& events,
                 DeviceMemory& device) {
  const MemoryEventTable& rows = trace.memory_events;
  std::map<LevelPhase, MemorySums> phases;
  std::map<std::pair<LevelPhase, std::string>, MemorySums> ops;
  int64_t ahead_bytes = 0;
  for (const size_t i : events) {
    const int64_t bytes = rows.bytes[i];
    const int64_t total = rows.total_allocated_bytes[i];
    MemoryPlace place = finder.place_of(rows.time_ns[i], device);
    if (device.samples.empty() && total >= 0) device.first_bytes = total - bytes;
    const int64_t most_before = device.sums.peak_bytes;
    const int64_t grown_before = device.grown_bytes;
    ahead_bytes += bytes;
    device.grown_bytes = std::max(device.grown_bytes, ahead_bytes);
    device.sums.add(bytes, total);
    const bool peak =
        total >= 0 ? device.sums.peak_bytes > most_before : device.grown_bytes > grown_before;
    if (peak) device.peak = {place.phase, place.op, {}};
    device.last_bytes = total;
    device.peak_reserved_bytes = std::max(device.peak_reserved_bytes, rows.total_reserved_bytes[i]);
    device.samples.push_back({rows.time_ns[i], total, rows.total_reserved_bytes[i]});
    phases[place.phase].add(bytes, total);
    ops[{place.phase, std::move(place.op)}].add(bytes, total);
  }
  for (const auto& [phase, sums] : phases) device.phases.push_back({phase, {}, sums});
  for (const auto& [key, sums] : ops) device.ops.push_back({key.first, key.second, sums});
  std::stable_sort(device.ops.begin(), device.ops.end(),
                   [](const MemoryPlace& a, const MemoryPlace& b) {
                     return a.sums.allocated_bytes > b.sums.allocated_bytes;
                   });
}

}  // namespace

void MemorySums::add(int64_t bytes, int64_t total_bytes) {
  if (bytes >= 0) {
    ++allocations;
    allocated_bytes += bytes;
  } else {
    ++frees;
    freed_bytes -= bytes;
  }
  peak_bytes = std::max(peak_bytes, total_bytes);
}

void add_memory(const Trace& trace, const Links& links, const BreakdownReport& report,
                JobMemory& job) {
  const MemoryEventTable& rows = trace.memory_events;
  std::map<int32_t, std::vector<size_t>> events;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows.device_type[i] != kHost) events[rows.device[i]].push_back(i);
  }
  if (events.empty()) return;
  const Finder finder(trace, links, report);
  for (const auto& [number, of_device] : events) {
    DeviceMemory& device = job.devices.emplace_back();
    device.file = trace.source;
    device.device = number;
    read_device(trace, finder, of_device, device);
  }
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    const ApiRole role = links.role_of(trace, ApiCallId(c));
    if (role != ApiRole::kAllocate && role != ApiRole::kFree) continue;
    ++(role == ApiRole::kAllocate ? job.driver.allocations : job.driver.frees);
    job.driver.ns += trace.api_calls.dur_ns[c];
  }
}

}  // namespace assay
