#pragma once

// Results of launch, fusion and bound, each declared once. R(key, title, unit, meaning) declares a
// result. U(key, meaning) describes a declared result or a table in another place. O(object) begins
// the keys of an object. An empty meaning repeats that of the row above. JSON keys, columns,
// titles, units and the tables of docs/metrics.md (tools/gen_metrics_docs.py) are generated from
// it.

#include "report/document/results.h"

// clang-format off: tables read best as tables

// Counts
#define ASSAY_LAUNCH_COUNT_RESULTS(R, U, O) \
  U(kernels, "n, kernels of the window, linked or not, graph kernels included") \
  R(linked, "linked to a launch", kCount, \
    "kernels with a launch call in the trace; `kernels` − `linked` are unlinked") \
  R(launches, "launches", kCount, \
    "host calls with at least one of these kernels. One per graph launch. Dropped launches " \
    "are counted") \
  R(timed_launches, "launches with a t_l", kCount, \
    "`launches` − `dropped`: the base of TKLQT and of the distribution") \
  R(clamped, "t_l clamped to 0", kCount, "launches with −10 µs < t_l < 0") \
  U(dropped, "launches with t_l ≤ −10 µs, left out of TKLQT and of the distribution") \
  R(graph_launches, "graph launches", kCount, "launches that are graph launches") \
  R(graph_kernels, "replayed by graphs", kCount, "kernels of those launches")

// Launch and queue time: TKLQT
#define ASSAY_TKLQT_RESULTS(R, U, O) \
  R(tklqt_ns, "TKLQT", kNanoseconds, \
    "Σ t_l over the launches that have one (Eq. 2). `null` (refused) when there are kernels " \
    "and none has a t_l") \
  R(tklqt_low_ns, "TKLQT, at least", kNanoseconds, "the [bracket](#brackets) of TKLQT") \
  R(tklqt_high_ns, "TKLQT, at most", kNanoseconds, "") \
  R(launch_queue_mean_ns, "mean t_l", kNanoseconds, "TKLQT / `timed_launches`") \
  R(launch_queue_p5_ns, "t_l p5", kNanoseconds, \
    "quantiles of t_l over the same launches, clamped ones as 0") \
  R(launch_queue_p50_ns, "t_l p50", kNanoseconds, "") \
  R(launch_queue_p95_ns, "t_l p95", kNanoseconds, "") \
  R(launch_queue_p99_ns, "t_l p99", kNanoseconds, "") \
  R(launch_floor_sum_ns, "TKLQT up to the launch-overhead floor", kNanoseconds, \
    "Σ min(t_l, F); 0 when F is not known") \
  R(queue_sum_ns, "TKLQT beyond the launch-overhead floor", kNanoseconds, \
    "Σ (t_l − min(t_l, F)) = TKLQT − `launch_floor_sum_ns`; 0 when F is not known") \
  U(queue_share, \
    "`queue_sum_ns` / `tklqt_ns`; `null` when F is not known or TKLQT is 0. A decomposition " \
    "of Assay's, not of the paper")

// Kernel time
#define ASSAY_KERNEL_TIME_RESULTS(R, U, O) \
  R(kernel_sum_ns, "kernel time, summed", kNanoseconds, \
    "Σ t_k over the n kernels, overlap counted twice, unlinked and graph kernels included") \
  R(akd_ns, "AKD, mean kernel", kNanoseconds, \
    "average kernel duration, `kernel_sum_ns` / n (Eq. 3); `null` without kernels") \
  R(kernel_union_ns, "kernel time, union", kNanoseconds, \
    "time in which at least one of the kernels ran on any stream or device, wherever it " \
    "lies") \
  R(busy_in_window_ns, "GPU busy in IL", kNanoseconds, \
    "the part of that union inside the inference window; with `--include-copies`, copies and " \
    "fills of the window too")

