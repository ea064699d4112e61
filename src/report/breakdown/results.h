#pragma once

// The results of breakdown, each declared once. R(key, title, unit, meaning) declares a result.
// U(key, meaning) describes a declared one, or a table, in another place. O(object) begins the keys
// of an object. An empty meaning repeats that of the row above. JSON keys, columns, titles, units,
// and the tables of docs/metrics.md (tools/gen_metrics_docs.py) come from here.

#include "report/document/results.h"

// clang-format off: tables read best as tables

// Attribution
#define ASSAY_PLACEMENT_RESULTS(R, U, O) \
  O("`unplaced`") \
  U(time_ns, "device activities without an operation (`unplaced`, `b_unmapped`), of all") \
  U(share, "") \
  U(activities, "") \
  R(total_ns, "device time", kNanoseconds, "") \
  R(no_layer_ns, "outside layers", kNanoseconds, \
    "with an operation but outside every layer; distinct layers, and what they are") \
  R(no_layer_share, "outside layers, share", kShare, "") \
  R(no_phase_ns, "without a phase", kNanoseconds, \
    "device time without a known phase") \
  R(no_phase_share, "phase not known, share", kShare, "") \
  R(phase_inferred_ns, "phase by name", kNanoseconds, \
    "device time in backward or optimizer by the kernel's name alone (`bwd`, `wgrad`, `adam`)") \
  R(phase_inferred_share, "phase by name alone, share", kShare, \
    "`phase_inferred_ns` / device time. An input gradient of a convolution counts if other kernels show a backward " \
    "pass") \
  R(layers, "layers", kCount, "") \
  R(layer_source, "layers from", kText, "") \
  R(flows, "forward-backward flows", kCount, \
    "fwdbwd flows between two operators; of these, with a sequence number to compare; of " \
    "these, with the same forward operator") \
  R(flows_compared, "of these with a sequence number", kCount, "") \
  R(flows_agree, "agree with the sequence number", kCount, "") \
  O("`unattributed_reasons`") \
  U(reason, \
    "`carried_over`, `no_launch`, `no_operator`, `no_forward` or `graph_replay`, see " \
    "[unattributed](#unattributed-activities)") \
  U(activities, "") \
  U(time_ns, "") \
  U(share, "") \
  O("`attributed_by`") \
  U(source, "the table above") \
  R(sure, "sure", kText, \
    "`recorded`: from events of the activity or of the replayed launch. `likeness`: only from repeated sequences " \
    "(`structure`) or another iteration (`twin`)") \
  U(activities, "") \
  U(time_ns, "") \
  U(share, "")

// Why kernels stand where they do
#define ASSAY_EVIDENCE_RESULTS(R, U, O) \
  O("`evidence.places`") \
  U(file, "where there are several ranks") \
  U(kernel, \
    "device activities with one name, attribution and source, longest first; their operation") \
  U(op, "") \
  U(phase, "") \
  R(stack, "stack", kText, \
    "of their layers, and the least and greatest of these, counted in the stack; null outside layers") \
  R(first_layer, "first layer", kNone, "") \
  R(last_layer, "last layer", kNone, "") \
  U(source, "source and certainty, as in `attributed_by`; why nothing did") \
  U(sure, "") \
  U(reason, "") \
  U(activities, "how many they are, and their summed duration") \
  U(time_ns, "") \
  U(iteration, "of the first of them to start: name of the iteration and the call that launched it") \
  U(call, "") \
  R(operators, "operators", kText, \
    "around that launch, outermost first; path of its `nn.Module`s; labels around it") \
  R(module_path, "modules", kText, "") \
  R(labels_around, "labels", kText, "") \
  R(forward_op, "forward operator", kText, \
    "of backward work, the operator that its node shares a flow or number with; of a graph's replay, the " \
    "recorded operator. Tests: `Place`, `golden/breakdown`") \
  R(recorded_op, "recorded operator", kText, "")

// Launch overhead, waits, overlap
#define ASSAY_LEVEL_SUM_RESULTS(R, U, O) \
  R(prep_ns, "prep", kNanoseconds, \
    "O_prep (Eq. 1): of the bubble up to the launch call, idle time of the GPU in which a " \
    "launch was waited for") \
  R(call_ns, "call", kNanoseconds, \
    "O_call (Eq. 2): the same, starting at the launch call") \
  R(launch_ns, "launch overhead", kNanoseconds, \
    "O_launch (Eq. 3) = `prep_ns` + `call_ns`, see [launch overhead](#launch-overhead-waits-overlap)") \
  R(comm_wait_ns, "wait for comm", kNanoseconds, \
    "of the bubble after the launch call, time in which a collective ran. Before the call, only while a host " \
    "thread was in a blocking call") \
  R(comm_in_gap_ns, "comm alone", kNanoseconds, \
    "of the bubble, time in which a collective ran and the host had not launched the next kernel") \
  R(copy_ns, "copies", kNanoseconds, \
    "of the bubble, time in which a copy or fill ran and no collective") \
  R(idle_other_ns, "other idle", kNanoseconds, \
    "of the bubble, idle time of any other cause, such as a dependency or no submitted work. Includes unknown host " \
    "code if only calls were recorded") \
  U(dur_ns, "Σ duration, of copies and collectives too in `rows`") \
  R(overlapping_kernels_ns, "at once", kNanoseconds, \
    "of the duration, time before E: an earlier kernel still ran") \
  R(overlap_ns, "during comm", kNanoseconds, \
    "of the duration, time in which at least one collective ran (union); Σ `overlap_ns` / Σ " \
    "`dur_ns`") \
  R(overlap_ratio, "overlap", kShare, "") \
  R(op_dur_ns, "with bubbles inside", kNanoseconds, \
    "Σ duration and the bubbles between kernels of one operation (same iteration, phase, " \
    "layer, op) that follow each other") \
  U(kernels, "kernels") \
  U(activities, "device activities: kernels, copies and fills") \
  R(likeness_ns, "by likeness", kNanoseconds, \
    "of the duration, attributed by similarity (`structure`, `twin`): likely, not recorded; caveat " \
    "`levels_likeness`. Tests: `Place`")

