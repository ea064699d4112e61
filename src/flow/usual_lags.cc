#include "flow/usual_lags.h"

#include <algorithm>

namespace assay {
namespace {

constexpr int64_t kStagedNs = 20'000;  // shorter calls did not wait for their copy
constexpr int64_t kStagedOwnNs = 5'000;

}  // namespace

int64_t UsualLags::waited_ns(const FlowCall& call) const {
  int64_t waited_ns = INT64_MIN;
  for (uint32_t k = 0; k < call.target_count; ++k) {
    waited_ns = std::max(waited_ns, run_.works[run_.targets[call.first_target + k]].end_ns);
  }
  return waited_ns;
}

int64_t UsualLags::own_call(const FlowCall& call, int64_t waited_ns) const {
  int64_t own_ns = call.end_ns - call.start_ns;
  const bool waited = waited_ns > call.start_ns;
  if (staged_copy(call) != kNoFlowRow) {
    return std::max(std::min(own_ns, kStagedOwnNs), call.cold_ns);
  }
  if (!waited && call.slot_work == kNoFlowRow) return own_ns;
  const StringId name = run_.trace->api_calls.name[call.row.index()];
  own_ns = std::min(own_ns, floors_.own_call(name).typical_ns);
  if (waited) own_ns = std::min(own_ns, waited_ns - call.start_ns);
  // A call's own time precedes the copies that it submits.
  for (uint32_t k = 0; waited && k < call.work_count; ++k) {
    const FlowWork& work = run_.works[run_.works_of_calls[call.first_work + k]];
    const bool submits = work.kind == WorkKind::kCopy && work.start_ns > call.start_ns;
    if (submits) own_ns = std::min(own_ns, work.start_ns - call.start_ns);
  }
  return std::max(own_ns, call.cold_ns);
}

uint32_t UsualLags::staged_copy(const FlowCall& call) const {
  if (call.target_count > 0 || call.slot_work != kNoFlowRow) return kNoFlowRow;
  if (call.end_ns - call.start_ns <= kStagedNs) return kNoFlowRow;
  uint32_t first = kNoFlowRow;
  for (uint32_t k = 0; k < call.work_count; ++k) {
    const uint32_t w = run_.works_of_calls[call.first_work + k];
    const FlowWork& work = run_.works[w];
    const bool within = work.kind == WorkKind::kCopy && work.start_ns >= call.start_ns &&
                        work.start_ns < call.end_ns && work.end_ns > call.end_ns;
    const bool earlier = first == kNoFlowRow || work.start_ns < run_.works[first].start_ns;
    if (within && earlier) first = w;
  }
  return first;
}

int64_t UsualLags::returns(const FlowCall& call, const FlowWork& waited_for,
                           int64_t waited_ns) const {
  const FlowFloor& floor = floors_.returns;
  // Only the last end shows how long the return took.
  const bool last = waited_for.end_ns == waited_ns && waited_ns > call.start_ns;
  // A call that releases memory does so after the wait.
  const int64_t usual_ns = return_cause(call) == FlowCause::kAlloc
                               ? call.end_ns - call.start_ns
                               : (last ? floor.limit_ns : floor.typical_ns) + call.poll_step_ns;
  return std::min(usual_ns, call.end_ns - waited_for.end_ns);
}

int64_t UsualLags::launch(const FlowWork& work) const {
  return std::min(floors_.way_ns + floors_.launch.typical_ns,
                  work.start_ns - run_.calls[work.call].end_ns);
}

int64_t UsualLags::after(EdgeKind kind, const FlowWork& before, const FlowWork& work) const {
  const FlowFloor& floor = kind == EdgeKind::kEvent ? floors_.event : floors_.stream;
  return std::min(floor.typical_ns, work.start_ns - before.end_ns);
}

}  // namespace assay