// Inference latency and GPU idle time
#define ASSAY_LATENCY_RESULTS(R, U, O) \
  R(il_ns, "IL, inference latency", kNanoseconds, \
    "ts_e(k_n) − ts_b(p_1) (Eq. 4), never below 0; `null` without kernels. k_n is the " \
    "kernel that ends last, not the one launched last") \
  R(origin, "p_1", kText, "which event is p_1, of the whole trace; see below") \
  R(gpu_idle_eq5_ns, "GPU idle, Eq. 5", kNanoseconds, \
    "IL − `kernel_sum_ns`. Negative when kernels overlap or lie outside the window; `null` " \
    "without kernels") \
  R(gpu_idle_union_ns, "GPU idle, union", kNanoseconds, \
    "IL − `busy_in_window_ns`, never negative. Assay's, for several streams. `null` without " \
    "kernels, and refused when IL is 0") \
  R(gpu_idle_low_ns, "GPU idle, at least", kNanoseconds, \
    "the [bracket](#brackets) of `gpu_idle_union_ns`") \
  R(gpu_idle_high_ns, "GPU idle, at most", kNanoseconds, "") \
  U(gpu_idle_share, "`gpu_idle_union_ns` / `il_ns`; `null` when IL is 0")

// CPU idle time
#define ASSAY_CPU_IDLE_RESULTS(R, U, O) \
  R(cpu_idle_ns, "CPU idle in IL (dispatching thread)", kNanoseconds, \
    "IL − (recorded − blocked) = blocked + unrecorded; `null` when no thread launched a " \
    "kernel of the window") \
  R(cpu_idle_blocked_ns, "CPU idle, blocked in calls", kNanoseconds, "blocked time") \
  R(cpu_blocking_share, "blocked share of CPU idle", kShare, \
    "`cpu_idle_blocked_ns` / `cpu_idle_ns`; `null` when CPU idle is 0")

// Most launched kernels
#define ASSAY_TOP_KERNEL_RESULTS(R, U, O) \
  R(short_name, "kernel", kText, \
    "the name without return type, template and call arguments; for generic wrappers also " \
    "what they wrap, in brackets. For reading: different names may share it") \
  U(name, "as recorded") \
  U(count, "kernels of that name, linked or not, replayed or not") \
  R(launch_queue_sum_ns, "Σ t_l", kNanoseconds, "over those that have a t_l") \
  U(launch_queue_mean_ns, "Σ t_l / `timed`; `null` when `timed` is 0") \
  R(dur_sum_ns, "Σ t_k", kNanoseconds, "over all `count`") \
  U(dur_mean_ns, "Σ t_k / `count`") \
  R(timed, "timed", kCount, "those with a t_l: linked, first of their launch, not dropped")

// The launch-overhead floor
#define ASSAY_FLOOR_RESULTS(R, U, O) \
  U(floor_ns, "in whole nanoseconds; `null` when `source` is `none`") \
  U(source, "`given`, `measured`, `published`, `estimated` or `none`") \
  U(samples, "number of launches in a measurement or an estimate, or those found if they were too few; else 0") \
  U(text, "one sentence: where F is from, or why it is not known")

// The call tree and the kernel list
#define ASSAY_CALL_TREE_RESULTS(R, U, O) \
  U(depth, "0 is the root") \
  U(name, "of the operator or call; for kernels the short name of `top_kernels`") \
  U(kind, "`root`, `role`, `op`, `call`, `kernel`, `rest`") \
  U(count, \
    "rows collapsed into the node; for `rest` the nodes merged into it; 1 for `root` and " \
    "`role`") \
  R(host_ns, "host", kNanoseconds, \
    "summed duration of the operators or calls of the node; for `root`, `role` and `rest` the sum over children or merged " \
    "nodes. Over threads, not wall time") \
  R(host_self_ns, "host self", kNanoseconds, \
    "`host_ns` less that of the children; negative only where sibling operators overlap") \
  R(launch_queue_ns, "t_l", kNanoseconds, "Σ t_l of the launches below") \
  R(device_ns, "device", kNanoseconds, "Σ t_k of the kernels below") \
  U(kernels, "kernels below")

