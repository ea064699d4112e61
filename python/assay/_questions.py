"""The questions of the program as functions. Made by tools/gen_python.py from `assay options`; do not edit."""

from __future__ import annotations

from ._answers import Answer, Diff, Report, Rows, WhatIf
from ._ask import question

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Union

    from ._program import Source

    Path = Union[str, os.PathLike[str]]


@question("report", Report)
def report(
    source: Source,
    *,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    figure: str | None = None,
    floor: str | None = None,
    part: str | None = None,
    between: str | None = None,
    untraced: str | None = None,
    capture: str | Sequence[str] | None = None,
    top: int = 10,
    on: str | Sequence[str] | None = None,
    as_recorded: bool = False,
    cpu_speed: float | int | None = None,
    like: str | None = None,
    link_gb_s: float | int | None = None,
    prices: str | None = None,
    length: int | Sequence[int] = (2, 4, 8, 16, 32, 64, 128, 256),
    threshold: float | int = 1.0,
    segment: str = "sync",
    match_by: str = "name",
    min_count: int = 2,
    chains: int = 10,
    telemetry: str | Sequence[str] | None = None,
    telemetry_offset: str | None = None,
    telemetry_zone: str = "UTC",
    telemetry_gpu: str | Sequence[str] | None = None,
    requests: str | None = None,
    requests_offset: str | None = None,
    perfetto: str | None = None,
) -> Report:
    """Show where time went, what would help and how reliable that is, on one screen.

    Args:
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        figure: write one figure of a paper only: skip6, taxbreakT4 (a table), chopper5a, or list (docs/papers.md).
        floor: launch time of an empty kernel (see assay launch --help).
        part: analyze this part of the recording: lead-in, start-up, iterations, prefill, decode, hole, tail, its
            number from 1, or all. Default: the longest that allows a diagnosis; all of several traces.
        between: analyze this stretch of time only, e.g. 10.2ms..15ms from the begin of the window; the page gives
            it for an area that is dragged.
        untraced: the time of one iteration without the profiler (6.11ms), a file with it, or none for recorded
            times alone. A file is runs.jsonl, or CSV with trace and untraced_ms. Default: runs.jsonl in the folder
            of the trace, else an estimate.
        capture: trace with the capture of CUDA or HIP graphs, for the operators of replays; default: traces in the
            same folder with capture in their names. Takes several values.
        top: kernels listed; 0 = all. At least 0. Default: 10.
        on: the run on these GPUs: kernels by their work, replayed with this host. Takes several values.
        as_recorded: with --on: keep the host time that a profiler took.
        cpu_speed: with --on: a host so many times as fast. From 0.1 to 10.
        like: with --on: the host at the pace of this recording of the same program.
        link_gb_s: with --on: GB/s from one of those GPUs to its peers, in one direction. Above 0.
        prices: with --on: CSV with gpu, usd_per_gpu_hour and optional watts, as throughput plan reads; adds cost,
            and energy at most.
        length: chain lengths, comma separated. Default: [2,4,8,16,32,64,128,256]. Takes several values.
        threshold: proximity score of a candidate, (0, 1]. Default: 1.
        segment: where sequences are cut: none, sync, rootop, iteration. Default: sync.
        match_by: what makes kernels equal: name, or name and shape. Default: name.
        min_count: occurrences a recommended chain needs. Default: 2.
        chains: recommended chains listed. Default: 10.
        telemetry: logs of cores and GPUs from the time of the trace: assay sample, nvidia-smi, AMDuProf, Chopper
            (docs/formats/telemetry.md); may be given again. Takes several values.
        telemetry_offset: seconds to add to their times, or start: they begin with the trace's first device work.
        telemetry_zone: time zone of logs in local time, e.g. +02:00. Default: UTC.
        telemetry_gpu: which device of the log a GPU of the trace is, e.g. 0=GPU-1b2c (default: the same number);
            may be given again. Takes several values.
        requests: log of a serving engine's requests, to join with its steps: OTLP JSON, SGLang's request metrics,
            or a detailed benchmark result (docs/formats/request_log.md).
        requests_offset: seconds to add to the times of that log, if its clock is not the trace's and none is found.
        perfetto: also write a timeline for ui.perfetto.dev, .json or .json.gz: the events of the traces, and what
            was found in them as tracks of their own.
    """
    raise NotImplementedError


