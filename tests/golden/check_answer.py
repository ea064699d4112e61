#!/usr/bin/env python3
"""The first screen: layout limits on every available trace, and for some traces the exact text.

    check_answer.py --assay BINARY [--update]

At 40, 72, 80 and 120 columns, in UTF-8 and ASCII: no line wider than the screen, at most 15 lines from 72 columns, no
keys of the data, a headline of at most 160 characters, a bar of exactly its width with every glyph in the legend.
Colours only add escape sequences. The parts of the JSON answer sum to the window. The texts are in answers/, one file
per trace and width; --update rewrites them.
"""

import argparse
import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unicodedata

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from datasets import CORPUS, IN_REPOSITORY, ROOT  # noqa: E402

TEXTS = pathlib.Path(__file__).with_name("answers")
WIDTHS = (60, 80, 120)
EXAMPLE = ROOT / "examples" / "h100_vit_inference.json.gz"
# One trace per kind of answer: name of the texts, trace.
CASES = {
    "host": EXAMPLE,
    "gpu": CORPUS / "kineto/train/h800_deepseek_train_ep64.json",
    "input": CORPUS / "kineto/old/v100_resnet50_2021-06.json.gz",
    "unseen": CORPUS / "kineto/vllm/vllm_mi300_decode_exec.json.gz",
    "no_evidence": CORPUS / "rocm/rocprofv3/decode_kernel_trace.csv",
    "too_little": CORPUS / "kineto/small/h100_kineto_docs_before_fix.json",
    "ranks": CORPUS / "kineto/multirank/megatron_tp8_a100",
    "cold_start": CORPUS / "kineto/hta/a100_alexnet_critical_path.json.gz",
    "no_gpu": CORPUS / "kineto/hta/a100_distributed_info_missing.json.gz",
    "cuda": CORPUS / "nsys/cloverleaf_a100.sqlite",
    "copy": CORPUS / "kineto/small/a100_ptbench_trace2.json",
    "communication": CORPUS / "kineto/train/mi300_resnet_act_checkpoint_r0of8.json.gz",
}
MOST_LINES = 15
LONGEST_VERDICT = 160
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
KEY = re.compile(r"\b[a-z]+_(ns|bytes)\b")
GLYPHS = {"utf8": "█▓▒░·", "ascii": "#=+-."}
LARGEST = 1_500_000  # bytes of a trace that is checked at all widths
problems = []


def expect(fine, what):
    if not fine:
        problems.append(what)


def answer(assay, trace, *options, code=None, env=None):
    clean = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR", "COLORTERM", "LC_ALL")}
    done = subprocess.run([assay, str(trace), *map(str, options)], capture_output=True, text=True, timeout=600,
                          check=False, env={**clean, **(env or {})})
    if code is not None:
        expect(done.returncode == code, f"{trace}: exit {done.returncode}: {done.stderr[-200:]}")
    return done


def columns(text):
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def check_bar(name, lines, width, charset):
    """The bar is the first line that has only glyphs; the legend follows."""
    glyphs = GLYPHS[charset]
    bars = [i for i, line in enumerate(lines) if line.startswith("  ") and len(line) > 10 and set(line.strip()) <= set(glyphs)]
    if not bars:
        return
    drawn = lines[bars[0]][2:]
    expect(len(drawn) == min(width - 4, 116), f"{name}: a bar of {len(drawn)} cells")
    legend = " ".join(lines[bars[0] + 1:bars[0] + 5])
    for glyph in set(drawn):
        expect(f"{glyph} " in legend, f"{name}: {glyph} is not in the legend")


def check_limits(assay, trace, name):
    seen = {}
    for width in (40, 72, 80, 120):
        for charset in ("utf8", "ascii"):
            done = answer(assay, trace, "--width", width, *(["--ascii"] if charset == "ascii" else []))
            if done.returncode:
                return
            lines = done.stdout.splitlines()
            at = f"{name} at {width} {charset}"
            expect(all(columns(line) <= width for line in lines), f"{at}: {max(lines, key=columns)}")
            expect(width < 72 or len(lines) <= MOST_LINES, f"{at}: {len(lines)} lines")
            expect(charset == "utf8" or done.stdout.isascii(), f"{at}: not ASCII")
            expect(not KEY.search(done.stdout), f"{at}: a key of the data")
            expect("\x1b" not in done.stdout, f"{at}: colours in a pipe")
            check_bar(at, lines, width, charset)
            seen[width, charset] = done.stdout
    painted = answer(assay, trace, "--width", 80, "--color", "always", env={"COLORTERM": "truecolor"}).stdout
    expect("\x1b[" in painted and COLOUR.sub("", painted) == seen[80, "utf8"], f"{name}: colours change the text")
    plain = answer(assay, trace, "--width", 80, env={"NO_COLOR": "1"}).stdout
    expect(plain == seen[80, "utf8"], f"{name}: NO_COLOR changes the text")
    quiet = answer(assay, trace, "--width", 80, "-q").stdout
    expect(quiet and seen[80, "utf8"].startswith(quiet) and len(quiet.splitlines()) <= 2, f"{name}: -q says {quiet!r}")