// The call tree and the kernel list
#define ASSAY_KERNEL_LIST_RESULTS(R, U, O) \
  R(kernel, "kernel", kText, "full name") \
  R(call, "call", kText, "the launch call; empty and `null` when unlinked") \
  R(call_start_ns, "call start", kNone, "") \
  R(root_op, "root op", kText, \
    "outermost and innermost operator around the call. If there is none, those of the operator with the External id of the " \
    "kernel or its call; else empty") \
  R(parent_op, "parent op", kText, "") \
  R(kernel_start_ns, "kernel start", kNone, "start on the device") \
  U(launch_queue_ns, "clamped like TKLQT; `null` when the kernel has none") \
  U(dur_ns, "duration") \
  U(device, "as recorded; −1 = not known") \
  R(stream, "stream", kNone, "") \
  R(iteration, "iteration", kText, "name of the window it belongs to; `null` outside all")

// Chain mining
#define ASSAY_MINING_RESULTS(R, U, O) \
  R(segment, "segments cut by", kText, "the rule") \
  R(threshold, "threshold T", kRatio, "of `candidates`; `--threshold`, in (0, 1], default 1") \
  R(segments, "segments", kCount, "number of segments, none of them empty") \
  R(longest_segment, "longest segment", kCount, "kernels in the longest one") \
  R(k_eager, "K eager", kCount, "K_eager = Σ |S|, kernels in all segments") \
  R(distinct_kernels, "distinct names", kCount, "different identities among them") \
  U(graph_kernels, "already one launch for many") \
  R(unlinked_kernels, "left out: without a launch", kCount, \
    "their place in the order is unknown. When no kernel at all is linked, none is left " \
    "out: the order is that of device start, and `sync` finds no cuts") \
  R(outside_kernels, "left out: outside iterations", kCount, \
    "under `iteration` only; graph and unlinked kernels are counted in the rows above")

// Chains by length
#define ASSAY_CHAIN_LENGTH_RESULTS(R, U, O) \
  R(length, "L", kNone, "chain length, at least 2") \
  R(unique, "unique", kCount, "distinct windows (SKIP Fig. 7a)") \
  R(total, "total", kCount, \
    "all windows, Σ f = Σ max(0, |S| − L + 1) (Fig. 7b; the formula is Assay's)") \
  R(candidates, "PS ≥ T", kCount, "distinct windows with PS ≥ T") \
  R(c_fused, "fusable", kCount, \
    "C_fused, the most windows with PS = 1 that do not overlap (Fig. 7c; the formula is " \
    "Assay's)") \
  R(c_fused_min2, "seen twice", kCount, \
    "the same without windows with a first kernel that occurs only once, because a single occurrence shows nothing about " \
    "its successors. Assay's") \
  U(k_eager, "K_eager, the same in every row") \
  R(k_fused, "K fused", kCount, "K_eager − C_fused·(L−1) (Eq. 7)") \
  R(speedup, "speedup", kRatio, "K_eager / K_fused (Eq. 8), from 1 to L; 1 without kernels") \
  R(k_fused_min2, "K fused, seen twice", kCount, "the same from `c_fused_min2`") \
  R(speedup_min2, "seen twice", kRatio, "")

// Best mix of lengths
#define ASSAY_CHAIN_PLAN_RESULTS(R, U, O) \
  R(chains, "chains", kCount, "chains in the plan, every occurrence counted") \
  R(launches_saved, "launches saved", kCount, "Σ (L − 1) over them") \
  U(k_fused, "K_eager − `launches_saved`") \
  U(speedup, "K_eager / `k_fused`")

// Recommended chains
#define ASSAY_RECOMMENDED_CHAIN_RESULTS(R, U, O) \
  U(length, "kernels in the chain; occurrences") \
  U(count, "") \
  U(launches_saved, "`count` × (`length` − 1)") \
  U(gain_ns, "time saved in a replay with this chain fused, `null` if unknown") \
  R(saving_ns, "host time ≤", kNanoseconds, \
    "`launches_saved` × F, a bound on host time saved that needs no replay; `null` without F") \
  U(device_ns, "Σ t_k of its kernels over these occurrences") \
  R(device_least_ns, "device, at least", kNanoseconds, \
    "lower bound for one kernel an occurrence: bytes over the memory or cache rate, 1 µs, or the product's own " \
    "time. `null` without shapes or GPU figures") \
  U(launch_queue_ns, "Σ t_l of its kernels over these occurrences") \
  U(speedup, "K_eager / (K_eager − `launches_saved`), of this chain alone") \
  R(common_ops, "in", kText, \
    "innermost operator that encloses all kernels of an occurrence, with how often; at most " \
    "3") \
  R(root_ops, "under", kText, "outermost operator of the first kernel, with how often; at most 3") \
  R(short_kernels, "kernels of the chain", kText, "of the first occurrence") \
  U(kernel_names, "") \
  R(remedy, "use", kText, "what to try; see below") \
  R(remedy_reason, "why", kText, "")

