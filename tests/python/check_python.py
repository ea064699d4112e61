#!/usr/bin/env python3
"""`import assay`: what it says is what the program says, tables are those of the CSV export cell for cell,
consumers of Arrow read them, errors are the program's sentences, nothing outside the standard library is loaded.

    check_python.py --assay build/release/assay

NumPy, pandas and DuckDB's library are used where they are; the run says which are missing.
"""

import argparse
import array
import csv
import ctypes
import gc
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEM = "/usr/bin/python3"
TRACE = str(ROOT / "examples/h100_vit_inference.json.gz")
ASSAY = ""


def has(module):
    return importlib.util.find_spec(module) is not None


def run(*words):
    return subprocess.run([ASSAY, *words], capture_output=True, text=True, check=False)


def write_table(path, name, rows, columns, rank=0):
    """A file of docs/formats/columns.md, by this test's own hand: columns are (name, cells), None is missing."""
    body = bytearray(b"ASSAYC1\0")

    def put(data):
        body.extend(bytes(-len(body) % 64))
        body.extend(data)
        return [len(body) - len(data), len(data)]

    told = []
    for column, kind, cells in columns:
        there = [cell is not None for cell in cells]
        if kind == "text":
            words = sorted({cell for cell in cells if cell is not None})
            places = [put(array.array("i", [words.index(c) if c is not None else 0 for c in cells]).tobytes())]
            encoded = [word.encode() for word in words]
            ends = [0]
            for word in encoded:
                ends.append(ends[-1] + len(word))
            places += [put(array.array("q", ends).tobytes()), put(b"".join(encoded))]
        elif kind == "bool":
            places = [put(bits([bool(cell) for cell in cells]))]
        else:
            code = {"int64": "q", "uint64": "Q", "float64": "d"}[kind]
            places = [put(array.array(code, [cell or 0 for cell in cells]).tobytes())]
        said = {"name": column, "type": kind, "unit": "", "meaning": "", "buffers": places}
        if not all(there):
            said |= {"valid": put(bits(there)), "nulls": there.count(False)}
        told.append(said)
    footer = {"version": 1, "name": name, "meaning": "", "rank": rank, "rows": rows, "columns": told}
    text = json.dumps(footer).encode()
    body += text + len(text).to_bytes(8, "little") + b"ASSAYC1\0"
    pathlib.Path(path).write_bytes(body)


