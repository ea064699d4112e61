#pragma once

// Results of overhead, each declared once. R(key, title, unit, meaning) declares a result. U(key,
// meaning) describes a declared result or a table in another place. O(object) begins the keys of an
// object. An empty meaning repeats that of the row above. JSON keys, columns, titles, units and the
// tables of docs/metrics.md (tools/gen_metrics_docs.py) are generated from it.

#include "report/document/results.h"

// clang-format off: tables read best as tables

// Sums
#define ASSAY_OVERHEAD_SUM_RESULTS(R, U, O) \
  R(mode, "mode", kText, \
    "`exclusive` (each instant of a thread once), `paper` (also as `literal`) or `code` (see `ft_dispatch_ns`). " \
    "With `--replay` the default is `paper`") \
  U(n, "N: rows") \
  R(n_launch, "launches", kCount, \
    "calls that own a row; `n` = `n_launch` + `without_call` + `graph_followers` + " \
    "`shared_followers`") \
  R(dispatch_base_ns, "dispatch base", kNanoseconds, \
    "T_dispatch_base (Eq. 7), see [dispatch base](#dispatch-base). `null` without a kernel to take it from, and " \
    "used as 0. One base for all windows") \
  R(base_weighting, "base over", kText, \
    "`kernel` (the authors' program) or `invocation` (Eq. 7 as printed)") \
  R(base_samples, "samples of the base", kCount, "number of unique kernels or launches in the base") \
  R(t_py_ns, "T_Py", kNanoseconds, \
    "Σ T_Py over owners; in `exclusive` mode `exclusive_py_ns`") \
  R(ft_dispatch_ns, "dispatch", kNanoseconds, \
    "`exclusive`: dispatch; at most the base for I_lib = 1. `paper`: `n_launch` · base. `code`: the base for I_lib " \
    "= 1, else own T_dispatch") \
  R(ft_ns, "ΔFT", kNanoseconds, "Σ ΔFT = `t_py_ns` + `ft_dispatch_ns` (Eq. 4)") \
  R(ct_ns, "ΔCT", kNanoseconds, \
    "Σ I_lib · max(0, T_dispatch − base) over owners (Eq. 8); in `exclusive` mode with disp " \
    "for T_dispatch") \
  R(kt_ns, "ΔKT", kNanoseconds, \
    "as printed, `n_launch` · launch-overhead floor; in `exclusive` mode `exclusive_call_ns`, the time in the launch calls") \
  R(t_orch_ns, "T_Orch", kNanoseconds, \
    "T_Orchestration = `ft_ns` + `ct_ns` + `kt_ns` (Eq. 2); `exclusive`: `t_orch_exclusive_ns`. `null` if [nothing " \
    "can be charged](#costs-that-cannot-be-charged)") \
  R(kt_fw_ns, "ΔKT_fw", kNanoseconds, \
    "Σ max(0, T_launch − launch-overhead floor): time of the launch path above it, including the wait in the queue. Not in " \
    "`t_orch_ns`") \
  R(t_device_ns, "T_Device", kNanoseconds, \
    "T_DeviceActive = Σ t_k over all rows: a sum, not a union") \
  R(hdbi, "HDBI", kRatio, \
    "`t_device_ns` / (`t_device_ns` + `t_orch_ns`) (Eq. 3): 0 is host-bound, 1 device-bound. `null` without rows " \
    "or without `t_orch_ns`. It has no classes") \
  R(host_observed_ns, "host time observed", kNanoseconds, \
    "Σ (T_Py + T_dispatch + T_launch) over owners, literally (the authors' program)") \
  R(host_framework_ns, "host time, framework", kNanoseconds, "`host_observed_ns` − `n_launch` · launch-overhead floor")

