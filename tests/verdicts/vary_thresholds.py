#!/usr/bin/env python3
"""How verdicts move when a threshold is halved or doubled, one after the other: docs/measured/thresholds.md.

    vary_thresholds.py --build DIR [--only NAME] [--keep] [--write]

Makes a copy of the sources in DIR in which every threshold of the dependency graph, its verdict and its words (the
named constants of src/flow, src/report/flow and src/trace/unrecorded.h, and the defaults of their options) can be set by a variable, builds
that copy, and judges all rows of the verdict tables and all made-up runs with each threshold at half and at twice its
value. Shares above one half have what is missing to one halved and doubled instead. With --keep rows of the page stay
whose threshold is what it was. Nothing of this is in the product.
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs/measured/thresholds.md"
sys.path.insert(0, str(HERE))
import check_scenes  # noqa: E402
import check_verdicts  # noqa: E402

PLACES = ("src/flow/*", "src/report/flow/*", "src/trace/unrecorded.*")
TYPES = "int|int64_t|uint64_t|size_t|double"
CONSTANT = re.compile(rf"^(\s*)(?:static |inline )*constexpr ({TYPES}) (k\w+) = ([-\d.'* ]+);", re.M)
OPTIONS = re.compile(r"^struct (\w+Options) \{\n(.*?)^\};", re.M | re.S)
OPTION = re.compile(rf"^(  )({TYPES}) (\w+) = ([-\d.'* ]+);", re.M)
# How many of something there is, or how much of a list is shown: no thresholds.
COUNTS = re.compile(r"^k(FlowCauses|Evidences|Openings|Bounds|EdgeKinds|EditKinds|PathPartKinds|ReadyKinds|.*Shown"
                    r"|.*Listed|.*Named|.*NameSaid|MostSpans|Bins|Rounds)$|\.(contributors|named)$")
VARY_H = """#pragma once
#include <cstdlib>
#include <cstring>
namespace assay {
template <class T>
T vary(const char* name, T value) {
  const char* asked = std::getenv("ASSAY_VARY");
  const size_t length = std::strlen(name);
  if (asked == nullptr || std::strncmp(asked, name, length) != 0 || asked[length] != '=') return value;
  return static_cast<T>(std::atof(asked + length + 1));
}
}
"""


@dataclasses.dataclass
class Threshold:
    name: str
    file: str
    is_share: bool
    value: float

    def values(self):
        """At half and at twice."""
        if self.is_share and 0.5 <= self.value < 1:
            return 1 - 2 * (1 - self.value), 1 - (1 - self.value) / 2
        low, high = self.value / 2, self.value * 2
        return (low, high) if self.is_share else (int(low), int(high))


def evaluated(text):
    product = 1.0
    for factor in text.replace("'", "").split("*"):
        product *= float(factor)
    return product


def rewrite(path, relative, found):
    """The file with each threshold asking for its value."""
    text = path.read_text()

    def known(name, kind, value):
        if COUNTS.search(name):
            return False
        found.append(Threshold(name, relative, kind == "double", evaluated(value)))
        return True

    def own_name(name):
        """Functions of one file may each have a constant of that name."""
        alike = sum(one.name.split("#")[0] == name for one in found)
        return f"{name}#{alike + 1}" if alike else name

    def constant(match):
        indent, kind, name, value = match.groups()
        asked = own_name(f"{path.stem}.{name}")
        if not known(name if COUNTS.search(name) else asked, kind, value):
            return match[0]
        member = "static" in match[0]
        words = "static inline const" if member else "static const" if indent else \
            "inline const" if path.suffix == ".h" else "const"
        return f'{indent}{words} {kind} {name} = ::assay::vary<{kind}>("{asked}", {value});'

    def options(match):
        def option(field):
            indent, kind, name, value = field.groups()
            asked = f"{match[1]}.{name}"
            return f'{indent}{kind} {name} = ::assay::vary<{kind}>("{asked}", {value});' \
                if known(asked, kind, value) else field[0]
        return f"struct {match[1]} {{\n{OPTION.sub(option, match[2])}}};"

    path.write_text(OPTIONS.sub(options, CONSTANT.sub(constant, text)))


def build(folder):
    """The copy and its binary; the thresholds."""
    copy = folder / "tree"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "build", "node_modules", "__pycache__"))
    (copy / "src/base/vary.h").write_text(VARY_H)
    found = []
    for place in PLACES:
        for path in sorted(copy.glob(place)):
            if path.suffix in (".h", ".cc"):
                rewrite(path, path.relative_to(copy).as_posix(), found)
    flags = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={shutil.which('ccache')}"] if shutil.which("ccache") else []
    subprocess.run(["cmake", "--preset", "release", "-DASSAY_TESTS=OFF", *flags,
                    f"-DCMAKE_CXX_FLAGS=-include {copy}/src/base/vary.h"], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", copy / "build/release", "assay"], check=True)
    return copy / "build/release/assay", found


class Inputs:
    """All that is judged, written once."""

    def __init__(self, scratch):
        found = [(row, check_verdicts.trace_of(row, scratch)) for row in check_verdicts.rows()]
        self.traces = [(row, path) for row, path in found if path is not None]
        self.scenes = [(name, check_scenes.write_scene(name, scratch)) for name in check_scenes.SCENES]
        self.compared = [(name, check_scenes.write_compared(name, scratch)) for name in check_scenes.COMPARED]


def is_wrong_trace(assay, row, path):
    """Whether the answer to a public trace is not right, and what it says first."""
    answer, _ = check_verdicts.report(assay, path)
    if answer is None:
        return True, None
    short = check_verdicts.short_answer(assay, path)
    wrong = bool(check_verdicts.wrong_cause(row, answer) or check_verdicts.wrong_words(row, answer, short)
                 or check_verdicts.wrong_share(row, answer))
    return wrong, (answer.get("bottleneck"), check_verdicts.words(answer)[0][:1])


def is_wrong_scene(check, *arguments):
    try:
        return bool(check(*arguments)), None
    except subprocess.SubprocessError:  # no answer at all
        return True, None


def judge(assay, inputs, usual):
    """Per row and run: its document, whether it is not right, and the first sentence of public traces. One whose
    document is that of `usual` is judged as there: what is checked follows from it."""
    jobs = {row["trace"]: (["report", path], functools.partial(is_wrong_trace, assay, row, path))
            for row, path in inputs.traces}
    for name, file in inputs.scenes:
        jobs["made up: " + name] = (["report", file], functools.partial(is_wrong_scene, check_scenes.check, assay, name, file))
    for name, sides in inputs.compared:
        jobs["made up: " + name] = (["diff", *sides], functools.partial(is_wrong_scene, check_scenes.compare, assay, name, sides))
    judged = {}
    for name, (words, check) in jobs.items():
        made = subprocess.run([assay, *words, "--format", "json"], capture_output=True, timeout=600, check=False).stdout
        document = hashlib.sha256(made).hexdigest()
        same = name in usual and usual[name][0] == document
        judged[name] = usual[name] if same else (document, *check())
    return judged


def judge_at(arguments):
    """A process of its own: the variable is the process's."""
    assay, inputs, usual, threshold, value = arguments
    os.environ["ASSAY_VARY"] = f"{threshold.name}={value!r}" if threshold else ""
    return judge(assay, inputs, usual)