@question("why", Answer)
def why(
    source: Source,
    *,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    part: str | None = None,
    between: str | None = None,
    untraced: str | None = None,
    rules: bool = False,
) -> Answer:
    """Why the GPU was idle: causes, the events that cause them, and the critical path.

    Args:
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        part: analyze this part of the recording: lead-in, start-up, iterations, prefill, decode, hole, tail, its
            number from 1, or all. Default: the longest that allows a diagnosis; all of several traces.
        between: analyze this stretch of time only, e.g. 10.2ms..15ms from the begin of the window; the page gives
            it for an area that is dragged.
        untraced: the time of one iteration without the profiler (6.11ms), a file with it, or none for recorded
            times alone. A file is runs.jsonl, or CSV with trace and untraced_ms. Default: runs.jsonl in the folder
            of the trace, else an estimate.
        rules: also every rule of the diagnosis, its condition and whether it holds (docs/rules.md).
    """
    raise NotImplementedError


@question("whatif", WhatIf)
def whatif(
    source: Source,
    *edit: str,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    edits: str | None = None,
    save_prediction: str | None = None,
    check_prediction: str | None = None,
    on: str | Sequence[str] | None = None,
    as_recorded: bool = False,
    cpu_speed: float | int | None = None,
    like: str | None = None,
    link_gb_s: float | int | None = None,
    prices: str | None = None,
    peaks: str | None = None,
    part: str | None = None,
    between: str | None = None,
    untraced: str | None = None,
    specs: str | None = None,
    capture: str | Sequence[str] | None = None,
) -> WhatIf:
    """Simulate a change: replay the run with it, with an interval.

    Args:
        edit: a change to replay, once per change: sync[:CALL], input, alloc, warm, host[=F], pauses, roof[:OP],
            faster_cpu[=F], kernel:NAME[=F], family:KIND[=F], op:NAME[=F], frame:NAME[=F], call:NAME[=F], copies,
            comm, cuda_graph, attention, fuse:A+B, skew. Names take * and ?; F is the remaining fraction of the time
            (for faster_cpu, the speedup). Default: every action that applies.
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        edits: a file of edits, one a line.
        save_prediction: also write down what these edits or GPUs give, to be scored by the other recording.
        check_prediction: compare a saved prediction with this trace.
        on: the run on these GPUs: kernels by their work, replayed with this host. Takes several values.
        as_recorded: with --on: keep the host time that a profiler took.
        cpu_speed: with --on: a host so many times as fast. From 0.1 to 10.
        like: with --on: the host at the pace of this recording of the same program.
        link_gb_s: with --on: GB/s from one of those GPUs to its peers, in one direction. Above 0.
        prices: with --on: CSV with gpu, usd_per_gpu_hour and optional watts, as throughput plan reads; adds cost,
            and energy at most.
        peaks: with --edit roof, --on or --check-prediction: name of the recorded GPU, if the trace has none.
        part: analyze this part of the recording: lead-in, start-up, iterations, prefill, decode, hole, tail, its
            number from 1, or all. Default: the longest that allows a diagnosis; all of several traces.
        between: analyze this stretch of time only, e.g. 10.2ms..15ms from the begin of the window; the page gives
            it for an area that is dragged.
        untraced: the time of one iteration without the profiler (6.11ms), a file with it, or none for recorded
            times alone. A file is runs.jsonl, or CSV with trace and untraced_ms. Default: runs.jsonl in the folder
            of the trace, else an estimate.
        specs: more models and devices (docs/formats/facts.md).
        capture: trace with the capture of CUDA or HIP graphs, for the operators of replays; default: traces in the
            same folder with capture in their names. Takes several values.
    """
    raise NotImplementedError


