#pragma once

// Results of the dependency graph, each declared once.
// R(key, title, unit, meaning) declares a result. U(key, meaning) describes a declared result or a
// table in another place. O(object) begins the keys of an object. An empty meaning repeats that of
// the row above. JSON keys, columns, titles, units and the tables of docs/metrics.md
// (tools/gen_metrics_docs.py) are generated from it.

#include "report/document/results.h"

// clang-format off: tables read best as tables

// Flow: the answer
#define ASSAY_FLOW_ANSWER_RESULTS(R, U, O) \
  R(bottleneck, "bottleneck", kText, "what limits the run, a word of the closed list below") \
  R(device_idle_share, "device idle", kShare, \
    "idle time / the windows of all devices; the windows are the answer's, not IL") \
  O("flow") \
  R(window_ns, "window", kNanoseconds, \
    "from the first call that submits a GPU activity, or an earlier first activity, to the end of the last. Time " \
    "that the recorder left out is not part of it") \
  R(judged_ns, "of it analyzed", kNanoseconds, \
    "of it, the stretch that `bottleneck`, `causes[]` and the actions describe; the whole window if nothing is left " \
    "out") \
  R(unrecorded_ns, "left out by the recorder", kNanoseconds, \
    "between profiler steps with a gap in their numbers, while nothing is recorded") \
  R(devices, "devices", kCount, "devices with a GPU activity") \
  R(largest_loss_share, "leading, of lost time", kShare, \
    "share of the lost time in the largest group; `null` if no time is lost") \
  R(recorded_share, "of it recorded", kShare, "share of the leading idle time that follows from recorded events") \
  R(inferred_share, "of it inferred", kShare, "share of it that is inferred from names or from host time without events") \
  R(no_evidence_share, "of it without evidence", kShare, "share of it that no recorded event explains") \
  R(linked_share, "device time with a launch", kShare, \
    "device time of activities with a launch call in the trace / device time") \
  R(model_error, "model error", kShare, \
    "(time to the end of the last GPU activity in a replay with typical delays in place of unexplained time − " \
    "recorded) / recorded") \
  R(unexplained_path_share, "unexplained, of the critical path", kShare, \
    "time that no edge explains on the critical path to the end of the last GPU activity / that path") \
  R(first_action, "first action", kText, "the first recommended change, a word of the closed list below") \
  R(steady_bottleneck, "cause after the start", kText, \
    "of a run in warm-up: the bottleneck of the rest of the window, if there is enough of it") \
  R(init_iterations, "iterations delayed by initialization", kCount, \
    "of a run in warm-up: iterations that spend a fifth or more on initialization, if these " \
    "continue to the end; else 0")

// Flow: parts of the recording
#define ASSAY_FLOW_STRETCH_RESULTS(R, U, O) \
  R(torn, "torn", kNone, \
    "true if holes take a fifth of the window and there are two or more, or GPU activities in them. Events are then " \
    "missing throughout, and nothing is analyzed") \
  R(window_idle_share, "device idle, whole window", kShare, \
    "`device_idle_share` of all stretches together") \
  O("stretches[]") \
  U(kind, "a word of the closed list below") \
  U(name, "its name in the text: `lead-in`, `39 iterations`, `prefill step`") \
  U(unit, "its unit: `iteration`, `step`, `prefill`, `decode`, `mixed` (steps of an engine); empty if unknown") \
  R(start_ns, "begin", kNanoseconds, "from the start of the window") \
  R(end_ns, "end", kNanoseconds, "from the start of the window") \
  U(ns, "its length without time that the recorder left out; the rows add up to `flow.window_ns`") \
  U(bottleneck, "its bottleneck; `null` where it was not analyzed") \
  U(device_idle_share, "of it") \
  R(whole_iterations, "iterations", kCount, "whole iterations or steps in it") \
  R(headline, "judged", kNone, "true for the stretch that the answer describes") \
  O("stretch_states[]") \
  R(stretch, "part", kCount, "place in `stretches`, from 1") \
  U(cause, "as `causes[].cause`") \
  U(ns, "time in this state, over all devices; over the stretches the sums of the window")