def bits(truths):
    packed = bytearray((len(truths) + 7) // 8)
    for i, truth in enumerate(truths):
        packed[i // 8] |= truth << (i % 8)
    return bytes(packed)


class Duck:
    """DuckDB's library as a consumer of Arrow that shares no line with ours."""

    def __init__(self):
        folder = os.environ.get("DUCKDB_ROOT") or str(pathlib.Path(ASSAY).resolve().parents[1] / "lib")
        self.lib = ctypes.CDLL(os.path.join(folder, "libduckdb.so"))
        self.lib.duckdb_value_varchar.restype = ctypes.c_void_p
        self.database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.lib.duckdb_open(None, ctypes.byref(self.database)) == 0
        assert self.lib.duckdb_connect(self.database, ctypes.byref(self.connection)) == 0

    def ask(self, stream, statement):
        """The first row of a statement over the table `t`. duckdb_arrow_scan gives the whole table where some
        columns are asked for, so it is copied first; it releases nothing, and leaves the stream to us."""
        assert self.lib.duckdb_arrow_scan(self.connection, b"seen", ctypes.pointer(stream)) == 0
        assert self.lib.duckdb_query(self.connection, b"create table t as select * from seen", None) == 0
        stream.release(ctypes.byref(stream))
        result = (ctypes.c_char * 256)()
        assert self.lib.duckdb_query(self.connection, statement.encode(), result) == 0, statement
        self.lib.duckdb_column_count.restype = ctypes.c_uint64
        row = []
        for column in range(self.lib.duckdb_column_count(result)):
            at = self.lib.duckdb_value_varchar(result, ctypes.c_uint64(column), ctypes.c_uint64(0))
            row.append(ctypes.string_at(at).decode() if at else None)
        self.lib.duckdb_destroy_result(result)
        assert self.lib.duckdb_query(self.connection, b"drop view seen; drop table t", None) == 0
        return row


def duck():
    try:
        return Duck()
    except OSError:
        return None


class Answers(unittest.TestCase):
    def test_a_report_is_the_programs(self):
        said = json.loads(run("report", "--format", "json", TRACE).stdout)
        report = assay.report(TRACE)
        self.assertEqual(dict(report), said)
        self.assertEqual(report.headline, " ".join(said["summary"]["headline"] + said["summary"]["details"]))
        self.assertEqual(report.bottleneck, "host")
        self.assertEqual([one["cause"] for one in report.causes][:2], ["dispatch", "python"])
        self.assertEqual([one["gain_ns"] for one in report.actions], [one["gain_ns"] for one in said["actions"]])
        self.assertEqual(repr(report), report.headline)

    def test_a_path_a_folder_and_a_list(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "a trace's $(name).json.gz"
            other.write_bytes(pathlib.Path(TRACE).read_bytes())
            verdict = assay.report(TRACE).headline
            self.assertEqual(assay.report(other).headline, verdict)
            self.assertEqual(assay.report(folder).headline, verdict)
            self.assertEqual(len(assay.report([TRACE, other])["inputs"]), 2)

    def test_options_are_keywords(self):
        few = assay.report(TRACE, top=3, allow_truncated=True, kernels=None)
        self.assertEqual(len(few["launch"]["top_kernels"]), 3)
        with self.assertRaises(TypeError):
            assay.report(TRACE, format="csv")

    def test_what_torch_recorded(self):
        class Stopped:
            def export_chrome_trace(self, path):
                import gzip

                pathlib.Path(path).write_bytes(gzip.decompress(pathlib.Path(TRACE).read_bytes()))

        report = assay.report(Stopped())
        self.assertEqual(report.bottleneck, "host")
        self.assertEqual(len(report.tables["kernels"]), 154)
        folder = report._inputs.folder()
        self.assertTrue(os.path.exists(folder))
        del report
        gc.collect()
        self.assertFalse(os.path.exists(folder), "what was written for it goes with it")

    def test_a_diff_passes_or_is_crossed(self):
        same = assay.diff(TRACE, TRACE, fail_on="kernels>+0")
        self.assertTrue(same.passed)
        self.assertEqual([gate["outcome"] for gate in same.gates], ["passed"])
        # 154 kernels are more than 100: seen without noise.
        crossed = assay.diff(TRACE, TRACE, fail_on=["kernels>100"], fail_on_any=True)
        self.assertFalse(crossed.passed)

    def test_what_if(self):
        answer = assay.whatif(TRACE, "faster_cpu=1.3")
        said = json.loads(run("whatif", "--format", "json", "--edit", "faster_cpu=1.3", TRACE).stdout)
        self.assertEqual(answer.actions, said["whatif"]["actions"])
        self.assertEqual(answer.joint["gain_ns"], said["whatif"]["joint"]["gain_ns"])
        self.assertIn("1.80 ms", answer._repr_html_())

    def test_explain_and_version(self):
        self.assertTrue(assay.explain("dispatch").startswith("operator dispatch (dispatch)\n"))
        self.assertIn("dispatch", assay.explain())
        self.assertEqual("assay " + assay.version(), run("--version").stdout.split(" (")[0].strip())

    def test_errors_are_the_programs_sentences(self):
        with self.assertRaises(assay.AssayError) as caught:
            assay.report("no/such/trace.json")
        self.assertEqual("assay: " + str(caught.exception) + "\n", run("report", "no/such/trace.json").stderr)
        self.assertEqual(caught.exception.code, 2)
        with self.assertRaises(assay.AssayError) as caught:
            assay.report("--version")
        self.assertIn("--version", str(caught.exception), "a path is no option")
        with self.assertRaises(assay.AssayError) as caught:
            assay.diff(TRACE, TRACE, fail_on="nonsense>+1%")
        self.assertIn("nonsense", str(caught.exception))
        with self.assertRaises(assay.AssayError) as caught:
            assay.explain("dispach")
        self.assertIn("did you mean 'dispatch'", str(caught.exception))
        with self.assertRaises(TypeError):
            assay.report(3)

    def test_lost_data_with_strict_is_3(self):
        with tempfile.TemporaryDirectory() as folder:
            cut = pathlib.Path(folder) / "cut.json"
            import gzip

            cut.write_bytes(gzip.decompress(pathlib.Path(TRACE).read_bytes())[:2_000_000])
            with self.assertRaises(assay.AssayError) as caught:
                assay.report(cut, allow_truncated=True, strict=True)
            self.assertEqual(caught.exception.code, 3)

    def test_another_schema_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder) / "assay"
            fake.write_text('#!/bin/sh\necho \'{"schema_version": 99}\'\n')
            fake.chmod(0o755)
            os.environ["ASSAY"] = str(fake)
            try:
                with self.assertRaisesRegex(assay.AssayError, "schema 99"):
                    assay.report(TRACE)
            finally:
                os.environ["ASSAY"] = ASSAY

    def test_a_program_that_a_signal_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder) / "assay"
            fake.write_text("#!/bin/sh\nkill -SEGV $$\n")
            fake.chmod(0o755)
            os.environ["ASSAY"] = str(fake)
            try:
                with self.assertRaises(assay.AssayError) as caught:
                    assay.report(TRACE)
                self.assertEqual(caught.exception.code, 128 + 11)
            finally:
                os.environ["ASSAY"] = ASSAY

    def test_hostile_names_stay_text(self):
        evil = "</script><img src=x onerror=alert(1)>"
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "<b>x.json"
            events = [
                {"ph": "X", "cat": "cpu_op", "name": evil, "pid": 1, "tid": 1, "ts": 1, "dur": 90},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 5, "dur": 9,
                 "args": {"correlation": 1}},
                {"ph": "X", "cat": "kernel", "name": evil, "pid": 0, "tid": 7, "ts": 30, "dur": 50,
                 "args": {"correlation": 1, "device": 0, "stream": 7}},
            ]  # fmt: skip
            place.write_text(json.dumps({"traceEvents": events}))
            report = assay.report(place)
            card = report._repr_html_() + report.tables["kernels"]._repr_html_()
            self.assertEqual(report.tables["kernels"]["name"][0], evil)
            self.assertIn("&lt;/script&gt;", card)
            self.assertNotIn("<img", card)
            self.assertNotIn("<b>x", card)
            self.assertLess(len(report._repr_html_()), 4096)

    def test_save(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "r.html"
            assay.report(TRACE).save(page)
            self.assertIn("<html", page.read_text()[:200])

    def test_sql(self):
        try:
            rows = assay.sql(TRACE, "select count(*) as n, sum(dur_ns) as ns from kernels")
        except assay.AssayError as error:
            self.assertIn("DuckDB", str(error))
            self.skipTest("DuckDB is not here")
        self.assertEqual(rows, [{"n": 154, "ns": 1220926}])
        with self.assertRaisesRegex(assay.AssayError, "nothere"):
            assay.sql(TRACE, "select * from nothere")


class OneTrace(unittest.TestCase):
    """A trace written by hand: two streams of device 3, and the numbers below are read off it."""

    def write(self, folder, events):
        place = pathlib.Path(folder) / "run.json"
        place.write_text(json.dumps({"traceEvents": events, "distributedInfo": {"rank": 5, "world_size": 8}}))
        return place

    def kernel(self, name, start_us, dur_us, stream, correlation):
        return [
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": start_us - 5,
             "dur": 2, "args": {"correlation": correlation}},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 3, "tid": stream, "ts": start_us, "dur": dur_us,
             "args": {"correlation": correlation, "device": 3, "stream": stream}},
        ]  # fmt: skip

    def test_device_stream_and_rank_are_the_files(self):
        with tempfile.TemporaryDirectory() as folder:
            place = self.write(folder, self.kernel("a", 100, 10, 7, 1) + self.kernel("b", 120, 30, 20, 2))
            kernels = assay.open(place).kernels
            self.assertEqual(kernels["name"].tolist(), ["a", "b"])
            self.assertEqual(kernels["stream"].tolist(), [7, 20])
            self.assertEqual(kernels["device"].tolist(), [3, 3])
            self.assertEqual(kernels["rank"].tolist(), [5, 5])
            self.assertEqual(kernels["dur_ns"].tolist(), [10_000, 30_000])

    def test_a_question_is_asked_of_a_trace(self):
        t = assay.open(TRACE)
        self.assertEqual(t.launch(top=3), assay.launch(TRACE, top=3))
        self.assertEqual(len(t.launch(top=3)["launch"]["top_kernels"]), 3)
        self.assertEqual(t.whatif("faster_cpu=1.3").actions, assay.whatif(TRACE, "faster_cpu=1.3").actions)
        self.assertEqual(t.roofline(), assay.breakdown(TRACE, roofline=True))
        self.assertEqual(len(t.kernels), 154)
        self.assertTrue(assay.diff(t, TRACE, fail_on="kernels>+0").passed)
        for answer in (t.overhead(), t.breakdown(by="op"), t.fusion(), t.why(), t.info()):
            self.assertEqual(answer["inputs"][0]["name"], TRACE)
        for table in (t.operators, t.idle, t.memory, t.copies):
            self.assertIn("rank", table.columns)

    def test_findings_have_codes_and_units(self):
        diagnosis = assay.open(TRACE).diagnosis
        headline = diagnosis.findings[0]
        self.assertEqual(headline.role, "headline")
        self.assertTrue(headline.code.startswith("host_bound"))
        share = headline.quantities["host_share"]
        self.assertEqual(share.unit, "share")
        self.assertTrue(0 < share.value < 1)
        self.assertIn(diagnosis.confidence, ("high", "medium", "low", "none"))
        self.assertEqual(assay.Quantity("bandwidth_bytes_per_s", 3).unit, "bytes/s")
        self.assertEqual(assay.Quantity("kernel", "a").unit, "")

    def test_a_wrong_keyword_names_the_nearest(self):
        with self.assertRaisesRegex(TypeError, "launch.*'windw'; did you mean 'window'"):
            assay.launch(TRACE, windw="x")
        with self.assertRaises(TypeError):
            assay.open(TRACE).launch(3)
        with self.assertRaisesRegex(TypeError, "needs b"):
            assay.diff(TRACE)

    def test_help_has_names_defaults_and_sentences(self):
        import inspect

        signature = inspect.signature(assay.launch)
        self.assertEqual(signature.parameters["top"].default, 10)
        self.assertEqual(signature.parameters["tree"].default, False)
        self.assertNotIn("format", signature.parameters)
        self.assertIn("kernels listed; 0 = all", assay.launch.__doc__)

    def test_errors_have_their_parts(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder) / "bad.json"
            bad.write_text('{"traceEvents": [{"ph": "X", ')
            with self.assertRaises(assay.AssayError) as caught:
                assay.open(bad).diagnosis
            self.assertEqual(caught.exception.kind, "truncated")
            self.assertEqual(caught.exception.file, str(bad))
            self.assertIn(caught.exception.message, str(caught.exception))
            self.assertEqual("assay: " + str(caught.exception) + "\n", run("report", str(bad)).stderr)

    def test_progress(self):
        seen = []
        assay.open(TRACE, progress=lambda *told: seen.append(told)).launch()
        size = os.path.getsize(TRACE)
        self.assertEqual({name for _, _, name in seen}, {TRACE})
        self.assertTrue(all(0 <= read <= total == size for read, total, _ in seen if total), seen)
        self.assertEqual(seen[-1][0], size)

        def refuse(*_):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            assay.open(TRACE, progress=refuse).launch()


