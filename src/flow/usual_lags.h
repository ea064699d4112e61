#pragma once

// What lags are where a run tells no time of its own: usual times, never more than was recorded.

#include <cstdint>

#include "flow/graph.h"
#include "flow/run.h"

namespace assay {

// floors: the run's own, or others in their place; both must outlive it.
class UsualLags {
 public:
  UsualLags(const FlowRun& run, const FlowFloors& floors) : run_(run), floors_(floors) {}

  // When the last of what a call waits for ended; INT64_MIN where it waits for nothing.
  int64_t waited_ns(const FlowCall& call) const;
  // What a call takes itself. waited_ns: as above.
  int64_t own_call(const FlowCall& call, int64_t waited_ns) const;
  // The copy that began in a longer call and ended after its return: until the begin the call
  // waited, and then it moved the bytes. kNoFlowRow without one, or if it waits for other work.
  uint32_t staged_copy(const FlowCall& call) const;
  // From the end of what it waited for to the return of a call.
  int64_t returns(const FlowCall& call, const FlowWork& waited_for, int64_t waited_ns) const;
  // From the end of the call to the work that it launched and that began then or later.
  int64_t launch(const FlowWork& work) const;
  // From the end of other work: kStream or kEvent.
  int64_t after(EdgeKind kind, const FlowWork& before, const FlowWork& work) const;

 private:
  const FlowRun& run_;
  const FlowFloors& floors_;
};

}  // namespace assay
