#!/usr/bin/env python3
"""A client of `assay mcp` that knows nothing but the descriptions and schemas of its tools answers tests/agents/questions.tsv.

    check_agents.py --assay build/release/assay [--show]

Each question may take three calls and 6 KB of answers. Answers that the trace does not show are right when the client
says so: the value is null, the tool refuses the input, or no description has a word of the question. The answers were read from the raw JSON by make_questions.py. ASSAY_DATA names the corpus; without it the
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
QUOTED = re.compile(r'"([^"]+)"')
IN_TABLE = re.compile(
    r'the (sum|max|count) of (different )?"(\w+)"(?: above (\d+))?(?: for the (\w+) "(\w+)")? in the table "(\w+)"'
)
ARGUMENT = re.compile(r"\bwith (\w+)=(\S+?)(?=[?,. ]|$)")
COMMON = set("a an and are at by does for from have has how in is it least many most of on one or ran run takes the to was what which with".split())
# Words of questions that name no quantity.
PLAIN = set("all did do end for have its long make made much no number often only rather record recorded sum summed than take that were without".split())


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
    found = set(re.findall(r"[a-z]+", text.lower().replace("_", " "))) - COMMON
    return {word[:-1] if word.endswith("s") and len(word) > 3 else word for word in found}


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
        self.known = set()
        for tool in self.tools:
            self.known |= words(" ".join([tool["name"], tool["description"], *tool["inputSchema"]["properties"]]))
            for path, _ in leaves(tool.get("outputSchema", {})):
                self.known |= words(" ".join(path))
        self.calls = 0
        self.bytes = 0
        self.answers = {}  # of calls that were made before

    def choices(self, question):
        asked = words(QUOTED.sub("", question))
        found = []
        for tool in self.tools:
            about = words(tool["name"] + " " + tool["description"])
            for path, in_rows in leaves(tool.get("outputSchema", {})):
                score = 2 * likeness(asked, words(" ".join(path))) + 0.5 * likeness(asked, about)
                found.append((score, tool, path, in_rows))
        return sorted(found, key=lambda choice: -choice[0])

    def arguments(self, tool, paths, given):
        schema = tool["inputSchema"]
        arguments = dict(zip(schema["required"], paths * 2))
        if not arguments and "folder" in schema["properties"]:
            arguments = {"folder": paths[0].rsplit("/", 1)[0] if "." in paths[0].rsplit("/", 1)[-1] else paths[0]}
        arguments |= {name: value for name, value in given if name in schema["properties"]}
        return {**arguments, "max_tokens": TOKENS}

    def call(self, tool, arguments):
        self.calls += 1
        key = tool["name"] + json.dumps(arguments)
        if key not in self.answers:
            self.answers[key] = self.server.ask("tools/call", name=tool["name"], arguments=arguments)
        result = self.answers[key]
        text = result["content"][0]["text"]
        self.bytes += len(text.encode())
        return None if result["isError"] else result["structuredContent"]

    def row(self, rows, subjects, number):
        """The row that has a subject of the question, or its number."""
        for row in rows:
            for value in row.values():
                if isinstance(value, str) and any(value == one or value.endswith("/" + one) for one in subjects):
                    return row
                if number is not None and value == number:
                    return row
        return None

    def in_table(self, asked, trace):
        """The value of one statement; the tool refuses columns that a table does not have."""
        verb, different, column, above, where, name, table = asked
        statement = f"select {verb}({'distinct ' if different else ''}{column}) from {table}"
        statement += f" where {column} > {above}" if above else f" where {where} = '{name}'" if where else ""
        tool = next(one for one in self.tools if "statement" in one["description"])
        told = self.call(tool, {"trace": trace, "command": statement, "max_tokens": TOKENS})
        found = next(iter(told["rows"][0].values())) if told and told["rows"] else None
        return "unknown" if found is None else found

    def answer(self, question):
        self.calls = self.bytes = 0
        quoted = QUOTED.findall(question)
        paths = [one for one in quoted if "/" in one and " " not in one]
        in_table = IN_TABLE.search(question)
        if in_table:
            return self.in_table(in_table.groups(), paths[0])
        names = [one for one in quoted if one not in paths]
        plain = ARGUMENT.sub("", QUOTED.sub("", question))
        if words(plain) - self.known - PLAIN:
            return "unknown"
        numbers = [int(one) for one in re.findall(r"\b\d+\b", plain)]
        _, tool, path, in_rows = self.choices(plain)[0]
        arguments = self.arguments(tool, paths, ARGUMENT.findall(question))
        told = self.call(tool, arguments)
        if told is None:
            return "unknown"
        if not in_rows:
            found = told.get(path[0])
            return "unknown" if found is None else found
        first = told.get(path[0]) or []
        # The most important rows are first.
        row = first[0] if first and "most" in question else None
        while row is None:
            row = self.row(told.get(path[0]) or [], names or paths, numbers[0] if numbers else None)
            rest = [one for one in told["left_out"] if one["what"] == path[0]]
            if row is not None or not rest or self.calls == MOST_CALLS:
                break
            asked = rest[0].get("ask", {}).get("arguments", rest[0])
            told = self.call(tool, {**arguments, "table": path[0], "skip_rows": asked.get("skip_rows", 0)})
            if told is None:
                break
        found = row.get(path[-1]) if row else None
        return "unknown" if found is None else found


def same(found, expected):
    if isinstance(expected, str) and isinstance(found, str):
        return found == expected or (found.endswith("…") and expected.startswith(found[:-1]))
    if isinstance(expected, (int, float)) and isinstance(found, (int, float)):
        # Whole numbers may be rounded by half of their unit; a share has no unit.
        return abs(found - expected) <= max(1e-6 * abs(expected), 0.5 if isinstance(expected, int) else 0)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--show", action="store_true", help="every question that was not answered")
    given = parser.parse_args()
    folder = CORPUS if CORPUS.is_dir() else ROOT / "tests/data"
    rows = [line.split("\t") for line in QUESTIONS.read_text(encoding="utf-8").splitlines()[1:]]
    client = Client(Server(str(pathlib.Path(given.assay).resolve()), folder))
    has_sql = client.in_table(("count", None, "id", None, None, None, "kernels"), rows[0][2]) != "unknown"
    if not has_sql:
        print("no DuckDB: questions about tables are skipped")
    kinds, skipped, most_calls, most_bytes = {}, 0, 0, 0
    for number, kind, trace, question, answer in rows:
        if not (folder / trace).exists() or (IN_TABLE.search(question) and not has_sql):
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