HOST_CAUSES = ("dispatch", "python", "call", "host_gap", "latency")
# By the first part of a headline's code: the value with a share, and the causes of the bar that sum to it.
NAMED_CAUSES = {
    "gpu_bound": ("compute_share", ("compute",)), "sync_bound": ("sync_share", ("sync",)),
    "data_loading_bound": ("input_share", ("input",)), "allocation_bound": ("allocation_share", ("alloc",)),
    "warmup_bound": ("init_share", ("cold",)), "copy_bound": ("exposed_copy_share", ("copy",)),
    "comm_bound": ("exposed_comm_share", ("collective", "comm_wait", "transfer")),
    "no_work": ("no_work_share", ("nothing_asked",)), "undetermined": ("unexplained_share", ("unseen",)),
}
named = set()  # first parts of the codes that were compared


def check_headline(told, name):
    """The share of the headline equals the share of its causes in the bar."""
    if not told["causes"] or not told["findings"]:
        return
    headline = told["findings"][0]
    values = headline["values"]
    share = {cause["cause"]: cause["ns"] / told["total_ns"] for cause in told["causes"]}
    at = f"{name}: {headline['text']} The bar: {share}"
    kind = headline["code"].split(".")[0]
    if kind == "host_bound":
        host = sum(share.get(cause, 0) for cause in HOST_CAUSES)
        # Part of the launch latency belongs to the device; stalls are part of the host's time.
        least = host / 2 if "stalls" in values else host - share.get("latency", 0)
        expect(least - 0.001 <= values["host_share"] <= host + 0.001, at)
    elif headline["code"] == "sync_bound.after_wait":
        expect(abs(share[headline["subjects"][0]["name"]] - values["idle_share"]) <= 0.001, at)
    elif kind in NAMED_CAUSES and NAMED_CAUSES[kind][0] in values:
        key, causes = NAMED_CAUSES[kind]
        if headline["code"] == "undetermined.no_launch_record":
            causes = ("no_evidence",)
        expect(abs(sum(share.get(cause, 0) for cause in causes) - values[key]) <= 0.001, at)
    else:
        return
    named.add(kind)


def check_data(assay, trace, name):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        done = answer(assay, trace, "-o", file)
        if done.returncode:
            return
        data = file.read_text(encoding="utf-8")
    # Without a file, analyses that the screen does not need are left out.
    expect(answer(assay, trace).stdout == done.stdout, f"{name}: the screen differs with a file")
    told = json.loads(data).get("summary")
    if told is None:
        return
    verdict = " ".join(told["headline"])
    expect(0 < len(verdict) <= LONGEST_VERDICT, f"{name}: a verdict of {len(verdict)} characters: {verdict}")
    expect(len(told["actions"]) <= 3, f"{name}: {len(told['actions'])} levers")
    if told["causes"]:
        expect(sum(cause["ns"] for cause in told["causes"]) == told["total_ns"], f"{name}: causes do not add up")
    check_headline(told, name)
    for span in told["highlights"]:
        expect(0 <= span["start_ns"] < span["end_ns"] <= told["window_ns"], f"{name}: a span outside the window")
    torch = any(word in json.dumps(told["actions"]) for word in ("torch", "DataLoader"))
    expect(not torch or not str(trace).endswith((".sqlite", ".csv", ".db")) or "at::native" in data,
           f"{name}: advice on PyTorch for a program without it")


def check_texts(assay, update):
    TEXTS.mkdir(exist_ok=True)
    for name, trace in CASES.items():
        if not trace.exists():
            continue
        for width in WIDTHS:
            told = answer(assay, trace, "--width", width, code=0).stdout
            lines = told.splitlines()
            expect(width < 80 or len(lines) <= MOST_LINES, f"{name} at {width}: {len(lines)} lines")
            path = TEXTS / f"{name}_{width}.txt"
            if update:
                path.write_text(told, encoding="utf-8")
            elif not path.exists() or path.read_text(encoding="utf-8") != told:
                problems.append(f"{path.name} says otherwise:\n{told}")