// Flow: the diagnosis
#define ASSAY_FLOW_DIAGNOSIS_RESULTS(R, U, O) \
  O("`diagnosis`") \
  R(relation, "relation", kText, "relation of the two largest gains, a word of the closed list below") \
  R(word, "leads", kText, "the bottleneck, a word of the closed list below; `null` under `no_gpu` and `no_host`") \
  R(narrow, "narrow", kText, "a part of the host that gains half of what the host gains: `input`, `alloc`, `startup`, or `waiting` (for the device); else `null`") \
  R(second, "second", kText, "the next resource by gain, or the one with the largest joint gain if that is three times both gains. `null` with `word`") \
  R(brief, "brief", kNone, "the window is shorter than a millisecond") \
  U(window_ns, "from the start of `flow.window_ns` to the end of the last submitted activity, or of the last page " \
               "read by the host, with unrecorded time") \
  R(no_device_ns, "device idle", kNanoseconds, "time in which the busiest device is idle: the bound of gains of the host") \
  R(together_ns, "both together", kNanoseconds, "saved without both `word` and `second`; not bounded") \
  R(rest_ns, "rest", kNanoseconds, "length without all resources; `rest_ns` and all `share_ns` add up to `window_ns`") \
  R(order_gain_ns, "by waits", kNanoseconds, "saved if the host never waited for the device; activities that it " \
      "launched after a wait still follow the same activity") \
  R(keep_ns, "kept", kNanoseconds, "length of the replay with unexplained delays as recorded: `window_ns`") \
  R(pin_ns, "pinned", kNanoseconds, "length if activities with an unexplained delay start no earlier than recorded") \
  R(drop_ns, "dropped", kNanoseconds, "length without unexplained time") \
  R(same_times, "repeats", kCount, "labelled steps; else runs of the kernels that hold the upper half of device time, the least of them") \
  O("`diagnosis.classes[]`") \
  R(resource, "resource", kText, "a word of the closed list below") \
  U(gain_ns, "saved without the resource; at most `no_device_ns` for the host and `outside`, at most `all_pieces_ns` for others") \
  R(gain_low_ns, "at least", kNanoseconds, "least over the three models of unexplained time") \
  R(gain_high_ns, "at most", kNanoseconds, "most over the three models, within the bounds of `gain_ns`") \
  R(only_ns, "alone", kNanoseconds, "length with this resource alone") \
  R(share_ns, "its share", kNanoseconds, "Shapley value over all orders of the resources, to the nanosecond") \
  R(all_pieces_ns, "all its time", kNanoseconds, "sum over its pieces") \
  R(pieces, "pieces", kCount, "device operations, time between calls, calls") \
  R(half_in, "half in", kCount, "number of the longest that hold half of its time") \
  R(median_piece_ns, "median piece", kNanoseconds, "") \
  R(largest_piece_ns, "largest piece", kNanoseconds, "median and longest of them") \
  O("`diagnosis.host_parts[]`") \
  R(host_part, "part", kText, "`work` with unattributed time, `launch` with launch latency, `alloc`, `input` or `startup`") \
  U(gain_ns, "saved without this part alone; at most `no_device_ns`")

// Flow: the program
#define ASSAY_FLOW_PROGRAM_RESULTS(R, U, O) \
  O("programs[]") \
  R(program, "program", kText, "key of a program of data/tables/programs.tsv, the outermost layer first") \
  U(name, "its name") \
  R(program_layer, "layer", kText, "`engine`, `trainer`, `library`, `parallel` or `framework`") \
  R(names_frames, "frames", kCount, "distinct names that show it: of Python functions") \
  R(names_ops, "operators", kCount, "of operators") \
  R(names_labels, "labels", kCount, "of labels") \
  R(names_kernels, "kernel names", kCount, "of kernels") \
  R(names_threads, "threads", kCount, "of threads")

// Flow: serving
#define ASSAY_FLOW_SERVING_RESULTS(R, U, O) \
  O("serving") \
  R(serving_steps, "steps", kCount, "steps of the engine's loop with GPU activities, in the analyzed stretch") \
  R(prefill_steps, "prefill", kCount, "of them, steps with prompts only") \
  R(decode_steps, "decode", kCount, "of them, steps with decode only") \
  R(mixed_steps, "mixed", kCount, "of them, steps with prompts and decode") \
  R(prompt_tokens, "prompt tokens", kCount, "tokens processed by prefill, according to the labels") \
  R(decode_tokens, "decode tokens", kCount, "tokens of sequences in decode, according to the labels") \
  R(decode_batch, "decode batch", kRatio, "sequences in decode per decode or mixed step") \
  R(steps_span_ns, "in steps", kNanoseconds, "time in which at least one step is between its first and its last GPU " \
      "activity") \
  R(serving_tokens_per_s, "tokens/s", kPerSecond, "(prompt tokens + decode tokens) / `steps_span_ns`; `null` if a label lacks them") \
  R(new_tokens_per_s, "new tokens/s", kPerSecond, "sequences in decode / periods of all steps, without first tokens; a lower bound if " \
      "`speculative`") \
  R(itl_p50_ns, "ITL", kNanoseconds, \
    "inter-token latency: median over decode and mixed steps, from the end of the step with the previous tokens to its " \
    "end. If `speculative`, the time between steps") \
  R(itl_p90_ns, "ITL, p90", kNanoseconds, "90th percentile") \
  R(itl_p99_ns, "ITL, p99", kNanoseconds, "99th percentile") \
  R(speculative, "speculative", kNone, \
    "true if steps check proposed tokens: a step may have several new tokens per sequence") \
  R(itl_at_least, "ITL is a lower bound", kNone, \
    "true if there is only one decode step: `itl_p50_ns` and `tpot_ns` are its span") \
  R(slow_token_cause, "ITL, p99: because of", kText, \
    "what that time has more of than the median one: `prefill_in_step`, `prefill_between`, `host` (no step has work) or " \
    "`long_step`; else `null`") \
  R(slow_token_ns, "ITL, p99: that part", kNanoseconds, "its time") \
  R(slow_token_prompt_tokens, "ITL, p99: prompt tokens", kCount, "of that prefill; 0 if unknown") \
  R(tpot_ns, "TPOT", kNanoseconds, "time per output token: mean of these times") \
  R(ttft_low_ns, "TTFT, at least", kNanoseconds, \
    "median over prefill and mixed steps, from the start of the label to the end of the last activity. Queueing is " \
    "not recorded") \
  R(serving_padding, "padding", kShare, "1 − requested / computed tokens") \
  R(hfu, "HFU", kShare, \
    "hardware FLOP utilization: known FLOP / peak of their type, over `steps_span_ns` and devices; a lower bound if " \
    "`serving_known_share` < 1") \
  R(mfu, "MFU", kShare, "model FLOP utilization: `hfu` without padding; `null` if padding is unknown") \
  R(mbu, "MBU", kShare, \
    "memory bandwidth utilization: minimum bytes of known products, experts and attention / peak bandwidth, over " \
    "`steps_span_ns` and devices") \
  R(serving_known_share, "of it known", kShare, "time of kernels with known FLOP / time of all kernels of the steps") \
  O("serving_steps[]") \
  U(kind, "`prefill`, `decode`, `mixed`, `idle`; `step` if the label lacks it") \
  R(prompts, "prompts", kCount, "sequences in prefill") \
  U(prompt_tokens, "of the step") \
  R(decoding, "decoding", kCount, "sequences in decode") \
  U(decode_tokens, "of the step") \
  R(computed_tokens, "computed", kCount, "tokens with padding") \
  U(start_ns, "start of its label, from the start of the window") \
  R(step_span_ns, "span", kNanoseconds, "from its first to its last GPU activity") \
  R(step_busy_ns, "busy", kNanoseconds, "of it, time in which a device is busy") \
  R(step_launch_ns, "launching", kNanoseconds, "from the start of the label to the end of the last launch call") \
  R(step_period_ns, "period", kNanoseconds, "from the end of the previous step's last activity to " \
      "that of this step; `null` for the first") \
  R(step_token_gap_ns, "token gap", kNanoseconds, "time between tokens that this step ends, as in `itl_p50_ns`; `null` " \
      "if none is known")