@question("launch", Answer)
def launch(
    source: Source,
    *,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    figure: str | None = None,
    floor: str | None = None,
    top: int = 10,
    include_copies: bool = False,
    tree: bool = False,
    tree_order: str = "launch",
    min_share: float | int = 0.01,
    graph: bool = False,
) -> Answer:
    """How work reaches the GPU: launch and queue time, idle time, most launched kernels.

    Args:
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        figure: write one figure of a paper only: skip6, taxbreakT4 (a table), chopper5a, or list (docs/papers.md).
        floor: launch time of an empty kernel: nanoseconds, a file of assay null-kernel, or a platform such as
            Intel+H100. Default: published for this board, else estimated.
        top: kernels listed; 0 = all. At least 0. Default: 10.
        include_copies: copies and fills also make the GPU busy.
        tree: the operator, call and kernel tree, collapsed by name.
        tree_order: order of the tree: launch, device or host. Default: launch.
        min_share: merge tree nodes below this share of the total. From 0 to 1. Default: 0.01.
        graph: every kernel with its call and operators, one row each.
    """
    raise NotImplementedError


@question("overhead", Answer)
def overhead(
    source: Source,
    *,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    figure: str | None = None,
    untraced: str | None = None,
    mode: str | None = None,
    base_weighting: str = "kernel",
    include_copies: bool = False,
    floor: str | None = None,
    top: int = 10,
    export_kernel_db: str | None = None,
    replay: str | None = None,
    batch: str | Sequence[str] | None = None,
    name: str = "platform",
    vs: str | Sequence[str] | None = None,
    vs_name: str = "other",
) -> Answer:
    """Break host overhead down by layer: Python, dispatch, libraries, launch-overhead floor.

    Args:
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        figure: write one figure of a paper only: skip6, taxbreakT4 (a table), chopper5a, or list (docs/papers.md).
        untraced: the time of one iteration without the profiler (6.11ms), a file with it, or none for recorded
            times alone. A file is runs.jsonl, or CSV with trace and untraced_ms. Default: runs.jsonl in the folder
            of the trace, else an estimate.
        mode: what a launch is charged with. Exclusive (default): each moment of a thread once. Sums as printed may
            exceed wall time: paper (native kernels pay the dispatch base; also literal) or code (their own
            dispatch). One of exclusive, paper, literal, code.
        base_weighting: the dispatch base is a median over: kernel (unique kernels) or invocation. Default: kernel.
        include_copies: copies and fills count as kernels.
        floor: launch time of an empty kernel: nanoseconds, a file of assay null-kernel, or a published platform.
            Default: published for this board, else from the trace.
        top: unique kernels listed; 0 = all. At least 0. Default: 10.
        export_kernel_db: write every unique kernel for replay to this file.
        replay: the measured decomposition from this replay of the exported kernels.
        batch: BATCH=TRACE or BATCHxLENGTH=TRACE, once per configuration of a sweep. Takes several values.
        name: what to call this platform. Default: platform.
        vs: the same of a second platform. Takes several values.
        vs_name: what to call it. Default: other.
    """
    raise NotImplementedError


