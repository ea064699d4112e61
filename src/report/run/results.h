#pragma once

// Results of the headline, each declared once. R(key, title, unit, meaning) declares a result.
// U(key, meaning) describes a declared result or a table in another place. O(object) begins the
// keys of an object. An empty meaning repeats that of the row above. JSON keys, columns, titles,
// units and the tables of docs/metrics.md (tools/gen_metrics_docs.py) are generated from it.

#include "report/document/results.h"

// clang-format off: tables read best as tables

// Verdict
#define ASSAY_VERDICT_RESULTS(R, U, O) \
  U(gpu_idle_share, "`gpu_idle_union_ns` / IL") \
  R(gpu_idle_share_low, "GPU idle, of IL, at least", kShare, "the bracket of GPU idle / IL") \
  R(gpu_idle_share_high, "GPU idle, of IL, at most", kShare, "") \
  U(queue_share, "as under [Launch](#launch-and-queue-time-tklqt)") \
  U(cpu_idle_share, "`cpu_idle_ns` / IL; `null` when no thread launched anything") \
  R(graph_share, "graph replay, of device time", kShare, \
    "Σ t_k of graph kernels / `kernel_sum_ns`") \
  R(idle_host_share, "of GPU idle: the host", kShare, \
    "GPU idle time with the causes `call`, `dispatch`, `python`, `host_gap` and `latency` / GPU " \
    "idle; causes are those of [Flow](#causes)") \
  R(idle_input_share, "of GPU idle: input", kShare, "… with the cause `input` / GPU idle") \
  R(idle_queued_share, "of GPU idle: pending work", kShare, \
    "… with the cause `unseen` / GPU idle") \
  R(idle_after_sync_share, "of GPU idle: begun in a sync", kShare, \
    "idle time in gaps that began while the host waited for the device with nothing submitted / GPU idle")

// Other keys of the headline
#define ASSAY_RUN_OTHER_RESULTS(R, U, O) \
  R(idle_blocked_share, "of GPU idle: host waits for the device", kShare, \
    "GPU idle time with the cause `sync` / GPU idle") \
  R(what, "what", kText, "what a row is about") \
  R(edit, "edit", kText, "the edit that was replayed, as `assay whatif --edit` takes it") \
  U(window_share, "`gain_ns` / window") \
  R(affects, "affects", kText, "keys of the numbers that it moves")

// Several jobs in one set of traces
#define ASSAY_JOBS_RESULTS(R, U, O) \
  O("jobs[]") \
  U(name, "folder or file name of the job") \
  U(ranks, "ranks with a trace") \
  U(text, "first sentence about the ranks of the job")

#define ASSAY_RUN_RESULTS(R, U, O) \
  ASSAY_VERDICT_RESULTS(R, U, O) \
  ASSAY_RUN_OTHER_RESULTS(R, U, O) \
  ASSAY_JOBS_RESULTS(R, U, O)
// clang-format on

namespace assay::keys {
ASSAY_DECLARE_RESULTS(ASSAY_RUN_RESULTS)
}  // namespace assay::keys
