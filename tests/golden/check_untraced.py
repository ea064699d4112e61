#!/usr/bin/env python3
"""The iteration time without a profiler, estimated from a recording, against the same program without a recorder.

    check_untraced.py --pairs build/release/assay_untraced_pairs --assay build/release/assay [--write]
    check_untraced.py --pairs build/release/assay_untraced_pairs --table
    check_untraced.py --assay build/release/assay

--assay alone checks the option --untraced instead. The pairs are those of tests/data. The constants of each estimate are
fitted without the pairs of its own program. --write makes docs/measured/untraced.md, --table prints the rows of
data/tables/tracer_cost.tsv.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests/data"
PAGE = ROOT / "docs/measured/untraced.md"
# Median of 30 iterations without a recorder (docs/measured/2026-11-27-nvidia-h200.md); it is in no pair.
ALONE = [("h200_pairs", "bert_batch8", "5.33")]


def program_of(name):
    return "gpt2" if name.startswith("gpt2") else name.split(".")[0]


def pairs():
    """(file, untraced ms, program, name) of each recording with a known time without a recorder."""
    found = {}
    for folder in ("h200_pairs", "h100_pairs"):
        with open(DATA / folder / "pairs.tsv", encoding="utf-8") as table:
            for row in csv.DictReader(table, delimiter="\t"):
                for side in ("before", "after"):
                    path = DATA / folder / (row[side] + ".json.zst")
                    if path.exists() and row[f"untraced_{side}_ms"]:
                        found[row[side]] = (path, row[f"untraced_{side}_ms"])
    for folder, name, ms in ALONE:
        found[name] = (DATA / folder / (name + ".json.zst"), ms)
    return [(path, ms, program_of(name), name) for name, (path, ms) in found.items()]


class LeverRow:
    """A change with what it gains by a replay of the recording, by one of the retimed trace, and what it gave."""

    def __init__(self, assay, folder, row):
        self.pair, self.edit = row["pair"], row["edit"]
        before_ms = row["untraced_before_ms"]
        told = json.loads(asked(assay, "whatif", [folder / (row["before"] + ".json.zst"), "--edit", self.edit, "--untraced",
                                                  before_ms + "ms", "--format", "json"]))
        action = told["whatif"]["actions"][0]
        self.source = told["untraced"]["untraced_source"]
        self.recorded_ms = action["gain_ns"] / 1e6
        ms = lambda key: action[key] / 1e6 if action[key] is not None else float("nan")
        self.untraced_ms, self.low_ms, self.high_ms = (ms(f"gain_untraced{end}_ns") for end in ("", "_low", "_high"))
        self.came_ms = float(before_ms) - float(row["untraced_after_ms"])

        # The recorded share of the measured iteration.
        self.share_ms = action["gain_ns"] / action["before_ns"] * float(before_ms)

    def off(self, ms):
        return abs(ms / self.came_ms - 1)


def levers(assay):
    """Pairs of which the change is an edit."""
    found = []
    for folder in ("h200_pairs", "h100_pairs"):
        with open(DATA / folder / "pairs.tsv", encoding="utf-8") as table:
            rows = [row for row in csv.DictReader(table, delimiter="\t") if row["edit"] != "-"]
        found += [LeverRow(assay, DATA / folder, row) for row in rows]
    return found


def asked(program, mode, arguments):
    return subprocess.run([program, mode, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    return values[low] if low + 1 >= len(values) else values[low] + (at - low) * (values[low + 1] - values[low])


def percent(value):
    return f"{100 * value:.1f} %"


class Row(dict):
    def us(self, key):
        return float(self[key])

    def off(self, key):
        return abs(self.us(key) / self.us("untraced_us") - 1)

    @property
    def inside(self):
        return self.us("low_us") <= self.us("untraced_us") <= self.us("high_us")

    @property
    def turned(self):
        return self["anchored"] not in ("-", self["recorded"])

    @property
    def may_turn(self):
        return self["recorded"] != self["estimated"] or self["recorded"] != self["fastest"]


def lever_lines(actions):
    known = [row for row in actions if row.source == "anchor"]
    recorded, shares, untraced = ([row.off(getattr(row, key)) for row in known]
                                  for key in ("recorded_ms", "share_ms", "untraced_ms"))
    off = lambda values: f"{percent(quantile(values, .5))} and {percent(max(values))}"
    lines = [
        "",
        "## Gains of changes",
        "",
        "`assay whatif BEFORE --edit EDIT --untraced TIME`, in ms an iteration, against what the change gave without the profiler."
        " From, to: every distribution of the recorder's cost over the rows, and the iterations.",
        "",
        f"Off from what came, median and most of {len(known)}: {off(recorded)} as recorded, **{off(untraced)}** by the retimed trace."
        f" The recorded share of the measured iteration would be off by {off(shares)}. It is no better answer: where the GPU is the"
        " bound without the profiler, that share is more than the GPU's idle time.",
        "",
        "| pair | edit | as recorded | untraced | from | to | came |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for row in actions:
        untraced = [f"{ms:.3f}" if row in known else "refused" for ms in (row.untraced_ms, row.low_ms, row.high_ms)]
        lines.append(f"| {row.pair} | `{row.edit}` | {row.recorded_ms:.3f} | {' | '.join(untraced)} | {row.came_ms:.3f} |")
    return lines


def page(rows, heavy, generated, actions):
    calm = [row for row in rows if row["costly"] != "1" and row.us("estimate_us") > 0]
    offs, recorded = [r.off("estimate_us") for r in heavy], [r.off("recorded_us") for r in heavy]
    lines = [
        "# The run's own time",
        "",
        "An iteration without the profiler, estimated from recordings of PyTorch's profiler, against the same program without"
        " it. The constants of each estimate are fitted without the pairs of its own program. Made by"
        " `tests/golden/check_untraced.py --pairs build/release/assay_untraced_pairs --write`.",
        "",
        f"{len(rows)} recordings of {len({r['program'] for r in rows})} programs, on an H200 and an H100. Rows cost"
        f" more than a tenth of an iteration in {len(heavy)} of them.",
        "",
        "| | as recorded | estimated |",
        "|---|--:|--:|",
        f"| {len(heavy)} recordings with costly rows: off, median | {percent(quantile(recorded, .5))} |"
        f" {percent(quantile(offs, .5))} |",
        f"| the same, 90th percentile | {percent(quantile(recorded, .9))} | {percent(quantile(offs, .9))} |",
        f"| inside the interval | | {percent(sum(r.inside for r in heavy) / len(heavy))} |",
        f"| whole width of the interval, median | |"
        f" {percent(quantile([(r.us('high_us') - r.us('low_us')) / r.us('estimate_us') for r in heavy], .5))} |",
        f"| {len(calm)} others: off, median | {percent(quantile([r.off('recorded_us') for r in calm], .5))} |"
        f" {percent(quantile([r.off('estimate_us') for r in calm], .5))} |",
        f"| T_Orch above the real iteration, of {len(heavy)} | {sum(r.us('t_orch_us') > r.us('untraced_us') for r in heavy)} |"
        f" {sum(r.us('t_orch_high_us') > r.us('untraced_us') for r in heavy)} (anchored, upper end) |",
        f"| bottleneck is another one by the measured iteration | {sum(r.turned for r in rows)} |"
        f" named as possible: {sum(r.may_turn for r in rows)},"
        f" {sum(r.turned and r.may_turn for r in rows)} of the former among them |",
        "",
        "Made-up runs of known costs of operators and calls, each 0.3 to 6 us a border: T_Orch as recorded is"
        f" {percent(generated['recorded'])} too large (median). By the known iteration it is off by"
        f" {percent(generated['off'])} (median), and its true value is inside the ends in {percent(generated['inside'])} of"
        f" {generated['runs']} runs; their width is {percent(generated['width'])} (median).",
        "",
        "Times in ms. Nothing is estimated of a recording without operators. cost: what a border of a row took, in us, with which the replay gives the measured iteration.",
        "",
        "| recording | recorded | estimated | from | to | measured | cost | bottleneck | measured iteration: bottleneck | T_Orch recorded |"
        " from | to |",
        "|---|--:|--:|--:|--:|--:|--:|---|---|--:|--:|--:|",
    ]
    ms = lambda row, key: f"{row.us(key) / 1000:.3f}"
    for row in rows:
        known = row["cost_us"] != ""
        estimate = [ms(row, key) if row.us("estimate_us") > 0 else "" for key in ("estimate_us", "low_us", "high_us")]
        lines.append(
            f"| {row['recording']} | {ms(row, 'recorded_us')} | {estimate[0]} | {estimate[1]} | {estimate[2]} | {ms(row, 'untraced_us')} | {row['cost_us'] or 'none'} | {row['recorded']} |"
            f" {row['anchored'] if known else ''} | {ms(row, 't_orch_us')} |"
            f" {ms(row, 't_orch_low_us') if known else ''} | {ms(row, 't_orch_high_us') if known else ''} |")
    return "\n".join(lines + lever_lines(actions)) + "\n"


def run(assay, *arguments):
    done = subprocess.run([assay, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def check_whatif(assay, gpt2):
    faults = []

    def expect(holds, words):
        if not holds:
            faults.append(f"whatif: {words}")

    asked_for = ["whatif", gpt2, "--edit", "cuda_graph"]
    bare = json.loads(run(assay, *asked_for, "--format", "json", "--untraced", "none")[1])
    code, text, error = run(assay, *asked_for, "--format", "json", "--untraced", "6.112ms")
    if code != 0:
        return [f"whatif --untraced: {error}"]
    anchored = json.loads(text)
    expect(anchored["untraced"]["untraced_source"] == "anchor" and "untraced" not in bare, "6.112ms is not an anchor")
    action, recorded = anchored["whatif"]["actions"][0], bare["whatif"]["actions"][0]
    expect(recorded["gain_untraced_ns"] is None, "--untraced none has a gain without the profiler")
    expect({**action, **{f"gain_untraced{end}_ns": None for end in ("", "_low", "_high")}} == recorded, "recorded numbers differ")
    low, gain, high = (action[f"gain_untraced{end}_ns"] for end in ("_low", "", "_high"))
    # The change gave 5.42 ms of 6.11 ms, of which some by fusion.
    expect(low <= gain <= high and 4.6e6 < gain < 5.5e6, f"gain {low} {gain} {high}")
    joint = anchored["whatif"]["joint"]
    expect(joint["gain_untraced_ns"] == gain and joint["gain_ns"] == bare["whatif"]["joint"]["gain_ns"], f"joint {joint}")
    screen = " ".join(run(assay, *asked_for, "--untraced", "6.112ms")[1].split())
    expect("instead of 6.07 ms" in screen and "recorded 14.4 ms" in screen and "recorded (ms)" in screen, screen)
    for other in (["--on", "B200", "--as-recorded"], ["--save-prediction", "none.ini", "--edit", "sync"]):
        expect(run(assay, "whatif", gpt2, "--untraced", "6.112ms", *other)[0] == 2, f"--untraced with {other[-1]}")
    on = json.loads(run(assay, "whatif", gpt2, "--on", "B200", "--untraced", "6.112ms", "--format", "json")[1])["whatif"]["on"]
    share = on["run_ns"] / on["recorded_ns"]
    expect(abs(share / (6.112e6 / anchored["untraced"]["recorded_iteration_ns"]) - 1) < 0.02, f"--on has {share} of the recorded run")
    slower = " ".join(run(assay, *asked_for, "--untraced", "20ms")[1].split())
    expect("Times are as recorded" in slower, slower)
    return faults


def check_why(assay, gpt2):
    faults = []

    def expect(holds, words):
        if not holds:
            faults.append(f"why: {words}")

    bert = DATA / "h200_pairs/bert_batch8.json.zst"
    bare = json.loads(run(assay, "why", gpt2, "--format", "json", "--untraced", "none")[1])
    code, text, error = run(assay, "why", gpt2, "--format", "json", "--untraced", "6.112ms")
    if code != 0:
        return [f"why --untraced: {error}"]
    anchored = json.loads(text)
    for key in ("causes", "path", "opened_by", "bottleneck"):
        expect(anchored.get(key) == bare.get(key), f"{key} is not that of the recording")
    idle = lambda rows: sum(row["ns"] for row in rows if row["cause"] not in ("compute", "collective", "copy"))
    expect(idle(anchored["untraced"]["causes"]) < idle(anchored["causes"]) / 2, "causes are as recorded")
    screen = " ".join(run(assay, "why", bert, "--untraced", "5.33ms")[1].split())
    expect("Times are of the run without its profiler: 5.33 ms" in screen, screen)
    expect("Host-bound" in screen.split("Times are")[0] or "GPU-bound" in screen.split("Times are")[0], screen)
    return faults


def check_diff(assay, gpt2):
    faults = []

    def expect(holds, words):
        if not holds:
            faults.append(f"diff: {words}")

    sdpa = DATA / "h200_pairs/gpt2_sdpa.after.json.zst"
    sides = lambda *more: json.loads(run(assay, "diff", gpt2, sdpa, "--format", "json", *more)[1])["diff"]["sides"]
    code, _, error = run(assay, "diff", gpt2, sdpa, "--untraced", "6.112ms,3.629ms")
    if code != 0:
        return [f"diff --untraced: {error}"]
    bare, both = sides("--untraced", "none"), sides("--untraced", "6.112ms,3.629ms")
    expect(bare["a_recorded_ns"] is None, "--untraced none has recorded times beside others")
    expect(both["a_recorded_ns"] == bare["a_time_ns"] and both["b_recorded_ns"] == bare["b_time_ns"], "recorded times differ")
    expect(abs(both["recorded_change_share"] - bare["change_share"]) < 1e-9, "recorded change differs")
    # -40.6 % without the profiler, -50.8 % with it.
    expect(abs(both["change_share"] + 0.406) < 0.025 and bare["change_share"] < -0.48, f"{both['change_share']} {bare['change_share']}")
    gate = ["--fail-on", "time<5ms", "--fail-on-any"]
    expect(run(assay, "diff", gpt2, sdpa, *gate, "--untraced", "none")[0] == 0, "the recorded time of B is under 5 ms")
    expect(run(assay, "diff", gpt2, sdpa, *gate, "--untraced", "6.112ms,3.629ms")[0] == 1, "gates are as recorded")
    screen = " ".join(run(assay, "diff", gpt2, sdpa, "--untraced", "6.112ms,3.629ms")[1].split())
    expect("Times are of the runs without their profiler (--untraced). Recorded: 7.12 ms" in screen, screen)
    for one in ("6.112ms,none", "6.112ms,9ms"):
        screen = " ".join(run(assay, "diff", gpt2, sdpa, "--untraced", one)[1].split())
        expect("times of both sides are as recorded, because of B" in screen, screen)
    for wrong in ("6.112ms", "6.112ms,", "6.112,3.629", "1ms,2ms,3ms"):
        expect(run(assay, "diff", gpt2, sdpa, "--untraced", wrong)[0] == 2, f"{wrong} is accepted")
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "untraced.csv"
        table.write_text(f"trace,untraced_ms\n{gpt2.name},6.112\n{sdpa.name},3.629\n", encoding="utf-8")
        expect(sides("--untraced", table) == both, "a file is not as two times")
    return faults


def check_option(assay):
    faults = []

    def expect(holds, words):
        if not holds:
            faults.append(words)

    gpt2 = DATA / "h200_pairs/gpt2.before.json.zst"
    bare = json.loads(run(assay, gpt2, "--format", "json", "--untraced", "none")[1])
    code, text, _ = run(assay, gpt2, "--format", "json", "--untraced", "6.112ms")
    anchored = json.loads(text)
    found = anchored["untraced"]
    expect(code == 0 and found["untraced_source"] == "anchor", "6.112ms is not an anchor")
    expect(found["untraced_iteration_ns"] == 6112000, f"iteration {found['untraced_iteration_ns']}")
    expect(abs(found["recorded_iteration_ns"] - 14357334) < 2, f"recorded {found['recorded_iteration_ns']}")
    expect("untraced" not in bare, "--untraced none still has an untraced iteration")
    for key in ("summary", "bottleneck", "host_overhead", "causes", "diagnosis", "kernels"):
        expect(anchored.get(key) == bare.get(key), f"{key} is not that of the recording")
    gains = [row for row in found["actions"] if row["gain_untraced_ns"] is not None]
    expect(gains and all(row["gain_untraced_ns"] < row["gain_ns"] for row in gains), "gains are as recorded")
    screen = run(assay, gpt2, "--untraced", "6.112ms")[1]
    expect("Times are of the run without its profiler: 6.11 ms" in " ".join(screen.split()), screen)
    estimated = json.loads(run(assay, gpt2, "--format", "json")[1])
    found = estimated["untraced"]
    with tempfile.TemporaryDirectory() as folder:
        beside = run(assay, gpt2, "--untraced", "6.112ms", "-o", pathlib.Path(folder) / "page.html")[1]
    first = [line for line in screen.splitlines() if not line.startswith("next")]
    expect(beside.splitlines()[:len(first)] == first, f"with a page the first screen mixes two runs: {beside}")
    full = " ".join(run(assay, gpt2, "--untraced", "6.112ms", "--full")[1].split())
    expect("The run without its profiler: " in full, "--full does not have the run without the profiler")
    expect(found["untraced_source"] == "estimate", f"{found['untraced_source']} without an anchor")
    expect(found["untraced_low_ns"] < 6112000 < found["untraced_high_ns"], "6.112 ms is not inside the interval")
    bert = json.loads(run(assay, DATA / "h200_pairs/bert_batch8.json.zst", "--format", "json")[1])
    expect("may be GPU-bound" in bert["summary"]["confidence"]["text"], bert["summary"]["confidence"]["text"])
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / gpt2.name
        trace.write_bytes(gpt2.read_bytes())
        runs = pathlib.Path(folder) / "runs.jsonl"
        runs.write_text(json.dumps({"trace": gpt2.name, "latency": {"p50_ms": 6.112}}) + "\n", encoding="utf-8")
        found = json.loads(run(assay, trace, "--format", "json")[1])["untraced"]
        expect((found["untraced_source"], found["untraced_from"]) == ("anchor", "runs.jsonl"), f"runs.jsonl: {found}")
    code, _, error = run(assay, "overhead", "--batch", f"1={gpt2}", "--untraced", "6.112ms")
    expect(code == 2 and "no sweep" in error, f"--untraced with a sweep: {code} {error}")
    code, _, error = run(assay, gpt2, DATA / "h200_pairs/gpt2_sdpa.after.json.zst", "--untraced", "6.112ms")
    expect(code == 2 and "one trace" in error, f"--untraced of two traces: {code} {error}")
    whole = json.loads(run(assay, "overhead", gpt2, "--untraced", "6.112ms", "--format", "json")[1])["host_overhead"]
    low, middle, high = (whole[f"t_orch_untraced{end}_ns"] for end in ("_low", "", "_high"))
    expect(low <= middle <= high < whole["t_orch_ns"], f"T_Orch {low} {middle} {high} of {whole['t_orch_ns']}")
    expect(whole["hdbi"] < whole["hdbi_untraced_low"] <= whole["hdbi_untraced"] <= whole["hdbi_untraced_high"], "HDBI")
    faults += check_whatif(assay, gpt2) + check_why(assay, gpt2) + check_diff(assay, gpt2)
    for arguments, word in ((["--untraced", "6.112"], "unit"), (["--untraced", "soon"], "6.11ms"),
                            (["--untraced", DATA / "h200_pairs/pairs.tsv"], "untraced_ms")):
        code, _, error = run(assay, gpt2, *arguments)
        expect(code == 2 and word in error, f"{arguments}: {code} {error}")
    slower = json.loads(run(assay, gpt2, "--format", "json", "--untraced", "20ms")[1])
    expect(slower["untraced"]["untraced_refusal"] == "slower", "20 ms is not refused")
    expect(slower["summary"]["confidence"]["grade"] == "low", "a refused iteration leaves confidence as it was")
    for fault in faults:
        print(fault)
    print(f"--untraced: {len(faults)} faults")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pairs", help="the program assay_untraced_pairs")
    parser.add_argument("--assay", help="the program assay")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.assay and not options.pairs:
        return check_option(options.assay)
    arguments = [f"{path}={ms}:{program}:{name}" for path, ms, program, name in pairs()]
    if options.table:
        print(asked(options.pairs, "--table", arguments), end="")
        return 0
    rows = [Row(row) for row in csv.DictReader(asked(options.pairs, "--check", arguments).splitlines(), delimiter="\t")]
    generated = {key: float(value) for key, value in
                 (line.split("\t") for line in asked(options.pairs, "--generated", ["100"]).splitlines())}
    generated["runs"] = int(generated["runs"])
    heavy = [row for row in rows if row["costly"] == "1"]
    actions = levers(options.assay)
    faults = []

    def expect(holds, words):
        if not holds:
            faults.append(words)

    inside = sum(row.inside for row in heavy) / len(heavy)
    width = quantile([(r.us("high_us") - r.us("low_us")) / r.us("estimate_us") for r in heavy], 0.5)
    off = quantile([row.off("estimate_us") for row in heavy], 0.5)
    expect(len(rows) == 44 and len(heavy) >= 16, f"{len(rows)} recordings, {len(heavy)} with costly rows")
    expect(inside >= 0.85, f"{percent(inside)} of the iterations are inside their interval")
    expect(width <= 0.70, f"the intervals are {percent(width)} wide (median)")
    expect(off <= 0.15, f"estimates are off by {percent(off)} (median)")
    for row in rows:
        name = row["recording"]
        expect(row.us("t_orch_high_us") <= row.us("untraced_us"), f"{name}: T_Orch is larger than the iteration")
        # A retimed trace takes as long as requested.
        known = row["cost_us"] != "" and row.us("recorded_us") >= row.us("untraced_us")
        expect(not known or row.us("anchored_us") > 0, f"{name}: rows out of order")
        expect(not known or abs(row.us("anchored_us") / row.us("untraced_us") - 1) < 0.002,
               f"{name}: the retimed iteration takes {row['anchored_us']} us, not {row['untraced_us']}")
        expect(not row.turned or row.may_turn, f"{name}: the bottleneck turns without a caveat")
    too_many = [row["recording"] for row in rows if row.may_turn and not row.turned]
    expect(len(too_many) <= 3, f"said to turn, and do not: {too_many}")
    expect(generated["inside"] >= 0.95, f"T_Orch of generated runs is inside its ends in {percent(generated['inside'])}")
    expect(generated["width"] <= 0.65, f"the ends of T_Orch are {percent(generated['width'])} apart (median)")
    expect(generated["off"] <= 0.20, f"T_Orch of generated runs is off by {percent(generated['off'])} (median)")
    known = [row for row in actions if row.source == "anchor"]
    lever_off = [row.off(row.untraced_ms) for row in known]
    expect(len(actions) == 15 and len(known) >= 13, f"{len(known)} of {len(actions)} changes with a measured iteration")
    expect(quantile(lever_off, 0.5) <= 0.08, f"gains are off by {percent(quantile(lever_off, 0.5))} (median)")
    expect(max(lever_off) <= 0.31, f"gains are off by up to {percent(max(lever_off))}")
    for row in known:
        expect(row.low_ms <= row.untraced_ms <= row.high_ms, f"{row.pair}: {row.low_ms} to {row.high_ms} without {row.untraced_ms}")
    for fault in faults:
        print(fault)
    if options.write:
        PAGE.write_text(page(rows, heavy, generated, actions), encoding="utf-8")
    if not faults:
        print(f"{len(heavy)} of {len(rows)}: off {percent(off)}, inside {percent(inside)}, width {percent(width)};"
              f" generated T_Orch: off {percent(generated['off'])}, inside {percent(generated['inside'])},"
              f" width {percent(generated['width'])}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
