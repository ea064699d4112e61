#!/usr/bin/env python3
"""Tests of the reference itself: manual results, and published figures of real traces."""

import json
import pathlib
import sys
import tempfile
import unittest

import datasets
import reference


def summarize(events, **header):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        path.write_text(json.dumps({"traceEvents": events, **header}))
        return reference.summarize(path)


def event(cat, name, ts, dur, tid=1, pid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": tid,
            "args": {key.replace("_", " "): value for key, value in args.items()}}


def op(name, ts, dur, **args):
    return event("cpu_op", name, ts, dur, **args)


def call(name, ts, dur, correlation, **args):
    return event("cuda_runtime", name, ts, dur, correlation=correlation, **args)


def kernel(name, ts, dur, correlation, stream=7):
    return event("kernel", name, ts, dur, tid=stream, pid=0, device=0, stream=stream,
                 correlation=correlation)


class ByHand(unittest.TestCase):
    def test_equations_1_2_4_5(self):
        got = summarize([
            op("aten::relu", 0, 5),                    # no kernel below it: not p_1
            op("aten::mm", 10, 30),                    # p_1
            call("cudaLaunchKernel", 12, 4, 1), kernel("a", 20, 10, 1),   # t_l = 8
            call("cudaLaunchKernel", 18, 4, 2), kernel("b", 30, 25, 2),   # t_l = 12
        ])["launch"]
        self.assertEqual(got["tklqt_ns"], 20_000)
        self.assertEqual(got["il_ns"], 45_000)          # 55 - 10
        self.assertEqual(got["gpu_idle_eq5_ns"], 10_000)
        self.assertEqual(got["gpu_idle_union_ns"], 10_000)

    def test_a_step_written_as_operator_is_no_work(self):
        got = summarize([
            op("ProfilerStep#16", 0, 100), op("aten::mm", 10, 30),
            call("cudaLaunchKernel", 12, 4, 1), kernel("a", 20, 10, 1)])["launch"]
        self.assertEqual(got["il_ns"], 20_000)          # 30 - 10

    def test_closed_form_model(self):
        # The CPU issues N kernels every d us with latency t0; each runs e us.
        for e, tklqt, il in ((2, 450, 501.5), (5, 450, 504.5), (8, 15300, 804.5), (20, 74700, 2004.5)):
            events = [op("aten::loop", 0, 500)]
            free = 0
            for i in range(100):
                start = max(5 * i + 4.5, free)
                free = start + e
                events += [call("cudaLaunchKernel", 5 * i, 1, i + 1), kernel("k", start, e, i + 1)]
            got = summarize(events)["launch"]
            self.assertEqual(got["tklqt_ns"], tklqt * 1000)
            self.assertEqual(got["il_ns"], il * 1000)
            self.assertEqual(got["gpu_idle_eq5_ns"], (il - 100 * e) * 1000)

    def test_concurrent_streams(self):
        got = summarize([
            op("aten::mm", 0, 10), call("cudaLaunchKernel", 1, 1, 1), call("cudaLaunchKernel", 2, 1, 2),
            kernel("a", 10, 20, 1, stream=7), kernel("b", 10, 30, 2, stream=8)])["launch"]
        self.assertEqual(got["kernel_sum_ns"], 50_000)
        self.assertEqual(got["kernel_union_ns"], 30_000)
        self.assertEqual(got["gpu_idle_eq5_ns"], -10_000)
        self.assertEqual(got["gpu_idle_union_ns"], 10_000)

    def test_graph_launch_counts_once(self):
        got = summarize([
            call("cudaGraphLaunch", 10, 4, 42), kernel("k1", 20, 5, 42), kernel("k2", 26, 5, 42)])
        self.assertEqual(got["links"]["graph_launches"], 1)
        self.assertEqual(got["links"]["graph_kernels"], 2)
        self.assertEqual(got["launch"]["tklqt_ns"], 10_000)
        self.assertEqual(got["launch"]["launches"], 1)
        self.assertEqual(got["launch"]["il_ns"], 21_000)  # no operator: from the launch call

    def test_negative_launch_times(self):
        got = summarize([
            call("cudaLaunchKernel", 100, 4, 1), kernel("late clock", 99.5, 1, 1),
            call("cudaLaunchKernel", 200, 4, 2), kernel("broken clock", 190, 1, 2),
            call("cudaLaunchKernel", 300, 4, 3), kernel("fine", 303, 1, 3)])["launch"]
        self.assertEqual(
            (got["clamped"], got["dropped"], got["tklqt_ns"]), (1, 1, 3_000))

    def test_carried_over_is_not_merely_unlinked(self):
        got = summarize([
            kernel("before the window", 0, 10, 901), kernel("lost call", 40, 5, 902),
            call("cudaLaunchKernel", 12, 2, 1), kernel("linked", 20, 5, 1)])["links"]
        self.assertEqual(got["kernels_unlinked"], 2)
        self.assertEqual(got["kernels_unlinked_ns"], 15_000)
        self.assertEqual(got["kernels_carried_over"], 1)
        self.assertEqual(got["kernels_carried_over_ns"], 10_000)

    def test_outermost_call_wins(self):
        got = summarize([
            call("cudaLaunchKernel", 10, 8, 1), event("cuda_driver", "cuLaunchKernel", 12, 3, correlation=1),
            kernel("k", 30, 5, 1)])
        self.assertEqual(got["links"]["duplicate_calls"], 1)
        self.assertEqual(got["links"]["launch_calls"], 1)
        self.assertEqual(got["launch"]["tklqt_ns"], 20_000)

    def test_nesting(self):
        got = summarize([
            op("parent", 0, 10), op("one us over", 5, 6),
            op("second parent", 100, 10), op("two us over", 105, 7)])["links"]
        self.assertEqual((got["overlap_tolerated"], got["overlap_split"]), (1, 1))

    def test_operator_of_device_work(self):
        got = summarize([
            op("aten::mm", 0, 10, External_id=5), call("cudaLaunchKernel", 2, 2, 1), kernel("a", 20, 5, 1),
            event("kernel", "no call", 30, 5, correlation=2, External_id=5),
            event("kernel", "its own correlation", 40, 5, correlation=3, External_id=3),
            event("kernel", "unknown id", 50, 5, correlation=4, External_id=99)])["links"]
        self.assertEqual((got["activity_ops_by_call"], got["activity_ops_by_external_id"],
                          got["external_ids_ignored"]), (1, 1, 1))

    def test_times_are_exact(self):
        path = pathlib.Path(tempfile.mkdtemp()) / "epoch.json"
        path.write_text('[{"ph":"X","cat":"cpu_op","name":"a","ts":1722860000123456.789,"dur":0.001}]')
        got = reference.summarize(path)
        self.assertEqual(got["times"]["first_ns"], 1722860000123456789)
        self.assertEqual(got["times"]["last_ns"], 1722860000123456790)

    def test_base_time_is_added_only_to_relative_times(self):
        relative = summarize([op("a", 5, 1)], baseTimeNanoseconds=10**18)
        self.assertEqual(relative["times"]["first_ns"], 10**18 + 5_000)
        absolute = summarize([op("a", 2 * 10**15, 1)], baseTimeNanoseconds=10**18)
        self.assertEqual(absolute["times"]["first_ns"], 2 * 10**18)
        self.assertEqual(absolute["import_log"]["bad_base_time"], 1)

    def test_old_names(self):
        got = summarize([
            event("Operator", "aten::add", 0, 9), event("Runtime", "cudaLaunchKernel", 1, 2, correlation=3),
            event("Kernel", "k", 5, 2, tid="stream 7", pid=0, correlation=3),
            event("Memcpy", "Memcpy HtoD", 8, 1, tid="stream 7", pid=0, correlation=4, bytes=16),
            {"ph": "s", "id": 3, "cat": "async", "name": "launch", "pid": 1, "tid": 1, "ts": 1}])
        self.assertEqual(got["tables"]["ops"], 1)
        self.assertEqual(got["links"]["kernels_linked"], 1)
        self.assertEqual(got["tables"]["transfers"], 1)
        self.assertEqual(got["rows"]["flow_starts"], 1)


