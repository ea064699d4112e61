#!/usr/bin/env python3
"""A client of `assay mcp` that knows nothing but the descriptions and schemas of its tools answers tests/agents/questions.tsv.

    check_agents.py --assay build/release/assay [--show]

Each question may take three calls and 6 KB of answers. Answers that the trace does not show are right when the client
says so. The answers were read from the raw JSON by make_questions.py. ASSAY_DATA names the corpus; without it the
traces of the repository are asked about. Prints the fraction answered, and fails below the limit.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUESTIONS = ROOT / "tests/agents/questions.tsv"
CORPUS = pathlib.Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared/data")
MOST_CALLS = 3
MOST_BYTES = 6144
LEAST_FRACTION = 0.95
TOKENS = 600  # of one answer
PATH = re.compile(r'"([^"]+)"')
COMMON = set("a an and are at by does for from have has how in is it least many most of on one or ran run takes the to was what which with".split())


class Server:
    def __init__(self, assay, folder):
        self.process = subprocess.Popen(
            [assay, "mcp", str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.number = 0

    def ask(self, method, **params):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]


def words(text):
    """The words of a text or of a key, without their plural."""
    found = re.findall(r"[a-z]+", text.lower().replace("_", " "))
    return {word[:-1] if word.endswith("s") and len(word) > 3 else word for word in found} - COMMON


def leaves(schema, path=()):
    """(path, whether it is in the rows of a table) of every value that the schema has."""
    for key, value in schema.get("properties", {}).items():
        if value.get("type") == "array" and "items" in value:
            for below, _ in leaves(value["items"], (*path, key)):
                yield below, True
        else:
            yield (*path, key), bool(path)


def likeness(asked, told):
    return len(asked & told) / (1 + 0.15 * len(told - asked))


class Client:
    """Chooses a tool and a value by the words that the question shares with their descriptions."""

    def __init__(self, server):
        self.server = server
        self.tools = server.ask("tools/list")["tools"]
        self.calls = 0
        self.bytes = 0

    def choices(self, question):
        asked = words(PATH.sub("", question))
        found = []
        for tool in self.tools:
            about = words(tool["name"] + " " + tool["description"])
            for path, in_rows in leaves(tool.get("outputSchema", {})):
                score = 2 * likeness(asked, words(" ".join(path))) + 0.5 * likeness(asked, about)
                found.append((score, tool, path, in_rows))
        return sorted(found, key=lambda choice: -choice[0])

    def arguments(self, tool, paths):
        schema = tool["inputSchema"]
        given = dict(zip(schema["required"], paths * 2))
        if not given and "folder" in schema["properties"]:
            given = {"folder": paths[0].rsplit("/", 1)[0] if "." in paths[0].rsplit("/", 1)[-1] else paths[0]}
        return {**given, "max_tokens": TOKENS}

    def call(self, tool, arguments):
        self.calls += 1
        result = self.server.ask("tools/call", name=tool["name"], arguments=arguments)
        text = result["content"][0]["text"]
        self.bytes += len(text.encode())
        return None if result["isError"] else result["structuredContent"]

    def value(self, answer, path, in_rows, asked_of):
        at = answer.get(path[0])
        if not in_rows:
            return at
        rows = [row for row in at or [] if any(str(value).endswith(asked_of) for value in row.values())] or at
        return rows[0].get(path[-1]) if rows else None

    def has_row(self, rows, asked_of):
        return isinstance(rows, list) and any(str(value).endswith(asked_of) for row in rows for value in row.values())

    def answer(self, question):
        self.calls = self.bytes = 0
        paths = PATH.findall(question)
        tried = {}
        for _, tool, path, in_rows in self.choices(question)[:4]:
            name = tool["name"]
            if name not in tried and self.calls < MOST_CALLS:
                arguments = self.arguments(tool, paths)
                tried[name] = self.call(tool, arguments)
                while tried[name] and self.calls < MOST_CALLS and not self.has_row(tried[name].get(path[0]), paths[0]):
                    rest = [one for one in tried[name]["left_out"] if one["what"] == path[0]]
                    skip = rest[0].get("skip_rows", 0) if rest else None
                    if rest and "ask" in rest[0]:
                        skip = rest[0]["ask"]["arguments"].get("skip_rows", 0)
                    if skip is None or name != "list":
                        break
                    tried[name] = self.call(tool, {**arguments, "table": path[0], "skip_rows": skip})
            if tried.get(name) is not None:
                found = self.value(tried[name], path, in_rows, paths[0])
                return "unknown" if found is None else found
        return "unknown"


def same(found, expected):
    if isinstance(expected, str) and isinstance(found, str):
        return found == expected or (found.endswith("…") and expected.startswith(found[:-1]))
    if isinstance(expected, (int, float)) and isinstance(found, (int, float)):
        return abs(found - expected) <= max(1e-6 * abs(expected), 0.5)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--show", action="store_true", help="every question that was not answered")
    given = parser.parse_args()
    folder = CORPUS if CORPUS.is_dir() else ROOT / "tests/data"
    rows = [line.split("\t") for line in QUESTIONS.read_text(encoding="utf-8").splitlines()[1:]]
    client = Client(Server(str(pathlib.Path(given.assay).resolve()), folder))
    kinds, skipped, most_calls, most_bytes = {}, 0, 0, 0
    for number, kind, trace, question, answer in rows:
        if not (folder / trace).exists():
            skipped += 1
            continue
        expected = json.loads(answer)
        found = client.answer(question)
        right = same(found, expected) and client.calls <= MOST_CALLS and client.bytes <= MOST_BYTES
        kinds.setdefault(kind, []).append(right)
        most_calls, most_bytes = max(most_calls, client.calls), max(most_bytes, client.bytes)
        if given.show and not right:
            print(f"{number} {kind}: {question} {found!r}, not {expected!r} ({client.calls} calls, {client.bytes} bytes)")
    for kind, results in sorted(kinds.items()):
        print(f"{kind}: {sum(results)} of {len(results)}")
    results = [right for of_kind in kinds.values() for right in of_kind]
    fraction = sum(results) / len(results) if results else 0
    print(f"{sum(results)} of {len(results)} questions answered ({fraction:.3f}), {skipped} skipped; at most "
          f"{most_calls} calls and {most_bytes} bytes")
    return 0 if fraction >= LEAST_FRACTION else 1


if __name__ == "__main__":
    sys.exit(main())