@question("breakdown", Answer, renamed={'by': '--group-by'})
def breakdown(
    source: Source,
    *,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    figure: str | None = None,
    config: str | Sequence[str] | None = None,
    tokens: str | Sequence[str] | None = None,
    detail: str | Sequence[str] | None = None,
    top: int = 2,
    telemetry: str | Sequence[str] | None = None,
    telemetry_offset: str | None = None,
    telemetry_zone: str = "UTC",
    telemetry_gpu: str | Sequence[str] | None = None,
    counters: str | Sequence[str] | None = None,
    peaks: str | None = None,
    d0: str = "curve",
    formulas: str | None = None,
    partial_counters: bool = False,
    specs: str | None = None,
    roofline: bool = False,
    explain_attribution: str | None = None,
    capture: str | Sequence[str] | None = None,
    attribution_rules: str | None = None,
    definition: str = "assay",
    by: str | None = None,
    where: str | None = None,
    stat: str | None = None,
    min_share: float | int = 0.01,
) -> Answer:
    """Break GPU time down: kernel, operation, layer, phase, iteration and job.

    Args:
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        figure: write one figure of a paper only: skip6, taxbreakT4 (a table), chopper5a, or list (docs/papers.md).
        config: a configuration to compare: its name, and a folder, pattern or file with the traces of its ranks;
            the first one is the baseline. Takes several values.
        tokens: with --config: tokens that all GPUs together process per iteration, for traces without them. Takes
            several values.
        detail: with --config: configurations of the figures by layer and GPU [all]. Takes several values.
        top: with --config: operations per phase and type in the figures by layer. From 1 to 20. Default: 2.
        telemetry: logs of cores and GPUs from the time of the trace: assay sample, nvidia-smi, AMDuProf, Chopper
            (docs/formats/telemetry.md); may be given again. Takes several values.
        telemetry_offset: seconds to add to their times, or start: they begin with the trace's first device work.
        telemetry_zone: time zone of logs in local time, e.g. +02:00. Default: UTC.
        telemetry_gpu: which device of the log a GPU of the trace is, e.g. 0=GPU-1b2c (default: the same number);
            may be given again. Takes several values.
        counters: counter runs of the same program: files or folders of rocprofv3 --pmc, rocpd or ncu --csv
            (docs/formats/rocprof.md, docs/formats/ncu.md). Takes several values.
        peaks: the device for waterfall and roofline, by name, or for the waterfall as values: MI300X,
            clock_mhz=1900,tflops=1200.
        d0: how durations at 0 % and 50 % overlap are read: curve, cumulative, quantile. Default: curve.
        formulas: more formulas over counters (docs/formats/counter_formulas.md).
        partial_counters: the counter runs were restricted to some kernels: others do not count against the match
            rate.
        specs: more models and devices (docs/formats/facts.md).
        roofline: compare each operator with the roofline, by shapes: FLOP/s, bytes/s, time above the roofline.
        explain_attribution: why kernels with this in their names are attributed as they are: records around their
            launches and the deciding rule; * and ? make a pattern.
        capture: trace with the capture of CUDA or HIP graphs, for the operators of replays; default: traces in the
            same folder with capture in their names. Takes several values.
        attribution_rules: rules that say which operation, layer and phase a label, module, operator or kernel is
            (docs/formats/breakdown_map.md).
        definition: assay, or chopper: launch overhead as the published tool computes it. Default: assay.
        by: keys of the table of groups: gpu,iter,phase,layer,op,op_type.
        where: cells that count, e.g. gpu=3,iter=2..5,op=mlp_*; + separates alternatives.
        stat: over the samples of a group: median, mean, min, max, p25, p75, p95, sum.
        min_share: merge tree nodes below this share of the total. From 0 to 1. Default: 0.01.
    """
    raise NotImplementedError


@question("breakdown", Answer, fixed={'--roofline': True})
def roofline(
    source: Source,
    *,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    figure: str | None = None,
    config: str | Sequence[str] | None = None,
    tokens: str | Sequence[str] | None = None,
    detail: str | Sequence[str] | None = None,
    top: int = 2,
    telemetry: str | Sequence[str] | None = None,
    telemetry_offset: str | None = None,
    telemetry_zone: str = "UTC",
    telemetry_gpu: str | Sequence[str] | None = None,
    counters: str | Sequence[str] | None = None,
    peaks: str | None = None,
    d0: str = "curve",
    formulas: str | None = None,
    partial_counters: bool = False,
    specs: str | None = None,
    explain_attribution: str | None = None,
    capture: str | Sequence[str] | None = None,
    attribution_rules: str | None = None,
    definition: str = "assay",
    group_by: str | None = None,
    where: str | None = None,
    stat: str | None = None,
    min_share: float | int = 0.01,
) -> Answer:
    """Break GPU time down: kernel, operation, layer, phase, iteration and job.

    Args:
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        figure: write one figure of a paper only: skip6, taxbreakT4 (a table), chopper5a, or list (docs/papers.md).
        config: a configuration to compare: its name, and a folder, pattern or file with the traces of its ranks;
            the first one is the baseline. Takes several values.
        tokens: with --config: tokens that all GPUs together process per iteration, for traces without them. Takes
            several values.
        detail: with --config: configurations of the figures by layer and GPU [all]. Takes several values.
        top: with --config: operations per phase and type in the figures by layer. From 1 to 20. Default: 2.
        telemetry: logs of cores and GPUs from the time of the trace: assay sample, nvidia-smi, AMDuProf, Chopper
            (docs/formats/telemetry.md); may be given again. Takes several values.
        telemetry_offset: seconds to add to their times, or start: they begin with the trace's first device work.
        telemetry_zone: time zone of logs in local time, e.g. +02:00. Default: UTC.
        telemetry_gpu: which device of the log a GPU of the trace is, e.g. 0=GPU-1b2c (default: the same number);
            may be given again. Takes several values.
        counters: counter runs of the same program: files or folders of rocprofv3 --pmc, rocpd or ncu --csv
            (docs/formats/rocprof.md, docs/formats/ncu.md). Takes several values.
        peaks: the device for waterfall and roofline, by name, or for the waterfall as values: MI300X,
            clock_mhz=1900,tflops=1200.
        d0: how durations at 0 % and 50 % overlap are read: curve, cumulative, quantile. Default: curve.
        formulas: more formulas over counters (docs/formats/counter_formulas.md).
        partial_counters: the counter runs were restricted to some kernels: others do not count against the match
            rate.
        specs: more models and devices (docs/formats/facts.md).
        explain_attribution: why kernels with this in their names are attributed as they are: records around their
            launches and the deciding rule; * and ? make a pattern.
        capture: trace with the capture of CUDA or HIP graphs, for the operators of replays; default: traces in the
            same folder with capture in their names. Takes several values.
        attribution_rules: rules that say which operation, layer and phase a label, module, operator or kernel is
            (docs/formats/breakdown_map.md).
        definition: assay, or chopper: launch overhead as the published tool computes it. Default: assay.
        group_by: keys of the table of groups: gpu,iter,phase,layer,op,op_type.
        where: cells that count, e.g. gpu=3,iter=2..5,op=mlp_*; + separates alternatives.
        stat: over the samples of a group: median, mean, min, max, p25, p75, p95, sum.
        min_share: merge tree nodes below this share of the total. From 0 to 1. Default: 0.01.
    """
    raise NotImplementedError