def check_forms(assay):
    """`report` is the default verb; --full and Markdown; the contents of standard error."""
    plain = answer(assay, EXAMPLE, code=0).stdout
    with_verb = subprocess.run([assay, "report", str(EXAMPLE)], capture_output=True, text=True, check=False).stdout
    expect(plain == with_verb, "assay FILE is not assay report FILE")
    full = answer(assay, EXAMPLE, "--full", code=0).stdout
    expect(len(full.splitlines()) > 100 and "Launch" in full, "--full has no sections")
    short = answer(assay, EXAMPLE, "--format", "md", code=0).stdout
    long = answer(assay, EXAMPLE, "--format", "md", "--full", code=0).stdout
    verdict = answer(assay, EXAMPLE, "-q", "--width", 200, code=0).stdout.strip()
    expect(short.startswith(f"**{verdict.split(': ')[0]}") and "| compute |" in short, "Markdown's answer")
    expect(len(long) > 5 * len(short), "Markdown has no --full")
    with gzip.open(EXAMPLE) as file:
        rows = [row for row in json.load(file)["traceEvents"] if row.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    times = collections.Counter()
    for row in rows:
        times[row["name"]] += row["dur"]
    table = [line.split(" | ") for line in short.split("| kernel |")[1].splitlines()[2:12]]
    expect([cells[2] for cells in table[:3]] == [f"{time:.0f} µs" for _, time in times.most_common(3)],
           f"Markdown's kernels: {table}")
    expect("checksum xxh3" in short and "Assay " in short, "Markdown names no input")


def traces():
    yield EXAMPLE
    for root in (IN_REPOSITORY, CORPUS):
        for folder in ("kineto", "nsys", "rocm"):
            for path in sorted((root / folder).rglob("*")):
                if path.is_file() and path.stat().st_size <= LARGEST and path.suffix in (".gz", ".json", ".sqlite", ".csv", ".db"):
                    yield path


def pairs():
    for folder in ("h100_pairs", "h200_pairs"):
        yield from sorted((IN_REPOSITORY / folder).glob("*.zst"))


def make_job(folder, size):
    """A job of `size` ranks, copied from the eight of a real one."""
    bases = [gzip.decompress(path.read_bytes()) for path in sorted(CASES["ranks"].glob("*.json.gz"))]
    for rank in range(size):
        text, found = re.subn(rb'"rank": \d+, "world_size": \d+', b'"rank": %d, "world_size": %d' % (rank, size), bases[rank % len(bases)])
        expect(found == 1, f"rank {rank}: {found} places tell the rank")
        (folder / f"rank_{rank}.json.gz").write_bytes(gzip.compress(text, 1))


def check_jobs(assay):
    """The first screen of jobs of all sizes: 15 lines, a headline of normal length, no truncated sentence."""
    if not CASES["ranks"].exists():
        return
    for size in (2, 8, 64):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            make_job(folder, size)
            lines = answer(assay, folder, "--width", 80, code=0).stdout.splitlines()
            expect(len(lines) <= MOST_LINES, f"{size} ranks: {len(lines)} lines")
            expect(all(columns(line) <= 80 for line in lines), f"{size} ranks: a line wider than 80 columns")
            told = json.loads(answer(assay, folder, "--format", "json", code=0).stdout)["summary"]
            verdict = " ".join(told["headline"])
            expect(0 < len(verdict) <= LONGEST_VERDICT, f"{size} ranks: a headline of {len(verdict)} characters: {verdict}")
            shown = " ".join(" ".join(lines).split())
            for sentence in [*told["headline"], *told["details"]]:
                expect(" ".join(sentence.split()) in shown, f"{size} ranks: not on the screen: {sentence}")
            expect(f"{size} ranks compute" in " ".join(told["details"]), f"{size} ranks: where the time went is not told")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--assay", required=True)
    options.add_argument("--update", action="store_true")
    options.add_argument("names", nargs="*", help="only traces whose path contains one of these")
    options = options.parse_args()
    check_texts(options.assay, options.update)
    check_forms(options.assay)
    if not options.names:
        check_jobs(options.assay)
    for trace in traces():
        if options.names and not any(name in str(trace) for name in options.names):
            continue
        check_limits(options.assay, trace, trace.name)
        check_data(options.assay, trace, trace.name)
    for trace in pairs():
        if not options.names or any(name in str(trace) for name in options.names):
            check_data(options.assay, trace, trace.name)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
