#pragma once

// Results of throughput, each declared once. R(key, title, unit, meaning) declares a result. U(key,
// meaning) describes a declared result or a table in another place. O(object) begins the keys of an
// object. An empty meaning repeats that of the row above. JSON keys, columns, titles, units and the
// tables of docs/metrics.md (tools/gen_metrics_docs.py) are generated from it.

#include "report/document/results.h"

// clang-format off: tables read best as tables

// Fit, predict, suggest
#define ASSAY_THROUGHPUT_MODEL_RESULTS(R, U, O) \
  R(method, "method", kText, "`assay`, `ala`, or the methods that were evaluated") \
  U(format, "what the table was read as") \
  U(rows, "usable rows, configurations, groups") \
  U(configs, "") \
  U(groups, "") \
  U(dropped, \
    "rows dropped by reason; every kind of irregularity of rows, its line and its treatment") \
  U(oddities, "") \
  U(code, "") \
  R(merged, "merged", kCount, "") \
  R(first_line, "first line", kNone, "") \
  R(weight, "weight", kText, "") \
  U(effect, "") \
  R(infeasible, "infeasible rows", kCount, \
    "rows faster than reading the active weights once per output token: not in training data, `fits` or errors. " \
    "Needs specifications of model and hardware") \
  R(fitted_rows, "rows fitted", kCount, "rows that the process learnt from") \
  R(rows_with_specs, "rows with facts", kCount, \
    "of those, with specifications of model and hardware; names without") \
  R(unknown_names, "no specifications of", kText, "") \
  U(fits, "per group of the table the curve of ALA's Algorithm 2, see [ALA](#ala)") \
  U(left_out, \
    "per hardware and framework (`group`): `rows`, `median_ape` and `p90_ape` with one group at a time held out. " \
    "Of rows with specifications, if any; else of all") \
  R(confidence, "confidence", kRatio, \
    "rows of `left_out` in five equal parts by half-width, with their group held out: `rows`, median " \
    "`half_width90`, `median_ape`, `coverage90`") \
  U(scales, \
    "per `process` and `question`: `scale`, the number of standard deviations in a 90 % interval, see [scale of " \
    "intervals](#scale-of-intervals)") \
  R(fit_weight, "own fit", kShare, \
    "Σp² / (Σp² + Σf²); p and f are errors in logarithms of process and latency fit. Null for other questions and " \
    "below nine such rows") \
  R(blended_scale, "with it", kRatio, "the scale as above when both answer together") \
  U(pair_scales, \
    "per `process`, `question` and `group` (hardware|framework): the `scale` of its rows, see [scale of " \
    "intervals](#scale-of-intervals)") \
  U(predictions, "one element per point, in the order asked") \
  U(at, "the point: `hw`, `n`, `fw`, `model`, `variant`, `ii`, `oo`, `bb`") \
  U(tokens_per_s, \
    "input and output tokens per second: exp of the process's mean, times the base; beyond " \
    "a configuration's rows with its own fit, see above") \
  R(low90, "from", kCount, \
    "`tokens_per_s` · exp(∓ (scale · sd + assumed)), assumed being 0 but for what " \
    "`interval` names; the interval always holds the point") \
  R(high90, "to", kCount, "") \
  R(interval, "interval", kText, \
    "`measured` if held-out rows show that the interval contains 90 %, else `assumed`, see [assumed " \
    "intervals](#assumed-intervals)") \
  R(half_width90, "±", kShare, "`high90` / `tokens_per_s` − 1") \
  R(tokens_per_s_per_gpu, "tokens/s/GPU", kCount, "`tokens_per_s` / `n`") \
  R(latency_ms, "latency, ms", kCount, "(ii + oo) · sequences / `tokens_per_s`") \
  R(question, "question", kText, \
    "what is new about the point, see [question of a point](#question-of-a-point). It selects the scale") \
  R(status, "status", kText, \
    "`inside`, `wide`, `outside` or `no answer`, see [status of a point](#status-of-a-point)") \
  R(reasons, "reasons", kText, "why it is outside") \
  U(basis, \
    "`gp on physics`; `gp without physics` if specifications are missing. The suffix ` and latency fit` if " \
    "`fit_weight` is above 0") \
  U(fit_weight, "w above: 0 within the configuration's rows") \
  R(nearest, "nearest", kText, \
    "the nearest measured rows: most in common first, then least absolute log₂ of the " \
    "ratios of batch, devices and lengths, summed") \
  U(curves, \
    "with `--curves`: throughput over batch per configuration and lengths, with " \
    "`measured_tokens_per_s` where there is a row") \
  U(widest, \
    "prediction of the `point` with the widest interval: of those requested, else of all without a row (a " \
    "configuration's lengths, its framework's batch sizes)") \
  U(suggestions, \
    "measurements that narrow it most: `interval_reduction_share` is 1 − sd after / sd now. `next_low90`, " \
    "`next_high90` assume the same estimate") \
  R(goal, "goal", kText, \
    "the requested goal, with `confidence` 0.95. `goal_points` are listed best first, see [points for a " \
    "goal](#points-for-a-goal)") \
  U(goal_points, \
    "the points against the goal; throughput that is exceeded, latency that is kept, with " \
    "95 % confidence") \
  U(low95, "") \
  R(latency_high95_ms, "latency at most, ms", kCount, "")