def number(value):
    return f"{value:,.10g}".replace(",", " ")


def kept_rows(thresholds):
    """Rows of the page as it is, by name, whose threshold is what it was."""
    rows = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 9:
            rows[cells[0]] = (cells[1:3], line)
    return {one.name: rows[one.name][1] for one in thresholds
            if one.name in rows and rows[one.name][0] == [one.file.removeprefix("src/"), number(one.value)]}


def newly_wrong(result, usual):
    return sorted(name for name, (_, wrong, _) in result.items() if wrong and not usual[name][1])


def cell(value, result, usual):
    moved = sum(result[name][2] != told for name, (_, _, told) in usual.items())
    newly = newly_wrong(result, usual)
    names = ", ".join(f"`{pathlib.Path(name).name}`" for name in newly[:3])
    return f"{number(value)} | {moved} | {len(newly)}{': ' + names if names else ''}{', …' if len(newly) > 3 else ''}"


HEAD = """# Verdicts when thresholds move

What becomes of the {rows} rows of the verdict tables ([verdicts.md](verdicts.md)) and of {scenes} made-up runs of known truth
when each threshold of the dependency graph, of its verdict and of its words is halved and doubled, the others as they
are (`tests/verdicts/vary_thresholds.py --build build/vary --write`). Shares of one half and more have what is missing to one
doubled and halved. *First sentences*: of public traces, how many have another cause or first sentence. *Wrong*: rows and
runs that were right and are not.

Of {count} thresholds {still} can be halved and doubled without one row or run becoming wrong. A threshold whose change
breaks many rows is one that the answer stands on; the rows are the ones it was written with, so this page says how
firm the rules stand on known ground, not how they do elsewhere. A threshold that moves nothing has no row in the tables yet.
{made} rows were made with all of these; the others, whose thresholds are what they were, with as many rows and fewer made-up runs.

| threshold | file | value | at half | first sentences | wrong | at twice | first sentences | wrong |
|---|---|--:|--:|--:|---|--:|--:|---|
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    assay, thresholds = build(options.build.resolve())
    names = [one.name for one in thresholds]
    kept = kept_rows(thresholds) if options.keep else {}
    thresholds = [one for one in thresholds if options.only in one.name and one.name not in kept]
    names = [name for name in names if name in kept or name in {one.name for one in thresholds}]
    print(len(kept), "kept,", len(thresholds), "to do", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        inputs = Inputs(pathlib.Path(scratch))
        usual = judge_at((str(assay), inputs, {}, None, None))
        print("as it is:", sum(wrong for _, wrong, _ in usual.values()), "wrong", flush=True)
        jobs = [(str(assay), inputs, usual, one, value) for one in thresholds for value in one.values()]
        results = []
        with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
            for job, result in zip(jobs, pool.map(judge_at, jobs)):
                results.append(result)
                print(job[3].name, job[4], newly_wrong(result, usual), flush=True)
    rows = dict(kept)
    for one, at_low, at_high in zip(thresholds, results[::2], results[1::2]):
        low, high = one.values()
        rows[one.name] = (f"| {one.name} | {one.file.removeprefix('src/')} | {number(one.value)} | {cell(low, at_low, usual)} | "
                          f"{cell(high, at_high, usual)} |")
    lines = [rows[name] for name in names]
    still = sum(line.split("|")[6].strip() == "0" and line.split("|")[9].strip() == "0" for line in lines)
    head = HEAD.format(rows=len(inputs.traces), scenes=len(inputs.scenes) + len(inputs.compared),
                       count=len(lines), still=still, made=len(thresholds))
    text = head + "\n".join(lines) + "\n"
    if options.write:
        PAGE.write_text(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
