#pragma once

// The results of the dependency graph, each declared once.
// R(key, title, unit, meaning) declares a result; U(key, meaning) says what a declared one, or a
// table, is here; O(object) begins the keys of an object. An empty meaning: that of the row above.
// From here come JSON keys, columns, titles, units, and the tables of docs/metrics.md
// (tools/gen_metrics_docs.py).

#include "report/document/results.h"

// clang-format off: tables read best as tables

// Flow: the answer
#define ASSAY_FLOW_ANSWER_RESULTS(R, U, O) \
  R(cause, "cause", kText, "what the time is lost to, a word of the closed list below") \
  R(device_idle_share, "device idle", kShare, \
    "idle time / the windows of all devices; the windows are the answer's, not IL") \
  O("flow") \
  R(window_ns, "window", kNanoseconds, \
    "from the first call that puts work on a device, or the first work where that is earlier, to " \
    "the end of the last work") \
  R(devices, "devices", kCount, "devices with work") \
  R(leading_share, "leading, of lost time", kShare, \
    "share of the lost time that the leading group has; `null` where nothing is lost") \
  R(recorded_share, "of it recorded", kShare, "share of the leading idle time that rests on recorded rows") \
  R(inferred_share, "of it inferred", kShare, "share of it that rests on a rule about names or silence") \
  R(absent_share, "of it without evidence", kShare, "share of it that nothing recorded explains") \
  R(linked_share, "device time with a launch", kShare, \
    "device time whose launch call is in the trace / device time") \
  R(model_error, "model error", kShare, \
    "(makespan of a replay with usual lags in place of unexplained time − recorded) / recorded") \
  R(unexplained_share, "unexplained, of the critical path", kShare, \
    "time on the critical path that no edge explains / makespan") \
  R(first_lever, "first lever", kText, "what to change first, a word of the closed list below") \
  R(steady_cause, "cause after the start", kText, \
    "of a cold start: what the rest of the window is lost to, where that is enough to tell")

// Flow: causes
#define ASSAY_FLOW_CAUSE_RESULTS(R, U, O) \
  O("causes[]") \
  R(state, "state", kText, "`compute`, `collective`, `copy`, or the cause of idle time") \
  R(ns, "time", kNanoseconds, "time in this state, over all devices; the rows add up to the windows of all devices") \
  R(of_window, "of window", kShare, "`ns` / the windows of all devices") \
  R(recorded_ns, "recorded", kNanoseconds, "of it, rests on recorded rows") \
  R(inferred_ns, "inferred", kNanoseconds, "of it, rests on a rule about names or silence") \
  R(absent_ns, "no evidence", kNanoseconds, "of it, nothing recorded explains it") \
  R(opened_by_sync_ns, "gap began in a wait", kNanoseconds, \
    "of it, in gaps that began while the host waited for the device and had handed nothing over") \
  R(opened_by_host_ns, "gap began behind the host", kNanoseconds, \
    "of it, in gaps that began because the host had handed nothing over yet") \
  O("contributors[]") \
  U(state, "the cause") \
  U(name, "call, operator, frame or device work that stands behind it; in brackets what work that is " \
    "late by mere latency came after") \
  U(ns, "time that it stands behind") \
  U(of_window, "`ns` / the windows of all devices") \
  R(slices, "times", kCount, "stretches of idle time that it stands behind") \
  R(longest_slice_ns, "longest", kNanoseconds, "the longest of them") \
  R(within, "within", kText, "operator or frame around the longest")

#define ASSAY_FLOW_RESULTS(R, U, O) \
  ASSAY_FLOW_ANSWER_RESULTS(R, U, O) \
  ASSAY_FLOW_CAUSE_RESULTS(R, U, O)
// clang-format on

namespace assay::keys {
ASSAY_DECLARE_RESULTS(ASSAY_FLOW_RESULTS)
}  // namespace assay::keys