// Flow: requests
#define ASSAY_FLOW_REQUESTS_RESULTS(R, U, O) \
  O("request_latency") \
  R(requests_file, "log", kText, "the file of `--requests`") \
  R(requests_format, "format", kText, "`otlp`, `sglang` or `bench`") \
  R(requests_refusal, "not joined since", kText, \
    "`no_steps`, `no_times`, `no_overlap` or `clocks_differ` ([Requests](#requests)); else `null`") \
  R(requests_offset_ns, "offset", kNanoseconds, "added to the times of the log; `null` if it is not joined") \
  R(requests_offset_fitted, "offset is fitted", kNone, "true if first tokens and prefill steps gave it") \
  R(requests_logged, "requests", kCount, "requests of the log that ended without an error") \
  R(requests_failed, "failed", kCount, "requests that ended with an error, left out") \
  R(requests_unread, "unread", kCount, "entries of the log of an unknown form") \
  R(requests_in_trace, "in the trace", kCount, "requests with some time within the recorded steps") \
  R(requests_joined, "joined", kCount, "requests with all of the time up to their first token within them") \
  R(sequences_share, "sequences known", kShare, \
    "of the sequences in decode steps, those for which the log has a request in decode at that time") \
  R(queue_p50_ns, "queue", kNanoseconds, "median time in the engine's queue. This and the following are of the requests in the " \
    "trace, or of the whole log if it is not joined") \
  R(queue_p99_ns, "queue, p99", kNanoseconds, "99th percentile, by rank: the longest of fewer than 100") \
  R(ttft_p50_ns, "TTFT", kNanoseconds, "median time from arrival to the first token") \
  R(ttft_p90_ns, "TTFT, p90", kNanoseconds, "90th percentile") \
  R(ttft_p99_ns, "TTFT, p99", kNanoseconds, "99th percentile") \
  R(ttft_p99_part, "TTFT, p99: most above typical", kText, \
    "the part of the request at the 99th percentile with the largest excess over the median of that part") \
  R(ttft_p99_part_ns, "TTFT, p99: that part", kNanoseconds, "its time in that request") \
  R(e2e_p50_ns, "E2E", kNanoseconds, "median time from arrival to the last token") \
  R(e2e_p90_ns, "E2E, p90", kNanoseconds, "90th percentile") \
  R(e2e_p99_ns, "E2E, p99", kNanoseconds, "99th percentile") \
  R(e2e_p99_part, "E2E, p99: most above typical", kText, "as `ttft_p99_part`, of all parts") \
  R(e2e_p99_part_ns, "E2E, p99: that part", kNanoseconds, "its time in that request") \
  R(token_p50_ns, "ITL", kNanoseconds, \
    "median time between tokens of one request: by the log, else the steps' `step_token_gap_ns`, once per sequence") \
  R(token_p99_ns, "ITL, p99", kNanoseconds, "99th percentile") \
  R(no_request_ns, "no request", kNanoseconds, \
    "time between the recorded steps in which the log has no request in the engine; 0 if `sequences_share` < 90 %") \
  O("requests[]") \
  R(request_id, "request", kText, "as in the log; its place there if it has no names") \
  R(request_arrival_ns, "arrival", kNanoseconds, "from the start of the window; `null` if the log is not joined") \
  U(prompt_tokens, "of the request") \
  R(cached_tokens, "cached", kCount, "prompt tokens found in a prefix cache") \
  R(output_tokens, "output", kCount, "tokens generated") \
  R(preemptions, "preempted", kCount, "times that the request lost its place in the KV cache") \
  R(request_ttft_ns, "TTFT", kNanoseconds, "from arrival to the first token") \
  R(request_e2e_ns, "E2E", kNanoseconds, "from arrival to the last token") \
  R(request_joined, "joined", kText, \
    "`e2e` if all parts are known, `ttft` if those up to the first token are, `null` if some of its time is not recorded") \
  R(queue_inferred, "queue inferred", kNone, "true if the log has no time in the queue. It then ends where the last " \
    "steps with its prompt's tokens begin") \
  R(input_ns, "input", kNanoseconds, "outside the engine's loop: input processing before the queue, and output") \
  R(queue_prefill_ns, "queued for prefill", kNanoseconds, "in the queue while a step with prompts runs") \
  R(queue_decode_ns, "queued for decode", kNanoseconds, "in the queue while another step runs") \
  R(queue_idle_ns, "queued, no step", kNanoseconds, "in the queue while no step runs") \
  R(prefill_ns, "prefill", kNanoseconds, \
    "from scheduling to the first token: its share of the steps with prompts, by its prompt tokens / all their tokens") \
  R(others_ns, "others", kNanoseconds, "the rest of those steps, and steps without prompts") \
  R(request_host_ns, "between steps", kNanoseconds, "until the first token, while no step runs. The parts so far add up to TTFT") \
  R(decode_ns, "decode", kNanoseconds, "after the first token: steps, mixed ones as long as a typical decode step") \
  R(decode_prefill_ns, "prefill of others", kNanoseconds, "after the first token: steps with prompts beyond that") \
  R(decode_host_ns, "between steps, decode", kNanoseconds, \
    "after the first token, while no step runs. All parts add up to E2E")