// Bound
#define ASSAY_BOUND_RESULTS(R, U, O) \
  R(tau, "τ", kRatio, \
    "`--tau`, default 2: GPU-bound where q > τ·c. 2 = queueing outweighs launching") \
  U(rho, \
    "tolerance of the plateau as used: the larger of `--rho` (default 0.25) and 3 × 1.4826 " \
    "× the median over batches with repeats of MAD(q)/median(q)") \
  R(plateau_points, "plateau batches", kCount, \
    "m, the longest prefix of at least 2 batches with max q ≤ (1+ρ)·min q; 0 when there is " \
    "none") \
  R(plateau_ns, "plateau c, per launch", kNanoseconds, \
    "c, the median of q over the plateau; without one the given F; `null` without either") \
  R(verdict, "verdict", kText, "see below, and the rule that decided") \
  U(reason, "") \
  R(first_gpu_batch, "first GPU-bound batch b_g", kRatio, \
    "the smallest batch with q > τ·c for it and every larger batch") \
  R(last_cpu_batch, "last CPU-bound batch b_c", kRatio, "the one before it") \
  R(inflection_batch, "inflection b*", kRatio, \
    "b_g − (q_g − c)/s with s = (q_{g+1} − q_g)/(b_{g+1} − b_g), limited to [b_c, b_g]") \
  R(coarse, "coarse", kNone, "there is one such point only, or s ≤ 0: b* = √(b_c·b_g)") \
  R(inflection_low, "interval from", kRatio, \
    "5 % and 95 % of b* over 2000 resamples (fixed seed), if every batch has 2 repeats; else b_c and b_g. See " \
    "[interval](#interval-of-the-inflection)") \
  R(inflection_high, "interval to", kRatio, "") \
  R(interval_source, "interval source", kText, \
    "`bootstrap`, `bracket`, or `none` when there is no transition") \
  R(balanced_region, "balanced batches", kText, \
    "runs of batches with both idle shares below `--balanced` (default 0.3); `null` when " \
    "there is none")

// Bound
#define ASSAY_BOUND_POINT_RESULTS(R, U, O) \
  U(batch, "batch size") \
  U(bound, "`GPU` at b_g and larger batches, or everywhere under `GPU_BOUND_AT_MIN`; else `CPU`") \
  U(tklqt_ns, "means over repeats") \
  U(launches, "") \
  R(tklqt_per_launch_ns, "per launch", kNanoseconds, "q") \
  U(queue_share, \
    "max(0, 1 − F/q), with c for a missing F; `null` without both. Launches faster than F hide queueing, so it is " \
    "a lower bound. Unlike `queue_share` of one trace") \
  R(latency_ns, "latency", kNanoseconds, "mean of the column, or of IL") \
  U(gpu_idle_share, "means of the columns, or of idle time / IL") \
  U(cpu_idle_share, "") \
  R(balanced, "balanced", kNone, "both idle shares are given and below the bound")

// Bound
#define ASSAY_CROSSOVER_RESULTS(R, U, O) \
  R(found, "found", kNone, "the sign of A − B flips and then stays") \
  U(batch, \
    "smallest common batch after which the sign stays flipped; a batch of equal latency belongs to the next one") \
  R(previous_batch, "not yet at", kRatio, "the common batch before it") \
  U(interpolated, \
    "where the straight line between the two, in log batch and log ratio, crosses 0") \
  R(faster_below, "faster below", kText, \
    "the platform that is faster before the crossover; means nothing unless `found`") \
  U(ratios, "`batch` and `ratio` per common batch")

