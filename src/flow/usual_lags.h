#pragma once

// Lags for dependencies if the run does not show their own latency: typical times, never longer
// than recorded.

#include <cstdint>

#include "flow/graph.h"
#include "flow/run.h"

namespace assay {

// floors: run.floors or a replacement. Both arguments must outlive it.
class UsualLags {
 public:
  UsualLags(const FlowRun& run, const FlowFloors& floors) : run_(run), floors_(floors) {}

  // The last end of the work that a call waits for; INT64_MIN if it waits for nothing.
  int64_t waited_ns(const FlowCall& call) const;
  // Own time of a call. waited_ns: as above.
  int64_t own_call(const FlowCall& call, int64_t waited_ns) const;
  // The copy that began during a call over 20 us and ended after its return: the call waited until
  // the copy's begin, then moved the bytes. kNoFlowRow if there is none or the call waits for other
  // work.
  uint32_t staged_copy(const FlowCall& call) const;
  // From the end of waited_for to the return of the call.
  int64_t returns(const FlowCall& call, const FlowWork& waited_for, int64_t waited_ns) const;
  // From the end of the call to the begin of its work; the work must not begin earlier.
  int64_t launch(const FlowWork& work) const;
  // From the end of `before` to the begin of `work`. kind: kStream or kEvent.
  int64_t after(EdgeKind kind, const FlowWork& before, const FlowWork& work) const;

 private:
  const FlowRun& run_;
  const FlowFloors& floors_;
};

}  // namespace assay
