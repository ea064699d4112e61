#!/usr/bin/env python3
"""Excel workbooks of `assay export`, `report` and `sql`, read by Python's zipfile and XML parser, compared with the CSV
export cell by cell, and checked for content that Excel rejects."""

import argparse
import csv
import gzip
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zipfile

import datasets

EXAMPLE = datasets.ROOT / "examples/h100_vit_inference.json.gz"
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
LARGEST_EXACT = 1 << 53
FACTS = "numbers"
problems = []


def expect(fact, what):
    if not fact:
        problems.append(what)


def run(assay, *arguments):
    return subprocess.run([assay, *map(str, arguments)], capture_output=True, timeout=600, check=False)


def column_number(reference):
    number = 0
    for letter in re.match("[A-Z]+", reference).group():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def cell_value(cell):
    kind = cell.get("t", "n")
    if cell.find(MAIN + "f") is not None:
        problems.append(f"{cell.get('r')} is a formula")
    if kind == "inlineStr":
        text = "".join(node.text or "" for node in cell.iter(MAIN + "t"))
        return re.sub("_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match.group(1), 16)), text)
    value = cell.find(MAIN + "v")
    if value is None:
        return None
    return {"b": lambda text: text == "1", "n": float}[kind](value.text)


class Workbook:
    """Sheets by name, each a list of rows of cells, and other properties of the sheets."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as archive:
            expect(archive.testzip() is None, f"{path} has a damaged part")
            targets = {node.get("Id"): node.get("Target")
                       for node in ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))}
            book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
            self.sheets, self.trees = {}, {}
            for sheet in book.find(MAIN + "sheets"):
                tree = ElementTree.fromstring(archive.read("xl/" + targets[sheet.get(RELATION)]))
                self.trees[sheet.get("name")] = tree
                self.sheets[sheet.get("name")] = [self.row(row) for row in tree.find(MAIN + "sheetData")]

    @staticmethod
    def row(row):
        cells = []
        for cell in row:
            at = column_number(cell.get("r"))
            cells += [None] * (at + 1 - len(cells))
            cells[at] = cell_value(cell)
        return cells


def same(cell, text, since):
    """True if a cell equals the CSV text; since: offset to add to it."""
    if text is None:
        return cell is None
    if isinstance(cell, bool):
        return text == str(cell).lower()
    if isinstance(cell, float):
        if re.fullmatch(r"-?\d+", text):
            return int(cell) + since == int(text) and cell.is_integer()
        return math.isclose(cell, float(text), rel_tol=1e-15)
    return cell == text or (cell is None and text == "")


def read_csv(path):
    """Rows of texts; None for an empty field, which csv.reader does not distinguish from an empty text."""
    rows = list(csv.reader(path.open(newline="")))
    marked = list(csv.reader([re.sub(r'(?<=,)""(?=,|\r?$)|^""(?=,|\r?$)', '"\x00"', line)
                              for line in path.read_text().splitlines()])) if '""' in path.read_text() else rows
    if len(marked) != len(rows):
        marked = rows
    return [[None if cell == "" and other == "" else cell for cell, other in zip(row, also)]
            for row, also in zip(rows, marked)]


def origin_of(book):
    for row in book.sheets["Summary"]:
        if len(row) > 1 and isinstance(row[1], str) and row[1].startswith("T0 is "):
            return int(row[1].split()[2])
    return 0


def check_table(book, name, path, origin):
    header, *rows = read_csv(path)
    sheet = book.sheets[name]
    told = sheet[0]
    expect([cell.split(" (")[0] for cell in told] == header, f"{name}: header {told}")
    expect(len(sheet) - 1 == len(rows), f"{name}: {len(sheet) - 1} rows instead of {len(rows)}")
    since = [origin if cell.endswith("(since T0)") else 0 for cell in told]
    for number, (cells, texts) in enumerate(zip(sheet[1:], rows)):
        cells = cells + [None] * (len(header) - len(cells))
        wrong = [header[i] for i in range(len(header)) if not same(cells[i], texts[i], since[i])]
        if wrong:
            problems.append(f"{name}, row {number}: {wrong} differ: {cells} {texts}")
            return


def check_form(book):
    for name, tree in book.trees.items():
        expect(0 < len(name) <= 31 and not re.search(r"[\[\]:*?/\\]", name), f"{name!r} is no name of a sheet")
        if name == "Summary":
            continue
        pane = tree.find(f"{MAIN}sheetViews/{MAIN}sheetView/{MAIN}pane")
        expect(pane is not None and pane.get("ySplit") == "1" and pane.get("state") == "frozen", f"{name}: header not frozen")
        rows = book.sheets[name]
        reference = tree.find(MAIN + "autoFilter").get("ref")
        expect(reference.startswith("A1:") and reference.endswith(str(max(len(rows), 2))), f"{name}: filter over {reference}")
        columns = tree.find(MAIN + "cols")
        expect(columns is not None and len(columns) == len(rows[0]), f"{name}: no widths")
    lower = [name.lower() for name in book.sheets]
    expect(len(set(lower)) == len(lower), "two sheets have one name")


def check_facts(book, folder, names):
    told = {(row[0], row[1]): row[2] for row in book.sheets[FACTS][1:]}
    for name in names:
        header, *rows = read_csv(folder / f"{name}.csv")
        for key, text in zip(header, rows[0]):
            if text is None:
                continue
            expect(same(told.get((name, key)), text, 0), f"{name}.{key}: {told.get((name, key))!r} instead of {text}")


def note_told(note, text):
    """Its sentence, its count, and its time to three digits."""
    number = re.match(r"\w+: ([\d,]+)(?:, ([\d.,]+) (ns|\u00b5s|ms|s) at stake)?\. ", text)
    if number is None or note["text"] not in text or not text.startswith(note["code"] + ": "):
        return False
    count, time, unit = number.groups()
    told_ns = float((time or "0").replace(",", "")) * {None: 1, "ns": 1, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9}[unit]
    return int(count.replace(",", "")) == note["count"] and math.isclose(told_ns, note["time_ns"], rel_tol=0.006)


def check_summary_of_ranks(assay, book, paths):
    """Caveats appear once for both ranks, and no title of one rank is used for both."""
    texts = [str(row[1]) for row in book.sheets["Summary"] if len(row) > 1]
    notes = json.loads(run(assay, "report", *paths, "--format", "json").stdout)["ranks"][0]["caveats"]
    expect(notes, "the ranks have no caveats")
    for note in notes:
        begin = f"{note['code']}: {2 * note['count']:,} on 2 of 2 ranks"
        expect(any(text.startswith(begin) and note["text"] in text for text in texts), f"the summary lacks {begin}")
    empty = " ".join(text for text in texts if text.startswith("No sheet, because without rows"))
    expect("caveats" not in re.findall(r"\w+", empty), f"caveats are called empty: {empty}")
    index = {row[0]: row[1] for row in book.sheets["Summary"] if len(row) > 1 and row[0]}
    rows = len(book.sheets["launch_top_kernels"]) - 1
    expect(index["launch_top_kernels"].startswith(f"{rows} rows of 2 ranks; of each: "), f"title {index['launch_top_kernels']}")


def check_export(assay, folder):
    done = run(assay, "export", EXAMPLE, "-o", folder / "all.xlsx")
    expect(done.returncode == 0, f"export: {done.stderr!r}")
    run(assay, "export", EXAMPLE, "-o", folder / "csv", "--format", "csv")
    book = Workbook(folder / "all.xlsx")
    check_form(book)
    expect(list(book.sheets)[0] == "Summary", "the summary is not first")
    report = json.loads(run(assay, "report", EXAMPLE, "--format", "json").stdout)
    texts = [row[1] for row in book.sheets["Summary"] if len(row) > 1]
    expect(all(sentence in texts for sentence in report["headline"]), "the summary lacks the verdict")
    expect(all(any(note_told(note, str(text)) for text in texts) for note in report["caveats"]), "the summary lacks caveats")
    expect(report["flow"]["window_ns"] in texts, "the summary lacks the first numbers")
    tables, facts, empty = 0, [], []
    for path in sorted((folder / "csv/rank=0").iterdir()):
        if path.stem in book.sheets:
            check_table(book, path.stem, path, origin_of(book))
            tables += 1
        elif len(read_csv(path)) == 1:
            empty.append(path.stem)
        else:
            facts.append(path.stem)
    check_facts(book, folder / "csv/rank=0", facts)
    without = next(text for text in texts if str(text).startswith("No sheet, because without rows"))
    expect(sorted(re.findall(r"\w+", without.split(":")[1])) == sorted(empty), f"empty tables: {without} {empty}")
    expect(tables > 25 and len(facts) > 8, f"{tables} tables, {len(facts)} groups of facts")
    for name, format_flags in (("again.out", ["--format", "xlsx"]), ("again.XLSX", [])):
        again = run(assay, "export", EXAMPLE, "-o", folder / name, *format_flags)
        expect(again.returncode == 0 and (folder / name).is_file() and
               (folder / name).read_bytes() == (folder / "all.xlsx").read_bytes(), f"{name}: bytes differ")
    linked = {node.get("location").split("!")[0].strip("'")
              for node in book.trees["Summary"].iter(MAIN + "hyperlink")}
    expect(linked == set(book.sheets) - {"Summary"}, f"the summary links to {linked ^ set(book.sheets)}")


def check_ranks(assay, folder):
    other = folder / "rank_1.json"
    trace = json.loads(gzip.decompress(EXAMPLE.read_bytes()))
    for rank in (0, 1):
        (folder / f"rank_{rank}.json").write_text(json.dumps(dict(trace, distributedInfo={"rank": rank, "world_size": 2})))
    for verb in ("export", "report"):
        done = run(assay, verb, folder / "rank_0.json", other, "-o", folder / f"{verb}.xlsx")
        expect(done.returncode == 0, f"{verb} of two: {done.stderr!r}")
        book = Workbook(folder / f"{verb}.xlsx")
        check_form(book)
        tops = book.sheets["launch_top_kernels"]
        expect(tops[0][0] == "rank" and {row[0] for row in tops[1:]} == {0.0, 1.0}, f"{verb}: ranks of {tops[0]}")
        half = len(tops) // 2
        if verb == "report":
            check_summary_of_ranks(assay, book, (folder / "rank_0.json", other))
        expect([row[1:] for row in tops[1:half + 1]] == [row[1:] for row in tops[half + 1:]], f"{verb}: ranks differ")


def check_hostile(assay, folder):
    names = ["=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-2", "_x0041_", "a\u0007b\nc", "<&>\"'", "x" * 40000, "\u202eabc", "\U0001f600"]
    events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1700000000000000 + 10 * i, "dur": 5}
              for i, name in enumerate(names)]
    path = folder / "hostile.json"
    path.write_text(json.dumps({"traceEvents": events}))
    done = run(assay, "export", path, "-o", folder / "hostile.xlsx")
    expect(done.returncode == 0, f"hostile names: {done.stderr!r}")
    book = Workbook(folder / "hostile.xlsx")  # tells formulas
    header = [cell.split(" (")[0] for cell in book.sheets["ops"][0]]
    told = [row[header.index("name")] for row in book.sheets["ops"][1:]]
    clean = list(names)
    clean[5], clean[7], clean[8] = "a\ufffdb c", "x" * 32766 + "\u2026", "abc"
    expect(told == clean, f"names: {[a for a, b in zip(told, clean) if a != b]}")
    expect(any("longer than a cell" in str(row) for row in book.sheets["Summary"]), "a cut text is not told")
    expect(origin_of(book) == 1700000000000000000, f"T0 is {origin_of(book)}")


def check_sql(assay, folder):
    done = run(assay, "sql", EXAMPLE, "-o", folder / "rows.xlsx", "-c", "select id, name from ops order by id")
    if b"install_deps.sh query" in done.stderr:
        return
    expect(done.returncode == 0, f"sql: {done.stderr!r}")
    rows = Workbook(folder / "rows.xlsx").sheets["rows"]
    expect(len(rows) == 1259 and rows[1][0] == 0.0, f"sql: {len(rows)} lines")  # 1,258 operators


def check_failures(assay, folder):
    cases = [(["export", EXAMPLE, "-o", "/dev/full", "--format", "xlsx"], b"cannot be streamed"),
             (["report", EXAMPLE, "--format", "xlsx"], b"name it with -o"),
             (["export", EXAMPLE, "-o", folder / "nowhere/x.xlsx"], b"cannot write"),
             (["export", EXAMPLE, "-o", folder / "csv.Xlsx", "--format", "csv"], b"makes a folder, and the name is"),
             (["report", EXAMPLE, "-o", folder / "nowhere/x.xlsx"], b"cannot write"),
             (["export", EXAMPLE, "-o", EXAMPLE, "--format", "xlsx"], b"is an input")]
    for arguments, words in cases:
        done = run(assay, *arguments)
        expect(done.returncode == 2 and words in done.stderr, f"{arguments[:2]}: {done.returncode} {done.stderr!r}")
    before = sorted(folder.iterdir())
    for verb in ("export", "report"):
        shell = f"ulimit -f 40; trap '' XFSZ; exec '{assay}' {verb} '{EXAMPLE}' -o '{folder}/full.xlsx'"
        done = subprocess.run(["bash", "-c", shell], capture_output=True, timeout=600, check=False)
        expect(done.returncode == 2 and b"cannot write" in done.stderr, f"full disk, {verb}: {done.returncode} {done.stderr!r}")
    expect(sorted(folder.iterdir()) == before, "something is left after a full disk")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    assay = pathlib.Path(parser.parse_args().assay).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = run(assay, "report", EXAMPLE, "-o", folder / "x.xlsx")
        if b"libxlsxwriter-dev" in done.stderr:
            print("this build has no libxlsxwriter")
            return 77
        check_export(assay, folder)
        check_ranks(assay, folder)
        check_hostile(assay, folder)
        check_sql(assay, folder)
        check_failures(assay, folder)
        done = run(assay, "diff", EXAMPLE, EXAMPLE, "--format", "xlsx", "-o", folder / "d.sheets")
        expect(done.returncode == 0 and (folder / "d.sheets").read_bytes()[:2] == b"PK",
               f"diff --format xlsx: {done.returncode} {done.stderr!r}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
