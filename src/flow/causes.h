#pragma once

// One cause for every nanosecond in which a device, or one of its streams, runs nothing.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "base/intervals.h"
#include "flow/run.h"

namespace assay {

// A stretch of idle time with one cause.
struct FlowSlice {
  Interval span;
  uint32_t gap = 0;             // slices of one gap follow each other
  uint32_t row = kNoFlowRow;    // names it, in the table of `source`
  uint32_t op = kNoFlowRow;     // innermost operator around or itself, of host causes
  uint32_t frame = kNoFlowRow;  // innermost frame around or itself
  FlowCause cause = FlowCause::kNoEvidence;
  CauseEvidence evidence = CauseEvidence::kAbsent;
  OpenedBy opened_by = OpenedBy::kUnknown;
  RowSource source = RowSource::kNone;
  ReadyBy ready_by = ReadyBy::kLaunch;  // of kLatency, kUnseen and kWaitOther
};

// What a device did when. compute, collective and copy are merged and disjoint; with the slices
// they cover the run from its first event to the end of its last work.
struct DeviceFlow {
  int64_t device = 0;                // as recorded; -1 for all of them together
  std::vector<Interval> compute;     // a kernel that is no communication
  std::vector<Interval> collective;  // communication and no such kernel
  std::vector<Interval> copy;        // copies and fills, no kernel beside them
  std::vector<FlowSlice> idle;
};

std::vector<DeviceFlow> device_flows(const FlowRun& run);
// All devices taken as one: it is idle while every one of them is. What the union of a room's
// kernels leaves idle is explained by this.
DeviceFlow joint_flow(const FlowRun& run);

// How long any of the devices works in `window`, and how long two or more do at once.
struct DeviceOverlap {
  int64_t any_ns = 0;
  int64_t several_ns = 0;
};
DeviceOverlap overlap_in(const std::vector<DeviceFlow>& devices, Interval window);

// The slices in which a stream runs nothing. In them kWaitOther tells that its next work waits for
// other work, or is late while the device works elsewhere.
std::vector<FlowSlice> stream_idle(const FlowRun& run, StreamId stream);

struct FlowTotals {
  int64_t window_ns = 0;
  int64_t compute_ns = 0;
  int64_t collective_ns = 0;  // of one rank: waiting and transfer are not told apart
  int64_t copy_ns = 0;
  int64_t idle_ns = 0;  // sum of cause_ns
  CauseTimes cause_ns{};
  std::array<std::array<int64_t, kEvidences>, kFlowCauses> evidence_ns{};
  std::array<std::array<int64_t, kOpenings>, kFlowCauses> opened_ns{};
  std::array<int64_t, kReadyKinds> latency_ns{};  // kLatency by what was waited for
  CauseTimes pause_ns{};                          // of cause_ns, in pauses
  std::array<uint64_t, kFlowCauses> pauses{};

  int64_t operator[](FlowCause cause) const { return cause_ns[static_cast<size_t>(cause)]; }
  // Latency between two pieces of work of which the second was already submitted. The host cannot shorten it.
  int64_t device_gaps_ns() const {
    return (*this)[FlowCause::kLatency] - latency_ns[static_cast<size_t>(ReadyBy::kLaunch)];
  }
  // A tenth of the window or more is communication that nothing overlaps.
  bool exposes_collectives() const { return collective_ns * 10 >= window_ns; }
  // Gaps between queued kernels are most of the idle time, and no other work of the device takes as long.
  bool gaps_lead() const {
    return device_gaps_ns() * 2 >= idle_ns && device_gaps_ns() >= std::max(copy_ns, collective_ns);
  }
};
FlowTotals& operator+=(FlowTotals& sum, const FlowTotals& more);

// The part of a device's times that lies in `window`: compute + collective + copy + idle = window.
FlowTotals totals_in(const DeviceFlow& device, Interval window);
// The same of slices alone, where everything else is counted as compute.
FlowTotals slice_totals(const std::vector<FlowSlice>& slices, Interval window);

// Contributions to a cause, by name.
struct Contributor {
  FlowCause cause = FlowCause::kNoEvidence;
  RowSource source = RowSource::kNone;
  StringId name;                        // none for what no row names
  ReadyBy ready_by = ReadyBy::kLaunch;  // tells kinds of kLatency apart
  int64_t ns = 0;
  uint64_t slices = 0;
  int64_t pause_ns = 0;  // of ns, in pauses
  uint64_t pauses = 0;
  int64_t longest_ns = 0;
  Interval longest;    // its longest slice
  StringId within_op;  // the operator and the frame around that slice; none where there is none
  StringId within_frame;
};
// Sums slices by what names them.
class ContributorSums {
 public:
  explicit ContributorSums(const Trace& trace) : trace_(trace) {}
  // The part of the slices that lies in `window`.
  void add(const std::vector<FlowSlice>& slices, Interval window);
  // Per cause in the order of FlowCause, the largest first, at most `most` of each.
  std::vector<Contributor> top(size_t most) const;

 private:
  using Key = std::tuple<FlowCause, RowSource, uint32_t, ReadyBy>;

  const Trace& trace_;
  std::map<Key, Contributor> by_name_;
};

}  // namespace assay
