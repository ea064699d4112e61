#pragma once

// Results of a job, each declared once.
// R(key, title, unit, meaning) declares a result. U(key, meaning) describes a declared result or a
// table in another place. O(object) begins the keys of an object. An empty meaning repeats that of
// the row above. JSON keys, columns, titles, units and the tables of docs/metrics.md
// (tools/gen_metrics_docs.py) are generated from it.

#include "report/flow/results.h"
#include "report/breakdown/results.h"
#include "report/run/results.h"

// clang-format off: tables read best as tables

// Job: what the job would lose
#define ASSAY_FLEET_WORST_RESULTS(R, U, O) \
  O("job") \
  R(job_ranks, "ranks of the job", kCount, "as in most records, but at least the number of ranks read") \
  R(ranks_read, "ranks read", kCount, "ranks with a usable record") \
  R(missing_ranks, "without a record", kCount, "ranks of the job without a record") \
  R(unused_records, "records not used", kCount, "incomplete, of another job, or a second record of a rank") \
  R(iterations_read, "iterations", kCount, "distinct iteration numbers in the records") \
  R(iterations_compared, "iterations compared", kCount, \
    "the first ones, up to the number in every record and up to 16,777,216 points over all ranks") \
  U(span_ns, "of the replay: from the first point of a rank to the last, over the compared iterations") \
  R(saved_by_worst_ns, "saved without the worst", kNanoseconds, \
    "`span_ns` minus the span with typical values for all rows of `worst`; at most `span_ns`. Waits for ranks " \
    "without a record then end as is typical") \
  R(saved_by_worst_share, "of the span", kShare, "the same / `span_ns`") \
  R(saved_at_least_ns, "saved at least", kNanoseconds, \
    "`saved_by_worst_ns` if waits for ranks without a record keep their length") \
  R(saved_by_missing_ns, "absent ranks", kNanoseconds, \
    "`span_ns` minus the span in which collectives with ranks without a record take as long as the fastest tenth") \
  R(saved_by_rest_ns, "everybody's variation", kNanoseconds, \
    "in addition: with all local compute and all transfers of all ranks at most at their typical value") \
  R(gpu_hours_per_hour, "GPU hours an hour", kRatio, "`saved_by_worst_share` × ranks of the job") \
  R(nodes_from, "nodes from", kText, "source of the nodes of ranks: `file`, `records`, `guess`, `none`") \
  O("job.worst[]") \
  U(kind, "`rank`, `pauses` (host stalls of a rank), `set` of ranks, or `links` (transfers of groups). `all`: all " \
          "ranks in one iteration") \
  U(name, "rank, or the set's name") \
  R(set_kind, "set", kText, "for sets and links: `node`, `pod`, ... as in the host list, or `group` for a process group") \
  U(ranks, "ranks of the row; for links, the ranks that they connect") \
  R(saved_ns, "saved on top", kNanoseconds, "span with typical values for all other rows − span with them for all rows") \
  R(saved_share, "of span", kShare, "`saved_ns` / `span_ns`") \
  R(saved_per_iteration_ns, "an iteration", kNanoseconds, "`saved_ns` / iterations") \
  R(saved_alone_ns, "saved alone", kNanoseconds, "the same with this row alone; two faults may hide each other") \
  R(above_usual, "above typical", kShare, \
    "median of local compute / typical − 1 (for sets, of the median member); for links, of transfer; for `pauses` " \
    "the longest stall, in iterations") \
  U(peers, "ranks that the typical value is taken from, median over positions") \
  R(paused_iterations, "iterations", kCount, "for `pauses`: iterations with a host stall; 0 = all") \
  R(first_hit, "first", kNone, "iteration of the first host stall; `null` if they are not known one by one") \
  R(last_hit, "last", kNone, "iteration of the last one") \
  R(kernel_excess_ns, "kernels", kNanoseconds, "time of its kernels above typical, over all its ranks and " \
      "iterations") \
  R(other_excess_ns, "host", kNanoseconds, "the same for its hosts") \
  R(link_excess_ns, "transfer excess", kNanoseconds, "for links: transfers above typical, over all collectives")