// Exclusive and literal
#define ASSAY_OVERHEAD_EXCLUSIVE_RESULTS(R, U, O) \
  R(exclusive_py_ns, "T_Py, exclusive", kNanoseconds, \
    "Σ T_Py, Σ disp, Σ call, waits left out; whatever the mode") \
  R(exclusive_dispatch_ns, "dispatch, exclusive", kNanoseconds, "") \
  R(exclusive_call_ns, "launch calls", kNanoseconds, "") \
  R(t_orch_exclusive_ns, "T_Orch, exclusive", kNanoseconds, \
    "their sum; HDBI with it. `assay diff` and its gates use these") \
  R(hdbi_exclusive, "HDBI, exclusive", kRatio, "") \
  R(other_host_ns, "host work overlapped with it", kNanoseconds, \
    "Σ between, without waits. With Python frames r_j is typically the start of the program") \
  R(waiting_ns, "host waits overlapped with it", kNanoseconds, "the waits") \
  R(threads_span_ns, "span of threads", kNanoseconds, \
    "Σ over threads of (end of the last call − open of the first); never below " \
    "`t_orch_exclusive_ns` + `other_host_ns` + `waiting_ns`") \
  R(t_py_as_printed_ns, "T_Py, literal", kNanoseconds, \
    "as printed; may exceed wall: by the mode where that is `paper` or `code`, else by `paper`") \
  R(t_orch_as_printed_ns, "T_Orch, literal", kNanoseconds, "") \
  R(hdbi_as_printed, "HDBI, literal", kRatio, "") \
  R(additivity, "literal / exclusive", kRatio, \
    "`t_orch_as_printed_ns` / `t_orch_exclusive_ns`; `null` when that is 0")

// Untraced
#define ASSAY_OVERHEAD_UNTRACED_RESULTS(R, U, O) \
  R(t_orch_untraced_ns, "T_Orch, untraced", kNanoseconds, \
    "`t_orch_ns` without the profiler, by a measured iteration ([Untraced](#untraced)), if all rows cost alike; else `null`") \
  R(t_orch_untraced_low_ns, "T_Orch, untraced, from", kNanoseconds, \
    "least and most of four: all rows cost alike, operators alone, API calls alone, all host time by one factor") \
  R(t_orch_untraced_high_ns, "T_Orch, untraced, to", kNanoseconds, "") \
  R(hdbi_untraced, "HDBI, untraced", kRatio, "the same of `hdbi`") \
  R(hdbi_untraced_low, "HDBI, untraced, from", kRatio, "") \
  R(hdbi_untraced_high, "HDBI, untraced, to", kRatio, "")

// Wall time
#define ASSAY_OVERHEAD_WALL_TIME_RESULTS(R, U, O) \
  R(t_e2e_ns, "T_e2e", kNanoseconds, \
    "whole trace, a window, or Σ over the windows of a phase, see [wall time](#wall-time). 0 without rows in the " \
    "whole trace") \
  R(idle_fraction, "GPU idle, of T_e2e", kShare, \
    "(`t_e2e_ns` − `t_device_ns`) / `t_e2e_ns`; negative when kernels run side by side. " \
    "`null` where `t_e2e_ns` is 0, like the next two") \
  R(gpu_utilisation, "GPU util.", kShare, "`t_device_ns` / `t_e2e_ns`") \
  R(orch_over_e2e, "literal T_Orch, of T_e2e", kRatio, \
    "`t_orch_as_printed_ns` / `t_e2e_ns`; a value above 1 is not an error") \
  R(unique_names, "unique names", kCount, \
    "distinct names of kernels as recorded, as `launch` and `fusion` count them (Table II)") \
  R(diversity_ratio, "diversity", kRatio, "`unique_names` / `n` (Table II)") \
  R(kernels_per_token, "N per token", kRatio, \
    "`n` / `tokens`: of the whole trace and of the decode phase; of a window that is a " \
    "decode step, its `n`. `null` when `tokens` is not known")

// Families
#define ASSAY_OVERHEAD_FAMILY_RESULTS(R, U, O) \
  U(kernels, "rows; of those with I_lib = 1; unique kernels") \
  R(library_kernels, "lib", kCount, "") \
  R(unique_kernels, "unique", kCount, "") \
  R(i_lib, "I_lib", kNone, "1 when most of the rows have I_lib = 1") \
  R(launch_p50_ns, "launch p50", kNanoseconds, \
    "quantiles over the unique kernels' mean T_launch; `null` when none has one") \
  R(launch_p95_ns, "launch p95", kNanoseconds, "") \
  U(t_py_ns, "as above, over the family's rows; over all families they add up to the whole") \
  U(ft_dispatch_ns, "") \
  U(ct_ns, "") \
  U(kt_ns, "") \
  U(t_orch_ns, "") \
  U(t_device_ns, "")

