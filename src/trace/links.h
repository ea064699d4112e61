#pragma once

// Links between the rows of a Trace: launch call -> GPU activities, operator -> child operator,
// operator -> call.
//
// A correlation id alone is not a key. It is unique only per process. Hundreds of kernels of a
// graph launch share one, and the runtime and driver rows of one launch may both have it. Kernels
// queued before the window have no call. Each case is counted below; nothing is dropped.

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "trace/api_names.h"
#include "trace/trace.h"

namespace assay {

// clang-format off: tables read best as tables
// What was linked and what was not, in the words of docs/formats/summary.md.
// STAT(type, name, doc)
#define ASSAY_LINK_STATS(STAT) \
  STAT(uint64_t, kernels, "kernels on devices") \
  STAT(uint64_t, kernels_linked, "of those, with a launch call in the trace") \
  STAT(uint64_t, kernels_unlinked, "of those, without one") \
  STAT(int64_t, kernels_unlinked_ns, "their summed duration") \
  STAT(uint64_t, kernels_carried_over, "unlinked kernels that end before the first linked one of their stream starts (of the trace, if the stream has none): queued before the window") \
  STAT(int64_t, kernels_carried_over_ns, "their summed duration") \
  STAT(uint64_t, copies, "memcpy and memset rows") \
  STAT(uint64_t, copies_linked, "of those, with a call in the trace") \
  STAT(uint64_t, graph_launches, "graph launch calls with at least one kernel") \
  STAT(uint64_t, graph_kernels, "kernels that belong to a graph launch") \
  STAT(uint64_t, shared_correlations, "non-graph calls with more than one kernel") \
  STAT(uint64_t, launch_calls, "kernel or graph launch calls; duplicates are the same launch and counted apart") \
  STAT(uint64_t, launch_calls_unlinked, "of those, without any device row (e.g. graph capture)") \
  STAT(uint64_t, duplicate_calls, "calls sharing a correlation with an earlier-starting one") \
  STAT(uint64_t, calls_without_op, "launch calls that no operator encloses") \
  STAT(uint64_t, overlap_tolerated, "operators that end at most 1 us beyond their parent (whole-us traces)") \
  STAT(uint64_t, overlap_split, "operators that end further out, or nest more than 1,000 deep: made siblings") \
  STAT(uint64_t, activity_ops_by_call, "device rows with an operator from the launch call") \
  STAT(uint64_t, activity_ops_by_external_id, "device rows with an operator from the External id") \
  STAT(uint64_t, external_ids_ignored, "External ids needed, but equal to the row's own correlation id")
// clang-format on

struct LinkStats {
#define ASSAY_FIELD(type, name, doc) type name = 0;
  ASSAY_LINK_STATS(ASSAY_FIELD)
#undef ASSAY_FIELD
};

// visit(name, value) for every statistic, in order.
template <typename Visitor>
void for_each_link_stat(const LinkStats& stats, Visitor&& visit) {
#define ASSAY_VISIT(type, name, doc) visit(#name, stats.name);
  ASSAY_LINK_STATS(ASSAY_VISIT)
#undef ASSAY_VISIT
}

struct Links {
  std::vector<ApiCallId> activity_call;     // per activity; kNone = none in the trace
  std::vector<uint32_t> call_offsets;       // per call, plus one: ranges in call_activities
  std::vector<ActivityId> call_activities;  // activities by call, then by device start
  std::vector<OpId> op_parent;              // per op: enclosing op on the same thread, or kNone
  std::vector<OpId> call_op;                // per call: innermost enclosing op, or kNone
  // Per activity, the operator that caused it, or kNone: the op of the linked call, else the op
  // with the External id of the activity or of its call. An External id that equals the row's
  // correlation id is ignored, because it belongs to no operator (Kineto wrote those for rows it
  // could not attribute until 2024-10). If several ops have the id (it restarts with every
  // profiling session), the last one that starts before the row counts.
  std::vector<OpId> activity_op;
  std::vector<ApiRole> role;  // per StringId
  // Per stream, the start of its first linked kernel, or of the trace's first one if the stream has
  // none. INT64_MAX if no kernel of the trace is linked.
  std::vector<int64_t> first_linked_ns;
  LinkStats stats;

  std::span<const ActivityId> activities_of(ApiCallId call) const {
    return {call_activities.data() + call_offsets[call.index()],
            call_activities.data() + call_offsets[call.index() + 1]};
  }
  // True for an unlinked kernel that ended before the first linked kernel of its stream started. A
  // stream runs in order, so the kernel was queued earlier, before the trace began.
  bool carried_over(const Trace& trace, ActivityId kernel) const {
    const int64_t first_ns = first_linked_ns[trace.activities.stream[kernel.index()].index()];
    return !activity_call[kernel.index()] && first_ns != INT64_MAX &&
           trace.end_ns(kernel) <= first_ns;
  }
  ApiRole role_of(const Trace& trace, ApiCallId call) const {
    return role[trace.api_calls.name[call.index()].value];
  }
  // Outermost enclosing operator; `op` itself if it has no parent.
  OpId root_of(OpId op) const {
    while (op_parent[op.index()]) op = op_parent[op.index()];
    return op;
  }
};

// Parent rule (SKIP section IV-A, spec/launch 1): the parent of an op c is the innermost op p of
// the same thread with p.start <= c.start < p.end that c does not outlive by more than 1 us.
// Intervals are half-open: an op that starts when p ends is not inside it, and a zero-length op
// encloses nothing. At equal start, the longer op is the parent; at equal duration too, the first
// in the input. An op that outlives the innermost open op by more than 1 us becomes its sibling and
// is counted.
//
// A call of any length belongs to the innermost op open when it starts, because its times come from
// another clock (CUPTI, roctracer) than those of the operators.
//
// Of several calls with one correlation id (runtime and driver row of one launch), the earliest is
// the launch; the others have no activities.
Links link_trace(const Trace& trace);

}  // namespace assay