@question("fusion", Answer)
def fusion(
    source: Source,
    *,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    figure: str | None = None,
    floor: str | None = None,
    length: int | Sequence[int] = (2, 4, 8, 16, 32, 64, 128, 256),
    threshold: float | int = 1.0,
    segment: str = "sync",
    match_by: str = "name",
    min_count: int = 2,
    chains: int = 10,
) -> Answer:
    """Chains of kernels that always run together, and what fusing them would save.

    Args:
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        figure: write one figure of a paper only: skip6, taxbreakT4 (a table), chopper5a, or list (docs/papers.md).
        floor: launch time of an empty kernel (see assay launch --help).
        length: chain lengths, comma separated. Default: [2,4,8,16,32,64,128,256]. Takes several values.
        threshold: proximity score of a candidate, (0, 1]. Default: 1.
        segment: where sequences are cut: none, sync, rootop, iteration. Default: sync.
        match_by: what makes kernels equal: name, or name and shape. Default: name.
        min_count: occurrences a recommended chain needs. Default: 2.
        chains: recommended chains listed. Default: 10.
    """
    raise NotImplementedError


@question("sweep", Answer)
def sweep(
    source: Source,
    *,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    figure: str | None = None,
    window: str | None = None,
    part: str | None = None,
    between: str | None = None,
    batch: str | Sequence[str] | None = None,
    table: str | None = None,
    name: str = "platform",
    vs_batch: str | Sequence[str] | None = None,
    vs_table: str | None = None,
    vs_name: str = "other",
    floor: str | None = None,
    tau: float | int = 2.0,
    rho: float | int = 0.25,
    balanced: float | int = 0.3,
) -> Answer:
    """CPU-bound or GPU-bound: one trace, or a sweep over batch sizes, or two platforms.

    Args:
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        figure: write one figure of a paper only: skip6, taxbreakT4 (a table), chopper5a, or list (docs/papers.md).
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        part: analyze this part of the recording: lead-in, start-up, iterations, prefill, decode, hole, tail, its
            number from 1, or all. Default: the longest that allows a diagnosis; all of several traces.
        between: analyze this stretch of time only, e.g. 10.2ms..15ms from the begin of the window; the page gives
            it for an area that is dragged.
        batch: SIZE=TRACE, once per batch size or repeat; or a folder or pattern of …_bSIZE_… traces. Takes several
            values.
        table: CSV with batch, tklqt, launches and optional latency, gpu_idle_share, cpu_idle_share.
        name: what to call this platform. Default: platform.
        vs_batch: the same of a second platform. Takes several values.
        vs_table: the same of a second platform.
        vs_name: what to call it. Default: other.
        floor: launch time of an empty kernel (see assay launch --help).
        tau: GPU-bound above this many plateaus. Default: 2.
        rho: tolerance of the plateau. Default: 0.25.
        balanced: a batch is balanced when both idle shares are below this. Default: 0.3.
    """
    raise NotImplementedError