// Flow: causes
#define ASSAY_FLOW_CAUSE_RESULTS(R, U, O) \
  O("causes[]") \
  R(cause, "cause", kState, "`compute`, `collective`, `copy`, or the cause of idle time; of a job also `comm_wait` (communication before its last rank came) and `transfer`") \
  R(ns, "time", kNanoseconds, "time in this state, over all devices; the rows add up to the windows of all devices") \
  R(window_share, "of window", kShare, "`ns` / the windows of all devices") \
  R(recorded_ns, "recorded", kNanoseconds, "of it, known from recorded events") \
  R(inferred_ns, "inferred", kNanoseconds, "of it, inferred from names or from host time without events") \
  R(no_evidence_ns, "no evidence", kNanoseconds, "of it, no recorded event explains it") \
  R(gap_after_sync_ns, "gap began in a wait", kNanoseconds, \
    "of it, in gaps that started while the host waited for the device with nothing submitted") \
  R(gap_after_host_ns, "gap began with a late host", kNanoseconds, \
    "of it, in gaps that started because the host had not yet submitted anything") \
  O("contributors[]") \
  U(cause, "the cause") \
  U(name, "call, operator, frame or GPU activity that caused it. In brackets: the predecessor of an activity that " \
    "is late only by latency") \
  U(ns, "time that it caused") \
  U(window_share, "`ns` / the windows of all devices") \
  R(slices, "stretches", kCount, "intervals of idle time that it caused") \
  R(longest_slice_ns, "longest", kNanoseconds, "the longest of them") \
  R(within, "within", kText, "operator or frame around the longest") \
  O("`graph_replays`") \
  U(graph_launches, "launches of CUDA or HIP graphs with activities in the trace") \
  R(graph_activities, "work in them", kCount, "kernels, copies and fills of these") \
  R(joined_activities, "with an operator", kCount, \
    "of it, joined to the recorded launch. Their number, the positions of copies and recorded kernel names agree. " \
    "Order: by node id, or by start") \
  R(named_activities, "by name", kCount, \
    "of that, kernels with the name of the recorded launch; the others are joined by order alone") \
  R(ambiguous_activities, "ambiguous", kCount, \
    "of the rest: recordings or positions of different operators fit, or kernels have other names") \
  O("`replayed_ops[]`") \
  U(op, "operator (or frame) around the launch when the graph was recorded") \
  U(within, "outermost operator around it") \
  U(count, "kernels, copies and fills") \
  U(dur_ns, "their durations")

// Why: how idle time began, and the critical path
#define ASSAY_FLOW_PATH_RESULTS(R, U, O) \
  O("rules[]") \
  U(code, "with `--rules`: the finding that the rule makes, in the order in which rules are read") \
  R(rule_role, "role", kText, "its role, as in `findings[].role`") \
  R(condition, "condition", kText, "over named values of the run, as in the source") \
  R(holds, "holds", kNone, "true if the condition holds for this run") \
  O("opened_by[]") \
  U(cause, "cause of idle time") \
  U(ns, "its time; the columns below add up to it") \
  U(gap_after_sync_ns, \
    "of it, in gaps that started while the host waited for the device with nothing submitted") \
  U(gap_after_host_ns, \
    "of it, in gaps that started because the host had not yet submitted anything") \
  R(gap_while_queued_ns, "began with work submitted", kNanoseconds, \
    "of it, in gaps that started although activities had been submitted") \
  R(gap_before_first_ns, "before the first work", kNanoseconds, "of it, before the device's first activity") \
  R(gap_unknown_ns, "unknown", kNanoseconds, \
    "of it, in gaps before activities without a recorded launch call") \
  O("path") \
  R(makespan_ns, "critical path", kNanoseconds, \
    "from the first event to the end of the last GPU activity, or of the last call of a thread that launches") \
  O("path.causes[]") \
  U(cause, "`compute`, `collective`, `copy` or a cause. Also `queue` (until the launch queue has space) and `start` " \
    "(before any known event)") \
  U(ns, "its time on the path; the rows add up to `makespan_ns`") \
  R(path_share, "of path", kShare, "`ns` / the makespan of that path") \
  O("path.parts[]") \
  U(name, "operator, frame, call or GPU activity; for latencies, the two events around it") \
  U(kind, \
    "`work`, `call`, `host`, `latency`, `queue` or `start`. `return`: from the end of the awaited activity to the " \
    "call's. `unseen`: unexplained, above typical") \
  U(cause, "as `path.causes[].cause`") \
  U(ns, "its time on the path; the rows add up to `makespan_ns`") \
  U(path_share, "") \
  U(slices, "intervals of the path") \
  U(longest_slice_ns, "the longest of them") \
  O("path.ops[]") \
  U(name, "outermost operator around the interval, or around the launch of the activity") \
  U(ns, "its time on the path; the rows add up to `makespan_ns`") \
  R(path_device_ns, "device work", kNanoseconds, "of it, GPU activities") \
  R(path_host_ns, "the rest", kNanoseconds, "of it, host time, latencies and waits") \
  O("path.layers[]") \
  U(name, "layer stack and number, as in `breakdown`. Unattributed time between two intervals of one layer belongs " \
    "to it, other time to `between layers`") \
  U(layer, "its number; null outside and between") \
  U(ns, "its time on the path; the rows add up to `makespan_ns`") \
  U(path_share, "") \
  U(path_device_ns, "") \
  U(path_host_ns, "")