// Job: ranks, time and links
#define ASSAY_FLEET_RANK_RESULTS(R, U, O) \
  O("job.ranks[]") \
  U(rank, "the 200 with the highest `above_usual`, the 5 with the lowest, and 20 by chance") \
  R(listed_for, "listed as", kText, "`worst`, `best` or `chance`") \
  R(rank_node, "node", kText, "") \
  U(above_usual, "") \
  U(peers, "") \
  R(rank_excess_ns, "excess", kNanoseconds, "local compute above typical, over all iterations") \
  R(rank_file, "file", kText, "its trace") \
  O("job.heat") \
  R(heat_columns, "columns", kCount, "iterations, or runs of iterations, from the left") \
  R(heat_from, "worst of", kText, "content of a row of the map: a rank, or a number of ranks with the worst one " \
                                  "shown") \
  O("job.heat_rows[]") \
  R(heat_row, "row", kText, "rank, node or run of ranks") \
  R(heat_ranks, "ranks", kCount, "in the row") \
  R(heat_cells, "cells", kText, \
    "two hexadecimal digits per cell. 00: typical. ff: nothing recorded. Else 1 + 50 log10(excess / iteration / " \
    "0.001), at most fe") \
  O("job.iterations[]") \
  U(iter, "number of the iteration") \
  R(ranks_in, "ranks", kCount, "ranks that recorded it") \
  R(p50_ns, "median", kNanoseconds, "of the ranks' spans, within 1/64") \
  R(p95_ns, "95 %", kNanoseconds, "") \
  R(worst_ns, "longest", kNanoseconds, "") \
  O("job.parts[]") \
  U(cause, "`compute`, `collective`, `copy` or the cause of idle time; of all ranks, over their whole traces") \
  U(ns, "") \
  R(total_share, "of all", kShare, "") \
  O("job.kernels[]") \
  U(name, "compute kernel, one of the 20 with the most time; per rank, the 64 with the most time count") \
  U(count, "") \
  U(dur_ns, "") \
  U(p50_ns, "") \
  U(p95_ns, "") \
  O("job.collectives[]") \
  U(collective, "kind, by size of the group") \
  R(group_size, "group size", kNone, "ranks of the process group; `null` = not known") \
  R(group_count, "groups", kCount, "") \
  U(meetings, "matched collectives") \
  R(p50_transfer_ns, "median transfer", kNanoseconds, "from the last arrival to the end, within 1/64") \
  R(p95_transfer_ns, "95 %", kNanoseconds, "")

// Job: clocks and caveats
#define ASSAY_FLEET_TRUST_RESULTS(R, U, O) \
  O("job.clocks") \
  U(residual_p50_ns, "|end − offset − mean of the members| of the collectives used to align clocks") \
  U(residual_p95_ns, "") \
  U(residual_max_ns, "") \
  R(clock_components, "parts that never meet", kCount, "ranks in different parts have no common time") \
  R(fast_clocks, "clocks that run off", kCount, "clocks that drift more than 50 ppm from the median; such a rank is not " \
      "a straggler because of it") \
  R(worst_drift_ppm, "furthest", kRatio, "parts per million") \
  O("job.matching") \
  U(matched, "collectives of two or more ranks") \
  R(parts_unmatched, "parts not matched", kCount, "that should match others: they keep their length") \
  R(collectives_excluded, "taken apart", kCount, "collectives in contradicting order on their ranks") \
  R(groups_ambiguous, "ambiguous groups", kCount, "groups with more ranks of the name than members: not compared") \
  R(parts_cut, "parts left out of records", kCount, "whole iterations that did not fit") \
  R(lossy_ranks, "ranks with losses", kCount, "data lost on import") \
  R(too_few_peers, "without peers", kCount, "ranks without another rank that does the same") \
  R(short_ranks, "with fewer iterations", kCount, "ranks that lack iterations recorded by at least half of the " \
      "ranks") \
  R(beyond_world, "numbered beyond the job", kCount, "ranks numbered at or above the number of ranks in the traces: the missing ranks are then unknown") \
  R(ranks_without_node, "ranks without a node", kCount, "ranks without a node in the host list or the records") \
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