// Other keys of launch, fusion and bound
#define ASSAY_LAUNCH_OTHER_RESULTS(R, U, O) \
  R(idle_host_busy_ns, "GPU idle, host busy", kNanoseconds, \
    "of GPU idle time, by the [causes](#causes): `call` + `dispatch` + `alloc` + `cold`. With " \
    "the nine below it sums to `gpu_idle_union_ns`") \
  R(idle_host_blocked_ns, "GPU idle, host blocked", kNanoseconds, "… `sync`") \
  R(idle_host_input_ns, "GPU idle, input", kNanoseconds, "… `input`") \
  R(idle_host_unattributed_ns, "GPU idle, Python or unrecorded", kNanoseconds, "… `host_gap` + `python`") \
  R(idle_latency_ns, "GPU idle, latency", kNanoseconds, "… `latency`") \
  R(idle_queued_ns, "GPU idle, work was pending", kNanoseconds, "… `unseen`") \
  R(idle_no_work_ns, "GPU idle, no work submitted", kNanoseconds, "… `nothing_asked`") \
  R(idle_no_launch_record_ns, "GPU idle, no launch record", kNanoseconds, "… `no_evidence`") \
  R(idle_copy_ns, "GPU idle, copies ran", kNanoseconds, \
    "of GPU idle time: copies or fills ran, and no kernel; 0 with `--copies`, but for copies of " \
    "other iterations") \
  R(idle_other_activity_ns, "GPU idle, other work ran", kNanoseconds, \
    "of GPU idle time: kernels of other iterations ran, or GPU activities other than kernels") \
  R(identity, "kernels equal by", kText, \
    "`name` or `shape`: what makes two kernels the same in `fusion`") \
  R(min_count, "occurrences needed", kCount, \
    "of the first kernel of a chain in `plan_min`, by `--min-count`") \
  R(recommended_total, "recommended chains", kCount, \
    "chains of `plan_min`, also those that `--chains` leaves out") \
  R(proximity, "PS", kRatio, "proximity score of a candidate (SKIP Eq. 6)") \
  R(kernel_names, "full names", kText, "names of the kernels of a chain in full, in order") \
  R(use, "use", kText, "`remedy` in words, for readers") \
  R(where, "where", kText, "`common_ops` or `root_ops` in words, for readers") \
  R(chain_text, "chain", kText, "the first kernels of a chain, for readers") \
  R(ratio, "ratio", kRatio, "latency of the first platform over that of the second at a batch")

#define ASSAY_LAUNCH_RESULTS(R, U, O) \
  ASSAY_LAUNCH_COUNT_RESULTS(R, U, O) \
  ASSAY_TKLQT_RESULTS(R, U, O) \
  ASSAY_KERNEL_TIME_RESULTS(R, U, O) \
  ASSAY_LATENCY_RESULTS(R, U, O) \
  ASSAY_CPU_IDLE_RESULTS(R, U, O) \
  ASSAY_TOP_KERNEL_RESULTS(R, U, O) \
  ASSAY_FLOOR_RESULTS(R, U, O) \
  ASSAY_CALL_TREE_RESULTS(R, U, O) \
  ASSAY_KERNEL_LIST_RESULTS(R, U, O) \
  ASSAY_MINING_RESULTS(R, U, O) \
  ASSAY_CHAIN_LENGTH_RESULTS(R, U, O) \
  ASSAY_CHAIN_PLAN_RESULTS(R, U, O) \
  ASSAY_RECOMMENDED_CHAIN_RESULTS(R, U, O) \
  ASSAY_BOUND_RESULTS(R, U, O) \
  ASSAY_BOUND_POINT_RESULTS(R, U, O) \
  ASSAY_CROSSOVER_RESULTS(R, U, O) \
  ASSAY_LAUNCH_OTHER_RESULTS(R, U, O)
// clang-format on

namespace assay::keys {
ASSAY_DECLARE_RESULTS(ASSAY_LAUNCH_RESULTS)
}  // namespace assay::keys
