#pragma once

// The results of a job, each declared once.
// R(key, title, unit, meaning) declares a result; U(key, meaning) says what a declared one, or a
// table, is here; O(object) begins the keys of an object. An empty meaning: that of the row above.
// From here come JSON keys, columns, titles, units, and the tables of docs/metrics.md
// (tools/gen_metrics_docs.py).

#include "report/flow/results.h"
#include "report/breakdown/results.h"
#include "report/run/results.h"

// clang-format off: tables read best as tables

// Job: what the job would lose
#define ASSAY_FLEET_WORST_RESULTS(R, U, O) \
  O("job") \
  R(job_ranks, "ranks of the job", kCount, "as most records tell, at least the ranks there are") \
  R(ranks_read, "ranks read", kCount, "ranks with a record that could be used") \
  R(missing_ranks, "without a record", kCount, "ranks of the job of which there is no record") \
  R(unused_records, "records not used", kCount, "torn, of another job, or of a rank a second time") \
  R(iterations_read, "iterations", kCount, "different numbers of iterations in the records") \
  R(iterations_compared, "iterations compared", kCount, \
    "the first ones, as many as all records have room for and as 16,777,216 points of all ranks allow") \
  U(span_ns, "of the replay: from the first point of a rank to the last, over the iterations that are compared") \
  R(saved_by_worst_ns, "saved without the worst", kNanoseconds, \
    "`span_ns` less the span with typical values in place of those of all rows of `worst`: at most `span_ns`. Waits for " \
    "ranks without a record end as is typical") \
  R(saved_by_worst_share, "of the span", kShare, "the same / `span_ns`") \
  R(saved_at_least_ns, "saved at least", kNanoseconds, \
    "`saved_by_worst_ns` if waits for ranks without a record keep their length") \
  R(saved_by_missing_ns, "absent ranks", kNanoseconds, \
    "`span_ns` less the span in which collectives with ranks without a record take as long as the fastest tenth") \
  R(saved_by_rest_ns, "everybody's variation", kNanoseconds, \
    "on top: with all own work and all transfers of all ranks at most usual") \
  R(gpu_hours_per_hour, "GPU hours an hour", kRatio, "`saved_by_worst_share` × ranks of the job") \
  R(nodes_from, "nodes from", kText, "source of the nodes of ranks: `file`, `records`, `guess`, `none`") \
  O("job.worst[]") \
  U(kind, "`rank`; `pauses` of a rank; a `set` of ranks; `links`, the transfers of groups. `all`: all ranks in one iteration") \
  U(name, "rank, or the set's name") \
  R(set_kind, "set", kText, "of sets and links: `node`, `pod`, ... as the host list calls it, `group` for a process group") \
  U(ranks, "ranks of the row; of links, those that they join") \
  R(saved_ns, "saved on top", kNanoseconds, "span with typical values for all other rows − span with them for all rows") \
  R(saved_share, "of span", kShare, "`saved_ns` / `span_ns`") \
  R(saved_per_iteration_ns, "an iteration", kNanoseconds, "`saved_ns` / iterations") \
  R(saved_alone_ns, "saved alone", kNanoseconds, "the same with this row alone: two faults may hide each other") \
  R(above_usual, "above usual", kShare, \
    "own work / usual own work − 1 in the middle (of sets, of the median member); of links transfer / usual " \
    "transfer − 1; of pauses the longest in iterations") \
  U(peers, "ranks that usual work rests on, in the middle of its places") \
  R(paused_iterations, "iterations", kCount, "of pauses: those in which it pauses; 0 = all") \
  R(first_hit, "first", kNone, "iteration of the first pause; `null` where they are not known one by one") \
  R(last_hit, "last", kNone, "iteration of the last one") \
  R(kernel_excess_ns, "kernels", kNanoseconds, "its kernels beyond typical, over all its ranks and iterations") \
  R(other_excess_ns, "host", kNanoseconds, "likewise its hosts") \
  R(link_excess_ns, "transfer excess", kNanoseconds, "of links: transfers beyond typical, over all its collectives")