def gpu_busy(path):
    """(idle, span, records) of the union of kernels, copies and fills; ns."""
    trace = reference.Import(*reference.read_events(path))
    work = [a for a in trace.tables["activities"] if a.kind in ("kernel", "memcpy", "memset")]
    span = max(a.end for a in work) - min(a.start for a in work)
    return span - reference.union((a.start, a.end) for a in work), span, len(work)


@unittest.skipUnless((datasets.CORPUS / "kineto").is_dir(), datasets.NO_CORPUS)
class PublishedFigures(unittest.TestCase):
    """Results of other tools and manual counts for the same files."""

    def test_exact_union_idle(self):
        idle, span, records = gpu_busy(
            datasets.CORPUS / "kineto/train/mi300_resnet_act_checkpoint_r0of8.json.gz")
        self.assertEqual((idle, span, records), (2_565_652, 86_567_708, 3653))
        idle, span, records = gpu_busy(
            datasets.CORPUS / "kineto/sglang/sglang_mi300_qwen3-8b_prefilldecode.json.gz")
        self.assertEqual((idle // 100, round(100 * idle / span, 3), records),
                         (4_944_820, 50.085, 534))

    def test_work_queued_before_the_window(self):
        path = datasets.CORPUS / "kineto/train/mi300_resnet_act_checkpoint_r0of8.json.gz"
        got = reference.summarize(path)["links"]
        self.assertEqual((got["kernels"], got["kernels_unlinked"]), (2995, 757))
        self.assertEqual(got["copies"] - got["copies_linked"], 968 - 757)
        self.assertEqual(got["kernels_carried_over"], 757)

    def test_unlinked_in_the_middle_of_nowhere(self):
        got = reference.summarize(datasets.CORPUS / "kineto/llm/h100_qwen1.5-0.5b.json.gz")["links"]
        self.assertEqual(got["kernels"] + got["copies"], 1707)
        self.assertEqual(
            got["kernels_unlinked"] + got["copies"] - got["copies_linked"], 509)

    def test_one_graph_launch_many_kernels(self):
        got = reference.summarize(datasets.CORPUS / "kineto/vllm/vllm_mi300_decode_exec.json.gz")
        self.assertEqual((got["links"]["graph_launches"], got["links"]["graph_kernels"]), (1, 421))

    def test_more_flow_ends_than_starts(self):
        got = reference.summarize(datasets.CORPUS / "kineto/rocm/mi250_minitoy_train.json.gz")["rows"]
        self.assertEqual((got["flow_starts"], got["flow_ends"]), (16, 21))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