// What if
#define ASSAY_FLOW_WHATIF_RESULTS(R, U, O) \
  O("whatif.identity") \
  U(recorded_ns, "time to the end of the last GPU activity, as recorded") \
  U(replayed_ns, \
    "the same in the replay without changes: `recorded_ns`, else `null` and a bug") \
  R(replay_mismatches, "points off their time", kCount, "points of that replay at another time than recorded: 0") \
  U(model_error, "as in `flow`; above 10 % no gain is given") \
  U(unexplained_path_share, "as in `flow`; above 20 % no gain is given") \
  O("whatif.joint") \
  R(per, "per", kText, "scope of the times: `iteration`, or the whole `run`") \
  R(iterations_used, "iterations used", kCount, "number of durations in the medians: iterations after the first") \
  R(before_ns, "before", kNanoseconds, \
    "median over the iterations after the first, between their last activity ends. It is the time from the " \
    "window's start if there are no iterations") \
  R(after_ns, "after", kNanoseconds, "the same in the replay with the changes") \
  U(gain_ns, \
    "median reduction over iterations; `run_gain_ns` for a run without iterations") \
  R(low95_ns, "from", kNanoseconds, \
    "interval of that median: 95 % by order statistics with six iterations or more, else minimum and maximum. See " \
    "[intervals of a gain](#intervals-of-a-gain)") \
  R(high95_ns, "to", kNanoseconds, "") \
  U(gain_untraced_ns, \
    "`gain_ns` without the profiler, by a measured iteration ([Untraced](#untraced)), if all rows cost alike; else `null`") \
  U(gain_untraced_low_ns, \
    "least and most of the intervals of four: all rows cost alike, operators alone, API calls alone, all host time by " \
    "one factor") \
  U(gain_untraced_high_ns, "") \
  R(run_gain_ns, "of the run", kNanoseconds, "reduction of the end of the run's last GPU activity") \
  R(run_low_ns, "of the run, from", kNanoseconds, \
    "range of `run_gain_ns`, see [intervals of a gain](#intervals-of-a-gain). `low95_ns` and `high95_ns` include it") \
  R(run_high_ns, "of the run, to", kNanoseconds, "") \
  R(refused, "no number because", kText, \
    "reason for the missing number, see [refusals](#refusals)") \
  O("whatif.actions[]") \
  U(name, "the change, in the syntax of `--edit`") \
  R(edits, "what it does", kText, "the same in words") \
  U(kind, \
    "`up to` if the removed time costs nothing afterwards; `simulated` if it gets a stated value") \
  U(before_ns, "as `whatif.joint`, for this change alone") \
  U(after_ns, "") \
  U(gain_ns, "") \
  U(low95_ns, "") \
  U(high95_ns, "") \
  U(gain_untraced_ns, "") \
  U(gain_untraced_low_ns, "") \
  U(gain_untraced_high_ns, "") \
  U(run_gain_ns, "reduction of the end of the last GPU activity with this change alone") \
  U(run_low_ns, "") \
  U(run_high_ns, "") \
  R(cumulative_gain_ns, "in this order", kNanoseconds, \
    "of the run, in addition to the rows above; the sum is `whatif.joint.run_gain_ns`. `null` for actions that save " \
    "less than 1 % of the window") \
  U(refused, "") \
  O("whatif.states[]") \
  U(cause, "`compute`, `collective`, `copy`, or the kind of predecessor of the activity that ends an idle gap") \
  R(state_before_ns, "now", kNanoseconds, \
    "time in it between the first and the last activity of each device, as recorded") \
  R(state_before_share, "now, of that", kShare, "") \
  R(state_after_ns, "then", kNanoseconds, "the same in the replay with all changes of the list") \
  R(state_after_share, "then, of that", kShare, "") \
  O("whatif.next[]") \
  U(cause, "a component of the critical path to the last GPU activity, in the window, with all changes") \
  U(ns, "its time on that path") \
  U(path_share, "")

