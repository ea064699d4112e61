#pragma once

// The results of a job that hangs, each declared once; see report/fleet/results.h for the form.

#include "report/fleet/results.h"

// clang-format off: tables read best as tables

// Hang: who stands still, and who waits
#define ASSAY_HANG_RESULTS(R, U, O) \
  O("hang") \
  R(hangs, "hangs", kNone, "whether a dump has a call that is not finished") \
  R(world, "ranks of the job", kCount, "ranks that dumps or their process groups name") \
  R(dumps, "dumps", kCount, "dumps that could be read, one a rank") \
  R(recorder_version, "flight recorder", kText, "version of the dumps' format; several where they differ") \
  R(library_version, "communication library", kText, "version of NCCL, RCCL or HCCL, where it is told") \
  R(timeout_ms, "timeout, ms", kNone, "longest timeout of a call; `null` where none is told") \
  R(cannot_tell, "cannot tell", kText, "why no rank is named although the job hangs; else `null`") \
  R(waiting_ranks, "waiting", kText, "ranks with unfinished calls that are no culprits") \
  R(dumps_absent, "without a dump", kText, "ranks of the job of which there is no dump") \
  R(waiting_rank, "a waiting rank", kNone, "whose stack `waiting_frames` is") \
  R(waiting_frames, "its stack", kText, "innermost first: where it waits") \
  O("hang.culprits[]") \
  U(rank, "the rank that the others wait for") \
  R(hang_reason, "because", kText, "`never_asked`: its host did not ask for what the others are in; `device`: its device did not begin " \
    "or finish it; `silent`: its dump is empty; `no_dump`; `operation`, `size`, `type`, `order`: it asks for something else than the others") \
  R(hang_group, "process group", kText, "in which that shows, as the program calls it") \
  R(hang_at, "its last", kNone, "number of the last collective of the group that it asked for, or finished where its device stopped") \
  R(others_at, "the others'", kNone, "the same of the rank that is furthest") \
  R(asks, "asks for", kText, "what it asks for, where that differs") \
  R(others_ask, "the others for", kText, "what most of the others ask for") \
  R(also, "also", kText, "further reasons") \
  R(last_call, "last call", kText, "the oldest unfinished call of the rank, or the last one that it asked for") \
  R(frames, "stack", kText, "of that call, innermost first") \
  O("hang.groups[]") \
  U(name, "process group, as the program calls it") \
  R(group_ranks, "members", kText, "its ranks") \
  R(stuck_at, "in collective", kNone, "number of its oldest unfinished collective; `null` where all are finished") \
  R(stuck_call, "call", kText, "what that is") \
  R(in_it, "in it", kText, "ranks whose devices have begun it") \
  R(enqueued, "asked for", kText, "by rank: number of the last collective that was asked for") \
  R(completed, "finished", kText, "by rank: number of the last collective that is finished") \
  O("hang.evidence[]") \
  U(rank, "whose log it is; `null` where the log does not tell") \
  U(source, "`nccl_log` or `nccl_inspector`") \
  U(text, "what it says; it decides no verdict") \
  O("hang.unread[]") \
  U(what, "file") \
  U(why_unused, "why its dump is not used")
// clang-format on

namespace assay::keys {
ASSAY_DECLARE_RESULTS(ASSAY_HANG_RESULTS)
}  // namespace assay::keys