// Launch overhead, waits, overlap
#define ASSAY_LEVEL_TABLE_RESULTS(R, U, O) \
  O("`rows`") \
  R(gpu, "gpu", kNone, "one row per combination that occurs; also the sums above") \
  R(iter, "iter", kNone, "") \
  U(phase, "") \
  R(layer, "layer", kNone, "") \
  U(op, "") \
  R(op_type, "type", kText, "") \
  O("`tree`") \
  U(depth, \
    "`job` > `phase` > `layer` > `operation` > `kernel`; layers of a phase in one node; `share` of Σ `dur_ns`. Nodes below " \
    "`--min-share` form one `rest`. Also sums") \
  U(name, "") \
  U(kind, "") \
  U(share, "") \
  O("`iterations`") \
  U(gpu, \
    "`span_ns`: advance of the latest end. See [closure](#closure). Also sums over compute kernels") \
  U(iter, "") \
  R(span_ns, "span", kNanoseconds, "") \
  R(comm_kernels, "collectives", kCount, \
    "collectives, their union, and the exposed part of it (without a concurrent compute kernel)") \
  R(comm_ns, "comm", kNanoseconds, "") \
  R(exposed_comm_ns, "exposed", kNanoseconds, "") \
  U(tokens, \
    "indices given to `aten::embedding` (its largest call, needs recorded shapes), over `span_ns`. Per GPU: each rank of a " \
    "tensor-parallel group counts all tokens") \
  U(tokens_per_s, "") \
  O("`job`") \
  U(iter, \
    "of all GPUs: tokens with each token group once (null where a group's are not known), " \
    "over the longest `span_ns` of a GPU. Tests: `TokenGroups`") \
  U(tokens, "") \
  R(longest_span_ns, "longest GPU", kNanoseconds, "") \
  U(tokens_per_s, "") \
  O("`gpus`") \
  U(gpu, "`span_ns`: last end − first start of the compute kernels; also sums as in") \
  R(rank, "rank", kNone, "") \
  U(device, "") \
  R(file, "file", kText, "") \
  R(token_group, "tokens as GPU", kNone, \
    "the first GPU that reads the same tokens, see [token groups](#token-groups). Other GPUs of its own trace " \
    "count as the same") \
  R(closure_ns, "closure", kNanoseconds, "`span_ns` less the sum above: 0; null with `chopper`") \
  R(comm_outside_ns, "comm outside", kNanoseconds, \
    "the union of the collectives before the first or after the last compute kernel, outside every span") \
  R(copy_outside_ns, "copies outside", kNanoseconds, \
    "copies and fills before the first or after the last compute kernel that overlap no collective. Tests: " \
    "`ActivitiesOutsideTheSpanAreSeparate`") \
  R(compute_ratio, "kernels / others", kRatio, \
    "`dur_ns` over the median of the other GPUs; with two GPUs, over the other. Null for a single GPU") \
  R(slowest_op, "slowest op", kText, \
    "of operations with 1 % of the GPU's time, that furthest above its median over the other GPUs") \
  R(slowest_op_ratio, "op / others", kRatio, \
    "time of `slowest_op` over its median over the other GPUs. Tests: `RatiosAreToTheMedianOfTheOtherGpus`, " \
    "`golden/breakdown`") \
  O("`overlap`") \
  U(phase, "operations by `overlap_ns`; also sums") \
  U(op, "") \
  O("`groups`") \
  R(stat, "stat", kText, \
    "statistic over samples (one GPU in one iteration), see [groups](#groups). Also the keys of sums. Tests: " \
    "`Query`") \
  U(samples, "")

// Many ranks
#define ASSAY_RANK_RESULTS(R, U, O) \
  O("`alignment`") \
  R(ranks, "ranks", kCount, \
    "number of traces") \
  R(collectives_matched, "collectives matched", kCount, "collectives found on all participating ranks") \
  R(collectives_unmatched, "not matched", kCount, \
    "collectives of groups with different numbers or orders across ranks") \
  R(collectives_aligned, "of these aligned", kCount, "matched collectives with ends used for alignment") \
  R(residual_p50_ns, "residual, median", kNanoseconds, \
    "of |end − offset − median end|: what arrivals cannot resolve") \
  R(residual_p95_ns, "residual, p95", kNanoseconds, "") \
  R(residual_max_ns, "residual, largest", kNanoseconds, "") \
  O("`clock_offsets`") \
  U(gpu, "the clock less the common one") \
  R(offset_ns, "offset", kNanoseconds, "") \
  R(collectives, "collectives", kCount, "") \
  O("`stragglers`") \
  U(gpu, "collectives it came to, and how often last (alone)") \
  U(collectives, "") \
  R(last, "came last", kCount, "") \
  R(last_share, "share", kShare, "") \
  R(arrival_median_ns, "after the median", kNanoseconds, \
    "median of its start − the median start, aligned; negative when it leads") \
  R(waited_ns, "waited for the last", kNanoseconds, \
    "Σ start of the last − own start") \
  R(arrival_margin_ns, "last by", kNanoseconds, \
    "Σ own start − start of the second to last, if it was last. Two stragglers hide each other here; the " \
    "[straggler analysis](#blame) separates them") \
  O("`arrivals`") \
  U(gpu, "by phase and kind of collective; also the same") \
  U(phase, "") \
  R(collective, "collective", kText, "")