// What if: the run on other GPUs
#define ASSAY_FLOW_ON_RESULTS(R, U, O) \
  O("whatif.on") \
  R(host, "host", kText, \
    "pace of the host: `untraced` (without what a profiler took of each row), `recorded`, `speed` (`--cpu-speed`) or " \
    "`like` (`--like`)") \
  R(host_pace, "host pace", kRatio, "time of the run without kernels on this host / on the recorded one") \
  R(host_pace_low, "host pace, from", kRatio, "its 90 % interval") \
  R(host_pace_high, "host pace, to", kRatio, "") \
  R(host_like, "host of", kText, "with `--like`: the recording that shows the host") \
  R(host_like_ratio, "time over this host's", kRatio, \
    "self time of operators and launch calls there / in this trace. It is the median over names that both have as often per " \
    "iteration, weighted by time") \
  R(host_like_ratio_low, "from", kRatio, "its interval: eight tenths of the names by time, at least ± 10 %") \
  R(host_like_ratio_high, "to", kRatio, "") \
  U(recorded_ns, "from the begin of the window to the end of the last GPU activity, as recorded") \
  R(run_ns, "run", kNanoseconds, \
    "replayed with this host on the recorded GPU; of a row, on that GPU. `null` where no time is given") \
  R(bound_gain, "at most", kRatio, "gain with kernels and collectives that take no time: no GPU gives more") \
  R(bound_gain_low, "at most, from", kRatio, "at both ends of `host_pace`") \
  R(bound_gain_high, "at most, to", kRatio, "") \
  R(knee, "knee", kRatio, \
    "factor of the kernels' time. Below it, less than half of a further gain reaches the run. 0 = the GPU binds at all") \
  R(slack_5_percent, "slack of 5 %", kRatio, \
    "factor of the kernels' time at which the run takes 5 % longer; 0 = above 64") \
  U(known_share, "share of the kernel time with known work on both GPUs; the most of all rows") \
  R(unlinked_share, "without a launch", kShare, "share of the GPU time without a launch call in the trace") \
  U(reserved_bytes, "memory that the run reserves at most; `null` where it was not recorded") \
  U(refused, "") \
  O("whatif.on.gpus[]") \
  U(gpu, "the card, as the specifications name it") \
  R(change, "change", kText, \
    "difference to the recorded GPU: `none`, `die`, `generation`, `segment` or `maker`") \
  U(kernels, \
    "factor of the kernels' and collectives' summed time; `null` where less than half of the work is known") \
  R(kernels_low, "from", kRatio, "its 90 % interval") \
  R(kernels_high, "to", kRatio, "") \
  U(run_ns, "") \
  U(run_low_ns, "the ends of its interval, of kernels and host together") \
  U(run_high_ns, "") \
  R(gain, "gain", kRatio, "`whatif.on.run_ns` / `run_ns`, with the same host") \
  R(gain_low, "from", kRatio, "its interval; both runs have the same host") \
  R(gain_high, "to", kRatio, "") \
  R(binds, "binds", kText, "`host` where the kernels' factor is below `knee`, else `GPU`") \
  R(binds_sure, "sure", kNone, "false where an end of the intervals lies on the other side of the knee") \
  R(fits_memory, "fits", kNone, "whether `reserved_bytes` fit the card; `null` where memory was not recorded") \
  R(no_unit_for, "no units for", kText, "types that run in the next wider type there") \
  R(lacks, "lacks", kText, "attributes that the specifications lack: no time is given") \
  U(known_share, "share of the kernel time with known work on both GPUs") \
  O("whatif.on.costs[]") \
  U(gpu, "with `--prices`: the recorded GPU, then each GPU of `--on` that has a time; its name as the prices or `--on` have it") \
  R(recorded_gpu, "recorded", kNone, "whether it is the recorded GPU") \
  R(usd_per_gpu_hour, "$/h", kRatio, "price of one GPU for an hour, from the file") \
  R(usd_for_hour, "same work ($)", kRatio, \
    "what the work of an hour on one recorded GPU costs: `usd_per_gpu_hour` / `gain`. `null` where `gain` is") \
  R(usd_for_hour_low, "from", kRatio, "its 90 % interval") \
  R(usd_for_hour_high, "to", kRatio, "") \
  R(usd, "run ($)", kRatio, "`run_ns` · GPUs of the trace · `usd_per_gpu_hour`") \
  R(usd_low, "run, from ($)", kRatio, "at the ends of `run_ns`") \
  R(usd_high, "run, to ($)", kRatio, "") \
  U(usd_per_mtok, \
    "`usd` per million output tokens, half of the prompts with one. `null` if labels of steps do not count them, or GPUs of " \
    "the job are not in the trace") \
  R(usd_per_mtok_low, "from ($/Mtok)", kRatio, "`usd_low`, with a token for every prompt") \
  R(usd_per_mtok_high, "to ($/Mtok)", kRatio, "`usd_high`, without a token for any prompt") \
  R(watts_at_most, "power", kWatts, "of one GPU: `watts` of the file, else board power of the specifications") \
  R(joule_at_most, "energy, at most", kJoules, \
    "upper bound, not an estimate: `run_high_ns` · GPUs of the trace · `watts_at_most`. Host, network and cooling come on top") \
  O("whatif.on.families[]") \
  U(gpu, "as above") \
  U(family, \
    "kernels with a common error: a kind of `roofline.ops`, or `stream`, `small`, `collective`, `unknown`") \
  R(was_ns, "recorded", kNanoseconds, "summed time") \
  U(ns, "the same on that GPU") \
  R(low_ns, "from", kNanoseconds, "its 90 % interval; of `unknown`, its ends") \
  R(high_ns, "to", kNanoseconds, "") \
  R(ramp_share, "latency", kShare, "share of the rule's time on the recorded GPU: the fixed part of a kernel") \
  R(compute_part, "compute", kShare, "the same of arithmetic") \
  R(memory_part, "memory", kShare, "the same of memory")

