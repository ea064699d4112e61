#pragma once

// Results for a hanging job, each declared once; report/job/results.h describes the form.

#include "report/job/results.h"

// clang-format off: tables read best as tables

// Hang: which ranks stall and which wait
#define ASSAY_HANG_RESULTS(R, U, O) \
  O("hang") \
  R(hangs, "hangs", kNone, "whether a dump has a call that is not finished") \
  R(world, "ranks of the job", kCount, "ranks that dumps or their process groups name") \
  R(dumps, "dumps", kCount, "dumps that could be read, one a rank") \
  R(recorder_version, "flight recorder", kText, "version of the dumps' format; several where they differ") \
  R(library_version, "communication library", kText, "version of NCCL, RCCL or HCCL, where it is recorded") \
  R(timeout_ms, "timeout, ms", kNone, "longest timeout of a call; `null` where none is recorded") \
  R(cannot_tell, "cannot tell", kText, "why no rank is named although the job hangs; else `null`") \
  R(waiting_ranks, "waiting", kText, "ranks with unfinished calls that wait for others") \
  R(dumps_absent, "without a dump", kText, "ranks of the job of which there is no dump") \
  R(waiting_rank, "a waiting rank", kNone, "the rank of `waiting_frames`") \
  R(waiting_frames, "its stack", kText, "innermost first: where it waits") \
  O("hang.culprits[]") \
  U(rank, "the rank that the others wait for") \
  R(hang_reason, "because", kText, "the reason by one word of the [table](hang.md)") \
  R(hang_group, "process group", kText, "in which that shows, as the program calls it") \
  R(hang_at, "its last", kNone, "number of the last collective of the group that it requested, or finished where its device stopped") \
  R(others_at, "the others'", kNone, "the same of the rank that is furthest") \
  R(asks, "asks for", kText, "what it asks for, where that differs") \
  R(others_ask, "the others for", kText, "what most of the others ask for") \
  R(also, "also", kText, "further reasons") \
  R(last_call, "last call", kText, "the oldest unfinished call of the rank, or the last one that it requested") \
  R(frames, "stack", kText, "of that call, innermost first") \
  O("hang.groups[]") \
  U(name, "process group, as the program calls it") \
  R(group_ranks, "members", kText, "its ranks") \
  R(stuck_at, "in collective", kNone, "number of its oldest unfinished collective; `null` where all are finished") \
  R(stuck_call, "call", kText, "what that is") \
  R(in_it, "in it", kText, "ranks that have begun it on their devices") \
  R(enqueued, "requested", kText, "by rank: number of the last collective that was requested") \
  R(completed, "finished", kText, "by rank: number of the last collective that is finished") \
  O("hang.evidence[]") \
  U(rank, "the rank of the log; `null` where it is unknown") \
  U(source, "`nccl_log` or `nccl_inspector`") \
  U(text, "the line; it decides nothing") \
  O("hang.unread[]") \
  U(what, "file") \
  U(why_unused, "why its dump is not used")
// clang-format on

namespace assay::keys {
ASSAY_DECLARE_RESULTS(ASSAY_HANG_RESULTS)
}  // namespace assay::keys