// Job: ranks, time and links
#define ASSAY_FLEET_RANK_RESULTS(R, U, O) \
  O("job.ranks[]") \
  U(rank, "the 200 with the highest `above_usual`, the 5 with the lowest, and 20 by chance") \
  R(listed_for, "listed as", kText, "`worst`, `best` or `chance`") \
  R(rank_node, "node", kText, "") \
  U(above_usual, "") \
  U(peers, "") \
  R(rank_excess_ns, "excess", kNanoseconds, "own work beyond usual over all iterations") \
  R(rank_file, "file", kText, "its trace") \
  O("job.heat") \
  R(heat_columns, "columns", kCount, "iterations, or runs of them, from the left") \
  R(heat_from, "worst of", kText, "what a row of the map is: a rank, or so many of them, of which the worst is shown") \
  O("job.heat_rows[]") \
  R(heat_row, "row", kText, "rank, node or run of ranks") \
  R(heat_ranks, "ranks", kCount, "in the row") \
  R(heat_cells, "cells", kText, \
    "two hexadecimal digits a cell: 00 usual; else 1 + 50 log10(excess / iteration / 0.001), at most fe; ff nothing " \
    "recorded") \
  O("job.iterations[]") \
  U(iter, "number of the iteration") \
  R(ranks_in, "ranks", kCount, "that recorded it") \
  R(p50_ns, "median", kNanoseconds, "of the ranks' spans, within 1/64") \
  R(p95_ns, "95 %", kNanoseconds, "") \
  R(worst_ns, "longest", kNanoseconds, "") \
  O("job.parts[]") \
  U(cause, "`compute`, `collective`, `copy` or the cause of idle time; of all ranks, over their whole traces") \
  U(ns, "") \
  R(total_share, "of all", kShare, "") \
  O("job.kernels[]") \
  U(name, "compute kernel, the 20 heaviest; of each rank the 64 heaviest count") \
  U(count, "") \
  U(dur_ns, "") \
  U(p50_ns, "") \
  U(p95_ns, "") \
  O("job.collectives[]") \
  U(collective, "kind, by size of the group") \
  R(group_size, "group size", kNone, "ranks of the process group; `null` = not known") \
  R(group_count, "groups", kCount, "") \
  U(meetings, "matched collectives") \
  R(p50_transfer_ns, "median transfer", kNanoseconds, "from the last to come to the end, within 1/64") \
  R(p95_transfer_ns, "95 %", kNanoseconds, "")

// Job: clocks and trust
#define ASSAY_FLEET_TRUST_RESULTS(R, U, O) \
  O("job.clocks") \
  U(residual_p50_ns, "|end − offset − mean of the members| of the meetings that clocks are aligned on") \
  U(residual_p95_ns, "") \
  U(residual_max_ns, "") \
  R(clock_components, "parts that never meet", kCount, "ranks in different ones cannot be laid on one time") \
  R(fast_clocks, "clocks that run off", kCount, "by more than 50 ppm of the middle; not blamed for it") \
  R(worst_drift_ppm, "furthest", kRatio, "parts per million") \
  O("job.matching") \
  U(matched, "collectives of two ranks and more") \
  R(parts_unmatched, "parts not matched", kCount, "that should meet others: they keep the length they had") \
  R(collectives_excluded, "taken apart", kCount, "the ranks' orders contradict each other") \
  R(groups_ambiguous, "ambiguous groups", kCount, "more ranks have the name than the group has members: not compared") \
  R(parts_cut, "parts left out of records", kCount, "whole iterations that did not fit") \
  R(lossy_ranks, "ranks with losses", kCount, "data lost on import") \
  R(too_few_peers, "compared with nobody", kCount, "ranks that no other rank does the same as") \
  R(short_ranks, "with fewer iterations", kCount, "ranks that lack iterations that at least half of the ranks have") \
  R(beyond_world, "numbered beyond the job", kCount, "ranks whose numbers are not below the ranks that traces tell of: which are missing is not known then") \
  R(ranks_without_node, "ranks without a node", kCount, "that the host list or the records do not place") \
  O("job.unused[]") \
  U(what, "trace, or file of records and byte") \
  R(why_unused, "why", kText, "")

#define ASSAY_FLEET_RESULTS(R, U, O) \
  ASSAY_FLEET_WORST_RESULTS(R, U, O) \
  ASSAY_FLEET_RANK_RESULTS(R, U, O) \
  ASSAY_FLEET_TRUST_RESULTS(R, U, O)
// clang-format on

namespace assay::keys {
ASSAY_DECLARE_RESULTS(ASSAY_FLEET_RESULTS)
}  // namespace assay::keys