// What if: a prediction and the measured result
#define ASSAY_FLOW_SCORE_RESULTS(R, U, O) \
  O("score") \
  R(tool_version, "predicted by", kText, "version of Assay that wrote the prediction") \
  U(edits, "the changes, in the syntax of `--edit`") \
  U(kind, "`up to` if one of them removes time at no cost, else `simulated`") \
  U(per, "") \
  U(before_ns, "as in the prediction") \
  U(after_ns, "") \
  R(after_measured_ns, "measured", kNanoseconds, "the same in this recording") \
  R(error_share, "error", kShare, "(`after_ns` − `after_measured_ns`) / `after_measured_ns`") \
  U(gain_ns, "as in the prediction") \
  U(low95_ns, "") \
  U(high95_ns, "") \
  R(gain_measured_ns, "less by, measured", kNanoseconds, "`before_ns` − `after_measured_ns`") \
  R(exceeded, "more than the bound", kNone, \
    "for `up to`: whether the measured gain is larger than `gain_ns`; else `null`") \
  R(in_interval, "inside the interval", kNone, \
    "whether the measured gain lies within `low95_ns` and `high95_ns`; `null` without an interval") \
  O("score, of a prediction with `--on`") \
  U(gpu, "the GPU of this recording, one of those predicted") \
  U(host, "`recorded` with `--as-recorded`, else `untraced`: of the prediction and of this recording") \
  U(run_ns, "as in the prediction; `null` if it has only an interval") \
  U(run_low_ns, "its 90 % interval") \
  U(run_high_ns, "") \
  U(after_measured_ns, "the run here, as `whatif.on.recorded_ns`; without the profiler's overhead as `whatif.on.run_ns`") \
  R(after_measured_low_ns, "measured, from", kNanoseconds, \
    "what the profiler took is known as an interval only. The same as above with `--as-recorded`") \
  R(after_measured_high_ns, "measured, to", kNanoseconds, "") \
  U(error_share, "(`run_ns` − `after_measured_ns`) / `after_measured_ns`") \
  U(in_interval, "whether the measured interval lies in the predicted one; `null` if only a part of it does")

// Flow: which ranks of a job the others wait for
#define ASSAY_FLOW_BLAME_RESULTS(R, U, O) \
  O("blame") \
  U(makespan_ns, \
    "over all ranks: from the first start of a rank to the last end, with aligned clocks") \
  R(jitter_gain_ns, "saved at the medians", kNanoseconds, \
    "with all local compute at the median of the ranks that do the same: the cost of delays that affect changing " \
    "ranks") \
  R(transfer_gain_ns, "saved without transfers", kNanoseconds, \
    "with transfers of zero length once all ranks have arrived; transfers stay if ranks outside the set may delay " \
    "them") \
  R(host_gain_ns, "of it hosts", kNanoseconds, "of the stragglers: with host time alone at the peers' median") \
  R(device_gain_ns, "of it devices", kNanoseconds, "the same with GPU activities alone") \
  R(pauses, "stalls of hosts", kCount, \
    "intervals of host time of the stragglers that took at least 0.3 ms longer than their peers' median") \
  R(stalls_ns, "in pauses", kNanoseconds, "their time above the median") \
  R(other_stalls, "pauses elsewhere", kCount, "the same for all other ranks; for all ranks if there is no straggler") \
  R(other_stalls_ns, "in these", kNanoseconds, "") \
  U(replay_mismatches, \
    "points at another time in a replay without changes: 0, else a bug") \
  R(contradicting, "not joined", kCount, \
    "collectives with a recorded order that contradicts that of others: ranks continue without each other") \
  O("blame.sets[]") \
  U(ranks, "ranks of the set; the first row is the straggler, if there is one") \
  U(name, "node or process group that these ranks are") \
  U(gain_ns, \
    "run of all ranks − the same with the local compute of these ranks at the median of their peers outside the " \
    "set") \
  R(run_share, "of the run", kShare, "`gain_ns` / `makespan_ns`; the gain of a part over all of it") \
  U(cause, "of the stragglers: the largest time above their peers' median, a cause or `compute`, `copy`") \
  O("blame.parts[]") \
  U(cause, "of a name in the stragglers' local compute") \
  U(name, "operator, call, frame or kernel; empty if unnamed") \
  U(gain_ns, "with this alone at the peers' median") \
  R(excess_ns, "beyond peers", kNanoseconds, \
    "local compute time above the peers' median. For a rank: the reduction of its end at its peers' median without " \
    "waits, minus the median reduction of its peers") \
  U(count, "intervals of local compute with this name") \
  O("blame.ranks[]") \
  U(rank, "as recorded in its trace, else its position") \
  R(peers, "peers", kCount, "other ranks that do the same work") \
  R(compute_ns, "computes", kNanoseconds, "a kernel other than communication runs") \
  U(comm_wait_ns, "only communication runs, and its last rank has not arrived") \
  R(transfer_ns, "transfer", kNanoseconds, \
    "only communication runs, and all ranks have arrived; of a group: median from the last arrival to the end") \
  R(unmatched_comm_ns, "not matched", kNanoseconds, "only communication runs, and it is not matched over ranks, or " \
      "some of its ranks have no trace") \
  R(idle_ns, "idle", kNanoseconds, "nothing runs") \
  O("blame.links[]") \
  R(process_group, "process group", kText, "as recorded") \
  U(collective, "its kind") \
  R(members, "ranks", kCount, "ranks of the group") \
  R(meetings, "times", kCount, "collectives of this group and size (within a factor of two)") \
  R(bytes, "bytes", kBytes, "of the larger side, median") \
  U(transfer_ns, "") \
  R(bus_bytes_per_s, "bus bandwidth", kPerSecond, \
    "bytes × [factor](#bus-bandwidth) over the transfer. `null` for an all-to-all with ranks that send or receive " \
    "different amounts") \
  R(peers_transfer_ns, "of other groups", kNanoseconds, \
    "median of other groups of this kind, size and number of ranks; `null` without such a group") \
  U(gain_ns, "with its transfers at that median, if they take more than 1.5 times as long")