class OneTable(unittest.TestCase):
    def test_every_table_equals_the_csv_export(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("export", "--format", "csv", "-o", folder + "/csv", TRACE).returncode, 0)
            files = sorted(pathlib.Path(folder, "csv/rank=0").glob("*.csv"))
            tables = assay.tables(TRACE)
            self.assertEqual(sorted(tables), [file.stem for file in files])
            self.assertGreater(len(files), 50)
            for file in files:
                self.same_cells(file, tables[file.stem])

    def same_cells(self, file, table):
        csv.field_size_limit(1 << 24)
        with open(file, newline="", encoding="utf-8") as text:
            rows = list(csv.reader(text))
        self.assertEqual(rows[0], table.columns, file.name)
        self.assertEqual(len(rows) - 1, len(table), file.name)
        for at, name in enumerate(table.columns):
            kind = table[name].type
            for written, cell in zip((row[at] for row in rows[1:]), table[name]):
                if cell is None:
                    self.assertEqual(written, "")
                elif kind == "bool":
                    self.assertEqual(written, str(cell).lower())
                elif kind == "float64":
                    self.assertEqual(float(written), cell)
                else:
                    self.assertEqual(written, str(cell), f"{file.name} {name}")

    def test_several_inputs_are_one_table_with_their_rank(self):
        one, two = assay.tables(TRACE)["kernels"], assay.tables([TRACE, TRACE])["kernels"]
        self.assertEqual(len(two), 2 * len(one))
        self.assertEqual(two.columns, ["rank", *one.columns])
        self.assertEqual(two["rank"].tolist(), [0] * 154 + [1] * 154)
        self.assertEqual(two["dur_ns"].tolist(), one["dur_ns"].tolist() * 2)

    def test_names_are_helped_with(self):
        tables = assay.tables(TRACE)
        with self.assertRaisesRegex(KeyError, "kernels"):
            tables["kernel"]
        with self.assertRaisesRegex(KeyError, "dur_ns"):
            tables["kernels"]["dur"]

    def test_damaged_files_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.columns"
            write_table(path, "t", 2, [("n", "int64", [1, 2])])
            whole = path.read_bytes()
            self.assertEqual(assay.Table(path)["n"].tolist(), [1, 2])
            for size in range(len(whole)):
                path.write_bytes(whole[:size])
                with self.assertRaises(ValueError):
                    assay.Table(path)
            path.write_bytes(whole.replace(b"[64, 16]", b"[64, 99]".ljust(8)))
            with self.assertRaises(ValueError):
                assay.Table(path)["n"].tolist()

    def test_random_tables(self):
        numbers = random.Random(1)
        consumer = duck()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.columns")
            for _ in range(500):
                rows = numbers.choice([0, 1, 7, 8, 9, 40])
                gaps = numbers.choice([0, 0.2, 1])

                def cells(make):
                    return [None if numbers.random() < gaps else make() for _ in range(rows)]

                columns = [
                    ("i", "int64", cells(lambda: numbers.randint(-(2**63), 2**63 - 1))),
                    ("u", "uint64", cells(lambda: numbers.randint(0, 2**64 - 1))),
                    ("r", "float64", cells(lambda: numbers.choice([0.0, -1.5, 1e300]))),
                    ("b", "bool", cells(lambda: numbers.random() < 0.5)),
                    ("s", "text", cells(lambda: numbers.choice(["", "a", "größe", "\0", "x" * 300]))),
                ]
                write_table(path, "t", rows, columns)
                table = assay.Table(path)
                for name, _, expected in columns:
                    self.assertEqual(table[name].tolist(), expected)
                if has("numpy"):
                    self.numpy_agrees(table, columns)
                if consumer:
                    self.duck_agrees(consumer, table, columns)

    def numpy_agrees(self, table, columns):
        for name, _, expected in columns:
            values, missing = table[name].to_numpy(), table[name].mask()
            self.assertEqual([None if gone else v for v, gone in zip(values.tolist(), missing.tolist())], expected)
            if has("pandas"):
                import pandas

                series = table[name].to_pandas()
                self.assertEqual([None if pandas.isna(v) else v for v in series.tolist()], expected)

    def duck_agrees(self, consumer, table, columns):
        from assay import _arrow

        said = consumer.ask(
            _arrow.stream(table),
            "select count(*), count(i), sum(i::hugeint), sum(u::hugeint), count(r), sum(b::int), count(s), "
            "string_agg(replace(s, chr(0), '0'), '|') from t",
        )
        here = {name: [cell for cell in cells if cell is not None] for name, _, cells in columns}

        def total(values):
            return str(sum(values)) if values else None

        texts = "|".join(text.replace("\0", "0") for text in here["s"]) if here["s"] else None
        expected = [
            str(len(table)), str(len(here["i"])), total(here["i"]), total(here["u"]), str(len(here["r"])),
            total(here["b"]), str(len(here["s"])), texts,
        ]  # fmt: skip
        self.assertEqual(said, expected)

    def test_a_million_rows_open_in_ten_milliseconds(self):
        count = 1_000_000
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.columns")
            write_table(path, "t", count, [("n", "int64", range(count))])
            best = min(timed(lambda: assay.Table(path)["n"].values[count - 1]) for _ in range(5))
            print(f"a million rows: open and look, {best * 1e3:.2f} ms", file=sys.stderr)
            self.assertLess(best, 0.010)
            table = assay.Table(path)
            self.assertEqual(table["n"].values[999_999], 999_999)
            if has("numpy"):
                import numpy

                self.assertFalse(numpy.asarray(table["n"]).flags.owndata, "seen in place")
            consumer = duck()
            if consumer:
                from assay import _arrow

                said = consumer.ask(_arrow.stream(table), "select count(*), sum(n), max(n) from t")
                self.assertEqual(said, ["1000000", "499999500000", "999999"])

    def test_nothing_is_held_after_use(self):
        from assay import _arrow

        table = assay.tables(TRACE)["kernels"]
        _arrow._held.clear()  # what DuckDB has not released
        for _ in range(3):
            capsule = table.__arrow_c_stream__()
            del capsule  # nobody took it
        gc.collect()
        self.assertEqual((len(_arrow._held), len(_arrow._streams)), (0, 0))
        stream = _arrow.stream(table)
        schema, rows, end = _arrow.ArrowSchema(), _arrow.ArrowArray(), _arrow.ArrowArray()
        # Consumers hand in memory as it is.
        for struct in (schema, rows):
            ctypes.memset(ctypes.byref(struct), 0xA5, ctypes.sizeof(struct))
        self.assertEqual(stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)), 0)
        self.assertEqual(stream.get_next(ctypes.byref(stream), ctypes.byref(rows)), 0)
        self.assertEqual(stream.get_next(ctypes.byref(stream), ctypes.byref(end)), 0)
        self.assertFalse(end.release, "the end of the stream")
        stream.release(ctypes.byref(stream))
        names = [ctypes.string_at(schema.children[i].contents.name).decode() for i in range(schema.n_children)]
        self.assertEqual(names, table.columns)
        # One column is taken for itself, and outlives the rest.
        at = names.index("dur_ns")
        column = _arrow.ArrowArray()
        ctypes.memmove(ctypes.byref(column), rows.children[at], ctypes.sizeof(column))
        rows.children[at].contents.release = type(column.release)()
        rows.release(ctypes.byref(rows))
        schema.release(ctypes.byref(schema))
        expected = table["dur_ns"].tolist()
        del table
        gc.collect()
        values = ctypes.cast(column.buffers[1], ctypes.POINTER(ctypes.c_int64))
        self.assertEqual([values[i] for i in range(column.length)], expected)
        self.assertEqual(len(_arrow._held), 1)
        column.release(ctypes.byref(column))
        self.assertEqual(len(_arrow._held), 0)

    def test_pandas(self):
        if not has("pandas"):
            self.skipTest("pandas is not here")
        frame = assay.tables(TRACE)["kernels"].to_pandas()
        self.assertEqual(frame["dur_ns"].sum(), 1220926)
        self.assertEqual(frame.attrs["units"]["dur_ns"], "ns")
        self.assertEqual(frame.groupby("name", observed=True)["dur_ns"].sum().sum(), 1220926)
        top = assay.report(TRACE).to_frame("launch.top_kernels")
        self.assertIn("short_name", top.columns)


