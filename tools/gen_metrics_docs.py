#!/usr/bin/env python3
"""Writes the tables of docs/metrics.md that stand between "<!-- results: LIST -->" and "<!-- end -->" from the
results.h files of src/report; --check only says whether they are up to date, and that other tables use the
declared titles."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/metrics.md"

LITERALS = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
ENTRY = re.compile(rf'\bR\(\s*(\w+),\s*{LITERALS},\s*k(\w+),\s*{LITERALS}\)|\bU\(\s*(\w+),\s*{LITERALS}\)|\bO\(\s*{LITERALS}\)')
# What a reader of the page calls a unit of the Document.
UNIT_WORDS = {"None": "", "Text": "text", "State": "text", "Nanoseconds": "ns", "Count": "count", "Share": "0 to 1", "Ratio": "ratio",
              "Bytes": "bytes", "PerSecond": "per second", "Watts": "W", "Joules": "J"}


def text_of(literals):
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', literals)
    return re.sub(r"\\(.)", r"\1", "".join(parts))


def read_lists():
    """({list: entries}, {key: (title, unit)}), an entry a tuple ("R" or "U", key, meaning) or ("O", object)."""
    lists, results = {}, {}
    for header in sorted((ROOT / "src/report").glob("*/results.h")):
        joined = header.read_text(encoding="utf-8").replace("\\\n", " ")
        for name, body in re.findall(r"^#define (ASSAY_\w+)\(R, U, O\)(.*)$", joined, re.MULTILINE):
            entries = []
            for key, title, unit, meaning, used, here, group in ENTRY.findall(body):
                if key in results:
                    sys.exit(f"{header}: {key} is declared twice")
                if key:
                    results[key] = (text_of(title), UNIT_WORDS[unit])
                    entries.append(("R", key, text_of(meaning)))
                elif used:
                    entries.append(("U", used, text_of(here)))
                else:
                    entries.append(("O", text_of(group)))
            if len(entries) != len(re.findall(r"\b[RUO]\(", re.sub(LITERALS, "", body))):
                sys.exit(f"{header}: an entry of {name} is not of the form R(key, title, unit, meaning), U(key, meaning) or O(object)")
            lists[name] = entries
    return lists, results


def distinct(words, between=", "):
    return between.join(dict.fromkeys(word for word in words if word))


def table_of(entries, results):
    """Lines of a Markdown table; entries without a meaning share the row above."""
    objects = any(entry[0] == "O" for entry in entries)
    rows, group = [], ""
    for entry in entries:
        if entry[0] == "O":
            group = entry[1]
            continue
        _, key, meaning = entry
        if meaning or not rows or group:
            rows.append((group, [], meaning))
        rows[-1][1].append(key)
        group = ""
    head = ["object", "keys"] if objects else ["key"]
    lines = ["| " + " | ".join([*head, "label", "unit", "definition"]) + " |", "|---" * (len(head) + 3) + "|"]
    for group, keys, meaning in rows:
        labels = distinct((results.get(key, ("", ""))[0] for key in keys), "; ")
        units = distinct(results.get(key, ("", ""))[1] for key in keys)
        cells = [group] * objects + [", ".join(f"`{key}`" for key in keys), labels, units, meaning]
        lines.append("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in cells).replace("  ", " ") + " |")
    return lines


def with_tables(page, lists, results):
    used = set()

    def table(match):
        name = match.group(1)
        if name not in lists:
            sys.exit(f"{PAGE}: there is no list {name} in a results.h")
        if name in used:
            sys.exit(f"{PAGE} has two places for {name}")
        used.add(name)
        return "\n".join([f"<!-- results: {name} -->", "", *table_of(lists[name], results), "", "<!-- end -->"])

    page = re.sub(r"<!-- results: (\w+) -->.*?<!-- end -->", table, page, flags=re.DOTALL)
    missing = [name for name, entries in lists.items() if entries and name not in used]
    if missing:
        sys.exit(f"{PAGE} has no place for {', '.join(missing)}")
    return page


def other_titles(page, results):
    """Rows outside the generated tables that give a declared key another title."""
    page = re.sub(r"<!-- results: .*?<!-- end -->", "", page, flags=re.DOTALL)
    problems, labelled = [], False
    for line in page.splitlines():
        if not line.startswith("|"):
            labelled = False
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells[:2] == ["key", "label"]:
            labelled = True
        key = re.fullmatch(r"`(\w+)`", cells[0])
        if labelled and key and key[1] in results and cells[1] != results[key[1]][0]:
            problems.append(f"docs/metrics.md calls `{key[1]}` {cells[1]!r}, its declaration {results[key[1]][0]!r}")
    return problems


def main():
    lists, results = read_lists()
    page = PAGE.read_text(encoding="utf-8")
    made = with_tables(page, lists, results)
    problems = other_titles(made, results)
    if "--check" in sys.argv[1:]:
        if made != page:
            problems.append(f"{PAGE.relative_to(ROOT)} is not what tools/gen_metrics_docs.py writes from the results.h files")
    else:
        PAGE.write_text(made, encoding="utf-8")
    print("\n".join(problems) if problems else f"{len(results)} results are declared once")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
