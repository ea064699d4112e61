#pragma once

// A window's idle time by cause: the result of flow/, restricted to the gaps in which no kernel of
// the window ran. This module has no rules of its own about causes.

#include <array>
#include <cstdint>
#include <vector>

#include "base/interval_index.h"
#include "base/intervals.h"
#include "flow/causes.h"

namespace assay {

// The parts sum to the idle time.
struct IdleTime {
  CauseTimes cause_ns{};
  int64_t copy_ns = 0;        // copies or fills ran; 0 where they count as busy
  int64_t other_work_ns = 0;  // kernels of other windows ran, or GPU activities other than kernels
  // Part of the causes, in gaps that began while the host waited for the device.
  int64_t after_sync_ns = 0;

  int64_t operator[](FlowCause cause) const { return cause_ns[static_cast<size_t>(cause)]; }
  int64_t host_busy_ns() const;     // calls, operators, allocation, one-time initialization
  int64_t host_blocked_ns() const;  // calls that wait for the device
  int64_t host_input_ns() const;
  int64_t host_gaps_ns() const;  // Python frames, and time without recorded events
  int64_t latency_ns() const;
  int64_t unseen_ns() const;         // submitted but not started
  int64_t nothing_asked_ns() const;  // no work submitted
  int64_t no_evidence_ns() const;    // no launch record
  // Calls, operators, Python, unrecorded host time and launch latency: the host time of the
  // headline.
  int64_t host_ns() const;
};

// Looks up the causes of idle gaps in a flow.
class IdleView {
 public:
  // flow: of all devices together (joint_flow). It must outlive the view.
  explicit IdleView(const DeviceFlow& flow);
  // gaps: merged.
  IdleTime in(const std::vector<Interval>& gaps) const;
  const DeviceFlow& flow() const { return flow_; }

 private:
  const DeviceFlow& flow_;
  std::array<IntervalIndex, kFlowCauses> causes_;
  IntervalIndex copies_;
  IntervalIndex after_sync_;
};

// Class of an interval of idle time.
enum class IdleState : uint8_t { kCause, kCopy, kOtherWork };
struct IdleSlice {
  Interval span;
  IdleState state = IdleState::kCause;
  uint32_t gap = 0;                  // slices of one gap follow each other
  const FlowSlice* slice = nullptr;  // points into the flow; null unless kCause
};

// The gaps split where the cause changes, in time order. Their lengths, summed by state and cause,
// equal IdleView::in of the same gaps. gaps: merged.
std::vector<IdleSlice> idle_slices(const DeviceFlow& flow, const std::vector<Interval>& gaps);

}  // namespace assay