// Untraced
#define ASSAY_FLOW_UNTRACED_RESULTS(R, U, O)                                                       \
  O("untraced")                                                                                    \
  R(untraced_source, "known by", kText,                                                            \
    "`anchor` (a measured iteration), `estimate` (the recording alone), `refused` or `none`")      \
  R(untraced_refusal, "refused since", kText,                                                      \
    "`no_pairs`, `frames`, `slower`, `other_work` or `out_of_order` ([Untraced](#untraced)); "     \
    "else `null`")                                                                                 \
  R(untraced_from, "measured by", kText, "file or option of the measured iteration")               \
  R(untraced_iteration_ns, "iteration without the profiler", kNanoseconds,                         \
    "measured or estimated; else `null`, as its ends and the cost")                                \
  R(untraced_low_ns, "without it, from", kNanoseconds,                                             \
    "ends: of several measurements, or 90 % of an estimate")                                       \
  R(untraced_high_ns, "without it, to", kNanoseconds, "")                                          \
  R(recorded_iteration_ns, "iteration, recorded", kNanoseconds,                                    \
    "median iteration of the recording")                                                           \
  R(row_cost_ns, "cost of a row", kNanoseconds,                                                    \
    "time that recording takes of the host for a row, with its two borders")                       \
  R(row_cost_low_ns, "cost of a row, from", kNanoseconds, "")                                      \
  R(row_cost_high_ns, "cost of a row, to", kNanoseconds, "")                                       \
  R(witness_ns, "operator to child", kNanoseconds,                                                 \
    "lower quartile of the time from an operator's start to its first child's start; `null` for "  \
    "fewer than 20")                                                                               \
  R(rows_per_iteration, "rows per iteration", kRatio,                                              \
    "operators, ranges, frames and API calls of threads that launch work")                         \
  R(untraced_bottleneck, "bottleneck without the profiler", kText,                                 \
    "another one than the recorded one: found by a measured iteration, possible by an estimate; "  \
    "else `null`")                                                                                 \
  R(untraced_headline, "headline without the profiler", kText, "by a measured iteration")          \
  O("untraced.causes[]")                                                                           \
  U(cause,                                                                                         \
    "as `causes[]`, of `why` with a measured iteration: the same of the run without its profiler") \
  U(ns, "")                                                                                        \
  U(window_share, "")                                                                              \
  U(recorded_ns, "")                                                                               \
  U(inferred_ns, "")                                                                               \
  U(no_evidence_ns, "")                                                                            \
  U(gap_after_sync_ns, "")                                                                         \
  U(gap_after_host_ns, "")                                                                         \
  O("untraced.actions[]")                                                                          \
  U(edit, "the change")                                                                            \
  U(gain_ns, "in the recording")                                                                   \
  R(gain_untraced_ns, "without the profiler", kNanoseconds,                                        \
    "gain of the run without its profiler: by a replay of the retimed trace, or the recorded "     \
    "share of an estimate")                                                                        \
  R(gain_untraced_low_ns, "at least, without the profiler", kNanoseconds,                          \
    "at the ends of the iteration")                                                                \
  R(gain_untraced_high_ns, "at most, without the profiler", kNanoseconds, "")

#define ASSAY_FLOW_RESULTS(R, U, O) \
  ASSAY_FLOW_ANSWER_RESULTS(R, U, O) \
  ASSAY_FLOW_STRETCH_RESULTS(R, U, O) \
  ASSAY_FLOW_DIAGNOSIS_RESULTS(R, U, O) \
  ASSAY_FLOW_PROGRAM_RESULTS(R, U, O) \
  ASSAY_FLOW_SERVING_RESULTS(R, U, O) \
  ASSAY_FLOW_REQUESTS_RESULTS(R, U, O) \
  ASSAY_FLOW_CAUSE_RESULTS(R, U, O) \
  ASSAY_FLOW_PATH_RESULTS(R, U, O) \
  ASSAY_FLOW_WHATIF_RESULTS(R, U, O) \
  ASSAY_FLOW_ON_RESULTS(R, U, O) \
  ASSAY_FLOW_SCORE_RESULTS(R, U, O) \
  ASSAY_FLOW_BLAME_RESULTS(R, U, O) \
  ASSAY_FLOW_UNTRACED_RESULTS(R, U, O)
// clang-format on

namespace assay::keys {
ASSAY_DECLARE_RESULTS(ASSAY_FLOW_RESULTS)
}  // namespace assay::keys
