#pragma once

// Results that several sections print, each declared once. R(key, title, unit, meaning) declares a
// result. U(key, meaning) describes a declared result or a table in another place. O(object) begins
// the keys of an object. An empty meaning repeats that of the row above. JSON keys, columns,
// titles, units and the tables of docs/metrics.md (tools/gen_metrics_docs.py) are generated from
// it.

#include "report/document/columns.h"

// clang-format off: tables read best as tables

// Keys used by several sections, with the same title and unit everywhere.
#define ASSAY_SHARED_RESULTS(R, U, O) \
  R(activities, "activities", kCount, "kernels, copies and fills counted in the row") \
  R(a, "A", kNone, "of side A of a comparison; a coefficient of a curve") \
  R(b, "B", kNone, "of side B; another coefficient") \
  R(upper_bound_ns, "at most", kNanoseconds, "upper bound on the time that it can give back") \
  R(basis, "bounded by", kText, "which measured number bounds it") \
  R(batch, "batch", kNone, "batch size; in `steps` of an annealing the sizes inside the subset") \
  R(bound, "bound", kText, "what bounds it: the class of a trace, `CPU` or `GPU` of a batch") \
  R(configs, "configurations", kCount, "configurations") \
  R(count, "count", kCount, "number of rows with the other values") \
  R(cpu_idle_share, "CPU idle, of IL", kShare, "CPU idle time / IL") \
  R(depth, "depth", kNone, "depth in the tree; 0 is the root") \
  R(device, "device", kNone, \
    "a device: its number if rows are per device, its name if there is one") \
  R(dropped, "dropped", kCount, "left out of the numbers, by the rule of the section") \
  R(dur_mean_ns, "mean t_k", kNanoseconds, "mean duration of a kernel on the device") \
  R(dur_ns, "duration", kNanoseconds, "duration on the device") \
  R(effect, "effect", kText, "what it does to the numbers") \
  R(floor_ns, "launch floor", kNanoseconds, "the launch-overhead floor F; `null` if unknown") \
  R(format, "format", kText, "what the file was read as") \
  R(gain_ns, "less by", kNanoseconds, \
    "time that the run is shorter by in a replay with a change: [What if](#what-if)") \
  R(gpu_idle_share, "GPU idle, of IL", kShare, "GPU idle time / IL") \
  R(groups, "groups", kCount, "groups of rows with one configuration and one length pair") \
  R(high95, "high", kNone, "upper end of a 95 % interval") \
  R(high_text, "high", kNone, "`high95` as readers see it") \
  R(interpolated, "interpolated", kRatio, "where between two measured sizes it happens") \
  R(kernels, "kernels", kCount, "kernels counted in the row") \
  R(code, "code", kText, "a stable word for what the row says") \
  R(kind, "kind", kText, "what the node is") \
  R(longest_ns, "longest", kNanoseconds, "the longest one of those counted") \
  R(low95, "low", kNone, "lower end of a 95 % interval") \
  R(low_text, "low", kNone, "`low95` as readers see it") \
  R(mean, "mean", kNone, "mean over iterations, in the unit of the metric") \
  R(mean_text, "mean", kNone, "`mean` as readers see it") \
  R(metric, "metric", kText, "key of the averaged number") \
  R(metric_name, "metric", kText, "title of `metric`") \
  R(n, "n", kCount, \
    "number of elements in the row: kernels, iterations in a mean, rows in a query; for a point, the number of devices") \
  R(name, "name", kText, \
    "the name of the row, for example an operator, a kernel, a window, a family or a split") \
  R(op, "op", kText, "operation or operator") \
  R(phase, "phase", kText, "phase of the work: forward, backward, prefill, ...") \
  R(queue_share, "beyond the launch-overhead floor, of TKLQT", kShare, "`queue_sum_ns` / `tklqt_ns`") \
  R(reason, "reason", kText, "why it is so, in words or as a code") \
  R(replayed_ns, "measured", kNanoseconds, "time with a replay") \
  R(rho, "ρ", kRatio, \
    "a ratio that its section defines: of latencies in a sweep, of busy matrix cycles in a " \
    "waterfall") \
  R(rows, "rows", kCount, "rows of a table or log") \
  R(samples, "samples", kCount, "number of samples") \
  R(share, "share", kShare, "time of the row over all time that the table cuts up") \
  R(source, "source", kText, "where it comes from") \
  R(text, "in words", kText, "the same in a sentence") \
  R(time_ns, "time", kNanoseconds, "time") \
  R(tokens, "tokens", kCount, "tokens that an iteration processes") \
  R(tokens_per_s, "tokens/s", kCount, "tokens per second") \
  R(unit, "unit", kText, "what a number or a part is counted in") \
  R(iteration_evidence, "iterations", kText, \
    "evidence that `kernel_period` windows are iterations, or the reason why the periods found are not, see [Windows](#windows)") \
  R(window_source, "windows", kText, "what separated the iterations, see [Windows](#windows)")
// clang-format on

#define ASSAY_RESULT(key, title, unit, meaning) \
  inline constexpr ResultKey key{#key, title, Unit::unit};
#define ASSAY_RESULT_USE(...)
// Declares every result of a section in namespace keys: keys::tklqt_ns.
#define ASSAY_DECLARE_RESULTS(LIST) LIST(ASSAY_RESULT, ASSAY_RESULT_USE, ASSAY_RESULT_USE)

namespace assay::keys {
ASSAY_DECLARE_RESULTS(ASSAY_SHARED_RESULTS)
}  // namespace assay::keys