@question("power attribute", Answer)
def power(
    source: Source,
    samples: Path,
    *,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    figure: str | None = None,
    column: str | None = None,
    gpu: str | None = None,
    interleaved_gpus: int | None = None,
    device: int | None = None,
    offset: str = "0",
    offset_search: float | int | None = None,
    log_start: str | None = None,
    log_interval: float | int | None = None,
    window_ms: str | None = None,
    ramp_ms: str | None = None,
    delay_ms: float | int | None = None,
    fixed_sensor: bool = False,
    kernel_groups: int = 16,
    tokens: int | None = None,
    top: int = 15,
    seed: int = 1,
) -> Answer:
    """Joules per kernel, operator, layer, phase and iteration, from a trace and a power log.

    Args:
        samples: power log of Assay, nvidia-smi, dcgmi, dcgm-exporter, amd-smi, rocm-smi, Zeus, tegrastats,
            turbostat and others (docs/formats/power_log.md).
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        figure: write one figure of a paper only: skip6, taxbreakT4 (a table), chopper5a, or list (docs/papers.md).
        column: column, metric or rail of the log to read, e.g. power.draw.
        gpu: device of the log, where it has several.
        interleaved_gpus: that wrote the log in turn, where no column says which row is of which; default: found
            from the rows. From 1 to 64.
        device: only kernels of this device of the trace; default: all.
        offset: seconds from the log's times to the trace's; or start: the log begins with the first GPU activity,
            give or take 2 s. Samples determine the rest: up to 0.15 s early and 0.25 s late. Default: 0.
        offset_search: uncertainty of the offset, either way, in seconds; 0: exact. From 0 to 3600. Unit: s.
        log_start: of a log without times: when it was begun, as 2026-05-04T12:00:00Z or in seconds since 1970, give
            or take 2 s.
        log_interval: of a log without times: interval between its rows of one GPU. From 0 to 3600. Unit: s.
        window_ms: the sensor's averaging window: A within 15 %, or a range A:B. Default: meta.json next to the log,
            else 0.5 to 1200, fitted to the samples.
        ramp_ms: time constant of sensor or device, as --window-ms; default: 0 to 250, fitted to the samples.
        delay_ms: delay of the samples; changes the possible offsets. From 0 to 1000000. Unit: ms.
        fixed_sensor: fit nothing but powers: offset, delay and window as given.
        kernel_groups: kernel names with a power of their own. From 1 to 200. Default: 16.
        tokens: made during the trace: energy per token. Default: output tokens by the labels of a serving engine.
            Above 0.
        top: rows shown; 0 = all. At least 0. Default: 15.
        seed: of the search. Default: 1.
    """
    raise NotImplementedError


@question("info", Answer)
def info(
    source: Source,
    *,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
) -> Answer:
    """Describe a trace: rows per table, links, irregular input.

    Args:
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
    """
    raise NotImplementedError


@question("sql", Rows)
def sql(
    source: Source,
    command: str,
    *,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    limit: int | None = None,
    memory: str | None = None,
    timeout: float | int | None = None,
    allow_files: bool = False,
    floor: str | None = None,
    requests: str | None = None,
    requests_offset: str | None = None,
) -> Rows:
    """Query a trace and its analyses in SQL, in DuckDB.

    Args:
        command: the statements; without it the last argument, else standard input.
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        limit: rows shown; 0 = all. Default: 100 on a terminal and in Markdown, else all. At least 0.
        memory: what DuckDB may use, e.g. 4GB; nothing is ever spilled to disk.
        timeout: seconds that a statement may take; 0 = any time. At least 0. Unit: s.
        allow_files: let SQL read and write files (read_csv, COPY); otherwise it sees the traces only.
        floor: launch time of an empty kernel (see assay launch --help).
        requests: log of a serving engine's requests, to join with its steps: OTLP JSON, SGLang's request metrics,
            or a detailed benchmark result (docs/formats/request_log.md).
        requests_offset: seconds to add to the times of that log, if its clock is not the trace's and none is found.
    """
    raise NotImplementedError