// Counters and the waterfall
#define ASSAY_COUNTER_RESULTS(R, U, O) \
  O("`counter_passes`") \
  R(pass, "counter run", kText, \
    "a counter run against a GPU of the trace; `device` as recorded there") \
  U(format, "") \
  U(gpu, "") \
  U(device, "") \
  R(iterations, "iterations", kCount, "iterations that were counted") \
  U(kernels, \
    "compute kernels of the trace in these iterations") \
  R(pass_kernels, "in the run", kCount, "compute kernels of the counter run") \
  R(unused_kernels, "unused", kCount, "compute kernels of the counter run in other iterations") \
  R(missing_kernels, "absent", kCount, \
    "with `--partial-counters`, kernels of the trace with names that the run lacks") \
  R(matched, "matched", kCount, \
    "pairs of kernels") \
  R(match_rate, "match rate", kShare, \
    "pairs over the larger of `kernels` and `pass_kernels`: below 0.9 an error, below 0.99 a caveat") \
  R(matched_by, "matched by", kText, "criterion of the match") \
  R(counters, "counters", kText, "measured counters") \
  O("`counter_repeats`") \
  R(counter, "counter", kText, \
    "counters measured in several runs, of which the mean is used; (largest − smallest) / mean per kernel; kernels over 5 %") \
  U(kernels, "") \
  R(spread_median, "spread, median", kShare, "") \
  R(spread_max, "spread, largest", kShare, "") \
  R(above_limit, "over 5 %", kCount, "") \
  O("`peaks`") \
  U(device, \
    "TPT_peak = compute units x FLOP per clock x clock, dense FP16/BF16; else `tflops`. In order: `--peaks`, the " \
    "run's list of agents, the specifications") \
  R(flop_per_s, "matrix FLOP/s", kPerSecond, "") \
  R(clock_hz, "clock (Hz)", kPerSecond, "") \
  U(source, "") \
  R(compute_units, "compute units", kNone, "") \
  R(matrix_units_per_cu, "matrix units per unit", kNone, "") \
  R(xcds, "dies", kNone, "") \
  O("`derived`") \
  U(name, "docs/formats/counter_formulas.md: of the sums over all executions of an operation") \
  R(quantity, "quantity", kText, "") \
  R(value, "value", kNone, "") \
  U(unit, "") \
  R(formula, "formula", kText, "") \
  U(source, "") \
  R(assumed_zero, "not measured, taken as 0", kText, "") \
  O("`waterfall`") \
  U(phase, \
    "operations with matrix products or attention. An execution is one (GPU, iteration, layer). `dur_ns` is D_act: " \
    "Σ kernel time in the trace") \
  U(op, "") \
  U(op_type, "") \
  R(executions, "executions", kCount, "") \
  R(left_out, "left out", kCount, "executions in which a kernel has no counters") \
  U(kernels, "") \
  U(dur_ns, "") \
  R(flop, "FLOP", kNone, \
    "F_gemm by shapes: 2MNK; attention 4 bhd per pair of query and key, backward 2.5 times") \
  R(flop_counted, "FLOP counted", kNone, "F_perf") \
  R(flop_source, "FLOP from", kText, \
    "`shapes`; `counted` without recorded shapes: D_thr then uses F_perf, and the instruction factor is unknown") \
  R(matrix_busy, "matrix units busy", kNone, "MFMA_util") \
  R(cycles, "cycles", kNone, "C_gpu") \
  R(d_thr_ns, "time at peak", kNanoseconds, \
    "D_thr = F_gemm / TPT_peak (Chopper, Eq. 6)") \
  R(ovr_inst, "x inst", kRatio, "F_perf / F_gemm") \
  R(ovr_util, "x util", kRatio, "1 / MFMA_util") \
  R(ovr_overlap, "x overlap", kRatio, "D_50 % / D_0 %") \
  R(ovr_freq, "x freq", kRatio, "(D_act / D_peak) / Ovr_overlap (to Eq. 10)") \
  R(d_peak_ns, "time with busy units at peak", kNanoseconds, "D_peak = C_gpu / clock") \
  U(rho, \
    "F_perf / (TPT_peak · MFMA_util · D_peak): 1 at full rate, lower for slower types. Above 1.01, peak or counter " \
    "is wrong, and the operation is refused") \
  R(theoretical_ns, "theoretical", kNanoseconds, \
    "bars, with the sum `dur_ns` exactly. First D_thr, then for factor f (for rho 1/rho) ln f / ln(D_act/D_thr) of D_act − " \
    "D_thr. A factor below 1 has a negative bar") \
  R(instruction_ns, "instruction", kNanoseconds, "") \
  R(utilisation_ns, "utilisation", kNanoseconds, "") \
  U(overlap_ns, "") \
  R(frequency_ns, "frequency", kNanoseconds, "") \
  R(residual_ns, "residual", kNanoseconds, "") \
  R(d0_reading, "reading of D_0 %", kText, \
    "`--d0`; no execution had an overlap of 0.05 or below, or none of 0.5 or above") \
  R(overlap_extrapolated, "extrapolated", kNone, "") \
  O("`waterfall_refused`") \
  U(name, "operations without one, and what is missing") \
  U(executions, "") \
  U(left_out, "") \
  U(reason, "") \
  O("`overlap_factors`") \
  U(name, \
    "D_50 % / D_0 % of an operation by three methods; durations are over the shortest of the GPU") \
  U(samples, "executions") \
  R(curve, "curve", kRatio, "isotonic regression on overlap, at 0.5 and 0") \
  R(cumulative, "cumulative", kRatio, "duration at half of the cumulative overlap, over the shortest") \
  R(quantile, "quantile", kRatio, "sorted overlaps against sorted durations") \
  R(pearson, "correlation", kRatio, "correlation of overlap and duration; null if the overlap is constant") \
  R(constant, "overlap constant", kNone, "all overlaps are equal; the factors are then 1") \
  R(extrapolated, "extrapolated", kNone, "")

