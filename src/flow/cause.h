#pragma once

// The closed words of flow/: why a device was idle, what tells so, and what began the gap.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay {

// Why nothing ran at an instant. Every idle nanosecond has exactly one.
enum class FlowCause : uint8_t {
  kNoEvidence,    // the next work has no launch record
  kUnseen,        // work was handed over and ready, yet did not begin: the reason is not recorded
  kWaitOther,     // work waits for other work, or has no room beside it
  kLatency,       // work was ready since less than what is usual
  kSync,          // the host was in a call that waits for the device
  kCold,          // one-off costs: contexts, code loading, compilation, first calls
  kAlloc,         // the host allocated or freed memory of the device
  kInput,         // the host loaded data
  kCall,          // the host was in another API call
  kDispatch,      // the host was in an operator
  kPython,        // the host was in a Python frame
  kHostGap,       // the host had not handed work over, and nothing tells what it did
  kNothingAsked,  // nobody asked for work: the host waited for the outside, or was done
};
constexpr size_t kFlowCauses = 13;
std::string_view flow_cause_name(FlowCause cause);
// What the host does for the next launch: calls, operators, Python, and what nothing tells.
inline constexpr std::array kHostWork = {FlowCause::kCall, FlowCause::kDispatch, FlowCause::kPython,
                                         FlowCause::kHostGap};
bool is_host_work(FlowCause cause);

// What a cause rests on.
enum class CauseEvidence : uint8_t { kRecorded, kInferred, kAbsent };
constexpr size_t kEvidences = 3;
std::string_view evidence_name(CauseEvidence evidence);

// How a gap began.
enum class OpenedBy : uint8_t {
  kFirst,    // no work before it
  kSync,     // nothing was handed over while the host waited for the device
  kHost,     // nothing was handed over: the host was behind
  kQueued,   // work had been handed over
  kUnknown,  // nothing tells when the next work was handed over
};
constexpr size_t kOpenings = 5;
std::string_view opened_by_name(OpenedBy opened_by);

// The table of the row that names a cause.
enum class RowSource : uint8_t {
  kNone,
  kActivity,
  kCall,
  kOp,
  kFrame,
  kAnnotation,
  kSystem,  // Trace::other_events: a call of the operating system
};
// Rows within which a thread may stand still, waiting for another one.
inline bool may_stand_still(RowSource source) {
  return source == RowSource::kFrame || source == RowSource::kSystem;
}

using CauseTimes = std::array<int64_t, kFlowCauses>;  // ns by FlowCause
int64_t host_work_ns(const CauseTimes& times);        // of kHostWork together
// Takes what nobody recorded from the time in which nothing was asked for, in which it was counted;
// returns how much that was.
int64_t take_unrecorded(int64_t unrecorded_ns, CauseTimes& times);

}  // namespace assay
