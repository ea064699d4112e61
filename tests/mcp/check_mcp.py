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
        self.assertEqual([t["name"] for t in tools], ["report", "causes", "diff", "whatif", "sql", "explain"])
        self.assertTrue(all(t["annotations"]["readOnlyHint"] for t in tools))
        self.assertLessEqual(len(json.dumps(answer)), 3072, "it is paid for in every conversation")
        # What bounds it, what to change first, did it get worse, which kernel has most launches.
        report, failed = self.client.tool("report", trace="vit.json.gz")
        self.assertFalse(failed)
        self.assertIn("Host-bound", report[:400])
        self.assertIn("CUDA graphs", report)
        changed, failed = self.client.tool("diff", a="vit.json.gz", b="vit.json.gz", fail_on=["kernels>+0"])
        self.assertFalse(failed)
        self.assertIn("as long as A", changed)
        crossed, failed = self.client.tool("diff", a="vit.json.gz", b="vit.json.gz", fail_on=["nonsense>1"])
        self.assertTrue(failed)
        self.assertIn("nonsense", crossed)
        self.assertIn("dispatch", self.client.tool("causes", trace="vit.json.gz")[0])
        self.assertIn("1.80 ms", self.client.tool("whatif", trace="vit.json.gz", edits=["faster_cpu=1.3"])[0])
        self.assertIn("framework operators", self.client.tool("explain", term="dispatch")[0])
        rows, failed = self.client.tool("sql", trace="vit.json.gz", statement="select count(*) n from kernels")
        self.assertTrue("154" in rows if not failed else "DuckDB" in rows, rows)

    def test_sql_reads_no_file_and_few_rows(self):
        rows, failed = self.client.tool("sql", trace="vit.json.gz", statement="select id from ops", limit=9_999_999)
        if "DuckDB is not here" in rows:
            self.skipTest("DuckDB is not here")
        self.assertFalse(failed)
        self.assertIn("first 500 rows", rows)
        for statement in ("select * from read_csv('/etc/passwd')", "copy ops to '/tmp/x.csv'", "install httpfs"):
            self.assertTrue(self.client.tool("sql", trace="vit.json.gz", statement=statement)[1], statement)
        self.assertTrue(self.client.tool("sql", trace="vit.json.gz", statement="")[1])

    def test_nothing_outside_is_read_or_told(self):
        os.symlink(os.path.join(self.folder, "secret.json.gz"), os.path.join(self.runs, "link.json.gz"))
        os.symlink(self.folder, os.path.join(self.runs, "up"))
        inside = self.client.tool("report", trace="nothing.json")
        self.assertTrue(inside[1])
        self.assertIn("nothing lies there", inside[0])
        words = set()
        for path in (
            os.path.join(self.folder, "secret.json.gz"), os.path.join(self.folder, "none.json.gz"),
            "../secret.json.gz", "../none.json.gz", "link.json.gz", "up/secret.json.gz", "../*.json.gz", "*.json.gz",
            "/etc/*", "/no/such/folder/x", "*/../../*.json.gz", self.folder, "/", "",
        ):  # fmt: skip
            said, failed = self.client.tool("report", trace=path)
            self.assertTrue(failed, path)
            self.assertNotIn("bound", said.replace("outside", ""))
            if path:
                words.add(said[len(path) :])
        self.assertEqual(words, {": lies outside of the folders that this server was started with"})
        # A folder that holds a way out is refused as a whole.
        self.assertTrue(self.client.tool("report", trace=self.runs)[1])
        os.remove(os.path.join(self.runs, "link.json.gz"))
        self.assertFalse(self.client.tool("report", trace=self.runs)[1])
        self.assertFalse(self.client.tool("report", trace="v*.json.gz")[1])

    def test_arguments_are_no_options(self):
        said, failed = self.client.tool("report", trace="--version")
        self.assertTrue(failed)
        self.assertIn("nothing lies there", said)
        self.assertTrue(self.client.tool("explain", term="--help")[1])
        marker = os.path.join(self.runs, "made")
        self.client.tool("report", trace="vit.json.gz", window=f"$(touch {marker}); --output={marker}")
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
            self.assertTrue(self.client.tool("report", **arguments)[1], arguments)
        self.assertTrue(self.client.tool("sql", trace="vit.json.gz", statement="select 1", limit=0)[1])
        self.assertEqual(self.client.ask("initialize", protocolVersion="1999")["result"]["protocolVersion"], "2025-11-25")

    def test_damaged_messages_end_nothing(self):
        numbers = random.Random(7)
        whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                            "params": {"name": "explain", "arguments": {"term": "tklqt"}}})  # fmt: skip
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
            "statement": "with recursive t(n) as (select 1 union all select n + 1 from t) select max(n) from t"}})

    def children(self):
        """Ids of the processes that the server runs."""
        pid = self.client.server.pid
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def need_duckdb(self):
        if "DuckDB is not here" in self.client.tool("sql", trace="vit.json.gz", statement="select 1")[0]:
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
        self.assertIn("framework operators", self.client.tool("explain", term="dispatch")[0])

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
        said, failed = self.client.tool("sql", trace="vit.json.gz", statement="select list(i) from range(100000000) t(i)")
        self.assertTrue(failed)
        self.assertIn("memory", said.lower())

    def test_memory_is_flat(self):
        for _ in range(20):
            self.client.tool("explain", term="dispatch")
        before = self.client.memory_kb()
        for _ in range(400):
            self.client.tool("explain", term="dispatch")
        self.assertLess(self.client.memory_kb() - before, 10_240)

    def test_long_answers_are_cut(self):
        said, failed = self.client.tool(
            "sql", trace="vit.json.gz", statement="select name, name as again from kernels", limit=500
        )
        if "DuckDB is not here" in said:
            self.skipTest("DuckDB is not here")
        self.assertFalse(failed)
        self.assertLess(len(said.encode()), 24_200)
        self.assertIn("[cut: ", said)


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