def timed(action):
    before = time.perf_counter()
    action()
    return time.perf_counter() - before


class FakeTorch:
    """torch.profiler's way of calling back: a schedule of steps, a trace at its end."""

    def __init__(self):
        self.profiler = types.ModuleType("torch.profiler")
        self.profiler.supported_activities = lambda: {"cpu"}
        self.profiler.schedule = lambda **steps: steps
        self.profiler.profile = FakeProfiler
        self.module = types.ModuleType("torch")
        self.module.profiler = self.profiler

    def __enter__(self):
        sys.modules["torch"], sys.modules["torch.profiler"] = self.module, self.profiler
        return self

    def __exit__(self, *_):
        del sys.modules["torch"], sys.modules["torch.profiler"]


class FakeProfiler:
    def __init__(self, on_trace_ready, schedule=None, **settings):
        self.ready, self.schedule, self.settings, self.at, self.told = on_trace_ready, schedule, settings, 0, False

    def __enter__(self):
        return self

    def step(self):
        self.at += 1
        if self.schedule and self.at == self.schedule["warmup"] + self.schedule["active"]:
            self.tell()

    def tell(self):
        if not self.told:
            self.told = True
            self.ready(self)

    def __exit__(self, *_):
        if not self.schedule or self.at > self.schedule["warmup"]:
            self.tell()

    def export_chrome_trace(self, path):
        import gzip

        pathlib.Path(path).write_bytes(gzip.decompress(pathlib.Path(TRACE).read_bytes()))