// Configurations side by side
#define ASSAY_FIGURE_RESULTS(R, U, O) \
  O("`configs` (4, top)") \
  R(config, "config", kText, "what was read; share of device time without an operation") \
  U(ranks, "") \
  R(gpus, "GPUs", kCount, "") \
  U(iterations, "") \
  U(layers, "") \
  R(unattributed_share, "unplaced", kShare, "") \
  U(span_ns, "median over samples of `span_ns`") \
  U(tokens, \
    "medians over iterations. Tokens of `job` or `--tokens`, over the longest `span_ns` of a GPU (the paper's " \
    "duration plus bubbles). Null if unknown") \
  U(tokens_per_s, "") \
  R(tokens_per_s_ratio, "of the first's", kRatio, "") \
  O("`breakdown` (4)") \
  U(config, "") \
  U(phase, "") \
  U(op_type, "") \
  U(all, "") \
  U(samples, "") \
  U(dur_ns, \
    "medians over the samples with the phase or type. The paper counts waits for collectives as launch overhead " \
    "(`--definition chopper`), recomputation as backward") \
  U(launch_ns, "") \
  U(comm_wait_ns, "") \
  R(phase_share, "of the phase", kShare, \
    "`dur_ns` over that of the phase; over the first configuration's; `launch_ns` over " \
    "`dur_ns`") \
  R(dur_ratio, "of the first's", kRatio, "") \
  R(launch_ratio, "to duration", kRatio, "") \
  O("`operations` (5)") \
  U(config, "`op_dur_ns` of a sample, layers together") \
  U(phase, "") \
  U(op, "") \
  U(op_type, "") \
  U(samples, "") \
  R(min_ns, "min", kNanoseconds, "") \
  R(p25_ns, "p25", kNanoseconds, "") \
  R(median_ns, "median", kNanoseconds, "") \
  R(p75_ns, "p75", kNanoseconds, "") \
  R(max_ns, "max", kNanoseconds, "") \
  R(relative, "relative", kShare, \
    "`median_ns` over the largest `max_ns` of the operation in all configurations") \
  O("`communication` (6)") \
  U(config, \
    "Σ duration of the kernels of one kind in a sample. `relative`: over the largest `max_ns` of all kinds and " \
    "configurations. Also quantiles as above") \
  U(collective, "") \
  U(kernels, "") \
  U(samples, "") \
  R(iteration_ns, "iteration", kNanoseconds, "`span_ns` of the configuration") \
  O("`overlap` (7)") \
  U(config, "over all executions") \
  U(phase, "") \
  U(op, "") \
  U(op_type, "") \
  U(executions, "") \
  U(overlap_ratio, "") \
  R(correlation, "correlation", kRatio, \
    "Pearson's, of overlap ratio and `op_dur_ns` over all executions (the paper's are of " \
    "the three iterations shown); null where either is constant") \
  O("`overlap_by_layer` (7, 9)") \
  U(config, \
    "the first three iterations: of each phase the `--top` longest vector operations and matrix products (layers " \
    "first), and the longest attention") \
  U(phase, "") \
  U(op, "") \
  U(op_type, "") \
  U(iter, "") \
  U(layer, "") \
  U(gpus, "") \
  R(overlap_min, "overlap min", kShare, \
    "quantiles over GPUs of an execution's overlap ratio and `op_dur_ns`") \
  R(overlap_p25, "overlap p25", kShare, "") \
  R(overlap_median, "overlap median", kShare, "") \
  R(overlap_p75, "overlap p75", kShare, "") \
  R(overlap_max, "overlap max", kShare, "") \
  R(dur_min_ns, "duration min", kNanoseconds, "") \
  R(dur_p25_ns, "duration p25", kNanoseconds, "") \
  R(dur_median_ns, "duration median", kNanoseconds, "") \
  R(dur_p75_ns, "duration p75", kNanoseconds, "") \
  R(dur_max_ns, "duration max", kNanoseconds, "") \
  O("`overlap_curve` (8)") \
  U(config, \
    "one execution each, by duration. `attn_op` in the forward pass, else the forward matrix product in layers with the " \
    "widest quartiles of its overlap ratio") \
  U(phase, "") \
  U(op, "") \
  U(op_type, "") \
  U(gpu, "") \
  U(iter, "") \
  U(layer, "") \
  U(overlap_ratio, "") \
  U(dur_ns, "") \
  U(relative, \
    "`dur_ns` over the least of its GPU; Σ overlap ratios of its GPU up to here over all; " \
    "null where all are 0") \
  U(cumulative, "") \
  O("`launch` (11)") \
  U(config, "means over executions of Σ `prep_ns` and Σ `call_ns` of its kernels") \
  U(phase, "") \
  U(op, "") \
  U(op_type, "") \
  U(executions, "") \
  U(prep_ns, "") \
  U(call_ns, "") \
  O("`cores` (13)") \
  U(config, \
    "medians over samples of C_active and C_min; physical cores that were active in any, of " \
    "all") \
  U(samples, "") \
  R(active_median, "active, median", kNone, "") \
  R(min_cores_median, "C_min, median", kRatio, "") \
  R(cores_used_share, "physical cores ever active", kShare, "") \
  O("`core_moments`") \
  U(config, \
    "one sample each, since the first device work: Eq. 4 and 5; physical cores with one " \
    "active logical processor, with two or more") \
  R(t_ns, "time", kNanoseconds, "") \
  R(active, "active", kCount, "") \
  R(min_cores, "cores needed", kRatio, "") \
  R(one_sibling, "one sibling", kCount, "") \
  R(siblings, "both", kCount, "") \
  O("`telemetry` (14)") \
  U(config, "of the moments below") \
  R(signal, "signal", kText, "") \
  U(samples, "") \
  U(mean, "") \
  R(min, "least", kNone, "") \
  R(max, "greatest", kNone, "") \
  O("`telemetry_moments`") \
  U(config, "one signal of a log at one moment, over the GPUs read") \
  U(signal, "") \
  U(t_ns, "") \
  U(gpus, "") \
  U(mean, "") \
  U(min, "") \
  U(max, "") \
  O("`waterfall` (15)") \
  U(config, \
    "from `--counters NAME=PATH`: the bars of an operation, with its duration as their sum. Operations with a refused " \
    "waterfall are left out") \
  U(phase, "") \
  U(op, "") \
  U(op_type, "") \
  U(executions, "") \
  R(bar, "bar", kText, "") \
  U(time_ns, "") \
  O("`available`") \
  R(figure, "figure", kText, \
    "how many configurations each figure could be made of, and why not of the others") \
  R(shows, "shows", kText, "") \
  U(configs, "") \
  R(missing, "missing", kText, "") \
  O("`insights`") \
  R(insight, "insight", kNone, \
    "the paper's Insight, as a [rule](#configurations-side-by-side) on these numbers. For one run also " \
    "`breakdown.insights`. Tests: `Insights`") \
  U(figure, "figure of the paper") \
  R(insight_state, "says", kText, "`holds`, `not` (these numbers do not show it) or `unknown`") \
  U(config, "the run of the rule") \
  R(other_config, "against", kText, \
    "with at least a tenth more tokens on as many GPUs, and matrix products at least a tenth longer") \
  R(insight_of, "of", kText, "operation, collective or bar") \
  R(why_not, "why not", kText, "the missing data") \
  R(insight_from, "from", kNone, \
    "in `config`: a time in ns, else a share or number, by rule") \
  R(insight_to, "to", kNone, "as `insight_from`, in `other_config`") \
  U(low, "95 % interval of the difference (rule 3: of the correlation; of the share in 5, of the ratio in 7)") \
  U(high, "") \
  R(insight_n, "n", kCount, "iterations (GPUs in rule 3, samples in 7, operations in 8)") \
  R(other_n, "n, other", kCount, "") \
  R(beside_from, "related, from", kNone, "related numbers") \
  R(beside_to, "related, to", kNone, "") \
  R(insight_beside, "with it", kNone, "")