@question("diff", Diff)
def diff(
    a: Source,
    b: Source,
    *,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    window: str | None = None,
    fail_on: str | Sequence[str] | None = None,
    fail_on_any: bool = False,
    untraced: str | None = None,
    top: int = 10,
    paired: bool = False,
    resamples: int = 2000,
    seed: int = 1,
) -> Diff:
    """What changed from A to B, where it comes from, and whether it is more than noise.

    Args:
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        fail_on: leave with 1 when this holds and is more than noise: 'tklqt>+10%', 'time>+50us', 'kernels>+0',
            'hdbi<0.5'; may be repeated (docs/ci.md). Takes several values.
        fail_on_any: gates do not ask whether a change is more than noise.
        untraced: the times of one iteration of A and of B without the profiler (6.11ms,3.63ms), a file with both,
            or none for recorded times alone. Default: runs.jsonl in the folder of each trace. Both sides are
            compared as recorded unless both are known.
        top: rows per table; 0 = all. At least 0. Default: 10.
        paired: the runs of A and B in order of their names are pairs, taken one after the other: differences are
            taken pair by pair.
        resamples: draws of the bootstrap. From 200 to 100000. Default: 2000.
        seed: of the bootstrap. Default: 1.
    """
    raise NotImplementedError


@question("job", Answer)
def job(
    source: Source = (),
    *,
    window: str | None = None,
    kernels: str | None = None,
    execution_trace: str | None = None,
    cache: bool | str = False,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    summaries: str | Sequence[str] | None = None,
    summary_dir: str | None = None,
    hosts: str | None = None,
    parquet: str | None = None,
    min_ranks: float | int = 0.0,
) -> Answer:
    """A job of any number of ranks: who costs it its time, from small records of each.

    Args:
        window: use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any characters):
            annotations, else operators, else Python frames.
        kernels: what kernels are, where the built-in table does not know their names (docs/formats/kernels.md).
        execution_trace: PyTorch's execution trace of the same process, for shapes and values that the trace lacks
            (docs/formats/execution_trace.md).
        cache: keep a cached form of every trace read, and open that the next time; --cache=DIR names the folder,
            else ~/.cache/assay.
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        summaries: records that assay summarize made: files or folders. Takes several values.
        summary_dir: where the records of the traces are kept, for --summaries; those that are there already are not
            made again.
        hosts: which ranks share a node: a table "rank node [rack pod ...]", or a hostfile of lines "HOST slots=N".
        parquet: also all that the records hold, as tables that DuckDB and Spark read: a folder to make (needs
            DuckDB; docs/formats/job_tables.md).
        min_ranks: share of the job's ranks below which nothing is concluded. From 0 to 1. Default: 0.
    """
    raise NotImplementedError


@question("hang", Answer)
def hang(
    source: Source,
    *,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
) -> Answer:
    """A job that hangs: which rank the others wait for, and where it is, from flight-recorder dumps.

    Args:
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
    """
    raise NotImplementedError


@question("throughput predict", Answer)
def predict(
    source: Source,
    *,
    columns: str | Sequence[str] | None = None,
    constants: str | Sequence[str] | None = None,
    max_rows: int | None = None,
    specs: str | None = None,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    method: str | None = None,
    no_analytical_model: bool = False,
    refit: bool = False,
    extrapolation_factor: float | int | None = None,
    at: str | Sequence[str] | None = None,
    grid: str | Sequence[str] | None = None,
    curves: bool = False,
) -> Answer:
    """Predict throughput of points without measurements, with a 90 % interval each.

    Args:
        columns: which column holds what: 'bb=Batch Size,ii=Prompt length,...'. Takes several values.
        constants: values without a column, for all rows: 'hardware=Nvidia H100 GPU,n=4'. Takes several values.
        max_rows: use at most so many rows, a fixed subset of a larger table [6000]. From 1 to 1000000.
        specs: more models and devices (docs/formats/facts.md).
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: fail when a point is outside the range of the data; exit with status 3 when rows were dropped.
        method: assay, or ala: the paper's curves and trees, without intervals [assay, or what the model file says].
        no_analytical_model: use no specifications of models and devices: lengths, batch and devices only.
        refit: search for the kernel's parameters on this table instead of taking those found on public data.
        extrapolation_factor: a point is outside if its batch, length or devices exceed the data by more than this
            factor [4, or that of the model file]. From 1 to 1000000.
        at: one point: 'bb=96,ii=1024,oo=256,hw=H100,model=...,fw=vLLM,n=1'; what all rows agree on may be left out.
            Takes several values.
        grid: all combinations: 'bb=1..256*2,len=128|1024|2048,hw=A100|H100,...'. Takes several values.
        curves: throughput over batch for the requested configurations, with measured points.
    """
    raise NotImplementedError