class Recording(unittest.TestCase):
    def test_steps_are_recorded_and_answered_for(self):
        with FakeTorch():
            with assay.profile(steps=3) as p:
                for step in range(9):
                    p.step()
                    self.assertEqual(p.done, step >= 4, "two warm up, three are recorded")
            self.assertEqual(p.report.bottleneck, "host")
            self.assertEqual(p._profiler.settings["record_shapes"], True)

    def test_too_few_steps_are_said(self):
        with FakeTorch():
            with assay.profile(steps=3) as p:
                p.step()
            with self.assertRaisesRegex(assay.AssayError, "called 1 times"):
                _ = p.report

    def test_a_whole_body_and_a_place_for_it(self):
        with FakeTorch(), tempfile.TemporaryDirectory() as folder:
            with assay.profile(steps=None, trace=folder + "/kept.json") as p:
                pass
            self.assertEqual(p.trace, folder + "/kept.json")
            self.assertEqual(assay.report(p).bottleneck, "host")
            self.assertTrue(os.path.exists(p.trace))


class Watching(unittest.TestCase):
    def watched(self, steps, **options):
        """The lines that a loop of so many steps logs, and its Watch."""
        lines = []
        with FakeTorch(), assay.torch.Watch(every=8, steps=3, log=lines.append, **options) as watch:
            for _ in range(steps):
                time.sleep(0.001)
                watch.step()
                if watch._asked is not None:
                    watch._asked.child.wait()
        return lines, watch

    def test_steps_are_recorded_and_answered_for_in_another_process(self):
        lines, watch = self.watched(30)
        headline = assay.report(TRACE).headline
        self.assertEqual([one["step"] for one in watch.summaries], [13, 21, 29])
        self.assertEqual({one["headline"] for one in watch.summaries}, {headline})
        self.assertEqual(len(lines), 4)
        for line, step in zip(lines, (13, 21, 29)):
            self.assertRegex(line, f"^assay: step {step}: " + ".*watching took [0-9.]+ s, [0-9.]+ % of the run")
        self.assertRegex(lines[-1], "^assay: 3 answers; watching took")
        numbers, said = watch.summaries[0]["numbers"], json.loads(run("report", "--format=json", TRACE).stdout)
        shares = {"share/" + one["cause"]: one["window_share"] for one in said["summary"]["causes"]}
        self.assertEqual({name: value for name, value in numbers.items() if name.startswith("share/")}, shares)
        self.assertEqual(numbers["window_s"], said["summary"]["window_ns"] / 1e9)
        self.assertEqual(numbers["kernels"], said["launch"]["whole"]["kernels"])

    def test_the_overhead_is_measured(self):
        whole = FakeProfiler.export_chrome_trace

        def slow(profiler, path):
            time.sleep(0.2)
            whole(profiler, path)

        FakeProfiler.export_chrome_trace = slow
        try:
            _, watch = self.watched(22)
        finally:
            FakeProfiler.export_chrome_trace = whole
        for one in watch.summaries:
            self.assertGreater(one["numbers"]["watch_overhead_s"], 0.2)
        self.assertGreaterEqual(watch.overhead_s, sum(one["numbers"]["watch_overhead_s"] for one in watch.summaries))

    def test_the_loop_does_not_wait_for_the_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            slow = pathlib.Path(folder, "assay")
            slow.write_text(f'#!/bin/sh\nsleep 1\nexec "{ASSAY}" "$@"\n', encoding="utf-8")
            slow.chmod(0o755)
            place, os.environ["ASSAY"] = os.environ["ASSAY"], str(slow)
            lines, longest = [], 0
            try:
                with FakeTorch(), assay.torch.Watch(every=8, steps=3, log=lines.append) as watch:
                    for _ in range(24):
                        longest = max(longest, timed(watch.step))
            finally:
                os.environ["ASSAY"] = place
        self.assertLess(longest, 0.9)
        self.assertEqual(lines[:2], [f"assay: step {n}: not recorded, the answer to step 13 is not there yet" for n in (16, 24)])
        self.assertEqual([one["step"] for one in watch.summaries], [13], "waited for at the end")

    def test_nothing_is_kept_unless_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            before, tempfile.tempdir = tempfile.tempdir, folder
            try:
                self.watched(30)
                self.watched(10)  # ends while it records
                self.assertEqual(os.listdir(folder), [])
                self.watched(14, keep=folder + "/kept")
            finally:
                tempfile.tempdir = before
            self.assertEqual(sorted(os.listdir(folder)), ["kept"])
            kept = pathlib.Path(folder, "kept")
            self.assertEqual(sorted(os.listdir(kept)), ["step13.json", "step13.report.json"])
            self.assertEqual(assay.report(kept / "step13.json").bottleneck, "host")

    def test_loggers_get_the_numbers(self):
        rows = []
        board = types.SimpleNamespace(add_scalar=lambda name, value, step: rows.append(("board", name, value, step)))
        wandb, mlflow = types.ModuleType("wandb"), types.ModuleType("mlflow")
        wandb.run = types.SimpleNamespace(log=lambda numbers, commit: rows.append(("wandb", numbers, commit)))
        mlflow.active_run = lambda: True
        mlflow.log_metrics = lambda numbers, step: rows.append(("mlflow", numbers, step))
        sys.modules.update(wandb=wandb, mlflow=mlflow)
        with tempfile.TemporaryDirectory() as folder:
            try:
                place = folder + "/assay.prom"
                _, watch = self.watched(14, tensorboard=board, metrics=place)
            finally:
                del sys.modules["wandb"], sys.modules["mlflow"]
            text = pathlib.Path(place).read_text(encoding="utf-8")
            self.assertEqual(os.listdir(folder), ["assay.prom"])
        named = {"assay/" + name: value for name, value in watch.summaries[0]["numbers"].items()}
        self.assertEqual({row[1]: row[2] for row in rows if row[0] == "board"}, named)
        self.assertIn(("wandb", {**named, "assay/step": 13}, False), rows)
        self.assertIn(("mlflow", named, 13), rows)
        self.assertTrue(text.endswith("# EOF\n"))
        self.assertIn("assay_step 13\n", text)
        self.assertIn(f'assay_time_ratio{{cause="dispatch"}} {named["assay/share/dispatch"]!r}\n', text)
        self.assertIn("# TYPE assay_window_seconds gauge\n", text)
        families = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
        self.assertEqual(len(families), len(set(families)))

    def test_an_error_is_logged_and_the_loop_continues(self):
        def broken(**_):
            raise RuntimeError("the profiler is in use")

        lines = []
        with FakeTorch() as torch, assay.torch.Watch(every=8, steps=3, log=lines.append) as watch:
            torch.profiler.profile, whole = broken, torch.profiler.profile
            for _ in range(9):
                watch.step()
            torch.profiler.profile = whole
            place, os.environ["ASSAY"] = os.environ["ASSAY"], "/nowhere/assay"
            try:
                for _ in range(7):
                    watch.step()
                for _ in range(5):
                    watch.step()
            finally:
                os.environ["ASSAY"] = place
        self.assertEqual(lines[0], "assay: step 8: not recorded: the profiler is in use")
        self.assertRegex(lines[1], "^assay: step 21: no answer: .*No such file")
        self.assertEqual((len(lines), watch.summaries), (2, []))

    def test_a_trace_that_is_refused(self):
        whole = FakeProfiler.export_chrome_trace
        FakeProfiler.export_chrome_trace = lambda _, path: pathlib.Path(path).write_text("{")
        try:
            lines, watch = self.watched(14)
        finally:
            FakeProfiler.export_chrome_trace = whole
        self.assertRegex(lines[0], "^assay: step 13: no answer: .*trace.json")
        self.assertEqual((len(lines), watch.summaries), (1, []))

    def test_one_rank_records(self):
        os.environ["RANK"] = "1"
        try:
            self.assertEqual(self.watched(14)[0], [])
            self.assertEqual(len(self.watched(14, rank=None)[1].summaries), 1)
            self.assertEqual(len(self.watched(14, rank=1)[1].summaries), 1)
        finally:
            del os.environ["RANK"]

    def test_callbacks_of_trainers(self):
        class Base:
            pass

        lightning, transformers = types.ModuleType("lightning.pytorch"), types.ModuleType("transformers")
        lightning.Callback = transformers.TrainerCallback = Base
        sys.modules.update({"lightning": types.ModuleType("lightning"), "lightning.pytorch": lightning})
        sys.modules["transformers"] = transformers
        rows = []
        logger = types.SimpleNamespace(log_metrics=lambda numbers, step: rows.append((numbers, step)))
        try:
            for made, names in (
                ("lightning", ("on_train_start", "on_train_batch_end", "on_train_end")),
                ("transformers", ("on_train_begin", "on_step_end", "on_train_end")),
            ):
                with FakeTorch():
                    watch = assay.torch.Watch(every=8, steps=3, log=lambda _: None)
                    callback = getattr(watch, made)()
                    self.assertIsInstance(callback, Base)
                    begin, step, end = (getattr(callback, name) for name in names)
                    begin(types.SimpleNamespace(loggers=[logger]), None)
                    for number in range(14):
                        step(None, None, None, number)
                    end(None, None)
                self.assertEqual([one["step"] for one in watch.summaries], [13])
        finally:
            del sys.modules["lightning"], sys.modules["lightning.pytorch"], sys.modules["transformers"]
        self.assertEqual([step for _, step in rows], [13], "of Lightning")

    def test_wrong_periods_and_no_torch(self):
        with self.assertRaisesRegex(ValueError, "more than the 5 steps"):
            assay.torch.Watch(every=5, steps=3)
        if not has("torch"):
            with self.assertRaisesRegex(assay.AssayError, "PyTorch is not installed"):
                assay.torch.Watch().start()