// Cores, clocks and power during a trace
#define ASSAY_TELEMETRY_RESULTS(R, U, O) \
  O("`cpu`") \
  U(samples, \
    "samples of cores in the trace's span (first start to last end of anything in it); " \
    "their median distance") \
  R(period_ns, "period", kNanoseconds, "") \
  R(logical_cores, "logical cores", kCount, \
    "of the log; null if it lacks the topology") \
  R(physical_cores, "physical cores", kCount, "") \
  R(active_cores_median, "C_active, median", kRatio, \
    "C_active (Eq. 4) of a sample: logical cores with utilisation above 0. The kernel " \
    "counts ticks of 10 ms, so that shorter work may be missed") \
  R(active_cores_min, "C_active, least", kRatio, "") \
  R(active_cores_max, "C_active, greatest", kRatio, "") \
  U(min_cores_median, "C_min (Eq. 5): Σ utilisation / 100") \
  R(min_cores_min, "C_min, least", kRatio, "") \
  R(min_cores_max, "C_min, greatest", kRatio, "") \
  R(utilization_share, "mean utilisation", kShare, "mean over time and logical cores") \
  R(physical_cores_used, "physical cores ever active", kCount, \
    "physical cores with an active logical core in at least one sample; of all") \
  R(physical_cores_used_share, "of all", kShare, "") \
  R(both_siblings_share, "active cores with two siblings active", kShare, \
    "of the active physical cores of all samples, those with two or more active logical " \
    "cores") \
  O("`cpu_cores`") \
  R(package, "package", kNone, \
    "per physical core (Figure 13, bottom): its logical cores, samples with one and with " \
    "more of them active, mean of their summed utilisation") \
  R(core, "core", kNone, "") \
  R(logical, "logical cores", kCount, "") \
  R(one_active, "one active", kCount, "") \
  R(more_active, "two or more", kCount, "") \
  R(busy_cores, "mean busy", kRatio, "") \
  O("`telemetry`") \
  R(level, "level", kText, \
    "`iteration`: the span of a GPU in it. `phase`, `operation`: their consecutive compute kernels, from first " \
    "start to last end, over all iterations") \
  U(gpu, "the device in its trace") \
  U(file, "the trace, if there are several") \
  U(iter, "") \
  U(phase, "") \
  U(op, "") \
  R(intervals, "intervals", kCount, "how many, their union, the longest") \
  U(time_ns, "") \
  U(longest_ns, "") \
  U(signal, "a signal of a GPU or of the machine, listed above") \
  R(how, "how", kText, "above") \
  U(value, "") \
  R(low, "low", kNone, "") \
  R(high, "high", kNone, "") \
  U(samples, \
    "samples inside (means: samples that overlap); share of the time that they represent") \
  R(coverage_share, "coverage", kShare, "") \
  O("`telemetry_files`") \
  U(file, "what its times are, what was added to them") \
  U(format, "") \
  R(clock, "its times", kText, "") \
  U(offset_ns, "") \
  U(rows, "") \
  R(begins_ns, "begins", kNanoseconds, "first and last sample, since the trace began") \
  R(ends_ns, "ends after", kNanoseconds, "") \
  O("`telemetry_lags`") \
  U(gpu, "a GPU with power in a log; its name in the log") \
  U(file, "") \
  U(device, "") \
  R(placed, "placed", kText, \
    "`clear`, `clock_off` or `ambiguous`, see [delay of a log](#delay-of-a-log); else the reason why it is unknown") \
  R(lag_ns, "lag", kNanoseconds, \
    "delay of a sample after the draw, clock and sensor together; its 95 % interval. The joint model is that of [energy of " \
    "a trace](#energy-of-a-trace)") \
  R(delay_low_ns, "from", kNanoseconds, "") \
  R(delay_high_ns, "to", kNanoseconds, "") \
  R(averaged_ns, "averaged", kNanoseconds, "averaging window of a sample; time constant of sensor and device") \
  R(ramp_ns, "ramp", kNanoseconds, "") \
  R(explained, "variance explained", kShare, "share of the variance of the power samples")

