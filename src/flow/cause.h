#pragma once

// Enumerations of flow/: why a device is idle, the evidence for it, and how the gap began.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay {

// Why a device was idle at an instant. Every idle nanosecond has exactly one cause.
enum class FlowCause : uint8_t {
  kNoEvidence,    // the next work has no launch record
  kUnseen,        // work was submitted and runnable but did not start; the reason is not recorded
  kWaitOther,     // work waits for other work, or for space on a busy device
  kLatency,       // work has been ready for at most the typical latency
  kSync,          // the host was in a call that waits for the device
  kCold,          // one-time initialization: contexts, code loading, compilation, first calls
  kAlloc,         // the host allocated or freed memory of the device
  kInput,         // the host loaded data
  kCall,          // the host was in another API call
  kDispatch,      // the host was in an operator
  kPython,        // the host was in a Python frame
  kHostGap,       // the host had submitted nothing, and no event shows what it did
  kNothingAsked,  // no work was requested: the host waited for external input or was done
};
constexpr size_t kFlowCauses = 13;
std::string_view flow_cause_name(FlowCause cause);
// Host time towards the next launch: calls, operators, Python, and unattributed time.
inline constexpr std::array kHostWork = {FlowCause::kCall, FlowCause::kDispatch, FlowCause::kPython,
                                         FlowCause::kHostGap};
bool is_host_work(FlowCause cause);

// What a cause rests on.
enum class CauseEvidence : uint8_t { kRecorded, kInferred, kAbsent };
constexpr size_t kEvidences = 3;
std::string_view evidence_name(CauseEvidence evidence);

// How a gap began.
enum class OpenedBy : uint8_t {
  kFirst,    // no earlier work
  kSync,     // nothing was submitted while the host waited for the device
  kHost,     // nothing was submitted: the host was late
  kQueued,   // work had been submitted
  kUnknown,  // submission of the next work is not recorded
};
constexpr size_t kOpenings = 5;
std::string_view opened_by_name(OpenedBy opened_by);

// The table of the event that names a cause.
enum class RowSource : uint8_t {
  kNone,
  kActivity,
  kCall,
  kOp,
  kFrame,
  kAnnotation,
  kSystem,  // Trace::other_events: a call of the operating system
};
// True for events during which a thread may be blocked, waiting for another one.
inline bool may_stand_still(RowSource source) {
  return source == RowSource::kFrame || source == RowSource::kSystem;
}

using CauseTimes = std::array<int64_t, kFlowCauses>;  // ns by FlowCause
int64_t host_work_ns(const CauseTimes& times);        // sum over kHostWork
// Subtracts unrecorded time from kNothingAsked, where it was counted. Returns the ns subtracted.
int64_t take_unrecorded(int64_t unrecorded_ns, CauseTimes& times);

}  // namespace assay
