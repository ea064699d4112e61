#!/usr/bin/env python3
"""Holds the report's verdict against what a person found in each public trace.

    check_verdicts.py --assay BINARY [--list]

The tables are verdicts_stretches.tsv of the trace corpus and more.tsv beside this file; verdicts.md of the
corpus explains their columns. Of every row whose trace is here, `assay report FILE --format json`
must say
  bound   the key `bottleneck` is one of `bound` and none of `not_bound`
  name    the verdict or a lever contains one of `must_name`, and so does the short answer, `assay FILE`
  not     the first sentence and the first lever contain nothing of `must_not_say`, in the short answer too
  share   `device_idle_share` lies in the range, where the row gives one
Rows that fail are listed with their reason in docs/measured/verdicts.md: a failure that is not
listed there, a listed one that no longer fails, and fewer than 95 % of `bound` right fail the test.
--list prints every row with what the report says.
"""

import argparse
import csv
import gzip
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/golden"))
from datasets import CORPUS, IN_REPOSITORY  # noqa: E402

TABLES = [CORPUS / "verdicts_stretches.tsv", pathlib.Path(__file__).with_name("more.tsv")]
KNOWN_MISSES = ROOT / "docs/measured/verdicts.md"
BOUND_RIGHT = 0.95
# Compressed files whose readers want them plain.
UNPACK = {".sqlite.gz": gzip, ".db.gz": gzip, ".rpd.gz": gzip, ".xz": lzma}


def rows():
    for table in TABLES:
        if not table.exists():
            continue
        with open(table, encoding="utf-8") as lines:
            yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


def trace_of(row, scratch):
    """The row's trace, unpacked where its reader wants that; None where it is not here."""
    for root in (CORPUS, IN_REPOSITORY):
        path = root / row["trace"]
        if not path.exists():
            continue
        for ending, opener in UNPACK.items():
            if path.name.endswith(ending):
                plain = scratch / path.name.removesuffix("." + ending.rsplit(".", 1)[1])
                plain.write_bytes(opener.open(path).read())
                return plain
        return path
    return None


def report(assay, path):
    done = subprocess.run([assay, "report", str(path), "--format", "json"], capture_output=True, text=True,
                          timeout=600, check=False)
    try:
        return json.loads(done.stdout), ""
    except ValueError:
        return None, f"exit {done.returncode}: {done.stderr.strip()[-120:]}"


def short_answer(assay, path):
    """The answer on one screen, its lines joined, and its headline: the verdict with the first lever's title."""
    done = subprocess.run([assay, str(path), "--width", "100"], capture_output=True, text=True, timeout=600, check=False)
    lines = done.stdout.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("1  ")), 0)
    verdict = lines[:lines.index("")] if "" in lines else lines[:2]
    return " ".join(line.strip() for line in lines), " ".join(verdict + (lines[first:first + 1] if first else []))


def words(answer):
    """The verdict's sentences and the levers' texts."""
    verdict = answer.get("headline") or []
    levers = [str(lever.get("text", "")) for lever in answer.get("actions") or []]
    return verdict, levers


def listed(text):
    return [part for part in text.split("|") if part]


def wrong_cause(row, answer):
    cause = answer.get("bottleneck")
    if cause in row["bound"].split("|") and cause not in row["not_bound"].split(","):
        return ""
    plainly = ", plainly false" if cause in row["not_bound"].split(",") else ""
    return f"cause {cause} instead of {row['bound']}{plainly}"


def wrong_words(row, answer, short):
    verdict, levers = words(answer)
    problems = []
    for where, text, headline in (("", "\n".join(verdict + levers), "\n".join(verdict[:1] + levers[:1])),
                                  ("the short answer ", *short)):
        if row["must_name"] and not any(name.lower() in text.lower() for name in listed(row["must_name"])):
            problems.append(f"{where}names none of {row['must_name']}")
        said = [phrase for phrase in row["must_not_say"].split(";") if phrase and phrase.lower() in headline.lower()]
        if said:
            problems.append(f"{where}says " + ", ".join(said))
    return "; ".join(problems)


def wrong_share(row, answer):
    if not row["share_low"]:
        return ""
    share = answer.get("device_idle_share")
    if share is not None and float(row["share_low"]) <= 100 * share <= float(row["share_high"]):
        return ""
    told = "none" if share is None else f"{100 * share:.1f}"
    return f"idle {told}, not {row['share_low']} to {row['share_high']} %"


def known_misses():
    """Traces of the table of misses: | `trace` | reason |"""
    if not KNOWN_MISSES.exists():
        return set()
    return set(re.findall(r"^\| `([^`]+)` \|", KNOWN_MISSES.read_text(encoding="utf-8"), re.MULTILINE))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--assay", required=True)
    options.add_argument("--list", action="store_true")
    options = options.parse_args()
    misses, bound_right, judged = {}, 0, set()
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows():
            path = trace_of(row, pathlib.Path(scratch))
            if path is None:
                continue
            judged.add(row["trace"])
            answer, failure = report(options.assay, path)
            problems = [failure] if answer is None else [
                text for text in (wrong_cause(row, answer), wrong_words(row, answer, short_answer(options.assay, path)),
                                  wrong_share(row, answer)) if text]
            bound_right += answer is not None and not wrong_cause(row, answer)
            if problems:
                misses[row["trace"]] = "; ".join(problems)
            if options.list and answer is not None:
                verdict, levers = words(answer)
                print(f"{row['trace']}\n  {answer.get('bottleneck')} (is {row['bound']})\n  "
                      + "\n  ".join(verdict[:1] + levers[:1]))
    if not judged:
        print("none of the traces is here (ASSAY_DATA)")
        return 77
    known = known_misses() & judged
    new = {trace: why for trace, why in misses.items() if trace not in known}
    for trace, why in sorted(misses.items()):
        print(f"{'known ' if trace in known else ''}{trace}: {why}")
    for trace in sorted(known - set(misses)):
        print(f"{trace}: listed in {KNOWN_MISSES.relative_to(ROOT)} as a miss, but right")
    print(f"{bound_right} of {len(judged)} causes right, {len(judged) - len(misses)} rows right in everything")
    too_few = bound_right < BOUND_RIGHT * len(judged)
    return 1 if new or known - set(misses) or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