// Rows that lack something
#define ASSAY_OVERHEAD_ORPHAN_RESULTS(R, U, O) \
  R(without_call, "without a call", kCount, \
    "rows without a call in the trace, Σ t_k. Nothing is charged for them. If they were launched here, T_Orch is too small " \
    "by base and launch-overhead floor each") \
  R(without_call_ns, "without a call, T_Device", kNanoseconds, "") \
  R(without_op, "without an operator", kCount, \
    "owners with a call that has no entry. T_Py and T_dispatch are unknown and count as 0 or, in `paper` mode, as " \
    "the base") \
  R(without_op_ns, "without an operator, T_Device", kNanoseconds, \
    "Σ t_k of `without_op`. Half of the launches or more: T_Orch is a lower and HDBI an upper bound. Test: " \
    "`HostOverheadWords`") \
  R(without_py, "without Python", kCount, \
    "owners with an entry that has neither frame nor outer operator. T_Py is 0") \
  R(negative_launch_clamped, "T_launch clamped to 0", kCount, \
    "owners by the rule of T_launch. move `kt_fw_ns` and `families`, not T_Orch") \
  R(negative_launch_dropped, "T_launch dropped", kCount, "") \
  R(graph_followers, "further kernels of graph launches", kCount, \
    "rows that do not own their call, of graph launches and of others. nothing is charged " \
    "for them") \
  R(shared_followers, "further kernels of other calls", kCount, "")

// Diagnosis
#define ASSAY_OVERHEAD_DIAGNOSIS_RESULTS(R, U, O) \
  U(code, "the action, and what to do in words") \
  R(advice, "what", kText, "") \
  U(upper_bound_ns, "the bound in wall time; over `t_e2e_ns`") \
  R(e2e_share, "of T_e2e", kShare, "") \
  U(basis, "the number that bounds it") \
  R(same_as, "same action", kText, \
    "the run's [action](#actions) that does the same, or more. Only actions of the diagnosis are advised here") \
  U(gain_ns, "what that replay gives, and all that readers see; `upper_bound_ns` is a bound that needs no replay")

// A sweep
#define ASSAY_OVERHEAD_SWEEP_RESULTS(R, U, O) \
  O("`points`") \
  R(platform, "platform", kText, "Figures 7 and 8; `hdbi` of the means; number of windows") \
  U(batch, "") \
  R(seq_len, "length", kNone, "") \
  U(n, "") \
  U(t_py_ns, "") \
  U(ft_ns, "") \
  U(ct_ns, "") \
  U(kt_ns, "") \
  U(t_orch_ns, "") \
  U(t_device_ns, "") \
  U(hdbi, "") \
  U(t_e2e_ns, "") \
  R(repeats, "repeats", kNone, "") \
  O("`crossovers`") \
  U(platform, \
    "the two adjacent points around HDBI = 0.5") \
  R(along, "along", kText, "the size that changes") \
  U(batch, "") \
  U(seq_len, "") \
  R(fixed, "other size", kNone, "the other size") \
  R(from, "from", kNone, "sizes of the two points") \
  R(to, "to", kNone, "") \
  U(interpolated, "the size at 0.5, interpolated linearly in HDBI over log(size)") \
  R(to_device, "to the device", kNone, "direction of the change") \
  O("`changes`") \
  U(batch, \
    "Figures 10 and 11 at sizes of both platforms: (second − first) / first") \
  U(seq_len, "") \
  R(t_orch_change, "T_Orch, change", kShare, "") \
  R(t_device_change, "T_Device, change", kShare, "") \
  R(t_e2e_change, "T_e2e, change", kShare, "") \
  R(hdbi_from, "HDBI from", kRatio, "") \
  R(hdbi_to, "HDBI to", kRatio, "") \
  R(t_e2e_change_from_orch, "by T_Orch alone", kShare, \
    "(1 − `hdbi_from`) · `t_orch_change`: the effect of T_Orch alone on wall time if host and device never " \
    "overlapped")