// Other keys of throughput
#define ASSAY_THROUGHPUT_OTHER_RESULTS(R, U, O) \
  O("a point (`at`)") \
  R(hw, "hardware", kText, "hardware") \
  R(fw, "framework", kText, "framework") \
  R(model, "model", kText, "model") \
  R(variant, "variant", kText, "other differences between configurations: precision, parallelism") \
  R(ii, "in", kNone, "tokens of the prompt") \
  R(oo, "out", kNone, "tokens generated") \
  R(bb, "batch", kNone, "batch size") \
  O("predictions and suggestions") \
  R(measured, "measured", kNone, "whether the scale was measured on these rows, not assumed") \
  R(measured_tokens_per_s, "measured", kCount, \
    "the row of the table at this point, where there is one") \
  R(interval_reduction_share, "narrower by", kShare, "how much narrower the widest interval becomes") \
  R(next_low90, "then from", kCount, "the interval after the measurement") \
  R(next_high90, "then to", kCount, "") \
  R(point, "widest interval", kText, "the point with the widest interval") \
  R(compared, "points compared", kCount, "points among which it is the widest") \
  O("a fit") \
  R(group, "group", kText, "hardware and framework, or a configuration with its lengths") \
  R(process, "process", kText, "which Gaussian process: with physics or without") \
  R(scale, "times sd", kRatio, "standard deviations that a 90 % interval takes") \
  R(residuals, "left out", kCount, "number of errors in `scale`") \
  R(points, "points", kCount, "batch sizes in a curve") \
  U(a, "of the saturation curve, see [ALA](#ala)") \
  U(b, "") \
  R(c, "C", kNone, "") \
  R(fitted_groups, "groups fitted", kCount, "groups with a curve") \
  R(fit_median_ape, "error on their own points, median of configurations", kShare, \
    "over configurations, of the median over their groups") \
  R(fit_p90_ape, "error on their own points, 90th percentile", kShare, "") \
  O("the table") \
  R(file_rows, "rows in the file", kCount, "each is used, dropped or merged with a repeat") \
  O("errors of held-out rows") \
  R(split, "split", kText, "the split, see above") \
  R(fold, "fold", kText, "one training and one test set of a split") \
  R(folds, "folds", kCount, "folds that were run") \
  R(train_rows, "training rows", kCount, "rows learnt from") \
  R(test_rows, "test rows", kCount, "test rows") \
  R(train_configs, "training configurations", kCount, "configurations among the training rows") \
  R(unanswered, "no answer", kCount, "rows that the method has no answer for") \
  R(impossible, "impossible", kCount, "answers that cannot be: not above 0, or not finite") \
  R(outside, "outside", kCount, "answers outside the range of the data") \
  R(p10_ape, "p10", kShare, "quantiles of the absolute percentage error") \
  R(p25_ape, "p25", kShare, "") \
  R(median_ape, "median", kShare, "") \
  R(p75_ape, "p75", kShare, "") \
  R(p90_ape, "p90", kShare, "") \
  R(mean_ape, "mean", kShare, "mean of the absolute percentage error") \
  R(min_ape, "least", kShare, "least and greatest error over the subsets of a run") \
  R(max_ape, "greatest", kShare, "") \
  R(coverage90, "in the interval", kShare, "share of rows inside their 90 % interval") \
  R(unit_kind, "unit", kText, "`pair` (hardware and framework), `campaign` or `configuration`") \
  R(reference_median_ape, "prototype, median", kShare, "what a prototype found, see above") \
  R(reference_p90_ape, "prototype, p90", kShare, "") \
  R(error, "error %", kText, "median / 90th percentile, for readers") \
  R(reference, "prototype %", kText, "the same of the prototype, for readers") \
  R(ape, "error", kShare, "absolute percentage error") \
  R(rows_share, "share of rows", kShare, "share of the answered rows that do not exceed `ape`") \
  R(training, "training", kText, "the training set in words") \
  R(paper_median_ape, "paper, median", kShare, "what the paper prints, from data of its own") \
  R(interrupted, "interrupted", kNone, "Ctrl-C came: what was not run is missing") \
  O("errors of held-out latencies (`latency_errors`, `limits`)") \
  R(latency, "latency", kText, "`TTFT`, `TPOT` or `end to end`, means over a run's requests") \
  R(campaigns, "campaigns", kCount, "benchmark runs of the rows") \
  R(baseline_median_ape, "physics, median", kShare, \
    "the same error for the analytical model times one factor per engine and GPU; for `question` `nearest GPU` see " \
    "[latency model](#latency-model)") \
  R(baseline_p90_ape, "physics, p90", kShare, "") \
  R(baseline, "physics %", kText, "the same in one cell, for readers") \
  R(narrow_interval_rows, "of rows", kCount, "rows with an interval not wider than ± 100 %") \
  R(narrow_interval_runs, "their campaigns", kCount, "benchmark runs of those") \
  R(narrow_interval_coverage90, "± under 100 %: in it", kShare, "share of those inside their interval") \
  R(worst_unit, "worst unit", kText, \
    "GPU, engine and model with the lowest coverage, among those with at least 15 rows") \
  R(worst_rows, "its rows", kCount, "") \
  R(worst_coverage90, "of it in the interval", kShare, "") \
  R(units, "units", kCount, "units with at least 15 rows") \
  R(units_below, "units under 80 %", kCount, "of those, held less often than 80 %") \
  U(judged, "with `--judge`: each row of the other table, by `latency`: what was measured, what was predicted") \
  R(campaign, "campaign", kText, "engine, version, and day or file") \
  R(measured_ms, "measured, ms", kRatio, "milliseconds, as the table has it") \
  R(told_ms, "predicted, ms", kRatio, "the estimate; `low90` and `high90` are in milliseconds, too") \
  R(told_from, "predicted from", kShare, "bounds of the predicted probability") \
  R(told_to, "to", kShare, "") \
  R(asked, "asked", kCount, "rows times six pairs of limits") \
  R(told, "predicted", kShare, "mean of the predictions") \
  R(met, "met", kShare, "share that kept both limits") \
  R(brier, "Brier score", kRatio, "mean squared difference of predicted and met") \
  R(brier_constant, "Brier score of a constant", kRatio, \
    "of a constant prediction of the share that was met") \
  O("a plan (`plans`, `pareto`, `refused`)") \
  R(rate_per_s, "requests/s", kRatio, "requests that arrive per second") \
  R(ttft_limit_ms, "TTFT at most, ms", kNone, "requested limits") \
  R(tpot_limit_ms, "TPOT at most, ms", kNone, "") \
  R(percentile, "share that keeps them", kShare, \
    "share of requests (TTFT) and of tokens (TPOT) that must keep the limits") \
  R(arrival_variation, "variation of arrivals", kRatio, \
    "squared coefficient of variation of the gaps between requests: 1 for Poisson") \
  R(most_load, "load at most", kShare, \
    "maximum planned load of a replica over its capacity: 0.85 for Poisson arrivals, less by 0.15 per unit of " \
    "`arrival_variation`") \
  R(builds, "builds", kCount, "engine builds among the rows") \
  R(miss_correlation, "correlation of misses", kRatio, \
    "of the errors of TTFT and TPOT, with benchmark runs held out") \
  R(grade, "grade", kText, \
    "`sure`: probability of at least the requested confidence. `likely`: at least 0.5, and better than the first sure plan. " \
    "Best per GPU, engine and precision") \
  R(probability, "probability", kShare, \
    "that both limits are met: share of 13 × 13 draws of the errors of TTFT and TPOT for which this number of " \
    "replicas is enough") \
  R(replicas, "replicas", kCount, "copies of the model, each on `n` GPUs") \
  R(plan_gpus, "GPUs", kCount, "`replicas` · `n`") \
  R(usd_per_hour, "$/h", kRatio, "of all GPUs, by the price list") \
  R(ttft_percentile_ms, "TTFT", kNone, \
    "at that percentile and rate, by the estimate; the spread is the queue's alone") \
  R(tpot_percentile_ms, "TPOT", kNone, "") \
  R(in_flight, "in flight", kRatio, "requests inside one replica, on average; of `pareto` always") \
  R(seats, "seats", kCount, \
    "requests that fit the memory with the weights, at most 256 and at most the largest in the rows") \
  R(load, "load", kShare, "requests per second of a replica over the most that it can finish") \
  R(tokens_per_usd, "tokens/$", kCount, "output tokens") \
  R(joules_per_token, "J/token", kRatio, \
    "all GPUs at the price list's `watts`, else at board power, over output tokens: an upper " \
    "bound") \
  R(tokens_per_s_per_user, "tokens/s/user", kRatio, "1000 / TPOT in ms") \
  R(usd_per_mtok, "$/Mtok", kRatio, "dollars per million output tokens") \
  R(kernel_parameter, "parameter", kRatio, \
    "of the latencies' kernel (`kernel`, by `latency` and `name`), see [latency model](#latency-model)") \
  R(sibling, "sibling", kText, \
    "nearest GPU with rows of the same vendor, for a GPU without rows under the engine (`question` `hardware`, " \
    "never `sure`); else empty") \
  R(by_sheet, "by the data sheet", kText, \
    "for a GPU without rows under the engine: the sibling's share of TTFT and TPOT at the median, and the GPU of " \
    "the data-sheet bound") \
  R(plan_words, "plan", kText, "replicas × GPUs of each, engine, precision, layout; for readers") \
  R(usd_text, "$/h", kText, "`usd_per_hour`, for readers") \
  R(confidence_text, "sure", kText, "`probability`, for readers") \
  R(new_values, "new is the", kText, "`question`, for readers") \
  R(ttft_text, "TTFT ms", kNone, "`ttft_percentile_ms`, for readers") \
  R(tpot_text, "TPOT ms", kText, "`tpot_percentile_ms`, for readers") \
  R(error_example, "example", kText, "what exactly was wrong with the last of them") \
  O("specifications of models and devices (`facts`, `values`)") \
  R(spec_kind, "kind", kText, "`model` or `hardware`") \
  R(spec_summary, "in short", kText, \
    "parameters (10⁹), layers and heads of queries and of keys; dense 16-bit, FP8 and FP4 peaks, " \
    "bandwidth and memory") \
  R(spec_text, "value", kText, "`spec_value`, for readers") \
  R(spec_remark, "remark", kText, "values that are estimates, by their sources; irregular sizes") \
  R(spec_attribute, "attribute", kText, "as in [facts](formats/facts.md)") \
  R(spec_value, "value", kRatio, "in the attribute's unit") \
  O("annealing") \
  R(trained_on, "learned from", kText, "the `--source` filter") \
  R(seed, "seed", kNone, "of the random walk; `null` where nothing is drawn") \
  R(step, "step", kNone, "0 is the start") \
  R(steps, "steps", kCount, "steps of a run") \
  R(accepted, "accepted", kCount, "steps that were taken; in `steps` whether this one was") \
  R(mean_error, "mean error", kShare, "over the log") \
  R(best_error, "best error", kShare, "the least of the log") \
  R(best_rows, "rows of the best", kCount, "training rows of that subset") \
  R(best_in_len, "lengths of the best", kText, "its lengths") \
  R(best_batch, "batch sizes of the best", kText, "its batch sizes") \
  R(in_len, "lengths in", kText, "lengths inside the subset") \
  R(out_len, "lengths out", kText, "") \
  R(temperature, "T", kNone, "of the step") \
  R(target, "rows requested", kText, "the rows that the error is predicted for") \
  R(predicted_error, "predicted", kShare, "error that Algorithm 8 predicts, mean over seeds") \
  R(predicted_error_low, "predicted, least", kShare, "least and greatest over seeds") \
  R(predicted_error_high, "predicted, greatest", kShare, "") \
  R(actual_error, "actual", kShare, "mean error over the subsets tried") \
  R(predicted_error_subsets, "predicted for subsets", kShare, \
    "mean of what is predicted for the same subsets") \
  R(confidence_with_throughput, "confidence with throughput", kRatio, \
    "`confidence` with a histogram of throughput") \
  R(unknown_rows, "unknown rows", kCount, \
    "rows with a length or batch size that was not learned from")

#define ASSAY_THROUGHPUT_RESULTS(R, U, O) \
  ASSAY_THROUGHPUT_MODEL_RESULTS(R, U, O) \
  ASSAY_THROUGHPUT_OTHER_RESULTS(R, U, O)
// clang-format on

namespace assay::keys {
ASSAY_DECLARE_RESULTS(ASSAY_THROUGHPUT_RESULTS)
}  // namespace assay::keys