class Plots(unittest.TestCase):
    def test_without_a_library_the_error_names_one(self):
        whole = importlib.util.find_spec
        importlib.util.find_spec = lambda name: None if name in ("altair", "matplotlib") else whole(name)
        try:
            for asked, text in ((None, "neither altair nor matplotlib is installed: pip install altair"),
                                ("matplotlib", "matplotlib is not installed: pip install matplotlib")):  # fmt: skip
                with self.assertRaisesRegex(assay.AssayError, text) as caught:
                    assay.report(TRACE).plot(library=asked)
                self.assertEqual(caught.exception.kind, "not_installed")
        finally:
            importlib.util.find_spec = whole

    def test_what_has_no_chart_says_so(self):
        with self.assertRaisesRegex(assay.AssayError, "no chart of 'layers' in this answer; there are causes, kernels"):
            assay.report(TRACE).plot("layers")
        with self.assertRaisesRegex(assay.AssayError, "no chart is defined for the table ops; kernels,"):
            assay.tables(TRACE)["ops"].plot()
        with self.assertRaisesRegex(ValueError, "altair or matplotlib, not 'gnuplot'"):
            assay.report(TRACE).plot(library="gnuplot")

    def test_altair(self):
        if not has("altair"):
            self.skipTest("altair is not here")
        t = assay.open(TRACE)
        rows = t.kernels.plot(top=3, library="altair").to_dict()["data"]["values"]
        self.assertEqual(len(rows), 4)
        self.assertAlmostEqual(sum(row["ms"] for row in rows), sum(t.kernels["dur_ns"]) / 1e6)
        rows = t.diagnosis.plot(library="altair").to_dict()["data"]["values"]
        self.assertEqual([row["name"] for row in rows], [one["cause"] for one in t.diagnosis.causes if one["ns"]])
        for table, mark in ((t.idle, "bar"), (t.iterations, "line")):
            drawn = table.plot(library="altair").to_dict()["mark"]
            self.assertEqual(drawn if isinstance(drawn, str) else drawn["type"], mark)

    def test_matplotlib(self):
        if not has("matplotlib"):
            self.skipTest("matplotlib is not here")
        t = assay.open(TRACE)
        for figure, parts in ((t.kernels.plot(top=3, library="matplotlib"), 4),
                              (t.diagnosis.plot("kernels", top=3, library="matplotlib"), 4),
                              (t.why().plot(library="matplotlib"), len(t.why()["causes"]))):  # fmt: skip
            axes = figure.axes[0]
            self.assertLessEqual(len(axes.patches), parts)
            figure.savefig(os.devnull, format="png")
        self.assertEqual(len(t.iterations.plot(library="matplotlib").axes[0].lines), 3)


class Cost(unittest.TestCase):
    def test_only_the_standard_library_is_loaded(self):
        script = (
            "import sys; before = set(sys.modules); import assay; r = assay.report(sys.argv[1]);"
            "r.tables['kernels']['dur_ns'].tolist(); r._repr_html_();"
            "print(*{m.split('.')[0] for m in set(sys.modules) - before} - sys.stdlib_module_names)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, TRACE], env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        self.assertEqual(done.stdout.split(), ["assay"])


def main():
    global ASSAY, assay  # noqa: PLW0603
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--module", default=str(ROOT / "python"), help="the folder that holds the module")
    given, rest = parser.parse_known_args()
    if not has("pandas") and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM) and os.path.exists(SYSTEM):
        os.execv(SYSTEM, [SYSTEM, *sys.argv])  # packages of the distribution are that one's
    ASSAY = str(pathlib.Path(given.assay).resolve())
    os.environ["ASSAY"] = ASSAY
    sys.path.insert(0, given.module)
    sys.dont_write_bytecode = True
    import assay

    missing = [name for name in ("numpy", "pandas") if not has(name)] + ([] if duck() else ["DuckDB's library"])
    if missing:
        print("not here, and not tried: " + ", ".join(missing), file=sys.stderr)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
