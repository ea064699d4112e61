#pragma once

// Assigns one cause to every nanosecond in which a device, or one of its streams, is idle.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "base/intervals.h"
#include "flow/run.h"

namespace assay {

// An idle interval with one cause.
struct FlowSlice {
  Interval span;
  uint32_t gap = 0;             // number of the gap; its slices are adjacent
  uint32_t row = kNoFlowRow;    // event that names it, in the table of `source`
  uint32_t op = kNoFlowRow;     // of host causes: innermost operator around it, or itself
  uint32_t frame = kNoFlowRow;  // innermost frame around or itself
  FlowCause cause = FlowCause::kNoEvidence;
  CauseEvidence evidence = CauseEvidence::kAbsent;
  OpenedBy opened_by = OpenedBy::kUnknown;
  RowSource source = RowSource::kNone;
  ReadyBy ready_by = ReadyBy::kLaunch;  // of kLatency, kUnseen and kWaitOther
};

// A device's timeline. compute, collective and copy are merged and disjoint; with `idle` they cover
// the run from its first event to the end of its last work.
struct DeviceFlow {
  int64_t device = 0;                // as recorded; -1 for all of them together
  std::vector<Interval> compute;     // a kernel other than communication runs
  std::vector<Interval> collective;  // only communication, possibly with copies
  std::vector<Interval> copy;        // only copies and fills
  std::vector<FlowSlice> idle;
};

std::vector<DeviceFlow> device_flows(const FlowRun& run);
// All devices as one: idle while every device is idle.
DeviceFlow joint_flow(const FlowRun& run);

// Time in `window` with at least one device busy, and with at least two.
struct DeviceOverlap {
  int64_t any_ns = 0;
  int64_t several_ns = 0;
};
DeviceOverlap overlap_in(const std::vector<DeviceFlow>& devices, Interval window);

// The intervals in which a stream is idle. kWaitOther means that its next work waits for other
// work, or is late while the device is busy with other streams.
std::vector<FlowSlice> stream_idle(const FlowRun& run, StreamId stream);

struct FlowTotals {
  int64_t window_ns = 0;
  int64_t compute_ns = 0;
  int64_t collective_ns = 0;  // one rank alone cannot separate waiting from transfer
  int64_t copy_ns = 0;
  int64_t idle_ns = 0;  // sum of cause_ns
  CauseTimes cause_ns{};
  std::array<std::array<int64_t, kEvidences>, kFlowCauses> evidence_ns{};
  std::array<std::array<int64_t, kOpenings>, kFlowCauses> opened_ns{};
  std::array<int64_t, kReadyKinds> latency_ns{};  // kLatency by ReadyBy
  // Part of cause_ns in intervals of kPauseNs or more.
  CauseTimes pause_ns{};
  std::array<uint64_t, kFlowCauses> pauses{};

  int64_t operator[](FlowCause cause) const { return cause_ns[static_cast<size_t>(cause)]; }
  // Latency between two pieces of work of which the second was already submitted. The host cannot
  // shorten it.
  int64_t device_gaps_ns() const {
    return (*this)[FlowCause::kLatency] - latency_ns[static_cast<size_t>(ReadyBy::kLaunch)];
  }
  // A tenth of the window or more is communication that nothing overlaps.
  bool exposes_collectives() const { return collective_ns * 10 >= window_ns; }
  // Gaps between queued kernels are most of the idle time, and no other work of the device takes as
  // long.
  bool gaps_lead() const {
    return device_gaps_ns() * 2 >= idle_ns && device_gaps_ns() >= std::max(copy_ns, collective_ns);
  }
};
FlowTotals& operator+=(FlowTotals& sum, const FlowTotals& more);

// A device's times in `window`: compute + collective + copy + idle = window.
FlowTotals totals_in(const DeviceFlow& device, Interval window);
// The same from idle slices alone: all other time counts as compute.
FlowTotals slice_totals(const std::vector<FlowSlice>& slices, Interval window);

// Idle time of one cause, summed by name.
struct Contributor {
  FlowCause cause = FlowCause::kNoEvidence;
  RowSource source = RowSource::kNone;
  StringId name;                        // none if no event names it
  ReadyBy ready_by = ReadyBy::kLaunch;  // kind of kLatency
  int64_t ns = 0;
  uint64_t slices = 0;
  int64_t pause_ns = 0;  // part of ns in intervals of kPauseNs or more
  uint64_t pauses = 0;
  int64_t longest_ns = 0;
  Interval longest;    // the longest slice
  StringId within_op;  // operator and frame around that slice; none if there is none
  StringId within_frame;
};
// Sums slices by cause, source, name and kind of latency.
class ContributorSums {
 public:
  explicit ContributorSums(const Trace& trace) : trace_(trace) {}
  // Adds the parts of the slices in `window`.
  void add(const std::vector<FlowSlice>& slices, Interval window);
  // By cause in the order of FlowCause, then largest first; at most `most` per cause.
  std::vector<Contributor> top(size_t most) const;

 private:
  using Key = std::tuple<FlowCause, RowSource, uint32_t, ReadyBy>;

  const Trace& trace_;
  std::map<Key, Contributor> by_name_;
};

}  // namespace assay
