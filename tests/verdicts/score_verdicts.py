#!/usr/bin/env python3
"""Scores reports against the cause of lost time that a person found in each public trace of public.tsv.

    score_verdicts.py --assay BINARY [--table TSV] [--least SHARE] [-v]

For each row whose trace is here, `assay report FILE --format json` is run. A row is right when all of these hold:
  share   where the row gives a range: 100 * the idle share lies in it
  name    the headline, its details or the text of an action contain must_name (a|b: one of them; any case)
  not     the first line and the first action contain none of must_not_say (separated by ;)
  cause   the bottleneck is the row's bound (a|b: either) and none of not_bound
  parts   where the row names stretches (kind:low..high in ms, separated by blanks): the report has one of each kind with
          a length in the range; all of them touch each other and add up to the window
  advise  where the row has must_advise: the code or title of an action, or a line of a note, contains one of its words
  next    a report with a bottleneck of JUDGED has an action with a code, or a note
A report without a bottleneck cannot be right. Files of 8 MB and more are left out. -v lists every miss on stderr. The exit
status is 1 below --least (90 %) right, 77 where no trace is here.
"""

import argparse
import collections
import csv
import gzip
import json
import lzma
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "golden"))
from datasets import CORPUS, IN_REPOSITORY  # noqa: E402

# Where a report has what the rows ask for: keys from the top of the JSON. Of several paths the first that is there holds.
KEYS = {
    "headline": (("headline",),),  # text lines
    "action_texts": (("actions",),),  # objects with `action_text`
    "idle_share": (("device_idle_share",), ("launch_shares", "gpu_idle_share")),
    "bottleneck": (("bottleneck",),),
    "actions": (("summary", "actions"),),  # objects with `action_title`, `action_code`
    "notes": (("summary", "notes"),),  # objects with `note_lines`
    "stretches": (("stretches",),),  # objects with `stretch_kind`, `stretch_start`, `stretch_end`
    "window": (("flow", "window_ns"),),
    "action_text": (("text",),),
    "action_title": (("text",),),
    "action_code": (("how",),),
    "note_lines": (("lines",),),
    "stretch_kind": (("kind",),),
    "stretch_start": (("start_ns",),),
    "stretch_end": (("end_ns",),),
}
# Bottlenecks that a next action must follow.
JUDGED = {"gpu", "host", "input", "sync", "alloc", "copy", "collective_wait", "communication"}

LARGEST_FILE = 8_000_000
PATIENCE_S = 60
UNPACKED = (".rpd.gz", ".sqlite.gz", ".db.gz", ".xz")


def part_of(report, name):
    """What the report has under a name of KEYS; None where it has none."""
    for path in KEYS[name]:
        found = report
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        if found is not None:
            return found
    return None


def texts(values):
    return [str(value) for value in values if value is not None]


def contains_any(text, words):
    return any(word.lower() in text.lower() for word in words)


def missing_stretches(row, report):
    """The stretches of the row that the report lacks."""
    stretches = [(part_of(x, "stretch_kind"), part_of(x, "stretch_start"), part_of(x, "stretch_end"))
                 for x in part_of(report, "stretches") or []]
    missing = []
    for wanted in row["stretches"].split():
        kind, span = wanted.split(":")
        low, high = map(float, span.split(".."))
        if not any(found == kind and low <= (end - start) / 1e6 <= high for found, start, end in stretches):
            missing.append(wanted)
    touch = all(one[2] == next_one[1] for one, next_one in zip(stretches, stretches[1:]))
    if stretches and (not touch or sum(end - start for _, start, end in stretches) != part_of(report, "window")):
        missing.append("parts do not add up")
    return missing