// Roofline
#define ASSAY_ROOF_RESULTS(R, U, O) \
  O("`roofline`") \
  R(kernel_ns, "kernel time", kNanoseconds, \
    "compute kernels, summed; = `known_ns` + `unknown_ns` exactly. Tests: `RoofLevels`") \
  R(known_ns, "work known", kNanoseconds, \
    "of kernels with an operator call that has a work model and known shapes, types and values") \
  R(known_share, "work known, share", kShare, "") \
  R(unknown_ns, "work not known", kNanoseconds, "") \
  R(known_replayed_ns, "known in graph replays", kNanoseconds, \
    "of `known_ns`, graph replays joined to their capture (`--capture`), see " \
    "[roofline](#distance-from-the-roofline). Tests: `Replays`, `golden/roof`") \
  R(with_roofline_ns, "with a roofline", kNanoseconds, \
    "of `known_ns`, on devices and in types with a known peak; = `roofline_ns` + `above_ns` − `below_roofline_ns` exactly") \
  R(roofline_ns, "at the roofline", kNanoseconds, \
    "Σ over calls of the longer of FLOP / peak and bytes / bandwidth, at boost clock") \
  R(above_ns, "above roof", kNanoseconds, \
    "Σ over calls of the time above `roofline_ns`") \
  R(below_roofline_ns, "faster than the roofline", kNanoseconds, \
    "Σ over calls of the time below the roofline: data came from a cache, the algorithm needs fewer operations, or " \
    "model or peak are wrong") \
  R(underfilled_ns, "above, in small calls", kNanoseconds, \
    "of `above_ns`, in calls that need less than 1 µs at the roofline: latency, not throughput") \
  R(roofline_share, "of roof", kShare, "`roofline_ns` / `with_roofline_ns`; above 1 if faster than the roofline") \
  R(actual_clock_ns, "with a sampled clock", kNanoseconds, \
    "of `with_roofline_ns`, in calls between two clock samples of their GPU (`--telemetry`)") \
  R(actual_clock_roofline_ns, "at the roofline of that clock", kNanoseconds, \
    "roofline time of the calls in `actual_clock_ns`, with arithmetic peaks at the highest sampled clock around " \
    "the call. Tests: `RoofLevels`") \
  R(actual_clock_roofline_share, "of roofline at that clock", kShare, "`actual_clock_roofline_ns` / `actual_clock_ns`") \
  R(calls_below_roofline, "calls faster than the roofline", kCount, \
    "calls with `below_roofline_ns` above 0; for times in whole microseconds, above 1 µs per kernel") \
  R(calls_cache_explained, "of these by the cache", kCount, \
    "of `calls_below_roofline`, memory-bound, no faster than the last-level cache, and slow enough for the bytes " \
    "that it cannot hold") \
  R(calls_fit_in_cache, "of these with bytes that fit the cache", kCount, \
    "of `calls_below_roofline`, memory-bound with bytes that fit the last-level cache but no faster one, if its " \
    "rate is known (`cache_tb_s`)") \
  R(fits_in_cache_ns, "in these", kNanoseconds, "time of `calls_fit_in_cache`") \
  R(cache_roofline_ns, "at the cache's rate", kNanoseconds, "time of `calls_fit_in_cache` at the cache's rate") \
  R(calls_beyond_cache, "faster than the cache", kCount, \
    "of `calls_fit_in_cache`, calls faster than the cache. Tests: `RoofLevels`") \
  R(nested_calls, "calls less others inside", kCount, \
    "calls left with their work less that of calls inside them, so that nothing counts twice") \
  U(flop, "operations that the shapes ask for, see the table of models") \
  R(moved_bytes, "bytes", kNone, \
    "that an ideal implementation moves: every input once, every result once") \
  R(collectives_ns, "collectives", kNanoseconds, \
    "of collectives, and of those with a known message; of copies and fills, in addition to `kernel_ns`") \
  R(collectives_known_ns, "with a known message", kNanoseconds, "") \
  R(copies_ns, "copies and fills", kNanoseconds, "") \
  O("`roofline.utilisation`, `roofline.iterations`, `roofline.product_phases`") \
  U(mfu, \
    "model FLOP of products, convolutions and attention / (wall time × peak). A causal mask halves its attention") \
  R(mfu_low, "MFU, from", kShare, "products without known work count as nothing; to: they run at the peak") \
  R(mfu_high, "MFU, to", kShare, "") \
  U(hfu, "the same with what is computed again; at least `mfu`") \
  R(mfu_palm, "MFU, all pairs", kShare, \
    "`mfu` with the pairs that a mask leaves out, as 6N + 12LHQT of PaLM counts them: the figure to compare with a training log") \
  R(mfu_by_type, "MFU by type", kShare, "`mfu` with the peak of each product's own type") \
  U(mbu, \
    "least bytes of calls with known work / (wall time × bandwidth). A cache of the GPU can make it larger than what memory moves") \
  R(peak_flop_per_s, "peak", kPerSecond, \
    "dense peak of BF16 at boost clock, of FP8 if more than half of the FLOP is FP8, of FP16 without BF16 units") \
  R(peak_type, "peak of", kText, "its type; its source") \
  R(peak_source, "peak from", kText, "") \
  R(wall_ns, "wall time", kNanoseconds, \
    "over GPUs and ranks, from the first start of a compute kernel to the last end") \
  R(product_flop, "product FLOP", kNone, \
    "of products, convolutions and attention. The rows of `product_phases` add up to it") \
  R(model_flop, "model FLOP", kNone, "of these, without recomputation and the scores that a fused backward of attention repeats") \
  R(unknown_product_ns, "products not known", kNanoseconds, \
    "kernels of these families without known work") \
  U(iter, "") \
  U(gpu, "") \
  U(span_ns, "") \
  O("`roofline.ops`, `roofline.phases`, `roofline.places`") \
  U(phase, \
    "`ops`: operator calls of one name and shape. `phases`: all of one phase. `places`: one layer in one phase. " \
    "Longest `above_ns` first. Also the sums above") \
  U(op, "") \
  R(shape, "shape", kText, "sizes of the first three tensors, type of the first") \
  R(op_kind, "kind", kText, \
    "`gemm`, `conv`, `attention`, `norm`, `softmax`, `elementwise`, `reduction`, `embedding`, " \
    "`move`, `loss`, `optimizer`, `experts`, `generated` (bytes alone)") \
  R(math, "type", kText, \
    "of the operands; `tf32` if the kernel's name shows that FP32 is multiplied as TF32") \
  U(device, "") \
  U(layer, "") \
  U(unknown_ns, "of the layer and phase") \
  R(calls, "calls", kCount, "operator calls; their kernels; Σ of these") \
  U(kernels, "") \
  U(dur_ns, "") \
  U(flop_per_s, "`flop` and `moved_bytes` over `dur_ns`") \
  R(bytes_per_s, "bytes/s", kPerSecond, "") \
  R(reached, "reached", kText, "on screen: the rate of what bounds it, in units of data sheets") \
  R(intensity, "FLOP per byte", kRatio, "`flop` / `moved_bytes`") \
  U(bound, "`compute` or `memory`: which of the two is longer, over most of `roofline_ns`") \
  O("`roofline.unknown`") \
  U(name, "operator, or kernel where none is around its launch; `share` of `kernel_ns`") \
  U(reason, \
    "why the work is unknown, see [unknown work](#unknown-work)") \
  U(kernels, "") \
  U(dur_ns, "") \
  U(share, "") \
  O("`roofline.bounds`") \
  U(op, \
    "calls of one name and shape with only bounds on lengths or types, see [bounds](#bounds-of-unknown-work). Part " \
    "of `unknown_ns`") \
  U(shape, "") \
  U(device, "") \
  U(calls, "") \
  U(kernels, "") \
  U(dur_ns, "") \
  R(roofline_min_ns, "at the roofline, at least", kNanoseconds, \
    "with the least work, and with the most; null where the peaks are not known") \
  R(roofline_max_ns, "at the roofline, at most", kNanoseconds, "") \
  R(roofline_min_share, "of roofline, at least", kShare, "these over `dur_ns` of calls on devices with known peaks") \
  R(roofline_max_share, "of roofline, at most", kShare, "") \
  R(same_kernel_ns, "known from the same kernel", kNanoseconds, \
    "of `dur_ns`, with elements per thread known from launches of the same kernel over recorded sizes") \
  R(limited_ns, "limited by the roofline", kNanoseconds, \
    "of `dur_ns`, with an upper bound from memory and a full last-level cache: the most elements per thread that " \
    "these supply") \
  R(calls_above, "above 100 %", kCount, \
    "calls faster than the roofline with the minimum work; those that a full last-level cache does not explain") \
  R(calls_unexplained, "not explained", kCount, "") \
  O("`roofline.collectives`") \
  U(collective, \
    "of one kind, group size, type and message. With several ranks, the shortest duration of each collective; with one " \
    "rank, the duration including the wait") \
  U(ranks, "") \
  R(dtype, "element type", kText, "") \
  R(message_bytes, "message", kBytes, "the larger of what a rank gives and gets") \
  U(collectives, "") \
  U(dur_ns, "") \
  R(algorithm_bytes_per_s, "algorithm bandwidth", kPerSecond, \
    "message over time") \
  U(bus_bytes_per_s, "message over time, times the factor of the collective, see [bus bandwidth](#bus-bandwidth)") \
  R(algorithm_gb_per_s, "GB/s", kRatio, "") \
  R(bus_gb_per_s, "bus GB/s", kRatio, "") \
  R(link_share, "of link", kShare, \
    "bus bandwidth over what the link allows; null where that is not known") \
  R(link, "link", kText, \
    "the slower of `peers` and, over several machines, `network`, see [bus bandwidth](#bus-bandwidth). Null if no " \
    "rate is known. Tests: `Collectives`") \
  O("`roofline.peaks`") \
  U(device, "figures for the comparison, by attribute of the specifications, in bytes, bytes/s and FLOP/s") \
  U(quantity, "") \
  U(value, "")

