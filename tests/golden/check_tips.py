#!/usr/bin/env python3
"""The definitions on the page of every trace: each belongs to the module of its section, none to another one.

The corpus is ASSAY_DATA, else ../shared/data; without it the traces of the repository are taken.
"""

import argparse
import base64
import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = pathlib.Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared/data")
# The modules of the headings of docs/metrics.md; other headings apply to every section.
MODULES = {"Launch": {"launch"}, "The call tree and the kernel list": {"launch"}, "The launch floor": {"launch", "fusion", "overhead"},
           "Fusion": {"fusion"}, "Overhead": {"overhead"}, "Breakdown": {"breakdown"}, "Power": {"power"},
           "Throughput": {"throughput"}, "Diff": {"diff"}, "Info": set(), "Who hangs": set()}
SECTIONS = {"host_overhead": "overhead", "roofline": "breakdown", "memory": "breakdown"}
LEAST_SHARE = 0.85  # of items and columns that have a definition
PARTS = 64


def traces():
    folders = [CORPUS / name for name in ("kineto", "odd", "nsys", "perf")] if CORPUS.exists() else [ROOT / "tests/data/kineto", ROOT / "examples"]
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name.endswith((".json", ".json.gz", ".sqlite")) and "DERIVED_concat4" not in path.name:
                yield path


def element(page, name):
    found = re.search(rb'id="' + name.encode() + rb'">([^<]*)<', page)
    return json.loads(gzip.decompress(base64.b64decode(found[1]))) if found else {}


def cells(blocks):
    for block in blocks:
        for entry in block.get("items", []) + block.get("columns", []):
            yield block.get("key", ""), entry
        for sections in block.get("elements", []):
            for section in sections:
                yield from cells(section["blocks"])


def plain(text):
    return re.sub(r"[`*\\\s]|\]\([^)]*\)|\[", "", text)


def table_rows():
    """Rows of docs/metrics.md with an object: heading, its tables (blank as above), keys, text of the last column."""
    rows, header, room, tables = [], [], "", []
    for line in (ROOT / "docs/metrics.md").read_text().split("\n"):
        if line.startswith("## "):
            room = line[3:]
        if not line.startswith("|"):
            header = []
            continue
        row = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not header:
            header, tables = row, []
        elif header[1:2] == ["keys"] and not line.startswith("|---"):
            if row[0]:
                tables = [re.split(r"[\[( ]", name)[0] for name in re.findall(r"`([^`]+)`", row[0]) or [row[0]]]
            rows.append((room, tables, re.findall(r"`([^`]+)`", row[1]), plain(row[-1])))
    return rows


ROWS = table_rows()


def own_texts(module, section, table, key):
    """Definitions of the key in this table's own rows; empty if there are none."""
    own = [row for row in ROWS if key in row[2] and table and f"{section}.{table}" in row[1]]
    return [row[3] for row in own if row[0] not in MODULES or module in MODULES[row[0]]]


def check(page, counts):
    """Faults of one page; counts items and columns with a definition."""
    view = element(page, "assay-view")
    sections = view.get("sections", []) + [s for n in range(PARTS) for s in element(page, f"assay-part-{n}").get("sections", [])]
    faults = set()
    for section in sections:
        key = section["key"]
        module = SECTIONS.get(key, key.lower().split("_")[0])
        for table, entry in cells(section["blocks"]):
            number = entry.get("definition")
            counts[number is not None] += 1
            if number is None:
                continue
            definition = view["definitions"][number]
            if entry["key"] not in definition["keys"] and entry["key"].rsplit(".", 1)[-1] not in definition["keys"]:
                faults.add(f"{key}.{table}.{entry['key']} has the definition of {definition['keys']}")
            own = own_texts(module, key, table, entry["key"])
            counts["own"] += len(own) > 0
            if own and not any(text in plain(definition["text"]) for text in own):
                faults.add(f"{key}.{table}.{entry['key']} has not the text of its table: {definition['text'][:60]}")
            if definition["room"] in MODULES and module not in MODULES[definition["room"]]:
                faults.add(f"{key}.{table}.{entry['key']} has a definition of {definition['room']}: {definition['text'][:60]}")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    counts = collections.Counter()
    faults = collections.Counter()
    pages = 0
    with tempfile.TemporaryDirectory() as folder:
        html = pathlib.Path(folder) / "page.html"
        for trace in traces():
            done = subprocess.run([assay, "report", trace, "-o", html], capture_output=True, text=True)
            if done.returncode != 0:
                if done.returncode != 2:
                    sys.exit(f"{trace}: exit code {done.returncode}\n{done.stderr}")
                continue
            pages += 1
            faults.update(check(html.read_bytes(), counts))
    for fault, times in faults.most_common(20):
        print(f"{fault} ({times} pages)")
    known = counts[True] + counts[False]
    share = counts[True] / max(1, known)
    print(f"{pages} pages, {known} items and columns, {share:.1%} with a definition, {counts['own']} of their very table, {len(faults)} faults")
    if faults or pages == 0 or counts["own"] == 0 or share < LEAST_SHARE:
        sys.exit(1)


if __name__ == "__main__":
    main()
