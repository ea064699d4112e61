#pragma once

// A window's idle time by cause: what flow/ says, cut to the gaps in which none of the window's
// kernels ran. This room has no rule of its own about causes.

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
  int64_t other_work_ns = 0;  // kernels of other windows ran, or device rows that are no kernels
  // Of the causes, in gaps that began while the host waited for the device.
  int64_t after_sync_ns = 0;

  int64_t operator[](FlowCause cause) const { return cause_ns[static_cast<size_t>(cause)]; }
  int64_t host_busy_ns() const;     // calls, operators, allocation, one-off costs
  int64_t host_blocked_ns() const;  // calls that wait for the device
  int64_t host_input_ns() const;
  int64_t host_gaps_ns() const;  // Python frames, and what nothing recorded tells of
  int64_t latency_ns() const;
  int64_t unseen_ns() const;         // work was handed over and did not begin
  int64_t nothing_asked_ns() const;  // nobody asked for work
  int64_t no_evidence_ns() const;    // no launch record tells
  // The host prepares and launches: what the verdict calls the host's part.
  int64_t host_ns() const;
};

// Looks up what a flow says of gaps.
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

// What a stretch of idle time was.
enum class IdleState : uint8_t { kCause, kCopy, kOtherWork };
struct IdleSlice {
  Interval span;
  IdleState state = IdleState::kCause;
  uint32_t gap = 0;                  // slices of one gap follow each other
  const FlowSlice* slice = nullptr;  // of kCause: in the flow
};

// The gaps cut where the cause changes, in order of time; by state and cause their lengths sum to
// IdleView::in of the same gaps.
std::vector<IdleSlice> idle_slices(const DeviceFlow& flow, const std::vector<Interval>& gaps);

}  // namespace assay