// Device memory
#define ASSAY_MEMORY_RESULTS(R, U, O) \
  O("`memory`") \
  R(driver_allocations, "driver allocations", kCount, \
    "calls of all threads that allocate driver memory: `cudaMalloc`, `hipMalloc`, also pinned, managed and virtual") \
  R(driver_frees, "driver releases", kCount, "calls of all threads that free driver memory") \
  R(driver_ns, "in driver memory calls", kNanoseconds, \
    "time in calls that allocate or free driver memory. Tests: `Memory`, `golden/memory`") \
  O("`memory.devices`") \
  U(file, "one device of one trace") \
  U(device, "") \
  R(peak_reserved_bytes, "reserved at most", kBytes, "most that the allocator held; null where not recorded") \
  R(start_bytes, "before", kBytes, \
    "allocated before the first event and after the last, by the recorded totals; null where none were") \
  R(end_bytes, "after", kBytes, "") \
  R(max_growth_bytes, "grew at most", kBytes, \
    "most by which allocations were ahead of releases since the first event") \
  R(peak_phase, "phase of the peak", kText, \
    "where `peak_bytes` was reached first; without totals, `max_growth_bytes`") \
  R(peak_op, "peak in", kText, "") \
  R(ambiguous_events, "operator ambiguous", kCount, \
    "events while several threads were inside operators, and while none was: both without operator") \
  R(outside_events, "outside operators", kCount, "") \
  O("`memory.phases`, `memory.ops`") \
  U(phase, \
    "of the kernels launched below the operator, if any. Null if unknown") \
  U(op, \
    "of the operators around the event, the innermost that launches kernels, in its children too; else the " \
    "innermost") \
  R(allocations, "allocations", kCount, "events of positive and of negative bytes, and their sums; also of `devices`") \
  R(frees, "releases", kCount, "") \
  R(allocated_bytes, "asked for", kBytes, "") \
  R(freed_bytes, "given back", kBytes, "") \
  R(peak_bytes, "allocated at most", kBytes, \
    "most that was allocated on the device right after one of these events; null where totals were not recorded") \
  O("`memory.snapshot`") \
  U(device, "one device of a memory snapshot") \
  R(reserved_bytes, "reserved", kBytes, \
    "taken from the driver at the snapshot: the sum of the next six. Tests: `MemorySnapshot`, `golden/memory_snapshot`") \
  R(in_use_bytes, "allocated", kBytes, "blocks in use, rounded up as the allocator does") \
  R(pending_free_bytes, "waiting to be freed", kBytes, "given back, while a stream may still use them") \
  R(split_bytes, "split off", kBytes, "unused blocks of segments of which something is in use: fragmentation") \
  R(free_segment_bytes, "free segments", kBytes, \
    "segments of which nothing is in use: `torch.cuda.empty_cache()` gives them back") \
  R(unexplained_bytes, "unexplained", kBytes, \
    "segments less their blocks, and blocks in a state that is not known; 0 in a sound file") \
  R(rounding_bytes, "rounding", kBytes, "of `in_use_bytes`, the part above the requested sizes") \
  R(snapshot_segments, "segments", kCount, "segments at the snapshot; blocks in use") \
  R(blocks, "blocks", kCount, "") \
  R(actions, "actions", kCount, \
    "recorded actions of the allocator") \
  R(segment_allocations, "segments taken", kCount, "segments allocated from the driver or mapped") \
  R(segment_frees, "segments given back", kCount, "segments freed or unmapped") \
  R(out_of_memory, "out of memory", kCount, "failed allocations") \
  R(unknown_actions, "unknown actions", kCount, "unknown names") \
  R(inconsistent_blocks, "contradictions of blocks", kCount, \
    "segments that are not the sum of their blocks, and blocks in an unknown state") \
  R(inconsistent_actions, "contradictions of actions", kCount, \
    "releases of free memory, allocations of used memory, blocks that differ from the actions' result. Above 0 of " \
    "any: no peak") \
  R(first_reserved_bytes, "reserved before", kBytes, "reserved before the first action; null where not known") \
  O("`memory.holders`") \
  U(device, "device of the blocks in use at the snapshot; parts of `in_use_bytes`") \
  R(site, "call site", kText, \
    "file, line and function of the innermost frame in Python outside of torch, else in Python, else of all; null where no frames " \
    "were recorded") \
  U(blocks, "") \
  U(in_use_bytes, "")

// Other keys of breakdown
#define ASSAY_BREAKDOWN_OTHER_RESULTS(R, U, O) \
  R(definition, "definition", kText, "`assay` or `chopper`, see above")

#define ASSAY_BREAKDOWN_RESULTS(R, U, O) \
  ASSAY_PLACEMENT_RESULTS(R, U, O) \
  ASSAY_EVIDENCE_RESULTS(R, U, O) \
  ASSAY_LEVEL_SUM_RESULTS(R, U, O) \
  ASSAY_LEVEL_TABLE_RESULTS(R, U, O) \
  ASSAY_RANK_RESULTS(R, U, O) \
  ASSAY_COUNTER_RESULTS(R, U, O) \
  ASSAY_FIGURE_RESULTS(R, U, O) \
  ASSAY_TELEMETRY_RESULTS(R, U, O) \
  ASSAY_ROOF_RESULTS(R, U, O) \
  ASSAY_MEMORY_RESULTS(R, U, O) \
  ASSAY_BREAKDOWN_OTHER_RESULTS(R, U, O)
// clang-format on

namespace assay::keys {
ASSAY_DECLARE_RESULTS(ASSAY_BREAKDOWN_RESULTS)
}  // namespace assay::keys