@question("throughput plan", Answer)
def plan(
    source: Source,
    *,
    columns: str | Sequence[str] | None = None,
    constants: str | Sequence[str] | None = None,
    max_rows: int | None = None,
    specs: str | None = None,
    threads: int | None = None,
    allow_truncated: bool = False,
    strict: bool = False,
    model: str,
    isl: float | int | None = None,
    osl: float | int | None = None,
    rate: float | int | None = None,
    requests: str | None = None,
    ttft_ms: float | int,
    tpot_ms: float | int,
    percentile: float | int = 0.9,
    confidence: float | int = 0.9,
    burstiness: float | int | None = None,
    prices: str | None = None,
    engine: str | Sequence[str] | None = None,
    precision: str | Sequence[str] | None = None,
    engine_version: str | None = None,
    max_gpus: int = 0,
    rank: str = "dollar",
    measured_only: bool = False,
    refit: bool = False,
) -> Answer:
    """The cheapest GPUs that serve a model at a rate within limits on latency.

    Args:
        columns: which column holds what: 'bb=Batch Size,ii=Prompt length,...'. Takes several values.
        constants: values without a column, for all rows: 'hardware=Nvidia H100 GPU,n=4'. Takes several values.
        max_rows: use at most so many rows, a fixed subset of a larger table [6000]. From 1 to 1000000.
        specs: more models and devices (docs/formats/facts.md).
        threads: threads for reading and analyses; 0 = all processors. From 0 to 1024.
        allow_truncated: read what lies before the cut of a truncated file instead of refusing it.
        strict: leave with 3 when data was lost on import.
        model: the model to serve, as rows or facts call it. Required.
        isl: tokens of a prompt, in the mean. Above 0.
        osl: tokens of an answer, in the mean. Above 0.
        rate: requests that arrive per second. Above 0.
        requests: a trace of requests (TIMESTAMP, ContextTokens, GeneratedTokens) in place of lengths and rate:
            means, and the minute that 95 % of the minutes do not exceed.
        ttft_ms: limit on the time to the first token. Above 0. Required.
        tpot_ms: limit on the time per token after it. Above 0. Required.
        percentile: share of requests that must keep the limits. From 0.01 to 0.999. Default: 0.9.
        confidence: probability that a plan must have to be called sure. From 0.5 to 0.999. Default: 0.9.
        burstiness: squared coefficient of variation of the gaps between requests [1, Poisson; or what --requests
            has]. From 1 to 100.
        prices: CSV with gpu, usd_per_gpu_hour and optional watts, gpus_per_node, nodes; default: search for the
            fewest GPUs of the table.
        engine: only these engines, as the rows call them. Takes several values.
        precision: only these precisions, as the rows call them. Takes several values.
        engine_version: the engine's version, as in the rows; default: a version without measurements.
        max_gpus: no more GPUs than this in all, 0 for what is offered. Default: 0.
        rank: what is best: dollars, GPUs, joules a token, or TPOT. One of dollar, gpu, joule, user. Default:
            dollar.
        measured_only: only configurations that have rows.
        refit: search for the kernel's parameters on this table instead of taking those found on public data.
    """
    raise NotImplementedError


__all__ = ["breakdown", "diff", "fusion", "hang", "info", "job", "launch", "overhead", "plan", "power", "predict",
    "report", "roofline", "sql", "sweep", "whatif", "why"]