// Other keys of overhead
#define ASSAY_OVERHEAD_OTHER_RESULTS(R, U, O) \
  R(phase_source, "phases from", kText, "see [Prefill and decode](#prefill-and-decode)") \
  R(phase_source_text, "phases", kText, "what separated the phases, or what was missing") \
  R(with_stack, "with Python frames", kNone, "whether Python frames were recorded") \
  R(library_op_kernels, "kernels of library operators", kCount, \
    "rows with a library operator as entry, see [Families](#families)") \
  R(copies_left_out, "copies left out", kCount, "copies and fills left out of the rows") \
  R(kt_fw_p50_ns, "ΔKT_fw, p50", kNanoseconds, \
    "of a family: `launch_p50_ns` − launch-overhead floor, the residual of Table IV") \
  R(floor_share, "of floor", kShare, "that over the launch-overhead floor") \
  R(db_key, "key", kText, "key of the entry in the [kernel database](formats/kernel_db.md)") \
  R(family, "family", kText, "family of the kernel") \
  R(t_py_mean_ns, "mean T_Py", kNanoseconds, "mean over the invocations of a unique kernel") \
  R(t_dispatch_mean_ns, "mean T_dispatch", kNanoseconds, "") \
  R(t_launch_mean_ns, "mean T_launch", kNanoseconds, "") \
  R(floor_source, "launch-overhead floor from", kText, "of `measured`: `source` of its launch-overhead floor") \
  R(entries, "unique kernels", kCount, \
    "entries of the kernel database; in `measured_matching` those of the tier") \
  R(invocations, "N", kCount, "their invocations") \
  R(entries_found, "unique kernels found", kCount, "entries with a key in the replay") \
  R(invocations_found, "N found", kCount, "") \
  R(entries_unknown, "keys without an entry", kCount, "of the replay, that the database lacks") \
  R(through, "dispatch through", kText, \
    "start of T_dispatch: `cpp`, at the dispatcher, called from C++; `python`, at a call of `torch.ops` from Python, as in " \
    "the paper. The two are not comparable") \
  R(tier, "by", kText, \
    "how the replayed kernel was found, see [Measured by replay](#measured-by-replay)") \
  R(rule, "rule", kText, \
    "why a replay was rejected, see [Measured by replay](#measured-by-replay)") \
  R(replay_launch_ns, "launch", kNanoseconds, "T_launch of the replay") \
  R(replay_dispatch_ns, "dispatch", kNanoseconds, "T_dispatch of the replay") \
  R(used_dispatch_ns, "taken as", kNanoseconds, "the T_dispatch that counts") \
  R(measured_kernels, "replayed", kCount, "rows of the family with an entry in the replay") \
  R(measured_t_orch_ns, "T_Orch, replayed", kNanoseconds, "of the family, with the replay") \
  R(trace_t_orch_ns, "T_Orch, trace", kNanoseconds, "of the family, by the trace alone") \
  R(measured_launch_p50_ns, "launch p50, replayed", kNanoseconds, \
    "quantile over the entries of a family that have a replay") \
  R(trace_launch_p50_ns, "launch p50, trace", kNanoseconds, "the same by the trace alone") \
  R(part_name, "layer", kText, "for readers: the part of T_Orch") \
  R(layer_ns, "total", kNanoseconds, "for readers: its sum") \
  R(each_ns, "per launch", kNanoseconds, "for readers: that over `n_launch`") \
  R(part_share, "of T_Orch", kShare, "for readers: that over `t_orch_ns`") \
  R(part_change, "difference", kShare, "for readers: the change of the part, over the trace's") \
  R(told_by, "from", kText, "evidence, as text") \
  U(replayed_ns, "for readers: the part with the replay") \
  R(traced_ns, "trace", kNanoseconds, "for readers: the part by the trace alone")

#define ASSAY_OVERHEAD_RESULTS(R, U, O) \
  ASSAY_OVERHEAD_SUM_RESULTS(R, U, O) \
  ASSAY_OVERHEAD_EXCLUSIVE_RESULTS(R, U, O) \
  ASSAY_OVERHEAD_UNTRACED_RESULTS(R, U, O) \
  ASSAY_OVERHEAD_WALL_TIME_RESULTS(R, U, O) \
  ASSAY_OVERHEAD_FAMILY_RESULTS(R, U, O) \
  ASSAY_OVERHEAD_ORPHAN_RESULTS(R, U, O) \
  ASSAY_OVERHEAD_DIAGNOSIS_RESULTS(R, U, O) \
  ASSAY_OVERHEAD_SWEEP_RESULTS(R, U, O) \
  ASSAY_OVERHEAD_OTHER_RESULTS(R, U, O)
// clang-format on

namespace assay::keys {
ASSAY_DECLARE_RESULTS(ASSAY_OVERHEAD_RESULTS)
}  // namespace assay::keys
