#!/usr/bin/env python3
"""`assay mcp` with a client of JSON-RPC: the session an agent has, what lies outside of the folders, messages that
are none, many calls in one session.

    check_mcp.py --assay build/release/assay
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = ROOT / "examples/h100_vit_inference.json.gz"
ASSAY = ""


class Client:
    def __init__(self, *folders, options=()):
        self.server = subprocess.Popen(
            [ASSAY, "mcp", *options, *folders], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.id = 0

    def raw(self, line):
        self.server.stdin.write(line + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())

    def tell(self, method, **members):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, **members}) + "\n")
        self.server.stdin.flush()

    def ask(self, method, **params):
        self.id += 1
        answer = self.raw(json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}))
        assert answer["id"] == self.id, answer
        return answer

    def tool(self, name, **arguments):
        """(text, whether it is an error)"""
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        assert [part["type"] for part in result["content"]] == ["text"]
        return result["content"][0]["text"], result["isError"]

    def memory_kb(self):
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def close(self):
        self.server.stdin.close()
        code = self.server.wait(10)
        self.server.stdout.close()
        return code


def alive(process):
    try:
        return " Z " not in pathlib.Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False


class Session(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.runs = os.path.join(self.folder, "runs")
        os.mkdir(self.runs)
        shutil.copy(TRACE, os.path.join(self.runs, "vit.json.gz"))
        shutil.copy(TRACE, os.path.join(self.folder, "secret.json.gz"))
        self.client = Client(self.runs)

    def tearDown(self):
        self.assertEqual(self.client.close(), 0, "the end of the input ends it")
        shutil.rmtree(self.folder)

    def test_what_an_agent_asks(self):
        begun = self.client.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={})["result"]
        self.assertEqual(begun["protocolVersion"], "2025-06-18")
        self.assertEqual(begun["serverInfo"]["name"], "assay")
        self.assertIn(self.runs, begun["instructions"])
        self.client.tell("notifications/initialized")
        self.assertEqual(self.client.ask("ping")["result"], {})
        answer = self.client.ask("tools/list")
        tools = answer["result"]["tools"]
        self.assertEqual(
            [t["name"] for t in tools],
            ["list", "diagnose", "breakdown", "kernels", "idle", "whatif", "diff", "fusion", "roofline", "job", "power",
             "explain", "sql"],
        )  # fmt: skip
        self.assertTrue(all(t["annotations"]["readOnlyHint"] for t in tools))
        self.assertLessEqual(len(json.dumps(answer)), 28_672, "it is paid for in every conversation")
        # What limits it, what to change first, did it get worse, which kernel takes most time.
        listed = self.told("list")
        self.assertEqual([row["path"] for row in listed["files"]], [os.path.join(os.path.realpath(self.runs), "vit.json.gz")])
        self.assertIsNone(listed["files"][0]["device"], "this file names it after its events")
        self.assertEqual(listed["files"][0]["bytes"], TRACE.stat().st_size)
        report = self.told("diagnose", trace="vit.json.gz")
        self.assertIn("Host-bound", report["headline"])
        self.assertEqual(report["bottleneck"], "host")
        self.assertIn("CUDA graphs", report["actions"][0]["text"])
        self.assertIn("whatif", [one["tool"] for one in report["next"]])
        changed = self.told("diff", a="vit.json.gz", b="vit.json.gz", fail_on=["kernels>+0"])
        self.assertIn("as long as A", changed["headline"])
        self.assertEqual(changed["gates"][0]["outcome"], "passed")
        crossed, failed = self.client.tool("diff", a="vit.json.gz", b="vit.json.gz", fail_on=["nonsense>1"])
        self.assertTrue(failed)
        self.assertIn("nonsense", crossed)
        self.assertIn("dispatch", json.dumps(self.told("idle", trace="vit.json.gz")))
        gain = self.told("whatif", trace="vit.json.gz", edit=["faster_cpu=1.3"])["actions"][0]["run_gain_ns"]
        self.assertTrue(1_790_000 < gain < 1_810_000, gain)
        self.assertEqual(self.told("kernels", trace="vit.json.gz")["kernels"], 154)
        self.assertIn("framework operators", self.told("explain", word="dispatch")["text"])
        rows, failed = self.client.tool("sql", trace="vit.json.gz", command="select count(*) n from kernels")
        self.assertTrue("154" in rows if not failed else "DuckDB" in rows, rows)

    def told(self, name, **arguments):
        """The structured answer, which has the shape that the tool declares."""
        result = self.client.ask("tools/call", name=name, arguments=arguments)["result"]
        self.assertFalse(result["isError"], result)
        answer = result["structuredContent"]
        self.assertEqual(json.loads(result["content"][0]["text"]), answer)
        try:
            import jsonschema
        except ImportError:
            return answer
        tools = {tool["name"]: tool for tool in self.client.ask("tools/list")["result"]["tools"]}
        jsonschema.validate(answer, tools[name]["outputSchema"])
        return answer

    def test_answers_fit_their_budget_and_go_on(self):
        for name, more in (
            ("diagnose", {}), ("breakdown", {}), ("kernels", {}), ("idle", {}), ("whatif", {}), ("fusion", {}),
            ("roofline", {}),
        ):  # fmt: skip
            for tokens in (500, 1500):
                answer = self.told(name, trace="vit.json.gz", max_tokens=tokens, **more)
                self.assertLessEqual(len(json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode()), 3 * tokens, name)
                for one in answer["left_out"]:
                    if "ask" in one:
                        self.assertEqual(one["ask"]["tool"], name)
                        self.assertGreater(one["count"], 0)
        # Page by page, every kernel comes once.
        seen, arguments = [], {"trace": "vit.json.gz", "max_tokens": 900, "table": "kernels_by_name"}
        for _ in range(60):
            answer = self.told("kernels", **arguments)
            seen += answer["kernels_by_name"]
            rest = [one["ask"]["arguments"] for one in answer["left_out"] if one["what"] == "kernels_by_name"]
            if not rest:
                break
            arguments = rest[0]
        self.assertEqual(sum(row["count"] for row in seen), 154)
        self.assertEqual(sum(row["dur_sum_ns"] for row in seen), 1_220_926)
        times = [row["dur_sum_ns"] for row in seen]
        self.assertEqual(times, sorted(times, reverse=True))

    def test_wrong_arguments_name_the_nearest(self):
        self.assertIn('did you mean "trace"', self.client.tool("diagnose", trac="vit.json.gz")[0])
        said, failed = self.client.tool("fusion", trace="vit.json.gz", segment="sink")
        self.assertTrue(failed)
        self.assertIn("rootop", said)
        self.assertIn("none of", self.client.tool("kernels", trace="vit.json.gz", table="kernels")[0])

    def test_tools_are_the_options_of_the_verbs(self):
        """One description: `assay options`, docs/cli.md, the Python module and the tools agree."""
        options = json.loads(subprocess.run([ASSAY, "options"], capture_output=True, check=True).stdout)
        verbs = {verb["name"]: verb for verb in options["verbs"]}
        tools = {tool["name"]: tool for tool in self.client.ask("tools/list")["result"]["tools"]}
        pages = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
        module = (ROOT / "python/assay/_questions.py").read_text(encoding="utf-8")
        types = {"flag": "boolean", "text": "string", "integer": "integer", "number": "number"}
        self.assertEqual([one["tool"] for one in options["questions"]], list(tools.values()))
        compared = 0
        for question in options["questions"]:
            verb = verbs[question["verb"]]
            self.assertTrue(f"## assay {verb['name']}\n" in pages, verb["name"])
            known = {name.lstrip("-").replace("-", "_"): one for one in verb["options"] for name in one["names"]}
            page = pages.split(f"## assay {verb['name']}\n", 1)[1].split("\n## ", 1)[0]
            for name, schema in tools[question["name"]]["inputSchema"]["properties"].items():
                if name not in known or known[name].get("input") or "samples" in name or "summaries" in name:
                    continue
                option = known[name]
                self.assertEqual(schema["description"], option["sentence"])
                expected = "array" if option.get("repeatable") else types[option["type"]]
                self.assertEqual(schema["type"], expected, f"{question['name']} {name}")
                self.assertEqual(schema.get("enum", []), option.get("words", []))
                self.assertIn("--" + name.replace("_", "-"), page)
                keyword = "by" if name == "group_by" else name
                self.assertRegex(module, rf"\b{keyword}: ")
                compared += 1
        self.assertGreater(compared, 15)

    def test_sql_reads_no_file_and_few_rows(self):
        rows, failed = self.client.tool("sql", trace="vit.json.gz", command="select id from ops", limit=9_999_999)
        if "DuckDB is not here" in rows:
            self.skipTest("DuckDB is not here")
        self.assertFalse(failed)
        self.assertIn("500", rows)
        for statement in ("select * from read_csv('/etc/passwd')", "copy ops to '/tmp/x.csv'", "install httpfs"):
            self.assertTrue(self.client.tool("sql", trace="vit.json.gz", command=statement)[1], statement)
        self.assertTrue(self.client.tool("sql", trace="vit.json.gz", command="")[1])

    def test_nothing_outside_is_read_or_told(self):
        os.symlink(os.path.join(self.folder, "secret.json.gz"), os.path.join(self.runs, "link.json.gz"))
        os.symlink(self.folder, os.path.join(self.runs, "up"))
        inside = self.client.tool("diagnose", trace="nothing.json")
        self.assertTrue(inside[1])
        self.assertIn("nothing lies there", inside[0])
        words = set()
        for path in (
            os.path.join(self.folder, "secret.json.gz"), os.path.join(self.folder, "none.json.gz"),
            "../secret.json.gz", "../none.json.gz", "link.json.gz", "up/secret.json.gz", "../*.json.gz", "*.json.gz",
            "/etc/*", "/no/such/folder/x", "*/../../*.json.gz", self.folder, "/", "",
        ):  # fmt: skip
            said, failed = self.client.tool("diagnose", trace=path)
            self.assertTrue(failed, path)
            self.assertNotIn("bound", said.replace("outside", ""))
            if path:
                words.add(said[len(path) :])
        self.assertEqual(words, {": lies outside of the folders that this server was started with"})
        # A folder that holds a way out is refused as a whole.
        self.assertTrue(self.client.tool("diagnose", trace=self.runs)[1])
        os.remove(os.path.join(self.runs, "link.json.gz"))
        self.assertFalse(self.client.tool("diagnose", trace=self.runs)[1])
        self.assertFalse(self.client.tool("diagnose", trace="v*.json.gz")[1])

    def test_arguments_are_no_options(self):
        said, failed = self.client.tool("diagnose", trace="--version")
        self.assertTrue(failed)
        self.assertIn("nothing lies there", said)
        self.assertTrue(self.client.tool("explain", word="--help")[1])
        marker = os.path.join(self.runs, "made")
        self.client.tool("diagnose", trace="vit.json.gz", window=f"$(touch {marker}); --output={marker}")
        self.assertFalse(os.path.exists(marker))

    def test_what_is_no_message(self):
        ask = self.client.raw
        self.assertEqual(ask("{")["error"]["code"], -32700)
        self.assertEqual(ask("[" * 100_000)["error"]["code"], -32700)
        for line in ("[]", "3", '{"jsonrpc": "1.0", "id": 1, "method": "ping"}', '{"jsonrpc": "2.0", "id": 1}',
                     '{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
                     '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}'):  # fmt: skip
            self.assertEqual(ask(line)["error"]["code"], -32600, line)
        self.assertEqual(self.client.ask("resources/list")["error"]["code"], -32601)
        self.assertEqual(self.client.ask("tools/call", name="rm", arguments={})["error"]["code"], -32602)
        for arguments in ({}, {"trace": 3}, {"trace": "x", "more": 1}, {"trace": "x", "window": []}):
            self.assertTrue(self.client.tool("diagnose", **arguments)[1], arguments)
        self.assertEqual(self.client.ask("initialize", protocolVersion="1999")["result"]["protocolVersion"], "2025-11-25")

    def test_damaged_messages_end_nothing(self):
        numbers = random.Random(7)
        whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                            "params": {"name": "explain", "arguments": {"word": "tklqt"}}})  # fmt: skip
        for _ in range(400):
            line = list(whole)
            for _ in range(numbers.randint(1, 4)):
                line[numbers.randrange(len(line))] = chr(numbers.randint(32, 126))
            self.client.server.stdin.write("".join(line) + "\n")
            # Whether a changed line is still a request is not known, so a known one follows it.
            self.client.id += 1
            mark = f"mark{self.client.id}"
            self.client.server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": mark, "method": "ping"}) + "\n")
            # Calls of earlier lines may be answered in between.
            for _ in range(800):
                if json.loads(self.client.server.stdout.readline()).get("id") == mark:
                    break
            else:
                self.fail("no answer to ping")

    def endless(self, number=1):
        """The request of a statement that never ends."""
        self.client.tell("tools/call", id=f"endless{number}", params={"name": "sql", "arguments": {
            "trace": "vit.json.gz",
            "command": "with recursive t(n) as (select 1 union all select n + 1 from t) select max(n) from t"}})

    def children(self):
        """Ids of the processes that the server runs."""
        pid = self.client.server.pid
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def need_duckdb(self):
        if "DuckDB is not here" in self.client.tool("sql", trace="vit.json.gz", command="select 1")[0]:
            self.skipTest("DuckDB is not here")

    def wait_until(self, holds, words):
        until = time.monotonic() + 20
        while not holds():
            self.assertLess(time.monotonic(), until, words)
            time.sleep(0.01)

    def test_a_call_keeps_no_message_waiting_and_can_be_cancelled(self):
        self.need_duckdb()
        for number in range(6):  # more than run at once
            self.endless(number)
        begun = time.monotonic()
        self.assertEqual(self.client.ask("ping")["result"], {})
        self.assertLess(time.monotonic() - begun, 5)
        self.wait_until(lambda: len(self.children()) == 4, "four calls run")
        for number in range(6):
            self.client.tell("notifications/cancelled", params={"requestId": f"endless{number}"})
        self.wait_until(lambda: not self.children(), "cancelled calls end")
        # A cancelled call has no answer: the next line is of the next request.
        self.assertIn("framework operators", self.client.tool("explain", word="dispatch")[0])

    def test_the_end_of_the_server_ends_its_calls(self):
        self.need_duckdb()
        for end in ("input", "kill"):
            self.endless()
            self.wait_until(self.children, "the call runs")
            child = self.children()[0]
            if end == "kill":
                self.client.server.kill()
                self.client.server.wait(10)
                self.client.server.stdin.close()
                self.client.server.stdout.close()
            else:
                self.assertEqual(self.client.close(), 0)
            self.wait_until(lambda: not alive(child), f"{end}: process {child} lives on")
            self.client = Client(self.runs)

    def test_calls_are_limited_in_time_and_memory(self):
        self.need_duckdb()
        self.client.close()
        self.client = Client(self.runs, options=("--timeout", "3"))
        self.endless()
        answer = json.loads(self.client.server.stdout.readline())
        self.assertTrue(answer["result"]["isError"])
        self.assertIn("3 s", answer["result"]["content"][0]["text"])
        self.client.close()
        self.client = Client(self.runs, options=("--memory", "300MB"))
        said, failed = self.client.tool("sql", trace="vit.json.gz", command="select list(i) from range(100000000) t(i)")
        self.assertTrue(failed)
        self.assertIn("memory", said.lower())

    def test_memory_is_flat(self):
        for _ in range(20):
            self.client.tool("explain", word="dispatch")
        before = self.client.memory_kb()
        for _ in range(400):
            self.client.tool("explain", word="dispatch")
        self.assertLess(self.client.memory_kb() - before, 10_240)


class Verbs(unittest.TestCase):
    def run_verb(self, *words):
        return subprocess.run([ASSAY, *words], capture_output=True, text=True, check=False)

    def test_the_summary_line_is_the_headline_on_one_line(self):
        line = self.run_verb("summary-line", str(TRACE)).stdout
        report = json.loads(self.run_verb("report", "--format", "json", str(TRACE)).stdout)["summary"]
        self.assertEqual(line.count("\n"), 1)
        self.assertLessEqual(len(line.rstrip("\n")), 140)
        self.assertTrue(line.startswith(report["headline"][0][:60]))
        self.assertIn(f"{report['confidence']['grade']} confidence", line)
        missing = self.run_verb("summary-line", "no/such.json")
        self.assertEqual(missing.stderr, self.run_verb("report", "no/such.json").stderr)
        self.assertEqual(missing.returncode, 2)

    def test_the_skill_has_every_tool(self):
        with tempfile.TemporaryDirectory() as folder:
            made = self.run_verb("agent-skill", os.path.join(folder, "a/b"))
            self.assertEqual(made.returncode, 0, made.stderr)
            text = pathlib.Path(folder, "a/b/SKILL.md").read_text(encoding="utf-8")
        self.assertTrue(text.startswith("---\nname: assay\n"))
        self.assertNotIn("{{", text)
        options = json.loads(self.run_verb("options").stdout)
        for question in options["questions"]:
            self.assertIn(f"| `{question['name']}` |", text)

    def test_list_finds_traces_and_jobs(self):
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(3):
                place = pathlib.Path(folder, "job", f"r{rank}.json")
                place.parent.mkdir(exist_ok=True)
                place.write_text(json.dumps({
                    "deviceProperties": [{"id": 0, "name": "GPU"}], "distributedInfo": {"rank": rank, "world_size": 4},
                    "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1}],
                }))  # fmt: skip
            pathlib.Path(folder, "notes.md").write_text("no trace")
            listed = json.loads(self.run_verb("list", "--format", "json", folder).stdout)
        self.assertEqual([(row["device"], row["rank"], row["world_size"], row["kind"]) for row in listed["files"]],
                         [("GPU", rank, 4, "trace") for rank in range(3)])  # fmt: skip
        self.assertEqual(listed["jobs"], [{"folder": os.path.join(folder, "job"), "traces": 3, "ranks": 3, "world_size": 4}])
        self.assertEqual((listed["others"], listed["not_looked_at"]), (1, 0))
        self.assertEqual(self.run_verb("list", "/no/such").returncode, 2)


class Start(unittest.TestCase):
    def test_a_folder_is_wanted(self):
        for folders in ([], [str(TRACE)], ["/no/such"]):
            done = subprocess.run([ASSAY, "mcp", *folders], input="", capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")
            self.assertTrue(done.stderr)


def main():
    global ASSAY  # noqa: PLW0603
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    given, rest = parser.parse_known_args()
    ASSAY = str(pathlib.Path(given.assay).resolve())
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
