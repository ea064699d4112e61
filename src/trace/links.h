#pragma once

// Edges over a Trace: launch call -> device activities, operator -> child operator, operator -> call.
//
// A correlation id is not a key by itself: it is unique per process only, a graph launch shares one
// among hundreds of kernels, runtime and driver rows of one launch may both carry it, and work queued
// before the window has a kernel but no call. Each of these is counted below; nothing is dropped.

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "trace/api_names.h"
#include "trace/trace.h"

namespace assay {

struct LinkStats {
  // Device work (kernels, copies, fills; not sync rows)
  uint64_t kernels = 0;
  uint64_t kernels_linked = 0;
  uint64_t kernels_unlinked = 0;
  int64_t kernels_unlinked_ns = 0;  // their summed duration
  // Unlinked kernels that end before the first linked kernel starts: queued before the window.
  uint64_t kernels_carried_over = 0;
  int64_t kernels_carried_over_ns = 0;
  uint64_t copies = 0;  // memcpy and memset
  uint64_t copies_linked = 0;
  uint64_t graph_launches = 0;  // graph launch calls with at least one kernel
  uint64_t graph_kernels = 0;   // kernels that belong to a graph launch
  uint64_t shared_correlations = 0;  // non-graph calls with more than one kernel
  // Host side
  // Kernel or graph launch calls; duplicates are the same launch and counted apart.
  uint64_t launch_calls = 0;
  uint64_t launch_calls_unlinked = 0;   // of those, without any device row (e.g. graph capture)
  uint64_t duplicate_calls = 0;         // calls sharing a correlation with an earlier-starting one
  uint64_t calls_without_op = 0;        // launch calls that no operator encloses
  // Operator nesting
  uint64_t overlap_tolerated = 0;  // child ends at most 1 us beyond its parent (whole-us traces)
  uint64_t overlap_split = 0;      // child ends further out: made a sibling
  // Where activity_op came from, over all device rows
  uint64_t activity_ops_by_call = 0;
  uint64_t activity_ops_by_external_id = 0;
  uint64_t external_ids_ignored = 0;  // needed, but equal to the row's own correlation id
};

struct Links {
  std::vector<ApiCallId> activity_call;     // per activity; kNone = no call in the trace
  std::vector<uint32_t> call_offsets;       // per call + 1: range in call_activities
  std::vector<ActivityId> call_activities;  // activities per call by device start
  std::vector<OpId> op_parent;              // per op: enclosing op on the same thread, or kNone
  std::vector<OpId> call_op;                // per call: innermost enclosing op, or kNone
  // Per activity: the operator that caused it, or kNone. It is the op of the linked call; else the
  // op that bears the External id of the activity or of its call. An External id that equals the
  // correlation id of its row is no operator's (Kineto wrote those for rows it could not attribute
  // until 2024-10) and is ignored. If several ops bear the id (it restarts with every profiling
  // session), the last one that starts before the row does.
  std::vector<OpId> activity_op;
  std::vector<ApiRole> role;                // per StringId
  LinkStats stats;

  std::span<const ActivityId> activities_of(ApiCallId call) const {
    return {call_activities.data() + call_offsets[call.index()],
            call_activities.data() + call_offsets[call.index() + 1]};
  }
  ApiRole role_of(const Trace& trace, ApiCallId call) const {
    return role[trace.api_calls.name[call.index()].value];
  }
  // Outermost enclosing operator; op itself when it has no parent.
  OpId root_of(OpId op) const {
    while (op_parent[op.index()]) op = op_parent[op.index()];
    return op;
  }
};

// Parent rule (SKIP section IV-A, spec/launch 1): the parent of an op c is the innermost op p of the
// same thread that is open when c starts, p.start <= c.start < p.end, and that c does not outlive by
// more than 1 us. Half-open: what starts when p ends is not inside it, and a zero-length op encloses
// nothing. Equal start: the longer one is the parent; equal duration too: the one first in the input.
// An op that outlives the innermost open op by more than 1 us becomes its sibling and is counted.
//
// A call belongs to the innermost op open when it starts, however long it runs: its times come from
// another clock (CUPTI, roctracer) than those of the operators.
//
// Several calls with one correlation id (runtime and driver row of one launch): the one that starts
// first is the launch, the others have no activities.
Links link_trace(const Trace& trace);

}  // namespace assay