def score(row, report, counts):
    """Sentences on what is wrong with a report; counts what was asked for and what was right."""
    wrong = []
    headline = part_of(report, "headline") or []
    headline = [headline] if isinstance(headline, str) else texts(headline)
    action_texts = texts(part_of(x, "action_text") for x in part_of(report, "action_texts") or [])
    if row["must_name"] and not contains_any("\n".join(headline + action_texts), row["must_name"].split("|")):
        wrong.append(f"names none of {row['must_name']}")
    first = "\n".join(headline[:1] + action_texts[:1]).lower()
    if refused := [words for words in row["must_not_say"].split(";") if words and words.lower() in first]:
        wrong.append("says " + ", ".join(refused))
    counts["words"] += not wrong

    if row["share_low"]:
        counts["shares"] += 1
        share = part_of(report, "idle_share")
        if share is not None and float(row["share_low"]) <= 100 * share <= float(row["share_high"]):
            counts["share right"] += 1
        else:
            shown = "none" if share is None else format(100 * share, ".1f")
            wrong.append(f"idle {shown} not {row['share_low']}..{row['share_high']} %")

    bottleneck = part_of(report, "bottleneck")
    counts["bottlenecks"] += bottleneck is not None
    if bottleneck is None:
        wrong.append("no bottleneck")
    elif bottleneck not in row["bound"].split("|"):
        is_false = bottleneck in row["not_bound"].split(",")
        wrong.append(f"bottleneck {bottleneck}, is {row['bound']}" + (" (plainly false)" if is_false else ""))

    if row.get("stretches"):
        counts["stretches"] += 1
        missing = missing_stretches(row, report)
        counts["stretches right"] += not missing
        if missing:
            wrong.append("stretches: " + ", ".join(missing))

    actions = part_of(report, "actions") or []
    codes = [code for x in actions if (code := part_of(x, "action_code"))]
    notes = [str(line) for x in part_of(report, "notes") or [] for line in part_of(x, "note_lines") or []]
    if row.get("must_advise"):
        counts["advice"] += 1
        advice = "\n".join(texts(codes) + texts(part_of(x, "action_title") for x in actions) + notes)
        if contains_any(advice, row["must_advise"].split("|")):
            counts["advice right"] += 1
        else:
            wrong.append(f"advises none of {row['must_advise']}")
    if bottleneck in JUDGED:
        counts["judged"] += 1
        if codes or notes:
            counts["with a next action"] += 1
        else:
            wrong.append("no next action")
    return wrong


def trace_of(row, scratch):
    """The trace of a row, unpacked where its reader requires that; None where it is not here or too large."""
    for root in (CORPUS, IN_REPOSITORY):
        path = root / row["trace"]
        if not path.exists() or (path.is_file() and path.stat().st_size >= LARGEST_FILE):
            continue
        if not path.name.endswith(UNPACKED):
            return path
        plain = scratch / path.name.rsplit(".", 1)[0]
        opener = lzma if path.suffix == ".xz" else gzip
        plain.write_bytes(opener.open(path).read())
        return plain
    return None


def report_of(assay, trace):
    """(the JSON of a report or None, why there is none)."""
    try:
        done = subprocess.run([assay, "report", trace, "--format", "json"], capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        return None, f"no answer in {PATIENCE_S} s"
    try:
        return json.loads(done.stdout), ""
    except ValueError:
        return None, f"exit {done.returncode}: {done.stderr.strip()[-80:]}"


def self_test():
    """A row that a made report satisfies, and the same row against reports with one fault each."""
    row = {"bound": "host", "not_bound": "gpu,input", "share_low": "50", "share_high": "60", "must_name": "Python",
           "must_not_say": "GPU-bound", "stretches": "steady:1..3", "must_advise": "graph"}
    fine = {"headline": ["Host-bound: Python"], "actions": [{"text": "CUDA graphs"}], "device_idle_share": 0.55, "bottleneck": "host",
            "summary": {"actions": [{"how": "cuda_graph", "text": "CUDA graphs"}], "notes": []},
            "stretches": [{"kind": "steady", "start_ns": 0, "end_ns": 2_000_000}], "flow": {"window_ns": 2_000_000}}
    faults = ({"bottleneck": "gpu"}, {"bottleneck": None}, {"device_idle_share": 0.7}, {"headline": ["GPU-bound: Python"]},
              {"headline": ["Host-bound"]}, {"summary": {}}, {"flow": {"window_ns": 1}}, {"stretches": []})
    problems = score(row, fine, collections.Counter())
    return problems + [f"a planted fault was not found: {fault}" for fault in faults
                       if not score(row, fine | fault, collections.Counter())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", required=True)
    parser.add_argument("--table", type=pathlib.Path, default=HERE / "public.tsv")
    parser.add_argument("--least", type=float, default=0.9, metavar="SHARE")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    if problems := self_test():
        print("\n".join(problems))
        return 1

    counts, misses, right, rows = collections.Counter(), [], 0, 0
    with open(args.table, encoding="utf-8") as lines, tempfile.TemporaryDirectory() as scratch:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            trace = trace_of(row, pathlib.Path(scratch))
            if trace is None:
                continue
            rows += 1
            report, refusal = report_of(args.assay, trace)
            wrong = [refusal] if report is None else score(row, report, counts)
            right += not wrong
            if wrong:
                misses.append(f"{row['trace']}: {'; '.join(wrong)}")
    if rows == 0:
        print("none of the traces is here (ASSAY_DATA)")
        return 77
    if args.verbose and misses:
        print("\n".join(misses), file=sys.stderr)
    print(f"{right} of {rows} right; bottleneck in {counts['bottlenecks']}; words alone {counts['words']} of {rows}; "
          f"idle share {counts['share right']} of {counts['shares']}; stretches {counts['stretches right']} of "
          f"{counts['stretches']}; advice {counts['advice right']} of {counts['advice']}; with a next action "
          f"{counts['with a next action']} of {counts['judged']}; misses: {len(misses)}")
    return 1 if right < args.least * rows else 0


if __name__ == "__main__":
    sys.exit(main())
